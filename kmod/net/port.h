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
 * struct aggnet_port_stats - counters of a port, one set for each CPU
 * @rx: packets taken
 * @forwarded: packets that came in by the port and were forwarded
 */
struct aggnet_port_stats {
	u64 rx;
	u64 forwarded;
};

#define AGGNET_PORTS_MAX	256	/* of a node: a packet may look at all of them */

/**
 * struct aggnet_port - an attached device, without a reference on it:
 *	NETDEV_UNREGISTER detaches it
 * @list: in an->ports, RCU
 * @gone: in an->ports_gone, after its device has gone
 * @an: namespace
 * @dev: the device, valid while the port is in an->ports
 * @ifindex: its index
 * @name: the device's, under an->ports_lock
 * @level: level j of BCube
 * @transit: packets that come in by the port and are for others leave by the plan's
 *	links, without FORWARD rules and conntrack; false: plain IP forwards them
 * @udp_port: copy of the namespace's port, READ_ONCE/WRITE_ONCE: every packet that
 *	the device receives is compared with it
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
 * A notifier only detaches the port, as links and events need an->lock. Each
 * command calls this first, so that none sees a link without its port; if no
 * command follows, a work item does.
 */
void aggnet_port_settle(struct aggnet_net *an);

/* Under RCU, or an->ports_lock. Return: the port, or NULL */
struct aggnet_port *aggnet_port_find(struct aggnet_net *an, u32 ifindex);
/* Any context. Return: the level of an attached port, or -ENODEV */
int aggnet_port_level(struct aggnet_net *an, u32 ifindex);
/* Sum the counters of a port over all CPUs. */
struct aggnet_port_stats aggnet_port_sum(const struct aggnet_port *port);

/* Raise the event of a port that has gone, in ctl/. an->lock is held. */
void aggnet_port_notify(struct aggnet_net *an, u32 ifindex);

int aggnet_port_init(void);	/* netdevice notifier */
void aggnet_port_exit(void);

#endif /* _AGGNET_PORT_H */
