/* SPDX-License-Identifier: GPL-2.0 */
/* Sequence arithmetic, receive bitmap, RTT and congestion window. Pure. */
#ifndef _AGGNET_WINDOW_H
#define _AGGNET_WINDOW_H

#include <linux/types.h>

#include <linux/aggnet_packet.h>

static inline bool aggnet_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/*
 * No DATA has this sequence or one behind it: a sequence used twice would let a
 * packet that was captured in the first round be merged in the second.
 */
#define AGGNET_SEQ_END		(AGGNET_SEQ_FIRST - AGGNET_WINDOW)

#define AGGNET_CREDITS	64	/* unused credit of one child, at most */

/* Epochs are serial numbers too: <0 older, 0 same, >0 newer than the other. */
int aggnet_epoch_cmp(u32 instance, u32 attempt,
		     u32 other_instance, u32 other_attempt);

/**
 * struct aggnet_rxwin - which sequences have been merged
 * @cum: all before are
 * @bits: bit n: @cum + n is (bit 0 never set)
 */
struct aggnet_rxwin {
	u32 cum;
	u64 bits[AGGNET_WINDOW / 64];
};

enum aggnet_seq { AGGNET_SEQ_NEW, AGGNET_SEQ_DUP, AGGNET_SEQ_OUTSIDE };

void aggnet_rxwin_init(struct aggnet_rxwin *w, u32 first);
/* Up to 2^31 before @cum it is a duplicate; from @cum + AGGNET_WINDOW on outside. */
enum aggnet_seq aggnet_rxwin_test(const struct aggnet_rxwin *w, u32 seq);
/* Mark a sequence for which aggnet_rxwin_test() returned AGGNET_SEQ_NEW. */
void aggnet_rxwin_mark(struct aggnet_rxwin *w, u32 seq);
/*
 * Fill @cum and @sack of an ACK (bit b of word w: cum + 1 + 64 w + b), clear the
 * rest.
 */
void aggnet_rxwin_ack(const struct aggnet_rxwin *w, struct aggnet_ack *ack);
/* Is @seq acknowledged by this ACK? */
bool aggnet_ack_covers(const struct aggnet_ack *ack, u32 seq);

#define AGGNET_RTO_MIN_US	5000u
#define AGGNET_RTO_MAX_US	2000000u

/**
 * struct aggnet_rtt - RFC 6298 estimator in microseconds
 * @srtt: smoothed, << 3; 0: no sample yet
 * @rttvar: variation, << 2
 * @backoff: doublings in force
 */
struct aggnet_rtt {
	u32 srtt;
	u32 rttvar;
	u8 backoff;
};

void aggnet_rtt_init(struct aggnet_rtt *r);
void aggnet_rtt_sample(struct aggnet_rtt *r, u32 us);
void aggnet_rtt_backoff(struct aggnet_rtt *r);
/*
 * Within [AGGNET_RTO_MIN_US, AGGNET_RTO_MAX_US]; 100 ms before a sample. At least twice
 * the smoothed round trip: on a slow link one more packet in the queue makes it as long.
 */
u32 aggnet_rtt_rto(const struct aggnet_rtt *r);
/* A packet sent this much earlier than one that has arrived is lost. */
u32 aggnet_rtt_reorder(const struct aggnet_rtt *r);

/**
 * struct aggnet_cwnd - congestion window in packets
 * @cwnd: packets that may be in flight, 2..@max
 * @ssthresh: slow start ends here
 * @acked: acknowledged packets since the last increment
 * @max: upper bound: slots of the retransmit ring, at most AGGNET_WINDOW
 * @recover: losses of packets before this sequence do not halve again
 */
struct aggnet_cwnd {
	u32 cwnd;
	u32 ssthresh;
	u32 acked;
	u32 max;
	u32 recover;
};

void aggnet_cwnd_init(struct aggnet_cwnd *c, u32 max, u32 first);
void aggnet_cwnd_acked(struct aggnet_cwnd *c, u32 packets);
/* Halve once per flight. @seq: the lost packet, @nxt: next sequence to be sent */
void aggnet_cwnd_lost(struct aggnet_cwnd *c, u32 seq, u32 nxt);

#endif /* _AGGNET_WINDOW_H */
