// SPDX-License-Identifier: GPL-2.0
/* The auto method on random instances: never worse, near the optimum. */
#include "tree_random.h"

/* Sizes of a few orders of magnitude, some of them 0, some the same. */
static void draw_sizes(FIXTURE_DATA(instance) *self)
{
	size_t i;

	for (i = 0; i < self->senders.n; i++)
		self->sizes[i] = rnd(8) ? pow(10, rnd(13) / 4.0) : 0;
	self->job.sizes = self->sizes;
}

/* Whether no other method that keeps within the bound is cheaper than auto. */
static bool auto_wins(FIXTURE_DATA(instance) *self)
{
	double best = cost(self, "auto", true), other;
	size_t k;

	if (best < 0)
		return false;
	for (k = 0; k < N(methods); k++) {
		other = cost(self, methods[k], false);
		if (other >= 0 && best > other * (1 + 1e-9) + 1e-9) {
			printf("# %s: %g, auto %g\n", methods[k], other, best);
			return false;
		}
	}
	return true;
}

TEST_F_TIMEOUT(instance, auto_is_best, 100)
{
	size_t round;

	for (round = 0; round < 1500; round++) {
		bool many = round < 25;

		draw(self, topologies[rnd(N(topologies))],
		     1 + rnd(many ? 40 : 9), 1 + rnd(many ? 3 : 1));
		self->job.delta = rnd(5) * 0.25;
		if (rnd(3))
			draw_sizes(self);
		self->job.max_depth = rnd(2) ? AGGT_DEPTH_NONE :
				      aggt_topo_dims(self->topo) + rnd(3);
		ASSERT_TRUE(auto_wins(self));
		discard(self);
	}
}

static double mean_ratio(FIXTURE_DATA(instance) *self, const char *topology,
			 uint32_t senders, unsigned int rounds)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		draw(self, topology, senders, 1);
		if (i % 2)
			draw_sizes(self);
		self->job.max_depth = AGGT_DEPTH_NONE;
		sum += cost(self, "auto", false) / cost(self, "exact", false);
		discard(self);
	}
	return sum / rounds;
}

TEST_F_TIMEOUT(instance, auto_is_near_the_optimum, 100)
{
	EXPECT_GE(1.02, mean_ratio(self, "bcube:4,1", 9, 10));
	EXPECT_GE(1.02, mean_ratio(self, "bcube:4,2", 10, 10));
	EXPECT_GE(1.02, mean_ratio(self, "bcube:3,3", 10, 10));
	EXPECT_GE(1.02, mean_ratio(self, "bcube:2,7", 10, 10));
}

TEST_F_TIMEOUT(instance, auto_on_many_senders, 100)
{
	double irs;

	draw(self, "bcube:6,5", 120, 1);
	irs = cost(self, "irs", false);
	EXPECT_GE(0.92 * irs, cost(self, "auto", false));
	self->job.max_depth = AGGT_DEPTH_NONE;
	EXPECT_GE(0.72 * irs, cost(self, "auto", false));
	discard(self);
}

TEST_HARNESS_MAIN
