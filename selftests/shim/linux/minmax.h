/* SPDX-License-Identifier: GPL-2.0 */
/* min(), max() and clamp(), as strict about types as the kernel's. */
#ifndef _SHIM_LINUX_MINMAX_H
#define _SHIM_LINUX_MINMAX_H

#include <linux/types.h>

#define __shim_same_type(x, y) \
	((void)sizeof((__typeof__(x) *)1 == (__typeof__(y) *)1))

#define min(x, y) ({							\
	__typeof__(x) __min1 = (x);					\
	__typeof__(y) __min2 = (y);					\
	__shim_same_type(x, y);						\
	__min1 < __min2 ? __min1 : __min2; })
#define max(x, y) ({							\
	__typeof__(x) __max1 = (x);					\
	__typeof__(y) __max2 = (y);					\
	__shim_same_type(x, y);						\
	__max1 > __max2 ? __max1 : __max2; })
#define min_t(type, x, y) ({						\
	type __min1 = (x);						\
	type __min2 = (y);						\
	__min1 < __min2 ? __min1 : __min2; })
#define max_t(type, x, y) ({						\
	type __max1 = (x);						\
	type __max2 = (y);						\
	__max1 > __max2 ? __max1 : __max2; })
#define min3(x, y, z)		min(min(x, y), z)
#define clamp(val, lo, hi)	min((__typeof__(val))max(val, lo), hi)
#define clamp_t(type, val, lo, hi) \
	min_t(type, max_t(type, val, lo), hi)
#define swap(a, b) \
	do { __typeof__(a) __tmp = (a); (a) = (b); (b) = __tmp; } while (0)

#endif /* _SHIM_LINUX_MINMAX_H */
