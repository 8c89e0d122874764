/* SPDX-License-Identifier: GPL-2.0 */
/* Checked arithmetic and saturating sizes. */
#ifndef _SHIM_LINUX_OVERFLOW_H
#define _SHIM_LINUX_OVERFLOW_H

#include <linux/compiler.h>

static inline size_t size_mul(size_t a, size_t b)
{
	size_t r;

	return __builtin_mul_overflow(a, b, &r) ? SIZE_MAX : r;
}

static inline size_t size_add(size_t a, size_t b)
{
	size_t r;

	return __builtin_add_overflow(a, b, &r) ? SIZE_MAX : r;
}

#define array_size(a, b)		size_mul(a, b)
#define flex_array_size(p, member, n)	size_mul(n, sizeof(*(p)->member))
#define struct_size(p, member, n) \
	size_add(sizeof(*(p)), flex_array_size(p, member, n))

#endif /* _SHIM_LINUX_OVERFLOW_H */
