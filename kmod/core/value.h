/* SPDX-License-Identifier: GPL-2.0 */
/* 128-bit two's complement integers, and how packets encode them. Pure. */
#ifndef _AGGNET_VALUE_H
#define _AGGNET_VALUE_H

#include <linux/bitops.h>
#include <linux/string.h>
#include <linux/types.h>

#include "compat.h"

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

/*
 * The same for an int64, and a comparison, in fewer instructions where the halves lie
 * in memory as those of the compiler's own type: it adds in place.
 */
#if defined(__SIZEOF_INT128__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline void aggnet_value_add_s64(struct aggnet_value *a, s64 v)
{
	__uint128_t sum;

	memcpy(&sum, a, sizeof(sum));
	sum += (__uint128_t)(__int128_t)v;
	memcpy(a, &sum, sizeof(sum));
}

static inline bool aggnet_value_less(const struct aggnet_value *a,
				     const struct aggnet_value *b)
{
	return (__int128_t)((__uint128_t)a->hi << 64 | a->lo) <
	       (__int128_t)((__uint128_t)b->hi << 64 | b->lo);
}
#else
static inline void aggnet_value_add_s64(struct aggnet_value *a, s64 v)
{
	const struct aggnet_value b = aggnet_value_s64(v);

	aggnet_value_add(a, &b);
}

static inline bool aggnet_value_less(const struct aggnet_value *a,
				     const struct aggnet_value *b)
{
	if (a->hi != b->hi)
		return (s64)a->hi < (s64)b->hi;
	return a->lo < b->lo;
}
#endif

/* Does the value fit an int64? */
static inline bool aggnet_value_fits(const struct aggnet_value *v)
{
	return v->hi == (u64)((s64)v->lo >> 63);
}

/* Least number of bytes for a value: 0 for zero, else 1..16. */
static inline u32 aggnet_value_len(const struct aggnet_value *v)
{
	u64 sign = (u64)((s64)v->lo >> 63);

	/* The bits that differ from the sign, and one bit for the sign. */
	if (likely(v->hi == sign))
		return v->lo ? fls64(v->lo ^ sign) / 8 + 1 : 0;
	return fls64(v->hi ^ (u64)((s64)v->hi >> 63)) / 8 + 9;
}

/*
 * --- encoding: little endian, without the bytes that sign extension restores ---
 */

/* Read an unsigned integer of 0 to 8 bytes. */
static inline u64 aggnet_bits_get(const u8 *buf, u32 len)
{
	u64 bits = 0;

	while (len--)
		bits = bits << 8 | buf[len];
	return bits;
}

/**
 * aggnet_load_end() - read the last bytes of a buffer into the top of a word
 * @base: start of the readable bytes
 * @end: behind the last byte
 * @n: how many bytes to read, 1..8; the lower bytes of the word are arbitrary
 *
 * Nearly every value in a packet has 8 readable bytes up to its end (its own key
 * or the record before it). Then this is one load; shift the word right by
 * 64 - 8 * n.
 */
static __always_inline u64 aggnet_load_end(const u8 *base, const u8 *end, u32 n)
{
	u64 word = 0;

	if (likely(end - base >= 8))
		return get_unaligned_le64(end - 8);
	for (base = end - n; base < end; base++)
		word = word >> 8 | (u64)*base << 56;
	return word;
}

/**
 * aggnet_value_get() - read a value
 * @base: start of the readable bytes: the value, or anything before it
 * @end: behind the value
 * @vlen: length of the value, 0..16
 */
static __always_inline struct aggnet_value
aggnet_value_get(const u8 *base, const u8 *end, u32 vlen)
{
	struct aggnet_value v;

	if (likely(vlen - 1 < 8))
		return aggnet_value_s64((s64)aggnet_load_end(base, end, vlen) >>
					(-8 * vlen & 63));
	if (!vlen)
		return aggnet_value_s64(0);
	v.lo = get_unaligned_le64(end - vlen);
	v.hi = (u64)((s64)get_unaligned_le64(end - 8) >> (-8 * vlen & 63));
	return v;
}

/* Write the lowest @len bytes of a value, at most 16. */
static inline void aggnet_value_write(u8 *buf, const struct aggnet_value *v,
				      u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		buf[i] = (i < 8 ? v->lo : v->hi) >> (8 * (i % 8));
}

/* Write a value in as few bytes as possible. Return: how many, 0 to 16. */
static inline u32 aggnet_value_put(u8 *buf, const struct aggnet_value *v)
{
	u32 len = aggnet_value_len(v);

	aggnet_value_write(buf, v, len);
	return len;
}

#endif /* _AGGNET_VALUE_H */
