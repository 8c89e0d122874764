// SPDX-License-Identifier: GPL-2.0
/* Sending half of a channel: segments, ACKs, loss, timeouts. */
#include <asm/byteorder.h>
#include <linux/minmax.h>

#include "core/sender.h"

#define ACK_EVERY_MIN	8u	/* packets for each ACK */
#define ACK_EVERY_MAX	32u

static struct aggnet_segment *segment_of(const struct aggnet_sender *s, u32 seq)
{
	return &s->segment[aggnet_sender_slot(s, seq)];
}

void aggnet_sender_init(struct aggnet_sender *s, struct aggnet_segment *segment,
			u32 slots, u32 first)
{
	*s = (struct aggnet_sender) {
		.una = first,
		.nxt = first,
		.credit = first,
		.asked = first,
		.slots = slots,
		.segment = segment,
	};
	aggnet_rtt_init(&s->rtt);
	aggnet_cwnd_init(&s->cwnd, slots, first);
}

void aggnet_sender_drop(struct aggnet_sender *s)
{
	s->segment = NULL;
	s->lost = 0;
	s->una = s->nxt;
}

bool aggnet_sender_may_add(const struct aggnet_sender *s)
{
	return s->flight < s->cwnd.cwnd && s->nxt - s->una < s->slots &&
	       !aggnet_sender_is_exhausted(s) &&
	       aggnet_before(s->nxt, s->credit);
}

static void segment_sent(struct aggnet_sender *s, u32 seq, u32 now_us)
{
	*segment_of(s, seq) = (struct aggnet_segment){ .sent_us = now_us };
	s->flight++;
}

u32 aggnet_sender_add(struct aggnet_sender *s, u32 now_us)
{
	if (aggnet_sender_all_acked(s))
		s->moved_us = now_us;
	segment_sent(s, s->nxt, now_us);
	return s->nxt++;
}

bool aggnet_sender_wants_ack(const struct aggnet_sender *s)
{
	u32 every;

	if (!aggnet_sender_awaits_ack(s))
		return true;
	every = min(s->asked - s->una, ACK_EVERY_MIN);
	if (s->cwnd.cwnd >= s->cwnd.max)
		every = clamp(s->flight / 2, ACK_EVERY_MIN, ACK_EVERY_MAX);
	return s->nxt - s->asked >= every || s->nxt == s->credit;
}

bool aggnet_sender_find_lost(const struct aggnet_sender *s, u32 *seq)
{
	if (!s->lost)
		*seq = s->nxt;
	for (; *seq != s->nxt; ++*seq)
		if (segment_of(s, *seq)->lost)
			return true;
	return false;
}

void aggnet_sender_resent(struct aggnet_sender *s, u32 seq, u32 now_us)
{
	s->lost--;
	segment_sent(s, seq, now_us);
}

enum aggnet_ack_check aggnet_sender_check(const struct aggnet_sender *s,
					  const struct aggnet_ack *ack)
{
	u32 credit = be32_to_cpu(ack->credit);
	u32 cum = be32_to_cpu(ack->cum);

	if (aggnet_before(s->nxt, cum) || credit - cum > AGGNET_WINDOW)
		return AGGNET_ACK_BAD;
	return aggnet_before(cum, s->una) ? AGGNET_ACK_OLD : AGGNET_ACK_OK;
}

/* Take in what an ACK covers. Return: how many packets, newest in @newest_us */
static u32 take_ack(struct aggnet_sender *s, const struct aggnet_ack *ack,
		    u32 *newest_us)
{
	struct aggnet_segment *seg;
	u32 taken = 0;
	u32 seq;

	for (seq = s->una; seq != s->nxt; seq++) {
		seg = segment_of(s, seq);
		if (seg->acked || !aggnet_ack_covers(ack, seq))
			continue;
		seg->acked = true;
		s->flight -= !seg->lost;
		s->lost -= seg->lost;
		seg->lost = false;
		if (!taken++ || (s32)(seg->sent_us - *newest_us) > 0)
			*newest_us = seg->sent_us;
	}
	while (s->una != s->nxt && segment_of(s, s->una)->acked)
		s->una++;
	return taken;
}

/* Packets sent well before one that arrived are lost (as in RFC 8985). */
static void detect_loss(struct aggnet_sender *s, u32 newest_us)
{
	u32 allowed = aggnet_rtt_reorder(&s->rtt);
	struct aggnet_segment *seg;
	u32 seq;

	for (seq = s->una; seq != s->nxt; seq++) {
		seg = segment_of(s, seq);
		if (seg->acked || seg->lost ||
		    (s32)(newest_us - seg->sent_us - allowed) <= 0)
			continue;
		seg->lost = true;
		s->lost++;
		s->flight--;
		aggnet_cwnd_lost(&s->cwnd, seq, s->nxt);
	}
}

void aggnet_sender_ack(struct aggnet_sender *s, const struct aggnet_ack *ack,
		       u32 rtt_us, u32 now_us)
{
	u32 credit = be32_to_cpu(ack->credit);
	u8 backoff = s->rtt.backoff;
	bool granted = false;
	u32 newest_us = 0;
	u32 taken;

	if (rtt_us)
		aggnet_rtt_sample(&s->rtt, rtt_us);
	if (aggnet_before(s->credit, credit)) {
		s->credit = credit;
		granted = true;
	}
	taken = take_ack(s, ack, &newest_us);
	/* That nothing has moved is an answer, too, but no reason to hurry. */
	s->rtt.backoff = granted || taken ? 0 : backoff;
	if (taken) {
		s->moved_us = now_us;
		aggnet_cwnd_acked(&s->cwnd, taken);
		detect_loss(s, newest_us);
	}
}

u32 aggnet_sender_rto_left(const struct aggnet_sender *s, u32 now_us)
{
	u32 sent = now_us - segment_of(s, s->una)->sent_us;
	u32 age = min(sent, now_us - s->moved_us);
	u32 rto = aggnet_rtt_rto(&s->rtt);

	return age < rto ? rto - age : 0;
}

bool aggnet_sender_expired(struct aggnet_sender *s, u32 now_us)
{
	struct aggnet_segment *seg = segment_of(s, s->una);

	if (aggnet_sender_rto_left(s, now_us))
		return false;
	s->flight -= !seg->lost;
	s->lost += !seg->lost;
	seg->lost = true;
	aggnet_cwnd_lost(&s->cwnd, s->una, s->nxt);
	aggnet_rtt_backoff(&s->rtt);
	return true;
}
