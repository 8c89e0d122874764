/* SPDX-License-Identifier: GPL-2.0 */
/* Aggregate functions: commutative and associative, never saturate or wrap. */
#ifndef _AGGNET_REDUCE_H
#define _AGGNET_REDUCE_H

#include <linux/aggnet.h>
#include "value.h"

bool aggnet_reduce_valid(unsigned int function, unsigned int vtype);

/* What a source's record contributes: its value, or 1 for count. */
static inline void aggnet_reduce_source(u8 function, struct aggnet_value *v)
{
	if (function == AGGNET_FN_COUNT)
		*v = aggnet_value_s64(1);
}

/* The value that changes nothing when another is merged into it. */
static inline struct aggnet_value aggnet_reduce_neutral(u8 function)
{
	switch (function) {
	case AGGNET_FN_MIN:
		return (struct aggnet_value){ .lo = ~0ULL, .hi = ~0ULL >> 1 };
	case AGGNET_FN_MAX:
		return (struct aggnet_value){ .lo = 0, .hi = 1ULL << 63 };
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
	default:	/* sum, and count as a sum of ones */
		aggnet_value_add(acc, v);
	}
}

#endif /* _AGGNET_REDUCE_H */
