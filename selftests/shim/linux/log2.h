/* SPDX-License-Identifier: GPL-2.0 */
/* Powers of two. */
#ifndef _SHIM_LINUX_LOG2_H
#define _SHIM_LINUX_LOG2_H

#include <linux/bitops.h>

#define ilog2(n)	(fls64(n) - 1)

static inline bool is_power_of_2(unsigned long n)
{
	return n && !(n & (n - 1));
}

static inline unsigned long roundup_pow_of_two(unsigned long n)
{
	return 1UL << fls64(n - 1);
}

static inline unsigned long rounddown_pow_of_two(unsigned long n)
{
	return 1UL << (fls64(n) - 1);
}

#endif /* _SHIM_LINUX_LOG2_H */
