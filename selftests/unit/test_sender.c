// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the sender: what may leave, what an ACK takes in, what is lost and
 * when the timer decides; and ACKs that no acceptor sends.
 */
#include <asm/byteorder.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include "core/sender.h"

#include "../uapi/harness.h"
#include "ack.h"

#define WINDOW	AGGNET_WINDOW
#define REORDER	1000	/* us, the least that is allowed */

/* The protocol's start, numbers at which 32 bits or their sign wrap, the end. */
static const u32 starts[] = {
	AGGNET_SEQ_FIRST, 0, 0xffffffff, 0xffffff00, 0x7fffffff, 0x7fffff80,
	AGGNET_SEQ_END - 400,
};

FIXTURE(sender)
{
	struct aggnet_segment segment[WINDOW];
	struct aggnet_sender s;
	u32 first;
	u32 now;
};

/* Everything wraps soon: sequences, and the clock. */
FIXTURE_SETUP(sender)
{
	self->first = AGGNET_SEQ_FIRST;
	self->now = -5000u;
	aggnet_sender_init(&self->s, self->segment, WINDOW, self->first);
}

FIXTURE_TEARDOWN(sender)
{
}

static void take(struct aggnet_sender *s, const struct aggnet_ack *ack, u32 rtt)
{
	MUST(aggnet_sender_check(s, ack) == AGGNET_ACK_OK);
	aggnet_sender_ack(s, ack, rtt, 0);
}

/* The same, at a time. */
static void take_at(struct aggnet_sender *s, const struct aggnet_ack *ack, u32 now)
{
	MUST(aggnet_sender_check(s, ack) == AGGNET_ACK_OK);
	aggnet_sender_ack(s, ack, 0, now);
}

/* Credit for a window, and a congestion window that lets all of it out. */
static void open_wide(struct aggnet_sender *s)
{
	struct aggnet_ack ack = ack_of(s->una, s->una + WINDOW);

	take(s, &ack, 0);
	s->cwnd.cwnd = s->cwnd.max;
}

/* Add packets, each of them @gap us after the one before. */
static void add(struct aggnet_sender *s, u32 packets, u32 *now, u32 gap)
{
	u32 seq;

	while (packets--) {
		MUST(aggnet_sender_may_add(s));
		seq = s->nxt;
		MUST(aggnet_sender_add(s, *now) == seq);
		*now += gap;
	}
}

/* --- what may leave -------------------------------------------------------- */

TEST_F(sender, init__nothing_leaves_without_credit)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack = ack_of(self->first, self->first + 1);
	u32 seq = s->una;

	EXPECT_FALSE(aggnet_sender_may_add(s));
	EXPECT_TRUE(aggnet_sender_all_acked(s));
	EXPECT_FALSE(aggnet_sender_find_lost(s, &seq));
	take(s, &ack, 0);
	EXPECT_TRUE(aggnet_sender_may_add(s));
	EXPECT_EQ(self->first, aggnet_sender_add(s, self->now));
	EXPECT_FALSE(aggnet_sender_may_add(s));
	EXPECT_FALSE(aggnet_sender_all_acked(s));
	EXPECT_EQ(1, s->flight);
}

TEST_F(sender, may_add__stops_at_the_slots)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack;
	u32 slots;

	for (slots = 2; slots <= WINDOW; slots *= 2) {
		aggnet_sender_init(s, self->segment, slots, self->first);
		open_wide(s);
		add(s, slots, &self->now, 1);
		EXPECT_FALSE(aggnet_sender_may_add(s));
		s->cwnd.cwnd = WINDOW;	/* it is not that window */
		EXPECT_FALSE(aggnet_sender_may_add(s));
		ack = ack_of(self->first + 1, self->first + WINDOW);
		take(s, &ack, 0);
		EXPECT_EQ(slots < WINDOW, aggnet_sender_may_add(s));
	}
}

TEST_F(sender, may_add__stops_at_the_congestion_window)
{
	struct aggnet_sender *s = &self->s;

	open_wide(s);
	s->cwnd.cwnd = 7;
	add(s, 7, &self->now, 1);
	EXPECT_FALSE(aggnet_sender_may_add(s));
	EXPECT_FALSE(aggnet_sender_may_resend(s));
	s->cwnd.cwnd = 8;
	EXPECT_TRUE(aggnet_sender_may_add(s));
	EXPECT_TRUE(aggnet_sender_may_resend(s));
}

TEST_F(sender, may_add__stops_at_the_last_sequence)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack;

	aggnet_sender_init(s, self->segment, WINDOW, AGGNET_SEQ_END - 2);
	open_wide(s);
	add(s, 2, &self->now, 1);
	EXPECT_TRUE(aggnet_sender_is_exhausted(s));
	EXPECT_FALSE(aggnet_sender_may_add(s));
	ack = ack_of(AGGNET_SEQ_END, AGGNET_SEQ_END + WINDOW);
	take(s, &ack, 0);
	EXPECT_FALSE(aggnet_sender_may_add(s));
}

/* Add packets, and let those that want an ACK ask for one. Return: how many do */
static u32 add_asking(struct aggnet_sender *s, u32 n, u32 *now)
{
	u32 asked = 0;

	while (n--) {
		add(s, 1, now, 1);
		if (!aggnet_sender_wants_ack(s))
			continue;
		aggnet_sender_ask(s, s->nxt - 1);
		asked++;
	}
	return asked;
}

TEST_F(sender, wants_ack__of_more_packets_the_more_are_in_flight)
{
	struct aggnet_sender *s = &self->s;

	open_wide(s);
	s->cwnd.cwnd = s->cwnd.max;
	EXPECT_FALSE(aggnet_sender_awaits_ack(s));
	EXPECT_EQ(1, add_asking(s, 1, &self->now));
	EXPECT_TRUE(aggnet_sender_awaits_ack(s));
	EXPECT_EQ(0, add_asking(s, 7, &self->now));
	EXPECT_EQ(1, add_asking(s, 1, &self->now));	/* 9 */
	EXPECT_EQ(1, add_asking(s, 8, &self->now));	/* 17 */
	EXPECT_EQ(1, add_asking(s, 17, &self->now));	/* 34 */
	EXPECT_EQ(1, add_asking(s, 32, &self->now));
	EXPECT_EQ(4, add_asking(s, 128, &self->now));
}

/* Of packets 1, 2, 4 and 8 of a flight, then of one of eight; and again. */
TEST_F(sender, wants_ack__of_the_first_and_of_one_of_eight)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack;

	open_wide(s);
	s->cwnd.cwnd = s->cwnd.max - 1;
	EXPECT_EQ(2, add_asking(s, 2, &self->now));
	EXPECT_EQ(0, add_asking(s, 1, &self->now));
	EXPECT_EQ(1, add_asking(s, 1, &self->now));
	EXPECT_EQ(0, add_asking(s, 3, &self->now));
	EXPECT_EQ(1, add_asking(s, 1, &self->now));
	EXPECT_EQ(7, add_asking(s, 56 + 7, &self->now));
	/* More has arrived than what asked. */
	ack = ack_of(s->nxt, s->nxt + WINDOW);
	take(s, &ack, 0);
	s->cwnd.cwnd = s->cwnd.max - 1;
	EXPECT_EQ(2, add_asking(s, 2, &self->now));
}

TEST_F(sender, wants_ack__of_the_last_that_has_credit)
{
	struct aggnet_sender *s = &self->s;

	open_wide(s);
	s->credit = s->nxt + 5;
	EXPECT_EQ(1, add_asking(s, 4, &self->now));
	EXPECT_EQ(1, add_asking(s, 1, &self->now));
}

/* One that is to come opens the window. */
TEST_F(sender, wants_ack__of_the_last_in_the_window_if_none_is_to_come)
{
	struct aggnet_sender *s = &self->s;

	open_wide(s);
	s->cwnd.cwnd = 3;
	s->cwnd.max = 3;
	EXPECT_EQ(1, add_asking(s, 3, &self->now));
	s->cwnd.cwnd = 5;
	s->cwnd.max = 5;
	EXPECT_EQ(0, add_asking(s, 2, &self->now));
}

TEST_F(sender, add__each_of_a_window_has_its_slot)
{
	struct aggnet_sender *s = &self->s;
	bool used[WINDOW] = {};
	u32 n;

	open_wide(s);
	for (n = 0; n < WINDOW; n++) {
		u32 slot = aggnet_sender_slot(s, self->first + n);

		ASSERT_GT(WINDOW, slot);
		ASSERT_FALSE(used[slot]);
		used[slot] = true;
		add(s, 1, &self->now, 3);
		ASSERT_EQ(self->now - 3, self->segment[slot].sent_us);
	}
	EXPECT_EQ(WINDOW, s->flight);
}

/* --- what an ACK takes in -------------------------------------------------- */

TEST_F(sender, ack__cumulative_through_the_wrap)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack;
	u32 n;

	open_wide(s);
	add(s, 200, &self->now, 1);
	for (n = 1; n <= 200; n += 7) {
		ack = ack_of(self->first + n, self->first + WINDOW);
		take(s, &ack, 0);
		ASSERT_EQ(self->first + n, s->una);
		ASSERT_EQ(200 - n, s->flight);
	}
	ack = ack_of(s->nxt, s->nxt);
	take(s, &ack, 0);
	EXPECT_TRUE(aggnet_sender_all_acked(s));
	EXPECT_EQ(0, s->flight);
}

TEST_F(sender, ack__each_hole)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack;
	u32 hole, n;

	for (hole = 0; hole < WINDOW; hole++) {
		aggnet_sender_init(s, self->segment, WINDOW, self->first);
		open_wide(s);
		add(s, WINDOW, &self->now, 0);
		ack = ack_of(self->first + hole, self->first + WINDOW);
		for (n = hole + 1; n < WINDOW; n++)
			ack_set(&ack, self->first + n);
		take(s, &ack, 0);
		ASSERT_EQ(self->first + hole, s->una);
		ASSERT_EQ(1, s->flight);
		ack = ack_of(self->first + hole + 1, self->first + WINDOW);
		take(s, &ack, 0);
		/* What SACK has told is final. */
		ASSERT_TRUE(aggnet_sender_all_acked(s));
		ASSERT_EQ(0, s->flight);
	}
}

TEST_F(sender, ack__credit_does_not_go_back)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack more = ack_of(self->first, self->first + 9);
	struct aggnet_ack less = ack_of(self->first, self->first + 4);

	take(s, &more, 0);
	take(s, &less, 0);
	EXPECT_EQ(self->first + 9, s->credit);
}

TEST_F(sender, ack__repeated_changes_nothing)
{
	struct aggnet_sender was, *s = &self->s;
	struct aggnet_ack ack = ack_of(self->first + 3, self->first + WINDOW);

	open_wide(s);
	add(s, 10, &self->now, 1);
	ack_set(&ack, self->first + 6);
	take(s, &ack, 0);
	was = *s;
	take(s, &ack, 0);
	EXPECT_EQ(0, memcmp(&was, s, sizeof(was)));
}

/* --- ACKs that no acceptor sends ------------------------------------------- */

TEST(check__edges_of_cum_and_credit)
{
	struct aggnet_segment segment[WINDOW] = {};
	struct aggnet_sender s;
	size_t i;
	u32 now = 0;
	int d;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		aggnet_sender_init(&s, segment, WINDOW, starts[i]);
		open_wide(&s);
		add(&s, 20, &now, 1);
		for (d = -WINDOW; d <= WINDOW; d++) {
			u32 cum = starts[i] + d;
			struct aggnet_ack ack = ack_of(cum, cum + WINDOW);
			u32 want = d < 0 ? AGGNET_ACK_OLD : d <= 20 ?
				   AGGNET_ACK_OK : AGGNET_ACK_BAD;

			ASSERT_EQ(want, aggnet_sender_check(&s, &ack));
			ack = ack_of(cum, cum);
			ASSERT_EQ(want, aggnet_sender_check(&s, &ack));
			ack = ack_of(cum, cum + WINDOW + 1);
			ASSERT_EQ(AGGNET_ACK_BAD, aggnet_sender_check(&s, &ack));
			ack = ack_of(cum, cum - 1);
			ASSERT_EQ(AGGNET_ACK_BAD, aggnet_sender_check(&s, &ack));
		}
	}
}

/* A bitmap may tell of what was not sent: that is sent all the same. */
TEST_F(sender, ack__of_what_was_not_sent)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack = ack_of(self->first, self->first + WINDOW);

	open_wide(s);
	memset(ack.sack, 0xff, sizeof(ack.sack));
	take(s, &ack, 0);
	EXPECT_TRUE(aggnet_sender_all_acked(s));
	EXPECT_EQ(self->first, s->nxt);
	add(s, 3, &self->now, 0);
	take(s, &ack, 0);
	EXPECT_EQ(self->first, s->una);
	EXPECT_EQ(1, s->flight);
	add(s, 2, &self->now, 0);
	EXPECT_EQ(3, s->flight);
}

TEST_F(sender, drop__acks_find_nothing)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack = ack_of(self->first + 5, self->first + 5);

	open_wide(s);
	add(s, 10, &self->now, 1);
	aggnet_sender_drop(s);
	EXPECT_TRUE(aggnet_sender_all_acked(s));
	EXPECT_EQ(AGGNET_ACK_OLD, aggnet_sender_check(s, &ack));
	ack = ack_of(self->first + 10, self->first + 10);
	take(s, &ack, 1);
	EXPECT_TRUE(aggnet_sender_all_acked(s));
}

/* --- loss ------------------------------------------------------------------ */

/* Two packets, the second one @gap us later and acknowledged alone. */
static void overtaken(struct aggnet_sender *s, u32 gap)
{
	struct aggnet_ack ack = ack_of(s->una, s->una + WINDOW);
	u32 now = -100u;

	open_wide(s);
	add(s, 2, &now, gap);
	ack_set(&ack, s->una + 1);
	take(s, &ack, 0);
}

TEST_F(sender, loss__is_what_left_well_before)
{
	struct aggnet_sender *s = &self->s;
	u32 seq = self->first;

	overtaken(s, REORDER);
	EXPECT_FALSE(aggnet_sender_find_lost(s, &seq));
	EXPECT_EQ(1, s->flight);
	EXPECT_EQ(s->nxt, seq);

	aggnet_sender_init(s, self->segment, WINDOW, self->first);
	overtaken(s, REORDER + 1);
	seq = self->first;
	EXPECT_TRUE(aggnet_sender_find_lost(s, &seq));
	EXPECT_EQ(self->first, seq);
	EXPECT_EQ(0, s->flight);
}

/* A long round trip allows more. */
TEST_F(sender, loss__allows_a_quarter_of_the_round_trip)
{
	struct aggnet_sender *s = &self->s;
	u32 seq = self->first;

	aggnet_rtt_sample(&s->rtt, 40000);
	overtaken(s, 10000);
	EXPECT_FALSE(aggnet_sender_find_lost(s, &seq));

	aggnet_sender_init(s, self->segment, WINDOW, self->first);
	aggnet_rtt_sample(&s->rtt, 40000);
	overtaken(s, 10001);
	seq = self->first;
	EXPECT_TRUE(aggnet_sender_find_lost(s, &seq));
}

/* A late repeat of the hole is as new as it was sent, not as its sequence. */
TEST_F(sender, loss__by_the_time_of_the_last_transmission)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack;
	u32 seq = self->first;

	overtaken(s, REORDER + 1);
	self->now = 20 * REORDER;
	add(s, 1, &self->now, 0);
	self->now += 3 * REORDER;
	aggnet_sender_resent(s, seq, self->now);
	EXPECT_FALSE(aggnet_sender_find_lost(s, &seq));
	EXPECT_EQ(2, s->flight);

	ack = ack_of(self->first + 2, self->first + WINDOW);
	take(s, &ack, 0);
	seq = s->una;
	EXPECT_TRUE(aggnet_sender_find_lost(s, &seq));
	EXPECT_EQ(self->first + 2, seq);
	EXPECT_EQ(0, s->flight);
}

TEST_F(sender, loss__halves_once_a_flight)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack = ack_of(self->first, self->first + WINDOW);
	u32 lost = 0, seq;

	open_wide(s);
	add(s, 100, &self->now, 100);
	ack_set(&ack, self->first + 99);
	take(s, &ack, 0);
	for (seq = s->una; aggnet_sender_find_lost(s, &seq); seq++)
		ASSERT_EQ(self->first + lost++, seq);
	EXPECT_EQ(89, lost);
	EXPECT_EQ(10, s->flight);
	EXPECT_EQ(WINDOW / 2, s->cwnd.cwnd);
}

/* It was only late: nothing is sent again. */
TEST_F(sender, loss__of_what_arrives_after_all)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack;
	u32 seq = self->first;

	overtaken(s, 2 * REORDER);
	ack = ack_of(self->first + 2, self->first + WINDOW);
	take(s, &ack, 0);
	EXPECT_FALSE(aggnet_sender_find_lost(s, &seq));
	EXPECT_TRUE(aggnet_sender_all_acked(s));
	EXPECT_EQ(0, s->flight);
}

/* --- round trip and timeout ------------------------------------------------ */

TEST_F(sender, rtt__only_of_acks_with_a_sample)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack = ack_of(self->first, self->first + 1);

	take(s, &ack, 0);
	EXPECT_EQ(0, s->rtt.srtt);
	take(s, &ack, 8000);
	EXPECT_EQ(8000, s->rtt.srtt >> 3);
	EXPECT_EQ(24000, aggnet_rtt_rto(&s->rtt));
}

/* A sample alone is no news: a peer that only answers is asked less often. */
TEST_F(sender, backoff__ends_by_news)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack = ack_of(self->first, self->first + 2);

	take(s, &ack, 0);
	aggnet_rtt_backoff(&s->rtt);
	take(s, &ack, 0);
	EXPECT_EQ(1, s->rtt.backoff);
	take(s, &ack, 5000);
	EXPECT_EQ(1, s->rtt.backoff);
	ack = ack_of(self->first, self->first + 3);
	take(s, &ack, 0);
	EXPECT_EQ(0, s->rtt.backoff);

	add(s, 1, &self->now, 0);
	aggnet_rtt_backoff(&s->rtt);
	ack = ack_of(self->first + 1, self->first + 3);
	take(s, &ack, 0);
	EXPECT_EQ(0, s->rtt.backoff);
}

TEST_F(sender, expired__not_before_the_timeout)
{
	struct aggnet_sender *s = &self->s;
	u32 rto = aggnet_rtt_rto(&s->rtt);
	u32 sent = self->now;

	open_wide(s);
	add(s, 1, &self->now, 0);
	EXPECT_EQ(rto, aggnet_sender_rto_left(s, sent));
	EXPECT_EQ(1, aggnet_sender_rto_left(s, sent + rto - 1));
	EXPECT_FALSE(aggnet_sender_expired(s, sent + rto - 1));
	EXPECT_EQ(1, s->flight);
	EXPECT_EQ(WINDOW, s->cwnd.cwnd);
	EXPECT_EQ(0, aggnet_sender_rto_left(s, sent + rto));
	EXPECT_TRUE(aggnet_sender_expired(s, sent + rto));
	EXPECT_EQ(0, s->flight);
	EXPECT_EQ(WINDOW / 2, s->cwnd.cwnd);
	EXPECT_EQ(2 * rto, aggnet_rtt_rto(&s->rtt));
}

/* Others that arrive meanwhile are a sign that the oldest one may still come. */
TEST_F(sender, expired__not_while_others_are_acknowledged)
{
	struct aggnet_sender *s = &self->s;
	u32 rto = aggnet_rtt_rto(&s->rtt);
	u32 sent = self->now;
	struct aggnet_ack ack = ack_of(self->first, self->first + WINDOW);

	open_wide(s);
	add(s, 3, &self->now, 0);
	ack_set(&ack, self->first + 1);
	take_at(s, &ack, sent + rto - 1);
	EXPECT_FALSE(aggnet_sender_expired(s, sent + rto));
	EXPECT_EQ(1, aggnet_sender_rto_left(s, sent + 2 * rto - 2));
	/* It tells nothing new. */
	take_at(s, &ack, sent + 2 * rto - 2);
	EXPECT_TRUE(aggnet_sender_expired(s, sent + 2 * rto - 1));
}

/* What was acknowledged before it left does not count. */
TEST_F(sender, expired__clock_of_an_old_ack)
{
	struct aggnet_sender *s = &self->s;
	struct aggnet_ack ack = ack_of(self->first + 1, self->first + WINDOW);
	u32 rto = aggnet_rtt_rto(&s->rtt);

	open_wide(s);
	add(s, 1, &self->now, 0);
	take_at(s, &ack, self->now);
	self->now += 1u << 31;
	self->now += (1u << 31) - 1;
	add(s, 1, &self->now, 0);
	EXPECT_EQ(rto - 2, aggnet_sender_rto_left(s, self->now + 2));
}

/* However often: one packet each time, and never more than the bound apart. */
TEST_F(sender, expired__doubles_up_to_the_bound)
{
	struct aggnet_sender *s = &self->s;
	u32 want = aggnet_rtt_rto(&s->rtt);
	u32 seq, n;

	open_wide(s);
	add(s, 30, &self->now, 0);
	for (n = 0; n < 100; n++) {
		ASSERT_EQ(want, aggnet_sender_rto_left(s, self->now));
		self->now += want;
		ASSERT_TRUE(aggnet_sender_expired(s, self->now));
		ASSERT_EQ(29, s->flight);
		seq = s->una;
		ASSERT_TRUE(aggnet_sender_find_lost(s, &seq));
		ASSERT_EQ(self->first, seq);
		aggnet_sender_resent(s, seq, self->now);
		ASSERT_FALSE(aggnet_sender_find_lost(s, &seq));
		ASSERT_EQ(30, s->flight);
		want = min(2 * want, AGGNET_RTO_MAX_US);
	}
	EXPECT_EQ(AGGNET_RTO_MAX_US, want);
	EXPECT_EQ(WINDOW / 2, s->cwnd.cwnd);	/* all in one flight */
}

TEST_HARNESS_MAIN
