/* SPDX-License-Identifier: GPL-2.0 */
/* Compiler attributes and access macros. */
#ifndef _SHIM_LINUX_COMPILER_H
#define _SHIM_LINUX_COMPILER_H

#include <linux/types.h>

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#ifndef __packed
#define __packed	__attribute__((packed))
#endif
#ifndef __aligned
#define __aligned(n)	__attribute__((aligned(n)))
#endif
#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif
#define noinline	__attribute__((noinline))
#define __init
#define __exit
#ifndef fallthrough
#define fallthrough	__attribute__((fallthrough))
#endif

#define READ_ONCE(x)	(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) \
	do { *(volatile __typeof__(x) *)&(x) = (v); } while (0)
#define smp_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELEASE)

#define sizeof_field(type, member)	sizeof(((type *)0)->member)
#define offsetofend(type, member) \
	(offsetof(type, member) + sizeof_field(type, member))
#define container_of(ptr, type, member) ({				\
	const __typeof__(((type *)0)->member) *__mptr = (ptr);		\
	(type *)((char *)__mptr - offsetof(type, member)); })

#endif /* _SHIM_LINUX_COMPILER_H */
