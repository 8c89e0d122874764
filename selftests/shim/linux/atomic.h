/* SPDX-License-Identifier: GPL-2.0 */
/* Atomic counters. */
#ifndef _SHIM_LINUX_ATOMIC_H
#define _SHIM_LINUX_ATOMIC_H

#include <linux/types.h>

#define xchg(p, v)		__atomic_exchange_n((p), (v), __ATOMIC_RELAXED)
#define atomic_read(v)		__atomic_load_n(&(v)->counter, __ATOMIC_RELAXED)
#define atomic_set(v, i)	__atomic_store_n(&(v)->counter, (i), \
						 __ATOMIC_RELAXED)
#define atomic_add_return(i, v)	__atomic_add_fetch(&(v)->counter, (i), \
						   __ATOMIC_SEQ_CST)
#define atomic_sub_return(i, v)	__atomic_sub_fetch(&(v)->counter, (i), \
						   __ATOMIC_SEQ_CST)
#define atomic_inc(v)		((void)atomic_add_return(1, v))
#define atomic_add(i, v)	((void)atomic_add_return(i, v))
#define atomic_sub(i, v)	((void)atomic_sub_return(i, v))
#define atomic_try_cmpxchg(v, old, new)					\
	__atomic_compare_exchange_n(&(v)->counter, old, new, false,	\
				    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)
#define atomic64_read(v)		atomic_read(v)
#define atomic64_try_cmpxchg(v, old, new)	atomic_try_cmpxchg(v, old, new)
#define atomic64_set(v, i)		atomic_set(v, i)
#define atomic64_sub_return(i, v)	atomic_sub_return(i, v)
#define atomic64_add(i, v)		atomic_add(i, v)
#define atomic64_sub(i, v)		atomic_sub(i, v)

#endif /* _SHIM_LINUX_ATOMIC_H */
