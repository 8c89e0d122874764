// SPDX-License-Identifier: GPL-2.0
/* A namespace's node: starts, is accounted, ends. */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/wait_bit.h>
#include <net/netns/generic.h>

#include "ctl/plan.h"
#include "flow/growth.h"
#include "flow/tree.h"
#include "flow/tree_table.h"
#include "net/hook.h"
#include "net/link.h"
#include "net/port.h"
#include "mem.h"
#include "netns.h"

#define NETNS_MEMORY_DEFAULT	(64ULL << 20)
#define NETNS_SETTLE_AGAIN	(HZ / 10)	/* while a command has the lock */

unsigned int aggnet_net_id;

static struct workqueue_struct *netns_wq;

struct aggnet_net *aggnet_net(const struct net *net)
{
	return net_generic(net, aggnet_net_id);
}

u64 aggnet_memory_tenant(void)
{
	const struct aggnet_net *host = aggnet_net(&init_net);

	return READ_ONCE(host->tenant_limit) ?:
	       READ_ONCE(host->memory_limit) / 2;
}

/* The limit of @an alone, whatever other namespaces hold. */
static u64 memory_limit(const struct aggnet_net *an)
{
	u64 limit = READ_ONCE(an->memory_limit);

	return an == aggnet_net(&init_net) ? limit :
	       min(limit, aggnet_memory_tenant());
}

static bool memory_fits(struct aggnet_net *an, u64 bytes, u64 limit)
{
	u64 used = atomic64_read(&an->memory_used);

	return bytes <= limit && used <= limit - bytes;
}

/* The sum never passes the limit, not even for a moment: others would be refused. */
static bool memory_take(struct aggnet_net *an, u64 bytes)
{
	u64 limit = memory_limit(an);
	s64 used = atomic64_read(&an->memory_used);

	do {
		if (bytes > limit || used > limit - bytes)
			return false;
	} while (!atomic64_try_cmpxchg(&an->memory_used, &used, used + bytes));
	return true;
}

/*
 * The last touch of @an: netns_exit_batch() waits for zero and then frees it,
 * so the wake-up may use the address only.
 */
static void memory_give(struct aggnet_net *an, u64 bytes)
{
	if (!atomic64_sub_return(bytes, &an->memory_used))
		wake_up_var(&an->memory_used);
}

bool aggnet_memory_charge(struct aggnet_net *an, u64 bytes)
{
	struct aggnet_net *host = aggnet_net(&init_net);

	if (!memory_take(an, bytes))
		return false;
	if (an == host || memory_take(host, bytes))
		return true;
	memory_give(an, bytes);
	return false;
}

enum aggnet_room aggnet_memory_room(struct aggnet_net *an, u64 bytes)
{
	struct aggnet_net *host = aggnet_net(&init_net);

	if (!memory_fits(an, bytes, READ_ONCE(an->memory_limit)))
		return AGGNET_ROOM_NODE;
	if (!memory_fits(an, bytes, memory_limit(an)))
		return AGGNET_ROOM_TENANT;
	return memory_fits(host, bytes, memory_limit(host)) ? AGGNET_ROOM :
							      AGGNET_ROOM_HOST;
}

void aggnet_memory_uncharge(struct aggnet_net *an, u64 bytes)
{
	struct aggnet_net *host;

	/* Nothing was charged: no exit has waited, and @an may be gone. */
	if (!bytes)
		return;
	host = aggnet_net(&init_net);
	if (an != host)
		memory_give(host, bytes);
	memory_give(an, bytes);
}

void aggnet_changed(struct aggnet_net *an)
{
	lockdep_assert_held(&an->lock);
	/* Skip zero: to a dump it means that nothing has been told yet. */
	if (!++an->generation)
		an->generation = 1;
}

/*
 * Try the lock instead of waiting for it. A command may hold it for minutes, and the
 * queue runs a limited number of items at a time: an item that waits would delay the
 * items of other namespaces.
 */
static void netns_settle_work(struct work_struct *work)
{
	struct aggnet_net *an = container_of(to_delayed_work(work),
					     struct aggnet_net, settle_work);

	if (!mutex_trylock(&an->lock)) {
		queue_delayed_work(netns_wq, &an->settle_work,
				   NETNS_SETTLE_AGAIN);
		return;
	}
	aggnet_port_settle(an);
	aggnet_hook_settle(an);
	mutex_unlock(&an->lock);
}

void aggnet_settle_later(struct aggnet_net *an)
{
	queue_delayed_work(netns_wq, &an->settle_work, 0);
}

static int __net_init netns_init(struct net *net)
{
	struct aggnet_net *an = aggnet_net(net);

	if (!aggnet_mem_fails())
		an->stats = alloc_percpu(struct aggnet_stats);
	if (!an->stats)
		return -ENOMEM;
	an->net = net;
	mutex_init(&an->lock);
	INIT_DELAYED_WORK(&an->settle_work, netns_settle_work);
	aggnet_port_start(an);
	INIT_LIST_HEAD(&an->links);
	aggnet_plan_start(an);
	aggnet_growth_start(an);
	an->memory_limit = NETNS_MEMORY_DEFAULT;
	if (net_eq(net, &init_net))
		an->memory_limit = (u64)totalram_pages() << PAGE_SHIFT >> 3;
	get_random_bytes(&an->secret, sizeof(an->secret));
	aggnet_hook_init(an);
	an->generation = 1;
	return 0;
}

/*
 * Nothing can configure the namespace any more: its sockets are gone, or the
 * netlink family is. Its devices are still there, so that peers are told.
 */
static void __net_exit netns_pre_exit(struct net *net)
{
	struct aggnet_net *an = aggnet_net(net);

	mutex_lock(&an->lock);
	aggnet_plan_drop_all(an);
	aggnet_tree_table_kill_all(an);
	aggnet_port_stop(an);
	aggnet_link_del_all(an);
	aggnet_hook_stop(an);
	mutex_unlock(&an->lock);
	/* The work is not needed any more, and nothing is left that could queue it. */
	cancel_delayed_work_sync(&an->settle_work);
}

/*
 * Links and trees are freed after a grace period and give back what they were
 * charged, here and to init_net, which is in this list when the module goes.
 */
static void __net_exit netns_exit_batch(struct list_head *nets)
{
	struct aggnet_net *an;
	struct net *net;

	list_for_each_entry(net, nets, exit_list) {
		an = aggnet_net(net);
		wait_var_event(&an->memory_used,
			       !atomic64_read(&an->memory_used));
		aggnet_growth_stop(an);
		free_percpu(an->stats);
		memzero_explicit(&an->secret, sizeof(an->secret));
		mutex_destroy(&an->ports_lock);
		mutex_destroy(&an->lock);
	}
}

static struct pernet_operations netns_ops = {
	.init = netns_init,
	.pre_exit = netns_pre_exit,
	.exit_batch = netns_exit_batch,
	.id = &aggnet_net_id,
	.size = sizeof(struct aggnet_net),
};

int aggnet_netns_init(void)
{
	int err;

	netns_wq = alloc_workqueue("aggnet_netns", WQ_UNBOUND, 0);
	if (!netns_wq)
		return -ENOMEM;
	err = register_pernet_subsys(&netns_ops);
	if (err)
		destroy_workqueue(netns_wq);
	return err;
}

void aggnet_netns_exit(void)
{
	unregister_pernet_subsys(&netns_ops);
	destroy_workqueue(netns_wq);
	/* RCU callbacks free ports and links, and are code of the module. */
	rcu_barrier();
}
