/* SPDX-License-Identifier: GPL-2.0 */
/* Included before each file: headers that the kernel's headers include. */
#ifndef _NETLINK_PRELUDE_H
#define _NETLINK_PRELUDE_H

#include "../../flow/shim/prelude.h"

#include <linux/uidgid.h>

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

#endif /* _NETLINK_PRELUDE_H */
