// SPDX-License-Identifier: GPL-2.0
/* Plans around random failures, and plans under which each part of a small
 * network fails.
 */
#include "tree_broken.h"

static void break_part(struct aggt_topo *t)
{
	uint32_t v = rnd(aggt_topo_servers(t));
	char part[32];

	switch (rnd(3)) {
	case 0:
		snprintf(part, sizeof(part), "v%u", v);
		break;
	case 1:
		snprintf(part, sizeof(part), "w%u", rnd(aggt_topo_switches(t)));
		break;
	default:
		if (aggt_topo_agents(t))
			snprintf(part, sizeof(part), "w%u-w%u",
				 random_hop(t, v), aggt_topo_switch(t, v, 0));
		else
			snprintf(part, sizeof(part), "v%u-w%u", v,
				 aggt_topo_switch(t, v, rnd(aggt_topo_dims(t))));
	}
	if (!aggt_topo_fail(t, part, NULL))
		note_failure(part);
}

/* Draw a job whose members have not failed. */
static bool draw_around(FIXTURE_DATA(instance) *self, const char *topology)
{
	unsigned int k;

	self->topo = aggt_topo_parse(topology, NULL);
	n_broken = 0;
	for (k = rnd(10); k; k--)
		break_part(self->topo);
	if (!draw_members(self, 1 + rnd(7), 2))
		return false;
	for (k = 0; k < self->senders.n; k++)
		self->sizes[k] = 1 + rnd(4);
	self->job.sizes = rnd(2) ? self->sizes : NULL;
	self->job.delta = rnd(3) ? 0 : 1;
	self->job.max_depth = AGGT_DEPTH_NONE;
	return true;
}

/* Return: the cost of a plan around the failures, -1 if there is none */
static double cost_around(FIXTURE_DATA(instance) *self, const char *method,
			  const char **why)
{
	struct aggt_plan *plan;
	double cost;

	self->job.method = method;
	plan = aggt_plan_build(self->topo, &self->job, NULL);
	*why = NULL;
	if (!plan)
		return -1;
	*why = verify_plan(self->topo, &self->job, plan, true);
	if (!*why)
		*why = check_hops(self->topo, plan);
	cost = aggt_plan_metrics(plan)->cost;
	aggt_plan_free(plan);
	return cost;
}

/*
 * Build by all methods. No plan costs less than the optimum, and auto, the last
 * one, not more than any. Return: how many plans there are, -1 if one is wrong
 */
static int compare_around(FIXTURE_DATA(instance) *self)
{
	static const char *const method[] = { "exact", "existing", "unicast",
		"ars", "irs", "steiner", "mib", "mc", "m2", "srs", "auto" };
	double cost[N(method)];
	const char *why;
	int built = 0;
	size_t k;

	for (k = 0; k < N(method); k++) {
		cost[k] = cost_around(self, method[k], &why);
		if (why) {
			printf("# %s: %s\n", method[k], why);
			return -1;
		}
		built += cost[k] >= 0;
	}
	for (k = 1; k < N(method); k++) {
		if (cost[k] < 0 || (cost[0] >= 0 && cost[0] <= cost[k] + 1e-9 &&
				    cost[N(method) - 1] <= cost[k] + 1e-9))
			continue;
		printf("# %s: %g, exact %g, auto %g\n", method[k], cost[k],
		       cost[0], cost[N(method) - 1]);
		return -1;
	}
	return built;
}

TEST_F_TIMEOUT(instance, built_around_failures, 100)
{
	static const char *const topology[] = { "bcube:4,2", "ghc:3,5,4",
						"bcube:2,5", "fbfly:4,4,2",
						"bcube:4,1" };
	unsigned int round;
	int built = 0, now;

	for (round = 0; round < 400; round++) {
		if (draw_around(self, topology[round % N(topology)])) {
			now = compare_around(self);
			ASSERT_LE(0, now) {
				TH_LOG("round %u", round);
			}
			built += now;
		}
		discard(self);
	}
	EXPECT_LT(3000, built);
}

/* Get the @i-th part that is not a member; false: there are no more. */
static bool nth_part(const struct aggt_topo *t, uint32_t i, char *text,
		     size_t len)
{
	uint32_t dims = aggt_topo_dims(t), v;

	if (i < aggt_topo_switches(t)) {
		snprintf(text, len, "w%u", i);
		return true;
	}
	i -= aggt_topo_switches(t);
	v = i / dims;
	if (v >= aggt_topo_servers(t))
		return false;
	snprintf(text, len, "v%u-w%u", v, aggt_topo_switch(t, v, i % dims));
	return true;
}

/* Return: what is wrong if this part fails under a plan; NULL: nothing */
static const char *lose_part(FIXTURE_DATA(instance) *self, const char *part)
{
	struct aggt_topo *topo = aggt_topo_parse(aggt_topo_name(self->topo),
						 NULL);
	struct aggt_plan *plan = aggt_plan_build(topo, &self->job, NULL);
	struct aggt_change change = { .kind = AGGT_FAILED };
	static struct aggt_err why;
	struct aggt_plan *next;
	const char *fault;

	snprintf(change.part, sizeof(change.part), "%s", part);
	n_broken = 0;
	note_failure(part);
	next = aggt_plan_update(topo, plan, &change, 1, &why);
	fault = next ? verify_plan(topo, &self->job, next, true) : why.text;
	if (!fault)
		fault = check_hops(topo, next);
	aggt_plan_free(next);
	aggt_plan_free(plan);
	aggt_topo_free(topo);
	return fault;
}

/* Servers have at least two ports: each link and switch can be avoided. */
TEST_F_TIMEOUT(instance, each_part_fails, 100)
{
	static const char *const topology[] = { "bcube:2,1", "bcube:3,1",
						"bcube:2,2", "ghc:2,3",
						"bcube:4,1" };
	static const char *const method[] = { "irs", "steiner", "ars", "m2",
					      "srs", "existing" };
	unsigned int round;
	uint32_t i;

	for (round = 0; round < 120; round++) {
		char part[32];

		draw(self, topology[round % N(topology)], 1 + rnd(16), 1);
		self->job.method = method[round % N(method)];
		for (i = 0; nth_part(self->topo, i, part, sizeof(part)); i++) {
			const char *why = lose_part(self, part);

			ASSERT_EQ(NULL, why) {
				TH_LOG("round %u %s %s %s: %s", round,
				       aggt_topo_name(self->topo),
				       self->job.method, part, why);
			}
		}
		discard(self);
	}
}

TEST_HARNESS_MAIN
