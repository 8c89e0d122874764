/* SPDX-License-Identifier: GPL-2.0 */
/* Tree: what one incast transfer is at this node, from first OPEN to DONE. */
#ifndef _AGGNET_TREE_H
#define _AGGNET_TREE_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/timer.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>
#include <net/dst_cache.h>

#include "core/fingerprint.h"
#include "core/tag.h"
#include "flow/channel.h"
#include "flow/run.h"
#include "flow/store.h"
#include "netns.h"

struct aggnet_local;
struct mem_cgroup;
struct netlink_ext_ack;

/**
 * struct aggnet_names - identities of planned ends that have not come
 * @n: how many are kept; others are counted elsewhere
 * @id: them
 */
struct aggnet_names {
	u32 n;
	__be32 id[AGGNET_NAMES_MAX];
};

/**
 * struct aggnet_tree_conf - what the entry says; constant once it is in force
 * @incast_id: job . receiver
 * @instance: epoch, high half
 * @attempt: epoch, low half
 * @contributors: flows merged here, the own one included
 * @sources: sending servers in the subtree, this one included
 * @members: receiver: sum of aggnet_member() over the sources
 * @members_known: @members is given
 * @hold_ms: wait no longer than this for children, 0: no limit
 * @give_up_ms: silence after which the transfer is aborted
 * @writers: local processes that contribute, 0: this node does not send
 * @shape: of the values
 * @scheme: enum aggnet_scheme, how packets leave for the parent
 * @hops: links of the planned edge to the parent end
 * @forward_only: switch or transit: forwards, holds no flow state
 * @uid: may use the socket; INVALID_UID: no user
 * @gid: or whose group; INVALID_GID: no group
 * @link_ifindex: port of the planned link (EXACT, BLOOM, PACKET)
 * @link_neighbour: neighbour on it, 0: the aggnet switch
 * @memory: limit of the buffer in bytes
 * @key: secret of the tree
 * @nchildren: length of @children, 0: no list is kept
 * @children: sorted identities; owned by the conf
 * @nabsent: length of @absent
 * @absent: receiver: sources that the plan left out; owned by the conf
 * @filter_size: bytes of @filter, 0: there is none
 * @filter: that upward packets carry (PACKET); owned by the conf
 * @plan: identity of the plan, compared and shown only
 * @has_plan: @plan is given
 */
struct aggnet_tree_conf {
	u64 incast_id;
	u32 instance;
	u32 attempt;
	u32 contributors;
	u32 sources;
	u32 members;
	bool members_known;
	u32 hold_ms;
	u32 give_up_ms;
	u32 writers;
	struct aggnet_shape shape;
	u8 scheme;
	u8 hops;
	bool forward_only;
	kuid_t uid;
	kgid_t gid;
	u32 link_ifindex;
	__be32 link_neighbour;
	u64 memory;
	struct aggnet_secret key;
	u32 nchildren;
	__be32 *children;
	u32 nabsent;
	__be32 *absent;
	u32 filter_size;
	struct aggnet_filter *filter;
	u8 plan[AGGNET_PLAN_LEN];
	bool has_plan;
};

/**
 * struct aggnet_outcome - how an abort came about
 * @reason: enum aggnet_reason
 * @origin: the node that raised it
 * @about: the node that it is about
 * @missing: sources missing there
 * @lost: ends that were not waited for here or below; of an abort, those that
 *	are missing at its origin
 */
struct aggnet_outcome {
	u8 reason;
	__be32 origin;
	__be32 about;
	u32 missing;
	struct aggnet_names lost;
};

/**
 * struct aggnet_packets - how long packets of a tree may be
 * @max_taken: bytes of records in a packet that this node takes
 * @max_records: in such a packet
 * @max_payload: bytes of records in a packet of the planned link
 * @chunks: of the buffer that one credit reserves
 */
struct aggnet_packets {
	u32 max_taken;
	u32 max_records;
	u32 max_payload;
	u32 chunks;
};

/**
 * struct aggnet_books - what was merged and what has left, in original records
 * @weight: sources of finished children
 * @records: of finished children and writers
 * @partials: of finished children, and our own
 * @members: sum of aggnet_member() of finished children's sources
 * @delivered: receiver: units that left to the application
 * @local_records: of local writers
 * @check: fingerprint of finished children and writers
 * @unchecked: one of them has told none
 */
struct aggnet_books {
	u32 weight;
	u64 records;
	u32 partials;
	u32 members;
	u64 delivered;
	u64 local_records;
	u64 check;
	bool unchecked;
};

/**
 * struct aggnet_writers - how many local writers
 * @joined: have connected
 * @done: of them, have shut down
 */
struct aggnet_writers {
	u32 joined;
	u32 done;
};

/**
 * struct aggnet_locals - local processes
 * @list: all of them, for wake-ups
 * @reader: the receiver's
 * @taking: reads whose records have not been copied out yet
 * @end_read: the application has taken the end mark
 */
struct aggnet_locals {
	struct list_head list;
	struct aggnet_local *reader;
	u32 taking;
	bool end_read;
};

/**
 * struct aggnet_growth - of the buffer
 * @list: in an->grow_list while it is to get chunks, with a reference
 * @failed: there was no memory to grow: ...
 * @again: ... do not ask again before these jiffies
 * @asked: jiffies at which it was put in an->grow_list
 */
struct aggnet_growth {
	struct list_head list;
	bool failed;
	unsigned long again;
	unsigned long asked;
};

/**
 * struct aggnet_account - memory
 * @charged: bytes accounted to the namespace
 * @most: the most that they were
 * @payer: memory control group of the task that made the entry; constant
 */
struct aggnet_account {
	u64 charged;
	u64 most;
	struct mem_cgroup *payer;
};

/**
 * struct aggnet_tree_count - counters for show
 */
struct aggnet_tree_count {
	u64 records_in;
	u64 records_out;
	u64 packets_in;
	u64 packets_out;
	u64 bytes_out;
	u64 rexmits;
};

/**
 * struct aggnet_tree - an entry in force and the flow it holds
 * @an: its namespace
 * @ref: the table's, each socket's, each armed timer's and each caller's
 * @conf: constant
 * @elder_key: of the entry whose place this one took, which had another; constant
 * @has_elder: there was one
 * @rcu: frees it in process context after a grace period
 * @up_dst: cached route of the planned link
 * @lock: BH lock over all that follows; leaf lock but for the waiters' queues
 * @state: enum aggnet_tree_state
 * @dead: taken out of the table; nothing starts any more
 * @flushing: hold passed: emit what is held as it comes
 * @pressure: buffer is low: emit the oldest until it is not
 * @epoch_told: the event of a newer epoch was raised
 * @outcome: of an abort
 * @packet: how long packets may be
 * @store: what is held
 * @acceptor: its half of the channels from children
 * @up: channel to the parent; unused at the receiver
 * @books: what was merged and what has left
 * @writers: how many local writers
 * @local: local processes
 * @started: jiffies of the first sign of life, 0: none yet
 * @timer: hold and give_up
 * @grow: growth of the buffer
 * @memory: account
 * @count: counters for show
 * @release_work: frees what a tree that has ended held
 * @more_work: goes on where the last run of the lock had to stop
 */
struct aggnet_tree {
	struct aggnet_net *an;
	refcount_t ref;
	struct aggnet_tree_conf conf;
	struct aggnet_secret elder_key;
	bool has_elder;
	struct rcu_work rcu;
	struct dst_cache up_dst;

	spinlock_t lock;	/* all that follows, but the work */
	u8 state;
	bool dead;
	bool flushing;
	bool pressure;
	bool epoch_told;
	struct aggnet_outcome outcome;
	struct aggnet_packets packet;
	struct aggnet_store store;
	struct aggnet_acceptor acceptor;
	struct aggnet_uplink up;
	struct aggnet_books books;
	struct aggnet_writers writers;
	struct aggnet_locals local;
	unsigned long started;
	struct timer_list timer;
	struct aggnet_growth grow;
	struct aggnet_account memory;
	struct aggnet_tree_count count;

	struct work_struct release_work;
	struct work_struct more_work;
};

int aggnet_tree_init(void);	/* module: the work queues of trees */
void aggnet_tree_exit(void);	/* after every namespace has gone */

/* --- configuration (process context, an->lock held unless said otherwise) - */

/**
 * aggnet_tree_create() - check an entry, reserve what it needs
 * @an: namespace
 * @conf: copied; its lists are taken over on success only
 * @extack: gets a sentence on refusal
 *
 * Reserves, so that the tree makes progress alone: a credit for each
 * contributor, one packet to emit, the retransmit ring, bucket array and
 * children's state. Nothing is in force until it is put in the table.
 *
 * Return: the tree with one reference, or ERR_PTR (-EINVAL, -ENOSPC, -ENOMEM)
 */
struct aggnet_tree *aggnet_tree_create(struct aggnet_net *an,
				       struct aggnet_tree_conf *conf,
				       struct netlink_ext_ack *extack);

/**
 * aggnet_tree_follow() - an entry will take the place of another
 * @tree: not in force yet
 * @old: in force
 *
 * A transfer that is planned anew has another key. @tree answers what still comes
 * under the key of @old, so that children that have kept that entry hear of the
 * newer epoch.
 */
void aggnet_tree_follow(struct aggnet_tree *tree,
			const struct aggnet_tree *old);

/**
 * aggnet_tree_kill() - end a tree that is out of the table
 * @tree: it; the caller's (the table's) reference is dropped
 * @reason: AGGNET_R_WITHDRAWN, or AGGNET_R_STALE for a newer epoch
 *
 * Sockets get the reason's errno, peers an ABORT; timers and work have ended and
 * the buffers are free when this returns, whatever still refers to the tree. Only
 * growth that is under way may go on, and adds nothing. Process context.
 */
void aggnet_tree_kill(struct aggnet_tree *tree, enum aggnet_reason reason);

void aggnet_tree_get(struct aggnet_tree *tree);
void aggnet_tree_put(struct aggnet_tree *tree);	/* any context */

/**
 * struct aggnet_tree_info - snapshot for dumps
 * @state: enum aggnet_tree_state
 * @outcome: of an abort
 * @acceptor: that it is bound to
 * @weight: sources that are in, the own one included
 * @channels: children that ever bound
 * @keys: that are held
 * @memory_used: bytes accounted
 * @memory_most: the most that they were
 * @count: counters
 */
struct aggnet_tree_info {
	u8 state;
	struct aggnet_outcome outcome;
	__be32 acceptor;
	u32 weight;
	u32 channels;
	u32 keys;
	u64 memory_used;
	u64 memory_most;
	struct aggnet_tree_count count;
};

void aggnet_tree_info(struct aggnet_tree *tree, struct aggnet_tree_info *info);

static inline __be32 aggnet_tree_receiver(const struct aggnet_tree *tree)
{
	return htonl((u32)tree->conf.incast_id);
}

/* It changes while a socket still has an entry that has been withdrawn. */
static inline __be32 aggnet_tree_self(const struct aggnet_tree *tree)
{
	return READ_ONCE(tree->an->identity);
}

static inline bool aggnet_tree_is_receiver(const struct aggnet_tree *tree)
{
	return aggnet_tree_receiver(tree) == aggnet_tree_self(tree);
}

/* Have all that have finished here told a fingerprint? */
static inline bool aggnet_tree_is_checked(const struct aggnet_tree *tree)
{
	return aggnet_fp_kind(&tree->conf.shape) != AGGNET_FP_NONE &&
	       !tree->books.unchecked;
}

/* Keys that are held; of runs, records. */
static inline u32 aggnet_tree_keys(const struct aggnet_tree *tree)
{
	return tree->store.table.keys + aggnet_runs_held(&tree->store.runs);
}

/* --- receive path (softirq, RCU read side) ------------------------------- */

/**
 * aggnet_tree_rx() - serve a packet at a node that has an entry
 * @tree: the entry (not forward_only), held by RCU
 * @pkt: parsed, identity checked; @pkt->dst is this node, or type is OPEN
 * @hdr: header with body behind it, linear
 *
 * Verifies tag and epoch, does what the packet says and sends the answers.
 * OPEN that this node is not entitled to is not consumed.
 *
 * Return: true if the packet was consumed; false: forward it
 */
bool aggnet_tree_rx(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
		    const struct aggnet_hdr *hdr);

/* --- local sockets (process context) ------------------------------------- */

int aggnet_tree_join_writer(struct aggnet_tree *tree,
			    struct aggnet_local *local);
int aggnet_tree_join_reader(struct aggnet_tree *tree,
			    struct aggnet_local *local);

/**
 * aggnet_tree_write() - merge records of a local writer
 * @tree: joined by the writer
 * @local: it
 * @data: records, already checked by aggnet_parse_records()
 * @len: bytes
 * @records: how many
 *
 * Takes as many from the front as there is room for.
 *
 * Return: bytes taken (whole records), -EAGAIN if there is room for none,
 * -EILSEQ if a sorted tree's are out of order, -EPIPE after shutdown or an
 * abort's errno
 */
int aggnet_tree_write(struct aggnet_tree *tree, struct aggnet_local *local,
		      const u8 *data, size_t len, u32 records);

/**
 * aggnet_tree_set_check() - take the fingerprint of a local writer
 * @tree: joined by the writer
 * @local: it; it has not shut down yet
 * @check: of all records that it gave
 *
 * Return: 0, -EOPNOTSUPP if the function has none, -EPIPE after shutdown or an
 * abort's errno
 */
int aggnet_tree_set_check(struct aggnet_tree *tree, struct aggnet_local *local,
			  u64 check);
int aggnet_tree_shutdown(struct aggnet_tree *tree,
			 struct aggnet_local *local);

/**
 * aggnet_tree_read() - next message for the receiving application
 * @tree: joined by the reader
 * @msg: its head
 * @buf: what follows the head
 * @len: size of @buf, >= AGGNET_RECORD_MAX
 * @peek: -EOPNOTSUPP for records, which a read takes out
 *
 * Records are under way to the application until aggnet_tree_taken(), and no end
 * mark is read before. The end mark stays: aggnet_tree_end() says that the
 * application has it.
 *
 * Return: bytes written to @buf, -EAGAIN, or an abort's errno
 */
int aggnet_tree_read(struct aggnet_tree *tree, struct aggnet_msg *msg,
		     u8 *buf, size_t len, bool peek);

/**
 * aggnet_tree_taken() - the application has records, or they are lost
 * @tree: aggnet_tree_read() gave them
 * @lost: they could not be copied out: the transfer is aborted
 */
void aggnet_tree_taken(struct aggnet_tree *tree, bool lost);

/**
 * aggnet_tree_end() - the application has the end mark: the transfer is DONE
 * @tree: aggnet_tree_read() gave its end mark
 *
 * Return: 0, or the errno of an abort that came between
 */
int aggnet_tree_end(struct aggnet_tree *tree);

/* Ends the membership; abort if it was not complete (sender, reader). */
void aggnet_tree_leave(struct aggnet_tree *tree, struct aggnet_local *local);

/* An application's abort (AGGNET_SO_ABORT). */
void aggnet_tree_abort_user(struct aggnet_tree *tree, enum aggnet_reason why);

/* 0: still running, 1: DONE, <0: errno of the abort. */
int aggnet_tree_outcome(struct aggnet_tree *tree);

__poll_t aggnet_tree_poll(struct aggnet_tree *tree,
			  struct aggnet_local *local);

void aggnet_tree_status(struct aggnet_tree *tree, struct aggnet_status *st);
void aggnet_tree_check(struct aggnet_tree *tree, struct aggnet_check *check);

int aggnet_reason_errno(enum aggnet_reason reason);	/* negative errno */

/* --- between the files of the tree; within a run of its lock -------------- */

/* First sign of life: the clocks start and the uplink opens. */
void aggnet_tree_touch(struct aggnet_tree *tree, struct aggnet_run *run);
/* Is the flow whole? Then close it. Call after whatever may make it so. */
void aggnet_tree_advance(struct aggnet_tree *tree, struct aggnet_run *run);
/* The receiving application, or the parent, has the whole result. */
void aggnet_tree_done(struct aggnet_tree *tree, struct aggnet_run *run);
void aggnet_tree_abort(struct aggnet_tree *tree, struct aggnet_run *run,
		       enum aggnet_reason reason, __be32 origin, __be32 about,
		       u32 missing);
/* Chunks that progress needs: a credit a contributor, two packets to emit. */
u32 aggnet_tree_chunks_min(const struct aggnet_tree *tree);
/* Memory of the tree was charged: its own account. */
void aggnet_tree_charged(struct aggnet_tree *tree, u64 bytes);
/* Raise the event of a newer epoch, once. */
void aggnet_tree_tell_epoch(struct aggnet_tree *tree, struct aggnet_run *run);
/* Hold passed: stop waiting for children that have not bound. */
void aggnet_tree_stall(struct aggnet_tree *tree, struct aggnet_run *run);
/* May a packet be made of what is held, now? */
bool aggnet_tree_may_emit(const struct aggnet_tree *tree);
/* Records came in: the counters. */
void aggnet_tree_count(struct aggnet_tree *tree, u32 records, u64 represents);
/* The fault that an operator ordered, once. */
u32 aggnet_tree_fault(struct aggnet_tree *tree);
/* Have all local writers shut down? False if there are none. */
bool aggnet_tree_own_done(const struct aggnet_tree *tree);
/*
 * Is a source missing? At the receiver: one that no child has told of. At another
 * end: one whose planned child has not come.
 */
bool aggnet_tree_short(const struct aggnet_tree *tree);
/* Sources of the finished and bound children and the own one. */
u64 aggnet_tree_covered(const struct aggnet_tree *tree);
/* Sources that the flow of this end will contain, as far as it knows. */
u32 aggnet_tree_reach(const struct aggnet_tree *tree);
/*
 * Has the transfer gone past this end? OPENs passed it, but it has no children
 * and no writers, and no acceptor has bound it.
 */
bool aggnet_tree_bypassed(const struct aggnet_tree *tree);
/* Such an end is as it was before the first OPEN. */
void aggnet_tree_sleep(struct aggnet_tree *tree);
/* Members in the flow, the own one included. */
u32 aggnet_tree_members(const struct aggnet_tree *tree);

#endif /* _AGGNET_TREE_H */
