// SPDX-License-Identifier: GPL-2.0
/* Netlink: every event, and which sockets get it. */
#include <errno.h>

#include "harness.h"
#include "nl_node.h"

#define SOON	10000	/* ms; the events come earlier */

FIXTURE(event) {
	struct nl nl;
	struct nl events;
};

FIXTURE_SETUP(event)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, nl_open(&self->events));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, nl_join(&self->events));
}

FIXTURE_TEARDOWN(event)
{
	nl_close(&self->nl);
	nl_close(&self->events);
}

#define EXPECT_EVENT(kind_, job_, instance_) do {			\
	struct nl *e = &self->events;					\
									\
	ASSERT_TRUE(nl_event(e, SOON));					\
	ASSERT_TRUE(nl_has(e, AGGNET_A_EVENT_KIND));			\
	EXPECT_EQ(kind_, nl_get_u8(e, AGGNET_A_EVENT_KIND));		\
	EXPECT_EQ(incast(job_),						\
		  nl_get_u64(e, AGGNET_A_EVENT_INCAST_ID));		\
	EXPECT_EQ(instance_, nl_get_u32(e, AGGNET_A_EVENT_INSTANCE));	\
	EXPECT_TRUE(nl_has(e, AGGNET_A_EVENT_ATTEMPT));			\
} while (0)

TEST_F(event, tree__added_replaced_deleted)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_EVENT(AGGNET_EVENT_TREE_ADDED, 1, 1);
	ASSERT_EQ(0, tree_add(nl, incast(1), 2, NLM_F_REPLACE));
	EXPECT_EVENT(AGGNET_EVENT_TREE_ADDED, 1, 2);
	EXPECT_EVENT(AGGNET_EVENT_TREE_DELETED, 1, 1);
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	EXPECT_EVENT(AGGNET_EVENT_TREE_DELETED, 1, 2);
}

TEST_F(event, tree__only_what_comes_into_force)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	ASSERT_EQ(0, tree_add(nl, incast(2), 1, 0));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_COMMIT));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, tree_add(nl, incast(3), 1, 0));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_DROP));
	ASSERT_EQ(-EEXIST, tree_add(nl, incast(2), 9, 0));
	ASSERT_EQ(0, tree_del(nl, incast(2)));
	EXPECT_EVENT(AGGNET_EVENT_TREE_ADDED, 2, 1);
	EXPECT_EVENT(AGGNET_EVENT_TREE_DELETED, 2, 1);
}

TEST_F(event, port__gone)
{
	struct nl *nl = &self->nl;
	uint32_t index = ifindex("p0");

	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, system("ip link del p0"));
	ASSERT_TRUE(nl_event(&self->events, SOON));
	EXPECT_EQ(AGGNET_EVENT_PORT_GONE,
		  nl_get_u8(&self->events, AGGNET_A_EVENT_KIND));
	EXPECT_EQ(index, nl_get_u32(&self->events, AGGNET_A_EVENT_IFINDEX));
	EXPECT_FALSE(nl_has(&self->events, AGGNET_A_EVENT_INCAST_ID));
}

TEST_F(event, namespaces__are_apart)
{
	static struct nl away;

	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(&away));
	ASSERT_EQ(0, node_identity(&away, IDENTITY));
	ASSERT_EQ(0, tree_add(&away, incast(5), 1, 0));
	/* The first event here is that of this namespace. */
	ASSERT_EQ(0, tree_add(&self->nl, incast(1), 1, 0));
	EXPECT_EVENT(AGGNET_EVENT_TREE_ADDED, 1, 1);
	nl_close(&away);
}

TEST_HARNESS_MAIN
