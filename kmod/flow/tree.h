/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tree: the state of one incast transfer at this node, from the first OPEN to DONE.
 */
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
 * struct aggnet_names - identities of planned ends that have not bound
 * @n: length of @id; more of them are only counted, elsewhere
 * @id: the identities
 */
struct aggnet_names {
	u32 n;
	__be32 id[AGGNET_NAMES_MAX];
};

/**
 * struct aggnet_tree_conf - configuration of an entry; constant once it is in force
 * @incast_id: job . receiver
 * @instance: epoch, high half
 * @attempt: epoch, low half
 * @contributors: flows merged here, including that of local writers
 * @sources: servers with such processes in the subtree, this one included
 * @members: receiver: sum of aggnet_member() over the sources
 * @members_known: @members is given
 * @hold_ms: longest wait for children, 0: no limit
 * @give_up_ms: silence after which the transfer is aborted
 * @writers: local processes that contribute, or that read if the tree leads down; 0:
 *	there are none
 * @shape: of the values
 * @scheme: enum aggnet_scheme, how packets leave for the parent
 * @hops: links of the planned edge to the parent end
 * @forward_only: switch or transit: forwards, holds no flow state
 * @uid: user that may use the socket; INVALID_UID: none
 * @gid: group that may use it, too; INVALID_GID: none
 * @link_ifindex: port of the planned link (EXACT, BLOOM, PACKET)
 * @link_neighbour: neighbour on it, 0: the aggnet switch
 * @memory: limit of the buffer in bytes
 * @key: secret of the tree
 * @nchildren: length of @children, 0: there is no list
 * @children: sorted identities; owned by the conf
 * @nabsent: length of @absent
 * @absent: receiver: sources that the plan left out; owned by the conf
 * @filter_size: bytes of @filter, 0: there is none
 * @filter: carried by upward packets (PACKET); owned by the conf
 * @plan: identity of the plan, compared and shown only
 * @has_plan: @plan is given
 * @persist: the tree serves any number of rounds
 * @direction: enum aggnet_direction
 * @stripe: number among the trees of the job; shown only
 * @stripes: trees of the job, 0: one
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
	bool persist;
	u8 direction;
	u8 stripe;
	u8 stripes;
};

/**
 * struct aggnet_outcome - reason of an abort
 * @reason: enum aggnet_reason
 * @origin: the node that raised it
 * @about: the node that it is about
 * @missing: sources missing at the origin
 * @lost: ends that this node or one below did not wait for; after an abort: ends
 *	that are missing at its origin
 */
struct aggnet_outcome {
	u8 reason;
	__be32 origin;
	__be32 about;
	u32 missing;
	struct aggnet_names lost;
};

/**
 * struct aggnet_packets - limits of a tree's packets
 * @max_taken: most bytes of records in a packet that this node takes
 * @max_records: most records in such a packet
 * @max_payload: most bytes of records in a packet for the planned link
 * @chunks: chunks of the buffer that one credit reserves
 */
struct aggnet_packets {
	u32 max_taken;
	u32 max_records;
	u32 max_payload;
	u32 chunks;
};

/**
 * struct aggnet_done_round - the newest round that is done
 * @round: its number
 * @sources: sources contained in its flow of this node
 * @partials: nodes whose hold passed
 */
struct aggnet_done_round {
	u32 round;
	u32 sources;
	u32 partials;
};

/**
 * struct aggnet_books - original records that were merged and that have left
 * @weight: sources of finished children
 * @records: original records of finished children
 * @partials: sum of finished children, and 1 if this node did not wait
 * @members: sum of aggnet_member() of finished children's sources
 * @delivered: receiver: units that the application has read
 * @local_records: records of local writers
 * @check: sum of the fingerprints of finished children and writers
 * @unchecked: one of them has no fingerprint
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
 * struct aggnet_writers - number of local writers, or of readers if the tree leads down
 * @joined: writers that have connected
 * @done: those of @joined that have ended their part of the round, or read the stream
 * @gone: those of @joined that have left after they had shut down
 */
struct aggnet_writers {
	u32 joined;
	u32 done;
	u32 gone;
};

/**
 * struct aggnet_locals - local processes
 * @list: all of them, for wake-ups
 * @reader: the process at the receiver: it reads the result, or if the tree leads
 *	down writes the stream
 * @taking: reads under way, whose records have not been copied out yet
 * @end_read: it has read the end mark of the last round, or ended the stream
 */
struct aggnet_locals {
	struct list_head list;
	struct aggnet_local *reader;
	u32 taking;
	bool end_read;
};

/**
 * struct aggnet_growth - growth of the buffer
 * @list: in an->grow_list while the tree waits for chunks, with a reference
 * @failed: the last attempt did not get all chunks
 * @again: jiffies before which a failed attempt is not repeated
 * @asked: jiffies when the tree was put in an->grow_list
 */
struct aggnet_growth {
	struct list_head list;
	bool failed;
	unsigned long again;
	unsigned long asked;
};

/**
 * struct aggnet_account - memory of an entry
 * @charged: bytes charged to the namespace
 * @most: highest value of @charged
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
	u64 bytes_in;
	u64 bytes_out;
	u64 rexmits;
};

/**
 * struct aggnet_tree - an entry in force and the state of its flow
 * @an: its namespace
 * @ref: references of the table, each socket, each armed timer and each caller
 * @conf: configuration, constant
 * @elder_key: key of the entry that this one replaced, if it differed; constant
 * @has_elder: @elder_key is set
 * @rcu: frees it in process context after a grace period
 * @up_dst: cached route of the planned link
 * @fallback: packets that left by plain IP, by cause
 * @lock: BH lock that protects all members that follow; only the locks of wait
 *	queues nest inside it
 * @state: enum aggnet_tree_state
 * @dead: removed from the table; no timer and no work starts any more
 * @flushing: hold has passed: emit records as they come
 * @pressure: the buffer is short of room: emit the oldest records
 * @epoch_told: the event of a newer epoch was raised
 * @last: a source has ended for ever, so no round follows
 * @round: number of the present round; 0 if the tree is not persistent
 * @below: packets of nodes below that left by plain IP, by enum aggnet_fallback
 * @done: the newest round that is done
 * @outcome: reason of an abort
 * @packet: limits of packets, constant
 * @store: records that are held
 * @acceptor: acceptor's half of the channels from children
 * @up: channel to the parent; unused at the receiver
 * @books: records that were merged and that have left
 * @writers: number of local writers
 * @local: local processes
 * @started: jiffies of the first packet or socket, 0: none yet
 * @timer: hold and give_up
 * @grow: growth of the buffer
 * @memory: memory that is charged
 * @count: counters for show
 * @release_work: frees the buffers of a transfer that has ended
 * @more_work: continues where the last run of the lock had to stop
 */
struct aggnet_tree {
	struct aggnet_net *an;
	refcount_t ref;
	struct aggnet_tree_conf conf;
	struct aggnet_secret elder_key;
	bool has_elder;
	struct rcu_work rcu;
	struct dst_cache up_dst;
	atomic_t fallback[__AGGNET_FALLBACK_MAX];

	spinlock_t lock;	/* protects all that follows, but the work items */
	u8 state;
	bool dead;
	bool flushing;
	bool pressure;
	bool epoch_told;
	bool last;
	u32 round;
	u32 below[__AGGNET_FALLBACK_MAX];
	struct aggnet_done_round done;
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
 * aggnet_tree_create() - check an entry and reserve its memory
 * @an: namespace
 * @conf: copied; the tree owns its lists on success only
 * @extack: gets a sentence on refusal
 *
 * Reserves the memory without which the tree could not make progress: a credit for
 * each contributor, one packet to emit, the retransmit ring, the bucket array and
 * the state of children. The entry is not in force until it is put in the table.
 *
 * Return: the tree with one reference, or ERR_PTR (-EINVAL, -ENOSPC, -ENOMEM)
 */
struct aggnet_tree *aggnet_tree_create(struct aggnet_net *an,
				       struct aggnet_tree_conf *conf,
				       struct netlink_ext_ack *extack);

/**
 * aggnet_tree_follow() - note which entry another one will replace
 * @tree: not in force yet
 * @old: in force
 *
 * A new plan of a transfer has another key. @tree answers packets under the key of
 * @old, so that children that still have that entry learn of the newer epoch.
 */
void aggnet_tree_follow(struct aggnet_tree *tree,
			const struct aggnet_tree *old);

/**
 * aggnet_tree_kill() - end a tree that was removed from the table
 * @tree: the tree; the table's reference, now the caller's, is dropped
 * @reason: AGGNET_R_WITHDRAWN, or AGGNET_R_STALE for a newer epoch
 *
 * Sockets get the reason's errno, peers an ABORT. When this returns, timers and
 * work items have ended and the buffers are freed, even if references are left.
 * Only growth that is under way may continue, and adds nothing. Process context.
 */
void aggnet_tree_kill(struct aggnet_tree *tree, enum aggnet_reason reason);

void aggnet_tree_get(struct aggnet_tree *tree);
void aggnet_tree_put(struct aggnet_tree *tree);	/* any context */

/**
 * struct aggnet_tree_info - snapshot for dumps
 * @state: enum aggnet_tree_state
 * @outcome: reason of an abort
 * @acceptor: identity of the acceptor to which the uplink is bound
 * @weight: sources that have ended, including the local one
 * @round: of a persistent tree
 * @channels: children that ever bound
 * @unplanned: of these, those that the plan gives another acceptor
 * @unbound: planned children that have not bound, some of them
 * @keys: keys in the store
 * @memory_used: bytes charged
 * @memory_most: highest value of @memory_used
 * @partials: nodes up to here whose hold passed
 * @below: packets of nodes below that left by plain IP, by cause
 * @count: counters
 */
struct aggnet_tree_info {
	u8 state;
	struct aggnet_outcome outcome;
	__be32 acceptor;
	u32 weight;
	u32 round;
	u32 channels;
	u32 unplanned;
	struct aggnet_names unbound;
	u32 keys;
	u64 memory_used;
	u64 memory_most;
	u32 partials;
	u32 below[__AGGNET_FALLBACK_MAX];
	struct aggnet_tree_count count;
};

void aggnet_tree_info(struct aggnet_tree *tree, struct aggnet_tree_info *info);

/*
 * Count a packet that leaves by plain IP instead of a planned link. These packets are
 * few, so trees need no counters per CPU for them. Any context. Return: what the packet
 * has to tell: nothing at an end, whose FIN tells what it has counted
 */
static inline enum aggnet_fallback
aggnet_tree_fell_back(struct aggnet_tree *tree, enum aggnet_fallback why)
{
	if (why != AGGNET_FALLBACK_NONE)
		atomic_inc(&tree->fallback[why]);
	return tree->conf.forward_only ? why : AGGNET_FALLBACK_NONE;
}

/* Add to a number of packets, which stays at its highest value. */
static inline void aggnet_add_most(u32 *sum, u32 n)
{
	*sum = n > U32_MAX - *sum ? U32_MAX : *sum + n;
}

static inline __be32 aggnet_tree_receiver(const struct aggnet_tree *tree)
{
	return htonl((u32)tree->conf.incast_id);
}

/* The identity may change while a socket still holds a withdrawn entry. */
static inline __be32 aggnet_tree_self(const struct aggnet_tree *tree)
{
	return READ_ONCE(tree->an->identity);
}

static inline bool aggnet_tree_is_receiver(const struct aggnet_tree *tree)
{
	return aggnet_tree_receiver(tree) == aggnet_tree_self(tree);
}

/* Does a stream go from the receiver, the root, to all others? */
static inline bool aggnet_tree_leads_down(const struct aggnet_tree *tree)
{
	return tree->conf.direction == AGGNET_DIR_DOWN;
}

/* Do all finished children and writers have a fingerprint? */
static inline bool aggnet_tree_is_checked(const struct aggnet_tree *tree)
{
	return aggnet_fp_kind(&tree->conf.shape) != AGGNET_FP_NONE &&
	       !tree->books.unchecked && !aggnet_tree_leads_down(tree);
}

/* Number of keys in the store; of runs, the number of records. */
static inline u32 aggnet_tree_keys(const struct aggnet_tree *tree)
{
	return tree->store.table.keys + aggnet_runs_held(&tree->store.runs);
}

/* --- receive path (softirq, RCU read side) ------------------------------- */

/**
 * aggnet_tree_rx() - serve a packet at a node that has an entry
 * @tree: the entry (not forward_only), held by RCU
 * @pkt: parsed, identity checked; @pkt->dst is this node, or type is OPEN. Its
 *	records are parsed here, before the lock is taken
 * @hdr: header with body behind it, linear
 *
 * Verifies tag and epoch, handles the packet and sends the answers. An OPEN of a
 * child that may not bind here is not consumed.
 *
 * Return: true if the packet was consumed; false: forward it
 */
bool aggnet_tree_rx(struct aggnet_tree *tree, struct aggnet_pkt *pkt,
		    const struct aggnet_hdr *hdr);

/* --- local sockets (process context) ------------------------------------- */

int aggnet_tree_join_writer(struct aggnet_tree *tree,
			    struct aggnet_local *local);
int aggnet_tree_join_reader(struct aggnet_tree *tree,
			    struct aggnet_local *local);

/**
 * aggnet_tree_write() - merge records of a local writer
 * @tree: joined by the writer
 * @local: the writer
 * @data: records that aggnet_parse_records() has accepted
 * @len: their bytes
 * @records: their number
 *
 * Takes as many records from the front as there is room for.
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
 * @local: the writer, which has not shut down yet
 * @check: fingerprint of all its records
 *
 * Return: 0, -EOPNOTSUPP if the function has none, -EPIPE after shutdown or an
 * abort's errno
 */
int aggnet_tree_set_check(struct aggnet_tree *tree, struct aggnet_local *local,
			  u64 check);
int aggnet_tree_shutdown(struct aggnet_tree *tree,
			 struct aggnet_local *local);

/**
 * aggnet_tree_end_round() - end a local writer's part of the present round
 * @tree: persistent, joined by the writer
 * @local: the writer
 *
 * Return: 0, -EAGAIN if its part has ended and the next round has not begun, -EPIPE
 * after the last round or an abort's errno
 */
int aggnet_tree_end_round(struct aggnet_tree *tree, struct aggnet_local *local);

/**
 * aggnet_tree_read() - get the next message for the receiving application
 * @tree: joined by the reader
 * @msg: filled: head of the message
 * @buf: filled: rest of the message
 * @len: size of @buf, >= AGGNET_RECORD_MAX
 * @peek: -EOPNOTSUPP for records, which a read takes out
 *
 * After records call aggnet_tree_taken(); until then no end mark is returned. The
 * end mark stays readable; call aggnet_tree_end() when the application has it.
 *
 * Return: bytes written to @buf, -EAGAIN, or an abort's errno
 */
int aggnet_tree_read(struct aggnet_tree *tree, struct aggnet_msg *msg,
		     u8 *buf, size_t len, bool peek);

/**
 * aggnet_tree_taken() - note that the application has records, or that they are lost
 * @tree: aggnet_tree_read() has returned them
 * @lost: they could not be copied out: the transfer is aborted
 */
void aggnet_tree_taken(struct aggnet_tree *tree, bool lost);

/**
 * aggnet_tree_end() - note that the application has the end mark: the round is DONE
 * @tree: aggnet_tree_read() has returned the end mark
 * @round: its round
 *
 * Return: 0, or the errno of an abort in between
 */
int aggnet_tree_end(struct aggnet_tree *tree, u32 round);

/*
 * Leave the tree; a writer or reader that leaves before its end aborts the
 * transfer.
 */
void aggnet_tree_leave(struct aggnet_tree *tree, struct aggnet_local *local);

/* Abort on request of an application (AGGNET_SO_ABORT). */
void aggnet_tree_abort_user(struct aggnet_tree *tree, enum aggnet_reason why);

/**
 * aggnet_tree_outcome() - get the outcome of a writer's oldest round without one
 * @tree: joined by the writer
 * @local: the writer
 * @peek: the next call is to tell it again
 *
 * Return: 0: not known yet, 1: DONE, -ENOMSG: the writer has ended no other round,
 * or an abort's errno
 */
int aggnet_tree_outcome(struct aggnet_tree *tree, struct aggnet_local *local,
			bool peek);

__poll_t aggnet_tree_poll(struct aggnet_tree *tree,
			  struct aggnet_local *local);

void aggnet_tree_status(struct aggnet_tree *tree, struct aggnet_status *st);
void aggnet_tree_check(struct aggnet_tree *tree, struct aggnet_check *check);

int aggnet_reason_errno(enum aggnet_reason reason);	/* negative errno */

/* --- between the files of the tree; within a run of its lock -------------- */

/* First packet or socket: start the clocks and open the uplink. */
void aggnet_tree_touch(struct aggnet_tree *tree, struct aggnet_run *run);
/* Close the flow if it is complete. Call after each event that may complete it. */
void aggnet_tree_advance(struct aggnet_tree *tree, struct aggnet_run *run);
/*
 * The receiving application, or the parent, has the whole result: enter DONE, or if
 * it was not the last round, the next one.
 */
void aggnet_tree_done(struct aggnet_tree *tree, bool last,
		      struct aggnet_run *run);
void aggnet_tree_abort(struct aggnet_tree *tree, struct aggnet_run *run,
		       enum aggnet_reason reason, __be32 origin, __be32 about,
		       u32 missing);
/* Least number of chunks: a credit for each contributor and two packets to emit. */
u32 aggnet_tree_chunks_min(const struct aggnet_tree *tree);
/* Note in the tree's account that memory was charged. */
void aggnet_tree_charged(struct aggnet_tree *tree, u64 bytes);
/* Raise the event of a newer epoch, once. */
void aggnet_tree_tell_epoch(struct aggnet_tree *tree, struct aggnet_run *run);
/* Hold has passed: stop waiting for children that have not bound. */
void aggnet_tree_stall(struct aggnet_tree *tree, struct aggnet_run *run);
/* May a packet be made of the records that are held? */
bool aggnet_tree_may_emit(const struct aggnet_tree *tree);
/* Update the counters after a merge. */
void aggnet_tree_count(struct aggnet_tree *tree, u32 records, u64 represents);
/* Does an ACK count for this sender, of either direction? A bad one is counted. */
bool aggnet_tree_takes_ack(struct aggnet_tree *tree,
			   const struct aggnet_sender *s,
			   const struct aggnet_ack *ack);
/* Have all local writers ended the round? False if there are none. */
bool aggnet_tree_own_done(const struct aggnet_tree *tree);
/* How many of its sources have not finished? 0 also if those of other ends have here. */
u32 aggnet_tree_unfinished(const struct aggnet_tree *tree);
/*
 * Is a source missing? At the receiver: one that no bound child has announced. At
 * another end, and in a tree that leads down: one of a planned child that has not
 * bound.
 */
bool aggnet_tree_short(const struct aggnet_tree *tree);
/* Sources of finished children, of bound children, and the local one. */
u64 aggnet_tree_covered(const struct aggnet_tree *tree);
/* Sources that the flow of this end will have, as far as it knows. */
u32 aggnet_tree_reach(const struct aggnet_tree *tree);
/*
 * Has the transfer bypassed this end? OPENs have passed it, but it has no children
 * and no writers, and is not bound to an acceptor.
 */
bool aggnet_tree_bypassed(const struct aggnet_tree *tree);
/* Put a bypassed end back into the state before the first OPEN. */
void aggnet_tree_sleep(struct aggnet_tree *tree);
/* Sum of aggnet_member() over the flow, including the local source. */
u32 aggnet_tree_members(const struct aggnet_tree *tree);

#endif /* _AGGNET_TREE_H */
