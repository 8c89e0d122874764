/* SPDX-License-Identifier: GPL-2.0 */
/* A namespace is only the module's data of it. */
#ifndef _SHIM_NET_NET_NAMESPACE_H
#define _SHIM_NET_NET_NAMESPACE_H

#include <linux/types.h>

struct net {
	struct list_head exit_list;
	void *node;
};

extern struct net init_net;

#define net_eq(a, b)			((a) == (b))
#define net_generic(net, id)		((void)(id), (net)->node)

#endif /* _SHIM_NET_NET_NAMESPACE_H */
