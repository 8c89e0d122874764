/* SPDX-License-Identifier: GPL-2.0 */
/* 128-bit two's complement values: what travels and what is merged. */
#ifndef _AGGNET_VALUE_H
#define _AGGNET_VALUE_H

#include <linux/bitops.h>
#include <linux/types.h>

/**
 * struct aggnet_value - a signed 128-bit integer
 * @lo: low 64 bits
 * @hi: high 64 bits, the sign in the top one
 */
struct aggnet_value {
	u64 lo;
	u64 hi;
};

static inline struct aggnet_value aggnet_value_s64(s64 v)
{
	return (struct aggnet_value){ .lo = (u64)v, .hi = v < 0 ? ~0ULL : 0 };
}

static inline void aggnet_value_add(struct aggnet_value *a,
				    const struct aggnet_value *b)
{
	a->hi += b->hi + __builtin_add_overflow(a->lo, b->lo, &a->lo);
}

/* Is it an int64? */
static inline bool aggnet_value_fits(const struct aggnet_value *v)
{
	return v->hi == (u64)((s64)v->lo >> 63);
}

static inline bool aggnet_value_less(const struct aggnet_value *a,
				     const struct aggnet_value *b)
{
	if (a->hi != b->hi)
		return (s64)a->hi < (s64)b->hi;
	return a->lo < b->lo;
}

/* Bytes that a value takes at least: 0 for zero, else 1..16. */
static inline u32 aggnet_value_len(const struct aggnet_value *v)
{
	u64 sign = (u64)((s64)v->lo >> 63);

	/* The bits that differ from the sign, and one for the sign itself. */
	if (likely(v->hi == sign))
		return v->lo ? fls64(v->lo ^ sign) / 8 + 1 : 0;
	return fls64(v->hi ^ (u64)((s64)v->hi >> 63)) / 8 + 9;
}

#endif /* _AGGNET_VALUE_H */
