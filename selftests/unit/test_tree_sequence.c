// SPDX-License-Identifier: GPL-2.0
/* The search for the best routing sequence finds the least of all sequences. */
#include "tree_random.h"
#include "../../tools/libaggtree/internal.h"

/* The least cost of all orders of symbol[at..], by building each tree. */
static double least(FIXTURE_DATA(instance) *self, unsigned int *symbol,
		    unsigned int at)
{
	unsigned int i, n = 0, swap, dims = aggt_topo_dims(self->topo);
	char text[64] = "rs:";
	double best = -1, now;

	if (at == dims) {
		for (i = 0, n = 3; i < dims; i++)
			n += snprintf(text + n, sizeof(text) - n, "%u",
				      symbol[i]);
		return cost(self, text, false);
	}
	for (i = at; i < dims; i++) {
		swap = symbol[at];
		symbol[at] = symbol[i];
		symbol[i] = swap;
		now = least(self, symbol, at + 1);
		if (best < 0 || now < best)
			best = now;
		symbol[i] = symbol[at];
		symbol[at] = swap;
	}
	return best;
}

/* The cost by the search, which builds no tree. */
static double searched(FIXTURE_DATA(instance) *self, uint64_t limit,
		       struct aggt_sequence *best)
{
	struct aggt_tree *tree = aggt_tree_new(self->topo, &self->job,
					       self->receivers.node[0]);
	int ret;

	*best = (struct aggt_sequence){ .cost = INFINITY, .limit = limit };
	ret = aggt_best_sequence(tree, &self->job, best);
	aggt_tree_free(tree);
	return ret ? -1 : best->cost;
}

static bool equal(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (1 + b);
}

/* No prefix of the best sequence may be pruned, at any delta and any sizes. */
TEST_F_TIMEOUT(instance, the_least_of_all, 100)
{
	static const char *const topology[] = {
		"bcube:4,2", "ghc:2,5,3", "bcube:3,3", "hyperx:2,3,2:2",
		"bcube:2,4", "fbfly:3,4,2", "ghc:4,2,3,2",
	};
	unsigned int round, i;

	for (round = 0; round < 1400; round++) {
		unsigned int symbol[] = { 0, 1, 2, 3, 4 };
		struct aggt_sequence found;
		double best;

		draw(self, topology[round % N(topology)], 1 + rnd(30), 1);
		self->job.delta = rnd(3) ? rnd(11) * 0.1 : 0;
		if (rnd(3))
			draw_sizes(self);
		best = least(self, symbol, 0);
		ASSERT_TRUE(equal(cost(self, "rs:best", true), best)) {
			TH_LOG("round %u: least %g", round, best);
		}
		ASSERT_TRUE(equal(searched(self, UINT64_MAX, &found), best)) {
			TH_LOG("round %u: %g, least %g", round, found.cost,
			       best);
		}
		for (i = 0; i < 5; i++)
			ASSERT_EQ(i, symbol[i]);
		discard(self);
	}
}

/* A search that was cut short reports it. */
TEST_F(instance, not_sure)
{
	struct aggt_sequence best;

	draw(self, "bcube:4,6", 60, 1);
	ASSERT_LE(0, searched(self, 1000, &best));
	EXPECT_FALSE(best.sure);
	ASSERT_LE(0, searched(self, UINT64_MAX, &best));
	EXPECT_TRUE(best.sure);
	EXPECT_TRUE(best.found);
	discard(self);
}

TEST_HARNESS_MAIN
