// SPDX-License-Identifier: GPL-2.0
/* Records: check, read and write them. */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "core/accum.h"
#include "core/record.h"
#include "core/vector.h"

/*
 * Pass over records of @size bytes that have these @lengths, as the first one has, and
 * count them in @n. @last: where the last record may begin. Return: the next record
 */
static __always_inline const u8 *pass_equal(const u8 *data, const u8 *last,
					    u16 lengths, size_t size,
					    unsigned int *n)
{
	size_t left = last - data;

	for (; left >= 4 * size; left -= 4 * size) {
		if (get_unaligned_le16(data + size) != lengths ||
		    get_unaligned_le16(data + 2 * size) != lengths ||
		    get_unaligned_le16(data + 3 * size) != lengths ||
		    get_unaligned_le16(data + 4 * size) != lengths)
			break;
		data += 4 * size;
		*n += 4;
	}
	do {
		data += size;
		++*n;
	} while (data <= last && get_unaligned_le16(data) == lengths);
	return data;
}

/* Records with the lengths of the one before them need no further check. */
static int parse_plain(const u8 *data, size_t len, unsigned int max, u32 vmax,
		       u32 *all)
{
	const u8 *end = data + len;
	const u8 *last;
	unsigned int n = 0;

	if (len < AGGNET_RECORD_MIN)
		return len ? -EBADMSG : 0;
	last = end - AGGNET_RECORD_MIN;
	while (data <= last) {
		u32 lengths = get_unaligned_le16(data);
		size_t size = 2 + (u8)lengths + (lengths >> 8);

		if (unlikely(!(u8)lengths || lengths >= (vmax + 1) << 8))
			return (u8)lengths && lengths >> 8 <= AGGNET_PLAIN_MAX ?
			       -ERANGE : -EBADMSG;
		*all = n ? 0 : lengths;
		data = pass_equal(data, last, lengths, size, &n);
	}
	return data == end && n <= max ? (int)n : -EBADMSG;
}

static int parse_any(const struct aggnet_shape *shape, bool source,
		     const u8 *data, size_t len, unsigned int max)
{
	bool dense = shape->layout == AGGNET_LAYOUT_DENSE;
	bool block = aggnet_shape_kind(shape) == AGGNET_KIND_BLOCK;
	u32 blocks = dense ? aggnet_vector_blocks(shape) : 0;
	u32 want = dense ? aggnet_vector_klen(shape) : 0;
	const u8 *end = data + len;
	u32 checked = U32_MAX;
	unsigned int n = 0;

	for (; data + AGGNET_RECORD_MIN <= end; n++) {
		u32 klen = data[0];
		u32 vlen = data[1];

		if (!klen || data + 2 + klen + vlen > end)
			return -EBADMSG;
		if (dense && (klen != want ||
			      aggnet_vector_key_get(data + 2, klen) >= blocks))
			return source ? -ERANGE : -EBADMSG;
		if (vlen != checked &&
		    !aggnet_accum_check(shape, data + 2 + klen, vlen, source))
			return source ? -ERANGE : -EBADMSG;
		/* Of a block only the length is checked. */
		if (block)
			checked = vlen;
		data += 2 + klen + vlen;
	}
	return data == end && n <= max ? (int)n : -EBADMSG;
}

int aggnet_parse_lengths(const struct aggnet_shape *shape, bool source,
			 const u8 *data, size_t len, unsigned int max, u32 *all)
{
	*all = 0;
	if (aggnet_shape_kind(shape) != AGGNET_KIND_PLAIN ||
	    (source && aggnet_vtype_float(shape->vtype)))
		return parse_any(shape, source, data, len, max);
	return parse_plain(data, len, max, source ?
			   aggnet_source_bytes(shape->vtype) : AGGNET_PLAIN_MAX,
			   all);
}

int aggnet_parse_records(const struct aggnet_shape *shape, bool source,
			 const u8 *data, size_t len, unsigned int max)
{
	u32 all;

	return aggnet_parse_lengths(shape, source, data, len, max, &all);
}

size_t aggnet_record_get(const u8 *data, struct aggnet_record *rec)
{
	u32 len = 2 + data[0] + data[1];

	rec->key = data + 2;
	rec->klen = data[0];
	rec->value = aggnet_value_get(data, data + len, data[1]);
	return len;
}

size_t aggnet_record_put(u8 *data, const u8 *key, u8 klen,
			 const struct aggnet_value *value)
{
	u32 vlen = aggnet_value_put(data + 2 + klen, value);

	data[0] = klen;
	data[1] = vlen;
	memcpy(data + 2, key, klen);
	return 2 + klen + vlen;
}
