/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel types for the pure cores when they are built for userspace. */
#ifndef _SHIM_LINUX_TYPES_H
#define _SHIM_LINUX_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef unsigned int gfp_t;

#ifndef __force
#define __force
#endif
#define __rcu
#define __percpu
#define __acquires(lock)
#define __releases(lock)

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_head {
	struct hlist_node *first;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

typedef struct {
	int counter;
} atomic_t;

typedef struct {
	s64 counter;
} atomic64_t;

struct rcu_head {
	struct rcu_head *next;
	void (*func)(struct rcu_head *head);
};

#include <linux/compiler.h>

#endif /* _SHIM_LINUX_TYPES_H */
