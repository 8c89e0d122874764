/* SPDX-License-Identifier: GPL-2.0 */
/* Cast: a stream of bytes that goes down a tree. A node stores each packet once, in a
 * ring, for its children and its local readers.
 */
#ifndef _AGGNET_CAST_H
#define _AGGNET_CAST_H

#include <linux/align.h>
#include <linux/timer.h>
#include <linux/types.h>

#include <linux/aggnet_packet.h>

#include "core/fanout.h"
#include "core/sender.h"
#include "flow/channel.h"

struct aggnet_local;
struct aggnet_msg;
struct aggnet_tree;

/*
 * Bytes in a packet of a stream: all links of the tree pass it, as their MTU is 1500
 * or more. A packet keeps its length from the root to the last reader.
 */
#define AGGNET_CAST_PAYLOAD	1384u

/**
 * struct aggnet_branch - the way down to one child
 * @child: the child
 * @sender: of packets that are in the ring
 * @moved: jiffies when it last had nothing under way, or the child got something
 * @fin_us: clock of the last FIN
 * @fin: FIN of the present round was sent
 * @told: the child knows the end of the round
 */
struct aggnet_branch {
	struct aggnet_child *child;
	struct aggnet_sender sender;
	unsigned long moved;
	u32 fin_us;
	bool fin;
	bool told;
};

/**
 * struct aggnet_cast - the stream at this node; under the tree's lock
 * @fan: which packets are in the ring
 * @ring: the packet of each slot; begins the memory of all
 * @bodies: struct aggnet_data and bytes of each slot
 * @branch: of each planned child
 * @branches: length of @branch
 * @bound: those of them whose child is bound; they come first
 * @last: children and readers, bound or not, that lack the oldest packet in the ring
 * @bytes: of the round before @fan's first hole
 * @total: of the whole round, once its end is known
 * @check: number that the root's application gave for the round
 * @checked: @check is given
 * @more: the newest packet is followed by another one at once
 * @waits: since readers were woken, one of them has taken all that there was
 * @next: branch where the next run of the lock continues
 * @todo: branches that the last run of the lock has not served
 * @look: branch where the timer continues
 * @busy: since the timer was at the first branch, something was under way to one
 * @timer: retransmits to children
 */
struct aggnet_cast {
	struct aggnet_fanout fan;
	struct aggnet_packed *ring;
	u8 *bodies;
	struct aggnet_branch *branch;
	u32 branches;
	u32 bound;
	u32 last;
	u64 bytes;
	u64 total;
	u64 check;
	bool checked;
	bool more;
	bool waits;
	u32 next;
	u32 todo;
	u32 look;
	bool busy;
	struct timer_list timer;
};

#define AGGNET_CAST_BODY	ALIGN(sizeof(struct aggnet_data) + AGGNET_CAST_PAYLOAD, 4)

static inline struct aggnet_packed *
aggnet_cast_packed(const struct aggnet_cast *cast, u32 seq)
{
	return &cast->ring[aggnet_fanout_slot(&cast->fan, seq)];
}

static inline struct aggnet_data *
aggnet_cast_body(const struct aggnet_cast *cast, u32 seq)
{
	return (void *)(cast->bodies + aggnet_fanout_slot(&cast->fan, seq) *
				       AGGNET_CAST_BODY);
}

/* Bytes of the stream in a packet. */
static inline u32 aggnet_cast_len(const struct aggnet_cast *cast, u32 seq)
{
	return aggnet_cast_packed(cast, seq)->len - sizeof(struct aggnet_data);
}

/* --- within a run of the tree's lock --------------------------------------- */

/* DATA and FIN of the parent. */
void aggnet_cast_rx(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
		    struct aggnet_run *run);
/* The parent lives: tell it what has come, and the credit, unless all has come. */
void aggnet_cast_greet(struct aggnet_tree *tree, struct aggnet_run *run);
/* Does this node wait for packets of its parent? */
bool aggnet_cast_waits(const struct aggnet_tree *tree);
/* A child or a reader that lacked packet @seq first has it now: there may be room. */
void aggnet_cast_slide(struct aggnet_tree *tree, u32 seq, struct aggnet_run *run);
/* Packets came in order, or the end is known: send them on. */
void aggnet_cast_moved(struct aggnet_tree *tree, struct aggnet_run *run);
/* The next round begins: all below have everything of the one before. */
void aggnet_cast_next_round(struct aggnet_tree *tree, struct aggnet_run *run);
/* All that the root's process sends in this round is there. */
void aggnet_cast_finish(struct aggnet_tree *tree, struct aggnet_run *run);
/* May the root's process write, or a reader read? */
bool aggnet_cast_may_write(const struct aggnet_tree *tree);
bool aggnet_cast_may_read(const struct aggnet_tree *tree,
			  const struct aggnet_local *local);

/* Send to all children what they may get, as much as one run may. */
void aggnet_branches_push(struct aggnet_tree *tree, struct aggnet_run *run);
/* Continue with those that the last run of the lock has not served. */
void aggnet_branches_go_on(struct aggnet_tree *tree, struct aggnet_run *run);
/* The timer has expired. */
void aggnet_branches_expired(struct aggnet_tree *tree, struct aggnet_run *run);
/* ACK of a child; @fresh: it is no copy of an older packet. */
void aggnet_branch_ack(struct aggnet_tree *tree, const struct aggnet_child *c,
		       const struct aggnet_pkt *pkt, bool fresh,
		       struct aggnet_run *run);

/* --- local processes (process context) -------------------------------------- */

/**
 * aggnet_cast_write() - add bytes of the root's process to the stream
 * @tree: leads down; this node is the root
 * @data: the bytes
 * @len: their number; at most as many as one hold of the lock may copy
 *
 * Each call begins a packet, and a stream has at most AGGNET_SEQ_END - AGGNET_SEQ_FIRST
 * of them; more bytes end the transfer with an error.
 *
 * Return: bytes taken, -EAGAIN if there is no room or the next round has not begun,
 * -EPIPE after the end, or an abort's errno
 */
int aggnet_cast_write(struct aggnet_tree *tree, const u8 *data, size_t len);

/**
 * aggnet_cast_end() - end the stream, or a round of it
 * @tree: leads down; this node is the root
 * @last: no round follows: the present one ends, or the next one if the present one
 *	has ended; else @tree is persistent
 *
 * Return: 0 or an abort's errno; if not @last also -EAGAIN: the next round has not
 * begun, and -EPIPE: the stream has ended
 */
int aggnet_cast_end(struct aggnet_tree *tree, bool last);

/**
 * aggnet_cast_set_check() - take the number by which readers check the round
 * @tree: leads down; this node is the root
 * @check: any number; readers get it with the end mark
 *
 * Return: 0, -EAGAIN if the next round has not begun, -EPIPE after the end, or an
 * abort's errno
 */
int aggnet_cast_set_check(struct aggnet_tree *tree, u64 check);

/**
 * aggnet_cast_read() - get the next message for a reader
 * @tree: leads down
 * @local: the reader, which has joined
 * @msg: filled: head of the message
 * @buf: filled: rest of the message
 * @len: size of @buf, >= AGGNET_RECORD_MAX; at most as many bytes as one hold of the
 *	lock may copy
 * @peek: do not take the bytes
 *
 * After bytes that were taken call aggnet_tree_taken(), after the end mark
 * aggnet_cast_take_end().
 *
 * Return: bytes written to @buf, -EAGAIN, or an abort's errno
 */
int aggnet_cast_read(struct aggnet_tree *tree, struct aggnet_local *local,
		     struct aggnet_msg *msg, u8 *buf, size_t len, bool peek);

/* The reader has the end mark of a round. Return: 0, or an abort's errno */
int aggnet_cast_take_end(struct aggnet_tree *tree, struct aggnet_local *local,
			 u32 round);

#endif /* _AGGNET_CAST_H */
