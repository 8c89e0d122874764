/* SPDX-License-Identifier: GPL-2.0 */
/* Bitmaps of any size. */
#ifndef _SHIM_LINUX_BITMAP_H
#define _SHIM_LINUX_BITMAP_H

#include <linux/bitops.h>
#include <string.h>

static inline unsigned int bitmap_weight(const unsigned long *src,
					 unsigned int bits)
{
	unsigned int weight = 0, bit;

	for_each_set_bit(bit, src, bits)
		weight++;
	return weight;
}

#endif /* _SHIM_LINUX_BITMAP_H */
