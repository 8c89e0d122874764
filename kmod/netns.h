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
 * @net: the namespace; we live in its pernet data, so it outlives us
 * @lock: serialises every change of configuration; outermost lock
 * @trees: table of the entries in force, replaced as a whole (tree_table.h)
 * @ports_lock: serialises changes of @ports, inside @lock or RTNL; no allocation
 *	of ours and no grace period is waited for under it, and what netfilter
 *	allocates for a hook it allocates under a mutex that RTNL waits for anyway
 * @ports: attached ports, RCU list, changed under @ports_lock
 * @ports_gone: ports whose device has gone, under @ports_lock
 * @links: links with Bloom tables, RCU list, changed under @lock
 * @link_hash: the same by port and neighbour, under @lock
 * @plans_lock: of @plans and @nplans, inside @lock
 * @plans: staged plans, one a netlink socket
 * @nplans: how many
 * @identity: this server's identity, READ_ONCE/WRITE_ONCE, 0: none
 * @role: enum aggnet_role, READ_ONCE/WRITE_ONCE
 * @label: name in the topology, under @lock
 * @fault: enum aggnet_fault, taken by the merge that it spoils (xchg)
 * @memory_limit: bytes that all trees may hold together
 * @tenant_limit: of the initial namespace: bytes that any other one may hold,
 *	READ_ONCE/WRITE_ONCE, 0: half of @memory_limit
 * @memory_used: bytes reserved or grown
 * @secret: makes nonces; drawn when the namespace starts
 * @stats: counters
 * @udp_port: of all packets, READ_ONCE/WRITE_ONCE
 * @sock: kernel UDP socket on @udp_port, NULL while there is neither identity,
 *	port nor entry; a packet made here carries it through POST_ROUTING
 * @guard: hook of what leaves the host; under @lock
 * @guarded: @guard is registered, as it is while there is an identity
 * @settle_work: aggnet_port_settle() and aggnet_hook_settle()
 * @grow_lock: of @grow_list; leaf lock, BH disabled
 * @grow_list: trees that are to get chunks, the oldest request first
 * @grow_work: adds chunks to them, one tree a run
 * @generation: aggnet_changed() moves it on, never 0; under @lock
 */
struct aggnet_net {
	struct net *net;
	struct mutex lock;	/* outermost: configuration */
	struct aggnet_tree_table __rcu *trees;
	struct mutex ports_lock;	/* inside lock, or RTNL: the ports */
	struct list_head ports;
	struct list_head ports_gone;
	struct list_head links;
	struct hlist_head link_hash[AGGNET_LINK_BUCKETS];
	spinlock_t plans_lock;	/* the list of plans */
	struct list_head plans;
	u32 nplans;
	__be32 identity;
	u8 role;
	char label[32];
	u32 fault;
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

/* Configuration has changed: a dump under way is not consistent any more. */
void aggnet_changed(struct aggnet_net *an);

/**
 * aggnet_settle_later() - finish in a work item what needs an->lock
 * @an: namespace; if it is locked now, the work item may find it locked
 *
 * The work item waits for no command that holds the lock: it comes again. Process
 * context, before netns_pre_exit() of @an returns.
 */
void aggnet_settle_later(struct aggnet_net *an);

int aggnet_netns_init(void);
void aggnet_netns_exit(void);

enum aggnet_room {
	AGGNET_ROOM,
	AGGNET_ROOM_NODE,	/* refused by the namespace's own limit */
	AGGNET_ROOM_TENANT,	/* by what the host lets one namespace have */
	AGGNET_ROOM_HOST,	/* by the ceiling of the host */
};

/* Bytes that one namespace may hold, but for the initial one. */
u64 aggnet_memory_tenant(void);

/**
 * aggnet_memory_room() - would that be charged?
 * @an: the namespace
 * @bytes: how many
 *
 * Asked before memory is allocated that is charged afterwards: so an allocation
 * that takes its time, or fails, takes no room from another namespace. Any
 * context. Return: enum aggnet_room
 */
enum aggnet_room aggnet_memory_room(struct aggnet_net *an, u64 bytes);

/**
 * aggnet_memory_charge() - account memory to the namespace and to the host
 * @an: the namespace
 * @bytes: how many, allocated already
 *
 * A namespace other than init_net also counts against init_net's limit, the
 * ceiling of the host. No limit is passed even for a moment. Any context.
 *
 * Return: false, and nothing is charged, if a limit would be passed
 */
bool aggnet_memory_charge(struct aggnet_net *an, u64 bytes);
void aggnet_memory_uncharge(struct aggnet_net *an, u64 bytes);

#endif /* _AGGNET_NETNS_H */
