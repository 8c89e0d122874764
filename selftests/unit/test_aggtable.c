// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the aggregation buffer: every record comes out once, with its
 * units, also through chains of buffers. A plain list is the reference.
 */
#include <linux/slab.h>

#include "core/reduce.h"
#include "table_ref.h"

/*
 * Each length of key with each length of value, as a new key and as a known
 * one.
 */
TEST(table_merge__every_pair_of_lengths)
{
	u8 key[AGGNET_KEY_MAX], value[AGGNET_PLAIN_MAX];
	u8 functions[] = { AGGNET_FN_SUM, AGGNET_FN_MIN, AGGNET_FN_MAX,
			   AGGNET_FN_COUNT };
	u32 klen, vlen, f, again;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (f = 0; f < ARRAY_SIZE(functions); f++) {
		struct plain want = { 0 }, got = { 0 };
		struct aggnet_record rec;
		struct aggnet_table t;
		u64 units = 0;

		table_start(&t, functions[f], LIMIT, 255);
		memset(key, 'k', sizeof(key));
		for (klen = 1; klen <= AGGNET_KEY_MAX; klen++)
			for (vlen = 0; vlen <= AGGNET_PLAIN_MAX; vlen++) {
				struct packet p = { 0 };

				get_random_bytes(value, vlen);
				packet_add(&p, key, klen, value, vlen);
				aggnet_record_get(p.data, &rec);
				for (again = 0; again < 2; again++) {
					merge(&t, &p);
					plain_merge(&want, functions[f], key,
						    klen, wide(rec.value), 1);
				}
				packet_free(&p);
			}
		EXPECT_EQ(255, t.keys);
		EXPECT_EQ(255 * 17 * 2, t.units);
		EXPECT_TRUE(drain(&t, &got, &units));
		EXPECT_EQ(255 * 17 * 2, units);
		EXPECT_TRUE(plain_equal(&want, &got));
		plain_free(&want);
		plain_free(&got);
		aggnet_table_free(&t);
	}
}

/* Packets of keys and values of 8 bytes, and such with one other record. */
TEST(table_merge__equal_lengths)
{
	u8 functions[] = { AGGNET_FN_SUM, AGGNET_FN_MIN, AGGNET_FN_MAX,
			   AGGNET_FN_COUNT, AGGNET_FN_BXOR };
	u32 f, i, k;

	shim_random_seed(SEED);
	for (f = 0; f < ARRAY_SIZE(functions); f++) {
		struct plain want = { 0 }, got = { 0 };
		struct aggnet_table t;
		u64 units = 0, merged = 0;

		table_start(&t, functions[f], LIMIT, 255);
		for (i = 0; i < 300; i++) {
			struct packet p = { 0 };

			for (k = 0; k < 1 + i % 70; k++) {
				u64 key = get_random_u32() % 500;
				u64 value = get_random_u64();
				u32 vlen = i % 5 || k ? 8 : 7;
				struct aggnet_record rec;

				packet_add(&p, (u8 *)&key, 8, (u8 *)&value, vlen);
				aggnet_record_get(p.data + p.len - 10 - vlen, &rec);
				plain_merge(&want, functions[f], (u8 *)&key, 8,
					    wide(rec.value), 1);
			}
			merge(&t, &p);
			merged += p.n;
			packet_free(&p);
		}
		EXPECT_EQ(merged, t.units);
		EXPECT_TRUE(drain(&t, &got, &units));
		EXPECT_EQ(merged, units);
		EXPECT_TRUE(plain_equal(&want, &got));
		plain_free(&want);
		plain_free(&got);
		aggnet_table_free(&t);
	}
}

/*
 * Keys of 4 bytes, and keys of 8 that differ from these by zeros at the end; some have
 * the same bucket.
 */
TEST(table_merge__padding_is_not_part_of_a_key)
{
	static const u8 value[8] = { 1 };
	u32 round, i, klen;

	shim_random_seed(SEED);
	for (round = 0; round < 200; round++) {
		struct aggnet_table t;

		table_start(&t, AGGNET_FN_SUM, AGGNET_CHUNK, 1);
		for (klen = 4; klen <= 8; klen += 4) {
			struct packet p = { 0 };

			for (i = 0; i < 50; i++) {
				u8 key[8] = { i };

				packet_add(&p, key, klen, value, 8);
			}
			merge(&t, &p);
			packet_free(&p);
		}
		ASSERT_EQ(100, t.keys);
		aggnet_table_free(&t);
	}
}

TEST(table_merge__extra_units_go_to_the_last)
{
	struct aggnet_table t;
	struct packet p = { 0 };
	u64 represents;
	u8 buf[PAYLOAD];
	u32 n, i;

	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, LIMIT, 8);
	for (i = 0; i < 5; i++)
		packet_add(&p, (u8 []){ 'a' + i }, 1, NULL, 0);
	p.represents = 1000;
	merge(&t, &p);
	EXPECT_EQ(1000, t.units);
	for (i = 0; i < 5; i++) {
		aggnet_table_pack(&t, buf, sizeof(buf), 1, &n, &represents);
		EXPECT_EQ(1, n);
		EXPECT_EQ('a' + i, buf[2]);
		EXPECT_EQ(i < 4 ? 1 : 996, represents);
	}
	EXPECT_TRUE(table_is_empty(&t));
	packet_free(&p);
	aggnet_table_free(&t);
}

TEST(table_merge__count_at_the_source)
{
	static const struct {
		u8 function;
		bool source;
		s64 want;
	} row[] = {
		{ AGGNET_FN_COUNT, true, 3 }, { AGGNET_FN_COUNT, false, -21 },
		{ AGGNET_FN_SUM, true, -21 }, { AGGNET_FN_MIN, true, -30 },
		{ AGGNET_FN_MAX, true, 5 },
	};
	struct packet p = { 0 };
	u32 i, key;

	/* A short key, one of exactly one word, and a longer one. */
	for (key = 4; key <= 12; key += 4) {
		packet_add(&p, (u8 *)"kkkkkkkkkkkk", key, (u8 []){ 0xe2 }, 1);
		packet_add(&p, (u8 *)"kkkkkkkkkkkk", key, (u8 []){ 4 }, 1);
		packet_add(&p, (u8 *)"kkkkkkkkkkkk", key,
			   (u8 []){ 5, 0, 0, 0, 0, 0, 0, 0 }, 8);
	}
	shim_random_seed(SEED);
	for (i = 0; i < ARRAY_SIZE(row); i++) {
		struct plain got = { 0 };
		struct aggnet_table t;
		u64 units = 0;

		table_start(&t, row[i].function, LIMIT, 8);
		aggnet_table_merge(&t, p.data, p.n, p.n, row[i].source);
		EXPECT_TRUE(drain(&t, &got, &units));
		EXPECT_EQ(9, units);
		EXPECT_EQ(3, got.n);
		while (got.n--)
			EXPECT_EQ(row[i].want, (s64)got.of[got.n].value)
				TH_LOG("row %u", i);
		plain_free(&got);
		aggnet_table_free(&t);
	}
	packet_free(&p);
}

TEST(table_merge__of_nothing)
{
	struct aggnet_table t;

	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, LIMIT, 1);
	aggnet_table_merge(&t, NULL, 0, 0, false);
	aggnet_table_merge(&t, NULL, 0, 0, true);
	EXPECT_TRUE(table_is_empty(&t));
	aggnet_table_free(&t);
}

enum { SOURCES = 6, INNER = 3 };

/* Send a random part of a table's content to its parent. */
static u32 emit(struct aggnet_table *from, struct aggnet_table *to)
{
	struct packet p = { .data = malloc(PAYLOAD) };
	u32 n;

	p.len = aggnet_table_pack(from, p.data, PAYLOAD,
				  1 + get_random_u32() % (PAYLOAD / 8), &p.n,
				  &p.represents);
	/* Bytes that were not written must not be read either. */
	if (p.len)
		p.data = realloc(p.data, p.len);
	while (to->free < aggnet_table_chunks_per_packet(&plain, PAYLOAD))
		if (!aggnet_table_grow(to, aggnet_chunk_alloc()))
			abort();
	merge(to, &p);
	n = p.n;
	packet_free(&p);
	return n;
}

/*
 * Sources send to inner tables, which send to the root; packets leave early
 * (PARTIAL) at random moments. The result is that of one list, and no unit is
 * lost.
 */
static void check_chain(struct __test_metadata *_metadata, u8 function,
			u32 variety)
{
	struct aggnet_table leaf[SOURCES], inner[INNER], root;
	struct plain want = { 0 }, got = { 0 };
	u64 in = 0, out = 0;
	int i, step;

	table_start(&root, function, 4 * LIMIT, 0);
	for (i = 0; i < INNER; i++)
		table_start(&inner[i], function, LIMIT, 0);
	for (i = 0; i < SOURCES; i++)
		table_start(&leaf[i], function, LIMIT, 0);

	for (step = 0; step < 60; step++) {
		struct aggnet_table *t = &leaf[get_random_u32() % SOURCES];
		struct packet p = { 0 };
		struct aggnet_record rec;
		u32 at;

		random_packet(&p, PAYLOAD, variety);
		for (at = 0; at < p.len;) {
			at += aggnet_record_get(p.data + at, &rec);
			aggnet_reduce_source(function, &rec.value);
			plain_merge(&want, function, rec.key, rec.klen,
				    wide(rec.value), 1);
		}
		in += p.n;
		while (t->free < aggnet_table_chunks_per_packet(&plain, PAYLOAD))
			aggnet_table_grow(t, aggnet_chunk_alloc());
		aggnet_table_merge(t, p.data, p.n, p.n, true);
		packet_free(&p);

		i = get_random_u32() % SOURCES;
		if (get_random_u32() % 2)
			emit(&leaf[i], &inner[i % INNER]);
		if (get_random_u32() % 3 == 0)
			emit(&inner[i % INNER], &root);
	}
	for (i = 0; i < SOURCES; i++)
		while (emit(&leaf[i], &inner[i % INNER]))
			;
	for (i = 0; i < INNER; i++)
		while (emit(&inner[i], &root))
			;
	EXPECT_EQ(in, root.units);
	EXPECT_TRUE(drain(&root, &got, &out));
	EXPECT_EQ(in, out);
	EXPECT_TRUE(plain_equal(&want, &got))
		TH_LOG("function %u, %u keys", function, variety);

	for (i = 0; i < SOURCES; i++) {
		EXPECT_TRUE(table_is_empty(&leaf[i]));
		aggnet_table_free(&leaf[i]);
	}
	for (i = 0; i < INNER; i++) {
		EXPECT_TRUE(table_is_empty(&inner[i]));
		aggnet_table_free(&inner[i]);
	}
	aggnet_table_free(&root);
	plain_free(&want);
	plain_free(&got);
}

TEST(chain__any_split_and_order)
{
	static const u32 variety[] = { 1, 10, 100, 1000, 5000 };
	u32 function, i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	/*
	 * The other functions are not sums of the list: test_accum.c tests
	 * them.
	 */
	for (function = 0; function < __AGGNET_FN_MAX; function++)
		for (i = 0; i < ARRAY_SIZE(variety) &&
		     function <= AGGNET_FN_LXOR &&
		     function != AGGNET_FN_AVERAGE &&
		     function != AGGNET_FN_PRODUCT; i++)
			check_chain(_metadata, function, variety[i]);
	EXPECT_EQ(0, shim_alloc_live);
}

TEST_HARNESS_MAIN
