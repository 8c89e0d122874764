/* SPDX-License-Identifier: GPL-2.0 */
/* What aggnet keeps per network namespace. */
#ifndef _AGGNET_NETNS_H
#define _AGGNET_NETNS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netfilter.h>
#include <linux/siphash.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <net/net_namespace.h>

#include <linux/aggnet.h>
#include "stats.h"

struct aggnet_tree_table;

#define AGGNET_LINK_BUCKETS	256	/* of a hash of links */

/**
 * struct aggnet_net - a namespace's node
 * @net: the namespace; this struct is its pernet data, so the namespace outlives it
 * @lock: serialises every change of configuration; outermost lock
 * @trees: table of the entries in force, replaced as a whole (tree_table.h)
 * @ports_lock: serialises changes of @ports, inside @lock or RTNL; under it the
 *	module neither allocates nor waits for a grace period; netfilter allocates
 *	hooks, but under a mutex for which RTNL waits anyway
 * @ports: attached ports, RCU list, changed under @ports_lock
 * @ports_gone: ports whose device has gone, under @ports_lock
 * @links: links with Bloom tables, RCU list, changed under @lock
 * @link_hash: @links by port and neighbour, under @lock
 * @plans_lock: protects @plans, @nplans and @plans_bytes, inside @lock
 * @plans: staged plans, one for each netlink socket
 * @nplans: length of @plans
 * @plans_bytes: what they hold beside the memory of their new entries
 * @identity: this server's identity, READ_ONCE/WRITE_ONCE, 0: none
 * @role: enum aggnet_role, READ_ONCE/WRITE_ONCE
 * @label: name in the topology, under @lock
 * @fault: enum aggnet_fault, READ_ONCE/WRITE_ONCE, in builds for tests
 * @memory_limit: bytes that all trees may hold together
 * @tenant_limit: used in the initial namespace only: bytes that each other namespace
 *	may hold, READ_ONCE/WRITE_ONCE, 0: half of @memory_limit
 * @memory_used: bytes that trees have reserved, or have grown by
 * @secret: key of the hash that makes nonces; random
 * @stats: counters
 * @udp_port: of all packets, READ_ONCE/WRITE_ONCE
 * @sock: kernel UDP socket on @udp_port, NULL while there is neither identity,
 *	port nor entry; a packet made here carries it through POST_ROUTING
 * @guard: hook that drops forged packets as they leave the host; under @lock
 * @guarded: @guard is registered: there is an identity
 * @settle_work: aggnet_port_settle() and aggnet_hook_settle()
 * @grow_lock: of @grow_list; leaf lock, BH disabled
 * @grow_list: trees that wait for chunks, the oldest request first
 * @grow_work: adds chunks to them, one tree a run
 * @generation: aggnet_changed() increments it, never 0; under @lock
 */
struct aggnet_net {
	struct net *net;
	struct mutex lock;	/* outermost: configuration */
	struct aggnet_tree_table __rcu *trees;
	struct mutex ports_lock;	/* the ports; inside lock or RTNL */
	struct list_head ports;
	struct list_head ports_gone;
	struct list_head links;
	struct hlist_head link_hash[AGGNET_LINK_BUCKETS];
	spinlock_t plans_lock;	/* the list of plans */
	struct list_head plans;
	u32 nplans;
	u64 plans_bytes;
	__be32 identity;
	u8 role;
	char label[32];
#ifdef AGGNET_FAULTS
	u32 fault;
#endif
	u64 memory_limit;
	u64 tenant_limit;
	atomic64_t memory_used;
	siphash_key_t secret;
	struct aggnet_stats __percpu *stats;
	__be16 udp_port;
	struct socket *sock;
	struct nf_hook_ops guard;
	bool guarded;
	struct delayed_work settle_work;
	spinlock_t grow_lock;	/* the list of trees that grow */
	struct list_head grow_list;
	struct work_struct grow_work;
	u32 generation;
};

extern unsigned int aggnet_net_id;

struct aggnet_net *aggnet_net(const struct net *net);

/* Tell dumps under way that the configuration changes and they are inconsistent. */
void aggnet_changed(struct aggnet_net *an);

/**
 * aggnet_settle_later() - queue the work item that does what needs an->lock
 * @an: namespace; its lock may be held
 *
 * The work item does not wait for the lock: while a command holds it, the item
 * queues itself again. Process context, before netns_pre_exit() of @an returns.
 */
void aggnet_settle_later(struct aggnet_net *an);

int aggnet_netns_init(void);
void aggnet_netns_exit(void);

enum aggnet_room {
	AGGNET_ROOM,
	AGGNET_ROOM_NODE,	/* beyond the namespace's own limit */
	AGGNET_ROOM_TENANT,	/* beyond the host's limit of each namespace */
	AGGNET_ROOM_HOST,	/* beyond the host's limit of all namespaces */
};

/* Bytes that each namespace but the initial one may hold. */
u64 aggnet_memory_tenant(void);

/**
 * aggnet_memory_room() - would aggnet_memory_charge() succeed?
 * @an: the namespace
 * @bytes: how many
 *
 * Call it before an allocation, and charge afterwards: an allocation that takes
 * long, or fails, then takes no room from other namespaces. Any context.
 *
 * Return: enum aggnet_room
 */
enum aggnet_room aggnet_memory_room(struct aggnet_net *an, u64 bytes);

/**
 * aggnet_memory_charge() - account memory to the namespace and to the host
 * @an: the namespace
 * @bytes: how many, allocated already
 *
 * Memory of each namespace also counts against init_net's limit, which is that of
 * the host. No limit is passed even for a moment. Any context.
 *
 * Return: false, and nothing is charged, if a limit would be passed
 */
bool aggnet_memory_charge(struct aggnet_net *an, u64 bytes);
void aggnet_memory_uncharge(struct aggnet_net *an, u64 bytes);

#endif /* _AGGNET_NETNS_H */
