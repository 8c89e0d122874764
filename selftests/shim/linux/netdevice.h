/* SPDX-License-Identifier: GPL-2.0 */
/* Network devices, which the input adds and deletes. */
#ifndef _SHIM_LINUX_NETDEVICE_H
#define _SHIM_LINUX_NETDEVICE_H

#include <linux/if.h>
#include <linux/notifier.h>
#include <linux/types.h>
#include <net/net_namespace.h>

#define NETDEV_UNREGISTER	6
#define NETDEV_CHANGENAME	10
#define NETDEV_POST_TYPE_CHANGE	15
#define NETDEV_CHANGEUPPER	21

struct net_device {
	char name[IFNAMSIZ];
	u32 ifindex;
	u16 type;
	bool gone;
	int refs;
	struct net *net;
};

#define dev_net(dev)			((dev)->net)
#define netif_is_l3_slave(dev)		((void)(dev), false)
#define netif_is_l3_master(dev)		((void)(dev), false)
#define netdev_notifier_info_to_dev(p)	((struct net_device *)(p))

struct net_device *dev_get_by_index_rcu(struct net *net, u32 ifindex);
struct net_device *dev_get_by_index(struct net *net, u32 ifindex);
void dev_put(struct net_device *dev);
int register_netdevice_notifier(struct notifier_block *nb);
int unregister_netdevice_notifier(struct notifier_block *nb);

#endif /* _SHIM_LINUX_NETDEVICE_H */
