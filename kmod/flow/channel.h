/* SPDX-License-Identifier: GPL-2.0 */
/* Channel: the reliable way of records from a child end to its acceptor. */
#ifndef _AGGNET_CHANNEL_H
#define _AGGNET_CHANNEL_H

#include <linux/jiffies.h>
#include <linux/timer.h>
#include <linux/types.h>

#include "core/packet.h"
#include "core/sender.h"
#include "core/window.h"

struct aggnet_tree;
struct aggnet_pkt;
struct aggnet_run;

/**
 * struct aggnet_child - acceptor's half: one child that has bound here
 * @id: identity, 0: free slot
 * @finished: custody of its FIN is taken
 * @waits_for_credit: has been told of zero credit
 * @no_credit: has no credit, and so a claim on the next chunks
 * @nonce: the child's
 * @cookie: ours for it
 * @win: what has been merged
 * @credit: granted, exclusive
 * @received: DATA merged
 * @sources: that its flow will contain, as it told last
 * @run: which run its records are, if the store has runs
 * @stamp: the newest of its packets' stamps
 * @fewest: sources that it ever told
 * @heard: jiffies of the last sign of life
 */
struct aggnet_child {
	__be32 id;
	bool finished;
	bool waits_for_credit;
	bool no_credit;
	u64 nonce;
	u64 cookie;
	struct aggnet_rxwin win;
	u32 credit;
	u32 received;
	u32 sources;
	u32 run;
	u32 stamp;
	u32 fewest;
	unsigned long heard;
};

/* Credits that it has not used. */
static inline u32 aggnet_child_outstanding(const struct aggnet_child *c)
{
	return c->credit - AGGNET_SEQ_FIRST - c->received;
}

/**
 * struct aggnet_acceptor - acceptor's half of all channels of a tree
 * @child: the children's half channels (open addressing on identity)
 * @mask: size of @child - 1
 * @came: bit by bit, which of conf.children have been bound; NULL without a list
 * @open: new children may bind (false once the own flow closed, or hold)
 * @secret: makes this incarnation's nonces (with the namespace's secret)
 * @bound: children that are bound and not finished
 * @bound_total: children that ever bound
 * @bound_at: jiffies of the last bind of a child; at the receiver also of the
 *	last time that a child told fewer sources than ever, or that a weight was
 *	not foreseen
 * @unplanned: of those that ever bound, those that the plan did not foresee
 * @told: sources that bound children will contain, as they told
 * @credits: credits outstanding, all children
 * @no_credit: bound, unfinished children without credit
 * @waits_for_credit: children that have been told of zero credit
 * @unfed: some of them may be told of credit now
 * @cursor: next slot of @child to be looked at for one that waits for credit
 * @silence_cursor: and for one that is silent
 * @look_runs: runs of the lock that have looked for that
 * @tell: next slot of @child to be told of the outcome
 * @told_all: all slots of @child have been
 * @refused_child: a child that found no room at the receiver
 * @refused: an unplanned child found no room, and none has come since
 * @refused_at: jiffies of that
 * @refusals: of unplanned children that had been accepted
 */
struct aggnet_acceptor {
	struct aggnet_child *child;
	u32 mask;
	unsigned long *came;
	bool open;
	u64 secret;
	u32 bound;
	u32 bound_total;
	unsigned long bound_at;
	u32 unplanned;
	u64 told;
	u32 credits;
	u32 no_credit;
	u32 waits_for_credit;
	bool unfed;
	u32 cursor;
	u32 silence_cursor;
	u32 look_runs;
	u32 tell;
	bool told_all;
	__be32 refused_child;
	bool refused;
	unsigned long refused_at;
	u32 refusals;
};

/**
 * enum aggnet_up_state - child's half of its channel
 * @AGGNET_UP_IDLE: nothing to say yet
 * @AGGNET_UP_OPENING: OPEN sent, waiting for ACCEPT
 * @AGGNET_UP_BINDING: acceptor chosen, nothing acknowledged by it yet
 * @AGGNET_UP_BOUND: it has; losing it from here on ends the epoch
 * @AGGNET_UP_FINISHED: custody of the FIN is with it
 */
enum aggnet_up_state {
	AGGNET_UP_IDLE,
	AGGNET_UP_OPENING,
	AGGNET_UP_BINDING,
	AGGNET_UP_BOUND,
	AGGNET_UP_FINISHED,
};

/**
 * struct aggnet_packed - one DATA in the retransmit ring, but for its body
 * @digest: of body and records, computed when they were packed
 * @len: bytes of body and records
 */
struct aggnet_packed {
	u64 digest;
	u16 len;
};

/**
 * struct aggnet_uplink - child's half of its channel; under the tree's lock
 */
struct aggnet_uplink {
	u8 state;
	bool any;		/* OPEN goes to any end */
	u8 hop;			/* links to the acceptor + 2 */
	u8 tries;		/* unanswered OPEN, PROBE or FIN in a row */
	bool rooted;		/* so is the acceptor, up to the receiver */
	bool fin;		/* FIN was sent; the timer repeats it */
	bool told;		/* acceptor has answered our ABORT */
	bool strayed;		/* @sources was not what the entry says */
	u32 sources;		/* of our flow, as the last PROBE told */
	__be32 peer;		/* acceptor's identity */
	u32 peer_stamp;		/* the newest of its packets' stamps */
	u64 nonce;
	u64 peer_nonce;
	u32 cost;		/* of what this run of the lock has packed */
	u32 burst;		/* DATA that may still be made */
	bool stopped;		/* before all of them were */
	u32 max_payload;	/* what the acceptor takes */
	u32 max_records;
	struct aggnet_sender sender;	/* of DATA; no slots: no uplink */
	struct aggnet_packed *ring;	/* of each slot; begins their memory */
	u8 *bodies;			/* struct aggnet_data and records */
	unsigned long heard;	/* jiffies: acceptor's last sign of life */
	struct timer_list timer;
};

/**
 * aggnet_fresh() - was a packet made after all that came before it?
 * @newest: stamp of the newest so far; moved on
 * @stamp: this one's
 * @heard: jiffies of the last sign of life, when the newest one came
 * @give_up_ms: of the entry
 *
 * A packet that was seen on the way may be sent again by any host: such a copy is
 * no sign of life, and its echo is no sample of the round trip. Stamps wrap, so
 * that an old one looks newer again after 2^31 us. But the stamp of a new packet
 * has gone on by no more than the time that has passed here. Our clock may have
 * stood still for give_up, after which the peers would have ended the transfer.
 */
static inline bool aggnet_fresh(u32 *newest, u32 stamp, unsigned long heard,
				u32 give_up_ms)
{
	unsigned long most = jiffies - heard + msecs_to_jiffies(give_up_ms);

	if (!aggnet_before(*newest, stamp) ||
	    usecs_to_jiffies(stamp - *newest) > most)
		return false;
	*newest = stamp;
	return true;
}

#define AGGNET_PAYLOAD_USUAL	1384	/* records of one DATA: fits MTU 1500 */
#define AGGNET_PAYLOAD_MAX	8192	/* where the MTU allows, up to 9000 */
#define AGGNET_BURST		16	/* DATA made in one run of the lock, at most */
#define AGGNET_PACKETS		32	/* with them: no more to many children */
#define AGGNET_ANY_AFTER	4	/* unanswered OPENs before AGGNET_F_ANY */

/*
 * All of these run under the tree's lock and put what they send on @run.
 * A packet has passed the tag and the epoch check.
 */

/* OPEN. Return: false if this node is not entitled to answer. */
bool aggnet_acceptor_open(struct aggnet_tree *tree,
			  const struct aggnet_pkt *pkt,
			  struct aggnet_run *run);
/* DATA, FIN, PROBE and a child's ABORT. */
void aggnet_acceptor_rx(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
			struct aggnet_run *run);
/*
 * Room came free: tell children that wait for credit, as many as one run may;
 * tree->acceptor.unfed: there are others.
 */
void aggnet_acceptor_feed(struct aggnet_tree *tree, struct aggnet_run *run);
/* Tell DONE or ABORT to more children, as many as one run may. Return: is that all? */
bool aggnet_acceptor_tell(struct aggnet_tree *tree, struct aggnet_run *run);
/* A bound, unfinished child silent for longer than @silence jiffies, or NULL. */
struct aggnet_child *aggnet_acceptor_silent(struct aggnet_tree *tree,
					    unsigned long silence);
/* In how many runs the above does what is due in one look of the tree's timer. */
u32 aggnet_acceptor_looks(const struct aggnet_tree *tree);
void aggnet_acceptor_send_rst(struct aggnet_tree *tree,
			      const struct aggnet_pkt *pkt, u32 reason,
			      struct aggnet_run *run);

/* Open a channel, once. */
void aggnet_uplink_start(struct aggnet_tree *tree, struct aggnet_run *run);
/* ACCEPT, ACK, DONE, RST and an acceptor's ABORT. */
void aggnet_uplink_rx(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
		      struct aggnet_run *run);
/* Send what may be sent: lost segments, new ones, FIN. */
void aggnet_uplink_push(struct aggnet_tree *tree, struct aggnet_run *run);
/* A burst, or the rest of one, that the last run of the lock had to leave. */
void aggnet_uplink_go_on(struct aggnet_tree *tree, struct aggnet_run *run);
/* The tree was aborted: tell the acceptor, once there is one. */
void aggnet_uplink_abort(struct aggnet_tree *tree, struct aggnet_run *run);
/*
 * Tell the acceptor how many sources to expect: if that has changed, or @again
 * if it ever was not what the entry says.
 */
void aggnet_uplink_tell(struct aggnet_tree *tree, bool again,
			struct aggnet_run *run);
/* Its timer fired. */
void aggnet_uplink_expired(struct aggnet_tree *tree, struct aggnet_run *run);
/* Is this packet from the acceptor that we chose? */
bool aggnet_uplink_is_peer(const struct aggnet_tree *tree,
			   const struct aggnet_pkt *pkt);
int aggnet_uplink_init(struct aggnet_tree *tree, u32 slots, u32 payload);
void aggnet_uplink_free(struct aggnet_tree *tree);
size_t aggnet_uplink_size(u32 slots, u32 payload);

/**
 * struct aggnet_abort_body - ABORT with its names
 */
struct aggnet_abort_body {
	struct aggnet_abort abort;
	__be32 name[AGGNET_NAMES_MAX];
};

/* Return: its length */
u16 aggnet_put_abort(const struct aggnet_tree *tree,
		     struct aggnet_abort_body *body);
/* Up to @max names behind the fixed part of a body are added to those lost here. */
void aggnet_acceptor_names(struct aggnet_tree *tree,
			   const struct aggnet_pkt *pkt, size_t fixed, u32 max);
/* Does an unplanned child that found no room still ask for a credit? */
bool aggnet_acceptor_refuses(const struct aggnet_tree *tree);
/* Planned children that have not bound. */
u32 aggnet_acceptor_due(const struct aggnet_tree *tree);
/* Those on the list that never bound here are lost; those that bound are not. */
void aggnet_acceptor_lost(struct aggnet_tree *tree);

#endif /* _AGGNET_CHANNEL_H */
