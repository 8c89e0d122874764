/* SPDX-License-Identifier: GPL-2.0 */
/* Channel: reliable transport of records from a child end to its acceptor. */
#ifndef _AGGNET_CHANNEL_H
#define _AGGNET_CHANNEL_H

#include <linux/jiffies.h>
#include <linux/timer.h>
#include <linux/types.h>

#include "core/packet.h"
#include "core/sender.h"
#include "core/window.h"

struct aggnet_names;
struct aggnet_tree;
struct aggnet_pkt;
struct aggnet_run;

/**
 * struct aggnet_child - acceptor's half of a channel: one child that has bound here
 * @id: identity, 0: free slot
 * @left: no round waits for it: its last FIN is taken, or one without sources
 * @waits_for_credit: the last ACK granted no credit
 * @no_credit: it has no credit, and so a claim on the next chunks
 * @asks: its DATA of this run of the lock is to be answered
 * @nonce: the child's nonce
 * @cookie: the acceptor's nonce
 * @win: sequences that have been merged
 * @credit: granted: sequences before this one
 * @received: number of DATA packets merged
 * @sources: sources that its flow will have, as it announced last
 * @run: index of its run, if the store has runs; of its branch, if the tree leads down
 * @stamp: newest stamp of its packets
 * @fewest: least number of sources that it ever announced
 * @rounds: rounds of which custody of its FIN is taken
 * @heard: jiffies of the last sign of life
 */
struct aggnet_child {
	__be32 id;
	bool left;
	bool waits_for_credit;
	bool no_credit;
	bool asks;
	u64 nonce;
	u64 cookie;
	struct aggnet_rxwin win;
	u32 credit;
	u32 received;
	u32 sources;
	u32 run;
	u32 stamp;
	u32 fewest;
	u32 rounds;
	unsigned long heard;
};

/* Credit that the child has not used. */
static inline u32 aggnet_child_outstanding(const struct aggnet_child *c)
{
	return c->credit - AGGNET_SEQ_FIRST - c->received;
}

/**
 * struct aggnet_acceptor - acceptor's half of all channels of a tree
 * @child: the children, a hash table by identity with open addressing
 * @mask: slots of @child - 1
 * @last: the child whose packet came last, found without a hash; NULL: none
 * @came: bitmap of the conf.children that have bound; NULL without a list
 * @open: new children may bind; false once the flow has closed or hold has passed
 * @secret: makes the nonces of this incarnation, with the namespace's secret
 * @bound: children that are bound and have not finished the present round
 * @bound_total: children that ever bound
 * @empty: those of them that have finished without sources
 * @bound_at: jiffies of the last bind of a child; at the receiver also of the last
 *	time that a child announced fewer sources than ever before, or that the
 *	weight of a run became known
 * @unplanned: unplanned children that ever bound
 * @told: sum of the sources that these children have announced
 * @credits: unused credit of all children
 * @no_credit: bound children without credit that have not left
 * @waits_for_credit: children whose last ACK granted no credit
 * @unfed: some of these may get credit now
 * @cursor: slot of @child where the search for one that waits for credit continues
 * @silence_cursor: slot of @child where the search for a silent one continues
 * @look_runs: runs of the lock that have searched for a silent child
 * @tell: slot of @child from which on children have not been told of the outcome,
 *	or of the end of the round before
 * @told_all: there is nothing to tell, or all children have been told
 * @refused_child: a child that found no room at the receiver
 * @refused: an unplanned child found no room, and none has bound since
 * @refused_at: jiffies of the last such refusal
 * @refusals: refused PROBEs of unplanned children that had got an ACCEPT
 */
struct aggnet_acceptor {
	struct aggnet_child *child;
	u32 mask;
	struct aggnet_child *last;
	unsigned long *came;
	bool open;
	u64 secret;
	u32 bound;
	u32 bound_total;
	u32 empty;
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
 * enum aggnet_up_state - state of the child's half of its channel
 * @AGGNET_UP_IDLE: not opened yet
 * @AGGNET_UP_OPENING: OPEN sent, waiting for ACCEPT
 * @AGGNET_UP_BINDING: acceptor chosen, PROBE sent, waiting for its first ACK
 * @AGGNET_UP_BOUND: the acceptor has bound this end; if it is lost, the epoch ends
 * @AGGNET_UP_FINISHED: the acceptor has custody of the FIN
 */
enum aggnet_up_state {
	AGGNET_UP_IDLE,
	AGGNET_UP_OPENING,
	AGGNET_UP_BINDING,
	AGGNET_UP_BOUND,
	AGGNET_UP_FINISHED,
};

/**
 * struct aggnet_packed - a DATA packet in the retransmit ring, without its body
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
	bool any;		/* OPEN has F_ANY */
	u8 hop;			/* links to the acceptor + 2 */
	u8 tries;		/* unanswered OPEN, PROBE or FIN in a row */
	bool rooted;		/* the acceptor is bound, up to the receiver */
	bool fin;		/* FIN was sent; the timer repeats it */
	bool told;		/* acceptor has answered our ABORT */
	bool strayed;		/* @sources has differed from the entry */
	u32 fell[__AGGNET_FALLBACK_MAX]; /* packets by plain IP that FINs told */
	u32 by_plain_ip[__AGGNET_FALLBACK_MAX];	/* of these, by the last FIN */
	u32 sources;		/* of the flow, as in the last PROBE */
	__be32 peer;		/* acceptor's identity */
	u32 peer_stamp;		/* newest stamp of its packets */
	u64 nonce;
	u64 peer_nonce;
	u32 cost;		/* instructions of packing in this run of the lock */
	u32 burst;		/* DATA packets that this burst may still make */
	bool stopped;		/* the burst stopped because of @cost */
	u32 max_payload;	/* most bytes that the acceptor takes */
	u32 max_records;
	u32 full;		/* records that fill a packet, as in the last one */
	struct aggnet_sender sender;	/* of DATA; no slots: no uplink */
	struct aggnet_packed *ring;	/* of each slot; begins their memory */
	u8 *bodies;			/* struct aggnet_data and records */
	unsigned long heard;	/* jiffies: acceptor's last sign of life */
	struct timer_list timer;
};

/**
 * aggnet_fresh() - is a packet newer than all packets that arrived before it?
 * @newest: newest stamp so far; updated
 * @stamp: stamp of the packet
 * @heard: jiffies when the packet with the newest stamp arrived
 * @give_up_ms: of the entry
 *
 * Any host can repeat a packet that it has seen: a copy is no sign of life, and its
 * echo is no sample of the round trip. Stamps wrap, so an old stamp looks newer
 * again after 2^31 us. But the stamp of a new packet has advanced by no more than
 * the time that has passed here, plus give_up: this host's clock may have stood
 * still for so long before peers end the transfer.
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

#define AGGNET_PAYLOAD_USUAL	1384	/* bytes of records, for MTU 1500 */
#define AGGNET_PAYLOAD_MAX	8192	/* the same for an MTU of up to 9000 */
#define AGGNET_BURST		16	/* most DATA of one run of the lock */
#define AGGNET_PACKETS		32	/* then a run serves no other child */
#define AGGNET_ANY_AFTER	4	/* unanswered OPENs before AGGNET_F_ANY */

/*
 * All but one of these run under the tree's lock and put the packets that they make on
 * @run.
 * @pkt has passed the checks of tag and epoch.
 */

/* Without the lock: parse the records of a DATA, for aggnet_acceptor_rx(). */
void aggnet_acceptor_parse(const struct aggnet_tree *tree,
			   struct aggnet_pkt *pkt);
/* OPEN. Return: false if this node is not entitled to answer. */
bool aggnet_acceptor_open(struct aggnet_tree *tree,
			  const struct aggnet_pkt *pkt,
			  struct aggnet_run *run);
/* DATA, FIN, PROBE and a child's ABORT; ACK if the tree leads down. */
void aggnet_acceptor_rx(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
			struct aggnet_run *run);
/*
 * Grant credit to children that wait for it, as many as one run may serve. Sets
 * tree->acceptor.unfed if there are more.
 */
void aggnet_acceptor_feed(struct aggnet_tree *tree, struct aggnet_run *run);
/*
 * Tell all children of the outcome, or of the end of the round before, from the
 * first one on.
 */
void aggnet_acceptor_tell(struct aggnet_tree *tree, struct aggnet_run *run);
/* Tell as many more of them as one run may serve. */
void aggnet_acceptor_tell_on(struct aggnet_tree *tree, struct aggnet_run *run);
/* Wait for all bound children, in the round that begins. */
void aggnet_acceptor_next_round(struct aggnet_tree *tree);
/*
 * Return: a bound, unfinished child silent for longer than @silence jiffies, or
 * NULL
 */
struct aggnet_child *aggnet_acceptor_silent(struct aggnet_tree *tree,
					    unsigned long silence);
/* Number of runs in which aggnet_acceptor_silent() checks a quarter of the slots. */
u32 aggnet_acceptor_looks(const struct aggnet_tree *tree);
void aggnet_acceptor_send_rst(struct aggnet_tree *tree,
			      const struct aggnet_pkt *pkt, u32 reason,
			      struct aggnet_run *run);

/* Open a channel, once. */
void aggnet_uplink_start(struct aggnet_tree *tree, struct aggnet_run *run);
/* Go on in the round that begins; the acceptor is in it. */
void aggnet_uplink_next_round(struct aggnet_tree *tree);
/* ACCEPT, ACK, DONE, RST and an acceptor's ABORT; if the tree leads down DATA, FIN. */
void aggnet_uplink_rx(struct aggnet_tree *tree, const struct aggnet_pkt *pkt,
		      struct aggnet_run *run);
/* Send the ACK of a stream to the acceptor; @echo: stamp that it answers, or 0. */
void aggnet_uplink_answer(struct aggnet_tree *tree, u16 flags, u32 echo,
			  const struct aggnet_ack *ack, struct aggnet_run *run);
/* Send lost segments, new ones and FIN, as far as allowed. */
void aggnet_uplink_push(struct aggnet_tree *tree, struct aggnet_run *run);
/* Continue a burst that the last run of the lock had to stop. */
void aggnet_uplink_go_on(struct aggnet_tree *tree, struct aggnet_run *run);
/* After an abort: tell the acceptor, once there is one. */
void aggnet_uplink_abort(struct aggnet_tree *tree, struct aggnet_run *run);
/*
 * Announce to the acceptor how many sources to expect, if the number has changed;
 * @again: also if it ever differed from the entry.
 */
void aggnet_uplink_tell(struct aggnet_tree *tree, bool again,
			struct aggnet_run *run);
/* The uplink's timer has expired. */
void aggnet_uplink_expired(struct aggnet_tree *tree, struct aggnet_run *run);
/* Is this packet from the chosen acceptor? */
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

/* Write the body of an ABORT. Return: its length */
u16 aggnet_put_abort(const struct aggnet_tree *tree,
		     struct aggnet_abort_body *body);
/* Add up to @max names behind the fixed part of a body to the names lost here. */
void aggnet_acceptor_names(struct aggnet_tree *tree,
			   const struct aggnet_pkt *pkt, size_t fixed, u32 max);
/* Has the child with this identity bound here, or may it be planned to, in this epoch? */
bool aggnet_acceptor_expects(const struct aggnet_tree *tree, __be32 id);
/* Does an unplanned child that found no room still ask for a credit? */
bool aggnet_acceptor_refuses(const struct aggnet_tree *tree);
/* Planned children that have not bound. */
u32 aggnet_acceptor_due(const struct aggnet_tree *tree);
/* List planned children that have not bound, some of them if there are many. */
void aggnet_acceptor_unbound(const struct aggnet_tree *tree,
			     struct aggnet_names *names);
/* List planned ends that never bound here, and those that children have named. */
void aggnet_acceptor_lost(struct aggnet_tree *tree);

#endif /* _AGGNET_CHANNEL_H */
