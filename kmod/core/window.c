// SPDX-License-Identifier: GPL-2.0
/* Sequence arithmetic, receive bitmap, RTT and congestion window. */
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <asm/byteorder.h>

#include "core/window.h"

#define WORDS		(AGGNET_WINDOW / 64)

#define RTO_START_US	100000u		/* before the first sample */
#define RTT_SAMPLE_MAX	60000000u	/* keeps the sums in 32 bits */
#define BACKOFF_MAX	16		/* RTO_MIN << 16 is beyond RTO_MAX */
#define REORDER_MIN_US	1000u		/* softirq and timers are no finer */

#define CWND_START	10
#define CWND_MIN	2

int aggnet_epoch_cmp(u32 instance, u32 attempt,
		     u32 other_instance, u32 other_attempt)
{
	if (instance != other_instance)
		return aggnet_before(instance, other_instance) ? -1 : 1;
	if (attempt != other_attempt)
		return aggnet_before(attempt, other_attempt) ? -1 : 1;
	return 0;
}

void aggnet_rxwin_init(struct aggnet_rxwin *w, u32 first)
{
	memset(w, 0, sizeof(*w));
	w->cum = first;
}

enum aggnet_seq aggnet_rxwin_test(const struct aggnet_rxwin *w, u32 seq)
{
	u32 d = seq - w->cum;

	if (d < AGGNET_WINDOW)
		return w->bits[d / 64] >> (d % 64) & 1 ? AGGNET_SEQ_DUP :
							 AGGNET_SEQ_NEW;
	return aggnet_before(seq, w->cum) ? AGGNET_SEQ_DUP : AGGNET_SEQ_OUTSIDE;
}

/* @to = @from >> @n, 0 < @n < 64; @to may be @from. */
static void bits_shift(u64 *to, const u64 *from, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < WORDS - 1; i++)
		to[i] = from[i] >> n | from[i + 1] << (64 - n);
	to[i] = from[i] >> n;
}

void aggnet_rxwin_mark(struct aggnet_rxwin *w, u32 seq)
{
	u32 d = seq - w->cum;

	w->bits[d / 64] |= 1ULL << (d % 64);

	/* Usually a shift by one; by whole words only after a hole has closed. */
	while (w->bits[0] == ~0ULL) {
		memmove(w->bits, w->bits + 1, sizeof(u64) * (WORDS - 1));
		w->bits[WORDS - 1] = 0;
		w->cum += 64;
	}
	if (w->bits[0] & 1) {
		unsigned int n = __ffs64(~w->bits[0]);

		bits_shift(w->bits, w->bits, n);
		w->cum += n;
	}
}

void aggnet_rxwin_ack(const struct aggnet_rxwin *w, struct aggnet_ack *ack)
{
	u64 sack[WORDS];
	int i;

	bits_shift(sack, w->bits, 1);
	*ack = (struct aggnet_ack){ .cum = cpu_to_be32(w->cum) };
	for (i = 0; i < WORDS; i++)
		ack->sack[i] = cpu_to_be64(sack[i]);
}

bool aggnet_ack_covers(const struct aggnet_ack *ack, u32 seq)
{
	u32 cum = be32_to_cpu(ack->cum);
	u32 d = seq - cum - 1;

	if (aggnet_before(seq, cum))
		return true;
	if (d >= AGGNET_WINDOW)
		return false;
	return be64_to_cpu(ack->sack[d / 64]) >> (d % 64) & 1;
}

void aggnet_rtt_init(struct aggnet_rtt *r)
{
	memset(r, 0, sizeof(*r));
}

void aggnet_rtt_sample(struct aggnet_rtt *r, u32 us)
{
	u32 err;

	us = clamp(us, 1u, RTT_SAMPLE_MAX);
	r->backoff = 0;
	if (!r->srtt) {
		r->srtt = us << 3;
		r->rttvar = us << 1;
		return;
	}
	err = us > r->srtt >> 3 ? us - (r->srtt >> 3) : (r->srtt >> 3) - us;
	r->rttvar += err - (r->rttvar >> 2);
	r->srtt += us - (r->srtt >> 3);
}

void aggnet_rtt_backoff(struct aggnet_rtt *r)
{
	if (r->backoff < BACKOFF_MAX)
		r->backoff++;
}

u32 aggnet_rtt_rto(const struct aggnet_rtt *r)
{
	u32 srtt = r->srtt >> 3;
	u64 rto = r->srtt ? srtt + max(srtt, r->rttvar) : RTO_START_US;

	rto = max_t(u64, rto, AGGNET_RTO_MIN_US) << r->backoff;
	return min_t(u64, rto, AGGNET_RTO_MAX_US);
}

u32 aggnet_rtt_reorder(const struct aggnet_rtt *r)
{
	return max(r->srtt >> 5, REORDER_MIN_US);
}

void aggnet_cwnd_init(struct aggnet_cwnd *c, u32 max, u32 first)
{
	max = clamp_t(u32, max, CWND_MIN, AGGNET_WINDOW);
	*c = (struct aggnet_cwnd) {
		.cwnd = min_t(u32, CWND_START, max),
		.ssthresh = max,
		.max = max,
		.recover = first,
	};
}

void aggnet_cwnd_acked(struct aggnet_cwnd *c, u32 packets)
{
	if (c->cwnd < c->ssthresh) {
		u32 step = min(packets, c->ssthresh - c->cwnd);

		c->cwnd += step;
		packets -= step;
	}
	if (c->cwnd >= c->max)
		return;
	for (c->acked += packets; c->acked >= c->cwnd && c->cwnd < c->max;
	     c->cwnd++)
		c->acked -= c->cwnd;
}

void aggnet_cwnd_lost(struct aggnet_cwnd *c, u32 seq, u32 nxt)
{
	/* Halved since @seq was sent: @recover lies in (@seq, @nxt]. Asked in
	 * this way an old @recover does not come alive when sequences wrap.
	 */
	if (c->recover - seq - 1 < nxt - seq)
		return;
	c->cwnd = max(c->cwnd / 2, (u32)CWND_MIN);
	c->ssthresh = c->cwnd;
	c->acked = 0;
	c->recover = nxt;
}
