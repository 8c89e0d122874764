// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the filters of a plan: sizes, names, refusals, and which links
 * match on the paths of random trees, compared with nodes that test their links
 * one by one.
 */
#include <linux/kernel.h>

#include "core/filter.h"
#include "tree_random.h"

#define INCAST	0x0000000100000005ULL

static const struct aggt_filter_conf general = {
	.rule = AGGT_FILTER_GENERAL, .rate = 1, .salts = 256,
};

static struct aggt_plan *plan_of(struct aggt_topo *topo, const char *method,
				 const char *senders, const char *receivers)
{
	struct aggt_job job = { .method = method };
	struct aggt_list s, r;
	struct aggt_plan *plan;

	aggt_list_parse(topo, senders, 1, &s, NULL);
	aggt_list_parse(topo, receivers, 1, &r, NULL);
	job.senders = s.node;
	job.n_senders = s.n;
	job.receivers = r.node;
	job.n_receivers = r.n;
	plan = aggt_plan_build(topo, &job, NULL);
	aggt_list_clear(&s);
	aggt_list_clear(&r);
	return plan;
}

/* Return: the error, or NULL if the filter is accepted */
static const char *refusal(const char *topology, const char *method,
			   struct aggt_filter_conf conf)
{
	struct aggt_topo *topo = aggt_topo_parse(topology, NULL);
	static struct aggt_err err;
	struct aggt_filter_size size;
	struct aggt_plan *plan;
	int ret;

	plan = plan_of(topo, method, "v2,v5,v9,v10,v11,v14", "v0");
	ret = aggt_filter_measure(plan, &conf, &size, &err);
	aggt_plan_free(plan);
	aggt_topo_free(topo);
	return ret ? err.text : NULL;
}

TEST(paper_bits__as_in_table_2)
{
	static const uint32_t bits[] = { 19, 38, 58, 79, 102 };
	unsigned int k;

	for (k = 3; k <= 7; k++)
		EXPECT_EQ(bits[k - 3], aggt_filter_paper_bits(k, 1));
	/* The formula is undefined here: no link beside the path is tested. */
	for (k = 0; k < 3; k++)
		EXPECT_EQ(8, aggt_filter_paper_bits(k, 1));
	EXPECT_LT(102, aggt_filter_paper_bits(7, 0.1));
}

TEST(link_name__each_has_its_own)
{
	uint64_t name[4 * 20 * 20];
	size_t n = 0, i;
	uint32_t a, b;
	int kinds;

	for (kinds = 0; kinds < 4; kinds++)
		for (a = 0; a < 20; a++)
			for (b = 0; b < 20; b++)
				name[n++] = aggt_link_name(kinds & 1, a << 20,
							   kinds & 2, b << 20);
	for (i = 0; i < n; i++) {
		EXPECT_GT(1ULL << 52, name[i]);
		for (a = 0; a < i; a++)
			ASSERT_NE(name[i], name[a]);
	}
}

/*
 * v14 w6 v2 w0 v0: the path of one flow, with servers and with switches
 * testing.
 */
TEST(measure__a_way_of_the_papers)
{
	struct aggt_topo *topo = aggt_topo_parse("bcube:4,1", NULL);
	struct aggt_plan *plan = plan_of(topo, "unicast", "v14", "v0");
	struct aggt_filter_conf conf = general;
	struct aggt_filter_size size;

	ASSERT_EQ(0, aggt_filter_measure(plan, &conf, &size, NULL));
	EXPECT_EQ(2, size.links);
	/*
	 * v2 tests the three links of its other port; one of them is on the
	 * path.
	 */
	EXPECT_EQ(2, size.wrong);
	EXPECT_EQ(8, size.bits);
	conf.switches = true;
	ASSERT_EQ(0, aggt_filter_measure(plan, &conf, &size, NULL));
	EXPECT_EQ(4, size.links);
	/* Two links of each switch; v2's other port has one link. */
	EXPECT_EQ(4, size.wrong);
	/* 4 log(1/4) / log(0.6185) is 11.54. */
	EXPECT_EQ(12, size.general_bits);
	EXPECT_EQ(12, size.bits);
	EXPECT_EQ(2, size.hashes);
	EXPECT_EQ(8, size.bytes);
	EXPECT_TRUE(size.expected > 0.9 && size.expected < 1);
	conf.rate = 0.01;
	ASSERT_EQ(0, aggt_filter_measure(plan, &conf, &size, NULL));
	EXPECT_TRUE(size.expected <= 0.01);
	conf.bits = 100;
	ASSERT_EQ(0, aggt_filter_measure(plan, &conf, &size, NULL));
	EXPECT_EQ(100, size.bits);
	conf.least = 120;
	ASSERT_EQ(0, aggt_filter_measure(plan, &conf, &size, NULL));
	EXPECT_EQ(120, size.bits);
	aggt_plan_free(plan);
	aggt_topo_free(topo);
}

TEST(measure__what_is_refused)
{
	struct aggt_filter_conf paper = general, conf = general;

	paper.rule = AGGT_FILTER_PAPER;
	EXPECT_EQ(NULL, refusal("bcube:4,1", "irs", general));
	EXPECT_EQ(NULL, refusal("bcube:4,1", "unicast", paper));
	/* Hops within a stage. */
	EXPECT_NE(NULL, strstr(refusal("bcube:4,1", "irs", paper),
			       "in the tree of v0 v"));
	EXPECT_NE(NULL, strstr(refusal("fbfly:4,3,4", "ars", general),
			       "do not forward for each other"));
	EXPECT_NE(NULL, strstr(refusal("bcube:2,15", "unicast", paper),
			       "room for 15 digits"));
	conf.bits = 7;
	EXPECT_NE(NULL, strstr(refusal("bcube:4,1", "irs", conf), "7 bits"));
	conf.bits = AGGNET_FILTER_BITS_MAX;
	EXPECT_EQ(NULL, refusal("bcube:4,1", "irs", conf));
	conf.bits++;
	EXPECT_NE(NULL, strstr(refusal("bcube:4,1", "irs", conf),
			       "993 bits"));
	conf.bits = UINT32_MAX;
	EXPECT_NE(NULL, strstr(refusal("bcube:4,1", "irs", conf),
			       "4294967295 bits"));
}

/**
 * struct seen - a packet's path as the nodes on it see it
 * @topo: the topology
 * @conf: which nodes test what
 * @f: the packet's filter
 * @receiver: the packet's receiver
 * @ok: each link of the path matched
 * @wrong: how many other links matched
 */
struct seen {
	const struct aggt_topo *topo;
	const struct aggt_filter_conf *conf;
	const struct aggnet_filter *f;
	aggt_node receiver;
	bool ok;
	uint32_t wrong;
};

static bool finds(const struct seen *s, uint64_t name)
{
	return aggnet_filter_test(s->f, aggnet_filter_key(INCAST, s->f->salt),
				  name);
}

static bool nearer(const struct seen *s, aggt_node from, aggt_node to)
{
	return s->conf->rule == AGGT_FILTER_GENERAL ||
	       aggt_topo_distance(s->topo, to, s->receiver) <
	       aggt_topo_distance(s->topo, from, s->receiver);
}

/* Every server one hop away through a switch other than @from's. */
static void look_server(struct seen *s, aggt_node from, aggt_node at,
			aggt_node next)
{
	uint32_t came = aggt_topo_link_dim(s->topo, from, at);
	uint32_t out = aggt_topo_link_dim(s->topo, at, next), dim;
	aggt_node v;

	for (v = 0; !s->conf->switches && v < aggt_topo_servers(s->topo); v++)
		if (v != at && v != next && nearer(s, at, v) &&
		    aggt_topo_distance(s->topo, v, at) == 1 &&
		    aggt_topo_link_dim(s->topo, v, at) != came)
			s->wrong += finds(s, aggt_link_name(false, at, false,
							    v));
	for (dim = 0; s->conf->switches && dim < aggt_topo_dims(s->topo);
	     dim++) {
		unsigned int d = aggt_topo_digit(s->topo, s->receiver, dim);

		v = aggt_topo_with_digit(s->topo, at, dim, d);
		if (dim == came || dim == out ||
		    (s->conf->rule == AGGT_FILTER_PAPER && v == at))
			continue;
		s->wrong += finds(s, aggt_link_name(false, at, true,
					aggt_topo_switch(s->topo, at, dim)));
	}
}

static void look_switch(struct seen *s, aggt_node from, aggt_node next)
{
	uint32_t dim = aggt_topo_link_dim(s->topo, from, next);
	uint32_t sw = aggt_topo_switch(s->topo, from, dim);
	unsigned int d;

	s->ok &= finds(s, aggt_link_name(false, from, true, sw));
	s->ok &= finds(s, aggt_link_name(true, sw, false, next));
	for (d = 0; d < aggt_topo_radix(s->topo, dim); d++) {
		aggt_node v = aggt_topo_switch_server(s->topo, sw, d);

		if (v != from && v != next && nearer(s, from, v))
			s->wrong += finds(s, aggt_link_name(true, sw, false,
							    v));
	}
}

static void look(struct seen *s, const struct aggt_tree *tree, uint32_t v)
{
	aggt_node came = AGGT_NONE, from, next;

	for (; v; v = aggt_tree_parent(tree, v)) {
		from = aggt_tree_server(tree, v);
		next = aggt_tree_server(tree, aggt_tree_parent(tree, v));
		if (came != AGGT_NONE)
			look_server(s, came, from, next);
		if (s->conf->switches)
			look_switch(s, from, next);
		else
			s->ok &= finds(s, aggt_link_name(false, from, false,
							 next));
		came = from;
	}
}

/* Return: the false links of all filters of a plan; -1: a plan is wrong */
static long check_plan(const struct aggt_topo *topo,
		       const struct aggt_plan *plan,
		       const struct aggt_filter_conf *conf)
{
	struct aggt_filter_size size;
	const struct aggt_entry *e;
	struct aggt_filter filter;
	struct aggt_err err;
	size_t i, n;
	long sum = 0;

	if (aggt_filter_measure(plan, conf, &size, &err))
		return -1;
	e = aggt_plan_entries(plan, &n);
	for (i = 0; i < n; i++) {
		struct seen s = {
			.topo = topo, .conf = conf, .ok = true,
			.f = (void *)filter.bytes, .receiver = e[i].receiver,
		};
		const struct aggt_tree *tree;

		if (!(e[i].flags & AGGT_END) || e[i].parent == AGGT_NONE)
			continue;
		if (aggt_filter_make(plan, conf, &size, &e[i], INCAST, &filter,
				     &err) && !filter.lost)
			return -1;
		tree = aggt_plan_tree(plan, e[i].tree);
		look(&s, tree, aggt_tree_find(tree, e[i].server));
		if (!s.ok || s.wrong != filter.false_links ||
		    filter.size != size.bytes ||
		    !aggnet_filter_ok(s.f, filter.size))
			return -1;
		sum += filter.false_links;
	}
	return sum;
}

/* Method unicast, because both rules allow it. */
TEST_F(instance, make__names_the_way_and_counts_the_rest)
{
	struct aggt_filter_conf conf;
	long first = 0, best = 0;
	struct aggt_plan *plan;
	int i;

	for (i = 0; i < 60; i++) {
		draw(self, topologies[i % N(topologies)], 1 + rnd(12), 2);
		self->job.method = "unicast";
		plan = aggt_plan_build(self->topo, &self->job, NULL);
		ASSERT_NE(NULL, plan);
		conf = (struct aggt_filter_conf){
			.rule = i / 2 % 2, .switches = i % 2, .rate = 1,
			.salts = 1,
		};
		first += check_plan(self->topo, plan, &conf);
		conf.salts = 256;
		best += check_plan(self->topo, plan, &conf);
		/*
		 * A wrong plan returns -1, which could cancel a false link in
		 * the sum.
		 */
		ASSERT_LE(0, check_plan(self->topo, plan, &conf));
		aggt_plan_free(plan);
		discard(self);
	}
	TH_LOG("false links: %ld with one salt, %ld with 256", first, best);
	EXPECT_LT(0, first);
	EXPECT_LT(best, first / 4);
}

/* Eight bits on switches of 16 ports, and no choice of salts. */
TEST(make__a_filter_that_loses_packets_is_refused)
{
	struct aggt_topo *topo = aggt_topo_parse("bcube:16,1", NULL);
	struct aggt_plan *plan = plan_of(topo, "unicast", "v255", "v0");
	struct aggt_filter_conf conf = general;
	struct aggt_filter_size size;
	const struct aggt_entry *e;
	struct aggt_filter filter;
	struct aggt_err err;
	uint64_t id = 0;
	size_t i, n;

	conf.switches = true;
	conf.bits = 8;
	conf.salts = 1;
	ASSERT_EQ(0, aggt_filter_measure(plan, &conf, &size, NULL));
	e = aggt_plan_entries(plan, &n);
	for (i = 0; i < n && e[i].server != 255; i++)
		;
	ASSERT_LT(i, n);
	while (!aggt_filter_make(plan, &conf, &size, &e[i], id, &filter, &err))
		ASSERT_GT(2000, id++);
	EXPECT_TRUE(filter.lost);
	EXPECT_NE(NULL, strstr(err.text, "from v255 to v0"));
	aggt_plan_free(plan);
	aggt_topo_free(topo);
}

TEST_HARNESS_MAIN
