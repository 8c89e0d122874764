/* SPDX-License-Identifier: GPL-2.0 */
/* Channel: the reliable way of records from a child end to its acceptor. */
#ifndef _AGGNET_CHANNEL_H
#define _AGGNET_CHANNEL_H

#include <linux/timer.h>
#include <linux/types.h>

#include "window.h"

struct aggnet_tree;
struct aggnet_pkt;
struct sk_buff_head;

/**
 * struct aggnet_child - acceptor's half: one child that has bound here
 * @id: identity, 0: free slot
 * @finished: custody of its FIN is taken
 * @starved: has been told of zero credit
 * @nonce: the child's
 * @win: what has been merged
 * @credit: granted, exclusive
 * @received: DATA merged
 * @heard: jiffies of the last sign of life
 */
struct aggnet_child {
	__be32 id;
	bool finished;
	bool starved;
	u64 nonce;
	struct aggnet_rxwin win;
	u32 credit;
	u32 received;
	unsigned long heard;
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
 * struct aggnet_segment - one DATA in the retransmit ring
 * @digest: of body and records, computed when they were packed
 * @sent_us: clock of the last transmission
 * @len: bytes of body and records at @body
 * @acked: final
 * @lost: to be sent again
 * @sent: times
 * @body: struct aggnet_data and records
 */
struct aggnet_segment {
	u64 digest;
	u32 sent_us;
	u16 len;
	bool acked;
	bool lost;
	u8 sent;
	u8 *body;
};

/**
 * struct aggnet_uplink - child's half of its channel; under the tree's lock
 */
struct aggnet_uplink {
	u8 state;
	bool any;		/* OPEN goes to any end */
	bool probe;		/* a PROBE is owed */
	u8 hop;			/* links to the acceptor + 2 */
	u8 tries;		/* unanswered OPEN, PROBE or FIN in a row */
	__be32 peer;		/* acceptor's identity */
	u64 nonce;
	u64 peer_nonce;
	u32 una;		/* oldest not acknowledged */
	u32 nxt;		/* next to be packed */
	u32 credit;		/* exclusive */
	u32 flight;		/* sent, neither acked nor lost */
	u32 max_payload;	/* what the acceptor takes */
	u32 max_records;
	struct aggnet_rtt rtt;
	struct aggnet_cwnd cwnd;
	struct aggnet_segment *ring;	/* slots, a power of two */
	u32 slots;
	unsigned long heard;	/* jiffies: acceptor's last sign of life */
	struct timer_list timer;
};

#endif /* _AGGNET_CHANNEL_H */
