/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Aggregate functions: commutative and associative; they neither saturate nor wrap.
 */
#ifndef _AGGNET_REDUCE_H
#define _AGGNET_REDUCE_H

#include <linux/aggnet.h>
#include "core/value.h"

/**
 * aggnet_value_mul() - multiply, or mark the product as out of bounds
 * @a: changed in place
 * @b: the other factor
 *
 * The least integer marks all products whose magnitude is 2^127 or more. Only the
 * factor 0 makes a magnitude smaller, so a product beyond the bound stays beyond it
 * for any later factor but 0, in every order: the result does not depend on the
 * order.
 */
void aggnet_value_mul(struct aggnet_value *a, const struct aggnet_value *b);

/* Was the product out of bounds? */
static inline bool aggnet_value_beyond(const struct aggnet_value *v)
{
	return !v->lo && v->hi == 1ULL << 63;
}

/* Replace a source's value by its contribution: itself, 1 to count, or its truth. */
static inline void aggnet_reduce_source(u8 function, struct aggnet_value *v)
{
	switch (function) {
	case AGGNET_FN_COUNT:
		*v = aggnet_value_s64(1);
		break;
	case AGGNET_FN_LAND:
	case AGGNET_FN_LOR:
	case AGGNET_FN_LXOR:
		*v = aggnet_value_s64(v->lo || v->hi);
		break;
	}
}

/* The neutral value: merging into it gives the other value. */
static inline struct aggnet_value aggnet_reduce_neutral(u8 function)
{
	switch (function) {
	case AGGNET_FN_MIN:
		return (struct aggnet_value){ .lo = ~0ULL, .hi = ~0ULL >> 1 };
	case AGGNET_FN_MAX:
		return (struct aggnet_value){ .lo = 0, .hi = 1ULL << 63 };
	case AGGNET_FN_PRODUCT:
	case AGGNET_FN_LAND:
		return aggnet_value_s64(1);
	case AGGNET_FN_BAND:
		return aggnet_value_s64(-1);
	default:
		return aggnet_value_s64(0);
	}
}

/**
 * aggnet_reduce() - merge one value into another
 * @function: enum aggnet_function, valid
 * @acc: changed in place
 * @v: merged into it
 */
static inline void aggnet_reduce(u8 function, struct aggnet_value *acc,
				 const struct aggnet_value *v)
{
	switch (function) {
	case AGGNET_FN_MIN:
		if (aggnet_value_less(v, acc))
			*acc = *v;
		break;
	case AGGNET_FN_MAX:
		if (aggnet_value_less(acc, v))
			*acc = *v;
		break;
	case AGGNET_FN_PRODUCT:
		aggnet_value_mul(acc, v);
		break;
	case AGGNET_FN_BAND:
	case AGGNET_FN_LAND:
		acc->lo &= v->lo;
		acc->hi &= v->hi;
		break;
	case AGGNET_FN_BOR:
	case AGGNET_FN_LOR:
		acc->lo |= v->lo;
		acc->hi |= v->hi;
		break;
	case AGGNET_FN_BXOR:
	case AGGNET_FN_LXOR:
		acc->lo ^= v->lo;
		acc->hi ^= v->hi;
		break;
	default:	/* sum, and count as a sum of ones */
		aggnet_value_add(acc, v);
	}
}

#endif /* _AGGNET_REDUCE_H */
