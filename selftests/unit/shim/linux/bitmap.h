/* SPDX-License-Identifier: GPL-2.0 */
/* Bitmaps of any size. */
#ifndef _SHIM_LINUX_BITMAP_H
#define _SHIM_LINUX_BITMAP_H

#include <linux/bitops.h>
#include <string.h>

#define DECLARE_BITMAP(name, bits)	unsigned long name[BITS_TO_LONGS(bits)]

static inline void bitmap_zero(unsigned long *dst, unsigned int bits)
{
	memset(dst, 0, BITS_TO_LONGS(bits) * sizeof(long));
}

static inline unsigned int bitmap_weight(const unsigned long *src,
					 unsigned int bits)
{
	unsigned int weight = 0, bit;

	for_each_set_bit(bit, src, bits)
		weight++;
	return weight;
}

static inline bool bitmap_empty(const unsigned long *src, unsigned int bits)
{
	return find_first_bit(src, bits) == bits;
}

#endif /* _SHIM_LINUX_BITMAP_H */
