// SPDX-License-Identifier: GPL-2.0
/* The auto method with up to 4000 senders and in many dimensions: it is never
 * worse than another method or any routing sequence, and far below IRS.
 */
#include "tree_random.h"
#include "../../tools/libaggtree/graph.h"

static uint32_t longest_distance(const FIXTURE_DATA(instance) *self)
{
	uint32_t longest = 0;
	unsigned int dim;
	size_t i;

	for (i = 0; i < self->senders.n; i++) {
		uint32_t hops = verify_differ(self->topo,
					      self->senders.node[i],
					      self->receivers.node[0], &dim);

		longest = hops > longest ? hops : longest;
	}
	return longest;
}

/*
 * Within the same bound no method costs less than auto, and IRS costs far more.
 */
static void compare(struct __test_metadata *_metadata,
		    FIXTURE_DATA(instance) *self, double limit)
{
	double irs = cost(self, "irs", false), best;
	size_t k;

	best = cost(self, "auto", false);
	ASSERT_LE(0, best);
	TH_LOG("%s, %zu senders, %s: %.3f of IRS", aggt_topo_name(self->topo),
	       self->senders.n, self->job.max_depth ? "unbounded" :
	       "default bound", best / irs);
	EXPECT_GE(limit * irs, best);
	/* By default other methods have no bound: give them that of auto. */
	if (!self->job.max_depth)
		self->job.max_depth = longest_distance(self) + 2;
	for (k = 0; k < N(methods); k++)
		EXPECT_TRUE(wins(self, best, methods[k]));
	EXPECT_TRUE(wins(self, best, "rs:best"));
}

static void compare_both(struct __test_metadata *_metadata,
			 FIXTURE_DATA(instance) *self, const char *topology,
			 uint32_t senders, double unbounded)
{
	draw(self, topology, senders, 1);
	compare(_metadata, self, 0.92);
	self->job.max_depth = AGGT_DEPTH_NONE;
	compare(_metadata, self, unbounded);
	discard(self);
}

TEST_F_TIMEOUT(instance, bcube_6_5, 100)
{
	compare_both(_metadata, self, "bcube:6,5", 120, 0.72);
}

TEST_F_TIMEOUT(instance, bcube_8_5, 100)
{
	compare_both(_metadata, self, "bcube:8,5", 1000, 0.72);
}

TEST_F_TIMEOUT(instance, bcube_8_5_many, 100)
{
	compare_both(_metadata, self, "bcube:8,5", 4000, 0.80);
}

TEST_F_TIMEOUT(instance, bcube_4_8, 100)
{
	compare_both(_metadata, self, "bcube:4,8", 1000, 0.72);
}

/* Where flows grow as they merge, deep trees do not save traffic. */
TEST_F_TIMEOUT(instance, flows_grow, 100)
{
	draw(self, "bcube:8,5", 4000, 1);
	self->job.delta = 0.5;
	compare(_metadata, self, 1);
	discard(self);
}

/*
 * The search for the best sequence always finishes here; try random ones as
 * well.
 */
TEST_F_TIMEOUT(instance, auto_beats_all_sequences, 100)
{
	static const char *const topology[] = {
		"bcube:2,7", "bcube:3,5", "bcube:4,6", "hyperx:3,2,4,3,2:3",
		"ghc:2,3,2,3,2,3,2", "bcube:3,8",
	};
	unsigned int round, k;

	for (round = 0; round < 36; round++) {
		double best;

		draw(self, topology[round % N(topology)], 5 + rnd(60), 1);
		self->job.delta = rnd(5) * 0.25;
		if (rnd(2))
			draw_sizes(self);
		self->job.max_depth = rnd(2) ? AGGT_DEPTH_NONE :
				      aggt_topo_dims(self->topo) + rnd(3);
		best = cost(self, "auto", false);
		ASSERT_LE(0, best);
		ASSERT_TRUE(wins(self, best, "rs:best"));
		for (k = 0; k < 30; k++)
			ASSERT_TRUE(wins(self, best,
					 draw_sequence(self->topo)));
		discard(self);
	}
}

/* Arcs that a search of one or two seconds examines. */
#define MOST_WORK 1000000000ull

/* Arcs that auto examines in the largest networks; the last server receives. */
TEST_F_TIMEOUT(instance, work_is_bounded, LONG)
{
	static const struct {
		const char *name;
		uint32_t senders;
	} large[] = {
		{ "racks:300,600", 4000 }, { "leafspine:100,8,480", 2000 },
		{ "fattree:48", 2000 }, { "racks:99999,1", 1000 },
		{ "dcell:8,2", 1000 },
	};
	struct aggt_plan *plan;
	uint64_t work;
	size_t i;

	for (i = 0; i < N(large); i++) {
		draw(self, large[i].name, large[i].senders, 1);
		self->receivers.node[0] = aggt_topo_servers(self->topo) - 1;
		self->job.method = "auto";
		plan = aggt_plan_build(self->topo, &self->job, NULL);
		ASSERT_NE(NULL, plan);
		work = self->topo->graph->work;
		TH_LOG("%s: %llu arcs, skipped %s", large[i].name,
		       (unsigned long long)work,
		       aggt_plan_skipped(plan) ?: "nothing");
		EXPECT_GE(MOST_WORK, work);
		aggt_plan_free(plan);
		discard(self);
	}
}

TEST_HARNESS_MAIN
