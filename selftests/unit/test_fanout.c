// SPDX-License-Identifier: GPL-2.0
/* The window of a stream at one node, against a plain list, at all places where
 * sequences wrap; and the rules of its credit and of its end.
 */
#include <asm/byteorder.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include "core/fanout.h"

#include "../uapi/harness.h"

#define SEED	0x66616e6f
#define SLOTS	32u
#define FIRST	AGGNET_SEQ_FIRST

TEST(fit__a_power_of_two)
{
	EXPECT_EQ(0, aggnet_fanout_fit(31 * 1400, 1400));
	EXPECT_EQ(32, aggnet_fanout_fit(32 * 1400, 1400));
	EXPECT_EQ(32, aggnet_fanout_fit(63 * 1400, 1400));
	EXPECT_EQ(64, aggnet_fanout_fit(64 * 1400, 1400));
	EXPECT_EQ(4096, aggnet_fanout_fit(~0ull, 1400));
}

/* Packets come in any order; those that all have leave the ring. */
TEST(walk__against_a_list)
{
	struct aggnet_fanout f;
	bool has[4000] = {};
	u32 i, steps, seq, cum, credit, granted = 0;
	u32 first = 0;

	shim_random_seed(SEED);
	aggnet_fanout_init(&f, SLOTS);
	for (steps = 0; steps < 30000 && first < 3900; steps++) {
		for (cum = first; has[cum]; cum++)
			;
		credit = first + SLOTS;
		ASSERT_EQ(cum, aggnet_fanout_cum(&f) - FIRST);
		ASSERT_EQ(credit, aggnet_fanout_credit(&f) - FIRST);
		ASSERT_LE(granted, credit);
		granted = credit;
		seq = first + get_random_u32() % (SLOTS + 8) - 4;
		if (seq > credit + 8)
			continue;
		if (seq < first || has[seq]) {
			ASSERT_EQ(AGGNET_SEQ_DUP,
				  aggnet_fanout_test(&f, FIRST + seq));
		} else if (seq >= credit) {
			ASSERT_EQ(AGGNET_SEQ_OUTSIDE,
				  aggnet_fanout_test(&f, FIRST + seq));
		} else {
			ASSERT_EQ(AGGNET_SEQ_NEW,
				  aggnet_fanout_test(&f, FIRST + seq));
			/* No slot holds two packets. */
			for (i = first; i < credit; i++)
				ASSERT_TRUE(i == seq || !has[i] ||
					    aggnet_fanout_slot(&f, FIRST + i) !=
					    aggnet_fanout_slot(&f, FIRST + seq));
			aggnet_fanout_take(&f, FIRST + seq);
			has[seq] = true;
		}
		if (get_random_u32() % 4)
			continue;
		for (cum = first; has[cum]; cum++)
			;
		first += get_random_u32() % (cum - first + 1);
		aggnet_fanout_slide(&f, FIRST + first);
	}
	EXPECT_LE(1000, first);
}

/* The root adds packets in order, as long as there are slots. */
TEST(room__of_the_root)
{
	struct aggnet_fanout f;
	u32 i;

	aggnet_fanout_init(&f, SLOTS);
	for (i = 0; i < SLOTS; i++) {
		EXPECT_EQ(SLOTS - i, aggnet_fanout_room(&f));
		aggnet_fanout_take(&f, FIRST + i);
	}
	EXPECT_EQ(0, aggnet_fanout_room(&f));
	aggnet_fanout_slide(&f, FIRST + 3);
	EXPECT_EQ(3, aggnet_fanout_room(&f));
	/* It does not go back. */
	aggnet_fanout_slide(&f, FIRST);
	EXPECT_EQ(3, aggnet_fanout_room(&f));
	EXPECT_TRUE(aggnet_fanout_end(&f, FIRST + SLOTS));
	EXPECT_EQ(0, aggnet_fanout_room(&f));
}

/* An ACK covers a window of packets, however long the ring is. */
TEST(credit__is_a_window_at_most)
{
	struct aggnet_fanout f;

	aggnet_fanout_init(&f, 1024);
	EXPECT_EQ(FIRST + AGGNET_WINDOW - 1, aggnet_fanout_credit(&f));
	aggnet_fanout_take(&f, FIRST);
	EXPECT_EQ(FIRST + AGGNET_WINDOW, aggnet_fanout_credit(&f));
}

TEST(owes__a_parent_that_may_wait)
{
	struct aggnet_fanout f;
	u32 i;

	aggnet_fanout_init(&f, SLOTS);
	EXPECT_TRUE(aggnet_fanout_owes(&f));
	f.granted = aggnet_fanout_credit(&f);
	EXPECT_FALSE(aggnet_fanout_owes(&f));
	for (i = 0; i < SLOTS / 2; i++)
		aggnet_fanout_take(&f, FIRST + i);
	aggnet_fanout_slide(&f, FIRST + SLOTS / 8 - 1);
	EXPECT_FALSE(aggnet_fanout_owes(&f));
	aggnet_fanout_slide(&f, FIRST + SLOTS / 8);
	EXPECT_TRUE(aggnet_fanout_owes(&f));
	f.granted = aggnet_fanout_credit(&f);
	for (; FIRST + i != f.granted; i++)
		aggnet_fanout_take(&f, FIRST + i);
	EXPECT_FALSE(aggnet_fanout_owes(&f));
	aggnet_fanout_slide(&f, f.first + 1);
	EXPECT_TRUE(aggnet_fanout_owes(&f));
}

/* A credit is for a window at most, which may be less than an eighth of the ring. */
TEST(owes__by_a_ring_longer_than_a_window)
{
	struct aggnet_fanout f;
	u32 i;

	aggnet_fanout_init(&f, 4096);
	f.granted = aggnet_fanout_credit(&f);
	for (i = 0; i < AGGNET_WINDOW / 2 - 2; i++)
		aggnet_fanout_take(&f, FIRST + i);
	EXPECT_FALSE(aggnet_fanout_owes(&f));
	aggnet_fanout_take(&f, FIRST + i);
	EXPECT_TRUE(aggnet_fanout_owes(&f));
}

TEST(next_round__has_credit_for_the_shortest_ring)
{
	struct aggnet_fanout f;

	aggnet_fanout_init(&f, SLOTS);
	aggnet_fanout_take(&f, FIRST);
	aggnet_fanout_slide(&f, FIRST + 1);
	EXPECT_TRUE(aggnet_fanout_end(&f, FIRST + 1));
	aggnet_fanout_next_round(&f);
	EXPECT_FALSE(f.ended);
	EXPECT_EQ(FIRST + 1 + AGGNET_FANOUT_MIN, f.granted);
	EXPECT_EQ(AGGNET_SEQ_NEW, aggnet_fanout_test(&f, f.granted - 1));
	f.granted += 7;
	EXPECT_TRUE(aggnet_fanout_end(&f, FIRST + 1));
	aggnet_fanout_next_round(&f);
	EXPECT_EQ(FIRST + 8 + AGGNET_FANOUT_MIN, f.granted);
}

TEST(end__is_told_once)
{
	struct aggnet_fanout f;

	aggnet_fanout_init(&f, SLOTS);
	EXPECT_FALSE(aggnet_fanout_is_whole(&f));
	aggnet_fanout_take(&f, FIRST + 1);
	EXPECT_FALSE(aggnet_fanout_end(&f, FIRST + 1));
	EXPECT_FALSE(aggnet_fanout_end(&f, FIRST - 1));
	EXPECT_TRUE(aggnet_fanout_end(&f, FIRST + 2));
	EXPECT_TRUE(aggnet_fanout_end(&f, FIRST + 2));
	EXPECT_FALSE(aggnet_fanout_end(&f, FIRST + 3));
	EXPECT_EQ(AGGNET_SEQ_OUTSIDE, aggnet_fanout_test(&f, FIRST + 2));
	EXPECT_FALSE(aggnet_fanout_is_whole(&f));
	aggnet_fanout_take(&f, FIRST);
	EXPECT_TRUE(aggnet_fanout_is_whole(&f));
}

/* Sequences that are used up are not used again. */
TEST(sequences__have_an_end)
{
	struct aggnet_fanout f;

	aggnet_fanout_init(&f, SLOTS);
	aggnet_rxwin_init(&f.win, AGGNET_SEQ_END - 1);
	f.first = AGGNET_SEQ_END - 1;
	f.top = f.first;
	EXPECT_EQ(1, aggnet_fanout_room(&f));
	EXPECT_EQ(AGGNET_SEQ_NEW, aggnet_fanout_test(&f, AGGNET_SEQ_END - 1));
	EXPECT_EQ(AGGNET_SEQ_OUTSIDE, aggnet_fanout_test(&f, AGGNET_SEQ_END));
	aggnet_fanout_take(&f, AGGNET_SEQ_END - 1);
	EXPECT_EQ(0, aggnet_fanout_room(&f));
	EXPECT_FALSE(aggnet_fanout_end(&f, AGGNET_SEQ_END + 1));
	EXPECT_TRUE(aggnet_fanout_end(&f, AGGNET_SEQ_END));
}

TEST_HARNESS_MAIN
