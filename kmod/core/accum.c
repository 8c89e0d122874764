// SPDX-License-Identifier: GPL-2.0
/* Accumulator: the merged values of one key, in the format of the shape's kind. */
#include <linux/string.h>

#include "core/accum.h"
#include "core/pairs.h"
#include "core/reduce.h"
#include "core/vector.h"

#define COUNT_MAX	8	/* bytes of a count */

struct aggnet_value aggnet_source_get(const struct aggnet_shape *shape,
				      const u8 *value, u32 vlen)
{
	struct aggnet_value v;
	u64 bits;

	if (aggnet_vtype_float(shape->vtype)) {
		bits = aggnet_bits_get(value, vlen);
		v = aggnet_value_s64(aggnet_float_order(shape->vtype, bits));
	} else {
		v = aggnet_value_get(value, value + vlen, vlen);
	}
	aggnet_reduce_source(shape->function, &v);
	return v;
}

static void plain_merge(const struct aggnet_shape *shape,
			struct aggnet_value *acc, const u8 *value, u32 vlen,
			bool source)
{
	struct aggnet_value v = source ? aggnet_source_get(shape, value, vlen) :
					 aggnet_value_get(value, value + vlen, vlen);

	aggnet_reduce(shape->function, acc, &v);
}

/* --- mean: bytes of the count, the count, the sum -------------------------- */

static u64 mean_count(const u8 *value)
{
	return aggnet_bits_get(value + 1, value[0]);
}

/* The count is at least 1. */
static bool mean_check(const u8 *value, u32 vlen)
{
	return vlen && value[0] && value[0] <= COUNT_MAX &&
	       vlen >= 1u + value[0] &&
	       vlen - 1u - value[0] <= AGGNET_PLAIN_MAX && mean_count(value);
}

static void mean_merge(struct aggnet_mean *mean, const u8 *value, u32 vlen,
		       bool source)
{
	struct aggnet_value v;

	if (source)
		v = aggnet_value_get(value, value + vlen, vlen);
	else
		v = aggnet_value_get(value, value + vlen, vlen - 1 - value[0]);
	aggnet_value_add(&mean->sum, &v);
	mean->count += source ? 1 : mean_count(value);
}

static u32 mean_put(const struct aggnet_mean *mean, u8 *buf)
{
	u64 count = mean->count;
	u32 n = 0;

	do {
		buf[++n] = count;
		count >>= 8;
	} while (count);
	buf[0] = n;
	return 1 + n + aggnet_value_put(buf + 1 + n, &mean->sum);
}

/* --- pairs ----------------------------------------------------------------- */

static bool pairs_check(u32 vlen)
{
	return vlen && vlen <= AGGNET_VALUE_MAX && !(vlen % AGGNET_PAIR_BYTES);
}

static void pairs_merge(const struct aggnet_shape *shape,
			struct aggnet_pairs *pairs, const u8 *value, u32 vlen,
			bool source)
{
	struct aggnet_pair pair;

	for (; vlen; vlen -= AGGNET_PAIR_BYTES, value += AGGNET_PAIR_BYTES) {
		pair = aggnet_pair_get(value);
		if (source && aggnet_vtype_float(shape->vtype))
			pair.rank = aggnet_float_order(shape->vtype,
						       (u64)pair.rank);
		if (source && shape->function == AGGNET_FN_TOPK)
			pair.rank = ~pair.rank;
		aggnet_pairs_add(pairs, shape->k, &pair);
	}
}

static u32 pairs_put(const struct aggnet_pairs *pairs, u32 *part, u8 *buf)
{
	u32 n = 0;

	for (; *part < pairs->n && n < AGGNET_PAIRS_PART; n++, ++*part)
		aggnet_pair_put(buf + n * AGGNET_PAIR_BYTES,
				&pairs->pair[*part]);
	if (*part == pairs->n)
		*part = 0;
	return n * AGGNET_PAIR_BYTES;
}

/* --- by kind --------------------------------------------------------------- */

u32 aggnet_accum_size(const struct aggnet_shape *shape)
{
	switch (aggnet_shape_kind(shape)) {
	case AGGNET_KIND_MEAN:
		return sizeof(struct aggnet_mean);
	case AGGNET_KIND_PAIRS:
		return sizeof(struct aggnet_pairs) +
		       shape->k * sizeof(struct aggnet_pair);
	case AGGNET_KIND_FLOAT_SUM:
		return sizeof(struct aggnet_float_sum) +
		       aggnet_float_sum_words(shape->vtype) * sizeof(u64);
	case AGGNET_KIND_BLOCK:
		return AGGNET_BLOCK_ELEMENTS * sizeof(struct aggnet_value);
	default:
		return sizeof(struct aggnet_value);
	}
}

u32 aggnet_accum_cost(const struct aggnet_shape *shape)
{
	switch (aggnet_shape_kind(shape)) {
	case AGGNET_KIND_MEAN:
		return 600;
	case AGGNET_KIND_PAIRS:
		return AGGNET_PAIRS_PART * (80 + 12 * shape->k);
	case AGGNET_KIND_FLOAT_SUM:
		return 500 + 100 * aggnet_float_sum_words(shape->vtype);
	case AGGNET_KIND_BLOCK:
		return AGGNET_BLOCK_ELEMENTS * 60;
	default:
		return 100;
	}
}

u32 aggnet_accum_reads(const struct aggnet_shape *shape)
{
	return 2 * AGGNET_COST_MAX / aggnet_accum_cost(shape) ?: 1;
}

void aggnet_accum_init(const struct aggnet_shape *shape, void *accum)
{
	const struct aggnet_value neutral =
		aggnet_reduce_neutral(shape->function);
	struct aggnet_value *v = accum;
	u32 n = AGGNET_BLOCK_ELEMENTS;

	switch (aggnet_shape_kind(shape)) {
	case AGGNET_KIND_PLAIN:
		*v = neutral;
		break;
	case AGGNET_KIND_BLOCK:
		while (n--)
			*v++ = neutral;
		break;
	default:
		memset(accum, 0, aggnet_accum_size(shape));
	}
}

bool aggnet_accum_check(const struct aggnet_shape *shape, const u8 *value,
			u32 vlen, bool source)
{
	enum aggnet_kind kind = aggnet_shape_kind(shape);

	if (kind == AGGNET_KIND_PAIRS)
		return pairs_check(vlen);
	if (kind == AGGNET_KIND_BLOCK)
		return aggnet_vector_check(shape, vlen, source);
	if (source && aggnet_vtype_float(shape->vtype))
		return vlen == aggnet_float_bytes(shape->vtype);
	if (source)
		return vlen <= aggnet_source_bytes(shape->vtype);
	switch (kind) {
	case AGGNET_KIND_MEAN:
		return mean_check(value, vlen);
	case AGGNET_KIND_FLOAT_SUM:
		return aggnet_float_sum_check(shape->vtype, value, vlen);
	default:
		return vlen <= AGGNET_PLAIN_MAX;
	}
}

void aggnet_accum_merge(const struct aggnet_shape *shape, void *accum,
			const u8 *value, u32 vlen, bool source)
{
	switch (aggnet_shape_kind(shape)) {
	case AGGNET_KIND_MEAN:
		mean_merge(accum, value, vlen, source);
		break;
	case AGGNET_KIND_PAIRS:
		pairs_merge(shape, accum, value, vlen, source);
		break;
	case AGGNET_KIND_FLOAT_SUM:
		if (source)
			aggnet_float_sum_add(accum, shape->vtype,
					     aggnet_bits_get(value, vlen));
		else
			aggnet_float_sum_merge(accum, shape->vtype, value,
					       vlen);
		break;
	case AGGNET_KIND_BLOCK:
		aggnet_vector_merge(shape, accum, value, vlen, source);
		break;
	default:
		plain_merge(shape, accum, value, vlen, source);
	}
}

bool aggnet_accum_last(const struct aggnet_shape *shape, const u8 *value,
		       bool source)
{
	return source || aggnet_shape_kind(shape) != AGGNET_KIND_FLOAT_SUM ||
	       aggnet_float_sum_last(value);
}

u32 aggnet_accum_put(const struct aggnet_shape *shape, const void *accum,
		     u32 *part, u8 *buf)
{
	switch (aggnet_shape_kind(shape)) {
	case AGGNET_KIND_MEAN:
		*part = 0;
		return mean_put(accum, buf);
	case AGGNET_KIND_PAIRS:
		return pairs_put(accum, part, buf);
	case AGGNET_KIND_FLOAT_SUM:
		return aggnet_float_sum_put(accum, shape->vtype, part, buf);
	case AGGNET_KIND_BLOCK:
		*part = 0;
		return aggnet_vector_put(accum, buf);
	default:
		*part = 0;
		return aggnet_value_put(buf, accum);
	}
}

u32 aggnet_accum_parts(const struct aggnet_shape *shape, const void *accum)
{
	const struct aggnet_pairs *pairs = accum;

	switch (aggnet_shape_kind(shape)) {
	case AGGNET_KIND_PAIRS:
		return (pairs->n - 1) / AGGNET_PAIRS_PART + 1;
	case AGGNET_KIND_FLOAT_SUM:
		return aggnet_float_sum_parts(accum, shape->vtype);
	default:
		return 1;
	}
}

/* Write it where there is room for the longest value. */
static u32 record_put(const struct aggnet_shape *shape, const void *accum,
		      const void *key, u32 klen, u32 *part, u8 *buf)
{
	u32 vlen = aggnet_accum_put(shape, accum, part, buf + 2 + klen);

	buf[0] = klen;
	buf[1] = vlen;
	memcpy(buf + 2, key, klen);
	return 2 + klen + vlen;
}

/* Write it elsewhere, and copy it if there is room for it. */
static u32 record_fit(const struct aggnet_shape *shape, const void *accum,
		      const void *key, u32 klen, u32 *part, u8 *buf, u32 room)
{
	u8 record[AGGNET_RECORD_MAX];
	u32 next = *part;
	u32 len;

	len = record_put(shape, accum, key, klen, &next, record);
	if (len > room)
		return 0;
	memcpy(buf, record, len);
	*part = next;
	return len;
}

u32 aggnet_accum_record(const struct aggnet_shape *shape, const void *accum,
			const void *key, u32 klen, u32 *part, u8 *buf,
			u32 room)
{
	if (likely(room >= 2 + klen + AGGNET_VALUE_MAX))
		return record_put(shape, accum, key, klen, part, buf);
	return record_fit(shape, accum, key, klen, part, buf, room);
}
