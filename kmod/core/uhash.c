// SPDX-License-Identifier: GPL-2.0
/*
 * Universal hash, of the construction of VHASH (draft-krovetz-vmac-01) with blocks of
 * 512 bytes: NH compresses a block to 126 bits, a polynomial modulo 2^127 - 1 compresses
 * the blocks' results to one, and a product modulo 2^64 - 257 that to 64 bits.
 */
#include <asm/byteorder.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "core/uhash.h"
#include "core/value.h"
#include "compat.h"

#define POLY_KEY	0x1fffffff1fffffffull	/* in each of its two words */
#define NH_HIGH		(~0ULL >> 2)	/* of a result modulo 2^126 */
#define P127_HIGH	(~0ULL >> 1)
#define P64_BELOW	257u			/* 2^64 - the last modulus */
#define NH_PAIR		(2 * sizeof(u64))

/**
 * struct wide - an unsigned integer of 128 bits
 * @lo: low 64 bits
 * @hi: high 64 bits
 */
struct wide {
	u64 lo;
	u64 hi;
};

static __always_inline struct wide wide(u64 hi, u64 lo)
{
	return (struct wide) { .lo = lo, .hi = hi };
}

#ifdef __SIZEOF_INT128__
static __always_inline struct wide wide_add(struct wide a, struct wide b)
{
	__uint128_t sum = ((__uint128_t)a.hi << 64 | a.lo) +
			  ((__uint128_t)b.hi << 64 | b.lo);

	return wide((u64)(sum >> 64), (u64)sum);
}

static __always_inline struct wide wide_mul(u64 a, u64 b)
{
	__uint128_t product = (__uint128_t)a * b;

	return wide((u64)(product >> 64), (u64)product);
}
#else
static struct wide wide_add(struct wide a, struct wide b)
{
	a.hi += b.hi + __builtin_add_overflow(a.lo, b.lo, &a.lo);
	return a;
}

static struct wide wide_mul(u64 a, u64 b)
{
	u64 low = (u64)(u32)a * (u32)b;
	u64 one = (a >> 32) * (u32)b + (low >> 32);
	u64 two = (u64)(u32)a * (b >> 32) + (u32)one;

	return wide((a >> 32) * (b >> 32) + (one >> 32) + (two >> 32),
		    two << 32 | (u32)low);
}
#endif

/* --- key ------------------------------------------------------------------- */

/* Word @n of the key. No tag and no other key is made of such an input. */
static u64 key_word(const siphash_key_t *key, u32 n)
{
	struct {
		u8 label[16];
		__be64 number;
	} in = { .label = "aggnet digest", .number = cpu_to_be64(n) };

	return siphash(&in, sizeof(in), key);
}

/* A value below the last modulus; the least 257 are twice as likely as others. */
static u64 p64_reduce(u64 v)
{
	return v >= -(u64)P64_BELOW ? v + P64_BELOW : v;
}

void aggnet_uhash_init(struct aggnet_uhash_key *hash, const siphash_key_t *key)
{
	u32 i, n = 0;

	for (i = 0; i < ARRAY_SIZE(hash->nh); i++)
		hash->nh[i] = key_word(key, n++);
	for (i = 0; i < 2; i++)
		hash->poly[i] = key_word(key, n++) & POLY_KEY;
	for (i = 0; i < 2; i++)
		hash->last[i] = p64_reduce(key_word(key, n++));
}

/* --- hash ------------------------------------------------------------------ */

static __always_inline struct wide nh_words(struct wide sum, const u64 *key,
					    u64 a, u64 b)
{
	return wide_add(sum, wide_mul(key[0] + a, key[1] + b));
}

static __always_inline struct wide nh_pair(struct wide sum, const u64 *key,
					   const u8 *p)
{
	return nh_words(sum, key, get_unaligned_le64(p),
			get_unaligned_le64(p + 8));
}

/* The last 1 to 15 bytes of a block; @base: start of the readable bytes */
static __always_inline struct wide nh_rest(struct wide sum, const u64 *key,
					   const u8 *base, const u8 *p, u32 len)
{
	const u8 *end = p + len;

	if (len <= 8)
		return nh_words(sum, key, aggnet_load_end(base, end, len) >>
				(64 - 8 * len), 0);
	return nh_words(sum, key, get_unaligned_le64(p),
			get_unaligned_le64(end - 8) >> (128 - 8 * len));
}

static __always_inline struct wide nh_four(struct wide sum, const u64 *key,
					   const u8 *p)
{
	sum = nh_pair(sum, key, p);
	sum = nh_pair(sum, key + 2, p + NH_PAIR);
	sum = nh_pair(sum, key + 4, p + 2 * NH_PAIR);
	return nh_pair(sum, key + 6, p + 3 * NH_PAIR);
}

/* NH of at most a block, which ends with zeros to a multiple of two words. */
static __always_inline struct wide nh(const u64 *key, const u8 *p, u32 len)
{
	struct wide sum = wide(0, 0);
	const u8 *base = p;

	for (; len >= 8 * NH_PAIR; len -= 8 * NH_PAIR) {
		sum = nh_four(sum, key, p);
		sum = nh_four(sum, key + 8, p + 4 * NH_PAIR);
		key += 16;
		p += 8 * NH_PAIR;
	}
	for (; len >= NH_PAIR; len -= NH_PAIR, key += 2, p += NH_PAIR)
		sum = nh_pair(sum, key, p);
	if (len)
		sum = nh_rest(sum, key, base, p, len);
	return wide(sum.hi & NH_HIGH, sum.lo);
}

/*
 * y * key + m modulo 2^127 - 1, at most 2^127, as y is. With the key below 2^125, and m
 * below 2^126, no sum here exceeds 128 bits. 2^128 counts as 2, and 2^127 as 1.
 */
static struct wide poly_step(const u64 key[2], struct wide y, struct wide m)
{
	struct wide middle = wide_add(wide_mul(y.lo, key[1]),
				      wide_mul(y.hi, key[0]));
	struct wide top = wide_mul(y.hi, key[1]);
	u64 carry = 2 * middle.hi + (middle.lo >> 63);

	m = wide_add(m, wide_mul(y.lo, key[0]));
	m = wide_add(m, wide_add(top, top));
	m = wide_add(m, wide(middle.lo & P127_HIGH, carry));
	carry = m.hi >> 63;
	return wide_add(wide(m.hi & P127_HIGH, m.lo), wide(0, carry));
}

/* The least value that equals y modulo 2^127 - 1; y is below 2^127 + 2^77. */
static struct wide poly_end(struct wide y)
{
	struct wide next = wide_add(y, wide(0, 1));

	return next.hi >> 63 ? wide(next.hi & P127_HIGH, next.lo) : y;
}

/* a * b modulo 2^64 - 257: 2^64 counts as 257. */
static u64 p64_mul(u64 a, u64 b)
{
	struct wide product = wide_mul(a, b);

	product = wide_add(wide_mul(product.hi, P64_BELOW), wide(0, product.lo));
	product = wide_add(wide(0, product.hi * P64_BELOW), wide(0, product.lo));
	return p64_reduce(product.lo + product.hi * P64_BELOW);
}

/* a + b modulo 2^64 - 257, which both are below. */
static u64 p64_add(u64 a, u64 b)
{
	u64 sum;

	return __builtin_add_overflow(a, b, &sum) ? sum + P64_BELOW :
						    p64_reduce(sum);
}

/*
 * Fold y, below 2^127: divide it by 2^64 - 2^32, add the key to quotient and remainder,
 * and multiply these. The division is one of three digits of 32 bits by 2^32 - 1.
 */
static u64 fold(const u64 key[2], struct wide y)
{
	u64 high = y.hi >> 32, middle = (u32)y.hi;
	u64 quotient = (high << 32) + high + middle;
	u64 rest = high + middle + (y.lo >> 32);

	quotient += rest >> 32;
	rest = (rest >> 32) + (u32)rest;
	if (rest >= U32_MAX) {
		rest -= U32_MAX;
		quotient++;
	}
	return p64_mul(p64_add(quotient, key[0]),
		       p64_add(rest << 32 | (u32)y.lo, key[1]));
}

u64 aggnet_uhash(const struct aggnet_uhash_key *hash, const void *data, size_t len)
{
	struct wide y = wide(0, 1);
	const u8 *p = data;

	for (; len >= AGGNET_UHASH_BLOCK; len -= AGGNET_UHASH_BLOCK) {
		y = poly_step(hash->poly, y, nh(hash->nh, p, AGGNET_UHASH_BLOCK));
		p += AGGNET_UHASH_BLOCK;
	}
	if (len)
		y = poly_step(hash->poly, y, nh(hash->nh, p, len));
	/* Bits of the last block, if it is not full. */
	y = wide_add(y, wide(8 * len, 0));
	return fold(hash->last, poly_end(y));
}
