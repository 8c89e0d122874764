// SPDX-License-Identifier: GPL-2.0
/* From an exact sum of reals to the nearest number. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "round.h"

/* A sum's magnitude. Return: whether it was negative. */
static bool magnitude(const struct aggnet_real_sum *sum, unsigned int words,
		      uint64_t *word)
{
	bool negative = sum->word[words - 1] >> 63;
	bool carry = true;
	unsigned int i;

	for (i = 0; i < words; i++) {
		word[i] = sum->word[i];
		if (!negative)
			continue;
		word[i] = ~word[i] + carry;
		carry = carry && !word[i];
	}
	return negative;
}

static bool bit(const uint64_t *word, unsigned int i)
{
	return word[i / 64] >> (i % 64) & 1;
}

static bool any_below(const uint64_t *word, unsigned int i)
{
	unsigned int w;

	for (w = 0; w < i / 64; w++)
		if (word[w])
			return true;
	return i % 64 && word[i / 64] << (64 - i % 64);
}

/* The bits from @low on, @n of them. */
static uint64_t bits(const uint64_t *word, unsigned int low, unsigned int n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 1 | bit(word, low + n);
	return v;
}

static bool special(unsigned int flags, double *out)
{
	if (flags & AGGNET_REAL_NAN ||
	    (flags & AGGNET_REAL_PLUS && flags & AGGNET_REAL_MINUS))
		*out = NAN;
	else if (flags)
		*out = flags & AGGNET_REAL_PLUS ? INFINITY : -INFINITY;
	return flags;
}

bool sum_round(const struct aggnet_real_sum *sum, unsigned int vtype,
	       double *out)
{
	bool wide = vtype == AGGNET_VTYPE_FLOAT64;
	unsigned int words = aggnet_real_words(vtype);
	unsigned int digits = wide ? 53 : 24, top, low;
	uint64_t word[AGGNET_SUM_WORDS64], mantissa;
	bool negative;

	if (special(sum->flags, out))
		return true;
	negative = magnitude(sum, words, word);
	for (top = 64 * words; top && !bit(word, top - 1); top--)
		;
	low = top > digits ? top - digits : 0;
	mantissa = bits(word, low, top - low);
	if (low && bit(word, low - 1) &&
	    (mantissa & 1 || any_below(word, low - 1)))
		mantissa++;
	*out = ldexp((double)mantissa, (int)low - (wide ? 1074 : 149));
	if (negative)
		*out = -*out;
	return wide ? isfinite(*out) : isfinite((float)*out);
}

double order_real(unsigned int vtype, int64_t order)
{
	uint64_t raw = aggnet_real_bits(vtype, order);
	uint32_t raw32 = (uint32_t)raw;
	double d;
	float f;

	if (vtype == AGGNET_VTYPE_FLOAT32) {
		memcpy(&f, &raw32, sizeof(f));
		return f;
	}
	memcpy(&d, &raw, sizeof(d));
	return d;
}
