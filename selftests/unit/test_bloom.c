// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the Bloom table: it has no false negatives, its false positives
 * agree with the theory, and deletion restores the table.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <math.h>
#include "core/bloom.h"

#include "../uapi/harness.h"

#define SEED	0x626c6f6f

/*
 * Incast IDs as a job has them: few distinct high bits, neighbouring receivers.
 */
static u64 incast_id(u32 n)
{
	return (u64)(n / 64 + 1) << 32 | 0x0a000000 | (n % 64 + 1);
}

static bool is_empty(const struct aggnet_bloom *b)
{
	u32 bit;

	for (bit = 0; bit <= b->mask; bit++)
		if (b->count[bit])
			return false;
	return !b->members && !aggnet_bloom_bits_set(b);
}

/* Do bits and counts agree? */
static bool is_consistent(const struct aggnet_bloom *b)
{
	u32 set = 0, bit;
	u64 sum = 0;

	for (bit = 0; bit <= b->mask; bit++) {
		bool on = b->bits[bit / 64] >> (bit % 64) & 1;

		if (on != (b->count[bit] != 0))
			return false;
		set += on;
		sum += b->count[bit];
	}
	return set == aggnet_bloom_bits_set(b) &&
	       sum == (u64)b->members * b->hashes;
}

TEST(alloc__every_size_and_number_of_hashes)
{
	struct aggnet_bloom *b;
	u32 bits;
	int k;

	for (bits = AGGNET_BLOOM_BITS_MIN; bits <= 1 << 16; bits *= 2)
		for (k = 1; k <= AGGNET_BLOOM_HASHES_MAX; k++) {
			b = aggnet_bloom_alloc(bits, k, SEED);
			ASSERT_NE(NULL, b);
			EXPECT_TRUE(is_empty(b));
			EXPECT_FALSE(aggnet_bloom_test(b, 0));
			EXPECT_EQ(0, aggnet_bloom_insert(b, 0));
			EXPECT_TRUE(aggnet_bloom_test(b, 0));
			EXPECT_TRUE(is_consistent(b));
			aggnet_bloom_free(b);
		}
	EXPECT_EQ(0, shim_alloc_live);
}

TEST(alloc__each_allocation_may_fail)
{
	unsigned long nth;

	for (nth = 1; nth <= 2; nth++) {
		shim_alloc_fail = nth;
		EXPECT_EQ(NULL, aggnet_bloom_alloc(4096, 6, SEED));
		EXPECT_EQ(0, shim_alloc_live);
	}
	shim_alloc_fail = 0;
}

TEST(free__of_nothing)
{
	aggnet_bloom_free(NULL);
}

TEST(insert__no_false_negative_ever)
{
	struct aggnet_bloom *b;
	u32 bits, n, i;

	TH_LOG("seed %#x", SEED);
	for (bits = 8; bits <= 8192; bits *= 4) {
		b = aggnet_bloom_alloc(bits, 6, SEED);
		for (n = 0; n < 800; n++) {
			ASSERT_EQ(0, aggnet_bloom_insert(b, incast_id(n)));
			for (i = 0; i <= n; i++)
				ASSERT_TRUE(aggnet_bloom_test(b, incast_id(i)));
		}
		EXPECT_EQ(800, b->members);
		EXPECT_TRUE(is_consistent(b));
		aggnet_bloom_free(b);
	}
}

TEST(insert__refused_when_a_count_is_full)
{
	struct aggnet_bloom *b = aggnet_bloom_alloc(8, 16, SEED);
	u16 count[8];
	u32 n = 0;

	while (!aggnet_bloom_insert(b, incast_id(n)))
		n++;
	/* 16 positions in 8 bits: each ID counts twice in each bit. */
	EXPECT_LT(30000, n);
	EXPECT_EQ(n, b->members);
	memcpy(count, b->count, sizeof(count));
	EXPECT_EQ(-ENOSPC, aggnet_bloom_insert(b, incast_id(n)));
	EXPECT_EQ(0, memcmp(count, b->count, sizeof(count)));
	EXPECT_EQ(n, b->members);
	while (n--)
		aggnet_bloom_delete(b, incast_id(n));
	EXPECT_TRUE(is_empty(b));
	aggnet_bloom_free(b);
}

TEST(delete__overlapping_members_stay)
{
	struct aggnet_bloom *b = aggnet_bloom_alloc(512, 6, SEED);
	u32 n, i;

	/* The table is so full that nearly all IDs share bits. */
	for (n = 0; n < 300; n++)
		aggnet_bloom_insert(b, incast_id(n));
	for (n = 0; n < 300; n++) {
		aggnet_bloom_delete(b, incast_id(n));
		ASSERT_TRUE(is_consistent(b));
		for (i = n + 1; i < 300; i++)
			ASSERT_TRUE(aggnet_bloom_test(b, incast_id(i)));
	}
	EXPECT_TRUE(is_empty(b));
	aggnet_bloom_free(b);
}

TEST(delete__random_history)
{
	struct aggnet_bloom *b;
	bool in[256] = { false };
	int step, n;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	b = aggnet_bloom_alloc(1024, 4, get_random_u64());
	for (step = 0; step < 20000; step++) {
		n = get_random_u32() % 256;
		if (in[n])
			aggnet_bloom_delete(b, incast_id(n));
		else
			ASSERT_EQ(0, aggnet_bloom_insert(b, incast_id(n)));
		in[n] = !in[n];
		n = get_random_u32() % 256;
		if (in[n])
			ASSERT_TRUE(aggnet_bloom_test(b, incast_id(n)));
	}
	for (n = 0; n < 256; n++)
		if (in[n])
			aggnet_bloom_delete(b, incast_id(n));
	EXPECT_TRUE(is_empty(b));
	aggnet_bloom_free(b);
}

/*
 * (1 - e^(-kn/m))^k, within five standard deviations of the binomial count and
 * 15 % for what a formula of independent bits leaves out in small filters.
 */
static void check_rate(struct __test_metadata *_metadata, u32 bits, u8 hashes,
		       u32 members)
{
	enum { FILTERS = 20, PROBES = 20000 };
	u64 hits = 0, tries = 0;
	double rate, slack;
	int filter;
	u32 n;

	for (filter = 0; filter < FILTERS; filter++) {
		struct aggnet_bloom *b;

		b = aggnet_bloom_alloc(bits, hashes, get_random_u64());
		for (n = 0; n < members; n++)
			aggnet_bloom_insert(b, incast_id(n));
		for (n = members; n < members + PROBES; n++, tries++)
			hits += aggnet_bloom_test(b, incast_id(n));
		aggnet_bloom_free(b);
	}
	rate = pow(1 - exp(-(double)hashes * members / bits), hashes);
	slack = 5 * sqrt(rate * (1 - rate) * tries) + 0.15 * rate * tries + 5;
	TH_LOG("%u bits, %u hashes, %u members: %.6f, theory %.6f", bits,
	       hashes, members, (double)hits / tries, rate);
	EXPECT_TRUE(fabs(hits - rate * tries) <= slack);
}

TEST(test__false_positives_as_in_theory)
{
	static const u8 hashes[] = { 1, 2, 4, 6, 8, 12, 16 };
	u32 bits;
	size_t i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (bits = 1024; bits <= 16384; bits *= 4)
		for (i = 0; i < ARRAY_SIZE(hashes); i++)
			check_rate(_metadata, bits, hashes[i], bits / 10);
	check_rate(_metadata, 4096, 6, 100);
	check_rate(_metadata, 4096, 6, 1600);
}

TEST(test__other_seed_other_positives)
{
	struct aggnet_bloom *a = aggnet_bloom_alloc(1024, 4, 1);
	struct aggnet_bloom *b = aggnet_bloom_alloc(1024, 4, 2);
	u32 n, both = 0, either = 0;

	for (n = 0; n < 200; n++) {
		aggnet_bloom_insert(a, incast_id(n));
		aggnet_bloom_insert(b, incast_id(n));
	}
	for (n = 200; n < 20200; n++) {
		bool in_a = aggnet_bloom_test(a, incast_id(n));
		bool in_b = aggnet_bloom_test(b, incast_id(n));

		both += in_a && in_b;
		either += in_a || in_b;
	}
	EXPECT_LT(0, either);
	EXPECT_LT(both, either / 4);
	aggnet_bloom_free(a);
	aggnet_bloom_free(b);
}

TEST(bits_set__counts_every_bit)
{
	struct aggnet_bloom *b;
	u32 bits, bit;

	for (bits = 8; bits <= 1024; bits *= 2) {
		b = aggnet_bloom_alloc(bits, 1, SEED);
		for (bit = 0; bit < bits; bit++) {
			EXPECT_EQ(bit, aggnet_bloom_bits_set(b));
			b->bits[bit / 64] |= 1UL << (bit % 64);
		}
		EXPECT_EQ(bits, aggnet_bloom_bits_set(b));
		aggnet_bloom_free(b);
	}
}

TEST_HARNESS_MAIN
