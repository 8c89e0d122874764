// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the aggregation buffer's hash: keys that are nearly alike, and
 * keys that were chosen for one secret, make no chains under another. The file
 * is included because the test reads its hash and entries.
 */
#include "../../kmod/core/aggtable.c"

#include "table_ref.h"

/*
 * Over random secrets two keys share n low bits of their tags with a
 * probability of 2^-n. This holds for keys that differ in one bit only, or in
 * zero bytes at the end.
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

/* Steps of 2000 keys in 4096 buckets: 1.24 each on average. */
enum {
	CHOSEN = 2000,
	ENOUGH = 2 * CHOSEN,
	EVEN = 3 * CHOSEN / 2,
	CHOSEN_LIMIT = 1 << 17,
	SECRETS = 200
};

/* Count the entries that the look-ups of all keys pass; at least one each. */
static u32 steps(struct aggnet_table *t, u32 *longest)
{
	u32 i, n, ref, sum = 0;

	*longest = 0;
	for (i = 0; i <= t->bucket_mask; i++) {
		n = 0;
		for (ref = t->bucket[i]; ref;
		     ref = slot_at(t->chunk, ref)->next)
			sum += ++n;
		*longest = max(*longest, n);
	}
	return sum;
}

/* Add one key. */
static void put(struct aggnet_table *t, const u8 *key, u32 klen)
{
	struct packet p = { 0 };

	packet_add(&p, key, klen, NULL, 0);
	merge(t, &p);
	packet_free(&p);
}

/* Find numbers that a table with this secret has in its first bucket. */
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
 * If a table's secret is known, one can choose keys that make one chain. In
 * tables with other secrets these keys spread like any others.
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

/* For almost every secret keys of a regular pattern do not crowd. */
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

/* Keys that differ only in their length, or in one byte of it. */
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
	/* Keys of the same length get the same tag, and so the same bucket. */
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

/* All paths to a key's slot compute the same hash. */
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
			struct slot *e;

			/*
			 * Once as the first record and once behind other
			 * records.
			 */
			key[2] = vlen;
			packet_add(&p, key + 2, klen, (u8 []){ 0 }, vlen / 8);
			packet_add(&p, key + 2, klen, key, vlen);
			packet_add(&p, key + 2, klen, key, vlen);
			merge(&t, &p);
			e = (struct slot *)(t.chunk[t.newest] + t.write -
					     slot_size(klen));
			ASSERT_EQ(look_any(t.seed, key, key + 2, klen).tag,
				  e->tag);
			ASSERT_EQ(3, e->units);
			packet_free(&p);
		}
	EXPECT_EQ(3 * 255, t.keys);
	aggnet_table_free(&t);
}

TEST_HARNESS_MAIN
