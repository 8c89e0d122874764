/* SPDX-License-Identifier: GPL-2.0 */
/* What the module's cores use of the kernel's header of this name. */
#ifndef AGGNET_LINUX_BITOPS_H
#define AGGNET_LINUX_BITOPS_H

/* Number of the highest bit that is set, from 1; 0: none is set. */
static inline int fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

#endif /* AGGNET_LINUX_BITOPS_H */
