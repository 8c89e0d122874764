/* SPDX-License-Identifier: GPL-2.0 */
/* 64-bit divisions. */
#ifndef _SHIM_LINUX_MATH64_H
#define _SHIM_LINUX_MATH64_H

#include <linux/types.h>

#define do_div(n, base) ({						\
	u32 __rem = (n) % (u32)(base);					\
									\
	(n) /= (u32)(base);						\
	__rem; })

static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline s64 div_s64(s64 a, s32 b)
{
	return a / b;
}

static inline u64 mul_u64_u32_shr(u64 a, u32 mul, unsigned int shift)
{
	return (unsigned __int128)a * mul >> shift;
}

static inline u32 reciprocal_scale(u32 val, u32 ep_ro)
{
	return ((u64)val * ep_ro) >> 32;
}

#endif /* _SHIM_LINUX_MATH64_H */
