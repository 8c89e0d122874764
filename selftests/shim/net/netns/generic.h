/* SPDX-License-Identifier: GPL-2.0 */
/* Registration for namespaces: the fuzz target calls the functions. */
#ifndef _SHIM_NET_NETNS_GENERIC_H
#define _SHIM_NET_NETNS_GENERIC_H

#include <net/net_namespace.h>

struct pernet_operations {
	int (*init)(struct net *net);
	void (*pre_exit)(struct net *net);
	void (*exit_batch)(struct list_head *nets);
	unsigned int *id;
	size_t size;
};

int register_pernet_subsys(struct pernet_operations *ops);
void unregister_pernet_subsys(struct pernet_operations *ops);
unsigned long totalram_pages(void);

#endif /* _SHIM_NET_NETNS_GENERIC_H */
