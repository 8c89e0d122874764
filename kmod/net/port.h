/* SPDX-License-Identifier: GPL-2.0 */
/* Port: an attached network device. */
#ifndef _AGGNET_PORT_H
#define _AGGNET_PORT_H

#include <linux/if.h>
#include <linux/list.h>
#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/types.h>

struct aggnet_net;
struct net_device;
struct netlink_ext_ack;

/**
 * struct aggnet_port_stats - what a processor has counted of a port
 * @rx: packets taken
 * @forwarded: packets sent on that came in here
 */
struct aggnet_port_stats {
	u64 rx;
	u64 forwarded;
};

/**
 * struct aggnet_port - an attached device; no reference on it is held:
 *	NETDEV_UNREGISTER detaches
 * @list: in an->ports, RCU
 * @gone: in an->ports_gone, from when its device has gone
 * @an: namespace
 * @dev: the device, valid while the port is in an->ports
 * @ifindex: its index
 * @name: the device's, under an->ports_lock
 * @level: level j of BCube
 * @transit: packets of others that come in here leave by the plan's links, past
 *	FORWARD rules and conntrack; false: plain IP forwards them
 * @udp_port: the namespace's, READ_ONCE/WRITE_ONCE; here, because every packet
 *	that the device receives is compared with it
 * @stats: counters
 * @ops: its ingress hook
 * @rcu: frees it
 */
struct aggnet_port {
	struct list_head list;
	struct list_head gone;
	struct aggnet_net *an;
	struct net_device *dev;
	u32 ifindex;
	char name[IFNAMSIZ];
	u8 level;
	bool transit;
	__be16 udp_port;
	struct aggnet_port_stats __percpu *stats;
	struct nf_hook_ops ops;
	struct rcu_head rcu;
};

void aggnet_port_start(struct aggnet_net *an);	/* namespace init */
void aggnet_port_stop(struct aggnet_net *an);	/* and exit, an->lock held */

/*
 * These are called under an->lock and take an->ports_lock. Return: 0, or
 * -EEXIST, -ENODEV, -ENOENT with a sentence
 */
int aggnet_port_add(struct aggnet_net *an, u32 ifindex, u8 level, bool transit,
		    struct netlink_ext_ack *extack);
int aggnet_port_del(struct aggnet_net *an, u32 ifindex,
		    struct netlink_ext_ack *extack);

/**
 * aggnet_port_settle() - finish what device notifiers have begun
 * @an: namespace, locked
 *
 * A notifier detaches the port and returns. The links of the port and the event
 * need an->lock: every command calls this first, so none sees a link without
 * its port; if no command comes, a work item calls it.
 */
void aggnet_port_settle(struct aggnet_net *an);

/* Under RCU, or an->ports_lock. Return: the port, or NULL */
struct aggnet_port *aggnet_port_find(struct aggnet_net *an, u32 ifindex);
/* Any context. Return: the level of an attached port, or -ENODEV */
int aggnet_port_level(struct aggnet_net *an, u32 ifindex);
/* Its counters, summed over the processors. */
struct aggnet_port_stats aggnet_port_sum(const struct aggnet_port *port);

/* The event of a port that has gone; ctl/ raises it. an->lock held. */
void aggnet_port_notify(struct aggnet_net *an, u32 ifindex);

int aggnet_port_init(void);	/* netdevice notifier */
void aggnet_port_exit(void);

#endif /* _AGGNET_PORT_H */
