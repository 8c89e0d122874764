// SPDX-License-Identifier: GPL-2.0
/* State: what has been merged under one key, as the shape says. */
#include <linux/string.h>

#include "reduce.h"
#include "state.h"

#define COUNT_MAX	8	/* bytes of a count */

struct aggnet_value aggnet_plain_get(const u8 *buf, u32 len)
{
	u64 fill = len && buf[len - 1] & 0x80 ? ~0ULL : 0;
	u64 word[2] = { fill, fill };
	u32 i;

	for (i = 0; i < len; i++) {
		word[i / 8] &= ~(0xffULL << (8 * (i % 8)));
		word[i / 8] |= (u64)buf[i] << (8 * (i % 8));
	}
	return (struct aggnet_value){ .lo = word[0], .hi = word[1] };
}

static u8 plain_byte(const struct aggnet_value *v, u32 i)
{
	return (i < 8 ? v->lo : v->hi) >> (8 * (i % 8));
}

/* Without the bytes that sign extension gives back; zero has none. */
u32 aggnet_plain_put(u8 *buf, const struct aggnet_value *v)
{
	u8 sign = (s64)v->hi < 0 ? 0xff : 0;
	u32 len = AGGNET_PLAIN_MAX;
	u32 i;

	if (!(v->lo | v->hi))
		return 0;
	while (len > 1 && plain_byte(v, len - 1) == sign &&
	       !((plain_byte(v, len - 2) ^ sign) & 0x80))
		len--;
	for (i = 0; i < len; i++)
		buf[i] = plain_byte(v, i);
	return len;
}

static void plain_merge(const struct aggnet_shape *shape,
			struct aggnet_value *acc, const u8 *value, u32 vlen,
			bool source)
{
	struct aggnet_value v = aggnet_plain_get(value, vlen);

	if (source)
		aggnet_reduce_source(shape->function, &v);
	aggnet_reduce(shape->function, acc, &v);
}

/* --- mean: bytes of the count, the count, the sum -------------------------- */

static bool mean_check(const u8 *value, u32 vlen)
{
	return vlen && value[0] && value[0] <= COUNT_MAX &&
	       vlen >= 1u + value[0] &&
	       vlen - 1u - value[0] <= AGGNET_PLAIN_MAX;
}

static void mean_merge(struct aggnet_mean *mean, const u8 *value, u32 vlen,
		       bool source)
{
	struct aggnet_value v;
	u64 count = 0;
	u32 i;

	if (source) {
		v = aggnet_plain_get(value, vlen);
		count = 1;
	} else {
		for (i = value[0]; i; i--)
			count = count << 8 | value[i];
		v = aggnet_plain_get(value + 1 + value[0], vlen - 1 - value[0]);
	}
	aggnet_value_add(&mean->sum, &v);
	mean->count += count;
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
	return 1 + n + aggnet_plain_put(buf + 1 + n, &mean->sum);
}

/* --- by kind --------------------------------------------------------------- */

u32 aggnet_state_size(const struct aggnet_shape *shape)
{
	switch (aggnet_shape_kind(shape)) {
	case AGGNET_KIND_MEAN:
		return sizeof(struct aggnet_mean);
	default:
		return sizeof(struct aggnet_value);
	}
}

void aggnet_state_init(const struct aggnet_shape *shape, void *state)
{
	memset(state, 0, aggnet_state_size(shape));
	if (aggnet_shape_kind(shape) == AGGNET_KIND_PLAIN)
		*(struct aggnet_value *)state =
			aggnet_reduce_neutral(shape->function);
}

bool aggnet_state_check(const struct aggnet_shape *shape, const u8 *value,
			u32 vlen, bool source)
{
	if (source)
		return vlen <= AGGNET_SOURCE_MAX;
	switch (aggnet_shape_kind(shape)) {
	case AGGNET_KIND_MEAN:
		return mean_check(value, vlen);
	default:
		return vlen <= AGGNET_PLAIN_MAX;
	}
}

void aggnet_state_merge(const struct aggnet_shape *shape, void *state,
			const u8 *value, u32 vlen, bool source)
{
	switch (aggnet_shape_kind(shape)) {
	case AGGNET_KIND_MEAN:
		mean_merge(state, value, vlen, source);
		break;
	default:
		plain_merge(shape, state, value, vlen, source);
	}
}

u32 aggnet_state_put(const struct aggnet_shape *shape, const void *state,
		     u32 *part, u8 *buf)
{
	*part = 0;
	switch (aggnet_shape_kind(shape)) {
	case AGGNET_KIND_MEAN:
		return mean_put(state, buf);
	default:
		return aggnet_plain_put(buf, state);
	}
}
