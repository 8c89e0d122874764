// SPDX-License-Identifier: GPL-2.0
/* Unit tests of changed plans, with the papers' examples: members join and
 * leave, parts fail.
 */
#include "tree_update.h"

static void plan(FIXTURE_DATA(update) *self, const char *method)
{
	static const aggt_node receiver;
	struct aggt_job job = { .senders = example, .n_senders = 6,
				.receivers = &receiver, .n_receivers = 1,
				.method = method };

	self->plan = aggt_plan_build(self->topo, &job, &self->err);
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

/* v7 joins below 01 through v3; the others stay; leaving restores the plan. */
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
	/*
	 * v7 is new; v3 becomes an end, so v11 has a new end; v0 has more
	 * sources.
	 */
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

/* v0 and v3 differ in the dimension of e_1: stages 2 to 1 stay. */
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

/* Idle neighbours in the dimension of e_1 are preferred. */
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

/* v3 only relays: v11 uses another path to the receiver, v11 w2 v8 w4 v0. */
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

/* 3333 continues to 0003, where flows merge, not to 0033, which only relays. */
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

/* All other paths from v11 to v3 are in use, so it joins where it can. */
TEST_F(update, switch_and_link_failed)
{
	plan(self, "rs:01");
	ASSERT_EQ(NULL, change(self, "failed:w7"));
	EXPECT_NE(3, parent(self->next, 11));
	ASSERT_EQ(NULL, change(self, "failed:v14-w6"));
	EXPECT_NE(2, parent(self->next, 14));
}

/* If there is space the parent stays: v6 v5 v1 v2, v14 v15 v3 v2. */
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

/* All names of a part mean the same part, and it fails once. */
TEST_F(update, names_of_a_failed_part)
{
	static const struct {
		const char *topology;
		const char *text;
		const char *part;
	} names[] = {
		{ "bcube:4,1", "3", "v3" }, { "bcube:4,1", "w06", "w6" },
		{ "bcube:4,1", "014-w06", "v14-w6" },
		{ "fbfly:4,3,2", "w4-w0", "w0-w4" },
		/* A server behind a switch with an agent has no other link. */
		{ "fbfly:4,3,2", "v10-w5", "v10" },
		{ "leafspine:2,3,4", "w1-v4", "v4-w1" },
		{ "leafspine:2,3,4", "w4-w1", "w1-w4" },
	};
	struct aggt_change c;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char text[64];

		aggt_topo_free(self->topo);
		self->topo = aggt_topo_parse(names[i].topology, NULL);
		ASSERT_NE(NULL, self->topo);
		snprintf(text, sizeof(text), "failed:%s", names[i].text);
		ASSERT_EQ(0, aggt_change_parse(self->topo, text, &c,
					       &self->err)) {
			TH_LOG("%s: %s", text, self->err.text);
		}
		EXPECT_STREQ(names[i].part, c.part);
		EXPECT_FALSE(aggt_topo_failed(self->topo, names[i].part));
		ASSERT_EQ(0, aggt_topo_fail(self->topo, names[i].text, NULL));
		EXPECT_TRUE(aggt_topo_failed(self->topo, names[i].part));
		EXPECT_TRUE(aggt_topo_failed(self->topo, names[i].text));
		EXPECT_EQ(-1, aggt_topo_fail(self->topo, names[i].part, NULL));
	}
}

TEST_F(update, failed_before)
{
	struct aggt_change c;
	struct aggt_plan *again;

	plan(self, "rs:01");
	ASSERT_EQ(NULL, change(self, "failed:3"));
	ASSERT_EQ(0, aggt_change_parse(self->topo, "failed:v3", &c, NULL));
	again = aggt_plan_update(self->topo, self->next, &c, 1, &self->err);
	ASSERT_NE(NULL, again) {
		TH_LOG("%s", self->err.text);
	}
	EXPECT_EQ(0, differences(self->next, again));
	aggt_plan_free(again);
}

TEST_F(update, cut_off)
{
	plan(self, "irs");
	ASSERT_EQ(NULL, change(self, "failed:w1"));
	ASSERT_NE(NULL, change(self, "failed:w5"));
	EXPECT_NE(NULL, strstr(self->err.text, "v5"));
}

/*
 * Two tasks on v2, three on the receiver: one flow, and none; ten without
 * merging.
 */
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

/* Switches use v4 and v18 (senders) and v2 (no sender is there). */
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

/* v3 joins beside v2, which still merges: two entries of eight change. */
TEST_F(update, agents_join_and_leave)
{
	plan_agents(self);
	EXPECT_EQ(2, leans(self->plan, 1));
	ASSERT_EQ(NULL, change(self, "join:v3"));
	EXPECT_EQ(2, leans(self->next, 1));
	/* v3 is new; v2 and the receiver have one more source. */
	EXPECT_EQ(3, differences(self->plan, self->next));
	ASSERT_EQ(NULL, change(self, "leave:v3"));
	EXPECT_EQ(0, differences(self->plan, self->next));
	/* v4 still merges when it does not send any more. */
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
	/* None of its servers is left: the tree avoids w1. */
	EXPECT_EQ(AGGT_NONE, aggt_tree_find(aggt_plan_tree(self->next, 0), 2));
	ASSERT_NE(NULL, change(self, "failed:w0"));
	EXPECT_NE(NULL, strstr(self->err.text, "v0"));
}

TEST_F(update, agents_receiver)
{
	plan_agents(self);
	/* The other server of its switch is nearest: nothing else changes. */
	EXPECT_EQ(1, aggt_plan_substitute(self->plan, 0));
	ASSERT_EQ(NULL, change(self, "receiver:v0"));
	EXPECT_EQ(1, aggt_tree_receiver(aggt_plan_tree(self->next, 0)));
	EXPECT_EQ(1, aggt_plan_reuse(self->plan, self->next));
	EXPECT_EQ(2, leans(self->next, 1));
}

TEST_HARNESS_MAIN
