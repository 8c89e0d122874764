// SPDX-License-Identifier: GPL-2.0
/* Unit tests of values and aggregate functions, compared with the compiler's
 * 128-bit integers.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include "core/reduce.h"

#include "../uapi/harness.h"

#define SEED	0x72656475
#define ROUNDS	20000

#define s128 __int128
#define u128 unsigned __int128

static const u8 functions[] = {
	AGGNET_FN_SUM, AGGNET_FN_MIN, AGGNET_FN_MAX, AGGNET_FN_COUNT,
};

static s128 wide(struct aggnet_value v)
{
	return (s128)((u128)v.hi << 64 | v.lo);
}

static struct aggnet_value value(s128 x)
{
	return (struct aggnet_value){ .lo = (u64)x, .hi = (u64)((u128)x >> 64) };
}

/* Numbers at which carries and signs change, and their neighbours. */
static const s128 edges[] = {
	0, 1, -1, 2, -2, 127, 128, -128, -129, 255, 256,
	(s128)S64_MAX, (s128)S64_MAX + 1, (s128)S64_MIN, (s128)S64_MIN - 1,
	(s128)U64_MAX, (s128)U64_MAX + 1, -(s128)U64_MAX, -(s128)U64_MAX - 1,
	(s128)((u128)-1 >> 1), (s128)((u128)-1 >> 1) - 1,
	(s128)((u128)1 << 127), (s128)((u128)1 << 127) + 1,
};

/* Values of all magnitudes, both signs. */
static s128 random_wide(void)
{
	u128 x = (u128)get_random_u64() << 64 | get_random_u64();

	return (s128)x >> (get_random_u32() % 128);
}

static s128 expected(u8 function, s128 a, s128 b)
{
	switch (function) {
	case AGGNET_FN_MIN:
		return a < b ? a : b;
	case AGGNET_FN_MAX:
		return a > b ? a : b;
	default:
		return (s128)((u128)a + (u128)b);
	}
}

static bool reduces(u8 function, s128 a, s128 b)
{
	struct aggnet_value acc = value(a);
	struct aggnet_value v = value(b);

	aggnet_reduce(function, &acc, &v);
	return wide(acc) == expected(function, a, b);
}

TEST(value_s64__extends_the_sign)
{
	EXPECT_TRUE(wide(aggnet_value_s64(0)) == 0);
	EXPECT_TRUE(wide(aggnet_value_s64(1)) == 1);
	EXPECT_TRUE(wide(aggnet_value_s64(-1)) == -1);
	EXPECT_TRUE(wide(aggnet_value_s64(S64_MIN)) == S64_MIN);
	EXPECT_TRUE(wide(aggnet_value_s64(S64_MAX)) == S64_MAX);
}

TEST(value_less__all_pairs_of_edges)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(edges); i++)
		for (j = 0; j < ARRAY_SIZE(edges); j++) {
			struct aggnet_value a = value(edges[i]);
			struct aggnet_value b = value(edges[j]);

			EXPECT_EQ(edges[i] < edges[j], aggnet_value_less(&a, &b))
				TH_LOG("edges %zu, %zu", i, j);
		}
}

TEST(reduce_source__count_makes_ones)
{
	struct aggnet_value v = aggnet_value_s64(-77);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(functions); i++) {
		struct aggnet_value got = v;

		aggnet_reduce_source(functions[i], &got);
		EXPECT_EQ(functions[i] == AGGNET_FN_COUNT ? 1 : -77, wide(got));
	}
}

TEST(reduce_neutral__changes_no_value)
{
	size_t f, i;

	for (f = 0; f < ARRAY_SIZE(functions); f++)
		for (i = 0; i < ARRAY_SIZE(edges); i++) {
			struct aggnet_value acc;
			struct aggnet_value v = value(edges[i]);

			acc = aggnet_reduce_neutral(functions[f]);
			aggnet_reduce(functions[f], &acc, &v);
			EXPECT_TRUE(wide(acc) == edges[i])
				TH_LOG("function %u, edge %zu", functions[f], i);
		}
}

TEST(reduce__all_pairs_of_edges)
{
	size_t f, i, j;

	for (f = 0; f < ARRAY_SIZE(functions); f++)
		for (i = 0; i < ARRAY_SIZE(edges); i++)
			for (j = 0; j < ARRAY_SIZE(edges); j++)
				EXPECT_TRUE(reduces(functions[f], edges[i],
						    edges[j]))
					TH_LOG("function %u, edges %zu, %zu",
					       functions[f], i, j);
}

TEST(reduce__random_pairs)
{
	size_t f;
	int i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (i = 0; i < ROUNDS; i++)
		for (f = 0; f < ARRAY_SIZE(functions); f++)
			ASSERT_TRUE(reduces(functions[f], random_wide(),
					    random_wide()));
}

/* Partial sums exceed both limits of int64, and the result is within them. */
TEST(reduce__any_order_gives_the_same)
{
	struct aggnet_value v[64], forth, back, pairs;
	size_t f, i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (f = 0; f < ARRAY_SIZE(functions); f++) {
		u8 fn = functions[f];

		for (i = 0; i < ARRAY_SIZE(v); i++)
			v[i] = aggnet_value_s64(i % 3 ? S64_MAX - (s64)i :
						S64_MIN + (s64)get_random_u32());
		forth = v[0];
		back = v[63];
		pairs = aggnet_reduce_neutral(fn);
		for (i = 1; i < 64; i++) {
			aggnet_reduce(fn, &forth, &v[i]);
			aggnet_reduce(fn, &back, &v[63 - i]);
		}
		for (i = 0; i < 64; i += 2) {
			struct aggnet_value pair = v[i];

			aggnet_reduce(fn, &pair, &v[i + 1]);
			aggnet_reduce(fn, &pairs, &pair);
		}
		EXPECT_TRUE(wide(forth) == wide(back));
		EXPECT_TRUE(wide(forth) == wide(pairs));
	}
}

TEST_HARNESS_MAIN
