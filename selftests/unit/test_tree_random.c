// SPDX-License-Identifier: GPL-2.0
/* Thousands of random plans of every method, checked by an independent verifier
 * and compared.
 */
#include "tree_random.h"

TEST_F_TIMEOUT(instance, every_method, 100)
{
	size_t round, k;

	for (round = 0; round < 1000; round++) {
		draw(self, topologies[rnd(N(topologies))], 1 + rnd(60),
		     1 + rnd(6));
		self->job.delta = rnd(5) * 0.25;
		self->job.sizes = rnd(2) ? self->sizes : NULL;
		for (k = 0; k < N(methods); k++)
			ASSERT_LE(0, cost(self, methods[k], round < 100));
		ASSERT_LE(0, cost(self, draw_sequence(self->topo), false));
		discard(self);
	}
}

TEST_F_TIMEOUT(instance, nothing_beats_exact, 100)
{
	size_t round, k;

	for (round = 0; round < 1000; round++) {
		double least;

		draw(self, topologies[rnd(N(topologies))], 1 + rnd(7), 1);
		self->job.sizes = rnd(2) ? self->sizes : NULL;
		self->job.delta = rnd(4) ? 0 : 1;
		self->job.max_depth = AGGT_DEPTH_NONE;
		least = cost(self, "exact", false);
		ASSERT_LE(0, least);
		for (k = 0; k < N(methods); k++)
			ASSERT_LE(least, cost(self, methods[k], false) + 1e-9);
		if (round % 5 == 0)
			ASSERT_LE(least, cost(self, "auto", false) + 1e-9);
		discard(self);
	}
}

/* Methods that do not need neighbouring servers work between switches, too. */
TEST_F_TIMEOUT(instance, agents, 100)
{
	static const char *const topology[] = { "fbfly:3,3,2", "hyperx:2,4:3",
						"fbfly:2,5,1", "hyperx:5:9" };
	size_t round, k;

	for (round = 0; round < 300; round++) {
		double best, other;

		draw(self, topology[round % N(topology)], 1 + rnd(20),
		     1 + rnd(4));
		self->job.delta = rnd(5) * 0.25;
		self->job.sizes = rnd(2) ? self->sizes : NULL;
		self->job.max_depth = AGGT_DEPTH_NONE;
		best = round < 50 ? cost(self, "auto", true) : 0;
		for (k = 0; k < N(methods); k++) {
			other = cost(self, methods[k], true);
			ASSERT_LE(0, other);
			ASSERT_LE(best, other + 1e-9);
		}
		discard(self);
	}
}

TEST_HARNESS_MAIN
