// SPDX-License-Identifier: GPL-2.0
/* Aggregate functions: the product. */
#include "core/reduce.h"

static struct aggnet_value negated(const struct aggnet_value *v)
{
	return (struct aggnet_value){
		.lo = -v->lo,
		.hi = ~v->hi + !v->lo,
	};
}

static struct aggnet_value magnitude(const struct aggnet_value *v)
{
	return (s64)v->hi < 0 ? negated(v) : *v;
}

/* The 128-bit product of two words. */
static struct aggnet_value mul_words(u64 a, u64 b)
{
	u64 low = (u64)(u32)a * (u32)b;
	u64 mid = (a >> 32) * (u32)b + (low >> 32);
	u64 cross = (u64)(u32)a * (b >> 32) + (u32)mid;

	return (struct aggnet_value){
		.lo = cross << 32 | (u32)low,
		.hi = (a >> 32) * (b >> 32) + (mid >> 32) + (cross >> 32),
	};
}

/* Return: false if it is 2^127 or more. */
static bool mul_magnitudes(const struct aggnet_value *a,
			   const struct aggnet_value *b,
			   struct aggnet_value *product)
{
	u64 cross;

	if (a->hi && b->hi)
		return false;
	if (__builtin_mul_overflow(a->hi, b->lo, &cross) ||
	    (b->hi && __builtin_mul_overflow(b->hi, a->lo, &cross)))
		return false;
	*product = mul_words(a->lo, b->lo);
	return !__builtin_add_overflow(product->hi, cross, &product->hi) &&
	       (s64)product->hi >= 0;
}

void aggnet_value_mul(struct aggnet_value *a, const struct aggnet_value *b)
{
	bool negative = (s64)(a->hi ^ b->hi) < 0;
	struct aggnet_value x = magnitude(a);
	struct aggnet_value y = magnitude(b);

	if (!(a->lo | a->hi) || !(b->lo | b->hi))
		*a = aggnet_value_s64(0);
	else if (aggnet_value_beyond(a) || aggnet_value_beyond(b) ||
		 !mul_magnitudes(&x, &y, a))
		*a = (struct aggnet_value){ .lo = 0, .hi = 1ULL << 63 };
	else if (negative)
		*a = negated(a);
}
