// SPDX-License-Identifier: GPL-2.0
/* Plans for the earliest end (method auto with the objective time), compared
 * with the optimum in small networks.
 */
#include "tree_random.h"
#include "../../tools/libaggtree/internal.h"

static const char *const small[] = {
	"bcube:2,2", "bcube:3,1", "ghc:2,4", "ghc:7", "ghc:2,5", "bcube:2,1",
};

/* Networks too large for the optimum: auto relies on its search. */
static const char *const larger[] = { "ghc:3,4", "ghc:2,2,3" };

/* Return: the time of a verified plan, -1 if the plan is wrong */
static double time_of(FIXTURE_DATA(instance) *self, const char *method)
{
	struct aggt_err err = { "" };
	struct aggt_plan *plan;
	const char *why;
	double end;

	self->job.method = method;
	plan = aggt_plan_build(self->topo, &self->job, &err);
	if (!plan) {
		printf("# %s: %s\n", method, err.text);
		return -1;
	}
	why = verify_plan(self->topo, &self->job, plan, true);
	end = aggt_plan_metrics(plan)->time;
	if (why)
		printf("# %s %s: %s\n", aggt_topo_name(self->topo), method,
		       why);
	aggt_plan_free(plan);
	return why ? -1 : end;
}

/* Draw a job for which exact is possible. */
static void draw_timed(FIXTURE_DATA(instance) *self, const char *topology,
		       bool pipelined)
{
	draw(self, topology, 1 + rnd(11), 1);
	self->job.objective = AGGT_TIME;
	self->job.packet = 1 / 256.0;
	self->job.pipelined = pipelined;
	self->job.delta = !rnd(4);
	if (rnd(2))
		self->job.sizes = self->sizes;
}

/* Return: auto's time over the optimum; infinite if a plan is wrong */
static double over_optimum(FIXTURE_DATA(instance) *self)
{
	double best = time_of(self, "exact"), end = time_of(self, "auto");

	if (best < 0 || end < best * (1 - 1e-9))
		return INFINITY;
	return end > 0 ? end / best : 1;
}

TEST_F_TIMEOUT(instance, near_the_optimum, 100)
{
	unsigned int round;
	double ratio;

	for (round = 0; round < 200; round++) {
		draw_timed(self, small[rnd(N(small))], round % 2);
		ratio = over_optimum(self);
		if (ratio > 1.05)
			TH_LOG("%s, %zu senders: %.3f",
			       aggt_topo_name(self->topo), self->senders.n,
			       ratio);
		ASSERT_GE(1.05, ratio);
		discard(self);
	}
}

TEST_F_TIMEOUT(instance, search_is_near_the_optimum, 100)
{
	double ratio, sum = 0, most = 1;
	unsigned int round;

	for (round = 0; round < 15; round++) {
		draw_timed(self, larger[rnd(N(larger))], false);
		ratio = over_optimum(self);
		sum += ratio / 15;
		if (ratio > most)
			most = ratio;
		discard(self);
	}
	TH_LOG("on average %.3f of the optimum, at most %.3f", sum, most);
	EXPECT_GE(1.05, sum);
}

/* auto never ends later than another method, whatever the end depends on. */
TEST_F_TIMEOUT(instance, ends_first, 100)
{
	unsigned int round, k;
	double best;

	for (round = 0; round < 12; round++) {
		draw(self, topologies[rnd(N(topologies))], 1 + rnd(20), 1);
		self->job.objective = AGGT_TIME;
		self->job.packet = 1 / 256.0;
		self->job.pipelined = rnd(2);
		self->job.delta = rnd(5) * 0.25;
		if (rnd(2))
			draw_sizes(self);
		best = time_of(self, "auto");
		ASSERT_LE(0, best);
		for (k = 0; k < N(methods); k++)
			EXPECT_GE(time_of(self, methods[k]) * (1 + 1e-9), best);
		discard(self);
	}
}

static const char *const graphs[] = {
	"leafspine:4,2,8", "fattree:4", "racks:3,5", "camcube:3,3,2", "dcell:3,1",
};

static const char *const graph_methods[] = {
	"unicast", "getparent", "steiner",
};

/* Return: the time of a plan for all servers to the first one */
static double time_of_all(FIXTURE_DATA(instance) *self, const char *topology,
			  const char *method, bool pipelined)
{
	double end;

	draw(self, topology, UINT32_MAX, 1);
	self->job.objective = AGGT_TIME;
	self->job.packet = 1 / 1024.0;
	self->job.pipelined = pipelined;
	end = time_of(self, method);
	discard(self);
	return end;
}

/*
 * Servers that wait merge in pairs, as many as possible at once: 32 servers in five
 * rounds. Servers that do not wait send a flow by each link once.
 */
TEST_F(instance, leafspine_ends_early)
{
	EXPECT_GE(5.1, time_of_all(self, "leafspine:4,2,8", "auto", false));
	EXPECT_LE(5, time_of_all(self, "leafspine:4,2,8", "auto", false));
	EXPECT_GE(1.2, time_of_all(self, "leafspine:4,2,8", "auto", true));
	EXPECT_LE(10, time_of_all(self, "leafspine:4,2,8", "getparent", true));
}

/* In graphs, too, auto never ends later than another method, of shuffles as well. */
TEST_F_TIMEOUT(instance, ends_first_in_graphs, 100)
{
	unsigned int round, k;
	double best;

	for (round = 0; round < 60; round++) {
		draw(self, graphs[rnd(N(graphs))], 1 + rnd(30), 1 + rnd(2) * rnd(3));
		self->job.objective = AGGT_TIME;
		self->job.packet = 1 / 256.0;
		self->job.pipelined = rnd(2);
		self->job.delta = rnd(5) * 0.25;
		if (rnd(2))
			self->job.sizes = self->sizes;
		best = time_of(self, "auto");
		ASSERT_LE(0, best);
		for (k = 0; k < N(graph_methods) && self->receivers.n == 1; k++)
			EXPECT_GE(time_of(self, graph_methods[k]) * (1 + 1e-9),
				  best);
		discard(self);
	}
}

/* With a bound on the depth, and around a failure. */
TEST_F_TIMEOUT(instance, bounds_and_failures, 100)
{
	struct aggt_plan *plan;

	draw(self, "bcube:4,2", 30, 1);
	self->job.objective = AGGT_TIME;
	self->job.pipelined = true;
	self->job.packet = 1 / 256.0;
	self->job.method = "auto";
	self->job.max_depth = 3;
	ASSERT_EQ(0, aggt_topo_fail(self->topo, "w7", NULL));
	plan = aggt_plan_build(self->topo, &self->job, NULL);
	ASSERT_NE(NULL, plan);
	EXPECT_EQ(NULL, verify_plan(self->topo, &self->job, plan, true));
	TH_LOG("depth %u, time %g", aggt_plan_metrics(plan)->depth,
	       aggt_plan_metrics(plan)->time);
	aggt_plan_free(plan);
	discard(self);
}

/* One flow per link, whatever the network's size; prints figures only. */
TEST_F_TIMEOUT(instance, many_senders, 100)
{
	draw(self, "bcube:6,6", 120, 1);
	self->job.objective = AGGT_TIME;
	self->job.packet = 1 / 1000.0;
	TH_LOG("120 senders, keyed: existing %g, m2 %g, auto %g",
	       time_of(self, "existing"), time_of(self, "m2"),
	       time_of(self, "auto"));
	self->job.pipelined = true;
	TH_LOG("120 senders, pipelined: existing %g, m2 %g, auto %g",
	       time_of(self, "existing"), time_of(self, "m2"),
	       time_of(self, "auto"));
	discard(self);
}

/* Servers of networks in which all trees are tried. */
#define TINY 6

/* A tree: each server's parent, or its own number if it has none. */
struct any_tree {
	aggt_node parent[TINY];
};

/* Return: the time of these trees, infinite if they are not trees */
static double time_of_trees(FIXTURE_DATA(instance) *self,
			    const struct any_tree *tree)
{
	struct aggt_edge edge[2][TINY];
	struct aggt_shape shape[2] = { { .entry = AGGT_NONE },
				       { .entry = AGGT_NONE } };
	struct aggt_plan *plan;
	double end = INFINITY;
	aggt_node v, up;
	size_t i;

	for (i = 0; i < self->job.n_receivers; i++) {
		shape[i].edge = edge[i];
		for (v = 0; v < aggt_topo_servers(self->topo); v++) {
			up = tree[i].parent[v];
			if (up != v)
				edge[i][shape[i].n_edges++] =
					(struct aggt_edge){ v, up };
		}
	}
	plan = aggt_plan_restore(self->topo, &self->job, shape, NULL);
	if (plan)
		end = aggt_plan_metrics(plan)->time;
	aggt_plan_free(plan);
	return end;
}

/* Go to the next assignment of parents. Return: false after the last one */
static bool next_tree(const struct aggt_topo *t, struct any_tree *tree)
{
	uint32_t n = aggt_topo_servers(t);
	aggt_node v;

	for (v = 0; v < n && ++tree->parent[v] == n; v++)
		tree->parent[v] = 0;
	return v < n;
}

/* Return: all trees to one receiver, in an array to be freed */
static struct any_tree *all_trees(FIXTURE_DATA(instance) *self, size_t receiver,
				  size_t *n)
{
	struct aggt_job job = self->job;
	struct any_tree *list = malloc(8192 * sizeof(*list));
	struct any_tree tree = { { 0 } };
	aggt_node root = job.receivers[receiver], v;

	*n = 0;
	self->job.receivers = &root;
	self->job.n_receivers = 1;
	do {
		for (v = 0; v < aggt_topo_servers(self->topo); v++)
			if (tree.parent[v] != v &&
			    (v == root || verify_links(self->topo, v,
						       tree.parent[v]) != 2))
				break;
		if (v == aggt_topo_servers(self->topo) &&
		    time_of_trees(self, &tree) < INFINITY)
			list[(*n)++] = tree;
	} while (*n < 8192 && next_tree(self->topo, &tree));
	self->job = job;
	return list;
}

/* The earliest end of all trees to one receiver or two. */
static double brute_force(FIXTURE_DATA(instance) *self)
{
	struct any_tree *list[2] = { NULL, NULL }, pair[2];
	double best = INFINITY;
	size_t n[2] = { 0, 1 }, i, k;

	for (i = 0; i < self->job.n_receivers; i++)
		list[i] = all_trees(self, i, &n[i]);
	for (i = 0; i < n[0]; i++) {
		for (k = 0; k < n[1]; k++) {
			pair[0] = list[0][i];
			if (list[1])
				pair[1] = list[1][k];
			best = fmin(best, time_of_trees(self, pair));
		}
	}
	free(list[0]);
	free(list[1]);
	return best;
}

/*
 * Sums of different sizes all differ, so any of them may be the load of a link.
 */
TEST_F_TIMEOUT(instance, exact_is_the_optimum, 100)
{
	static const char *const tiny[] = { "ghc:2,3", "bcube:2,1", "ghc:5" };
	double best, end;
	unsigned int round;

	for (round = 0; round < 8; round++) {
		draw_timed(self, tiny[rnd(N(tiny))], round % 4 != 3);
		if (rnd(3))
			draw_sizes(self);
		self->job.method = "unicast";
		best = brute_force(self);
		end = time_of(self, "exact");
		EXPECT_LE(best * (1 - 1e-9), end);
		EXPECT_GE(best * (1 + 1e-9), end) {
			TH_LOG("%s: %g, of all trees %g",
			       aggt_topo_name(self->topo), end, best);
		}
		discard(self);
	}
}

/* Trees that share links: the loads add up. */
TEST_F_TIMEOUT(instance, shuffle_is_near_the_optimum, 100)
{
	static const char *const tiny[] = { "bcube:2,1", "ghc:5" };
	double best, end, sum = 0, most = 1;
	const unsigned int rounds = 16;
	unsigned int round;

	for (round = 0; round < rounds; round++) {
		draw(self, tiny[rnd(N(tiny))], 3 + rnd(3), 2);
		self->job.objective = AGGT_TIME;
		self->job.packet = 1 / 256.0;
		self->job.pipelined = round % 2;
		self->job.delta = rnd(2);
		self->job.method = "unicast";
		best = brute_force(self);
		end = time_of(self, "auto");
		ASSERT_LE(best * (1 - 1e-9), end);
		sum += end / best / rounds;
		most = fmax(most, end / best);
		discard(self);
	}
	TH_LOG("on average %.3f of the optimum, at most %.3f", sum, most);
	EXPECT_GE(1.01, sum);
	EXPECT_GE(1.1, most);
}

/* The number of tries does not grow with the number of sums. */
TEST_F_TIMEOUT(instance, exact_tries_few_limits, 100)
{
	struct aggt_tree *tree;
	unsigned int round;
	int tried, most = 0;
	size_t i;

	for (round = 0; round < 4; round++) {
		draw(self, "bcube:3,1", 8, 1);
		self->job.packet = 1 / 4.0;
		self->job.pipelined = true;
		self->job.sizes = self->sizes;
		for (i = 0; i < self->senders.n; i++)
			self->sizes[i] = 1 + rnd(100000) / 1e5;
		tree = aggt_tree_new(self->topo, &self->job,
				     self->receivers.node[0]);
		tried = aggt_build_optimum_time(tree, &self->job);
		most = tried > most ? tried : most;
		aggt_tree_free(tree);
		discard(self);
	}
	TH_LOG("at most %d limits of 256", most);
	EXPECT_LE(1, most);
	EXPECT_GE(40, most);
}

/* Each tree of a shuffle takes as long, so a shuffle may take too long. */
TEST_F(instance, exact_of_a_shuffle)
{
	struct aggt_err err = { "" };
	struct aggt_plan *plan;

	draw(self, "bcube:3,1", 2, 9);
	self->job.objective = AGGT_TIME;
	self->job.packet = 1 / 256.0;
	self->job.method = "auto";
	plan = aggt_plan_build(self->topo, &self->job, &err);
	ASSERT_NE(NULL, plan);
	EXPECT_STREQ("exact", aggt_plan_skipped(plan));
	aggt_plan_free(plan);
	discard(self);
	draw(self, "ghc:2,2,3", 2, 2);
	self->job.objective = AGGT_TIME;
	self->job.method = "exact";
	EXPECT_EQ(NULL, aggt_plan_build(self->topo, &self->job, &err));
	EXPECT_NE(NULL, strstr(err.text, "beyond its limit; use auto"));
	discard(self);
}

TEST_HARNESS_MAIN
