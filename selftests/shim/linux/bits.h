/* SPDX-License-Identifier: GPL-2.0 */
/* Bit masks. */
#ifndef _SHIM_LINUX_BITS_H
#define _SHIM_LINUX_BITS_H

#include <linux/types.h>

#define BITS_PER_LONG		((int)sizeof(long) * 8)
#define BIT(n)			(1UL << (n))
#define BIT_MASK(n)		(1UL << ((n) % BITS_PER_LONG))
#define BIT_WORD(n)		((n) / BITS_PER_LONG)

#endif /* _SHIM_LINUX_BITS_H */
