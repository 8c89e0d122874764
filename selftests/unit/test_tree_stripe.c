// SPDX-License-Identifier: GPL-2.0
/*
 * Stripes: the trees of random instances, compared with a verifier that counts
 * trees on each link from the switches of each hop, and with cuts and max-flows
 * that are computed from descriptions alone.
 */
#include "tree_random.h"

/* Servers, then switches, of the networks here. */
#define VERTICES 1200

static uint16_t crossed[VERTICES][VERTICES];
static uint64_t rates[VERTICES][VERTICES];

/* The vertex number @i of a hop after its first server. */
static uint32_t vertex(const struct aggt_topo *t, uint32_t a, uint32_t b,
		       uint32_t i)
{
	uint32_t sw = aggt_topo_hop_switch(t, a, b, i);

	return sw == AGGT_NONE ? b : aggt_topo_servers(t) + sw;
}

static void count_hop(const struct aggt_topo *t, uint32_t a, uint32_t b)
{
	uint32_t at = a, next, i;

	for (i = 0; at != b; i++, at = next) {
		next = vertex(t, a, b, i);
		crossed[at][next]++;
	}
}

/* Return: the most trees on a link; @slowest: the rate of a flow of 1. */
static unsigned int count_trees(const struct aggt_topo *t,
				const struct aggt_plan *plan, double *slowest)
{
	uint32_t n = aggt_topo_servers(t) + aggt_topo_switches(t), a, b, i;
	unsigned int most = 0;

	memset(crossed, 0, sizeof(crossed));
	for (i = 0; i < aggt_plan_trees(plan); i++) {
		const struct aggt_tree *tree = aggt_plan_tree(plan, i);
		size_t v;

		for (v = 1; v < aggt_tree_size(tree); v++)
			count_hop(t, aggt_tree_server(tree, v),
				  aggt_tree_server(tree,
						   aggt_tree_parent(tree, v)));
	}
	*slowest = INFINITY;
	for (a = 0; a < n; a++)
		for (b = 0; b < n; b++) {
			double rate = rates[a][b] ? rates[a][b] : 1;

			if (crossed[a][b])
				*slowest = fmin(*slowest, rate * i /
							  crossed[a][b]);
			if (crossed[a][b] > most)
				most = crossed[a][b];
		}
	return most;
}

/* Trees of all senders to one receiver, and what the plan says of them. */
static const char *verify_stripes(const struct aggt_topo *t,
				  const struct aggt_job *job,
				  const struct aggt_plan *plan)
{
	const struct aggt_stripes *s = aggt_plan_stripes(plan);
	const char *why = verify_plan(t, job, plan, true);
	unsigned int stress;
	double slowest;

	if (!s || s->n != aggt_plan_trees(plan))
		return FAULT("%zu trees", aggt_plan_trees(plan));
	if (why)
		return why;
	stress = count_trees(t, plan, &slowest);
	if (s->stress != stress)
		return FAULT("%u trees on a link, not %u", stress, s->stress);
	if (stress && fabs(s->share * s->bound / slowest - 1) > 1e-9)
		return FAULT("rate %g, not %g of %g", slowest, s->share,
			     s->bound);
	return s->share > 1 + 1e-9 ? FAULT("beyond the bound") : NULL;
}

/* Return: the plan, verified, or NULL. */
static struct aggt_plan *stripes(const struct aggt_topo *t,
				 struct aggt_job *job, unsigned int n)
{
	struct aggt_err err = { "" };
	struct aggt_plan *plan;
	char method[32];
	const char *why;

	snprintf(method, sizeof(method), "stripes:%u", n);
	job->method = method;
	plan = aggt_plan_build(t, job, &err);
	why = plan ? verify_stripes(t, job, plan) : err.text;
	if (!why)
		return plan;
	printf("# %s, %zu senders to v%u, %u stripes: %s\n", aggt_topo_name(t),
	       job->n_senders, job->receivers[0], n, why);
	aggt_plan_free(plan);
	return NULL;
}

/* No link has two trees, whatever the members are. */
TEST_F_TIMEOUT(instance, digits, 100)
{
	static const char *const topology[] = {
		"bcube:4,1", "bcube:2,5", "bcube:3,3", "bcube:6,2", "bcube:2,0",
		"ghc:2,3", "ghc:4,2,3", "ghc:2,5,3", "ghc:6,2,2,3", "ghc:7",
	};
	size_t round;

	for (round = 0; round < 150; round++) {
		const struct aggt_metrics *m;
		const struct aggt_stripes *s;
		struct aggt_plan *plan;
		unsigned int dims, n;

		draw(self, topology[round % N(topology)], 1 + rnd(300), 1);
		self->job.delta = round < 100 ? 0 : rnd(5) * 0.25;
		self->job.sizes = round < 100 ? NULL : self->sizes;
		dims = aggt_topo_dims(self->topo);
		n = 1 + rnd(dims);
		plan = stripes(self->topo, &self->job, n);
		ASSERT_NE(NULL, plan);
		s = aggt_plan_stripes(plan);
		m = aggt_plan_metrics(plan);
		EXPECT_EQ(dims, s->bound);
		if (self->senders.n > 1 ||
		    self->senders.node[0] != self->receivers.node[0]) {
			ASSERT_EQ(1, s->stress);
			ASSERT_GT(1e-9, fabs(s->share * dims - n));
			/* Each tree has 1/N of a flow. */
			if (round < 100)
				ASSERT_GT(1e-9, fabs(m->bottleneck * n - 1));
		}
		aggt_plan_free(plan);
		discard(self);
	}
}

/* All links of a tree are in use if all servers send. */
TEST_F(instance, everybody_sends)
{
	struct aggt_plan *plan;
	uint32_t links;

	draw(self, "bcube:4,2", 64, 1);
	plan = stripes(self->topo, &self->job, 3);
	ASSERT_NE(NULL, plan);
	links = aggt_plan_tree_metrics(plan, 0)->links;
	EXPECT_LE(2 * 63 / 2, links);
	EXPECT_EQ(1, aggt_plan_stripes(plan)->share);
	EXPECT_GE(3 * 3 + 1, aggt_plan_metrics(plan)->depth);
	aggt_plan_free(plan);
	discard(self);
}

/* Known graphs, in which trees reach the bound. */
TEST_F_TIMEOUT(instance, known_graphs, 100)
{
	static const struct {
		const char *name;
		double bound;
		unsigned int least, most;
	} known[] = {
		{ "camcube:3,3,3", 6, 6, 6 }, { "camcube:3,4,5", 6, 6, 6 },
		{ "camcube:2,3,4", 5, 5, 5 }, { "camcube:2,2,2", 3, 3, 3 },
		{ "dcell:4,1", 2, 2, 2 }, { "dcell:2,2", 3, 3, 3 },
		{ "leafspine:4,2,8", 1, 1, 3 }, { "leafspine:1,1,5", 1, 1, 3 },
		{ "leafspine:8,4,8", 1, 1, 3 }, { "fattree:4", 1, 1, 3 },
		{ "racks:3,4", 1, 1, 3 },
	};
	double least = 1;
	size_t round;

	for (round = 0; round < 66; round++) {
		size_t k = round % N(known);
		struct aggt_plan *plan;
		unsigned int n;

		draw(self, known[k].name, 2 + rnd(60), 1);
		n = known[k].least + rnd(known[k].most - known[k].least + 1);
		plan = stripes(self->topo, &self->job, n);
		ASSERT_NE(NULL, plan);
		EXPECT_EQ(known[k].bound, aggt_plan_stripes(plan)->bound);
		EXPECT_LE(1 - 1e-9, aggt_plan_stripes(plan)->share) {
			TH_LOG("%s, %zu senders, %u stripes: %g",
			       known[k].name, self->senders.n, n,
			       aggt_plan_stripes(plan)->share);
		}
		least = fmin(least, aggt_plan_stripes(plan)->share);
		aggt_plan_free(plan);
		discard(self);
	}
	TH_LOG("least share %g", least);
}

/* ---------------------------------------------------------- random graphs */

/* Text of a network: servers, links among them and perhaps switches. */
static void describe(char *text, uint32_t servers, uint32_t switches,
		     bool rated)
{
	uint32_t n = servers + switches, a, b, i;

	memset(rates, 0, sizeof(rates));
	text += sprintf(text, "topology graph\n");
	for (i = 0; i < n; i++)
		text += sprintf(text, "%s n%u\n", i < servers ? "host" :
				"switch", i);
	for (i = 0; i < n + servers * 2; i++) {
		/* A ring of servers first, in which each switch is linked. */
		a = i < n ? i : rnd(n);
		b = i < servers ? (i + 1) % servers : rnd(servers);
		if (a == b || rates[a][b])
			continue;
		rates[a][b] = rates[b][a] = rated ? 1 << rnd(3) : 1;
		text += sprintf(text, "link n%u n%u %llu\n", a, b,
				(unsigned long long)rates[a][b]);
	}
}

/* Max-flow by paths that are searched depth first. */
static uint64_t left[64][64];
static bool seen[64];

static uint64_t push(uint32_t n, uint32_t at, uint32_t to, uint64_t most)
{
	uint64_t got;
	uint32_t next;

	if (at == to)
		return most;
	seen[at] = true;
	for (next = 0; next < n; next++) {
		if (seen[next] || !left[at][next])
			continue;
		got = push(n, next, to, most < left[at][next] ? most :
							   left[at][next]);
		if (!got)
			continue;
		left[at][next] -= got;
		left[next][at] += got;
		return got;
	}
	return 0;
}

static uint64_t max_flow(uint32_t n, uint32_t from, uint32_t to)
{
	uint64_t flow = 0, got;
	uint32_t a, b;

	for (a = 0; a < n; a++)
		for (b = 0; b < n; b++)
			left[a][b] = rates[a][b];
	do {
		memset(seen, 0, sizeof(seen));
		got = push(n, from, to, UINT64_MAX);
		flow += got;
	} while (got);
	return flow;
}

static uint64_t least_flow(uint32_t n, const struct aggt_job *job)
{
	uint64_t flow, least = UINT64_MAX;
	size_t i;

	for (i = 0; i < job->n_senders; i++) {
		if (job->senders[i] == job->receivers[0])
			continue;
		flow = max_flow(n, job->senders[i], job->receivers[0]);
		least = flow < least ? flow : least;
	}
	return least;
}

/* Direct links, some of them faster, with servers that only relay. */
TEST_F_TIMEOUT(instance, random_graphs, 200)
{
	double least = 1, sum = 0;
	size_t round, rounds = 100;
	static char text[65536];

	for (round = 0; round < rounds; round++) {
		uint32_t servers = 4 + rnd(20);
		struct aggt_plan *plan;
		struct aggt_err err;
		uint64_t bound;

		describe(text, servers, 0, rnd(2));
		self->topo = aggt_topo_describe(text, &err);
		ASSERT_NE(NULL, self->topo) {
			TH_LOG("%s", err.text);
		}
		ASSERT_TRUE(draw_members(self, 2 + rnd(servers - 2), 1));
		self->job.rate = 1;
		bound = least_flow(servers, &self->job);
		plan = stripes(self->topo, &self->job, bound);
		ASSERT_NE(NULL, plan) {
			TH_LOG("%s", text);
		}
		EXPECT_EQ(bound, aggt_plan_stripes(plan)->bound);
		EXPECT_LE(0.95, aggt_plan_stripes(plan)->share) {
			TH_LOG("round %zu: %g", round,
			       aggt_plan_stripes(plan)->share);
		}
		least = fmin(least, aggt_plan_stripes(plan)->share);
		sum += aggt_plan_stripes(plan)->share;
		aggt_plan_free(plan);
		discard(self);
	}
	TH_LOG("share: least %g, mean %g", least, sum / rounds);
}

/* With switches, which hops cross by one path only, and few senders. */
TEST_F_TIMEOUT(instance, random_switches, 200)
{
	double least = 1, sum = 0;
	size_t round, rounds = 300;
	static char text[65536];

	for (round = 0; round < rounds; round++) {
		uint32_t servers = 4 + rnd(12), switches = 1 + rnd(4);
		struct aggt_plan *plan;

		describe(text, servers, switches, rnd(2));
		self->topo = aggt_topo_describe(text, NULL);
		ASSERT_NE(NULL, self->topo);
		ASSERT_TRUE(draw_members(self, 2 + rnd(3), 1));
		self->job.rate = 1;
		plan = stripes(self->topo, &self->job,
			       least_flow(servers + switches, &self->job));
		ASSERT_NE(NULL, plan) {
			TH_LOG("%s", text);
		}
		EXPECT_EQ(least_flow(servers + switches, &self->job),
			  aggt_plan_stripes(plan)->bound);
		EXPECT_LE(0.3, aggt_plan_stripes(plan)->share);
		least = fmin(least, aggt_plan_stripes(plan)->share);
		sum += aggt_plan_stripes(plan)->share;
		aggt_plan_free(plan);
		discard(self);
	}
	memset(rates, 0, sizeof(rates));
	TH_LOG("share: least %g, mean %g", least, sum / rounds);
	/* 0.929 if relays that are not needed keep their room. */
	EXPECT_LE(0.935, sum / rounds);
}

/* ----------------------------------------------------------------- changes */

static bool redraw(FIXTURE_DATA(instance) *self)
{
	aggt_list_clear(&self->senders);
	aggt_list_clear(&self->receivers);
	return draw_members(self, 5, 1);
}

/* Around failures trees may share links; what the plan states stays right. */
TEST_F_TIMEOUT(instance, failures, 100)
{
	static const char *const topology[] = {
		"bcube:4,1", "ghc:3,2,3", "camcube:3,3,3", "dcell:4,1",
	};
	size_t round;

	for (round = 0; round < 80; round++) {
		struct aggt_plan *plan, *next;
		struct aggt_change change;
		const char *why;
		char text[32];

		draw(self, topology[round % N(topology)], 2 + rnd(10), 1);
		plan = stripes(self->topo, &self->job, 2);
		ASSERT_NE(NULL, plan);
		do
			snprintf(text, sizeof(text), "failed:v%u",
				 rnd(aggt_topo_servers(self->topo)));
		while (strtoul(text + 8, NULL, 10) == self->receivers.node[0]);
		ASSERT_EQ(0, aggt_change_parse(self->topo, text, &change,
					       NULL));
		next = aggt_plan_update(self->topo, plan, &change, 1, NULL);
		ASSERT_NE(NULL, next);
		why = verify_stripes(self->topo, aggt_plan_job(next), next);
		ASSERT_EQ(NULL, why) {
			TH_LOG("%s", why);
		}
		aggt_plan_free(next);
		aggt_plan_free(plan);
		/* A new plan that knows the failure. */
		if (aggt_topo_failed(self->topo, text + 7) &&
		    redraw(self)) {
			plan = stripes(self->topo, &self->job, 2);
			ASSERT_NE(NULL, plan);
			aggt_plan_free(plan);
		}
		discard(self);
	}
}

/* All trees get the new receiver. */
TEST_F(instance, receiver_is_replaced)
{
	struct aggt_plan *plan, *next;
	struct aggt_change change;

	draw(self, "bcube:4,1", 5, 1);
	plan = stripes(self->topo, &self->job, 2);
	ASSERT_NE(NULL, plan);
	memset(&change, 0, sizeof(change));
	change.kind = AGGT_REPLACE;
	change.server = self->receivers.node[0];
	change.to = AGGT_NONE;
	next = aggt_plan_update(self->topo, plan, &change, 1, NULL);
	ASSERT_NE(NULL, next);
	EXPECT_NE(change.server, aggt_plan_job(next)->receivers[0]);
	EXPECT_EQ(NULL, verify_stripes(self->topo, aggt_plan_job(next), next));
	aggt_plan_free(next);
	aggt_plan_free(plan);
	discard(self);
}

TEST_F(instance, refused)
{
	static const struct {
		const char *topology, *method, *names;
		unsigned int receivers;
	} bad[] = {
		{ "bcube:4,1", "stripes:", "1 to 64", 1 },
		{ "bcube:4,1", "stripes:0", "1 to 64", 1 },
		{ "bcube:4,1", "stripes:65", "1 to 64", 1 },
		{ "bcube:4,1", "stripes:-1", "1 to 64", 1 },
		{ "bcube:4,1", "stripes:2x", "1 to 64", 1 },
		{ "bcube:4,1", "stripes", "1 to 64", 1 },
		{ "bcube:4,1", "stripes:4294967297", "1 to 64", 1 },
		{ "bcube:4,1", "stripes:3", "2 links", 1 },
		{ "bcube:4,1", "stripes:2", "one receiver", 2 },
		{ "fbfly:3,3,2", "stripes:2", "one link", 1 },
		{ "hyperx:2,4:3", "stripes:1", "one link", 1 },
	};
	struct aggt_err err;
	size_t i;

	for (i = 0; i < N(bad); i++) {
		draw(self, bad[i].topology, 3, bad[i].receivers);
		self->job.method = bad[i].method;
		memset(&err, 0, sizeof(err));
		EXPECT_EQ(NULL, aggt_plan_build(self->topo, &self->job, &err));
		EXPECT_NE(NULL, strstr(err.text, bad[i].names)) {
			TH_LOG("%s: %s", bad[i].method, err.text);
		}
		discard(self);
	}
}

TEST_HARNESS_MAIN
