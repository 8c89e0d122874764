/* SPDX-License-Identifier: GPL-2.0 */
/* Namespaces are told apart by their node. */
#ifndef _FLOW_NET_NET_NAMESPACE_H
#define _FLOW_NET_NET_NAMESPACE_H

struct net {
	char nothing;
};

#endif /* _FLOW_NET_NET_NAMESPACE_H */
