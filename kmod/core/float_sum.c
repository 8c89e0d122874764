// SPDX-License-Identifier: GPL-2.0
/* Reals: IEEE 754 numbers as integers of the same order, and exact sums. */
#include <linux/string.h>

#include <linux/aggnet_packet.h>

#include "core/float_sum.h"
#include "core/value.h"

/*
 * Format in a record: flags, bytes of the count, the count, the place of the lowest
 * byte of the integer (two bytes), and its bytes from there on. They are sign
 * extended, unless other parts have the bytes above them.
 */
#define FLAG_LOW	0x80	/* other parts have the bytes above: no sign */
#define FLAGS_KNOWN	(AGGNET_FLOAT_NAN | AGGNET_FLOAT_PLUS | \
			 AGGNET_FLOAT_MINUS | FLAG_LOW)
#define COUNT_MAX	8
#define PART_BYTES	192	/* most bytes of the integer in a part */

/*
 * The last part may have one more byte, for the sign. So a part with FLAG_LOW that
 * is merged into an empty sum leaves as one part again, and a sum never has more
 * parts than merged records.
 */
#define PART_LAST	(PART_BYTES + 1)

/* --- numbers --------------------------------------------------------------- */

/**
 * struct number - a decoded real
 * @negative: its sign
 * @special: it is infinite or NaN
 * @mantissa: an integer
 * @shift: place of the integer's lowest bit in a sum
 */
struct number {
	bool negative;
	bool special;
	u64 mantissa;
	u32 shift;
};

static struct number number_of(unsigned int vtype, u64 bits)
{
	u32 width = vtype == AGGNET_VTYPE_FLOAT64 ? 52 : 23;
	u32 top = vtype == AGGNET_VTYPE_FLOAT64 ? 0x7ff : 0xff;
	u32 exponent = (bits >> width) & top;
	u64 mantissa = bits & ((1ULL << width) - 1);

	return (struct number){
		.negative = bits >> (8 * aggnet_float_bytes(vtype) - 1) & 1,
		.special = exponent == top,
		.mantissa = exponent && exponent != top ?
			    mantissa | 1ULL << width : mantissa,
		.shift = exponent ? exponent - 1 : 0,
	};
}

/* All bits but the sign, of numbers that are sign extended to 64 bits. */
static s64 below_sign(unsigned int vtype)
{
	return vtype == AGGNET_VTYPE_FLOAT64 ? (s64)(~0ULL >> 1) : 0x7fffffff;
}

s64 aggnet_float_order(unsigned int vtype, u64 bits)
{
	bool wide = vtype == AGGNET_VTYPE_FLOAT64;
	struct number n = number_of(vtype, bits);
	s64 order = wide ? (s64)bits : (s32)(u32)bits;

	if (n.special && n.mantissa)
		order = wide ? 0x7ff8LL << 48 : 0x7fc00000;
	return order < 0 ? order ^ below_sign(vtype) : order;
}

u64 aggnet_float_bits(unsigned int vtype, s64 order)
{
	u64 bits = (u64)(order < 0 ? order ^ below_sign(vtype) : order);

	return vtype == AGGNET_VTYPE_FLOAT64 ? bits : (u32)bits;
}

/* --- sums ------------------------------------------------------------------ */

static void word_add(u64 *word, u32 words, u32 at, u64 v)
{
	for (; v && at < words; at++) {
		word[at] += v;
		v = word[at] < v;
	}
}

static void word_sub(u64 *word, u32 words, u32 at, u64 v)
{
	for (; v && at < words; at++) {
		u64 old = word[at];

		word[at] = old - v;
		v = old < v;
	}
}

void aggnet_float_sum_add(struct aggnet_float_sum *sum, unsigned int vtype,
			  u64 bits)
{
	struct number n = number_of(vtype, bits);
	u32 words = aggnet_float_sum_words(vtype);
	u32 at = n.shift / 64;
	u32 up = n.shift % 64;
	void (*apply)(u64 *word, u32 words, u32 at, u64 v);

	sum->count++;
	if (n.special) {
		sum->flags |= n.mantissa ? AGGNET_FLOAT_NAN :
			      n.negative ? AGGNET_FLOAT_MINUS :
					   AGGNET_FLOAT_PLUS;
		return;
	}
	apply = n.negative ? word_sub : word_add;
	apply(sum->word, words, at, n.mantissa << up);
	if (up)
		apply(sum->word, words, at + 1, n.mantissa >> (64 - up));
}

/* --- in records ------------------------------------------------------------ */

/* Return: offset of the integer's bytes, 0: malformed. @place: set to their place */
static u32 head_get(const u8 *buf, u32 len, u32 *place)
{
	u32 head;

	if (len < 4 || buf[0] & ~FLAGS_KNOWN || buf[1] > COUNT_MAX)
		return 0;
	head = 2 + buf[1] + 2;
	if (len < head)
		return 0;
	*place = buf[head - 2] | (u32)buf[head - 1] << 8;
	return head;
}

bool aggnet_float_sum_check(unsigned int vtype, const u8 *buf, u32 len)
{
	u32 place = 0, head = head_get(buf, len, &place);

	return head &&
	       len - head <= (buf[0] & FLAG_LOW ? PART_BYTES : PART_LAST) &&
	       len - head + place <= 8 * aggnet_float_sum_words(vtype);
}

bool aggnet_float_sum_last(const u8 *buf)
{
	return !(buf[0] & FLAG_LOW);
}

void aggnet_float_sum_merge(struct aggnet_float_sum *sum, unsigned int vtype,
			    const u8 *buf, u32 len)
{
	u32 place = 0, head = head_get(buf, len, &place);
	u32 words = aggnet_float_sum_words(vtype);
	u32 i, end;

	sum->count += aggnet_bits_get(buf + 2, buf[1]);
	sum->flags |= buf[0] & ~FLAG_LOW;
	end = place + len - head;
	for (buf += head, i = place; i < end; ) {
		u64 v = 0;
		u32 at = i / 8;

		for (; i < end && i / 8 == at; i++)
			v |= (u64)*buf++ << (8 * (i % 8));
		word_add(sum->word, words, at, v);
	}
	buf -= len;
	if (!(buf[0] & FLAG_LOW) && len > head && buf[len - 1] & 0x80)
		word_sub(sum->word, words, end / 8, 1ULL << (8 * (end % 8)));
}

static u8 byte_of(const struct aggnet_float_sum *sum, u32 i)
{
	return sum->word[i / 8] >> (8 * (i % 8));
}

/* The bytes to write: from the first that is not 0 to the sign. */
static void sum_extent(const struct aggnet_float_sum *sum, u32 bytes, u32 *from,
		       u32 *to)
{
	u8 sign = byte_of(sum, bytes - 1) & 0x80 ? 0xff : 0;

	for (*from = 0; *from < bytes && !byte_of(sum, *from); ++*from)
		;
	if (*from == bytes) {
		*from = 0;
		*to = 0;
		return;
	}
	for (*to = bytes; *to > *from + 1; --*to)
		if (byte_of(sum, *to - 1) != sign ||
		    (byte_of(sum, *to - 2) ^ sign) & 0x80)
			break;
}

static u32 head_put(const struct aggnet_float_sum *sum, bool first, bool low,
		    u32 place, u8 *buf)
{
	u64 count = first ? sum->count : 0;
	u32 n = 0;

	buf[0] = (first ? sum->flags : 0) | (low ? FLAG_LOW : 0);
	for (; count; count >>= 8)
		buf[2 + n++] = count;
	buf[1] = n;
	buf[2 + n] = place;
	buf[3 + n] = place >> 8;
	return 4 + n;
}

u32 aggnet_float_sum_parts(const struct aggnet_float_sum *sum,
			   unsigned int vtype)
{
	u32 from, to, parts = 1;

	sum_extent(sum, 8 * aggnet_float_sum_words(vtype), &from, &to);
	for (; to - from > PART_LAST; from += PART_BYTES)
		parts++;
	return parts;
}

u32 aggnet_float_sum_put(const struct aggnet_float_sum *sum, unsigned int vtype,
			 u32 *part, u8 *buf)
{
	u32 from, to, end, i, len;

	sum_extent(sum, 8 * aggnet_float_sum_words(vtype), &from, &to);
	from += *part * PART_BYTES;
	end = to - from > PART_LAST ? from + PART_BYTES : to;
	len = head_put(sum, !*part, end < to, from, buf);
	for (i = from; i < end; i++)
		buf[len++] = byte_of(sum, i);
	*part = end < to ? *part + 1 : 0;
	return len;
}
