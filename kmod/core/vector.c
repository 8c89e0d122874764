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

/* --- merge ------------------------------------------------------------------ */

/*
 * Loops over the elements of a block are unrolled (clang takes this pragma, too), so
 * that the number of an element, and mostly its width, are constants.
 */

/*
 * Element @i of a block of elements of 1 to 8 bytes. A short one is in a word that
 * begins or ends with it. No byte outside the block is read: with 2 bytes each, 14
 * bytes begin with element 6, and 16 end with element 7.
 */
static __always_inline s64 element_get(const u8 *value, u32 i, u32 width)
{
	u32 shift = 64 - 8 * width;

	value += i * width;
	if (width == 1)
		return (s8)*value;
	if (width == 4)
		return (s32)get_unaligned_le32(value);
	if (i < 7)
		return (s64)(get_unaligned_le64(value) << shift) >> shift;
	return (s64)get_unaligned_le64(value + width - 8) >> shift;
}

static __always_inline void merge_words(struct aggnet_value *accum,
					const u8 *value, u32 width,
					u8 function)
{
	struct aggnet_value v;
	u32 i;

#pragma GCC unroll 13
	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++) {
		s64 element = element_get(value, i, width);

		if (function == AGGNET_FN_SUM) {
			aggnet_value_add_s64(&accum[i], element);
			continue;
		}
		v = aggnet_value_s64(element);
		aggnet_reduce(function, &accum[i], &v);
	}
}

/* The integers of a block; @function is a constant. */
static __always_inline void merge_integers(struct aggnet_value *accum,
					   const u8 *value, u32 width,
					   u8 function)
{
	struct aggnet_value v;
	u32 i;

	if (likely(width == 8))
		return merge_words(accum, value, 8, function);
	if (width == 4)
		return merge_words(accum, value, 4, function);
	if (width == 1)
		return merge_words(accum, value, 1, function);
	if (width - 2 < 6)
		return merge_words(accum, value, width, function);
	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++, value += width) {
		v = aggnet_value_get(value, value + width, width);
		aggnet_reduce(function, &accum[i], &v);
	}
}

/* The reals of a source's block, of which there are extremes only. */
static void merge_reals(const struct aggnet_shape *shape,
			struct aggnet_value *accum, const u8 *value, u32 width)
{
	struct aggnet_value v;
	u32 i;

	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++, value += width) {
		v = aggnet_source_get(shape, value, width);
		aggnet_reduce(shape->function, &accum[i], &v);
	}
}

void aggnet_vector_merge(const struct aggnet_shape *shape,
			 struct aggnet_value *accum, const u8 *value, u32 vlen,
			 bool source)
{
	u32 width = vlen / AGGNET_BLOCK_ELEMENTS;

	if (source && aggnet_vtype_float(shape->vtype))
		return merge_reals(shape, accum, value, width);
	switch (shape->function) {
	case AGGNET_FN_MIN:
		return merge_integers(accum, value, width, AGGNET_FN_MIN);
	case AGGNET_FN_MAX:
		return merge_integers(accum, value, width, AGGNET_FN_MAX);
	default:
		return merge_integers(accum, value, width, AGGNET_FN_SUM);
	}
}

/* --- pack ------------------------------------------------------------------- */

/*
 * Write elements, at least one of which is longer than 8 bytes. The excess bytes of
 * each are overwritten by the next one.
 */
static u32 put_long(const struct aggnet_value *accum, u8 *buf)
{
	u32 width = 0, i, len;

	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++) {
		len = aggnet_value_len(&accum[i]);
		width = len > width ? len : width;
	}
	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++, buf += width) {
		put_unaligned_le64(accum[i].lo, buf);
		put_unaligned_le64(accum[i].hi, buf + 8);
	}
	return AGGNET_BLOCK_ELEMENTS * width;
}

/* Write elements of less than 8 bytes, likewise. */
static u32 put_short(const struct aggnet_value *accum, u8 *buf, u32 width)
{
	u32 i;

#pragma GCC unroll 13
	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++) {
		put_unaligned_le64(accum[i].lo, buf);
		buf += width;
	}
	return AGGNET_BLOCK_ELEMENTS * width;
}

u32 aggnet_vector_put(const struct aggnet_value *accum, u8 *buf)
{
	u64 changes = 0, beyond = 0;
	u32 width, i;

	/*
	 * As if all take 8 bytes. The high half of an int64 is -1 if the low half is
	 * negative, else 0. The highest bit that differs from the one below it is
	 * the lowest one of the sign.
	 */
#pragma GCC unroll 13
	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++) {
		u64 lo = accum[i].lo;

		put_unaligned_le64(lo, buf + 8 * i);
		beyond |= accum[i].hi + (lo >> 63);
		changes |= lo ^ lo << 1;
	}
	if (unlikely(beyond))
		return put_long(accum, buf);
	width = (fls64(changes) + 7) / 8;
	if (width < 8)
		return put_short(accum, buf, width);
	return AGGNET_BLOCK_ELEMENTS * 8;
}
