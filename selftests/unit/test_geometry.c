// SPDX-License-Identifier: GPL-2.0
/* Unit tests of a Bloom table's geometry: it is the smallest table with the
 * wanted rate.
 */
#include "../../tools/aggctl/cmd/geometry.c"
#include "../uapi/harness.h"

/* Neither a smaller table nor fewer functions reach the rate. */
static bool is_least(const struct geometry *g, double rate, uint32_t trees)
{
	struct geometry less = { .bits = g->bits / 2 };

	for (less.hashes = 1; less.hashes <= HASHES_MAX; less.hashes++)
		if (less.bits >= BITS_MIN && geometry_rate(&less, trees) <= rate)
			return false;
	less.bits = g->bits;
	for (less.hashes = 1; less.hashes < g->hashes; less.hashes++)
		if (geometry_rate(&less, trees) <= rate)
			return false;
	return true;
}

TEST(choose__the_least_that_has_the_rate)
{
	static const double rates[] = { 0.5, 0.1, 0.01, 1e-3, 1e-4 };
	struct geometry g;
	uint32_t trees;
	size_t i;

	for (i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		for (trees = 1; trees <= 1000000; trees *= 10) {
			ASSERT_EQ(0, geometry_choose(rates[i], trees, &g));
			EXPECT_EQ(0, g.bits & (g.bits - 1));
			EXPECT_TRUE(geometry_rate(&g, trees) <= rates[i]);
			EXPECT_TRUE(is_least(&g, rates[i], trees));
		}
}

/* h = (m/n) ln 2 gives 0.6185^(m/n), paper 000, 4.2. */
TEST(rate__of_the_best_number_of_functions)
{
	const struct geometry g = { .bits = 1024, .hashes = 7 };

	EXPECT_LT(fabs(geometry_rate(&g, 1024 / 10.) - pow(0.6185, 10)), 1e-4);
}

TEST(choose__beyond_what_the_kernel_takes)
{
	struct geometry g;

	EXPECT_EQ(0, geometry_choose(0.5, 40000000, &g));
	EXPECT_EQ(BITS_MAX, g.bits);
	EXPECT_EQ(-1, geometry_choose(0.01, 40000000, &g));
	EXPECT_EQ(-1, geometry_choose(1e-12, BITS_MAX / 20, &g));
}

TEST(set__what_a_user_may_not_ask_for)
{
	struct geometry g;

	EXPECT_STREQ("a rate of false positives is above 0 and below 1",
		     geometry_set(0, 1, &g));
	EXPECT_STREQ("a rate of false positives is above 0 and below 1",
		     geometry_set(1, 1, &g));
	EXPECT_STREQ("a table is for one tree at least",
		     geometry_set(0.1, 0, &g));
	EXPECT_STREQ("no table of 2^26 bits and 16 hash functions has that rate",
		     geometry_set(1e-9, 400000000, &g));
	EXPECT_EQ(NULL, geometry_set(0.01, 400, &g));
}

TEST_HARNESS_MAIN
