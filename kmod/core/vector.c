// SPDX-License-Identifier: GPL-2.0
/* Vector: blocks of elements that are merged element by element. */
#include "core/accum.h"
#include "core/reduce.h"
#include "core/vector.h"

u32 aggnet_vector_key_put(const struct aggnet_shape *shape, u32 block, u8 *key)
{
	u32 klen = aggnet_vector_klen(shape);
	u32 i;

	for (i = klen; i--; block >>= 8)
		key[i] = block;
	return klen;
}

u32 aggnet_vector_key_get(const u8 *key, u32 klen)
{
	u32 block = 0;

	while (klen--)
		block = block << 8 | *key++;
	return block;
}

bool aggnet_vector_key_ok(const struct aggnet_shape *shape, const u8 *key,
			  u32 klen)
{
	return klen == aggnet_vector_klen(shape) &&
	       aggnet_vector_key_get(key, klen) < aggnet_vector_blocks(shape);
}

bool aggnet_vector_check(const struct aggnet_shape *shape, u32 vlen,
			 bool source)
{
	u32 width = vlen / AGGNET_BLOCK_ELEMENTS;

	if (vlen % AGGNET_BLOCK_ELEMENTS)
		return false;
	if (source && aggnet_vtype_float(shape->vtype))
		return width == aggnet_float_bytes(shape->vtype);
	return width <= (source ? aggnet_source_bytes(shape->vtype) :
				  AGGNET_PLAIN_MAX);
}

void aggnet_vector_merge(const struct aggnet_shape *shape,
			 struct aggnet_value *accum, const u8 *value, u32 vlen,
			 bool source)
{
	u32 width = vlen / AGGNET_BLOCK_ELEMENTS;
	struct aggnet_value v;
	u32 i;

	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++, value += width) {
		v = source ? aggnet_source_get(shape, value, width) :
			     aggnet_value_get(value, value + width, width);
		aggnet_reduce(shape->function, &accum[i], &v);
	}
}

u32 aggnet_vector_put(const struct aggnet_value *accum, u8 *buf)
{
	u32 width = 0, i, len;

	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++) {
		len = aggnet_value_len(&accum[i]);
		width = len > width ? len : width;
	}
	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++)
		aggnet_value_write(buf + i * width, &accum[i], width);
	return AGGNET_BLOCK_ELEMENTS * width;
}
