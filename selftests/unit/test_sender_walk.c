// SPDX-License-Identifier: GPL-2.0
/* Random tests of the sender: walks of any events, compared with a plain list; and
 * whole transfers over a network that loses and reorders packets.
 */
#include <asm/byteorder.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include "core/sender.h"

#include "../uapi/harness.h"
#include "ack.h"

#define SEED	0x73656e64
#define WINDOW	AGGNET_WINDOW

/* The protocol's start, numbers at which 32 bits or their sign wrap, the end. */
static const u32 starts[] = {
	AGGNET_SEQ_FIRST, 0, 0xffffffff, 0xffffff00, 0x7fffffff, 0x7fffff80,
	AGGNET_SEQ_END - 400,
};

/* --- against a plain list -------------------------------------------------- */

#define PACKETS	600	/* of a walk */
#define STEPS	40000

/**
 * struct plain - a sender, and what it should know without rings and wraps
 * @first: sequence of packet 0; the others are counted from it
 * @segment: of the sender
 * @s: the sender
 * @slots: packets in its window, at most
 * @n: packets that were added
 * @granted: packets that may be added, by credit
 * @now: clock
 * @rtt: round trip
 * @cwnd: congestion window
 * @moved: when an ACK acknowledged something last, or the first packet left
 * @sent: when each of them was sent last
 * @acked: an ACK that was taken acknowledges it
 * @lost: it is to be sent again
 * @got: it has arrived
 */
struct plain {
	struct aggnet_segment segment[WINDOW];
	struct aggnet_sender s;
	u32 first;
	u32 slots;
	u32 n;
	u32 granted;
	u32 now;
	struct aggnet_rtt rtt;
	struct aggnet_cwnd cwnd;
	u32 moved;
	u32 sent[PACKETS];
	bool acked[PACKETS + 1];
	bool lost[PACKETS];
	bool got[PACKETS + 1];
};

static u32 plain_una(const struct plain *p)
{
	u32 i = 0;

	while (p->acked[i])
		i++;
	return i;
}

static u32 plain_flight(const struct plain *p)
{
	u32 flight = 0, i;

	for (i = 0; i < p->n; i++)
		flight += !p->acked[i] && !p->lost[i];
	return flight;
}

static u32 plain_lost(const struct plain *p)
{
	u32 lost = 0, i;

	for (i = 0; i < p->n; i++)
		lost += p->lost[i];
	return lost;
}

static bool plain_may_add(const struct plain *p)
{
	return plain_flight(p) < p->cwnd.cwnd && p->n < p->granted &&
	       p->n - plain_una(p) < p->slots &&
	       p->first + p->n != AGGNET_SEQ_END;
}

static void plain_add(struct plain *p)
{
	MUST(aggnet_sender_may_add(&p->s) == plain_may_add(p));
	if (!plain_may_add(p) || p->n == PACKETS)
		return;
	if (plain_una(p) == p->n)
		p->moved = p->now;
	MUST(aggnet_sender_add(&p->s, p->now) == p->first + p->n);
	p->sent[p->n++] = p->now;
}

static void plain_resend(struct plain *p)
{
	u32 i, seq = p->s.una;
	bool found;

	for (i = plain_una(p); i < p->n && !p->lost[i]; i++)
		;
	found = aggnet_sender_find_lost(&p->s, &seq);
	MUST(found == (i < p->n));
	MUST(seq == p->first + i);
	if (!found)
		return;
	aggnet_sender_resent(&p->s, seq, p->now);
	p->sent[i] = p->now;
	p->lost[i] = false;
}

/* What the other end has, at this moment. */
static struct aggnet_ack plain_ack(const struct plain *p, u32 credit)
{
	struct aggnet_ack ack;
	u32 cum = 0, i;

	while (p->got[cum])
		cum++;
	ack = ack_of(p->first + cum, p->first + cum + credit);
	for (i = cum + 1; i < p->n; i++)
		if (p->got[i])
			ack_set(&ack, p->first + i);
	return ack;
}

/* What an ACK acknowledges has arrived, even if the ACK was made up. */
static void plain_take(struct plain *p, const struct aggnet_ack *ack, u32 rtt)
{
	u32 credit = be32_to_cpu(ack->credit) - p->first;
	u32 cum = be32_to_cpu(ack->cum) - p->first;
	u32 taken = 0, newest = 0, i;
	u8 backoff = p->rtt.backoff;
	bool news = credit > p->granted;

	if (rtt)
		aggnet_rtt_sample(&p->rtt, rtt);
	p->granted = max(p->granted, credit);
	for (i = 0; i < p->n; i++) {
		u32 bit = i - cum - 1;
		bool in = i < cum || (i > cum && bit < WINDOW &&
				      be64_to_cpu(ack->sack[bit / 64]) >>
				      bit % 64 & 1);

		if (!in || p->acked[i])
			continue;
		p->acked[i] = true;
		p->got[i] = true;
		p->lost[i] = false;
		if (!taken++ || p->sent[i] - newest < 1u << 31)
			newest = p->sent[i];
	}
	p->rtt.backoff = news || taken ? 0 : backoff;
	if (!taken)
		return;
	p->moved = p->now;
	aggnet_cwnd_acked(&p->cwnd, taken);
	for (i = 0; i < p->n; i++) {
		s32 later = newest - p->sent[i];

		if (p->acked[i] || p->lost[i] ||
		    later <= (s32)aggnet_rtt_reorder(&p->rtt))
			continue;
		p->lost[i] = true;
		aggnet_cwnd_lost(&p->cwnd, p->first + i, p->first + p->n);
	}
}

static void plain_hear(struct plain *p, const struct aggnet_ack *ack, u32 rtt)
{
	s32 cum = be32_to_cpu(ack->cum) - p->first;
	u32 want = AGGNET_ACK_OK;

	if (cum > (s32)p->n ||
	    be32_to_cpu(ack->credit) - be32_to_cpu(ack->cum) > WINDOW)
		want = AGGNET_ACK_BAD;
	else if (cum < (s32)plain_una(p))
		want = AGGNET_ACK_OLD;
	MUST(aggnet_sender_check(&p->s, ack) == want);
	if (want != AGGNET_ACK_OK)
		return;
	aggnet_sender_ack(&p->s, ack, rtt, p->now);
	plain_take(p, ack, rtt);
}

static void plain_expire(struct plain *p)
{
	u32 una = plain_una(p), rto = aggnet_rtt_rto(&p->rtt);
	u32 age;
	bool due;

	if (una == p->n)
		return;
	age = min(p->now - p->sent[una], p->now - p->moved);
	due = age >= rto;
	MUST(aggnet_sender_rto_left(&p->s, p->now) == (due ? 0 : rto - age));
	MUST(aggnet_sender_expired(&p->s, p->now) == due);
	if (!due)
		return;
	p->lost[una] = true;
	aggnet_cwnd_lost(&p->cwnd, p->first + una, p->first + p->n);
	aggnet_rtt_backoff(&p->rtt);
}

/* Any numbers; close to those that are in use, so that some of them pass. */
static struct aggnet_ack plain_hostile(const struct plain *p)
{
	u32 cum = p->first + p->n + get_random_u32() % 8 - 4;
	struct aggnet_ack ack = ack_of(cum, cum + get_random_u32() % 400 - 50);

	if (get_random_u32() % 4 == 0)
		ack.cum = cpu_to_be32(get_random_u32());
	if (get_random_u32() % 2)
		get_random_bytes(ack.sack, sizeof(ack.sack));
	return ack;
}

/* Return: NULL, or what differs */
static const char *plain_differs(const struct plain *p)
{
	const struct aggnet_sender *s = &p->s;
	const struct aggnet_segment *seg;
	u32 i;

	if (s->una != p->first + plain_una(p) || s->nxt != p->first + p->n)
		return "window";
	if (s->credit != p->first + p->granted)
		return "credit";
	if (s->flight != plain_flight(p))
		return "flight";
	if (s->lost != plain_lost(p))
		return "lost";
	if (memcmp(&s->rtt, &p->rtt, sizeof(p->rtt)))
		return "round trip";
	if (memcmp(&s->cwnd, &p->cwnd, sizeof(p->cwnd)))
		return "congestion window";
	for (i = plain_una(p); i < p->n; i++) {
		seg = &p->segment[aggnet_sender_slot(s, p->first + i)];
		if (seg->sent_us != p->sent[i] || seg->acked != p->acked[i] ||
		    seg->lost != p->lost[i])
			return "segment";
	}
	return NULL;
}

static void plain_step(struct plain *p, struct aggnet_ack *old)
{
	u32 pick = get_random_u32() % 100, n;
	struct aggnet_ack ack;

	if (pick < 35) {
		plain_add(p);
	} else if (pick < 60 && p->n) {
		n = min(p->n, 40u);
		p->got[p->n - 1 - get_random_u32() % n] = true;
		p->got[plain_una(p)] |= get_random_u32() % 8 == 0 &&
					plain_una(p) < p->n;
	} else if (pick < 75) {
		ack = plain_ack(p, get_random_u32() % (WINDOW + 1));
		plain_hear(p, &ack, get_random_u32() % 3 * 2500);
		if (get_random_u32() % 16 == 0)
			*old = ack;
	} else if (pick < 80) {
		plain_hear(p, old, 0);
	} else if (pick < 82) {
		ack = plain_hostile(p);
		plain_hear(p, &ack, 0);
	} else if (pick < 90) {
		plain_resend(p);
	} else if (pick < 99) {
		p->now += get_random_u32() % 900;
	} else {
		p->now += get_random_u32() % 60000;
		plain_expire(p);
	}
}

TEST(walk__against_a_plain_list)
{
	static struct plain p;
	struct aggnet_ack old;
	u32 i, step;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		p = (struct plain){
			.first = starts[i], .slots = 8 << i % 6, .now = -90000u,
		};
		aggnet_sender_init(&p.s, p.segment, p.slots, p.first);
		aggnet_rtt_init(&p.rtt);
		aggnet_cwnd_init(&p.cwnd, p.slots, p.first);
		old = ack_of(p.first, p.first);
		for (step = 0; step < STEPS && p.n < PACKETS &&
		     !aggnet_sender_is_exhausted(&p.s); step++) {
			const char *what;

			plain_step(&p, &old);
			what = plain_differs(&p);
			if (what)
				TH_LOG("walk %u, step %u: %s", i, step, what);
			ASSERT_EQ(NULL, what);
		}
		/* It does go somewhere: to the end of the list, or of sequences. */
		EXPECT_EQ(AGGNET_SEQ_END - p.first < PACKETS ?
			  AGGNET_SEQ_END - p.first : PACKETS, p.n);
	}
}

/* --- over a network that loses packets ------------------------------------- */

#define DELIVER	3000	/* packets of a transfer */
#define LINE	64	/* packets or ACKs under way */

/**
 * struct line - packets, or ACKs, under way in one direction
 * @n: how many
 * @loss: of 100
 * @ack: ACKs
 * @seq: sequences of packets
 */
struct line {
	u32 n;
	u32 loss;
	struct aggnet_ack ack[LINE];
	u32 seq[LINE];
};

static void line_put(struct line *line, u32 seq, const struct aggnet_ack *ack)
{
	if (line->n == LINE || get_random_u32() % 100 < line->loss)
		return;
	line->seq[line->n] = seq;
	if (ack)
		line->ack[line->n] = *ack;
	line->n++;
}

/* Take one of the oldest four. */
static void line_take(struct line *line, u32 *seq, struct aggnet_ack *ack)
{
	u32 at = get_random_u32() % min(line->n, 4u), i;

	*seq = line->seq[at];
	*ack = line->ack[at];
	for (line->n--, i = at; i < line->n; i++) {
		line->seq[i] = line->seq[i + 1];
		line->ack[i] = line->ack[i + 1];
	}
}

/* What an owner does after each event: lost packets, then new ones. */
static void push(struct aggnet_sender *s, struct line *line, u32 last, u32 now)
{
	u32 seq = s->una;

	for (; aggnet_sender_find_lost(s, &seq); seq++) {
		if (!aggnet_sender_may_resend(s))
			return;
		aggnet_sender_resent(s, seq, now);
		line_put(line, seq, NULL);
	}
	while (s->nxt != last && aggnet_sender_may_add(s))
		line_put(line, aggnet_sender_add(s, now), NULL);
}

/* Return: did it end within a bounded number of events? */
static bool transfer(u32 loss, u32 slots)
{
	struct aggnet_segment segment[WINDOW] = {};
	struct line data = { .loss = loss }, back = { .loss = loss };
	u32 last = AGGNET_SEQ_FIRST + DELIVER, now = 0, seq, steps;
	struct aggnet_rxwin win;
	struct aggnet_sender s;
	struct aggnet_ack ack;

	aggnet_rxwin_init(&win, AGGNET_SEQ_FIRST);
	aggnet_sender_init(&s, segment, slots, AGGNET_SEQ_FIRST);
	ack = ack_of(AGGNET_SEQ_FIRST, AGGNET_SEQ_FIRST + 16);
	aggnet_sender_ack(&s, &ack, 0, now);
	for (steps = 0; steps < 100 * DELIVER; steps++) {
		push(&s, &data, last, now);
		now += 40;
		if (s.una == last)
			return true;
		if (data.n && (!back.n || get_random_u32() % 2)) {
			line_take(&data, &seq, &ack);
			if (aggnet_rxwin_test(&win, seq) == AGGNET_SEQ_NEW)
				aggnet_rxwin_mark(&win, seq);
			aggnet_rxwin_ack(&win, &ack);
			ack.credit = cpu_to_be32(win.cum + 100);
			line_put(&back, 0, &ack);
		} else if (back.n) {
			line_take(&back, &seq, &ack);
			if (aggnet_sender_check(&s, &ack) == AGGNET_ACK_OK)
				aggnet_sender_ack(&s, &ack, 400, now);
		} else if (!aggnet_sender_all_acked(&s)) {
			now += aggnet_sender_rto_left(&s, now);
			if (!aggnet_sender_expired(&s, now))
				return false;
			aggnet_sender_resent(&s, s.una, now);
			line_put(&data, s.una, NULL);
		}
	}
	return false;
}

TEST(transfer__ends_in_spite_of_loss)
{
	static const u32 loss[] = { 0, 1, 10, 40 };
	u32 slots;
	size_t i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (i = 0; i < ARRAY_SIZE(loss); i++)
		for (slots = 8; slots <= WINDOW; slots *= 32)
			EXPECT_TRUE(transfer(loss[i], slots));
}

TEST_HARNESS_MAIN
