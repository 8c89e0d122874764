/* SPDX-License-Identifier: GPL-2.0 */
/* Network headers that moved between the kernels, told apart by feature. */
#ifndef _AGGNET_COMPAT_NET_H
#define _AGGNET_COMPAT_NET_H

#include <linux/netdevice.h>

/* __skb_gso_segment() left linux/netdevice.h before 6.12. */
#if __has_include("net/gso.h")
#include <net/gso.h>
#endif

#endif /* _AGGNET_COMPAT_NET_H */
