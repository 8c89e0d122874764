// SPDX-License-Identifier: GPL-2.0
/* From an exact sum, or average, to the nearest number. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "round.h"

/* A sum's magnitude. Return: whether it was negative. */
static bool magnitude(const struct aggnet_float_sum *sum, unsigned int words,
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
	if (flags & AGGNET_FLOAT_NAN ||
	    (flags & AGGNET_FLOAT_PLUS && flags & AGGNET_FLOAT_MINUS))
		*out = NAN;
	else if (flags)
		*out = flags & AGGNET_FLOAT_PLUS ? INFINITY : -INFINITY;
	return flags;
}

/* Divide in place. Return: whether there is a remainder. */
static bool divide(uint64_t *word, unsigned int words, uint64_t divisor)
{
	unsigned __int128 rest = 0;

	while (words--) {
		rest = rest << 64 | word[words];
		word[words] = (uint64_t)(rest / divisor);
		rest %= divisor;
	}
	return rest;
}

/**
 * nearest() - round an integer to so many binary digits
 * @word: the integer, least word first
 * @words: how many words
 * @more: the number is greater than the integer, by less than 1
 * @digits: of the result, at most
 * @least: no bit of the result is below this one
 * @unit: the integer counts 2^unit
 *
 * Return: the nearest number; of two that are equally near the even one
 */
static double nearest(const uint64_t *word, unsigned int words, bool more,
		      unsigned int digits, unsigned int least, int unit)
{
	unsigned int top, low;
	uint64_t mantissa;

	for (top = 64 * words; top && !bit(word, top - 1); top--)
		;
	low = top > digits ? top - digits : 0;
	if (low < least)
		low = least;
	mantissa = bits(word, low, top > low ? top - low : 0);
	if (low && bit(word, low - 1) &&
	    (mantissa & 1 || more || any_below(word, low - 1)))
		mantissa++;
	return ldexp((double)mantissa, (int)low + unit);
}

bool sum_round(const struct aggnet_float_sum *sum, unsigned int vtype,
	       uint64_t count, double *out)
{
	bool wide = vtype == AGGNET_VTYPE_FLOAT64;
	unsigned int words = aggnet_float_sum_words(vtype);
	/* The lowest word is the quotient's fraction. */
	uint64_t word[1 + AGGNET_SUM_WORDS64] = { 0 };
	bool negative, more;

	if (!count)
		return false;
	if (special(sum->flags, out))
		return true;
	negative = magnitude(sum, words, word + 1);
	more = divide(word, 1 + words, count);
	*out = nearest(word, 1 + words, more, wide ? 53 : 24, 64,
		       -64 - (wide ? 1074 : 149));
	if (negative)
		*out = -*out;
	return wide ? isfinite(*out) : isfinite((float)*out);
}

double mean_round(__int128 sum, uint64_t count, unsigned int scale)
{
	unsigned __int128 size = sum < 0 ? 0 - (unsigned __int128)sum :
					   (unsigned __int128)sum;
	/* A fraction of 128 bits: the least quotient but 0 is 2^-64. */
	uint64_t word[4] = { 0, 0, (uint64_t)size, (uint64_t)(size >> 64) };
	bool more = divide(word, 4, count);
	double mean = nearest(word, 4, more, 53, 0, -128 - (int)scale);

	return sum < 0 ? -mean : mean;
}

double order_real(unsigned int vtype, int64_t order)
{
	uint64_t raw = aggnet_float_bits(vtype, order);
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
