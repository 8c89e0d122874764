/* SPDX-License-Identifier: GPL-2.0 */
/* Port: an attached network device. */
#ifndef _AGGNET_PORT_H
#define _AGGNET_PORT_H

#include <linux/list.h>
#include <linux/netfilter.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct aggnet_net;
struct net_device;
struct netlink_ext_ack;

/**
 * struct aggnet_port - an attached device; no reference on it is held:
 *	NETDEV_UNREGISTER detaches
 * @list: in an->ports, RCU
 * @an: namespace
 * @dev: the device, valid while attached
 * @ifindex: its index
 * @level: level j of BCube
 * @transit: packets of others that come in here leave by the plan's links, past
 *	FORWARD rules and conntrack; false: plain IP forwards them
 * @ops: its ingress hook
 * @rx: packets taken
 * @forwarded: packets sent on that came in here
 * @rcu: frees it
 */
struct aggnet_port {
	struct list_head list;
	struct aggnet_net *an;
	struct net_device *dev;
	u32 ifindex;
	u8 level;
	bool transit;
	struct nf_hook_ops ops;
	atomic64_t rx;
	atomic64_t forwarded;
	struct rcu_head rcu;
};

/* All under an->lock; -EEXIST, -ENODEV, -ENOENT with a sentence. */
int aggnet_port_add(struct aggnet_net *an, u32 ifindex, u8 level, bool transit,
		    struct netlink_ext_ack *extack);
int aggnet_port_del(struct aggnet_net *an, u32 ifindex,
		    struct netlink_ext_ack *extack);
struct aggnet_port *aggnet_port_find(struct aggnet_net *an, u32 ifindex);
void aggnet_port_del_all(struct aggnet_net *an);	/* namespace exit */

int aggnet_port_init(void);	/* netdevice notifier */
void aggnet_port_exit(void);

#endif /* _AGGNET_PORT_H */
