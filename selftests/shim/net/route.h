/* SPDX-License-Identifier: GPL-2.0 */
/* Routes: which addresses belong to this host. */
#ifndef _SHIM_NET_ROUTE_H
#define _SHIM_NET_ROUTE_H

#include <linux/types.h>
#include <net/net_namespace.h>

#define RTN_LOCAL	2

unsigned int inet_addr_type(struct net *net, __be32 addr);

#endif /* _SHIM_NET_ROUTE_H */
