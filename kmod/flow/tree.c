// SPDX-License-Identifier: GPL-2.0
/* Tree: life cycle, memory, and the states of a flow from the first packet or socket
 * to DONE or ABORTED.
 */
#include <linux/jiffies.h>
#include <linux/log2.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/skbuff.h>

#include "core/accum.h"
#include "core/packet.h"
#include "core/tag.h"
#include "flow/channel.h"
#include "flow/growth.h"
#include "flow/host.h"
#include "flow/local.h"
#include "flow/timers.h"
#include "flow/tree.h"
#include "mem.h"
#include "trace.h"

#define TREE_CREDITS_PART	4	/* 1/4 of memory: credits of long packets */
#define TREE_SLOTS_MIN		8	/* retransmit ring, powers of two */
#define TREE_SLOTS_MAX		64

/*
 * The work of this queue, unlike growth, never waits for memory, and it has a
 * rescuer thread: the exit of a namespace waits for the memory that it frees.
 */
static struct workqueue_struct *tree_wq;

int aggnet_tree_init(void)
{
	int err = aggnet_growth_init();

	if (err)
		return err;
	tree_wq = alloc_workqueue("aggnet", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (tree_wq)
		return 0;
	aggnet_growth_exit();
	return -ENOMEM;
}

void aggnet_tree_exit(void)
{
	aggnet_growth_exit();
	rcu_barrier();	/* queue_rcu_work() of the last trees */
	destroy_workqueue(tree_wq);
}

int aggnet_reason_errno(enum aggnet_reason reason)
{
	static const int error[__AGGNET_R_MAX] = {
		[AGGNET_R_TIMEOUT] = -ETIMEDOUT,
		[AGGNET_R_MISMATCH] = -EBADMSG,
		[AGGNET_R_OVERFLOW] = -EOVERFLOW,
		[AGGNET_R_SENDER] = -ECONNABORTED,
		[AGGNET_R_RECEIVER] = -EPIPE,
		[AGGNET_R_WITHDRAWN] = -ECANCELED,
		[AGGNET_R_STALE] = -ESTALE,
		[AGGNET_R_RESET] = -ECONNRESET,
		[AGGNET_R_PROTOCOL] = -EPROTO,
		[AGGNET_R_USER] = -ECANCELED,
		[AGGNET_R_FUNCTION] = -EPROTOTYPE,
		[AGGNET_R_ROOM] = -ENOBUFS,
		[AGGNET_R_LAG] = -ENOBUFS,
		[AGGNET_R_GONE] = -ESTALE,
	};

	return reason < __AGGNET_R_MAX ? error[reason] : -EPROTO;
}

/* --- memory --------------------------------------------------------------- */

u32 aggnet_tree_chunks_min(const struct aggnet_tree *tree)
{
	return (tree->conf.contributors + 2) * tree->packet.chunks;
}

void aggnet_tree_charged(struct aggnet_tree *tree, u64 bytes)
{
	tree->memory.charged += bytes;
	tree->memory.most = max(tree->memory.most, tree->memory.charged);
}

static void tree_queue_release(struct aggnet_tree *tree)
{
	if (queue_work(tree_wq, &tree->release_work))
		aggnet_tree_get(tree);
}

/* Work item: do the next bounded part of what the last run of the lock left. */
static void tree_more_work(struct work_struct *work)
{
	struct aggnet_tree *tree = container_of(work, struct aggnet_tree,
						more_work);
	struct aggnet_run run;

	aggnet_run_begin(tree, &run);
	if (tree->state < AGGNET_TREE_DONE) {
		tree->store.ops->go_on(tree, &run);
		aggnet_uplink_go_on(tree, &run);
		if (tree->acceptor.unfed)
			aggnet_acceptor_feed(tree, &run);
		/* Credit that was granted may have left too little room. */
		if (aggnet_tree_may_emit(tree))
			aggnet_uplink_push(tree, &run);
	}
	if (!tree->dead && !tree->acceptor.told_all)
		aggnet_acceptor_tell_on(tree, &run);
	aggnet_run_end(tree, &run);
	aggnet_tree_put(tree);
}

/* Has the last run of the lock left work for another one? */
static bool tree_stopped(const struct aggnet_tree *tree)
{
	if (tree->dead)
		return false;
	if (!tree->acceptor.told_all)
		return true;
	return tree->state < AGGNET_TREE_DONE &&
	       (tree->store.runs.stopped || tree->up.stopped ||
		tree->acceptor.unfed || tree->store.cast.todo);
}

static void tree_go_on(struct aggnet_tree *tree)
{
	if (tree_stopped(tree) && queue_work(tree_wq, &tree->more_work))
		aggnet_tree_get(tree);
}

bool aggnet_tree_may_emit(const struct aggnet_tree *tree)
{
	return aggnet_tree_keys(tree) && tree->state < AGGNET_TREE_WAITING &&
	       tree->store.ops->ready(tree, 1);
}

void aggnet_tree_count(struct aggnet_tree *tree, u32 records, u64 represents)
{
	trace_aggnet_merge(tree, records, represents);
	tree->count.records_in += records;
	aggnet_stat_inc(tree->an, merged_packets);
	aggnet_stat_add(tree->an, merged_records, records);
}

bool aggnet_tree_takes_ack(struct aggnet_tree *tree,
			   const struct aggnet_sender *s,
			   const struct aggnet_ack *ack)
{
	enum aggnet_ack_check check = aggnet_sender_check(s, ack);

	if (check == AGGNET_ACK_BAD)
		aggnet_stat_inc(tree->an, drop_body);
	return check == AGGNET_ACK_OK;
}

/* --- lifecycle ------------------------------------------------------------- */

/* Set the length of packets that the tree takes, and so the cost of a credit. */
static void tree_size_credit(struct aggnet_tree *tree, u32 payload)
{
	const struct aggnet_shape *shape = &tree->conf.shape;

	tree->packet.max_taken = payload;
	tree->packet.max_records = aggnet_max_records(shape, payload);
	tree->packet.chunks = aggnet_table_chunks_per_packet(shape, payload);
}

/*
 * Most ends that may bind here: each source, and each planned end on the path of
 * sources, even if none of its sources comes. Such an end merges at least two
 * flows, so there are fewer of them than sources. One more is for an entry, made by
 * hand, whose only planned child never comes.
 */
static u32 tree_ends(const struct aggnet_tree_conf *conf)
{
	return 2 * conf->sources;
}

/*
 * Decide how long packets are. Long packets need large credits: they are used only if
 * these leave most of the memory to the shared buffer.
 */
static void tree_size_packets(struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;
	u32 payload;

	tree_size_credit(tree, aggnet_host_payload_max(tree->an));
	if ((u64)aggnet_tree_chunks_min(tree) * AGGNET_CHUNK >
	    conf->memory / TREE_CREDITS_PART)
		tree_size_credit(tree, AGGNET_PAYLOAD_USUAL);
	payload = aggnet_host_payload(tree->an, conf->link_ifindex,
				      aggnet_tree_receiver(tree),
				      conf->filter_size);
	tree->packet.max_payload = min(tree->packet.max_taken, payload);
}

/*
 * A child has a branch because the list has it. The packets of a stream have the same
 * length on all links.
 */
static int tree_size_stream(struct aggnet_tree *tree,
			    struct netlink_ext_ack *extack)
{
	const struct aggnet_tree_conf *conf = &tree->conf;

	if (conf->nchildren + !!conf->writers != conf->contributors ||
	    conf->hold_ms) {
		NL_SET_ERR_MSG_MOD(extack,
				   "a tree that leads down lists all children, and has no hold");
		return -EINVAL;
	}
	tree->packet.max_taken = AGGNET_CAST_PAYLOAD;
	tree->packet.max_payload = AGGNET_CAST_PAYLOAD;
	tree->packet.max_records = 1;	/* none, but 0 is no limit */
	if (aggnet_host_payload(tree->an, conf->link_ifindex,
				aggnet_tree_receiver(tree), 0) >=
	    AGGNET_CAST_PAYLOAD)
		return 0;
	NL_SET_ERR_MSG_MOD(extack,
			   "a tree that leads down needs links with an MTU of 1500");
	return -EINVAL;
}

/* Decide all sizes of a tree with flow state. */
static int tree_size_flow(struct aggnet_tree *tree,
			  struct netlink_ext_ack *extack)
{
	bool down = aggnet_tree_leads_down(tree);
	int err = 0;

	if (tree->conf.forward_only)
		return 0;
	if (down)
		err = tree_size_stream(tree, extack);
	else
		tree_size_packets(tree);
	if (err)
		return err;
	tree->acceptor.mask = roundup_pow_of_two(2 * tree_ends(&tree->conf)) - 1;
	tree->store.bytes = tree->store.ops->size(tree);
	if (tree->store.bytes)
		return 0;
	if (down)
		NL_SET_ERR_MSG_MOD(extack,
				   "memory is too small for a ring of 32 packets");
	else
		NL_SET_ERR_MSG_MOD(extack,
				   "memory is too small for a credit for each contributor");
	return -ENOSPC;
}

static u32 tree_slots(const struct aggnet_tree *tree)
{
	u32 part = min_t(u64, tree->conf.memory / 8, S32_MAX);
	u32 fit = part / tree->packet.max_payload;

	/* No DATA goes up; the body of the PROBE that binds stands here. */
	if (aggnet_tree_leads_down(tree))
		return 2;
	return clamp_t(u32, rounddown_pow_of_two(fit | 1), TREE_SLOTS_MIN,
		       TREE_SLOTS_MAX);
}

/* Bytes of a bitmap with a bit for each listed child. */
static size_t tree_came_bytes(const struct aggnet_tree *tree)
{
	return BITS_TO_LONGS(tree->conf.nchildren) * sizeof(unsigned long);
}

/* Bytes that an entry has until it is freed. */
static u64 tree_bytes_entry(const struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;

	return sizeof(*tree) + conf->filter_size + tree_came_bytes(tree) +
	       (conf->nchildren + conf->nabsent) * sizeof(__be32);
}

/*
 * Bytes that it has while it is in force, even after its end: peers ask for the
 * outcome.
 */
static u64 tree_bytes_in_force(const struct aggnet_tree *tree)
{
	u64 bytes = tree_bytes_entry(tree);

	if (!tree->conf.forward_only)
		bytes += (tree->acceptor.mask + 1ULL) *
			 sizeof(struct aggnet_child);
	return bytes;
}

/* Bytes besides chunks, all allocated at the start. */
static u64 tree_overhead(const struct aggnet_tree *tree)
{
	u64 bytes = tree_bytes_in_force(tree);

	if (tree->conf.forward_only)
		return bytes;
	bytes += tree->store.bytes;
	if (!aggnet_tree_is_receiver(tree))
		bytes += aggnet_uplink_size(tree_slots(tree),
					    tree->packet.max_payload);
	return bytes;
}

static int tree_refuse(enum aggnet_room room, struct netlink_ext_ack *extack)
{
	if (room == AGGNET_ROOM_NODE)
		NL_SET_ERR_MSG_MOD(extack,
				   "the node's memory limit leaves no room for this tree");
	else if (room == AGGNET_ROOM_TENANT)
		NL_SET_ERR_MSG_MOD(extack,
				   "the host lets one namespace have no more memory: no room for this tree");
	else
		NL_SET_ERR_MSG_MOD(extack,
				   "the host's ceiling, the memory limit of the initial namespace, leaves no room for this tree");
	return -ENOSPC;
}

/* Charge what has been allocated. */
static int tree_charge(struct aggnet_tree *tree, u64 bytes,
		       struct netlink_ext_ack *extack)
{
	if (!aggnet_memory_charge(tree->an, bytes))
		return tree_refuse(aggnet_memory_room(tree->an, bytes), extack);
	aggnet_tree_charged(tree, bytes);
	return 0;
}

static int tree_alloc_flow(struct aggnet_tree *tree)
{
	int err = 0;

	if (tree->conf.forward_only)
		return 0;
	tree->acceptor.child = aggnet_zalloc((tree->acceptor.mask + 1) *
					     sizeof(struct aggnet_child),
					     GFP_KERNEL_ACCOUNT);
	if (!tree->acceptor.child)
		return -ENOMEM;
	if (tree->conf.nchildren) {
		tree->acceptor.came = aggnet_zalloc(tree_came_bytes(tree),
						    GFP_KERNEL_ACCOUNT);
		if (!tree->acceptor.came)
			return -ENOMEM;
	}
	if (!aggnet_tree_is_receiver(tree))
		err = aggnet_uplink_init(tree, tree_slots(tree),
					 tree->packet.max_payload);
	if (err)
		return err;
	return tree->store.ops->init(tree);
}

static int tree_fill(struct aggnet_tree *tree, struct netlink_ext_ack *extack)
{
	int err = 0;

	if (!tree->conf.forward_only)
		err = tree->store.ops->fill(tree);
	if (err != -ENOSPC)
		return err;
	return tree_refuse(aggnet_memory_room(tree->an, AGGNET_CHUNK), extack);
}

/* --- what is given back ---------------------------------------------------- */

static void tree_drop_ring(struct aggnet_tree *tree)
{
	struct aggnet_packed *ring;

	spin_lock_bh(&tree->lock);
	ring = tree->up.ring;
	tree->up.ring = NULL;
	aggnet_sender_drop(&tree->up.sender);
	spin_unlock_bh(&tree->lock);
	aggnet_free(ring);
}

/* The tree is dead: no packet and no timer uses its children any more. */
static void tree_drop_children(struct aggnet_tree *tree)
{
	struct aggnet_child *child;

	spin_lock_bh(&tree->lock);
	child = tree->acceptor.child;
	tree->acceptor.child = NULL;
	tree->acceptor.last = NULL;
	spin_unlock_bh(&tree->lock);
	aggnet_free(child);
}

static void tree_drop_charge(struct aggnet_tree *tree, u64 keep)
{
	u64 bytes;

	spin_lock_bh(&tree->lock);
	bytes = tree->memory.charged - keep;
	tree->memory.charged = keep;
	spin_unlock_bh(&tree->lock);
	aggnet_memory_uncharge(tree->an, bytes);
}

/*
 * Free the buffers of a transfer that is DONE or ABORTED, as nothing takes their
 * records any more: before DONE the reader has read all, or the parent has
 * acknowledged all; after an abort neither gets any. The table of children stays:
 * it says which peers get the outcome.
 */
static void tree_release(struct aggnet_tree *tree)
{
	if (tree->conf.forward_only)
		return;
	tree->store.ops->free(tree);
	tree_drop_ring(tree);
	tree_drop_charge(tree, tree_bytes_in_force(tree));
}

static void tree_release_work(struct work_struct *work)
{
	struct aggnet_tree *tree = container_of(work, struct aggnet_tree,
						release_work);

	tree_release(tree);
	aggnet_tree_put(tree);
}

static void tree_free(struct aggnet_tree *tree)
{
	aggnet_memory_uncharge(tree->an, tree->memory.charged);
	tree->store.ops->free(tree);
	aggnet_uplink_free(tree);
	aggnet_free(tree->acceptor.child);
	aggnet_free(tree->acceptor.came);
	aggnet_free(tree->conf.children);
	aggnet_free(tree->conf.absent);
	aggnet_free(tree->conf.filter);
	dst_cache_destroy(&tree->up_dst);
	aggnet_payer_put(tree->memory.payer);
	aggnet_free_secret(tree, sizeof(*tree));
}

static void tree_free_work(struct work_struct *work)
{
	tree_free(container_of(to_rcu_work(work), struct aggnet_tree, rcu));
}

static const struct aggnet_store_ops *
tree_store(const struct aggnet_tree_conf *conf)
{
	if (conf->direction == AGGNET_DIR_DOWN)
		return &aggnet_store_cast;
	return conf->shape.layout == AGGNET_LAYOUT_SORTED ?
	       &aggnet_store_runs : &aggnet_store_table;
}

static struct aggnet_tree *tree_alloc(struct aggnet_net *an,
				      const struct aggnet_tree_conf *conf)
{
	struct aggnet_tree *tree;

	tree = aggnet_zalloc(sizeof(*tree), GFP_KERNEL_ACCOUNT);
	if (!tree)
		return NULL;
	if (aggnet_mem_fails() ||
	    dst_cache_init(&tree->up_dst, GFP_KERNEL_ACCOUNT)) {
		aggnet_free(tree);
		return NULL;
	}
	tree->an = an;
	tree->memory.payer = aggnet_payer_get();
	tree->conf = *conf;
	tree->conf.children = NULL;
	tree->conf.absent = NULL;
	tree->conf.filter = NULL;
	tree->store.ops = tree_store(conf);
	refcount_set(&tree->ref, 1);
	spin_lock_init(&tree->lock);
	INIT_LIST_HEAD(&tree->local.list);
	INIT_LIST_HEAD(&tree->grow.list);
	INIT_WORK(&tree->release_work, tree_release_work);
	INIT_WORK(&tree->more_work, tree_more_work);
	INIT_RCU_WORK(&tree->rcu, tree_free_work);
	aggnet_timers_init(tree);
	tree->acceptor.open = true;
	tree->acceptor.told_all = true;
	tree->acceptor.secret = get_random_u64();
	return tree;
}

struct aggnet_tree *aggnet_tree_create(struct aggnet_net *an,
				       struct aggnet_tree_conf *conf,
				       struct netlink_ext_ack *extack)
{
	struct aggnet_tree *tree = tree_alloc(an, conf);
	enum aggnet_room room;
	u64 overhead;
	int err;

	if (!tree)
		return ERR_PTR(-ENOMEM);
	err = tree_size_flow(tree, extack);
	if (err)
		goto free;
	overhead = tree_overhead(tree);
	room = aggnet_memory_room(an, overhead);
	if (room != AGGNET_ROOM) {
		err = tree_refuse(room, extack);
		goto free;
	}
	err = tree_alloc_flow(tree);
	if (!err)
		err = tree_charge(tree, overhead, extack);
	if (!err)
		err = tree_fill(tree, extack);
	if (err)
		goto free;
	tree->conf.children = conf->children;
	conf->children = NULL;
	tree->conf.absent = conf->absent;
	conf->absent = NULL;
	tree->conf.filter = conf->filter;
	conf->filter = NULL;
	return tree;
free:
	tree_free(tree);
	return ERR_PTR(err);
}

static bool tree_same_key(const struct aggnet_secret *a,
			  const struct aggnet_secret *b)
{
	return a->keyed == b->keyed &&
	       !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

void aggnet_tree_follow(struct aggnet_tree *tree,
			const struct aggnet_tree *old)
{
	/*
	 * A repair keeps the key, so the key of the plan before is still the elder
	 * one.
	 */
	if (tree_same_key(&tree->conf.key, &old->conf.key)) {
		tree->elder_key = old->elder_key;
		tree->has_elder = old->has_elder;
	} else {
		tree->elder_key = old->conf.key;
		tree->has_elder = true;
	}
}

void aggnet_tree_get(struct aggnet_tree *tree)
{
	refcount_inc(&tree->ref);
}

void aggnet_tree_put(struct aggnet_tree *tree)
{
	/*
	 * The namespace outlives the tree: each socket holds it, and its exit kills
	 * trees.
	 */
	if (refcount_dec_and_test(&tree->ref))
		queue_rcu_work(tree_wq, &tree->rcu);
}

/*
 * Tell the outcome to the children that have not got it yet, in bounded runs of the
 * lock: once the entry is gone, nothing answers them.
 */
static void tree_tell_all(struct aggnet_tree *tree)
{
	struct aggnet_run run;
	bool all;

	do {
		cond_resched();
		aggnet_run_begin(tree, &run);
		if (!tree->acceptor.told_all)
			aggnet_acceptor_tell_on(tree, &run);
		all = tree->acceptor.told_all;
		aggnet_run_end(tree, &run);
	} while (!all);
}

void aggnet_tree_kill(struct aggnet_tree *tree, enum aggnet_reason reason)
{
	struct aggnet_run run;

	aggnet_run_begin(tree, &run);
	if (!tree->conf.forward_only && tree->state != AGGNET_TREE_IDLE)
		aggnet_tree_abort(tree, &run, reason, aggnet_tree_self(tree),
				  0, 0);
	tree->dead = true;
	/* From now on readers of the outcome find one. */
	if (tree->state < AGGNET_TREE_DONE) {
		tree->state = AGGNET_TREE_ABORTED;
		tree->outcome.reason = reason;
	}
	run.wake = true;
	aggnet_run_end(tree, &run);

	if (!tree->conf.forward_only)
		tree_tell_all(tree);
	aggnet_timers_stop(tree);
	aggnet_growth_cancel(tree);
	if (cancel_work_sync(&tree->release_work))
		aggnet_tree_put(tree);
	if (cancel_work_sync(&tree->more_work))
		aggnet_tree_put(tree);
	tree_release(tree);
	tree_drop_children(tree);
	tree_drop_charge(tree, tree_bytes_entry(tree));
	aggnet_tree_put(tree);
}

void aggnet_tree_info(struct aggnet_tree *tree, struct aggnet_tree_info *info)
{
	memset(info, 0, sizeof(*info));
	spin_lock_bh(&tree->lock);
	info->state = tree->state;
	info->outcome = tree->outcome;
	if (tree->state != AGGNET_TREE_ABORTED)
		memset(&info->outcome.lost, 0, sizeof(info->outcome.lost));
	info->acceptor = tree->up.peer;
	info->weight = tree->books.weight + aggnet_tree_own_done(tree);
	info->round = tree->round;
	info->channels = tree->acceptor.bound_total;
	info->unplanned = tree->acceptor.unplanned;
	aggnet_acceptor_unbound(tree, &info->unbound);
	info->keys = aggnet_tree_keys(tree);
	info->memory_used = tree->memory.charged;
	info->memory_most = tree->memory.most;
	info->partials = tree->books.partials;
	memcpy(info->below, tree->below, sizeof(info->below));
	info->count = tree->count;
	spin_unlock_bh(&tree->lock);
}

/* --- states ---------------------------------------------------------------- */

void aggnet_run_begin(struct aggnet_tree *tree, struct aggnet_run *run)
	__acquires(&tree->lock)
{
	__skb_queue_head_init(&run->packets);
	run->wake = false;
	local_bh_disable();
	spin_lock(&tree->lock);
	tree->store.runs.budget = AGGNET_COST_MAX;
	tree->up.cost = 0;
}

void aggnet_run_end(struct aggnet_tree *tree, struct aggnet_run *run)
	__releases(&tree->lock)
{
	tree_go_on(tree);
	/* Compute this once; the list of members is protected by the lock. */
	if (run->wake)
		aggnet_host_wake(tree);
	spin_unlock(&tree->lock);
	aggnet_host_transmit(tree, run);
	local_bh_enable();
}

static void tree_set_state(struct aggnet_tree *tree, u8 state)
{
	trace_aggnet_tree_state(tree, state);
	tree->state = state;
}

bool aggnet_tree_own_done(const struct aggnet_tree *tree)
{
	return tree->conf.writers && tree->writers.done == tree->conf.writers;
}

u32 aggnet_tree_unfinished(const struct aggnet_tree *tree)
{
	u32 finished = tree->books.weight + aggnet_tree_own_done(tree);

	return finished < tree->conf.sources ? tree->conf.sources - finished : 0;
}

void aggnet_tree_touch(struct aggnet_tree *tree, struct aggnet_run *run)
{
	if (tree->state != AGGNET_TREE_IDLE)
		return;
	tree_set_state(tree, AGGNET_TREE_OPEN);
	tree->started = jiffies;
	tree->acceptor.bound_at = jiffies;
	tree->up.heard = jiffies;	/* a bind is a sign of life, ACCEPT is none */
	aggnet_timers_tree(tree, 1);
	aggnet_uplink_start(tree, run);
}

static bool tree_units_ok(const struct aggnet_tree *tree)
{
	const struct aggnet_books *b = &tree->books;
	u64 held = tree->store.table.units + tree->store.runs.units;

	return b->delivered + held == b->records + b->local_records;
}

u32 aggnet_tree_members(const struct aggnet_tree *tree)
{
	u32 own = be32_to_cpu(aggnet_tree_self(tree));

	return tree->books.members +
	       (tree->conf.writers ? aggnet_member(own) : 0);
}

u64 aggnet_tree_covered(const struct aggnet_tree *tree)
{
	return tree->acceptor.told + tree->books.weight + !!tree->conf.writers;
}

/* May a planned child still bind? */
static bool tree_awaits(const struct aggnet_tree *tree)
{
	u32 expected = tree->conf.contributors - !!tree->conf.writers;

	return tree->acceptor.open && (aggnet_acceptor_due(tree) ||
				       tree->acceptor.bound_total < expected);
}

u32 aggnet_tree_reach(const struct aggnet_tree *tree)
{
	u64 covered = aggnet_tree_covered(tree);

	if (tree_awaits(tree))
		covered = max_t(u64, covered, tree->conf.sources);
	return min_t(u64, covered, U32_MAX - 1);
}

/*
 * Has a planned child of a tree that leads down not bound? The ring keeps the stream for
 * it, whatever number of sources the others announce.
 */
static bool tree_lacks_child(const struct aggnet_tree *tree)
{
	return aggnet_tree_leads_down(tree) &&
	       tree->acceptor.bound_total < tree->conf.nchildren;
}

bool aggnet_tree_short(const struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;

	if (tree_lacks_child(tree))
		return true;
	if (!tree->acceptor.open || aggnet_tree_bypassed(tree) ||
	    tree->books.weight + !!conf->writers >= conf->sources)
		return false;
	/* The receiver decides about sources that are missing below its children. */
	if (aggnet_tree_covered(tree) < conf->sources &&
	    (aggnet_tree_is_receiver(tree) || tree_awaits(tree) ||
	     !tree->acceptor.bound))
		return true;
	/*
	 * Sorted trees: bound children wait for credit until all sources are there.
	 */
	return tree->store.ops->weighs && !tree->store.runs.unknown;
}

bool aggnet_tree_bypassed(const struct aggnet_tree *tree)
{
	return tree->state == AGGNET_TREE_OPEN && !aggnet_tree_leads_down(tree) &&
	       (tree->up.state == AGGNET_UP_OPENING ||
		tree->up.state == AGGNET_UP_BINDING) &&
	       !tree->acceptor.bound_total && !tree->conf.writers;
}

void aggnet_tree_sleep(struct aggnet_tree *tree)
{
	tree_set_state(tree, AGGNET_TREE_IDLE);
	tree->up.state = AGGNET_UP_IDLE;
	tree->up.any = false;
	tree->up.fin = false;
	tree->outcome.lost.n = 0;
	aggnet_rtt_init(&tree->up.sender.rtt);
}

/*
 * Are all planned children bound, although some of them did not wait for all of
 * their own children? Then a source that comes later bypasses this end, too.
 */
static bool tree_cut_short(const struct aggnet_tree *tree)
{
	return tree->books.partials && !tree_awaits(tree) &&
	       !aggnet_tree_is_receiver(tree);
}

/* At the receiver the books must balance: sources, members and records. */
static bool tree_books_ok(const struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;
	u32 weight = tree->books.weight + aggnet_tree_own_done(tree);

	return weight == conf->sources &&
	       (!conf->members_known ||
		aggnet_tree_members(tree) == conf->members) &&
	       tree_units_ok(tree);
}

void aggnet_tree_advance(struct aggnet_tree *tree, struct aggnet_run *run)
{
	u32 weight = tree->books.weight + aggnet_tree_own_done(tree);

	if (tree->state != AGGNET_TREE_OPEN || tree->acceptor.bound)
		return;
	if (tree->conf.writers && !aggnet_tree_own_done(tree))
		return;
	if (tree_lacks_child(tree))
		return;
	/*
	 * It may be more than planned: sources whose planned end is away bind
	 * elsewhere. After the first round all children are bound.
	 */
	if (weight < tree->conf.sources && !tree->round && !tree->flushing &&
	    !tree_cut_short(tree))
		return;
	tree->acceptor.open = false;
	tree->store.ops->close(tree);
	tree_set_state(tree, AGGNET_TREE_CLOSING);
	if (!aggnet_tree_is_receiver(tree))
		aggnet_uplink_push(tree, run);
	else if (!tree_books_ok(tree))
		aggnet_tree_abort(tree, run, AGGNET_R_MISMATCH,
				  aggnet_tree_self(tree), 0, 0);
	else if (aggnet_tree_leads_down(tree))
		aggnet_tree_done(tree, !tree->conf.persist || tree->last, run);
	else
		run->wake = true;
}

/*
 * Begin the next round on the same channels. Nothing of the last one is left: its
 * records have been read, or the parent has them.
 */
static void tree_next_round(struct aggnet_tree *tree, struct aggnet_run *run)
{
	aggnet_acceptor_next_round(tree);
	memset(&tree->books, 0, sizeof(tree->books));
	tree->flushing = false;
	tree->pressure = false;
	tree->round++;
	tree_set_state(tree, AGGNET_TREE_OPEN);
	aggnet_uplink_next_round(tree);
	if (!aggnet_tree_leads_down(tree))
		aggnet_writers_next_round(tree);
	aggnet_acceptor_tell(tree, run);
	if (aggnet_tree_leads_down(tree))
		aggnet_cast_next_round(tree, run);
	aggnet_tree_advance(tree, run);
}

void aggnet_tree_done(struct aggnet_tree *tree, bool last,
		      struct aggnet_run *run)
{
	/* Numbers of rounds do not wrap: a packet of the first one would count. */
	if (!last && tree->round == U32_MAX) {
		aggnet_tree_abort(tree, run, AGGNET_R_PROTOCOL,
				  aggnet_tree_self(tree),
				  aggnet_tree_self(tree), 0);
		return;
	}
	tree->done = (struct aggnet_done_round) {
		.round = tree->round,
		.sources = tree->books.weight,
		.partials = tree->books.partials,
	};
	run->wake = true;
	if (!last) {
		tree_next_round(tree, run);
		return;
	}
	tree_set_state(tree, AGGNET_TREE_DONE);
	tree_queue_release(tree);
	aggnet_acceptor_tell(tree, run);
	aggnet_host_notify(tree, AGGNET_EVENT_TREE_DONE);
}

void aggnet_tree_abort(struct aggnet_tree *tree, struct aggnet_run *run,
		       enum aggnet_reason reason, __be32 origin, __be32 about,
		       u32 missing)
{
	if (tree->state >= AGGNET_TREE_DONE)
		return;
	aggnet_tree_touch(tree, run);
	tree_set_state(tree, AGGNET_TREE_ABORTED);
	tree_queue_release(tree);
	if (reason != AGGNET_R_TIMEOUT)
		tree->outcome.lost.n = 0;
	tree->outcome.reason = reason;
	tree->outcome.origin = origin;
	tree->outcome.about = about;
	tree->outcome.missing = missing;
	tree->up.heard = jiffies;	/* the ABORT has its own give_up */
	aggnet_acceptor_tell(tree, run);
	aggnet_uplink_abort(tree, run);
	run->wake = true;
	aggnet_host_notify(tree, AGGNET_EVENT_TREE_ABORTED);
}

u16 aggnet_put_abort(const struct aggnet_tree *tree,
		     struct aggnet_abort_body *body)
{
	const struct aggnet_outcome *o = &tree->outcome;

	body->abort.reason = cpu_to_be32(o->reason);
	body->abort.origin = o->origin;
	body->abort.about = o->about;
	body->abort.missing = cpu_to_be32(o->missing);
	memcpy(body->name, o->lost.id, sizeof(body->name));
	return sizeof(body->abort) + o->lost.n * sizeof(body->name[0]);
}

void aggnet_tree_stall(struct aggnet_tree *tree, struct aggnet_run *run)
{
	if (tree->state != AGGNET_TREE_OPEN || aggnet_tree_is_receiver(tree))
		return;
	tree->acceptor.open = false;
	tree->store.ops->close(tree);
	tree->flushing = true;
	tree->books.partials++;
	aggnet_acceptor_lost(tree);
	tree->store.ops->moved(tree, run);
	aggnet_host_notify(tree, AGGNET_EVENT_TREE_STALLED);
	aggnet_tree_advance(tree, run);
	aggnet_uplink_push(tree, run);
}

/* --- receive --------------------------------------------------------------- */

/* Is it an RST of a newer epoch, which answers packets of this one? */
static bool tree_epoch_over(const struct aggnet_pkt *pkt)
{
	const struct aggnet_rst *rst = (const void *)pkt->body;

	return pkt->type == AGGNET_RST &&
	       rst->reason == cpu_to_be32(AGGNET_RST_EPOCH);
}

static int tree_epoch_cmp(const struct aggnet_tree *tree,
			  const struct aggnet_pkt *pkt)
{
	return aggnet_epoch_cmp(pkt->instance, pkt->attempt,
				tree->conf.instance, tree->conf.attempt);
}

static void tree_epoch_old(struct aggnet_tree *tree,
			   const struct aggnet_pkt *pkt,
			   struct aggnet_run *run)
{
	aggnet_stat_inc(tree->an, drop_epoch_old);
	/* A parent takes an RST as one of its own parent. */
	if (pkt->flags & AGGNET_F_DOWN)
		return;
	if (pkt->type == AGGNET_OPEN || pkt->type == AGGNET_DATA ||
	    pkt->type == AGGNET_FIN || pkt->type == AGGNET_PROBE)
		aggnet_acceptor_send_rst(tree, pkt, AGGNET_RST_EPOCH, run);
}

void aggnet_tree_tell_epoch(struct aggnet_tree *tree, struct aggnet_run *run)
{
	if (!tree->epoch_told)
		aggnet_host_notify(tree, AGGNET_EVENT_EPOCH);
	tree->epoch_told = true;
}

/*
 * Does this OPEN of a newer epoch show that the tree cannot complete? The packet is
 * under the key of that epoch, so its sender has left this one. Another plan is in force
 * there, or the sender was a child of this end; its ABORT may be lost. A later attempt of
 * this plan comes from a repair: if a host that belongs elsewhere has noticed first that
 * its acceptor is dead, this end waits for its own news, which names the dead one.
 */
static bool tree_is_left(const struct aggnet_tree *tree,
			 const struct aggnet_pkt *pkt)
{
	return pkt->instance != tree->conf.instance ||
	       aggnet_acceptor_expects(tree, pkt->src);
}

/*
 * Without a key a single forged packet would end the transfer, so only an OPEN to a keyed
 * tree does.
 */
static void tree_epoch_new(struct aggnet_tree *tree,
			   const struct aggnet_pkt *pkt,
			   struct aggnet_run *run)
{
	aggnet_stat_inc(tree->an, drop_epoch_new);
	aggnet_tree_tell_epoch(tree, run);
	if (pkt->type == AGGNET_OPEN && tree->conf.key.keyed &&
	    tree->state != AGGNET_TREE_IDLE && tree_is_left(tree, pkt))
		aggnet_tree_abort(tree, run, AGGNET_R_STALE, pkt->src,
				  aggnet_tree_self(tree), 0);
}

/* Is the packet of the epoch in force? If not, it has been handled here. */
static bool tree_epoch_ok(struct aggnet_tree *tree,
			  const struct aggnet_pkt *pkt,
			  struct aggnet_run *run)
{
	int cmp = tree_epoch_cmp(tree, pkt);

	if (!cmp || (cmp > 0 && tree_epoch_over(pkt)))
		return true;
	if (cmp > 0)
		tree_epoch_new(tree, pkt, run);
	else
		tree_epoch_old(tree, pkt, run);
	return false;
}

/*
 * Are DATA and what answers them on the way on which they go in this tree? A FIN goes
 * up in any tree.
 */
static bool tree_way_ok(const struct aggnet_tree *tree,
			const struct aggnet_pkt *pkt)
{
	bool down = aggnet_tree_leads_down(tree);

	if (pkt->flags & AGGNET_F_DOWN)
		return down;
	return !down || pkt->type != AGGNET_DATA;
}

static bool tree_dispatch(struct aggnet_tree *tree,
			  const struct aggnet_pkt *pkt,
			  struct aggnet_run *run)
{
	if (!tree_way_ok(tree, pkt)) {
		aggnet_stat_inc(tree->an, drop_state);
		return true;
	}
	if (pkt->flags & AGGNET_F_DOWN) {
		if (pkt->type == AGGNET_ACK)
			aggnet_acceptor_rx(tree, pkt, run);
		else
			aggnet_uplink_rx(tree, pkt, run);
		return true;
	}
	switch (pkt->type) {
	case AGGNET_OPEN:
		return aggnet_acceptor_open(tree, pkt, run);
	case AGGNET_ABORT:
		if (aggnet_uplink_is_peer(tree, pkt)) {
			aggnet_uplink_rx(tree, pkt, run);
			break;
		}
		fallthrough;
	case AGGNET_DATA:
	case AGGNET_FIN:
	case AGGNET_PROBE:
		aggnet_acceptor_rx(tree, pkt, run);
		break;
	default:
		aggnet_uplink_rx(tree, pkt, run);
	}
	return true;
}

/* The tag is wrong: is it that of a child with the entry before? */
static void tree_rx_elder(struct aggnet_tree *tree,
			  const struct aggnet_pkt *pkt,
			  const struct aggnet_hdr *hdr)
{
	struct aggnet_pkt elder = *pkt;
	struct aggnet_run run;

	if (!tree->has_elder || tree_epoch_cmp(tree, pkt) >= 0 ||
	    !aggnet_tag_ok(&tree->elder_key, hdr)) {
		aggnet_stat_inc(tree->an, drop_tag);
		return;
	}
	elder.key = &tree->elder_key;
	aggnet_run_begin(tree, &run);
	if (tree->dead)
		aggnet_stat_inc(tree->an, drop_no_tree);
	else
		tree_epoch_old(tree, &elder, &run);
	aggnet_run_end(tree, &run);
}

bool aggnet_tree_rx(struct aggnet_tree *tree, struct aggnet_pkt *pkt,
		    const struct aggnet_hdr *hdr)
{
	struct aggnet_run run;
	bool consumed = true;

	if (!aggnet_tag_check(&tree->conf.key, hdr, &pkt->digest)) {
		tree_rx_elder(tree, pkt, hdr);
		return true;
	}
	if (pkt->type == AGGNET_DATA && !aggnet_tree_leads_down(tree))
		aggnet_acceptor_parse(tree, pkt);
	aggnet_run_begin(tree, &run);
	if (tree->dead)
		aggnet_stat_inc(tree->an, drop_no_tree);
	else if (tree_epoch_ok(tree, pkt, &run))
		consumed = tree_dispatch(tree, pkt, &run);
	aggnet_run_end(tree, &run);
	return consumed;
}
