// SPDX-License-Identifier: GPL-2.0
/*
 * Topologies without digits: their hops and paths, and every method that they
 * allow, compared with a verifier that knows only which nodes are neighbours.
 */
#include "tree_random.h"

static const char *const graphs[] = {
	"camcube:3,3,3", "camcube:2,3,4", "dcell:4,1", "dcell:2,2",
	"leafspine:4,2,8", "leafspine:1,1,5", "fattree:4", "racks:3,4",
};

static const char *const graph_methods[] = {
	"existing", "unicast", "steiner", "getparent", "auto",
};

/* Both ends agree on a hop, and routing uses a shortest path. */
static const char *check_pair(const struct aggt_topo *t, aggt_node a,
			      aggt_node b)
{
	unsigned int links = verify_links(t, a, b), hops = 0;
	aggt_node at, next;
	double way = 0;

	if (links != verify_links(t, b, a) ||
	    links != aggt_topo_hop_links(t, a, b))
		return FAULT("v%u-v%u: %u links", a, b, links);
	if (!links != (aggt_topo_link_dim(t, a, b) == AGGT_NONE))
		return FAULT("v%u-v%u: port", a, b);
	for (at = a; at != b; at = next, hops++) {
		next = aggt_topo_next_hop(t, at, b);
		if (!verify_links(t, at, next))
			return FAULT("v%u -> v%u is no hop", at, next);
		way += verify_links(t, at, next);
	}
	if (hops != aggt_topo_distance(t, a, b))
		return FAULT("v%u to v%u: %u hops", a, b, hops);
	/* Check only some of all pairs: the check walks the whole network. */
	if (!rnd(8) && way != verify_shortest(t, a, b))
		return FAULT("v%u to v%u: %g links", a, b, way);
	return NULL;
}

TEST(graph__hops_and_ways)
{
	size_t i;

	for (i = 0; i < N(graphs); i++) {
		struct aggt_topo *t = aggt_topo_parse(graphs[i], NULL);
		aggt_node a, b;

		ASSERT_NE(NULL, t);
		EXPECT_STREQ(graphs[i], aggt_topo_name(t));
		EXPECT_FALSE(aggt_topo_digits(t));
		for (a = 0; a < aggt_topo_servers(t); a++) {
			for (b = 0; b < aggt_topo_servers(t); b++) {
				if (a == b)
					continue;
				ASSERT_EQ(NULL, check_pair(t, a, b)) {
					TH_LOG("%s: %s", graphs[i],
					       verify_text);
				}
			}
		}
		aggt_topo_free(t);
	}
}

static struct aggt_far far_of(const struct aggt_topo *t, bool of_switch,
			      uint32_t node, unsigned int port)
{
	return of_switch ? aggt_topo_switch_far(t, node, port) :
			   aggt_topo_server_far(t, node, port);
}

/* The link leads back to where it comes from. */
static const char *check_links(const struct aggt_topo *t, bool of_switch,
			       uint32_t node)
{
	unsigned int i, n = of_switch ? aggt_topo_switch_ports(t, node) :
					aggt_topo_ports(t, node);

	for (i = 0; i < n; i++) {
		struct aggt_far far = far_of(t, of_switch, node, i), back;

		back = far_of(t, far.is_switch, far.number, far.port);
		if (back.is_switch != of_switch || back.number != node ||
		    back.port != i)
			return FAULT("link %u of %c%u leads back to link %u of %u",
				     i, of_switch ? 'w' : 'v', node, back.port,
				     back.number);
	}
	return NULL;
}

/* A frame arrives by the port of the hop, after as many links as the hop has. */
static const char *check_frame(const struct aggt_topo *t, aggt_node a,
			       aggt_node b)
{
	bool agents = aggt_topo_agents(t);
	uint32_t out = agents ? 0 : aggt_topo_link_dim(t, a, b);
	uint32_t in = agents ? 0 : aggt_topo_link_dim(t, b, a), links = 1;
	struct aggt_far far;

	if (out == AGGT_NONE)
		return NULL;
	for (far = aggt_topo_server_far(t, a, out); far.is_switch; links++) {
		out = aggt_topo_forward(t, far.number, b, in);
		if (out == AGGT_NONE)
			return FAULT("w%u has no way to v%u", far.number, b);
		far = aggt_topo_switch_far(t, far.number, out);
	}
	if (far.number != b || far.port != in)
		return FAULT("a frame of v%u for v%u is at v%u, port %u", a, b,
			     far.number, far.port);
	if (links != (agents ? aggt_topo_distance(t, a, b) + 2 :
		      aggt_topo_hop_links(t, a, b)))
		return FAULT("v%u to v%u: %u links", a, b, links);
	return NULL;
}

TEST(graph__frames_and_both_ends_of_links)
{
	static const char *const labelled[] = {
		"bcube:3,1", "ghc:2,4,3", "fbfly:3,3,2", "hyperx:4,2:3",
	};
	size_t i;

	for (i = 0; i < N(labelled) + N(graphs); i++) {
		const char *name = i < N(labelled) ? labelled[i] :
				   graphs[i - N(labelled)];
		struct aggt_topo *t = aggt_topo_parse(name, NULL);
		uint32_t a, b;

		ASSERT_NE(NULL, t);
		for (a = 0; a < aggt_topo_switches(t); a++)
			EXPECT_EQ(NULL, check_links(t, true, a)) {
				TH_LOG("%s: %s", name, verify_text);
			}
		for (a = 0; a < aggt_topo_servers(t); a++) {
			EXPECT_EQ(NULL, check_links(t, false, a)) {
				TH_LOG("%s: %s", name, verify_text);
			}
			for (b = 0; b < aggt_topo_servers(t); b++)
				EXPECT_EQ(NULL, a == b ? NULL :
					  check_frame(t, a, b)) {
					TH_LOG("%s: %s", name, verify_text);
				}
		}
		aggt_topo_free(t);
	}
}

/* Frames take the widest of the shortest paths, and go around what has failed. */
TEST(graph__frames_by_rate_and_around_failures)
{
	struct aggt_topo *t = aggt_topo_describe(
		"topology graph\nhost a\nhost b\nhost c\n"
		"switch s\nswitch t\nswitch u\nswitch x\nlink a s\nlink b x\n"
		"link s t 1G\nlink s u 10G\nlink t x 10G\nlink u x 10G\n"
		"link c a\n", NULL);

	ASSERT_NE(NULL, t);
	EXPECT_FALSE(aggt_topo_addressed(t));
	EXPECT_TRUE(aggt_topo_core(t));
	EXPECT_EQ(10000000000, aggt_topo_switch_far(t, 0, 2).rate);
	EXPECT_EQ(2, aggt_topo_forward(t, 0, 1, 0));
	ASSERT_EQ(0, aggt_topo_fail(t, "u", NULL));
	EXPECT_EQ(1, aggt_topo_forward(t, 0, 1, 0));
	ASSERT_EQ(0, aggt_topo_fail(t, "s-t", NULL));
	EXPECT_EQ(AGGT_NONE, aggt_topo_forward(t, 0, 1, 0));
	EXPECT_EQ(0, aggt_topo_forward(t, 0, 0, 0));
	EXPECT_EQ(AGGT_NONE, aggt_topo_forward(t, 0, 2, 0));
	aggt_topo_free(t);
}

TEST(graph__sizes)
{
	static const struct {
		const char *name;
		uint32_t servers, switches, ports, a, b, links;
	} known[] = {
		{ "camcube:8,8,8", 512, 0, 6, 0, 7, 1 },
		{ "camcube:2,2,2", 8, 0, 3, 0, 1, 1 },
		{ "dcell:4,2", 420, 105, 3, 0, 3, 2 },
		{ "dcell:4,1", 20, 5, 2, 0, 4, 1 },
		{ "dcell:6,0", 6, 1, 1, 0, 5, 2 },
		{ "leafspine:4,2,8", 32, 6, 1, 0, 31, 4 },
		{ "fattree:4", 16, 20, 1, 0, 3, 4 },
		{ "fattree:8", 128, 80, 1, 0, 127, 6 },
		{ "racks:10,40", 400, 11, 1, 0, 399, 4 },
	};
	size_t i;

	for (i = 0; i < N(known); i++) {
		struct aggt_topo *t = aggt_topo_parse(known[i].name, NULL);

		ASSERT_NE(NULL, t);
		EXPECT_EQ(known[i].servers, aggt_topo_servers(t));
		EXPECT_EQ(known[i].switches, aggt_topo_switches(t));
		EXPECT_EQ(known[i].ports, aggt_topo_ports(t, 0));
		EXPECT_EQ(known[i].links, aggt_topo_hop_links(t, known[i].a,
							      known[i].b)) {
			TH_LOG("%s", known[i].name);
		}
		aggt_topo_free(t);
	}
}

TEST(graph__refused)
{
	static const struct {
		const char *text;
		const char *names;
	} bad[] = {
		{ "camcube:3,3", "camcube:3,3:" },
		{ "camcube:3,3,1", "2 at least" },
		{ "camcube:3,3,x", "3,3,x" },
		{ "camcube:1000,1000,1000", "more than" },
		{ "camcube:4294967295,4294967295,4294967295", "more than" },
		{ "dcell:4", "dcell:4" }, { "dcell:1,1", "2" },
		{ "dcell:4,9", "more than" }, { "dcell:4294967295,0", "more" },
		{ "leafspine:4,2", "4,2" }, { "leafspine:4,0,8", "4,0,8" },
		{ "leafspine:4294967295,1,4294967295", "more than" },
		{ "leafspine:99999,99999,1", "more than" },
		{ "fattree:3", "even" }, { "fattree:0", "even" },
		{ "fattree:900", "more than" }, { "fattree:4,4", "4,4" },
		{ "racks:3", "racks:3" }, { "racks:0,3", "0,3" },
	};
	struct aggt_err err;
	size_t i;

	for (i = 0; i < N(bad); i++) {
		memset(&err, 0, sizeof(err));
		EXPECT_EQ(NULL, aggt_topo_parse(bad[i].text, &err));
		EXPECT_NE(NULL, strstr(err.text, bad[i].names)) {
			TH_LOG("%s: %s", bad[i].text, err.text);
		}
	}
}

/* The error names the method, the topology and the methods that it allows. */
TEST(graph__methods_that_need_digits)
{
	static const char *const needs[] = {
		"irs", "ars", "mib", "mc", "m2", "srs", "srs:safe", "rs:01",
		"rs:best", "exact", "unicast:random", "unicast:rotate",
	};
	struct aggt_topo *t = aggt_topo_parse("leafspine:4,2,8", NULL);
	aggt_node sender = 1, receiver = 0;
	struct aggt_job job = { .senders = &sender, .n_senders = 1,
				.receivers = &receiver, .n_receivers = 1 };
	size_t i;

	for (i = 0; i < N(needs); i++) {
		struct aggt_err err = { "" };

		job.method = needs[i];
		EXPECT_EQ(NULL, aggt_plan_build(t, &job, &err));
		EXPECT_NE(NULL, strstr(err.text, needs[i]));
		EXPECT_NE(NULL, strstr(err.text, "leafspine:4,2,8"));
		EXPECT_NE(NULL, strstr(err.text,
				       "existing, unicast, steiner, auto, getparent")) {
			TH_LOG("%s", err.text);
		}
	}
	aggt_topo_free(t);
}

static struct aggt_plan *plan_of(const struct aggt_topo *t, const char *method,
				 const char *senders, aggt_node receiver)
{
	struct aggt_job job = { .receivers = &receiver, .n_receivers = 1,
				.method = method };
	struct aggt_list list;
	struct aggt_err err = { "" };
	struct aggt_plan *plan;

	if (aggt_list_parse(t, senders, 1, &list, NULL))
		return NULL;
	job.senders = list.node;
	job.n_senders = list.n;
	plan = aggt_plan_build(t, &job, &err);
	if (!plan)
		printf("# %s\n", err.text);
	if (plan && verify_plan(t, &job, plan, true)) {
		printf("# %s\n", verify_text);
		aggt_plan_free(plan);
		plan = NULL;
	}
	aggt_list_clear(&list);
	return plan;
}

static aggt_node parent_of(const struct aggt_plan *plan, aggt_node server)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan, 0);
	uint32_t v = aggt_tree_find(tree, server);

	return aggt_tree_server(tree, aggt_tree_parent(tree, v));
}

/* A rack, and a pod of racks, merges at its first sender of the list. */
TEST(graph__getparent_of_racks)
{
	struct aggt_topo *t = aggt_topo_parse("leafspine:4,2,8", NULL);
	struct aggt_plan *plan = plan_of(t, "getparent",
					 "v3,v12,v9,v8,v31,v1", 0);

	ASSERT_NE(NULL, plan);
	EXPECT_EQ(0, parent_of(plan, 1));
	EXPECT_EQ(0, parent_of(plan, 3));
	EXPECT_EQ(0, parent_of(plan, 12));
	EXPECT_EQ(12, parent_of(plan, 9));
	EXPECT_EQ(12, parent_of(plan, 8));
	EXPECT_EQ(0, parent_of(plan, 31));
	EXPECT_EQ(2 + 2 + 4 + 2 + 2 + 4, aggt_plan_metrics(plan)->cost);
	EXPECT_EQ(2 + 2 + 4 * 4, aggt_plan_metrics(plan)->existing);
	aggt_plan_free(plan);
	aggt_topo_free(t);
	t = aggt_topo_parse("fattree:4", NULL);
	plan = plan_of(t, "getparent", "v4,v6,v7,v5,v2", 0);
	ASSERT_NE(NULL, plan);
	EXPECT_EQ(0, parent_of(plan, 4));
	EXPECT_EQ(4, parent_of(plan, 6));
	EXPECT_EQ(6, parent_of(plan, 7));
	EXPECT_EQ(4, parent_of(plan, 5));
	EXPECT_EQ(0, parent_of(plan, 2));
	EXPECT_EQ(6 + 4 + 2 + 2 + 4, aggt_plan_metrics(plan)->cost);
	aggt_plan_free(plan);
	aggt_topo_free(t);
}

/* Camdoop: the nearest neighbour in space, so the longest distance first. */
TEST(graph__getparent_of_camcube)
{
	struct aggt_topo *t = aggt_topo_parse("camcube:8,8,8", NULL);
	struct aggt_plan *plan = plan_of(t, "getparent", "v219", 0);

	/* (3,3,3): any dimension first; (1,2,7): y, then x or z. */
	ASSERT_NE(NULL, plan);
	EXPECT_EQ(9, aggt_plan_metrics(plan)->depth);
	aggt_plan_free(plan);
	plan = plan_of(t, "getparent", "v465", 0);
	ASSERT_NE(NULL, plan);
	EXPECT_EQ(465 - 8, parent_of(plan, 465));
	EXPECT_EQ(4, aggt_plan_metrics(plan)->depth);
	aggt_plan_free(plan);
	aggt_topo_free(t);
}

/* Does tree @number span all servers without using a directed link twice? */
static const char *check_camdoop(const struct aggt_topo *t, aggt_node root,
				 unsigned int number, char *used)
{
	uint32_t n = aggt_topo_servers(t);
	char method[16], senders[16];
	struct aggt_plan *plan;
	const char *why = NULL;
	aggt_node v;

	snprintf(method, sizeof(method), "getparent:%u", number);
	snprintf(senders, sizeof(senders), "random:%u", n);
	plan = plan_of(t, method, senders, root);
	if (!plan)
		return "no plan";
	for (v = 0; v < n && !why; v++) {
		char *link;

		if (v == root)
			continue;
		link = &used[v * 6 + aggt_topo_link_dim(t, v,
							parent_of(plan, v))];
		if (*link)
			why = FAULT("tree %u: v%u", number, v);
		*link = 1;
	}
	aggt_plan_free(plan);
	return why;
}

TEST(graph__camdoop_trees)
{
	static const char *const torus[] = { "camcube:3,3,3", "camcube:3,4,5",
					     "camcube:6,3,4" };
	struct aggt_err err = { "" };
	size_t i, k;

	for (i = 0; i < N(torus); i++) {
		struct aggt_topo *t = aggt_topo_parse(torus[i], NULL);
		char *used = calloc(aggt_topo_servers(t), 6);

		for (k = 1; k <= 6; k++)
			EXPECT_EQ(NULL, check_camdoop(t, 7 * i, k, used)) {
				TH_LOG("%s: %s", torus[i], verify_text);
			}
		free(used);
		aggt_topo_free(t);
	}
	for (i = 0; i < 3; i++) {
		static const char *const bad[][2] = {
			{ "camcube:3,3,3", "getparent:7" },
			{ "camcube:2,3,3", "getparent:1" },
			{ "bcube:4,1", "getparent:1" },
		};
		struct aggt_topo *t = aggt_topo_parse(bad[i][0], NULL);
		aggt_node v[2] = { 0, 1 };
		struct aggt_job job = { v, 1, .receivers = v + 1,
					.n_receivers = 1, .method = bad[i][1] };

		EXPECT_EQ(NULL, aggt_plan_build(t, &job, &err));
		EXPECT_NE(NULL, strstr(err.text, bad[i][1]));
		aggt_topo_free(t);
	}
}

/* Every method on every kind of topology; auto does not cost more than any. */
TEST_F_TIMEOUT(instance, graph_methods, 100)
{
	unsigned int round, m;

	for (round = 0; round < 8 * N(graphs); round++) {
		double sum[N(graph_methods)];

		draw(self, graphs[round % N(graphs)], 1 + rnd(14), 1 + rnd(2));
		self->job.delta = rnd(5) * 0.25;
		if (rnd(2))
			self->job.sizes = self->sizes;
		self->job.max_depth = AGGT_DEPTH_NONE;
		for (m = 0; m < N(graph_methods); m++) {
			sum[m] = cost(self, graph_methods[m], true);
			ASSERT_LE(0, sum[m]);
		}
		for (m = 0; m < N(graph_methods); m++)
			EXPECT_LE(sum[N(graph_methods) - 1],
				  sum[m] + 1e-9 * (1 + sum[m]));
		discard(self);
	}
}

/* Draw a link of server @v, or one behind its switch. */
static void draw_link(const struct aggt_topo *t, aggt_node v, char *text,
		      size_t len)
{
	size_t n;
	aggt_node *list = aggt_topo_neighbours(t, v, &n);
	aggt_node to = n ? list[rnd(n)] : v;
	uint32_t a = aggt_topo_hop_switch(t, v, to, 0);
	uint32_t b = aggt_topo_hop_switch(t, v, to, 1);

	free(list);
	if (a == AGGT_NONE)
		snprintf(text, len, "failed:v%u-v%u", v, to);
	else if (b == AGGT_NONE || rnd(2))
		snprintf(text, len, "failed:v%u-w%u", v, a);
	else
		snprintf(text, len, "failed:w%u-w%u", a, b);
}

static void draw_change(const struct aggt_topo *t,
			const struct aggt_plan *plan, char *text, size_t len)
{
	const struct aggt_job *job = aggt_plan_job(plan);
	uint32_t n = aggt_topo_servers(t);

	switch (rnd(7)) {
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
		snprintf(text, len, "receiver:v%u",
			 job->receivers[rnd(job->n_receivers)]);
		break;
	case 4:
		snprintf(text, len, "failed:v%u", rnd(n));
		break;
	case 5:
		if (aggt_topo_switches(t)) {
			snprintf(text, len, "failed:w%u",
				 rnd(aggt_topo_switches(t)));
			break;
		}
		/* fallthrough */
	default:
		draw_link(t, rnd(n), text, len);
	}
}

/* Members join and leave, parts fail: each plan in the sequence is valid. */
TEST_F_TIMEOUT(instance, graph_changes, 100)
{
	unsigned int round, k, taken = 0;

	for (round = 0; round < 8 * N(graphs); round++) {
		struct aggt_plan *plan, *next;
		struct aggt_change c;
		char text[64];

		draw(self, graphs[round % N(graphs)], 8, 2);
		self->job.method = graph_methods[rnd(N(graph_methods))];
		self->job.delta = rnd(3) * 0.5;
		plan = aggt_plan_build(self->topo, &self->job, NULL);
		ASSERT_NE(NULL, plan);
		for (k = 0; k < 10; k++) {
			draw_change(self->topo, plan, text, sizeof(text));
			if (aggt_change_parse(self->topo, text, &c, NULL))
				continue;
			next = aggt_plan_update(self->topo, plan, &c, 1, NULL);
			if (!next && c.kind == AGGT_FAILED)
				break;
			if (!next)
				continue;
			taken++;
			aggt_plan_free(plan);
			plan = next;
			ASSERT_EQ(NULL, verify_plan(self->topo,
						    aggt_plan_job(plan), plan,
						    true)) {
				TH_LOG("%s %s %s: %s",
				       aggt_topo_name(self->topo),
				       self->job.method, text, verify_text);
			}
		}
		aggt_plan_free(plan);
		discard(self);
	}
	TH_LOG("%u changes", taken);
	EXPECT_LT(200, taken);
}

/* A new plan avoids failed parts; the error names members that are cut off. */
TEST(graph__failures)
{
	struct aggt_err err = { "" };
	struct aggt_topo *t;
	struct aggt_plan *plan;

	t = aggt_topo_describe("topology leafspine:2,2,2\nfailed w2\nabsent v1\n",
			       &err);
	ASSERT_NE(NULL, t);
	plan = plan_of(t, "getparent", "v2,v3", 0);
	ASSERT_NE(NULL, plan);
	EXPECT_EQ(3, aggt_topo_hop_switch(t, 2, 0, 1));
	aggt_plan_free(plan);
	aggt_topo_free(t);
	EXPECT_EQ(NULL, aggt_topo_describe("topology leafspine:2,2,2\nfailed w2\nfailed w3\n",
					   &err));
	EXPECT_STREQ("server v2: disconnected, no path to v0 works", err.text);
	EXPECT_EQ(NULL, aggt_topo_describe("topology camcube:3,3,3\nfailed v0-v4\n",
					   &err));
	EXPECT_STREQ("line 2: failed v0-v4: camcube:3,3,3 has no such server, switch or link",
		     err.text);
	t = aggt_topo_describe("topology camcube:3,3,3\nfailed v0-v1\naddress v1-v2 192.0.2.1\n",
			       &err);
	ASSERT_NE(NULL, t);
	EXPECT_STREQ("192.0.2.1", aggt_topo_port_address(t, 1,
							 aggt_topo_link_dim(t, 1, 2)));
	EXPECT_EQ(0, aggt_topo_hop_links(t, 0, 1));
	EXPECT_EQ(2, aggt_topo_distance(t, 0, 1));
	aggt_topo_free(t);
	t = aggt_topo_describe("topology leafspine:2,2,2\nfailed v3\n", &err);
	ASSERT_NE(NULL, t);
	EXPECT_EQ(AGGT_NONE, aggt_topo_distance(t, 3, 0));
	EXPECT_EQ(AGGT_NONE, aggt_topo_distance(t, 0, 3));
	EXPECT_EQ(3, aggt_topo_next_hop(t, 0, 3));
	aggt_topo_free(t);
}

/* Two racks, and a host with two links that can relay between them. */
static const char network[] =
	"topology graph\n"
	"host node-1\nhost node-2\nhost node-3\nhost store # two links\n"
	"switch leaf1\nswitch leaf2\nswitch spine\n"
	"link node-1 leaf1 10G\nlink leaf1 node-2 10G\n"
	"link node-3 leaf2 10G\nlink store leaf1 2.5G\n"
	"link leaf2 store 40G\nlink leaf1 spine\nlink leaf2 spine 100M\n"
	"address node-1 192.0.2.1\naddress store-leaf2 192.0.2.9\n"
	"address leaf2 192.0.2.254\n";

TEST(described__network)
{
	struct aggt_err err = { "" };
	struct aggt_topo *t = aggt_topo_describe(network, &err);
	struct aggt_change change;
	struct aggt_plan *plan, *next;

	ASSERT_NE(NULL, t) {
		TH_LOG("%s", err.text);
	}
	EXPECT_EQ(4, aggt_topo_servers(t));
	EXPECT_EQ(3, aggt_topo_switches(t));
	EXPECT_STREQ("store", aggt_topo_server_name(t, 3));
	EXPECT_STREQ("spine", aggt_topo_switch_name(t, 2));
	EXPECT_EQ(1, aggt_server_parse(t, "node-2", &err));
	EXPECT_EQ(AGGT_NONE, aggt_server_parse(t, "v1", &err));
	EXPECT_STREQ("192.0.2.1", aggt_topo_address(t, 0));
	/* It has two NICs, and no identity. */
	EXPECT_EQ(NULL, aggt_topo_address(t, 3));
	EXPECT_STREQ("192.0.2.9", aggt_topo_port_address(t, 3, 1));
	EXPECT_EQ(2, aggt_topo_ports(t, 3));
	EXPECT_STREQ("192.0.2.254", aggt_topo_switch_address(t, 1));
	EXPECT_EQ(NULL, aggt_topo_switch_address(t, 0));
	/* The faster of two shortest paths: not through the spine with 100M. */
	EXPECT_EQ(3, aggt_topo_next_hop(t, 2, 0));
	EXPECT_EQ(4, aggt_topo_hop_links(t, 2, 0));
	plan = plan_of(t, "getparent", "node-3,node-2,store", 0);
	ASSERT_NE(NULL, plan);
	EXPECT_EQ(3, parent_of(plan, 2));
	EXPECT_EQ(6, aggt_plan_metrics(plan)->cost);
	ASSERT_EQ(0, aggt_change_parse(t, "failed:store-leaf1", &change, &err));
	next = aggt_plan_update(t, plan, &change, 1, &err);
	ASSERT_NE(NULL, next);
	EXPECT_EQ(NULL, verify_plan(t, aggt_plan_job(next), next, true));
	aggt_plan_free(plan);
	ASSERT_EQ(0, aggt_change_parse(t, "failed:leaf2", &change, &err));
	EXPECT_EQ(NULL, aggt_plan_update(t, next, &change, 1, &err));
	EXPECT_NE(NULL, strstr(err.text,
			       "failures cut it off from receiver node-1"));
	aggt_plan_free(next);
	aggt_topo_free(t);
}

/* A rack is a switch with links to its hosts, and a server is a host. */
TEST(described__racks)
{
	static const char text[] =
		"topology graph\n"
		"server a\nserver b\nhost c\nhost d\nhost e\n"
		"rack tor-1 a b c\nrack tor-2 d e\nswitch spine\n"
		"link tor-1 spine 10G\nlink tor-2 spine\n";
	struct aggt_err err = { "" };
	struct aggt_topo *t = aggt_topo_describe(text, &err);

	ASSERT_NE(NULL, t) {
		TH_LOG("%s", err.text);
	}
	EXPECT_EQ(5, aggt_topo_servers(t));
	EXPECT_EQ(3, aggt_topo_switches(t));
	EXPECT_STREQ("tor-2", aggt_topo_switch_name(t, 1));
	EXPECT_EQ(1, aggt_topo_ports(t, 2));
	EXPECT_EQ(2, aggt_topo_hop_links(t, 0, 2));
	EXPECT_EQ(4, aggt_topo_hop_links(t, 0, 3));
	EXPECT_EQ(0, aggt_topo_fail(t, "b-tor-1", &err));
	aggt_topo_free(t);
}

/*
 * Names may contain dashes: one way to split a link's name may match other
 * nodes.
 */
TEST(described__names_of_a_failed_link)
{
	static const char text[] =
		"topology graph\n"
		"host a\nhost a-b\nhost b-c\nhost c\n"
		"link a-b a\nlink a b-c\nlink a-b c\n";
	struct aggt_err err = { "" };
	struct aggt_topo *t = aggt_topo_describe(text, &err);
	struct aggt_change change;

	ASSERT_NE(NULL, t) {
		TH_LOG("%s", err.text);
	}
	ASSERT_EQ(0, aggt_change_parse(t, "failed:a-b-a", &change, &err));
	EXPECT_STREQ("a-a-b", change.part);
	EXPECT_EQ(-1, aggt_change_parse(t, "failed:a-b-c", &change, &err));
	EXPECT_NE(NULL, strstr(err.text, "names two links"));
	ASSERT_EQ(0, aggt_change_parse(t, "failed:c-a-b", &change, &err));
	EXPECT_STREQ("c-a-b", change.part);
	ASSERT_EQ(0, aggt_topo_fail(t, "c-a-b", &err));
	EXPECT_TRUE(aggt_topo_failed(t, "c-a-b"));
	EXPECT_FALSE(aggt_topo_failed(t, "b-c-a"));
	aggt_topo_free(t);
}

/* Each error names the line and the item. */
TEST(described__refused)
{
	static const struct {
		const char *text;
		const char *names;
	} bad[] = {
		{ "", "line 1: a graph needs" },
		{ "switch a\nswitch b\nlink a b\n", "line 1: a graph needs" },
		{ "host a\nlink a b\n", "line 3: link to b" },
		{ "host a\nlink b a\n", "line 3: link to b" },
		{ "host a\nhost b\nlink a v1\n", "line 4: link to v1" },
		{ "host a\nhost a\n", "line 3: a: named twice, on line 2" },
		{ "switch a\nhost b\nhost a\n",
		  "line 4: a: named twice, on line 2" },
		{ "host 7up\n", "line 2: host 7up" },
		{ "host a*3\n", "line 2: host a*3" },
		{ "host a,b\n", "line 2: host a,b" },
		{ "host a123456789b123456789c123456789d123456789e1234567\n",
		  "line 2: host a123" },
		{ "host a\nhost b\nlink a a\n", "line 4: link of a: leads back" },
		{ "host a\nhost b\nlink a b\nlink b a 10G\n",
		  "line 5: link of b and a: is on line 4" },
		{ "host a\nhost b\nlink a b 0\n", "line 4: rate 0" },
		{ "host a\nhost b\nlink a b -1G\n", "rate -1G" },
		{ "host a\nhost b\nlink a b 10X\n", "rate 10X" },
		{ "host a\nhost b\nlink a b 10GG\n", "rate 10GG" },
		{ "host a\nhost b\nlink a b 1e9\n", "rate 1e9" },
		{ "host a\nhost b\nlink a b 0x10\n", "rate 0x10" },
		{ "host a\nhost b\nlink a b inf\n", "rate inf" },
		{ "host a\nhost b\nlink a b 9999T\n", "rate 9999T" },
		{ "host a\nhost b\nlink a b 0.5\n", "rate 0.5" },
		{ "host a\nhost b\nlink a b 1G 2G\n", "too many" },
		{ "host a\nhost b\nlink a\n", "line 4: link: expected" },
		{ "host a\nrack r\n", "line 3: rack: expected" },
		{ "host a\nrack r a b\n", "line 3: link to b" },
		{ "host a\nrack r a r\n", "line 3: rack r: r is a switch" },
		{ "host a\nswitch s\nrack r a s\n",
		  "line 4: rack r: s is a switch, and a rack has hosts" },
		{ "host a\nrack r a a\n", "line 3: link of a and r: is on line 3" },
		{ "host a\nrack a a\n", "line 3: a: named twice, on line 2" },
		{ "host a b\n", "line 1: a graph needs" },
		{ "host a\nhost b\n", "line 3: server b: disconnected" },
		{ "host a\nswitch w\nhost b\nhost c\nlink a w\nlink c w\n",
		  "line 4: server b: disconnected, no path to a" },
		{ "host a\nswitch w\nhost b\nlink a w\nlink b w\nfailed w\n",
		  "line 4: server b: disconnected" },
		{ "host a\nhost b\nlink a b\nfailed v0\n", "line 5: failed v0" },
		{ "host a\nhost b\nlink a b\nfailed a-c\n", "failed a-c" },
		{ "host a\nhost b\nlink a b\naddress c 192.0.2.1\n",
		  "line 5: server c" },
		{ "host a\nhost b\nlink a b\naddress a-c 192.0.2.1\n", "a-c" },
		{ "host a\nhost b\nlink a b\naddress a 192.0.2.1\naddress b 192.0.2.1\n",
		  "line 6: address of b: 192.0.2.1 is a's" },
		{ "host a\nswitch w\nlink a w\naddress a 192.0.2.1\naddress w 192.0.2.1\n",
		  "line 6: address of w: 192.0.2.1 is a's" },
		{ "host a\nswitch w\nlink a w\naddress w 192.0.2\n",
		  "line 5: address of w: 192.0.2 is not" },
		{ "host a\nswitch w\nlink a w\naddress w 192.0.2.1 02:00:5e:10:00:01\n",
		  "is not a MAC address of a port" },
		{ "host a\nswitch b\nswitch a-b\nlink a b\nlink a a-b\naddress a-b 192.0.2.1\n",
		  "names a switch and a link" },
		{ "host a\nhost b\nlink a b\ncolour a red\n", "line 5: colour" },
		{ "host a\nhost b\nlink a b\ntopology bcube:4,1\n",
		  "line 5: topology" },
	};
	size_t i;

	for (i = 0; i < N(bad); i++) {
		struct aggt_err err = { "" };
		char text[512];

		snprintf(text, sizeof(text), "topology graph\n%s",
			 bad[i].text);
		EXPECT_EQ(NULL, aggt_topo_describe(text, &err));
		EXPECT_NE(NULL, strstr(err.text, bad[i].names)) {
			TH_LOG("%s: %s", bad[i].text, err.text);
		}
	}
}

/* The line of a large rack can be divided. */
TEST(described__line_too_long)
{
	struct aggt_err err = { "" };
	char text[1024], line[600];

	memset(line, 'a', sizeof(line));
	line[sizeof(line) - 1] = '\0';
	snprintf(text, sizeof(text), "topology graph\nrack r %s\n", line);
	EXPECT_EQ(NULL, aggt_topo_describe(text, &err));
	EXPECT_STREQ("line 2: is too long: 511 characters at most; lines 'link HOST RACK' may give a rack more hosts",
		     err.text);
	snprintf(text, sizeof(text), "topology graph\nracks %s\n", line);
	EXPECT_EQ(NULL, aggt_topo_describe(text, &err));
	EXPECT_STREQ("line 2: is too long: 511 characters at most", err.text);
	/* A rack goes on. */
	snprintf(text, sizeof(text),
		 "topology graph\nhost a\nhost b\nrack r a\nlink b r\n");
	aggt_topo_free(aggt_topo_describe(text, &err));
	EXPECT_STREQ("line 2: is too long: 511 characters at most", err.text);
}

/* Names may contain dashes: the first dash of a link may be part of a name. */
static const char dashes[] =
	"topology graph\nhost a-b\nhost c\nhost a\nhost b-c\nhost x\n"
	"link a-b x\nlink a x\nlink b-c x\nlink c x\n";

TEST(described__dashes)
{
	static const struct {
		const char *text;
		const char *refusal;
	} bad[] = {
		{ "failed a-b-c\n",
		  "line 11: failed a-b-c: graph has no such server, switch or link" },
		{ "link a-b c\nlink a b-c\nfailed a-b-c\n",
		  "line 13: failed a-b-c: names two links" },
		{ "link a-b c\nlink a b-c\naddress a-b-c 192.0.2.1\n",
		  "line 13: link a-b-c: names two links" },
		{ "host x-c\nlink x-c x\nfailed x-c\n",
		  "line 13: failed x-c: names a host and a link" },
		{ "host x-c\nlink x-c x\naddress x-c 192.0.2.1\n",
		  "line 13: address of x-c: names a host and a link" },
		{ "switch x-c\nlink x-c x\nfailed x-c\n",
		  "line 13: failed x-c: names a switch and a link" },
	};
	struct aggt_err err = { "" };
	struct aggt_topo *t;
	char text[512];
	size_t i;

	snprintf(text, sizeof(text),
		 "%slink a-b c\nfailed a-b-c\naddress a-b-x 192.0.2.1\n", dashes);
	t = aggt_topo_describe(text, &err);
	ASSERT_NE(NULL, t) {
		TH_LOG("%s", err.text);
	}
	EXPECT_EQ(2, aggt_topo_distance(t, 0, 1));
	EXPECT_STREQ("192.0.2.1", aggt_topo_port_address(t, 0, 0));
	aggt_topo_free(t);
	for (i = 0; i < N(bad); i++) {
		snprintf(text, sizeof(text), "%s%s", dashes, bad[i].text);
		EXPECT_EQ(NULL, aggt_topo_describe(text, &err));
		EXPECT_STREQ(bad[i].refusal, err.text);
	}
}

/* A host may have as many links as port numbers exist. */
TEST(described__many_links)
{
	char text[4096] = "topology graph\nhost hub\n";
	struct aggt_err err = { "" };
	struct aggt_topo *t;
	unsigned int i;

	for (i = 0; i < 31; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "host h%u\nlink hub h%u\n", i, i);
	t = aggt_topo_describe(text, &err);
	ASSERT_NE(NULL, t);
	EXPECT_EQ(31, aggt_topo_ports(t, 0));
	aggt_topo_free(t);
	strcat(text, "host last\nlink last hub\n");
	EXPECT_EQ(NULL, aggt_topo_describe(text, &err));
	EXPECT_STREQ("line 2: host hub: has 32 links, 31 at most", err.text);
}

/* The kernel limits the number of links between the ends of an entry. */
TEST(described__long_line)
{
	char text[8192] = "topology graph\nhost h0\n";
	struct aggt_plan *plan;
	aggt_node sender, receiver = 0;
	struct aggt_job job = { .senders = &sender, .n_senders = 1,
				.receivers = &receiver, .n_receivers = 1,
				.method = "getparent" };
	struct aggt_err err = { "" };
	struct aggt_topo *t;
	unsigned int i;

	for (i = 1; i < 80; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "host h%u\nlink h%u h%u\n", i, i - 1, i);
	t = aggt_topo_describe(text, &err);
	ASSERT_NE(NULL, t);
	sender = 62;
	plan = aggt_plan_build(t, &job, &err);
	EXPECT_NE(NULL, plan);
	aggt_plan_free(plan);
	sender = 63;
	EXPECT_EQ(NULL, aggt_plan_build(t, &job, &err));
	EXPECT_STREQ("server h63: 63 links to its next end, 62 at most",
		     err.text);
	aggt_topo_free(t);
}

/* A random network: hosts first, then switches; some links have a rate. */
#define HOSTS	6
#define NODES	(HOSTS + 6)
#define LINKS	24

struct drawn {
	uint32_t end[LINKS][2];
	unsigned int rate[LINKS];
	unsigned int n;
};

/* Draw links between any two nodes, and describe them in this order. */
static void draw_network(struct drawn *net, char *text, size_t size)
{
	static const unsigned int rates[] = { 0, 0, 1, 10 };
	bool linked[NODES][NODES] = { { false } };
	size_t len;
	uint32_t a, b;

	len = snprintf(text, size, "topology graph\n");
	for (a = 0; a < NODES; a++)
		len += snprintf(text + len, size - len, "%s n%u\n",
				a < HOSTS ? "host" : "switch", a);
	for (net->n = 0; net->n < LINKS; ) {
		a = rnd(NODES);
		b = HOSTS + rnd(NODES - HOSTS);
		if (a == b || linked[a][b])
			continue;
		linked[a][b] = true;
		linked[b][a] = true;
		net->end[net->n][0] = a;
		net->end[net->n][1] = b;
		net->rate[net->n] = rates[rnd(N(rates))];
		len += snprintf(text + len, size - len, "link n%u n%u", a, b);
		if (net->rate[net->n])
			len += snprintf(text + len, size - len, " %uG",
					net->rate[net->n]);
		len += snprintf(text + len, size - len, "\n");
		net->n++;
	}
}

/**
 * struct ways - search all paths of a hop
 * @net: the network
 * @to: its end
 * @way: the current path
 * @best: the shortest path; of equal ones the fastest, then the first
 * @links: its length
 * @rate: its slowest link
 */
struct ways {
	const struct drawn *net;
	uint32_t to;
	uint32_t way[NODES];
	uint32_t best[NODES];
	unsigned int links;
	unsigned int rate;
};

static void try_ways(struct ways *w, uint32_t at, unsigned int n,
		     unsigned int rate)
{
	unsigned int i, k, slowest;

	w->way[n] = at;
	if (at == w->to && (n < w->links || rate > w->rate)) {
		memcpy(w->best, w->way, sizeof(w->best));
		w->links = n;
		w->rate = rate;
	}
	if (n >= w->links || (n && at < HOSTS))
		return;
	for (i = 0; i < w->net->n; i++) {
		const uint32_t *end = w->net->end[i];

		if (end[0] != at && end[1] != at)
			continue;
		slowest = w->net->rate[i];
		if (!slowest || slowest > rate)
			slowest = rate;
		for (k = 0; k <= n && w->way[k] != end[end[0] == at]; k++)
			;
		if (k > n)
			try_ways(w, end[end[0] == at], n + 1, slowest);
	}
}

/* Does a hop use the switches of its best path, in both directions? */
static bool hop_is_best(const struct aggt_topo *t, const struct drawn *net,
			aggt_node from, aggt_node to)
{
	struct ways w = { .net = net, .to = from > to ? from : to,
			  .links = NODES - 1 };
	unsigned int i, k;

	try_ways(&w, from > to ? to : from, 0, UINT32_MAX);
	if (!w.rate)
		return !aggt_topo_hop_links(t, from, to);
	for (i = 0; i + 1 < w.links; i++) {
		k = from > to ? w.links - 1 - i : i + 1;
		if (aggt_topo_hop_switch(t, from, to, i) + HOSTS != w.best[k])
			return false;
	}
	return aggt_topo_hop_links(t, from, to) == w.links;
}

/* The links of a hop do not depend on earlier queries. */
TEST_F(instance, links_of_hops)
{
	unsigned int round, k, drawn = 0;
	struct aggt_err err;
	struct aggt_topo *t;
	struct drawn net;
	char text[2048];

	for (round = 0; round < 400; round++) {
		draw_network(&net, text, sizeof(text));
		t = aggt_topo_describe(text, &err);
		for (k = 0; t && k < 60; k++) {
			aggt_node a = rnd(HOSTS), b = rnd(HOSTS);

			if (a == b)
				continue;
			ASSERT_TRUE(hop_is_best(t, &net, a, b)) {
				TH_LOG("n%u to n%u in\n%s", a, b, text);
			}
		}
		drawn += t != NULL;
		aggt_topo_free(t);
	}
	TH_LOG("%u networks", drawn);
	EXPECT_LE(50, drawn);
}

/* With one NIC its address is the identity, for all that read the description. */
TEST(identity__of_a_host_with_one_nic)
{
	struct aggt_err err = {};
	struct aggt_topo *t = aggt_topo_describe(
		"topology graph\nhost a\nhost b\nhost c\nswitch s\n"
		"link a s\nlink b s\nlink c s\n"
		"address a-s 10.0.1.1\naddress b 10.9.0.2\naddress b-s 10.0.1.2\n",
		&err);

	ASSERT_NE(NULL, t) {
		TH_LOG("%s", err.text);
	}
	EXPECT_STREQ("10.0.1.1", aggt_topo_address(t, 0));
	EXPECT_STREQ("10.9.0.2", aggt_topo_address(t, 1));
	EXPECT_EQ(NULL, aggt_topo_address(t, 2));
	aggt_topo_free(t);
}

TEST_HARNESS_MAIN
