// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the window: sequences across the wrap, each bit of SACK, and
 * RTT and congestion window within their bounds for any input.
 */
#include <asm/byteorder.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include "core/window.h"

#include "../uapi/harness.h"

#define SEED	0x77696e64
#define WINDOW	AGGNET_WINDOW

/* The protocol's start, and numbers at which 32 bits or their sign wrap. */
static const u32 starts[] = {
	AGGNET_SEQ_FIRST, 0, 1, 0xffffffff, 0xffffff00, 0xffffff01, 0x7fffffff,
	0x80000000, 0x7fffff80,
};

TEST(before__is_serial)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		u32 s = starts[i];

		EXPECT_FALSE(aggnet_before(s, s));
		EXPECT_TRUE(aggnet_before(s, s + 1));
		EXPECT_FALSE(aggnet_before(s + 1, s));
		EXPECT_TRUE(aggnet_before(s, s + 0x7fffffff));
		EXPECT_FALSE(aggnet_before(s + 0x7fffffff, s));
	}
	EXPECT_TRUE(aggnet_before(AGGNET_SEQ_FIRST + 63, 0));
	EXPECT_EQ(0, AGGNET_SEQ_FIRST + 64);
}

TEST(epoch_cmp__instance_before_attempt)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		u32 s = starts[i];

		EXPECT_EQ(0, aggnet_epoch_cmp(s, 7, s, 7));
		EXPECT_EQ(-1, aggnet_epoch_cmp(s, 9, s + 1, 3));
		EXPECT_EQ(1, aggnet_epoch_cmp(s + 1, 3, s, 9));
		EXPECT_EQ(-1, aggnet_epoch_cmp(5, s, 5, s + 1));
		EXPECT_EQ(1, aggnet_epoch_cmp(5, s + 1, 5, s));
		EXPECT_EQ(-1, aggnet_epoch_cmp(s, 0, s + 0x7fffffff, 0));
		EXPECT_EQ(1, aggnet_epoch_cmp(s + 0x7fffffff, 0, s, 0));
	}
}

TEST(rxwin_test__edges_of_the_window)
{
	struct aggnet_rxwin w;
	size_t i;
	u32 d;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		u32 s = starts[i];

		aggnet_rxwin_init(&w, s);
		EXPECT_EQ(s, w.cum);
		for (d = 0; d < WINDOW; d++)
			EXPECT_EQ(AGGNET_SEQ_NEW, aggnet_rxwin_test(&w, s + d));
		EXPECT_EQ(AGGNET_SEQ_OUTSIDE, aggnet_rxwin_test(&w, s + WINDOW));
		EXPECT_EQ(AGGNET_SEQ_OUTSIDE,
			  aggnet_rxwin_test(&w, s + 0x7fffffff));
		EXPECT_EQ(AGGNET_SEQ_DUP, aggnet_rxwin_test(&w, s - 1));
		EXPECT_EQ(AGGNET_SEQ_DUP, aggnet_rxwin_test(&w, s - WINDOW));
		EXPECT_EQ(AGGNET_SEQ_DUP, aggnet_rxwin_test(&w, s - 0x7fffffff));
	}
}

TEST(rxwin_mark__in_order_through_the_wrap)
{
	struct aggnet_rxwin w;
	u32 n;

	aggnet_rxwin_init(&w, AGGNET_SEQ_FIRST);
	for (n = 0; n < 1000; n++) {
		u32 seq = AGGNET_SEQ_FIRST + n;

		ASSERT_EQ(AGGNET_SEQ_NEW, aggnet_rxwin_test(&w, seq));
		aggnet_rxwin_mark(&w, seq);
		ASSERT_EQ(AGGNET_SEQ_DUP, aggnet_rxwin_test(&w, seq));
		ASSERT_EQ(seq + 1, w.cum);
		ASSERT_EQ(0, w.bits[0] | w.bits[1] | w.bits[2] | w.bits[3]);
	}
}

/*
 * One hole at each position of a full window: once it is filled the window
 * moves on.
 */
TEST(rxwin_mark__each_hole)
{
	struct aggnet_rxwin w;
	u32 hole, d;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		for (hole = 0; hole < WINDOW; hole++) {
			u32 s = starts[i];

			aggnet_rxwin_init(&w, s);
			for (d = WINDOW; d-- > 0;)
				if (d != hole)
					aggnet_rxwin_mark(&w, s + d);
			ASSERT_EQ(s + hole, w.cum);
			ASSERT_EQ(AGGNET_SEQ_NEW, aggnet_rxwin_test(&w, s + hole));
			for (d = hole + 1; d < WINDOW; d++)
				ASSERT_EQ(AGGNET_SEQ_DUP,
					  aggnet_rxwin_test(&w, s + d));
			for (d = WINDOW; d < WINDOW + hole; d++)
				ASSERT_EQ(AGGNET_SEQ_NEW,
					  aggnet_rxwin_test(&w, s + d));
			ASSERT_EQ(AGGNET_SEQ_OUTSIDE,
				  aggnet_rxwin_test(&w, s + hole + WINDOW));
			aggnet_rxwin_mark(&w, s + hole);
			ASSERT_EQ(s + WINDOW, w.cum);
			ASSERT_EQ(AGGNET_SEQ_NEW,
				  aggnet_rxwin_test(&w, s + WINDOW));
		}
}

/* Compared with a list of all marked sequences. */
TEST(rxwin_mark__random_against_a_plain_list)
{
	enum { LAST = 4000 };
	struct aggnet_rxwin w;
	struct aggnet_ack ack;
	bool seen[LAST + 1024];
	u32 cum, d, n;
	size_t i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		u32 s = starts[i] - 1900;

		memset(seen, 0, sizeof(seen));
		aggnet_rxwin_init(&w, s);
		for (cum = 0; cum < LAST;) {
			n = cum + get_random_u32() % (get_random_u32() % 300 + 1);
			if (n >= cum + WINDOW) {
				ASSERT_EQ(AGGNET_SEQ_OUTSIDE,
					  aggnet_rxwin_test(&w, s + n));
				continue;
			}
			ASSERT_EQ(seen[n] ? AGGNET_SEQ_DUP : AGGNET_SEQ_NEW,
				  aggnet_rxwin_test(&w, s + n));
			if (seen[n])
				continue;
			aggnet_rxwin_mark(&w, s + n);
			seen[n] = true;
			while (seen[cum])
				cum++;
			ASSERT_EQ(s + cum, w.cum);
			ASSERT_EQ(0, w.bits[0] & 1);
			aggnet_rxwin_ack(&w, &ack);
			for (d = cum < 300 ? 0 : cum - 300; d < cum + 300; d++)
				ASSERT_EQ(seen[d], aggnet_ack_covers(&ack, s + d));
		}
	}
}

/* Bit b of word w is cum + 1 + 64 w + b, in big endian words. */
TEST(rxwin_ack__layout_of_each_bit)
{
	struct aggnet_rxwin w;
	struct aggnet_ack ack;
	size_t i;
	u32 d;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		for (d = 1; d < WINDOW; d++) {
			const u8 *sack = (u8 *)ack.sack;
			u32 bit = d - 1;
			int set = 0, j;

			aggnet_rxwin_init(&w, starts[i]);
			aggnet_rxwin_mark(&w, starts[i] + d);
			memset(&ack, 0xff, sizeof(ack));
			aggnet_rxwin_ack(&w, &ack);
			ASSERT_EQ(starts[i], be32_to_cpu(ack.cum));
			ASSERT_EQ(0, ack.credit | ack.below | ack.done);
			for (j = 0; j < WINDOW; j++)
				set += sack[j / 8] >> j % 8 & 1;
			ASSERT_EQ(1, set);
			ASSERT_EQ(1, sack[bit / 64 * 8 + 7 - bit % 64 / 8] >>
				  bit % 8 & 1);
		}
}

TEST(ack_covers__each_bit_and_the_edges)
{
	struct aggnet_ack ack;
	u32 bit, d;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		for (bit = 0; bit < WINDOW; bit++) {
			u32 cum = starts[i];

			memset(&ack, 0, sizeof(ack));
			ack.cum = cpu_to_be32(cum);
			ack.sack[bit / 64] = cpu_to_be64(1ULL << bit % 64);
			for (d = 0; d < 2 * WINDOW; d++)
				ASSERT_EQ(d == bit + 1,
					  aggnet_ack_covers(&ack, cum + d));
			ASSERT_TRUE(aggnet_ack_covers(&ack, cum - 1));
			ASSERT_TRUE(aggnet_ack_covers(&ack, cum - 0x7fffffff));
			ASSERT_FALSE(aggnet_ack_covers(&ack, cum + 0x7fffffff));
		}
}

TEST(rtt_sample__rfc6298_by_hand)
{
	struct aggnet_rtt r;

	aggnet_rtt_init(&r);
	EXPECT_EQ(100000, aggnet_rtt_rto(&r));
	aggnet_rtt_sample(&r, 8000);
	EXPECT_EQ(8000, r.srtt >> 3);
	EXPECT_EQ(4000, r.rttvar >> 2);
	EXPECT_EQ(24000, aggnet_rtt_rto(&r));
	/* var = 3/4 * 4000 + 1/4 * 8000, srtt = 7/8 * 8000 + 1/8 * 16000 */
	aggnet_rtt_sample(&r, 16000);
	EXPECT_EQ(5000, r.rttvar >> 2);
	EXPECT_EQ(9000, r.srtt >> 3);
	EXPECT_EQ(29000, aggnet_rtt_rto(&r));
}

TEST(rtt_sample__converges_to_a_constant)
{
	struct aggnet_rtt r;
	int i;

	aggnet_rtt_init(&r);
	aggnet_rtt_sample(&r, 1000000);
	for (i = 0; i < 200; i++)
		aggnet_rtt_sample(&r, 40000);
	EXPECT_GE(41000, r.srtt >> 3);
	EXPECT_LE(40000, r.srtt >> 3);
	EXPECT_LE(80000, aggnet_rtt_rto(&r));
	EXPECT_GE(85000, aggnet_rtt_rto(&r));
}

TEST(rtt_rto__within_bounds_after_anything)
{
	static const u32 odd[] = { 0, 1, 2, 999, 5000, 2000000, 0x7fffffff,
				   0xffffffff };
	struct aggnet_rtt r;
	int i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	aggnet_rtt_init(&r);
	for (i = 0; i < 100000; i++) {
		u32 pick = get_random_u32();
		u32 us = pick & 1 ? odd[pick / 2 % ARRAY_SIZE(odd)] :
				    get_random_u32() >> pick / 2 % 32;

		if (pick >> 16 & 1)
			aggnet_rtt_sample(&r, us);
		else
			aggnet_rtt_backoff(&r);
		if ((pick >> 17) % 64 == 0)
			aggnet_rtt_init(&r);
		ASSERT_LE(AGGNET_RTO_MIN_US, aggnet_rtt_rto(&r));
		ASSERT_GE(AGGNET_RTO_MAX_US, aggnet_rtt_rto(&r));
		/*
		 * There is no overflow: the average does not exceed the largest
		 * sample.
		 */
		ASSERT_GE(60000000, r.srtt >> 3);
		ASSERT_GE(60000000, r.rttvar >> 2);
	}
}

TEST(rtt_rto__bounds_are_reached)
{
	struct aggnet_rtt r;
	int i;

	aggnet_rtt_init(&r);
	for (i = 0; i < 100; i++)
		aggnet_rtt_sample(&r, 0);
	EXPECT_EQ(AGGNET_RTO_MIN_US, aggnet_rtt_rto(&r));
	for (i = 0; i < 100; i++)
		aggnet_rtt_sample(&r, 0xffffffff);
	EXPECT_EQ(AGGNET_RTO_MAX_US, aggnet_rtt_rto(&r));
}

TEST(rtt_backoff__doubles_up_to_the_bound)
{
	struct aggnet_rtt r;
	u32 want = AGGNET_RTO_MIN_US;
	int i;

	aggnet_rtt_init(&r);
	for (i = 0; i < 100; i++)
		aggnet_rtt_sample(&r, 1);
	for (i = 0; i < 1000; i++) {
		EXPECT_EQ(want, aggnet_rtt_rto(&r));
		want = min(2 * want, AGGNET_RTO_MAX_US);
		aggnet_rtt_backoff(&r);
	}
	EXPECT_EQ(AGGNET_RTO_MAX_US, aggnet_rtt_rto(&r));

	/* The next sample ends it. */
	aggnet_rtt_sample(&r, 1);
	EXPECT_EQ(AGGNET_RTO_MIN_US, aggnet_rtt_rto(&r));
}

TEST(rtt_backoff__before_a_sample)
{
	struct aggnet_rtt r;

	aggnet_rtt_init(&r);
	aggnet_rtt_backoff(&r);
	EXPECT_EQ(200000, aggnet_rtt_rto(&r));
	aggnet_rtt_backoff(&r);
	EXPECT_EQ(400000, aggnet_rtt_rto(&r));
}

TEST(rtt_reorder__a_quarter_of_the_rtt)
{
	struct aggnet_rtt r;

	aggnet_rtt_init(&r);
	EXPECT_EQ(1000, aggnet_rtt_reorder(&r));
	aggnet_rtt_sample(&r, 100);
	EXPECT_EQ(1000, aggnet_rtt_reorder(&r));
	aggnet_rtt_init(&r);
	aggnet_rtt_sample(&r, 80000);
	EXPECT_EQ(20000, aggnet_rtt_reorder(&r));
}

TEST(cwnd_init__within_every_maximum)
{
	struct aggnet_cwnd c;
	u32 max;

	for (max = 0; max < 600; max++) {
		aggnet_cwnd_init(&c, max, AGGNET_SEQ_FIRST);
		EXPECT_LE(2, c.cwnd);
		EXPECT_GE(10, c.cwnd);
		EXPECT_GE(c.max, c.cwnd);
		EXPECT_EQ(max < 2 ? 2 : max > WINDOW ? WINDOW : max, c.max);
	}
}

TEST(cwnd_acked__slow_start_doubles_then_one_a_flight)
{
	struct aggnet_cwnd c;
	u32 flight;

	aggnet_cwnd_init(&c, 256, 0);
	for (flight = 10; flight < 256; flight = min(2 * flight, 256u)) {
		EXPECT_EQ(flight, c.cwnd);
		aggnet_cwnd_acked(&c, flight);
	}
	EXPECT_EQ(256, c.cwnd);

	aggnet_cwnd_lost(&c, 1, 256);
	EXPECT_EQ(128, c.cwnd);
	for (flight = 128; flight < 200; flight++) {
		EXPECT_EQ(flight, c.cwnd);
		aggnet_cwnd_acked(&c, flight - 1);
		EXPECT_EQ(flight, c.cwnd);
		aggnet_cwnd_acked(&c, 1);
	}
}

/*
 * A packet that grows the window in slow start does not count for the next
 * step.
 */
TEST(cwnd_acked__each_packet_once)
{
	struct aggnet_cwnd c;

	aggnet_cwnd_init(&c, 256, 0);
	c.ssthresh = 30;
	aggnet_cwnd_acked(&c, 20 + 29);
	EXPECT_EQ(30, c.cwnd);
	aggnet_cwnd_acked(&c, 1);
	EXPECT_EQ(31, c.cwnd);
}

/* Acknowledging one by one or all at once gives the same window. */
TEST(cwnd_acked__in_any_portions)
{
	struct aggnet_cwnd a, b;
	u32 i, n;

	for (n = 0; n < 3000; n += 7) {
		aggnet_cwnd_init(&a, 200, 0);
		a.ssthresh = 30;
		b = a;
		aggnet_cwnd_acked(&a, n);
		for (i = 0; i < n; i++)
			aggnet_cwnd_acked(&b, 1);
		ASSERT_EQ(a.cwnd, b.cwnd);
	}
}

TEST(cwnd_lost__halves_once_a_flight)
{
	struct aggnet_cwnd c;
	size_t i;
	u32 seq;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		u32 s = starts[i];

		aggnet_cwnd_init(&c, 256, s);
		aggnet_cwnd_acked(&c, 54);
		ASSERT_EQ(64, c.cwnd);
		/*
		 * All of 64 packets in flight are lost: the window is halved
		 * once.
		 */
		for (seq = s; seq != s + 64; seq++) {
			aggnet_cwnd_lost(&c, seq, s + 64);
			ASSERT_EQ(32, c.cwnd);
		}
		/* Packets from here on are the next flight. */
		aggnet_cwnd_lost(&c, s + 64, s + 96);
		EXPECT_EQ(16, c.cwnd);
		aggnet_cwnd_lost(&c, s + 95, s + 96);
		EXPECT_EQ(16, c.cwnd);
		aggnet_cwnd_lost(&c, s + 96, s + 97);
		EXPECT_EQ(8, c.cwnd);
	}
}

TEST(cwnd_lost__growth_starts_over)
{
	struct aggnet_cwnd c;

	aggnet_cwnd_init(&c, 256, 0);
	c.ssthresh = 10;
	aggnet_cwnd_acked(&c, 9);
	aggnet_cwnd_lost(&c, 20, 30);
	ASSERT_EQ(5, c.cwnd);
	aggnet_cwnd_acked(&c, 4);
	EXPECT_EQ(5, c.cwnd);
	aggnet_cwnd_acked(&c, 1);
	EXPECT_EQ(6, c.cwnd);
}

TEST(cwnd_lost__the_first_packet_counts)
{
	struct aggnet_cwnd c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(starts); i++) {
		aggnet_cwnd_init(&c, 256, starts[i]);
		aggnet_cwnd_lost(&c, starts[i], starts[i] + 1);
		EXPECT_EQ(5, c.cwnd);
	}
}

/*
 * After 2^31 packets without loss the last recovery point does not seem ahead.
 */
TEST(cwnd_lost__long_after_the_last)
{
	struct aggnet_cwnd c;
	u32 step;

	for (step = 1; step < 32; step++) {
		u32 seq = 1001 + (1u << step);

		aggnet_cwnd_init(&c, 256, 1000);
		aggnet_cwnd_lost(&c, 1000, 1001);
		ASSERT_EQ(5, c.cwnd);
		aggnet_cwnd_lost(&c, seq, seq + 8);
		EXPECT_EQ(2, c.cwnd);
	}
}

TEST(cwnd__any_history)
{
	struct aggnet_cwnd c;
	u32 before, nxt, max, i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (max = 2; max <= WINDOW; max += 2) {
		nxt = get_random_u32();
		aggnet_cwnd_init(&c, max, nxt);
		for (i = 0; i < 3000; i++) {
			nxt += get_random_u32() % 4;
			before = c.cwnd;
			if (get_random_u32() % 8) {
				aggnet_cwnd_acked(&c, get_random_u32() % 40);
				ASSERT_LE(before, c.cwnd);
			} else {
				u32 back = 1 + get_random_u32() % WINDOW;

				aggnet_cwnd_lost(&c, nxt - back, nxt);
				ASSERT_GE(before, c.cwnd);
				ASSERT_LE(before / 2, c.cwnd);
			}
			ASSERT_LE(2, c.cwnd);
			ASSERT_GE(max, c.cwnd);
		}
	}
}

TEST_HARNESS_MAIN
