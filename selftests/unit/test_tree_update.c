// SPDX-License-Identifier: GPL-2.0
/* Unit tests of plans under change: members come and go, parts fail. */
#include "tree_verify.h"
#include "kselftest_harness.h"

static const aggt_node example[] = { 2, 5, 9, 10, 11, 14 };

FIXTURE(update)
{
	struct aggt_topo *topo;
	struct aggt_plan *plan;
	struct aggt_plan *next;
	struct aggt_err err;
};

FIXTURE_SETUP(update)
{
	self->topo = aggt_topo_parse("bcube:4,1", NULL);
	ASSERT_NE(NULL, self->topo);
	self->plan = NULL;
	self->next = NULL;
}

FIXTURE_TEARDOWN(update)
{
	aggt_plan_free(self->next);
	aggt_plan_free(self->plan);
	aggt_topo_free(self->topo);
}

static void plan(FIXTURE_DATA(update) *self, const char *method)
{
	static const aggt_node receiver;
	struct aggt_job job = { .senders = example, .n_senders = 6,
				.receivers = &receiver, .n_receivers = 1,
				.method = method };

	self->plan = aggt_plan_build(self->topo, &job, &self->err);
}

/* Apply one change to the latest plan. Return: NULL or what is wrong. */
static const char *change(FIXTURE_DATA(update) *self, const char *text)
{
	struct aggt_change c;
	struct aggt_plan *next;

	if (aggt_change_parse(self->topo, text, &c, &self->err))
		return self->err.text;
	next = aggt_plan_update(self->topo,
				self->next ? self->next : self->plan, &c, 1,
				&self->err);
	if (!next)
		return self->err.text;
	aggt_plan_free(self->next);
	self->next = next;
	return verify_plan(self->topo, aggt_plan_job(next), next, true);
}

static aggt_node parent(const struct aggt_plan *plan, aggt_node server)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan, 0);
	uint32_t i = aggt_tree_find(tree, server);

	return i && i != AGGT_NONE ?
	       aggt_tree_server(tree, aggt_tree_parent(tree, i)) : AGGT_NONE;
}

static size_t differences(const struct aggt_plan *a, const struct aggt_plan *b)
{
	struct aggt_diff *diff;
	size_t n;

	if (aggt_plan_diff(a, b, &diff, &n))
		return 999;
	free(diff);
	return n;
}

/* v7 joins under 01 by v3; whoever was there stays; leaving undoes it. */
TEST_F(update, join_and_leave)
{
	size_t i;

	plan(self, "rs:01");
	ASSERT_EQ(NULL, change(self, "join:v7"));
	EXPECT_EQ(3, parent(self->next, 7));
	EXPECT_EQ(0, parent(self->next, 3));
	for (i = 0; i < 6; i++)
		EXPECT_EQ(parent(self->plan, example[i]),
			  parent(self->next, example[i]));
	/* v7 is new; v3 becomes an end, so v11 has a new end; v0 has more. */
	EXPECT_EQ(4, differences(self->plan, self->next));
	ASSERT_EQ(NULL, change(self, "leave:v7"));
	EXPECT_EQ(0, differences(self->plan, self->next));
	EXPECT_EQ(1, aggt_plan_reuse(self->plan, self->next));
}

TEST_F(update, join_without_symbols)
{
	plan(self, "steiner");
	ASSERT_EQ(NULL, change(self, "join:v7"));
	EXPECT_EQ(aggt_plan_metrics(self->plan)->cost + 2,
		  aggt_plan_metrics(self->next)->cost);
	ASSERT_EQ(NULL, change(self, "leave:v7"));
	EXPECT_EQ(0, differences(self->plan, self->next));
}

/* v0 and v3 differ in the dimension of e_1: stages 2 to 1 are kept. */
TEST_F(update, receiver_replaced)
{
	size_t i;

	plan(self, "ars");
	EXPECT_EQ(14, aggt_plan_metrics(self->plan)->cost);
	ASSERT_EQ(NULL, change(self, "receiver:v0=v3"));
	EXPECT_EQ(14, aggt_plan_metrics(self->next)->cost);
	EXPECT_EQ(11, aggt_plan_metrics(self->next)->links);
	for (i = 1; i < 6; i++)
		EXPECT_EQ(parent(self->plan, example[i]),
			  parent(self->next, example[i]));
	EXPECT_EQ(3, parent(self->next, 1));
	EXPECT_EQ(3, parent(self->next, 2));
}

TEST_F(update, receiver_on_the_way)
{
	plan(self, "ars");
	ASSERT_EQ(NULL, change(self, "receiver:v0=v1"));
	ASSERT_EQ(NULL, change(self, "receiver:v1=v14"));
	ASSERT_EQ(NULL, change(self, "receiver:v14=v0"));
	aggt_plan_free(self->next);
	aggt_plan_free(self->plan);
	self->next = NULL;
	plan(self, "m2");
	ASSERT_EQ(NULL, change(self, "receiver:v0=v2"));
	ASSERT_EQ(NULL, change(self, "receiver:v2=v8"));
}

/* The neighbours in the dimension of e_1 that are idle come first. */
TEST_F(update, substitute)
{
	plan(self, "rs:01");
	EXPECT_EQ(1, aggt_plan_substitute(self->plan, 0));
	ASSERT_EQ(NULL, change(self, "receiver:v0"));
	EXPECT_EQ(1, aggt_tree_receiver(aggt_plan_tree(self->next, 0)));
	ASSERT_EQ(NULL, change(self, "failed:v3"));
	/* v2 sends, v3 has failed. */
	EXPECT_EQ(0, aggt_plan_substitute(self->next, 0));
}

/* v3 only relays: v11 goes on to the receiver, v11 w2 v8 w4 v0. */
TEST_F(update, transit_failed)
{
	plan(self, "rs:01");
	ASSERT_EQ(NULL, change(self, "failed:v3"));
	EXPECT_EQ(8, parent(self->next, 11));
	EXPECT_EQ(2, aggt_topo_switch(self->topo, 11, 0));
	EXPECT_EQ(0, parent(self->next, 8));
	EXPECT_EQ(4, aggt_topo_switch(self->topo, 8, 1));
	EXPECT_EQ(AGGT_NONE, aggt_tree_find(aggt_plan_tree(self->next, 0), 3));
	EXPECT_EQ(1, parent(self->next, 5));
}

/* 3333 goes on to 0003, where flows merge, not to 0033, which only relays. */
TEST_F(update, on_to_the_next_aggregator)
{
	static const aggt_node senders[] = { 255, 7 };
	static const aggt_node receiver;
	struct aggt_job job = { .senders = senders, .n_senders = 2,
				.receivers = &receiver, .n_receivers = 1,
				.method = "rs:0123" };

	aggt_topo_free(self->topo);
	self->topo = aggt_topo_parse("bcube:4,3", NULL);
	self->plan = aggt_plan_build(self->topo, &job, &self->err);
	ASSERT_NE(NULL, self->plan);
	EXPECT_EQ(63, parent(self->plan, 255));
	EXPECT_EQ(3, parent(self->plan, 15));
	ASSERT_EQ(NULL, change(self, "failed:v63"));
	EXPECT_EQ(207, parent(self->next, 255));
	EXPECT_EQ(195, parent(self->next, 207));
	EXPECT_EQ(3, parent(self->next, 195));
	EXPECT_EQ(0, parent(self->next, 3));
}

TEST_F(update, aggregator_failed)
{
	plan(self, "rs:01");
	ASSERT_EQ(NULL, change(self, "failed:v1"));
	EXPECT_EQ(AGGT_NONE, aggt_tree_find(aggt_plan_tree(self->next, 0), 1));
	EXPECT_EQ(2, parent(self->next, 10));
}

/* All other ways from v11 to v3 are taken, so it joins where it can. */
TEST_F(update, switch_and_link_failed)
{
	plan(self, "rs:01");
	ASSERT_EQ(NULL, change(self, "failed:w7"));
	EXPECT_NE(3, parent(self->next, 11));
	ASSERT_EQ(NULL, change(self, "failed:v14-w6"));
	EXPECT_NE(2, parent(self->next, 14));
}

/* With room, the parent stays the same: v6 v5 v1 v2, v14 v15 v3 v2. */
TEST_F(update, same_parent_by_another_way)
{
	static const aggt_node senders[] = { 6, 14 };
	static const aggt_node receiver;
	struct aggt_job job = { .senders = senders, .n_senders = 2,
				.receivers = &receiver, .n_receivers = 1,
				.method = "rs:01" };

	self->plan = aggt_plan_build(self->topo, &job, &self->err);
	ASSERT_NE(NULL, self->plan);
	EXPECT_EQ(2, parent(self->plan, 6));
	ASSERT_EQ(NULL, change(self, "failed:w6"));
	EXPECT_EQ(2, parent(self->next, parent(self->next,
					       parent(self->next, 6))));
	EXPECT_EQ(2, parent(self->next, parent(self->next,
					       parent(self->next, 14))));
	EXPECT_EQ(0, parent(self->next, 2));
}

TEST_F(update, failed_sender_leaves)
{
	plan(self, "irs");
	ASSERT_EQ(NULL, change(self, "failed:v10"));
	EXPECT_EQ(5, aggt_plan_job(self->next)->n_senders);
}

TEST_F(update, refused)
{
	static const struct {
		const char *text;
		const char *names;
	} bad[] = {
		{ "", "change" }, { "grow:v1", "grow:v1" }, { "join:", "empty" },
		{ "join:v16", "v16" }, { "join:v2", "v2" },
		{ "leave:v3", "v3" }, { "receiver:v1=v2", "v1" },
		{ "receiver:v0=v0", "v0" }, { "receiver:v0=", "empty" },
		{ "failed:", "empty" }, { "failed:w8", "w8" },
		{ "failed:v1-w5x", "w5x" }, { "failed:v1-w0x", "w0x" },
		{ "failed:v1-w1", "no such link" }, { "failed:w", "failed w" },
		{ "failed:x", "server x" }, { "failed:v0", "v0" },
		{ "join:v0", "failed" },
	};
	size_t i;

	plan(self, "irs");
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		const char *why = change(self, bad[i].text);

		ASSERT_NE(NULL, why) {
			TH_LOG("%s was taken", bad[i].text);
		}
		EXPECT_NE(NULL, strstr(why, bad[i].names)) {
			TH_LOG("%s: %s", bad[i].text, why);
		}
	}
}

TEST_F(update, cut_off)
{
	plan(self, "irs");
	ASSERT_EQ(NULL, change(self, "failed:w1"));
	ASSERT_NE(NULL, change(self, "failed:w5"));
	EXPECT_NE(NULL, strstr(self->err.text, "v5"));
}

/* Two tasks on v2, three on the receiver: one flow, none; ten unmerged. */
TEST_F(update, tasks)
{
	static const aggt_node senders[] = { 0, 2, 14 };
	static const uint32_t tasks[] = { 3, 2, 1 };
	static const aggt_node receiver;
	struct aggt_job job = { .senders = senders, .n_senders = 3,
				.tasks = tasks, .receivers = &receiver,
				.n_receivers = 1, .method = "irs" };

	self->plan = aggt_plan_build(self->topo, &job, &self->err);
	ASSERT_NE(NULL, self->plan);
	EXPECT_EQ(4, aggt_plan_metrics(self->plan)->cost);
	EXPECT_EQ(2 * 2 + 4, aggt_plan_metrics(self->plan)->existing);
}

/* The papers' unicast example: nobody meets, cost 22 on 18 links. */
static const struct aggt_edge unicast_example[] = {
	{ 2, 0 }, { 5, 4 }, { 4, 0 }, { 9, 1 }, { 1, 0 }, { 10, 8 }, { 8, 0 },
	{ 11, 3 }, { 3, 0 }, { 14, 12 }, { 12, 0 },
};

static struct aggt_plan *restore(FIXTURE_DATA(update) *self,
				 const struct aggt_edge *edge, size_t n,
				 const unsigned int *symbols)
{
	static const aggt_node receiver;
	struct aggt_job job = { .senders = example, .n_senders = 6,
				.receivers = &receiver, .n_receivers = 1,
				.method = "unicast" };
	struct aggt_shape shape = { .edge = edge, .n_edges = n,
				    .symbols = symbols,
				    .n_symbols = symbols ? 2 : 0,
				    .entry = AGGT_NONE };

	return aggt_plan_restore(self->topo, &job, &shape, &self->err);
}

TEST_F(update, restore)
{
	static const unsigned int symbols[] = { 0, 1 };

	self->plan = restore(self, unicast_example, 11, symbols);
	ASSERT_NE(NULL, self->plan);
	EXPECT_EQ(22, aggt_plan_metrics(self->plan)->cost);
	EXPECT_EQ(18, aggt_plan_metrics(self->plan)->links);
	EXPECT_EQ(0, aggt_plan_metrics(self->plan)->aggregating);
	EXPECT_EQ(NULL, verify_plan(self->topo, aggt_plan_job(self->plan),
				    self->plan, true));
	ASSERT_EQ(NULL, change(self, "join:v7"));
	EXPECT_EQ(3, parent(self->next, 7));
}

TEST_F(update, restore_refused)
{
	static const unsigned int twice[] = { 1, 1 };
	struct aggt_edge edge[11];
	static const struct {
		struct aggt_edge edge;
		const char *names;
	} bad[] = {
		{ { 14, 0 }, "14 -> 0" }, { { 14, 16 }, "14 -> 16" },
		{ { 14, 14 }, "14 -> 14" }, { { 2, 0 }, "2 has two parents" },
		{ { 0, 1 }, "0 is the receiver" }, { { 14, 10 }, "lead there" },
		{ { 8, 12 }, "two parents" },
	};
	size_t i;

	EXPECT_EQ(NULL, restore(self, unicast_example, 10, NULL));
	EXPECT_EQ(NULL, restore(self, unicast_example, 9, NULL));
	EXPECT_NE(NULL, strstr(self->err.text, "14 does not lead"));
	EXPECT_EQ(NULL, restore(self, unicast_example, 11, twice));
	EXPECT_NE(NULL, strstr(self->err.text, "symbols"));
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memcpy(edge, unicast_example, sizeof(edge));
		edge[9] = bad[i].edge;
		if (i == 5)
			edge[5] = (struct aggt_edge){ 10, 14 };
		EXPECT_EQ(NULL, restore(self, edge, 11, NULL));
		EXPECT_NE(NULL, strstr(self->err.text, bad[i].names)) {
			TH_LOG("%zu: %s", i, self->err.text);
		}
	}
}

/* Switches lean on v4 and v18 (senders) and v2 (nobody sends there). */
static void plan_agents(FIXTURE_DATA(update) *self)
{
	static const aggt_node senders[] = { 4, 10, 18, 20, 22, 28 };
	static const aggt_node receiver;
	struct aggt_job job = { .senders = senders, .n_senders = 6,
				.receivers = &receiver, .n_receivers = 1,
				.method = "irs" };

	aggt_topo_free(self->topo);
	self->topo = aggt_topo_parse("fbfly:4,3,2", NULL);
	self->plan = aggt_plan_build(self->topo, &job, &self->err);
}

static aggt_node leans(const struct aggt_plan *plan, uint32_t sw)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan, 0);
	size_t i;

	for (i = 0; i < aggt_tree_size(tree); i++)
		if (aggt_tree_server(tree, i) == sw)
			return aggt_tree_leans(tree, i);
	return AGGT_NONE;
}

/* v3 joins beside v2, which goes on merging: two entries of eight change. */
TEST_F(update, agents_join_and_leave)
{
	plan_agents(self);
	EXPECT_EQ(2, leans(self->plan, 1));
	ASSERT_EQ(NULL, change(self, "join:v3"));
	EXPECT_EQ(2, leans(self->next, 1));
	/* v3 is new, v2 and the receiver have one source more. */
	EXPECT_EQ(3, differences(self->plan, self->next));
	ASSERT_EQ(NULL, change(self, "leave:v3"));
	EXPECT_EQ(0, differences(self->plan, self->next));
	/* v4 merges on when it has nothing to send any more. */
	ASSERT_EQ(NULL, change(self, "join:v5"));
	ASSERT_EQ(NULL, change(self, "leave:v4"));
	EXPECT_EQ(4, leans(self->next, 2));
}

TEST_F(update, agents_failures)
{
	plan_agents(self);
	ASSERT_EQ(NULL, change(self, "failed:v2"));
	EXPECT_EQ(3, leans(self->next, 1));
	EXPECT_EQ(AGGT_NONE, leans(self->next, 5));
	ASSERT_EQ(NULL, change(self, "failed:w1-w0"));
	ASSERT_EQ(NULL, change(self, "failed:w5"));
	EXPECT_EQ(5, aggt_plan_job(self->next)->n_senders);
	ASSERT_EQ(NULL, change(self, "failed:v3"));
	/* None of its servers is left: the tree goes around w1. */
	EXPECT_EQ(AGGT_NONE, aggt_tree_find(aggt_plan_tree(self->next, 0), 2));
	ASSERT_NE(NULL, change(self, "failed:w0"));
	EXPECT_NE(NULL, strstr(self->err.text, "v0"));
}

TEST_F(update, agents_receiver)
{
	plan_agents(self);
	/* The other server of its switch is nearest: nothing else moves. */
	EXPECT_EQ(1, aggt_plan_substitute(self->plan, 0));
	ASSERT_EQ(NULL, change(self, "receiver:v0"));
	EXPECT_EQ(1, aggt_tree_receiver(aggt_plan_tree(self->next, 0)));
	EXPECT_EQ(1, aggt_plan_reuse(self->plan, self->next));
	EXPECT_EQ(2, leans(self->next, 1));
}

/* What a switch leans on is stored with the tree, unless it is nonsense. */
TEST_F(update, agents_restore)
{
	static const aggt_node senders[] = { 10, 12 };
	static const aggt_node receiver;
	static const struct aggt_edge edge[] = { { 5, 1 }, { 6, 5 }, { 1, 0 } };
	struct aggt_lean lean = { 5, 11 };
	struct aggt_shape shape = { .edge = edge, .n_edges = 3,
				    .entry = AGGT_NONE, .lean = &lean,
				    .n_leans = 1 };
	struct aggt_job job = { .senders = senders, .n_senders = 2,
				.receivers = &receiver, .n_receivers = 1,
				.method = "irs" };

	aggt_topo_free(self->topo);
	self->topo = aggt_topo_parse("fbfly:4,3,2", NULL);
	self->plan = aggt_plan_restore(self->topo, &job, &shape, &self->err);
	ASSERT_NE(NULL, self->plan);
	EXPECT_EQ(11, leans(self->plan, 5));
	EXPECT_EQ(NULL, verify_plan(self->topo, &job, self->plan, true));
	lean.server = 12;
	EXPECT_EQ(NULL, aggt_plan_restore(self->topo, &job, &shape,
					  &self->err));
	EXPECT_NE(NULL, strstr(self->err.text, "w5 cannot lean on v12"));
}

static uint64_t state = 7;

static uint32_t rnd(uint32_t bound)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % bound;
}

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

/* Every plan on the way is valid; refusals leave the one before in place. */
TEST_F_TIMEOUT(update, random_changes, 100)
{
	static const char *const topology[] = { "bcube:4,2", "ghc:3,5,4",
						"bcube:2,5", "bcube:8,1",
						"fbfly:3,4,2", "hyperx:4,4:3" };
	static const char *const method[] = { "ars", "irs", "m2", "steiner",
					      "unicast", "srs", "existing" };
	unsigned int round, k, taken = 0;

	TH_LOG("seed %llu", (unsigned long long)state);
	for (round = 0; round < 420; round++) {
		struct aggt_topo *t = aggt_topo_parse(topology[round % 6], NULL);
		struct aggt_job job = { .method = method[round % 7] };
		struct aggt_list s, r;
		struct aggt_plan *plan;

		ASSERT_EQ(0, aggt_list_parse(t, "random:12", round, &s, NULL));
		ASSERT_EQ(0, aggt_list_parse(t, "random:2", ~round, &r, NULL));
		job.senders = s.node;
		job.n_senders = s.n;
		job.receivers = r.node;
		job.n_receivers = r.n;
		job.delta = rnd(3) * 0.5;
		plan = aggt_plan_build(t, &job, NULL);
		ASSERT_NE(NULL, plan);
		n_broken = 0;
		for (k = 0; k < 10; k++) {
			struct aggt_change c;
			struct aggt_plan *next;
			const char *why;
			char text[64];

			random_change(t, plan, text, sizeof(text));
			ASSERT_EQ(0, aggt_change_parse(t, text, &c, NULL));
			next = aggt_plan_update(t, plan, &c, 1, NULL);
			if (!next && c.kind == AGGT_FAILED)
				break;
			if (!next)
				continue;
			if (c.kind == AGGT_FAILED)
				note_failure(c.part);
			why = check_diff(plan, next);
			if (!why)
				why = check_switch_diff(plan, next);
			if (!why)
				why = check_hops(t, next);
			ASSERT_EQ(NULL, why) {
				TH_LOG("round %u %s %s: %s", round,
				       job.method, text, why);
			}
			aggt_plan_free(plan);
			plan = next;
			why = verify_plan(t, aggt_plan_job(plan), plan, true);
			ASSERT_EQ(NULL, why) {
				TH_LOG("round %u %s %s: %s", round,
				       job.method, text, why);
			}
			taken++;
		}
		aggt_plan_free(plan);
		aggt_list_clear(&s);
		aggt_list_clear(&r);
		aggt_topo_free(t);
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

/* Cost of a plan that goes around what is broken, -1 if there is none. */
static double cost_around(const struct aggt_topo *t, struct aggt_job *job,
			  const char *method, const char **why)
{
	struct aggt_plan *plan;
	double cost;

	job->method = method;
	plan = aggt_plan_build(t, job, NULL);
	*why = NULL;
	if (!plan)
		return -1;
	*why = verify_plan(t, job, plan, true);
	if (!*why)
		*why = check_hops(t, plan);
	cost = aggt_plan_metrics(plan)->cost;
	aggt_plan_free(plan);
	return cost;
}

/*
 * Plans that are built when parts have failed already: none is cheaper than
 * the optimum, and auto is no worse than any.
 */
TEST_F_TIMEOUT(update, built_around_failures, 100)
{
	static const char *const topology[] = { "bcube:4,2", "ghc:3,5,4",
						"bcube:2,5", "fbfly:4,4,2",
						"bcube:4,1" };
	static const char *const method[] = { "exact", "existing", "unicast",
		"ars", "irs", "steiner", "mib", "mc", "m2", "srs", "auto" };
	unsigned int round, k, built = 0;
	const char *why;

	for (round = 0; round < 400; round++) {
		struct aggt_topo *t = aggt_topo_parse(topology[round % 5], NULL);
		struct aggt_job job = { .max_depth = AGGT_DEPTH_NONE };
		double cost, exact = -1, best = 1e9, sizes[8];
		struct aggt_list s, r;
		char text[32];

		n_broken = 0;
		for (k = rnd(10); k; k--)
			break_part(t);
		snprintf(text, sizeof(text), "random:%u", 1 + rnd(7));
		if (aggt_list_parse(t, text, round, &s, NULL))
			goto next;
		if (aggt_list_parse(t, "random:2", ~round, &r, NULL))
			goto clear;
		for (k = 0; k < s.n; k++)
			sizes[k] = 1 + rnd(4);
		job.senders = s.node;
		job.n_senders = s.n;
		job.receivers = r.node;
		job.n_receivers = r.n;
		job.sizes = rnd(2) ? sizes : NULL;
		job.delta = rnd(3) ? 0 : 1;
		for (k = 0; k < sizeof(method) / sizeof(*method); k++) {
			cost = cost_around(t, &job, method[k], &why);
			ASSERT_EQ(NULL, why) {
				TH_LOG("round %u %s: %s", round, method[k], why);
			}
			if (!k)
				exact = cost;
			if (cost < 0)
				continue;
			built++;
			ASSERT_LE(0, exact);
			ASSERT_LE(exact, cost + 1e-9) {
				TH_LOG("round %u %s: %g, exact %g", round,
				       method[k], cost, exact);
			}
			best = cost < best && k ? cost : best;
		}
		/* Auto came last. */
		if (cost >= 0)
			ASSERT_LE(cost, best + 1e-9);
		aggt_list_clear(&r);
clear:
		aggt_list_clear(&s);
next:
		aggt_topo_free(t);
	}
	EXPECT_LT(3000, built);
}

TEST_HARNESS_MAIN
