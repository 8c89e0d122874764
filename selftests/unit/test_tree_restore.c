// SPDX-License-Identifier: GPL-2.0
/* Unit tests of stored trees: they are restored unchanged, or refused. */
#include "tree_update.h"

/* The papers' unicast example: no flows meet, cost 22 on 18 links. */
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

/*
 * The server that a switch uses is stored with the tree; an invalid one is
 * refused.
 */
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
	EXPECT_NE(NULL, strstr(self->err.text, "w5 cannot use v12"));
}

TEST_HARNESS_MAIN
