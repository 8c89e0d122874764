// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the tree builders: the papers' examples, and refusals. */
#include "tree_verify.h"
#include "../uapi/harness.h"

static const aggt_node example[] = { 2, 5, 9, 10, 11, 14 };

/* Build a plan of the papers' senders in BCube(4,1). */
FIXTURE(example)
{
	struct aggt_topo *topo;
	struct aggt_job job;
	struct aggt_plan *plan;
	struct aggt_err err;
};

FIXTURE_SETUP(example)
{
	self->topo = aggt_topo_parse("bcube:4,1", NULL);
	ASSERT_NE(NULL, self->topo);
	memset(&self->job, 0, sizeof(self->job));
	self->job.senders = example;
	self->job.n_senders = 6;
	self->plan = NULL;
}

FIXTURE_TEARDOWN(example)
{
	aggt_plan_free(self->plan);
	aggt_topo_free(self->topo);
}

static const struct aggt_metrics *build(FIXTURE_DATA(example) *self,
					const char *method,
					const aggt_node *receivers, size_t n)
{
	const char *why;

	aggt_plan_free(self->plan);
	self->job.receivers = receivers;
	self->job.n_receivers = n;
	self->job.method = method;
	self->plan = aggt_plan_build(self->topo, &self->job, &self->err);
	if (!self->plan) {
		printf("# %s: %s\n", method, self->err.text);
		return NULL;
	}
	why = verify_plan(self->topo, &self->job, self->plan, true);
	if (why) {
		printf("# %s: %s\n", method, why);
		return NULL;
	}
	return aggt_plan_metrics(self->plan);
}

#define EXPECT_COST(want_cost, want_links, method, r) do {		\
	const aggt_node receiver_ = (r);				\
	const struct aggt_metrics *m_ = build(self, method, &receiver_, 1); \
									\
	ASSERT_NE(NULL, m_);						\
	EXPECT_EQ(want_cost, m_->cost);					\
	EXPECT_EQ(want_links, m_->links);				\
} while (0)

TEST_F(example, existing)
{
	EXPECT_COST(22, 12, "existing", 0);
	EXPECT_EQ(0, aggt_plan_metrics(self->plan)->saving);
	self->job.delta = 0.5;
	EXPECT_COST(22, 12, "existing", 0);
}

TEST_F(example, rs)
{
	EXPECT_COST(18, 14, "rs:10", 0);
	EXPECT_COST(16, 12, "rs:01", 0);
	EXPECT_COST(16, 12, "rs:0,1", 0);
}

TEST_F(example, irs)
{
	EXPECT_COST(14, 11, "irs", 0);
	EXPECT_COST(14, 11, "irs", 3);
	EXPECT_COST(12, 9, "irs", 8);
}

TEST_F(example, ars_picks_01)
{
	unsigned int symbol[AGGT_MAX_DIMS];

	EXPECT_COST(14, 11, "ars", 0);
	ASSERT_EQ(2, aggt_tree_sequence(aggt_plan_tree(self->plan, 0), symbol));
	EXPECT_EQ(0, symbol[0]);
	EXPECT_EQ(1, symbol[1]);
	EXPECT_COST(14, 11, "ars", 3);
}

TEST_F(example, v10_collects_three_flows)
{
	const struct aggt_entry *e;
	size_t i, n;

	EXPECT_COST(12, 9, "irs", 8);
	e = aggt_plan_entries(self->plan, &n);
	for (i = 0; i < n && e[i].server != 10; i++)
		;
	ASSERT_LT(i, n);
	EXPECT_EQ(3, e[i].contributors);
	EXPECT_EQ(3, e[i].sources);
	ASSERT_EQ(2, e[i].n_children);
	EXPECT_EQ(2, e[i].children[0]);
	EXPECT_EQ(14, e[i].children[1]);
}

TEST_F(example, unicast_follows_ip_routes)
{
	const struct aggt_entry *e;
	size_t i, n;

	EXPECT_COST(16, 12, "unicast", 0);
	e = aggt_plan_entries(self->plan, &n);
	for (i = 0; i < n; i++)
		if (!(e[i].flags & AGGT_RECEIVER))
			EXPECT_EQ(aggt_topo_next_hop(self->topo, e[i].server, 0),
				  e[i].parent);
}

TEST_F(example, srs)
{
	static const aggt_node receivers[] = { 0, 3, 8 };
	const struct aggt_metrics *m;
	aggt_node head[3];
	size_t i;

	m = build(self, "srs", receivers, 3);
	ASSERT_NE(NULL, m);
	/* One group with head v0; the costs with entry v0, v3 and v8. */
	ASSERT_EQ(0, aggt_shuffle_heads(self->topo, &self->job, head));
	for (i = 0; i < 3; i++)
		EXPECT_EQ(0, head[i]);
	EXPECT_EQ(46, aggt_shuffle_cost(self->topo, &self->job, 0));
	EXPECT_EQ(48, aggt_shuffle_cost(self->topo, &self->job, 1));
	EXPECT_EQ(42, aggt_shuffle_cost(self->topo, &self->job, 2));
	EXPECT_EQ(42, m->cost);
	EXPECT_EQ(42, aggt_plan_predicted(self->plan));
	EXPECT_EQ(13, m->links);
	for (i = 0; i < 3; i++)
		EXPECT_EQ(8, aggt_tree_entry(aggt_plan_tree(self->plan, i)));
	EXPECT_EQ(14, aggt_plan_tree_metrics(self->plan, 0)->cost);
	EXPECT_EQ(16, aggt_plan_tree_metrics(self->plan, 1)->cost);
	EXPECT_EQ(12, aggt_plan_tree_metrics(self->plan, 2)->cost);
	m = build(self, "irs", receivers, 3);
	ASSERT_NE(NULL, m);
	EXPECT_EQ(40, m->cost);
	m = build(self, "srs:safe", receivers, 3);
	ASSERT_NE(NULL, m);
	EXPECT_EQ(40, m->cost);
}

TEST_F(example, refused)
{
	static const struct {
		const char *method;
		const char *names;
	} bad[] = {
		{ "", "method" }, { "magic", "magic" }, { "irs:3", "irs:3" },
		{ "rs", "rs" }, { "rs:", "rs:" }, { "rs:0", "rs:0" },
		{ "rs:00", "rs:00" }, { "rs:02", "rs:02" },
		{ "rs:012", "rs:012" }, { "rs:0,,1", "rs:0,,1" },
		{ "unicast:left", "unicast:left" }, { "srs:x", "srs:x" },
	};
	const aggt_node receiver = 0, twice[] = { 3, 3 }, beyond = 16;
	const double sizes[] = { 1, 1, 1, 1, -1, 1 };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		EXPECT_EQ(NULL, build(self, bad[i].method, &receiver, 1));
		EXPECT_NE(NULL, strstr(self->err.text, bad[i].names));
	}
	EXPECT_EQ(NULL, build(self, "irs", twice, 2));
	EXPECT_NE(NULL, strstr(self->err.text, "v3"));
	EXPECT_EQ(NULL, build(self, "irs", &beyond, 1));
	EXPECT_NE(NULL, strstr(self->err.text, "v16"));
	EXPECT_EQ(NULL, build(self, "irs", &receiver, 0));
	self->job.sizes = sizes;
	EXPECT_EQ(NULL, build(self, "irs", &receiver, 1));
	EXPECT_NE(NULL, strstr(self->err.text, "v11"));
	self->job.sizes = NULL;
	self->job.delta = 1.5;
	EXPECT_EQ(NULL, build(self, "irs", &receiver, 1));
	EXPECT_NE(NULL, strstr(self->err.text, "1.5"));
}

/* Entries of "existing": the ends only, the receiver counts every sender. */
TEST_F(example, existing_entries)
{
	const aggt_node receiver = 2;
	const struct aggt_entry *e;
	size_t i, n;

	ASSERT_NE(NULL, build(self, "existing", &receiver, 1));
	e = aggt_plan_entries(self->plan, &n);
	ASSERT_EQ(6, n);
	for (i = 0; i < n; i++) {
		bool root = e[i].server == 2;

		EXPECT_EQ(root ? 6 : 1, e[i].contributors);
		EXPECT_EQ(root ? 6 : 1, e[i].sources);
		EXPECT_EQ(root ? 5 : 0, e[i].n_children);
		if (root)
			continue;
		EXPECT_EQ(2, e[i].parent_end);
		EXPECT_EQ(2 * aggt_topo_distance(self->topo, e[i].server, 2),
			  e[i].links);
		EXPECT_EQ(aggt_topo_next_hop(self->topo, e[i].server, 2),
			  e[i].parent);
	}
	aggt_plan_switch_entries(self->plan, &n);
	EXPECT_EQ(0, n);
}

/*
 * Section V-B of paper 004 does not hold here: labels differ in three
 * dimensions.
 */
TEST(stage__lower_stages_only)
{
	static const aggt_node senders[] = { 1, 4, 16 };
	static const char *const method[] = { "irs", "ars", "rs:012" };
	const aggt_node receiver = 0;
	struct aggt_job job = { .senders = senders, .n_senders = 3,
				.receivers = &receiver, .n_receivers = 1 };
	struct aggt_topo *t = aggt_topo_parse("bcube:4,2", NULL);
	size_t i;

	for (i = 0; i < 3; i++) {
		struct aggt_plan *plan;

		job.method = method[i];
		plan = aggt_plan_build(t, &job, NULL);
		ASSERT_NE(NULL, plan);
		EXPECT_EQ(NULL, verify_plan(t, &job, plan, true));
		EXPECT_EQ(6, aggt_plan_metrics(plan)->cost);
		aggt_plan_free(plan);
	}
	aggt_topo_free(t);
}

/* Paper 001, 3.4: its senders, receiver 000. */
static const aggt_node senders_001[] = {
	2, 3, 4, 5, 13, 25, 34, 37, 41, 48, 49, 57, 58, 59
};

static struct aggt_plan *plan_001(const struct aggt_topo *t, const char *method)
{
	static const aggt_node receiver;
	struct aggt_job job = { .senders = senders_001, .n_senders = 14,
				.receivers = &receiver, .n_receivers = 1,
				.method = method };
	struct aggt_plan *plan = aggt_plan_build(t, &job, NULL);

	if (plan && verify_plan(t, &job, plan, true)) {
		printf("# %s: %s\n", method, verify_text);
		aggt_plan_free(plan);
		return NULL;
	}
	return plan;
}

/* Does a sender's flow meet another sender on its path? */
static bool meets_sender(const struct aggt_tree *tree, uint32_t i)
{
	for (i = aggt_tree_parent(tree, i); i; i = aggt_tree_parent(tree, i))
		if (aggt_tree_sends(tree, i))
			return true;
	return false;
}

/* Seven branches; 031, 121 and 221 do not begin at stage 1. */
TEST(mib__branches_of_the_paper)
{
	struct aggt_topo *t = aggt_topo_parse("bcube:4,2", NULL);
	struct aggt_plan *plan = plan_001(t, "mib");
	uint32_t i, branches = 0, left = 0;

	ASSERT_NE(NULL, plan);
	for (i = 0; i < 14; i++) {
		const struct aggt_tree *tree = aggt_plan_tree(plan, 0);
		uint32_t v = aggt_tree_find(tree, senders_001[i]);

		if (meets_sender(tree, v))
			continue;
		branches++;
		if (aggt_topo_distance(t, senders_001[i], 0) > 1)
			left |= 1u << i;
	}
	EXPECT_EQ(7, branches);
	EXPECT_EQ(1u << 4 | 1u << 5 | 1u << 8, left);
	aggt_plan_free(plan);
	aggt_topo_free(t);
}

TEST(exact__of_the_paper)
{
	struct aggt_topo *t = aggt_topo_parse("bcube:4,2", NULL);
	struct aggt_plan *plan = plan_001(t, "exact");

	ASSERT_NE(NULL, plan);
	EXPECT_EQ(28, aggt_plan_metrics(plan)->cost);
	aggt_plan_free(plan);
	plan = plan_001(t, "m2");
	ASSERT_NE(NULL, plan);
	EXPECT_LE(28, aggt_plan_metrics(plan)->cost);
	aggt_plan_free(plan);
	aggt_topo_free(t);
}

TEST_F(example, exact)
{
	EXPECT_COST(12, m_->links, "exact", 0);
	EXPECT_COST(12, m_->links, "exact", 3);
	EXPECT_COST(12, m_->links, "exact", 8);
	self->job.delta = 1;
	EXPECT_COST(22, m_->links, "exact", 0);
}

TEST_F(example, exact_refused)
{
	const aggt_node receiver = 0;
	struct aggt_list s;

	self->job.delta = 0.5;
	EXPECT_EQ(NULL, build(self, "exact", &receiver, 1));
	EXPECT_NE(NULL, strstr(self->err.text, "0.5"));
	aggt_topo_free(self->topo);
	self->topo = aggt_topo_parse("bcube:8,3", NULL);
	ASSERT_EQ(0, aggt_list_parse(self->topo, "random:30", 1, &s, NULL));
	self->job.senders = s.node;
	self->job.n_senders = s.n;
	self->job.delta = 0;
	EXPECT_EQ(NULL, build(self, "exact", &receiver, 1));
	EXPECT_NE(NULL, strstr(self->err.text, "30 senders"));
	aggt_list_clear(&s);
}

/* The optimum needs three hops; a bound of two excludes it. */
TEST_F(example, auto_obeys_the_bound)
{
	const aggt_node receiver = 0;
	const struct aggt_metrics *m;

	self->job.max_depth = AGGT_DEPTH_NONE;
	m = build(self, "auto", &receiver, 1);
	ASSERT_NE(NULL, m);
	EXPECT_EQ(12, m->cost);
	self->job.max_depth = 2;
	m = build(self, "auto", &receiver, 1);
	ASSERT_NE(NULL, m);
	EXPECT_EQ(2, m->depth);
	EXPECT_LE(12, m->cost);
	EXPECT_GE(16, m->cost);
	self->job.max_depth = 1;
	EXPECT_EQ(NULL, build(self, "auto", &receiver, 1));
	EXPECT_NE(NULL, strstr(self->err.text, "v5"));
	EXPECT_EQ(NULL, build(self, "irs", &receiver, 1));
	EXPECT_NE(NULL, strstr(self->err.text, "deep"));
}

/*
 * The example with a switch for each server: 7 hops, 6 flows up to agents, one
 * down. Switches 9, 1, 2 and 0 use servers for 1, 3, 2 and 1 more flows.
 */
TEST(agents__example)
{
	static const aggt_node senders[] = { 4, 10, 18, 20, 22, 28 };
	static const aggt_node receiver;
	struct aggt_job job = { .senders = senders, .n_senders = 6,
				.receivers = &receiver, .n_receivers = 1,
				.method = "irs" };
	struct aggt_topo *t = aggt_topo_parse("fbfly:4,3,2", NULL);
	struct aggt_plan *plan = aggt_plan_build(t, &job, NULL);
	const struct aggt_metrics *m;
	const struct aggt_entry *e;
	size_t i, n;

	ASSERT_NE(NULL, plan);
	EXPECT_EQ(NULL, verify_plan(t, &job, plan, true));
	m = aggt_plan_metrics(plan);
	EXPECT_EQ(14, m->cost);
	EXPECT_EQ(23, m->existing);
	EXPECT_EQ(14, m->links);
	EXPECT_EQ(7, m->leaning);
	/* No server of switch 1 sends: its first server, v2, merges for it. */
	e = aggt_plan_entries(plan, &n);
	ASSERT_EQ(8, n);
	for (i = 0; i < n; i++) {
		bool leant = e[i].server == 2 || e[i].server == 4 ||
			     e[i].server == 18;

		EXPECT_EQ(leant, !!(e[i].flags & AGGT_LEANS));
		EXPECT_EQ(e[i].server / 2, e[i].sw);
	}
	EXPECT_STREQ("end", aggt_entry_role(&e[1]));
	EXPECT_EQ(2, e[1].contributors);
	EXPECT_EQ(10, e[1].children[0]);
	EXPECT_EQ(0, e[1].parent);
	EXPECT_EQ(3, e[1].links);
	aggt_plan_switch_entries(plan, &n);
	EXPECT_EQ(0, n);
	aggt_plan_free(plan);
	aggt_topo_free(t);
}

/*
 * Servers of one switch: their flows meet there; the receiver's own flow stays
 * there.
 */
TEST(agents__shared_switch)
{
	static const aggt_node senders[] = { 0, 1, 6, 7 };
	static const aggt_node receiver;
	static const char *const method[] = { "irs", "auto", "exact", "m2",
					      "steiner", "existing" };
	struct aggt_job job = { .senders = senders, .n_senders = 4,
				.receivers = &receiver, .n_receivers = 1 };
	struct aggt_topo *t = aggt_topo_parse("hyperx:4,4:3", NULL);
	struct aggt_err err;
	size_t i;

	for (i = 0; i < 6; i++) {
		struct aggt_plan *plan;
		const struct aggt_tree *tree;

		job.method = method[i];
		plan = aggt_plan_build(t, &job, &err);
		ASSERT_NE(NULL, plan);
		/*
		 * Two flows up and merged, one hop, one flow up beside it, all
		 * merged down.
		 */
		EXPECT_EQ(i == 5 ? 2 * 3 + 2 : 3 + 1 + 1,
			  aggt_plan_metrics(plan)->cost);
		EXPECT_EQ(8, aggt_plan_metrics(plan)->existing);
		EXPECT_EQ(3 + 1 + 1, aggt_plan_metrics(plan)->links);
		tree = aggt_plan_tree(plan, 0);
		EXPECT_EQ(0, aggt_tree_leans(tree, 0));
		EXPECT_EQ(i == 5 ? AGGT_NONE : 6, aggt_tree_leans(tree, 1));
		EXPECT_EQ(2, aggt_tree_server(tree, 1));
		EXPECT_EQ(NULL, verify_plan(t, &job, plan, true));
		aggt_plan_free(plan);
	}
	aggt_topo_free(t);
}

/*
 * v0 and v1 share a switch, v2 is one hop away: v0's switch serves all of them.
 */
TEST(agents__srs)
{
	static const aggt_node senders[] = { 10, 12, 14 };
	static const aggt_node receivers[] = { 0, 1, 2 };
	struct aggt_job job = { .senders = senders, .n_senders = 3,
				.receivers = receivers, .n_receivers = 3,
				.method = "srs" };
	struct aggt_topo *t = aggt_topo_parse("fbfly:4,3,2", NULL);
	struct aggt_plan *plan = aggt_plan_build(t, &job, NULL);
	size_t i;

	ASSERT_NE(NULL, plan);
	EXPECT_EQ(NULL, verify_plan(t, &job, plan, true));
	for (i = 1; i < 3; i++)
		EXPECT_EQ(aggt_tree_entry(aggt_plan_tree(plan, 0)),
			  aggt_tree_entry(aggt_plan_tree(plan, i)));
	EXPECT_EQ(aggt_plan_metrics(plan)->cost, aggt_plan_predicted(plan));
	aggt_plan_free(plan);
	aggt_topo_free(t);
}

TEST_HARNESS_MAIN
