/* SPDX-License-Identifier: GPL-2.0 */
/* Included before each file of the module that the simulation compiles. */
#ifndef _FLOW_PRELUDE_H
#define _FLOW_PRELUDE_H

#include <arpa/inet.h>
#include <asm/byteorder.h>
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#define local_bh_disable()	((void)0)
#define local_bh_enable()	((void)0)
#define xchg(p, v)		__atomic_exchange_n((p), (v), __ATOMIC_RELAXED)

#endif /* _FLOW_PRELUDE_H */
