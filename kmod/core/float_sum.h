/* SPDX-License-Identifier: GPL-2.0 */
/* Reals: IEEE 754 numbers as integers of the same order, and exact sums. */
#ifndef _AGGNET_FLOAT_SUM_H
#define _AGGNET_FLOAT_SUM_H

#include <linux/types.h>

#include <linux/aggnet.h>

/*
 * A finite number is an integer times 2^-1074 (binary32: 2^-149). A sum is that
 * integer in two's complement, with 64 bits above the greatest number: it is exact
 * for 2^63 numbers, and the same in any order.
 */
#define AGGNET_SUM_WORDS64	34	/* 1074 + 1024 + 64 + 1 bits */
#define AGGNET_SUM_WORDS32	6	/* 149 + 128 + 64 + 1 bits */

#define AGGNET_FLOAT_NAN	1	/* a NaN is in the sum */
#define AGGNET_FLOAT_PLUS	2	/* plus infinity is in the sum */
#define AGGNET_FLOAT_MINUS	4	/* minus infinity is in the sum */

/**
 * struct aggnet_float_sum - accumulator of AGGNET_KIND_FLOAT_SUM
 * @count: number of values, of averages
 * @flags: AGGNET_FLOAT_*
 * @reserved: 0
 * @word: the integer, least word first
 */
struct aggnet_float_sum {
	u64 count;
	u32 flags;
	u32 reserved;
	u64 word[];
};

static inline bool aggnet_vtype_float(unsigned int vtype)
{
	return vtype == AGGNET_VTYPE_FLOAT32 || vtype == AGGNET_VTYPE_FLOAT64;
}

static inline u32 aggnet_float_sum_words(unsigned int vtype)
{
	return vtype == AGGNET_VTYPE_FLOAT64 ? AGGNET_SUM_WORDS64 :
					       AGGNET_SUM_WORDS32;
}

/* Bytes of a number. */
static inline u32 aggnet_float_bytes(unsigned int vtype)
{
	return vtype == AGGNET_VTYPE_FLOAT64 ? 8 : 4;
}

/**
 * aggnet_float_order() - map a number to an integer of the same order
 * @vtype: value type of the number
 * @bits: the number
 *
 * -0 comes before +0, and all NaNs are one value after plus infinity.
 */
s64 aggnet_float_order(unsigned int vtype, u64 bits);

/* The inverse of aggnet_float_order(). */
u64 aggnet_float_bits(unsigned int vtype, s64 order);

/* Add a number, given by its bits. */
void aggnet_float_sum_add(struct aggnet_float_sum *sum, unsigned int vtype,
			  u64 bits);

/**
 * aggnet_float_sum_check() - are these bytes a sum, or a part of one, in DATA?
 * @vtype: value type of its numbers
 * @buf: the bytes
 * @len: number of bytes
 */
bool aggnet_float_sum_check(unsigned int vtype, const u8 *buf, u32 len);

/* Of accepted bytes: is this the last part, with the sign? */
bool aggnet_float_sum_last(const u8 *buf);

/* Merge bytes that aggnet_float_sum_check() has accepted. */
void aggnet_float_sum_merge(struct aggnet_float_sum *sum, unsigned int vtype,
			    const u8 *buf, u32 len);

/* Number of parts that aggnet_float_sum_put() writes. */
u32 aggnet_float_sum_parts(const struct aggnet_float_sum *sum,
			   unsigned int vtype);

/**
 * aggnet_float_sum_put() - write the next part of a sum
 * @sum: the sum
 * @vtype: value type of its numbers
 * @part: number of the part; advanced, 0 after the last
 * @buf: AGGNET_VALUE_MAX bytes
 *
 * Return: bytes
 */
u32 aggnet_float_sum_put(const struct aggnet_float_sum *sum, unsigned int vtype,
			 u32 *part, u8 *buf);

#endif /* _AGGNET_FLOAT_SUM_H */
