// SPDX-License-Identifier: GPL-2.0
/* Random instances: every method's plans verified and compared. */
#include "tree_verify.h"
#include "kselftest_harness.h"

static const char *const topologies[] = {
	"bcube:4,1", "bcube:2,5", "bcube:3,3", "ghc:2,5,3", "bcube:6,2",
	"ghc:7", "bcube:9,2", "bcube:4,2", "bcube:2,7",
};

static const char *const methods[] = {
	"existing", "unicast", "unicast:random", "unicast:rotate", "ars",
	"irs", "steiner", "mib", "mc", "m2", "srs", "srs:safe",
};

#define N(array) (sizeof(array) / sizeof(*(array)))

static uint64_t state;

static uint32_t rnd(uint32_t bound)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % bound;
}

FIXTURE(instance)
{
	struct aggt_topo *topo;
	struct aggt_list senders;
	struct aggt_list receivers;
	struct aggt_job job;
	double sizes[128];
};

FIXTURE_SETUP(instance)
{
	state = 20240229;
	TH_LOG("seed %llu", (unsigned long long)state);
	memset(self, 0, sizeof(*self));
}

FIXTURE_TEARDOWN(instance)
{
}

static void draw(FIXTURE_DATA(instance) *self, const char *topology,
		 uint32_t senders, uint32_t receivers)
{
	char text[32];
	size_t i;

	self->topo = aggt_topo_parse(topology, NULL);
	if (senders > aggt_topo_servers(self->topo))
		senders = aggt_topo_servers(self->topo);
	snprintf(text, sizeof(text), "random:%u", senders);
	aggt_list_parse(self->topo, text, state, &self->senders, NULL);
	snprintf(text, sizeof(text), "random:%u", receivers);
	aggt_list_parse(self->topo, text, ~state, &self->receivers, NULL);
	memset(&self->job, 0, sizeof(self->job));
	self->job.senders = self->senders.node;
	self->job.n_senders = self->senders.n;
	self->job.receivers = self->receivers.node;
	self->job.n_receivers = self->receivers.n;
	self->job.seed = state;
	for (i = 0; i < self->senders.n; i++)
		self->sizes[i] = rnd(5) * 0.5;
}

static void discard(FIXTURE_DATA(instance) *self)
{
	aggt_list_clear(&self->senders);
	aggt_list_clear(&self->receivers);
	aggt_topo_free(self->topo);
}

/* Cost of a verified plan, -1 if there is something wrong with it. */
static double cost(FIXTURE_DATA(instance) *self, const char *method, bool each)
{
	struct aggt_err err = { "" };
	struct aggt_plan *plan;
	const char *why;
	double sum;

	self->job.method = method;
	plan = aggt_plan_build(self->topo, &self->job, &err);
	if (!plan) {
		printf("# %s: %s\n", method, err.text);
		return -1;
	}
	why = verify_plan(self->topo, &self->job, plan, each);
	sum = aggt_plan_metrics(plan)->cost;
	if (!strcmp(method, "srs") &&
	    sum > aggt_plan_predicted(plan) * (1 + 1e-9))
		why = "dearer than by formula (1)";
	if (why)
		printf("# %s %s: %s\n", aggt_topo_name(self->topo), method,
		       why);
	aggt_plan_free(plan);
	return why ? -1 : sum;
}

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
		discard(self);
	}
}

TEST_F_TIMEOUT(instance, nothing_beats_exact, 100)
{
	size_t round, k;

	for (round = 0; round < 300; round++) {
		double least;

		draw(self, topologies[rnd(N(topologies))], 1 + rnd(7), 1);
		self->job.sizes = rnd(2) ? self->sizes : NULL;
		self->job.delta = rnd(4) ? 0 : 1;
		self->job.max_depth = AGGT_DEPTH_NONE;
		least = cost(self, "exact", false);
		ASSERT_LE(0, least);
		for (k = 0; k < N(methods); k++)
			ASSERT_LE(least, cost(self, methods[k], false) + 1e-9);
		if (round < 30)
			ASSERT_LE(least, cost(self, "auto", false) + 1e-9);
		discard(self);
	}
}

/* Never worse than any other method that keeps within the bound. */
TEST_F_TIMEOUT(instance, auto_is_best, 100)
{
	size_t round, k;

	for (round = 0; round < 25; round++) {
		double best;

		draw(self, topologies[rnd(N(topologies))], 1 + rnd(40),
		     1 + rnd(3));
		self->job.delta = rnd(5) * 0.25;
		self->job.sizes = rnd(2) ? self->sizes : NULL;
		self->job.max_depth = rnd(2) ? AGGT_DEPTH_NONE : 8 + rnd(3);
		best = cost(self, "auto", true);
		ASSERT_LE(0, best);
		for (k = 0; k < N(methods); k++) {
			double other = cost(self, methods[k], false);

			ASSERT_TRUE(other < 0 || best <= other + 1e-9);
		}
		discard(self);
	}
}

/* Methods that need no neighbours of servers do as well between switches. */
TEST_F_TIMEOUT(instance, agents, 100)
{
	static const char *const topology[] = { "fbfly:3,3,2", "hyperx:2,4:3",
						"fbfly:2,5,1", "hyperx:5:9" };
	size_t round, k;

	for (round = 0; round < 500; round++) {
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

static double mean_ratio(FIXTURE_DATA(instance) *self, const char *topology,
			 uint32_t senders, unsigned int rounds)
{
	double sum = 0;
	unsigned int i;

	for (i = 0; i < rounds; i++) {
		draw(self, topology, senders, 1);
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
