// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the aggregation buffer: which records leave in which packets,
 * for packets of any size.
 */
#include "table_ref.h"

#define PLAIN_RECORD_MAX	(2 + AGGNET_KEY_MAX + AGGNET_PLAIN_MAX)

TEST(table_pack__oldest_first)
{
	struct aggnet_table t;
	struct packet p = { 0 };
	struct aggnet_record rec;
	u32 n, i, len, next = 0;
	u64 represents;
	u8 buf[PAYLOAD];

	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, LIMIT, 64);
	for (i = 0; i < 2000; i++)
		packet_add(&p, (u8 *)&i, 4, (u8 []){ 1 }, 1);
	merge(&t, &p);
	while ((len = aggnet_table_pack(&t, buf, PAYLOAD, 50, &n, &represents)))
		for (i = 0; i < len; next++) {
			i += aggnet_record_get(buf + i, &rec);
			ASSERT_EQ(0, memcmp(rec.key, &next, 4));
		}
	EXPECT_EQ(2000, next);
	EXPECT_TRUE(table_is_empty(&t));
	packet_free(&p);
	aggnet_table_free(&t);
}

/*
 * With any room and any bound on records neither is exceeded, and all records
 * leave.
 */
TEST(table_pack__within_room_and_records)
{
	u32 room, n, len, max;
	struct aggnet_table t;
	u64 represents;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, LIMIT, 200);
	for (room = PLAIN_RECORD_MAX; room < 1500; room += 13) {
		struct plain want = { 0 }, got = { 0 };
		struct packet p = { 0 };
		u64 units = 0;

		random_packet(&p, 3000, 2000);
		plain_take(&want, AGGNET_FN_SUM, p.data, p.len);
		merge(&t, &p);
		for (max = 1; t.keys; max = max % 90 + 1) {
			u8 *buf = malloc(room);

			len = aggnet_table_pack(&t, buf, room, max, &n,
						&represents);
			ASSERT_NE(0, len);
			ASSERT_GE(room, len);
			ASSERT_GE(max, n);
			ASSERT_EQ(n, aggnet_parse_records(&plain, false, buf,
							  len, max));
			/* Packing stopped at the room or at the bound. */
			if (t.keys && n < max)
				ASSERT_LT(room, len + PLAIN_RECORD_MAX);
			plain_take(&got, AGGNET_FN_SUM, buf, len);
			units += represents;
			free(buf);
		}
		ASSERT_EQ(p.represents, units);
		ASSERT_TRUE(plain_equal(&want, &got));
		ASSERT_TRUE(table_is_empty(&t));
		plain_free(&want);
		plain_free(&got);
		packet_free(&p);
	}
	aggnet_table_free(&t);
}

TEST(table_pack__fills_the_room_exactly)
{
	u32 room = 3 * (2 + 88 + 1), n, i;
	struct packet p = { 0 };
	struct aggnet_table t;
	u64 represents;
	u8 key[88];
	u8 *buf;

	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, LIMIT, 1);
	memset(key, 'k', sizeof(key));
	for (i = 0; i < 6; i++) {
		key[0] = i;
		packet_add(&p, key, sizeof(key), (u8 []){ 1 }, 1);
	}
	merge(&t, &p);
	ASSERT_EQ(PLAIN_RECORD_MAX, room);
	buf = malloc(room);
	EXPECT_EQ(room, aggnet_table_pack(&t, buf, room, 9, &n, &represents));
	EXPECT_EQ(3, n);
	EXPECT_EQ(room, aggnet_table_pack(&t, buf, room, 9, &n, &represents));
	EXPECT_TRUE(table_is_empty(&t));
	free(buf);
	packet_free(&p);
	aggnet_table_free(&t);
}

TEST(table_pack__of_nothing)
{
	u8 buf[AGGNET_RECORD_MAX];
	struct aggnet_table t;
	u64 represents = 7;
	u32 n = 7;

	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, LIMIT, 1);
	EXPECT_EQ(0, aggnet_table_pack(&t, buf, sizeof(buf), 10, &n,
				       &represents));
	EXPECT_EQ(0, n);
	EXPECT_EQ(0, represents);
	aggnet_table_free(&t);
}

/* Minimal lengths on the wire, also at the limits of 128 bits. */
TEST(table_pack__values_of_every_length)
{
	struct aggnet_table t;
	u8 buf[PAYLOAD], value[AGGNET_PLAIN_MAX];
	u64 represents;
	u32 bit, n, len;

	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, LIMIT, 4);
	for (bit = 0; bit < 127; bit++) {
		struct aggnet_value one = {
			.lo = bit < 64 ? 1ULL << bit : 0,
			.hi = bit < 64 ? 0 : 1ULL << (bit - 64),
		};
		struct packet p = { 0 };
		struct aggnet_record rec;

		put_unaligned_le64(one.lo, value);
		put_unaligned_le64(one.hi, value + 8);
		packet_add(&p, (u8 *)"k", 1, value, sizeof(value));
		merge(&t, &p);
		len = aggnet_table_pack(&t, buf, sizeof(buf), 1, &n,
					&represents);
		ASSERT_EQ(3 + (bit + 1) / 8 + 1, len);
		aggnet_record_get(buf, &rec);
		ASSERT_TRUE(wide(rec.value) == wide(one));
		packet_free(&p);
	}
	aggnet_table_free(&t);
}

TEST_HARNESS_MAIN
