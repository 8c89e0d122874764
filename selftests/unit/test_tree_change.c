// SPDX-License-Identifier: GPL-2.0
/* Plans under random changes, and plans built around random failures. */
#include "tree_random.h"

/* A switch that has a link with the one of server @v. */
static uint32_t random_hop(const struct aggt_topo *t, aggt_node v)
{
	unsigned int d = rnd(aggt_topo_dims(t));
	unsigned int digit = aggt_topo_digit(t, v, d) + 1;

	return aggt_topo_switch(t, aggt_topo_with_digit(t, v, d,
				digit % aggt_topo_radix(t, d)), 0);
}

static void random_change(const struct aggt_topo *t,
			  const struct aggt_plan *plan, char *text, size_t len)
{
	const struct aggt_job *job = aggt_plan_job(plan);
	uint32_t n = aggt_topo_servers(t);

	switch (rnd(6)) {
	case 0:
		snprintf(text, len, "join:v%u", rnd(n));
		break;
	case 1:
		snprintf(text, len, "leave:v%u",
			 job->senders[rnd(job->n_senders)]);
		break;
	case 2:
		snprintf(text, len, "receiver:v%u=v%u",
			 job->receivers[rnd(job->n_receivers)], rnd(n));
		break;
	case 3:
		snprintf(text, len, "failed:v%u", rnd(n));
		break;
	case 4:
		snprintf(text, len, "failed:w%u", rnd(aggt_topo_switches(t)));
		break;
	default:
		n = rnd(n);
		if (aggt_topo_agents(t) && rnd(2))
			snprintf(text, len, "failed:w%u-w%u", random_hop(t, n),
				 aggt_topo_switch(t, n, 0));
		else
			snprintf(text, len, "failed:v%u-w%u", n,
				 aggt_topo_switch(t, n,
						  rnd(aggt_topo_dims(t))));
	}
}

/* What has failed, by the test's own account; @to is the switch of a trunk. */
static struct {
	uint32_t v;
	uint32_t sw;
	uint32_t to;
} broken[32];
static size_t n_broken;

static void note_failure(const char *part)
{
	broken[n_broken].v = AGGT_NONE;
	broken[n_broken].sw = AGGT_NONE;
	broken[n_broken].to = AGGT_NONE;
	sscanf(part, "v%u", &broken[n_broken].v);
	if (strchr(part, 'w'))
		sscanf(strchr(part, 'w'), "w%u-w%u", &broken[n_broken].sw,
		       &broken[n_broken].to);
	n_broken++;
}

/* Between switches with servers: neither of them nor their link has failed. */
static bool trunk_works(uint32_t a, uint32_t b)
{
	size_t i;

	for (i = 0; i < n_broken; i++) {
		uint32_t sw = broken[i].sw, to = broken[i].to;

		if (broken[i].v != AGGT_NONE)
			continue;
		if (to == AGGT_NONE ? sw == a || sw == b :
		    (sw == a && to == b) || (sw == b && to == a))
			return false;
	}
	return true;
}

/* With agents, who has an entry works and has a switch that does. */
static bool server_works(const struct aggt_entry *e)
{
	size_t i;

	for (i = 0; i < n_broken; i++)
		if (broken[i].v == AGGT_NONE ?
		    broken[i].to == AGGT_NONE && broken[i].sw == e->sw :
		    broken[i].v == e->server)
			return false;
	return true;
}

static bool hop_works(const struct aggt_topo *t, aggt_node a, aggt_node b)
{
	uint32_t sw = aggt_topo_switch(t, a, aggt_topo_link_dim(t, a, b));
	size_t i;

	for (i = 0; i < n_broken; i++) {
		bool here = broken[i].v == a || broken[i].v == b;

		if (broken[i].v == AGGT_NONE ? broken[i].sw == sw :
		    here && (broken[i].sw == AGGT_NONE || broken[i].sw == sw))
			return false;
	}
	return true;
}

static const char *check_hops(const struct aggt_topo *t,
			      const struct aggt_plan *plan)
{
	size_t i, k, n;
	const struct aggt_entry *e = aggt_plan_entries(plan, &n);

	for (k = 0; k < aggt_plan_trees(plan); k++) {
		const struct aggt_tree *tree = aggt_plan_tree(plan, k);

		for (i = 1; i < aggt_tree_size(tree); i++) {
			uint32_t a = aggt_tree_server(tree, i);
			uint32_t b = aggt_tree_server(tree,
						aggt_tree_parent(tree, i));

			if (!(aggt_topo_agents(t) ? trunk_works(a, b) :
						    hop_works(t, a, b)))
				return "a hop through what has failed";
		}
	}
	for (i = 0; i < n && aggt_topo_agents(t); i++)
		if (!server_works(&e[i]))
			return "an entry of what has failed";
	return NULL;
}

static bool same_entry(const struct aggt_entry *a, const struct aggt_entry *b)
{
	return a->receiver == b->receiver && a->flags == b->flags &&
	       a->contributors == b->contributors && a->links == b->links &&
	       a->sources == b->sources && a->parent == b->parent &&
	       a->parent_end == b->parent_end &&
	       a->n_children == b->n_children &&
	       (!a->n_children || !memcmp(a->children, b->children,
					  a->n_children * sizeof(aggt_node)));
}

/* Whether the old entries become the new ones by the differences, no less. */
static const char *check_diff(const struct aggt_plan *from,
			      const struct aggt_plan *to)
{
	size_t n_from, n_to, n, i, j = 0, k = 0;
	const struct aggt_entry *a = aggt_plan_entries(from, &n_from);
	const struct aggt_entry *b = aggt_plan_entries(to, &n_to);
	struct aggt_diff *diff;
	const char *why = NULL;

	if (aggt_plan_diff(from, to, &diff, &n))
		return "no memory";
	for (i = 0; i <= n && !why; i++) {
		while (j < n_from && (i == n || &a[j] != diff[i].from) &&
		       k < n_to && (i == n || &b[k] != diff[i].to))
			if (!same_entry(&a[j++], &b[k++]))
				why = "an entry changed unseen";
		if (i == n)
			break;
		if (diff[i].from && diff[i].to &&
		    same_entry(diff[i].from, diff[i].to))
			why = "an entry that stays is named";
		j += diff[i].from == &a[j];
		k += diff[i].to == &b[k];
	}
	if (!why && (j != n_from || k != n_to))
		why = "entries are missing";
	free(diff);
	return why;
}

static const char *check_switch_diff(const struct aggt_plan *from,
				     const struct aggt_plan *to)
{
	struct aggt_switch_diff *diff;
	size_t n, n_from, n_to, i;
	long added = 0;

	aggt_plan_switch_entries(from, &n_from);
	aggt_plan_switch_entries(to, &n_to);
	if (aggt_plan_switch_diff(from, to, &diff, &n))
		return "no memory";
	for (i = 0; i < n; i++)
		added += diff[i].to ? 1 : -1;
	for (i = 1; i < n; i++)
		if (diff[i].from && diff[i - 1].to &&
		    diff[i].from->sw == diff[i - 1].to->sw &&
		    diff[i].from->receiver == diff[i - 1].to->receiver &&
		    diff[i].from->server == diff[i - 1].to->server)
			added = -9999;
	free(diff);
	return (long)n_from + added == (long)n_to ? NULL : "switch entries";
}

/* What is wrong with @to, which was @from until something changed. */
static const char *check_update(const struct aggt_topo *t,
				const struct aggt_plan *from,
				const struct aggt_plan *to)
{
	const char *why = check_diff(from, to);

	if (!why)
		why = check_switch_diff(from, to);
	if (!why)
		why = check_hops(t, to);
	return why ? why : verify_plan(t, aggt_plan_job(to), to, true);
}

/*
 * One random change. Return: what is wrong or NULL; a refusal leaves the plan
 * as it is, and the text empty if the network has come to its end.
 */
static const char *change_plan(struct aggt_topo *t, struct aggt_plan **plan,
			       char *text, size_t len)
{
	struct aggt_change c;
	struct aggt_plan *next;
	const char *why;

	random_change(t, *plan, text, len);
	if (aggt_change_parse(t, text, &c, NULL))
		return "no change";
	next = aggt_plan_update(t, *plan, &c, 1, NULL);
	if (!next) {
		if (c.kind == AGGT_FAILED)
			*text = 0;
		return NULL;
	}
	if (c.kind == AGGT_FAILED)
		note_failure(c.part);
	why = check_update(t, *plan, next);
	aggt_plan_free(*plan);
	*plan = next;
	return why;
}

/* Every plan on the way is valid; refusals leave the one before in place. */
TEST_F_TIMEOUT(instance, random_changes, 100)
{
	static const char *const topology[] = { "bcube:4,2", "ghc:3,5,4",
						"bcube:2,5", "bcube:8,1",
						"fbfly:3,4,2", "hyperx:4,4:3" };
	static const char *const method[] = { "ars", "irs", "m2", "steiner",
					      "unicast", "srs", "existing" };
	unsigned int round, k, taken = 0;

	for (round = 0; round < 420; round++) {
		struct aggt_plan *plan, *was;
		char text[64] = "?";

		draw(self, topology[round % 6], 12, 2);
		self->job.method = method[round % 7];
		self->job.delta = rnd(3) * 0.5;
		plan = aggt_plan_build(self->topo, &self->job, NULL);
		ASSERT_NE(NULL, plan);
		n_broken = 0;
		for (k = 0; k < 10 && *text; k++) {
			const char *why;

			was = plan;
			why = change_plan(self->topo, &plan, text,
					  sizeof(text));
			ASSERT_EQ(NULL, why) {
				TH_LOG("round %u %s %s: %s", round,
				       self->job.method, text, why);
			}
			taken += plan != was;
		}
		aggt_plan_free(plan);
		discard(self);
	}
	EXPECT_LT(1500, taken);
}

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

/* A job of members that work. */
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

/* Cost of a plan that goes around what is broken, -1 if there is none. */
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
 * Build by all methods. None is cheaper than the optimum, and auto, the last,
 * no worse than any. Return: how many there are, -1 if something is wrong.
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

TEST_HARNESS_MAIN
