// SPDX-License-Identifier: GPL-2.0
/* The auto method on random instances: it is never worse than another method,
 * and near the optimum on small jobs.
 */
#include "tree_random.h"

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

/* 4 to 10 senders; in half of the jobs their flows differ in size. */
static double mean_ratio(FIXTURE_DATA(instance) *self, const char *topology,
			 unsigned int rounds)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		draw(self, topology, 10 - i % 7, 1);
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
	static const char *const topology[] = { "bcube:4,1", "bcube:4,2",
						"bcube:3,3", "bcube:2,7" };
	size_t i;

	for (i = 0; i < N(topology); i++) {
		double ratio = mean_ratio(self, topology[i], 14);

		TH_LOG("%s: %.4f of the optimum", topology[i], ratio);
		EXPECT_GE(1.02, ratio);
		EXPECT_LE(1 - 1e-9, ratio);
	}
}

TEST_HARNESS_MAIN
