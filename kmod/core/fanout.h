/* SPDX-License-Identifier: GPL-2.0 */
/* Fan-out: which packets of a stream a node keeps in its ring, for all that it
 * serves, and which it lets its parent send. Pure.
 */
#ifndef _AGGNET_FANOUT_H
#define _AGGNET_FANOUT_H

#include <linux/types.h>

#include <linux/aggnet_packet.h>

#include "core/window.h"

#define AGGNET_FANOUT_MIN	32	/* packets of the shortest ring */

/*
 * Sequences are serial numbers, the same at all nodes. The ring holds those in
 * [@first, @first + @slots), as far as they have come. At the root they come from
 * the application, in order.
 *
 * Locking: none here. No function allocates or sleeps.
 */

/**
 * struct aggnet_fanout - the part of a stream that a node keeps
 * @win: which packets have come
 * @first: all that the node serves have the packets before this one
 * @top: behind the newest packet that has come
 * @granted: credit that the parent was told last
 * @slots: packets in the ring, a power of two
 * @final: the sequence after the last packet, if @ended
 * @ended: the end of the stream is known
 */
struct aggnet_fanout {
	struct aggnet_rxwin win;
	u32 first;
	u32 top;
	u32 granted;
	u32 slots;
	u32 final;
	bool ended;
};

void aggnet_fanout_init(struct aggnet_fanout *f, u32 slots);

/* Number of packets for which @bytes suffice: a power of two, or 0. */
u32 aggnet_fanout_fit(u64 bytes, u32 each);

static inline u32 aggnet_fanout_slot(const struct aggnet_fanout *f, u32 seq)
{
	return seq & (f->slots - 1);
}

/* All packets before this sequence have come, and may go on. */
static inline u32 aggnet_fanout_cum(const struct aggnet_fanout *f)
{
	return f->win.cum;
}

/* Has everything come, and is it known that it is everything? */
static inline bool aggnet_fanout_is_whole(const struct aggnet_fanout *f)
{
	return f->ended && f->win.cum == f->final;
}

/* Packets that the root may add: free slots, sequences that are left. */
u32 aggnet_fanout_room(const struct aggnet_fanout *f);

/**
 * aggnet_fanout_test() - may a packet be stored in its slot?
 * @f: the stream
 * @seq: of the packet
 *
 * Return: NEW: yes; DUP: it has come before; OUTSIDE: no slot is free for it, or it
 * is behind the end
 */
enum aggnet_seq aggnet_fanout_test(const struct aggnet_fanout *f, u32 seq);

/* A packet for which aggnet_fanout_test() returned NEW is in its slot. */
void aggnet_fanout_take(struct aggnet_fanout *f, u32 seq);

/**
 * aggnet_fanout_slide() - free the slots of packets that all have that the node serves
 * @f: the stream
 * @least: the first packet that one of them lacks; it never goes back
 */
void aggnet_fanout_slide(struct aggnet_fanout *f, u32 least);

/* The parent may send the packets before this sequence. It never goes back. */
u32 aggnet_fanout_credit(const struct aggnet_fanout *f);

/**
 * aggnet_fanout_owes() - should the parent be told of its credit?
 * @f: the stream
 *
 * An ACK that answers a packet tells it anyway. This one is for a parent that may
 * wait: it has no credit left, or half of the most at most, and gets a good part. The
 * most is the ring, or a window.
 */
bool aggnet_fanout_owes(const struct aggnet_fanout *f);

/**
 * aggnet_fanout_end() - learn the end of the stream
 * @f: the stream
 * @final: the sequence after the last packet
 *
 * Return: false: it contradicts what has come, or another end
 */
bool aggnet_fanout_end(struct aggnet_fanout *f, u32 final);

/**
 * aggnet_fanout_next_round() - forget the end of the round before
 * @f: the stream; all that the node serves have everything, so the ring is empty
 *
 * The parent knows that it is, so it has credit for the shortest ring untold.
 */
void aggnet_fanout_next_round(struct aggnet_fanout *f);

#endif /* _AGGNET_FANOUT_H */
