/* SPDX-License-Identifier: GPL-2.0 */
/* Included before each file of the module that a simulation compiles: headers
 * that the kernel's headers include.
 */
#ifndef _SHIM_PRELUDE_H
#define _SHIM_PRELUDE_H

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
#include <linux/uidgid.h>

#define local_bh_disable()	((void)0)
#define local_bh_enable()	((void)0)
#define __ro_after_init
#define __net_init
#define __net_exit
#define THIS_MODULE	NULL

static inline bool ipv4_is_loopback(__be32 addr)
{
	return ntohl(addr) >> 24 == 127;
}

static inline bool ipv4_is_multicast(__be32 addr)
{
	return ntohl(addr) >> 28 == 14;
}

static inline bool ipv4_is_lbcast(__be32 addr)
{
	return addr == 0xffffffff;
}

static inline bool ipv4_is_zeronet(__be32 addr)
{
	return ntohl(addr) >> 24 == 0;
}

#endif /* _SHIM_PRELUDE_H */
