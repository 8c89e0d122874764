/* SPDX-License-Identifier: GPL-2.0 */
/* Prefetching, by the compiler's builtin. */
#ifndef _SHIM_LINUX_PREFETCH_H
#define _SHIM_LINUX_PREFETCH_H

#define prefetch(p)	__builtin_prefetch(p)
#define prefetchw(p)	__builtin_prefetch(p, 1)

#endif /* _SHIM_LINUX_PREFETCH_H */
