/* SPDX-License-Identifier: GPL-2.0 */
/* 64-bit divisions. SHIM_CALLS: only declared, for a test that searches objects
 * for the compiler's own functions.
 */
#ifndef _SHIM_LINUX_MATH64_H
#define _SHIM_LINUX_MATH64_H

#include <linux/types.h>

#ifdef SHIM_CALLS
u64 div_u64(u64 a, u32 b);
#else
static inline u64 div_u64(u64 a, u32 b)
{
	return a / b;
}
#endif

#endif /* _SHIM_LINUX_MATH64_H */
