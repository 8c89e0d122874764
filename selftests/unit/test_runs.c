// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the k-way merge: refusals, which runs may begin, and what
 * leaves. The file is included because the test reads its order of keys.
 */
#include "../../kmod/core/runs.c"

#include "list.h"

/* --- order ------------------------------------------------------------------- */

TEST(key_compare__bytes_then_lengths)
{
	u8 a[AGGNET_RECORD_MAX], b[AGGNET_RECORD_MAX];
	u32 i, same = 0;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (i = 0; i < 200000; i++) {
		random_key(a, 400);
		random_key(b, 400);
		if (below(2))
			memcpy(b + 2, a + 2, a[0]);
		ASSERT_EQ(order(a, b) < 0, record_before(a, b));
		same += !order(a, b);
	}
	EXPECT_NE(0, same);
}

static u32 put(u8 *buf, const char *key)
{
	buf[0] = strlen(key);
	buf[1] = 1;
	memcpy(buf + 2, key, buf[0]);
	buf[2 + buf[0]] = 1;
	return record_bytes(buf);
}

static int store(struct aggnet_runs *r, u32 run, u32 seq, const char *keys)
{
	char word[64];
	u8 buf[PAYLOAD];
	u32 len = 0, n = 0;
	int used;

	for (; sscanf(keys, " %63s%n", word, &used) == 1; keys += used, n++)
		len += put(buf + len, word);
	return aggnet_runs_store(r, run, FIRST + seq, buf, len, n);
}

/* Records out of order are refused and leave no trace. */
TEST(store__order)
{
	struct list out = { 0 };
	struct aggnet_runs r;
	u64 units = 0;

	start(&r, sum, 2, 8);
	EXPECT_EQ(0, aggnet_runs_begin(&r, 4, FIRST, false));
	EXPECT_EQ(1, aggnet_runs_begin(&r, 4, FIRST, false));
	aggnet_runs_close(&r);
	EXPECT_EQ(-EILSEQ, store(&r, 0, 0, "b a"));
	EXPECT_EQ(-EILSEQ, store(&r, 0, 0, "a b ab"));
	EXPECT_EQ(-EILSEQ, store(&r, 0, 0, "aaaaaaaab aaaaaaaaa"));
	EXPECT_EQ(0, aggnet_runs_held(&r));
	EXPECT_EQ(0, store(&r, 0, 1, "d e e"));
	EXPECT_EQ(-EILSEQ, store(&r, 0, 0, "d da"));
	EXPECT_EQ(-EILSEQ, store(&r, 0, 2, "dz"));
	EXPECT_EQ(-EILSEQ, store(&r, 0, 2, "d e"));
	EXPECT_EQ(0, store(&r, 0, 3, "a f"));	/* of 2 nothing is known yet */
	EXPECT_EQ(-EILSEQ, store(&r, 0, 2, "e f"));
	EXPECT_EQ(0, store(&r, 0, 0, "b c d"));
	EXPECT_EQ(3 + 3 + 2, aggnet_runs_held(&r));

	/*
	 * The other run has reached e, so all records of this one are merged.
	 */
	EXPECT_EQ(0, store(&r, 1, 0, "a e"));
	take_all(&r, &out, &units);
	EXPECT_EQ(-EILSEQ, store(&r, 1, 1, "dz"));
	EXPECT_EQ(0, store(&r, 1, 1, "e"));
	aggnet_runs_finish(&r, 1);
	take_all(&r, &out, &units);
	EXPECT_EQ(4, out.n);
	EXPECT_EQ(5, units);
	EXPECT_EQ(-EILSEQ, store(&r, 0, 2, "d"));
	list_free(&out);
	aggnet_runs_free(&r);
	EXPECT_EQ(0, shim_alloc_live);
}

TEST(append__order)
{
	struct aggnet_runs r;
	u8 buf[64];

	start(&r, sum, 1, 2);
	EXPECT_EQ(0, aggnet_runs_begin(&r, 2, FIRST, true));
	EXPECT_EQ(0, aggnet_runs_append(&r, 0, buf, put(buf, "b")));
	EXPECT_EQ(-EILSEQ, aggnet_runs_append(&r, 0, buf, put(buf, "a")));
	EXPECT_EQ(0, aggnet_runs_append(&r, 0, buf, put(buf, "b")));
	aggnet_runs_close(&r);
	/* A record is merged, but not emitted. */
	EXPECT_EQ(1, aggnet_runs_held(&r));
	EXPECT_FALSE(r.ready);
	EXPECT_EQ(-EILSEQ, aggnet_runs_append(&r, 0, buf, put(buf, "aa")));
	EXPECT_EQ(0, aggnet_runs_append(&r, 0, buf, put(buf, "ba")));
	EXPECT_TRUE(r.ready);
	aggnet_runs_free(&r);
}

/* A packet takes as many records as fit, even if they arrive one by one. */
TEST(append__fills_packets)
{
	struct aggnet_runs r;
	u8 buf[64];
	u32 n;

	start(&r, sum, 1, 2);
	aggnet_runs_begin(&r, 2, FIRST, true);
	for (n = 0; aggnet_runs_space(&r, 0); n++)
		ASSERT_EQ(0, aggnet_runs_append(&r, 0, buf, put(buf, "key")));
	EXPECT_LE(2 * (PAYLOAD - AGGNET_RECORD_MAX) / 6, n);
	aggnet_runs_free(&r);
}

/* A record that does not fit into the packet begins the next one. */
TEST(append__ends_a_packet)
{
	struct aggnet_runs r;
	u8 buf[PAYLOAD] = { 0 };
	u32 len = 0, more;

	for (more = 0; more < 16; more++) {
		start(&r, sum, 1, 4);
		aggnet_runs_begin(&r, 4, FIRST, true);
		for (len = 0; len + 16 <= PAYLOAD - 16; len += 16)
			memcpy(buf + len, "\7\7key key       ", 16);
		ASSERT_EQ(0, aggnet_runs_append(&r, 0, buf, len));
		/* As many bytes as the packet has, and then a few more. */
		buf[0] = PAYLOAD - len - 2 - 7 + more;
		ASSERT_EQ(0, aggnet_runs_append(&r, 0, buf, 2 + 7 + buf[0]));
		EXPECT_EQ(FIRST + 1 + !!more, r.run[0].tail);
		aggnet_runs_free(&r);
	}
}

/*
 * --- which runs may begin, and when merging starts
 * ------------------------------
 */

TEST(begin__limits)
{
	struct aggnet_runs r;

	start(&r, sum, 3, 8);
	EXPECT_EQ(0, aggnet_runs_begin(&r, 4, FIRST, false));
	EXPECT_EQ(-ENOSPC, aggnet_runs_begin(&r, 8, FIRST, false));
	EXPECT_EQ(1, aggnet_runs_begin(&r, 2, FIRST, false));
	EXPECT_EQ(FIRST + 2, aggnet_runs_limit(&r, 1));
	EXPECT_EQ(2, aggnet_runs_begin(&r, 2, FIRST, false));
	EXPECT_EQ(-ENOSPC, aggnet_runs_begin(&r, 2, FIRST, false));
	aggnet_runs_free(&r);
	start(&r, sum, 3, 8);
	aggnet_runs_close(&r);
	EXPECT_EQ(-ENOSPC, aggnet_runs_begin(&r, 2, FIRST, false));
	aggnet_runs_free(&r);
}

TEST(weigh__once)
{
	struct aggnet_runs r;

	start(&r, sum, 2, 4);
	aggnet_runs_begin(&r, 2, FIRST, false);
	aggnet_runs_begin(&r, 2, FIRST, false);
	EXPECT_EQ(2, r.unknown);
	EXPECT_TRUE(aggnet_runs_weigh(&r, 1, 5));
	EXPECT_TRUE(aggnet_runs_weigh(&r, 1, 5));
	EXPECT_FALSE(aggnet_runs_weigh(&r, 1, 4));
	EXPECT_EQ(5, r.weight);
	/* All weights together must fit into 16 bits. */
	EXPECT_FALSE(aggnet_runs_weigh(&r, 0, 65531));
	EXPECT_FALSE(aggnet_runs_weigh(&r, 0, ~0u));
	EXPECT_EQ(1, r.unknown);
	EXPECT_TRUE(aggnet_runs_weigh(&r, 0, 65530));
	EXPECT_EQ(65535, r.weight);
	EXPECT_EQ(0, r.unknown);
	aggnet_runs_free(&r);
}

/*
 * Nothing is merged while another run may begin, even if all known ones have
 * ended.
 */
TEST(close__is_what_starts_it)
{
	struct list out = { 0 };
	struct aggnet_runs r;
	u64 units = 0;

	start(&r, sum, 2, 4);
	aggnet_runs_begin(&r, 2, FIRST, false);
	EXPECT_EQ(0, store(&r, 0, 0, "a b"));
	aggnet_runs_finish(&r, 0);
	EXPECT_FALSE(r.ready);
	aggnet_runs_begin(&r, 2, FIRST, false);
	EXPECT_EQ(0, store(&r, 1, 0, "a c"));
	aggnet_runs_close(&r);
	take_all(&r, &out, &units);
	EXPECT_EQ(2, out.n);
	aggnet_runs_finish(&r, 1);
	take_all(&r, &out, &units);
	EXPECT_EQ(3, out.n);
	EXPECT_EQ(0, aggnet_runs_held(&r));
	list_free(&out);
	aggnet_runs_free(&r);
}

/* Fill a writer's run with records of a key. Return: how many */
static u32 fill(struct aggnet_runs *r, const char *key)
{
	u8 buf[PAYLOAD];
	u32 len, i, n;

	aggnet_runs_begin(r, AGGNET_RUN_MAX, FIRST, true);
	for (i = n = 0; i < AGGNET_RUN_MAX; i++) {
		for (len = 0; len + 4 <= PAYLOAD; n++)
			len += put(buf + len, key);
		if (aggnet_runs_append(r, r->n - 1, buf, len))
			abort();
	}
	return n;
}

/* Very many records of a key merge into one. */
TEST(runs__many_of_a_key)
{
	struct list out = { 0 };
	struct aggnet_runs r;
	u64 units = 0;
	u32 n;

	start(&r, sum, 1, AGGNET_RUN_MAX);
	n = fill(&r, "k");
	EXPECT_EQ(0, aggnet_runs_space(&r, 0));
	EXPECT_EQ(n, aggnet_runs_held(&r));
	aggnet_runs_close(&r);
	EXPECT_EQ(1, aggnet_runs_held(&r));
	EXPECT_TRUE(aggnet_runs_slack(&r, 0));
	EXPECT_FALSE(r.ready);
	aggnet_runs_finish(&r, 0);
	take_all(&r, &out, &units);
	EXPECT_EQ(n, units);
	EXPECT_EQ(1, out.n);
	list_free(&out);
	aggnet_runs_free(&r);
}

/* A budget ends merging after a few records; the next call continues. */
TEST(runs__budget)
{
	struct list out = { 0 };
	/* Every merge costs at least 200 instructions. */
	const u32 most = AGGNET_COST_MAX / 200;
	u32 n, held, turns = 0;
	struct aggnet_runs r;
	u64 units = 0;

	start(&r, sum, 2, 2 * AGGNET_RUN_MAX);
	r.budget = AGGNET_COST_MAX;
	n = fill(&r, "k");
	n += fill(&r, "l");
	aggnet_runs_finish(&r, 0);
	aggnet_runs_finish(&r, 1);
	aggnet_runs_close(&r);
	for (; r.stopped; turns++) {
		held = aggnet_runs_held(&r);
		EXPECT_FALSE(r.ready);
		r.budget = AGGNET_COST_MAX;
		aggnet_runs_advance(&r);
		EXPECT_LT(aggnet_runs_held(&r), held);
		EXPECT_LE(held - aggnet_runs_held(&r), most);
	}
	EXPECT_LE(n / most, turns);
	EXPECT_TRUE(r.ready);
	take_all(&r, &out, &units);
	EXPECT_EQ(2, out.n);
	EXPECT_EQ(n, units);
	EXPECT_EQ(0, aggnet_runs_held(&r));
	list_free(&out);
	aggnet_runs_free(&r);
}

TEST_HARNESS_MAIN
