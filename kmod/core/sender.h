/* SPDX-License-Identifier: GPL-2.0 */
/* Sender: the sending half of a channel. It decides which packet may leave, which
 * one is lost, and when the wait for an ACK ends. Pure.
 */
#ifndef _AGGNET_SENDER_H
#define _AGGNET_SENDER_H

#include <linux/types.h>

#include <linux/aggnet_packet.h>

#include "core/window.h"

/*
 * A sender has no bodies, no address and no timer: its owner has them, transmits,
 * and tells the sender of each packet that leaves and of each ACK that comes. The
 * uplink of a tree has one sender; a tree that leads down needs one for each
 * child, and all of them send the same bodies.
 *
 * To send a new packet, if aggnet_sender_may_add(): write its body for sequence
 * @nxt, call aggnet_sender_add(), transmit. To send again what is lost, if
 * aggnet_sender_may_resend(): find it with aggnet_sender_find_lost(), call
 * aggnet_sender_resent(), transmit. What is lost goes first: the owner looks for
 * it before it adds.
 *
 * An ACK passes aggnet_sender_check() before aggnet_sender_ack() takes it in; the
 * owner has checked that the channel's other end sent it. While a packet is not
 * acknowledged, the owner's timer runs for aggnet_sender_rto_left(), and then
 * aggnet_sender_expired() decides.
 *
 * Units: packets and microseconds. Times are readings of one clock that wraps at
 * 2^32 us; the owner passes the present one. Sequences are serial numbers. A call
 * looks at each slot three times, at most.
 *
 * Locking: none here; the caller's lock covers all functions. They allocate and
 * free nothing, and do not sleep.
 */

/**
 * struct aggnet_segment - what the sender knows of one packet in its window
 * @sent_us: clock of the last transmission
 * @acked: the other end has it; final
 * @lost: to be sent again; never set with @acked
 */
struct aggnet_segment {
	u32 sent_us;
	bool acked;
	bool lost;
};

/**
 * struct aggnet_sender - sending half of a channel
 * @una: oldest sequence that is not acknowledged
 * @nxt: next sequence to be added
 * @credit: sequences before this one may be added; goes back only at the end of a
 *	round
 * @asked: behind the newest packet that asked for an ACK
 * @moved_us: clock of the last ACK that acknowledged something
 * @flight: packets sent that are neither acknowledged nor lost
 * @lost: packets that are lost, and to be sent again
 * @slots: how many packets fit in [@una, @nxt): a power of two, 2..AGGNET_WINDOW
 * @segment: the packet of each slot; the owner's memory
 * @rtt: round trip, retransmission timeout and its doublings. The owner may also
 *	use it for packets that have no sequence
 * @cwnd: congestion window
 */
struct aggnet_sender {
	u32 una;
	u32 nxt;
	u32 credit;
	u32 asked;
	u32 moved_us;
	u32 flight;
	u32 lost;
	u32 slots;
	struct aggnet_segment *segment;
	struct aggnet_rtt rtt;
	struct aggnet_cwnd cwnd;
};

/**
 * aggnet_sender_init() - nothing has been sent
 * @s: the sender
 * @segment: @slots of them, with any content. The owner frees them, after
 *	aggnet_sender_drop() or when it uses the sender no more
 * @slots: a power of two, 2..AGGNET_WINDOW
 * @first: sequence of the first packet; no credit for it yet
 */
void aggnet_sender_init(struct aggnet_sender *s, struct aggnet_segment *segment,
			u32 slots, u32 first);

/**
 * aggnet_sender_drop() - stop waiting for ACKs
 * @s: the sender; nothing is added any more
 *
 * The segments may be freed then.
 */
void aggnet_sender_drop(struct aggnet_sender *s);

/* Credit that was not used has been taken back, at both ends. */
static inline void aggnet_sender_drop_credit(struct aggnet_sender *s)
{
	s->credit = s->nxt;
}

/* Slot of a sequence in @segment; the owner may keep bodies in as many. */
static inline u32 aggnet_sender_slot(const struct aggnet_sender *s, u32 seq)
{
	return seq & (s->slots - 1);
}

/* Is everything that was added acknowledged? */
static inline bool aggnet_sender_all_acked(const struct aggnet_sender *s)
{
	return s->una == s->nxt;
}

/* Has the channel no sequence left? */
static inline bool aggnet_sender_is_exhausted(const struct aggnet_sender *s)
{
	return s->nxt == AGGNET_SEQ_END;
}

/* May a packet that is lost leave, by the congestion window? */
static inline bool aggnet_sender_may_resend(const struct aggnet_sender *s)
{
	return s->flight < s->cwnd.cwnd;
}

/* May a new packet leave, by congestion window, credit, slots and sequences? */
bool aggnet_sender_may_add(const struct aggnet_sender *s);

/**
 * aggnet_sender_add() - a new packet leaves
 * @s: the sender; aggnet_sender_may_add()
 * @now_us: clock
 *
 * Return: its sequence, @nxt before the call
 */
u32 aggnet_sender_add(struct aggnet_sender *s, u32 now_us);

/* The packet of a sequence, or a PROBE behind it, asks for an ACK. */
static inline void aggnet_sender_ask(struct aggnet_sender *s, u32 seq)
{
	if (aggnet_before(s->asked, seq + 1))
		s->asked = seq + 1;
}

/* Has a packet asked for an ACK that has not come? */
static inline bool aggnet_sender_awaits_ack(const struct aggnet_sender *s)
{
	return aggnet_before(s->una, s->asked);
}

/**
 * aggnet_sender_wants_ack() - must the packet that was added last ask for an ACK?
 * @s: the sender; the owner has called aggnet_sender_ask() for those that did
 *
 * One of several packets asks. If no ACK is due it does: what follows may wait for that
 * ACK, or come much later. While the window opens and after a loss, the distance then
 * doubles up to eight: the first round trips are known before the queue of a slow link is
 * full, later ACKs clock the window, and a lost one does no harm. With a full window it
 * is one in half of what is in flight, of 32 at most. So does the last packet for which
 * there is credit.
 */
bool aggnet_sender_wants_ack(const struct aggnet_sender *s);

/**
 * aggnet_sender_find_lost() - find a packet that is to be sent again
 * @s: the sender
 * @seq: where to begin, in [@una, @nxt]; set to the first lost one at or behind it
 *
 * Return: was there one?
 */
bool aggnet_sender_find_lost(const struct aggnet_sender *s, u32 *seq);

/**
 * aggnet_sender_resent() - a lost packet leaves again
 * @s: the sender
 * @seq: of a lost packet
 * @now_us: clock
 */
void aggnet_sender_resent(struct aggnet_sender *s, u32 seq, u32 now_us);

/**
 * enum aggnet_ack_check - is an ACK to be taken in?
 * @AGGNET_ACK_OK: yes
 * @AGGNET_ACK_OLD: no, a newer one has told all that it tells. If it is a replay,
 *	its credit may be so old that it seems to be ahead
 * @AGGNET_ACK_BAD: no, it acknowledges what was not sent, or its credit is beyond
 *	a window
 */
enum aggnet_ack_check { AGGNET_ACK_OK, AGGNET_ACK_OLD, AGGNET_ACK_BAD };

enum aggnet_ack_check aggnet_sender_check(const struct aggnet_sender *s,
					  const struct aggnet_ack *ack);

/**
 * aggnet_sender_ack() - take in an ACK
 * @s: the sender
 * @ack: aggnet_sender_check() returned AGGNET_ACK_OK
 * @rtt_us: time since the packet left that it answers, 0: not known
 * @now_us: clock
 *
 * Credit, what it acknowledges, what is lost because a packet that left well
 * after it has arrived. An ACK that tells something new ends the doublings of the
 * timeout.
 */
void aggnet_sender_ack(struct aggnet_sender *s, const struct aggnet_ack *ack,
		       u32 rtt_us, u32 now_us);

/**
 * aggnet_sender_rto_left() - time until the oldest packet is overdue
 * @s: the sender; not aggnet_sender_all_acked()
 * @now_us: clock
 *
 * The time begins when that packet leaves, and again with each ACK that acknowledges
 * something (RFC 6298): packets that fill the queue of a slow link arrive one after the
 * other, and the last one much later than any sample of the round trip says.
 *
 * Return: microseconds, 0: it is; AGGNET_RTO_MAX_US at most
 */
u32 aggnet_sender_rto_left(const struct aggnet_sender *s, u32 now_us);

/**
 * aggnet_sender_expired() - the timer of the oldest packet fired
 * @s: the sender; not aggnet_sender_all_acked()
 * @now_us: clock
 *
 * If that packet is overdue it is lost, the congestion window halves and the
 * timeout doubles.
 *
 * Return: @una is to be sent again now, whatever the congestion window says. Its
 * ACK tells of the other packets, so that a stall of the host costs one packet
 * and not a window of them.
 */
bool aggnet_sender_expired(struct aggnet_sender *s, u32 now_us);

#endif /* _AGGNET_SENDER_H */
