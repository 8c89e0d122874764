/* SPDX-License-Identifier: GPL-2.0 */
/* Cache line attributes. */
#ifndef _SHIM_LINUX_CACHE_H
#define _SHIM_LINUX_CACHE_H

#define SMP_CACHE_BYTES		64
#define L1_CACHE_BYTES		64
#ifndef ____cacheline_aligned
#define ____cacheline_aligned	__attribute__((aligned(SMP_CACHE_BYTES)))
#endif

#endif /* _SHIM_LINUX_CACHE_H */
