// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the aggregation buffer's memory: no packet takes more than was
 * reserved for it, and all memory is freed. The file itself is included, for
 * the size of entries.
 */
#include <linux/bug.h>
#include <stdlib.h>

static unsigned int warned;
static bool may_warn;

#undef WARN_ON_ONCE
#define WARN_ON_ONCE(cond) ({						\
	bool warn_ = (cond);						\
									\
	if (warn_ && !may_warn)						\
		abort();						\
	warned += warn_;						\
	warn_; })

#include "../../kmod/core/aggtable.c"

#include "table_ref.h"

/*
 * The worst case for any records, by dynamic programming over bytes and
 * records: the farthest place in the log that they can reach from a full chunk.
 * A farther place is never a disadvantage for the next records, so only the
 * farthest one is kept. Of each number of words only the shortest key matters.
 */
TEST(table_need__no_packet_takes_more)
{
	enum { MAX = 9000 };
	static u32 far[MAX + 1], was[MAX + 1];
	u32 n, bytes, words, end, spare = 0;

	for (bytes = 0; bytes <= MAX; bytes++)
		far[bytes] = AGGNET_CHUNK;
	for (n = 1; n <= min(MAX / 8, RECORDS_MAX); n++) {
		memcpy(was, far, sizeof(was));
		for (words = 1; words <= 32; words++) {
			u32 size = sizeof(struct slot) + 8 * words;
			u32 least = 2 + 8 * (words - 1) + 1;

			for (bytes = least; bytes <= MAX; bytes++) {
				u32 at = was[bytes - least];
				u32 chunk = round_up(at, AGGNET_CHUNK);

				at = at + size <= chunk ? at + size : chunk + size;
				if (at > far[bytes])
					far[bytes] = at;
			}
		}
		/* Packets for which n is the most that they may carry. */
		end = n == RECORDS_MAX ? MAX : min(8 * n + 7, (u32)MAX);
		for (bytes = 8 * n; bytes <= end; bytes++) {
			u32 chunks = DIV_ROUND_UP(far[bytes], AGGNET_CHUNK) - 1;
			u32 bound = aggnet_table_chunks_per_packet(&plain,
								   bytes);

			ASSERT_EQ(n, aggnet_max_records(&plain, bytes));
			ASSERT_LE(chunks, bound)
				TH_LOG("payload %u", bytes);
			ASSERT_LE(bound, chunks + 1);
			spare += bound - chunks;
		}
	}
	TH_LOG("%u of %u sizes of payload are given a chunk too much", spare,
	       MAX);
}

/*
 * The same with a real table, filled from any state with exactly that reserve.
 */
TEST(table_need__holds_in_the_table)
{
	u8 key[AGGNET_KEY_MAX] = { 0 };
	struct aggnet_table t;
	u32 round, payload, n;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (round = 0; round < 400; round++) {
		struct packet p = { 0 };
		u32 serial = 0;
		u64 represents;
		u8 *buf;

		payload = AGGNET_PAYLOAD_MIN + get_random_u32() % 3000;
		table_start(&t, AGGNET_FN_SUM, LIMIT, 0);
		for (n = get_random_u32() % 4; n; n--) {
			while (t.free < aggnet_table_chunks_per_packet(&plain,
								       payload))
				aggnet_table_grow(&t, aggnet_chunk_alloc());
			random_packet(&p, payload, 3000);
			merge(&t, &p);
			packet_free(&p);
		}
		buf = malloc(PAYLOAD);
		aggnet_table_pack(&t, buf, PAYLOAD, get_random_u32() % 100, &n,
				  &represents);
		free(buf);
		while (t.free < aggnet_table_chunks_per_packet(&plain, payload))
			aggnet_table_grow(&t, aggnet_chunk_alloc());
		/* New keys of the costly lengths, some across two chunks. */
		while (p.n < aggnet_max_records(&plain, payload)) {
			u8 klen = get_random_u32() % 8 ? 1 + 8 : 249;

			put_unaligned_le32(++serial + 0x10000, key);
			if (p.len + 2 + klen > payload)
				break;
			packet_add(&p, key, klen, NULL, 0);
		}
		merge(&t, &p);
		packet_free(&p);
		aggnet_table_free(&t);
		ASSERT_EQ(0, shim_alloc_live);
	}
}

TEST(table_overhead__is_what_init_takes)
{
	struct aggnet_table t;
	u64 limit;

	for (limit = AGGNET_CHUNK; limit <= 64 << 20; limit = limit * 3 / 2) {
		table_start(&t, AGGNET_FN_SUM, limit, 0);
		EXPECT_EQ((t.bucket_mask + 1) * 4ul + (t.chunks_max + 1) * 12ul,
			  aggnet_table_overhead(limit));
		EXPECT_EQ(limit / AGGNET_CHUNK, t.chunks_max);
		EXPECT_GT(limit / 4, aggnet_table_overhead(limit));
		EXPECT_LE(limit / 40, (t.bucket_mask + 1ull) * 16 / 10);
		/* Write to both ends of the array. */
		t.bucket[t.bucket_mask] = 0;
		t.chunk[t.chunks_max] = NULL;
		t.next[t.chunks_max] = 0;
		aggnet_table_free(&t);
	}
}

TEST(table_init__each_allocation_may_fail)
{
	struct aggnet_table t = { 0 };
	u8 seed[sizeof(t.seed)] = { 0 };
	unsigned long nth;

	for (nth = 1; nth <= 3; nth++) {
		shim_alloc_fail = nth;
		EXPECT_EQ(-ENOMEM, aggnet_table_init(&t, &plain, LIMIT,
						     seed));
		EXPECT_EQ(0, shim_alloc_live);
	}
	shim_alloc_fail = 1;
	EXPECT_EQ(NULL, aggnet_chunk_alloc());
	EXPECT_EQ(0, shim_alloc_live);
}

TEST(table_free__with_entries_in_it)
{
	struct packet p = { 0 };
	struct aggnet_table t;

	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, LIMIT, 64);
	random_packet(&p, PAYLOAD, 1000);
	merge(&t, &p);
	EXPECT_NE(0, t.keys);
	aggnet_table_free(&t);
	EXPECT_EQ(0, shim_alloc_live);
	packet_free(&p);
}

TEST(table_grow__up_to_the_limit)
{
	struct aggnet_table t;
	void *chunk = aggnet_chunk_alloc();
	u32 i;

	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, 5 * AGGNET_CHUNK + 100, 0);
	for (i = 0; i < 5; i++)
		EXPECT_TRUE(aggnet_table_grow(&t, aggnet_chunk_alloc()));
	EXPECT_FALSE(aggnet_table_grow(&t, chunk));
	aggnet_chunk_free(chunk);
	EXPECT_EQ(5, t.free);
	EXPECT_TRUE(table_is_empty(&t));
	aggnet_table_free(&t);
	EXPECT_EQ(0, shim_alloc_live);
}

/*
 * The caller did not reserve: the table reports it, and the sum of units shows
 * it.
 */
TEST(table_merge__without_a_chunk)
{
	u32 per = AGGNET_CHUNK / 40, i, extra;
	struct plain got = { 0 };
	struct aggnet_table t;
	u64 units = 0;

	shim_random_seed(SEED);
	for (extra = 1; extra < 3; extra++) {
		struct packet p = { 0 };

		table_start(&t, AGGNET_FN_SUM, LIMIT, 1);
		for (i = 0; i < per + extra; i++)
			packet_add(&p, (u8 *)&i, 4, NULL, 0);
		warned = 0;
		may_warn = true;
		aggnet_table_merge(&t, p.data, p.n, 5000, false);
		may_warn = false;
		EXPECT_EQ(1, warned);
		EXPECT_EQ(per, t.keys);
		EXPECT_EQ(per, t.units);
		EXPECT_TRUE(drain(&t, &got, &units));
		EXPECT_EQ(per * extra, units);
		packet_free(&p);
		aggnet_table_free(&t);
	}
	plain_free(&got);
}

/*
 * Memory is freed chunk by chunk, including the last chunk when all has left;
 * chunks may have unused bytes at their end or be filled exactly.
 */
TEST(table_pack__chunks_come_back)
{
	static const u8 klen[] = { 4, 32 };
	u8 key[32] = { 0 }, buf[PAYLOAD];
	struct aggnet_table t;
	u64 represents;
	u32 i, k, n, per;

	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, LIMIT, 10);
	for (k = 0; k < ARRAY_SIZE(klen); k++) {
		struct packet p = { 0 };

		per = AGGNET_CHUNK / slot_size(klen[k]);
		for (i = 0; i < 5 * per; i++) {
			put_unaligned_le32(i, key);
			packet_add(&p, key, klen[k], NULL, 0);
		}
		merge(&t, &p);
		EXPECT_EQ(5, t.free);
		EXPECT_EQ(5 * AGGNET_CHUNK, aggnet_table_used(&t));
		for (i = 1; i <= 5 * per; i++) {
			ASSERT_NE(0, aggnet_table_pack(&t, buf, sizeof(buf), 1,
						       &n, &represents));
			ASSERT_EQ(5 + i / per, t.free);
		}
		EXPECT_TRUE(table_is_empty(&t));
		packet_free(&p);
	}
	aggnet_table_free(&t);
}

TEST_HARNESS_MAIN
