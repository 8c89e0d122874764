// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the aggregation buffer: against a plain list of what was
 * merged, through chains of tables, at the bound of its memory.
 */
#include "table_ref.h"

/* --- the bound of memory ------------------------------------------------- */

/*
 * The worst that any records can do, by dynamic programming over bytes and
 * records: the farthest place in the log that they reach from a full chunk.
 * To be farther is never a drawback for what follows, so the farthest will do.
 * Only the shortest key of each number of words matters.
 */
TEST(table_need__no_packet_takes_more)
{
	enum { MAX = 9000 };
	static u32 far[MAX + 1], was[MAX + 1];
	u32 n, bytes, words, spare = 0;

	for (bytes = 0; bytes <= MAX; bytes++)
		far[bytes] = AGGNET_CHUNK;
	for (n = 1; n <= MAX / 8; n++) {
		memcpy(was, far, sizeof(was));
		for (words = 1; words <= 32; words++) {
			u32 size = sizeof(struct entry) + 8 * words;
			u32 least = 2 + 8 * (words - 1) + 1;

			for (bytes = least; bytes <= MAX; bytes++) {
				u32 at = was[bytes - least];
				u32 chunk = round_up(at, AGGNET_CHUNK);

				at = at + size <= chunk ? at + size : chunk + size;
				if (at > far[bytes])
					far[bytes] = at;
			}
		}
		/* Packets in which n is the most that they may carry. */
		for (bytes = 8 * n; bytes < 8 * n + 8 && bytes <= MAX; bytes++) {
			u32 chunks = DIV_ROUND_UP(far[bytes], AGGNET_CHUNK) - 1;
			u32 bound = aggnet_table_worst(&plain, bytes);

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

/* The same with the table itself, filled from any state with just that. */
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
			while (t.free < aggnet_table_worst(&plain, payload))
				aggnet_table_grow(&t, aggnet_chunk_alloc());
			random_packet(&p, payload, 3000);
			merge(&t, &p);
			packet_free(&p);
		}
		buf = malloc(PAYLOAD);
		aggnet_table_pack(&t, buf, PAYLOAD, get_random_u32() % 100, &n,
				  &represents);
		free(buf);
		while (t.free < aggnet_table_worst(&plain, payload))
			aggnet_table_grow(&t, aggnet_chunk_alloc());
		/* New keys of the costly lengths, and one that straddles. */
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

/* --- in the order of the source ------------------------------------------ */

/*
 * Over random secrets any two keys share the low bits of their tags with a
 * probability of 2^-bits: also those that differ in one bit only, anywhere, or
 * in nothing but zero bytes at the end.
 */
TEST(look_any__pairs_collide_as_promised)
{
	static const struct {
		u8 klen_a, klen_b, byte, bit;
	} pair[] = {
		{ 8, 8, 0, 0 }, { 8, 8, 3, 7 }, { 8, 8, 4, 0 }, { 8, 8, 7, 7 },
		{ 1, 1, 0, 7 }, { 7, 8, 0, 8 }, { 1, 2, 0, 8 }, { 8, 9, 0, 8 },
		{ 255, 255, 254, 0 }, { 255, 255, 0, 0 }, { 16, 17, 0, 8 },
		{ 254, 255, 0, 8 }, { 40, 40, 17, 3 }, { 1, 255, 0, 8 },
	};
	enum { TRIES = 1 << 17, BITS = 6, MEAN = TRIES >> BITS };
	u64 seed[AGGNET_SEED_WORDS];
	u8 a[256 + 8], b[256 + 8];
	u32 i, k, hits;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (i = 0; i < ARRAY_SIZE(pair); i++) {
		memset(a, 0, sizeof(a));
		memset(b, 0, sizeof(b));
		if (pair[i].bit < 8)
			b[2 + pair[i].byte] = 1 << pair[i].bit;
		for (k = hits = 0; k < TRIES; k++) {
			u32 j, diff;

			for (j = 0; j < 4 + pair[i].klen_b / 8u * 2; j++)
				seed[j] = get_random_u64();
			diff = look_any(seed, a, a + 2, pair[i].klen_a).tag ^
			       look_any(seed, b, b + 2, pair[i].klen_b).tag;
			hits += !(diff & ((1 << BITS) - 1));
		}
		/* 6 standard deviations of a binomial count */
		EXPECT_LE(MEAN - 6 * 45, hits)
			TH_LOG("pair %u: %u of %u", i, hits, TRIES);
		EXPECT_GE(MEAN + 6 * 45, hits)
			TH_LOG("pair %u: %u of %u", i, hits, TRIES);
	}
}

/* --- keys that somebody chose ---------------------------------------------- */

/* Steps of 2000 keys in 4096 buckets: 1.24 each on average. */
enum {
	CHOSEN = 2000,
	ENOUGH = 2 * CHOSEN,
	EVEN = 3 * CHOSEN / 2,
	CHOSEN_LIMIT = 1 << 17,
	SECRETS = 200
};

/* Entries that look-ups of all keys meet, one each at least. */
static u32 steps(struct aggnet_table *t, u32 *longest)
{
	u32 i, n, ref, sum = 0;

	*longest = 0;
	for (i = 0; i <= t->bucket_mask; i++) {
		n = 0;
		for (ref = t->bucket[i]; ref;
		     ref = entry_at(t->chunk, ref)->next)
			sum += ++n;
		*longest = max(*longest, n);
	}
	return sum;
}

/* One more key. */
static void put(struct aggnet_table *t, const u8 *key, u32 klen)
{
	struct packet p = { 0 };

	packet_add(&p, key, klen, NULL, 0);
	merge(t, &p);
	packet_free(&p);
}

/* Numbers that a table of this secret has in its first bucket. */
static void choose(const struct aggnet_table *t, u64 *key)
{
	u8 bytes[16] = { 0 };
	u64 number = 0;
	u32 n = 0;

	while (n < CHOSEN) {
		number++;
		memcpy(bytes + 2, &number, sizeof(number));
		if (look_any(t->seed, bytes, bytes + 2, 8).tag & t->bucket_mask)
			continue;
		key[n++] = number;
	}
}

static u32 put_chosen(struct aggnet_table *t, const u64 *key, u32 *longest)
{
	u32 i;

	for (i = 0; i < CHOSEN; i++)
		put(t, (const u8 *)&key[i], sizeof(key[i]));
	return steps(t, longest);
}

/*
 * Whoever knows a table's secret can make one chain of all keys; the same keys
 * are as good as any to most tables with secrets that he does not know.
 */
TEST(table_merge__keys_chosen_against_a_known_secret)
{
	static u64 key[CHOSEN];
	struct aggnet_table t;
	u32 i, longest, bad = 0;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, CHOSEN_LIMIT, 32);
	choose(&t, key);
	EXPECT_EQ(CHOSEN * (CHOSEN + 1) / 2, put_chosen(&t, key, &longest));
	EXPECT_EQ(CHOSEN, longest);
	aggnet_table_free(&t);
	for (i = 0; i < SECRETS; i++) {
		table_start(&t, AGGNET_FN_SUM, CHOSEN_LIMIT, 32);
		bad += put_chosen(&t, key, &longest) > ENOUGH;
		aggnet_table_free(&t);
	}
	EXPECT_GE(SECRETS / 4, bad);
}

/* Keys of a pattern that suits arithmetic crowd with hardly any secret. */
TEST(table_merge__keys_of_a_pattern)
{
	static const struct { u8 klen, at; u64 step; } pattern[] = {
		{ 8, 0, 1 }, { 8, 0, 1 << 16 }, { 8, 0, 1ull << 31 },
		{ 8, 0, 1ull << 32 }, { 8, 0, (1ull << 32) + 1 },
		{ 8, 0, 0xffffffff }, { 8, 0, 1ull << 48 }, { 4, 0, 1 << 20 },
		{ 16, 8, 1 }, { 32, 24, 1ull << 32 }, { 32, 9, 1 },
	};
	struct aggnet_table t;
	u32 i, k, n, bad, longest;
	u8 key[32] = { 0 };
	u64 number;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (i = 0; i < ARRAY_SIZE(pattern); i++) {
		for (k = bad = 0; k < SECRETS; k++) {
			table_start(&t, AGGNET_FN_SUM, CHOSEN_LIMIT, 32);
			for (n = 0; n < CHOSEN; n++) {
				number = n * pattern[i].step;
				memcpy(key + pattern[i].at, &number,
				       min(pattern[i].klen, (u8)8));
				put(&t, key, pattern[i].klen);
			}
			bad += steps(&t, &longest) > EVEN;
			aggnet_table_free(&t);
		}
		EXPECT_GE(SECRETS / 50, bad)
			TH_LOG("pattern %u: too many steps with %u secrets", i,
			       bad);
		memset(key, 0, sizeof(key));
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
		/* The array is written to its ends. */
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

/* Each length of key with each length of value, new and again. */
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

/* Keys that are equal but for their length, or for one byte of it. */
TEST(table_merge__keys_that_nearly_agree)
{
	u8 key[AGGNET_KEY_MAX] = { 0 };
	struct aggnet_table t;
	struct packet p = { 0 };
	struct plain got = { 0 };
	u32 klen, byte, n = 0;
	u64 units = 0;

	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, 64 * AGGNET_CHUNK, 64);
	/* Keys of the same length get the same tag and so the same bucket. */
	memset(t.seed, 0, sizeof(t.seed));
	for (klen = 1; klen <= 40; klen++) {
		packet_add(&p, key, klen, (u8 []){ 1 }, 1);
		n++;
		for (byte = 0; byte < klen; byte++, n++) {
			key[byte] = 0x80;
			packet_add(&p, key, klen, (u8 []){ 1 }, 1);
			key[byte] = 0;
		}
	}
	merge(&t, &p);
	merge(&t, &p);
	EXPECT_EQ(n, t.keys);
	EXPECT_TRUE(drain(&t, &got, &units));
	EXPECT_EQ(n, got.n);
	EXPECT_EQ(2 * n, units);
	while (got.n--)
		EXPECT_TRUE(got.of[got.n].value == 2);
	plain_free(&got);
	packet_free(&p);
	aggnet_table_free(&t);
}

/* Keys take different ways to their entry, but all by the same hash. */
TEST(table_merge__one_hash_on_all_ways)
{
	u8 key[AGGNET_KEY_MAX + 2];
	struct aggnet_table t;
	u32 klen, vlen;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, LIMIT, 200);
	get_random_bytes(key, sizeof(key));
	for (klen = 1; klen <= AGGNET_KEY_MAX; klen++)
		for (vlen = 0; vlen <= 8; vlen += 4) {
			struct packet p = { 0 };
			struct entry *e;

			/* As the first record and as one behind others. */
			key[2] = vlen;
			packet_add(&p, key + 2, klen, (u8 []){ 0 }, vlen / 8);
			packet_add(&p, key + 2, klen, key, vlen);
			packet_add(&p, key + 2, klen, key, vlen);
			merge(&t, &p);
			e = (struct entry *)(t.chunk[t.newest] + t.write -
					     entry_size(klen));
			ASSERT_EQ(look_any(t.seed, key, key + 2, klen).tag,
				  e->tag);
			ASSERT_EQ(3, e->units);
			packet_free(&p);
		}
	EXPECT_EQ(3 * 255, t.keys);
	aggnet_table_free(&t);
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

	/* A short key, one of a word, and a long one. */
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
		aggnet_table_merge(&t, p.data, p.n, p.n, row[i].source, 0);
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
	aggnet_table_merge(&t, NULL, 0, 0, false, AGGNET_FAULT_NONE);
	aggnet_table_merge(&t, NULL, 0, 0, true, AGGNET_FAULT_DROP);
	EXPECT_TRUE(table_is_empty(&t));
	aggnet_table_free(&t);
}

/* A merge that goes wrong shows in the units, whatever the values are. */
TEST(table_merge__faults_show_in_the_units)
{
	struct packet p = { 0 };
	u32 n;

	shim_random_seed(SEED);
	for (n = 1; n < 5; n++) {
		u32 fault;

		packet_add(&p, (u8 *)"abcdefgh" + n, 1 + n, (u8 []){ 0 }, 1);
		p.represents = 100;
		for (fault = AGGNET_FAULT_NONE; fault <= AGGNET_FAULT_DOUBLE;
		     fault++) {
			u64 want = 100 + (fault == AGGNET_FAULT_DOUBLE);
			struct plain got = { 0 };
			struct aggnet_table t;
			u64 units = 0;

			if (fault == AGGNET_FAULT_DROP)
				want = n == 1 ? 0 : 99;
			table_start(&t, AGGNET_FN_SUM, LIMIT, 8);
			aggnet_table_merge(&t, p.data, p.n, 100, false, fault);
			EXPECT_EQ(want, t.units);
			EXPECT_TRUE(drain(&t, &got, &units));
			EXPECT_EQ(want, units);
			plain_free(&got);
			aggnet_table_free(&t);
		}
	}
	packet_free(&p);
}

/* The caller has broken its promise: it is told, and the units show it. */
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
		aggnet_table_merge(&t, p.data, p.n, 5000, false, 0);
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

/* Any room, any bound on records: never passed, and all gets out in the end. */
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
			/* It stopped for want of room or for the bound. */
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

/*
 * Memory comes back chunk by chunk, also the last one when all has left; from
 * chunks with a rest at their end and from those that are filled exactly.
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

		per = AGGNET_CHUNK / entry_size(klen[k]);
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

/* Minimal lengths on the wire, also at the limits of 128 bits. */
TEST(table_pack__values_of_every_length)
{
	struct aggnet_table t;
	u64 represents;
	u8 buf[PAYLOAD];
	u32 bit, n, len;

	shim_random_seed(SEED);
	table_start(&t, AGGNET_FN_SUM, LIMIT, 4);
	for (bit = 0; bit < 127; bit++) {
		u128 one = (u128)1 << bit;
		struct packet p = { 0 };
		struct aggnet_record rec;

		packet_add(&p, (u8 *)"k", 1, (u8 *)&one, 16);
		merge(&t, &p);
		len = aggnet_table_pack(&t, buf, sizeof(buf), 1, &n,
					&represents);
		ASSERT_EQ(3 + (bit + 1) / 8 + 1, len);
		aggnet_record_get(buf, &rec);
		ASSERT_TRUE(wide(rec.value) == (s128)one);
		packet_free(&p);
	}
	aggnet_table_free(&t);
}

/* --- what must hold whatever the order ----------------------------------- */

enum { SOURCES = 6, INNER = 3 };

/* Send a random part of what a table holds on to its parent. */
static u32 emit(struct aggnet_table *from, struct aggnet_table *to)
{
	struct packet p = { .data = malloc(PAYLOAD) };
	u32 n;

	p.len = aggnet_table_pack(from, p.data, PAYLOAD,
				  1 + get_random_u32() % (PAYLOAD / 8), &p.n,
				  &p.represents);
	/* What is not written must not be read either. */
	if (p.len)
		p.data = realloc(p.data, p.len);
	while (to->free < aggnet_table_worst(&plain, PAYLOAD))
		if (!aggnet_table_grow(to, aggnet_chunk_alloc()))
			abort();
	merge(to, &p);
	n = p.n;
	packet_free(&p);
	return n;
}

/*
 * Sources feed inner tables, these the root; packets leave early (PARTIAL) at
 * random moments. The result is that of one list, and no unit is lost.
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
		while (t->free < aggnet_table_worst(&plain, PAYLOAD))
			aggnet_table_grow(t, aggnet_chunk_alloc());
		aggnet_table_merge(t, p.data, p.n, p.n, true, 0);
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
	/* The others are no plain sums of the list: test_state.c. */
	for (function = 0; function < __AGGNET_FN_MAX; function++)
		for (i = 0; i < ARRAY_SIZE(variety) &&
		     function <= AGGNET_FN_LXOR &&
		     function != AGGNET_FN_AVERAGE &&
		     function != AGGNET_FN_PRODUCT; i++)
			check_chain(_metadata, function, variety[i]);
	EXPECT_EQ(0, shim_alloc_live);
}

TEST_HARNESS_MAIN
