// SPDX-License-Identifier: GPL-2.0
/* Netlink: a node with many links. */
#include <errno.h>
#include <stdio.h>

#include "harness.h"
#include "nl_node.h"

#define LINKS_MAX	4096	/* of a node */

FIXTURE(links) {
	struct nl nl;
};

FIXTURE_SETUP(links)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, port_add(nl, "p0"));
}

FIXTURE_TEARDOWN(links)
{
	nl_close(&self->nl);
}

static const char *neighbour(uint32_t n)
{
	static char text[20];

	snprintf(text, sizeof(text), "10.16.%u.%u", n >> 8, n & 255);
	return text;
}

/* Add link @n with a table of @bits and two hash functions. */
static int table_add(struct nl *nl, uint32_t n, uint32_t bits,
		     uint32_t capacity)
{
	nl_begin(nl, AGGNET_CMD_LINK_ADD, 0);
	nl_u32(nl, AGGNET_A_LINK_IFINDEX, ifindex("p0"));
	nl_u32(nl, AGGNET_A_LINK_NEIGHBOUR, addr(neighbour(n)));
	nl_u32(nl, AGGNET_A_LINK_BITS, bits);
	nl_u8(nl, AGGNET_A_LINK_HASHES, 2);
	nl_u32(nl, AGGNET_A_LINK_CAPACITY, capacity);
	return nl_talk(nl);
}

/*
 * Add @links links with tables of @bits, and @trees trees through each, in one
 * plan.
 */
static int plan_all(struct nl *nl, uint32_t links, uint32_t bits,
		    uint32_t capacity, uint32_t trees)
{
	int err = nl_do(nl, AGGNET_CMD_PLAN_BEGIN);
	uint32_t n, i;

	for (n = 0; n < links && !err; n++)
		err = table_add(nl, n, bits, capacity);
	for (i = 0; i < links * trees && !err; i++)
		err = transit_add(nl, incast(1 + i), 1, 0, "p0",
				  neighbour(i % links));
	return err ? err : nl_do(nl, AGGNET_CMD_PLAN_COMMIT);
}

/* Sums over all links. */
struct sums {
	uint32_t links, bits, capacity, trees, set;
};

static void take(struct nl *nl, void *arg)
{
	struct sums *sums = arg;

	sums->links++;
	sums->bits += nl_get_u32(nl, AGGNET_A_LINK_BITS);
	sums->capacity += nl_get_u32(nl, AGGNET_A_LINK_CAPACITY);
	sums->trees += nl_get_u32(nl, AGGNET_A_LINK_TREES);
	sums->set += nl_get_u32(nl, AGGNET_A_LINK_BITS_SET);
}

#define EXPECT_SUMS(nl, n, all_bits, all_capacity, all_trees) do {		\
	struct sums sums_ = { 0 };					\
									\
	nl_dump(nl, AGGNET_CMD_LINK_GET, take, &sums_);			\
	EXPECT_EQ(n, sums_.links);					\
	EXPECT_EQ(all_bits, sums_.bits);				\
	EXPECT_EQ(all_capacity, sums_.capacity);			\
	EXPECT_EQ(all_trees, sums_.trees);				\
	EXPECT_EQ(!(all_trees), !sums_.set);				\
} while (0)

TEST_F(links, all_grow_at_once)
{
	struct nl *nl = &self->nl;
	uint64_t bytes;
	uint32_t n;

	ASSERT_EQ(0, table_add(nl, 0, 64, 10));
	bytes = 16 * (memory_used(nl) + table_memory(128) - table_memory(64));
	ASSERT_EQ(0, link_del(nl, "p0", neighbour(0)));
	ASSERT_EQ(0, plan_all(nl, 16, 64, 10, 11));
	EXPECT_SUMS(nl, 16, 16 * 128, 16 * 20, 16 * 11);
	ASSERT_EQ(0, trees_del(nl, 1, 16 * 11));
	EXPECT_SUMS(nl, 16, 16 * 128, 16 * 20, 0);
	EXPECT_TRUE(memory_becomes(nl, bytes));
	for (n = 0; n < 16; n++)
		ASSERT_EQ(0, link_del(nl, "p0", neighbour(n)));
	EXPECT_TRUE(memory_becomes(nl, 0));
}

/* Two tables of 139264 bytes, each of which doubles its size. */
TEST_F(links, one_grows_where_the_other_was)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_memory(nl, 760000));
	ASSERT_EQ(0, plan_all(nl, 2, 65536, 1, 2));
	EXPECT_SUMS(nl, 2, 2 * 131072, 2 * 2, 2 * 2);
}

TEST_F(links, one_grows_and_there_is_no_room_for_the_other)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_memory(nl, 650000));
	ASSERT_EQ(0, plan_all(nl, 2, 65536, 1, 2));
	EXPECT_SUMS(nl, 2, 131072 + 65536, 2 + 1, 2 * 2);
	ASSERT_EQ(0, trees_del(nl, 1, 4));
	EXPECT_SUMS(nl, 2, 131072 + 65536, 2 + 1, 0);
}

TEST_F_TIMEOUT(links, add__so_many_at_most, LONG)
{
	struct nl *nl = &self->nl;
	uint32_t n;

	for (n = 0; n < LINKS_MAX; n++)
		ASSERT_EQ(0, table_add(nl, n, 8, 1));
	EXPECT_REFUSED(nl, table_add(nl, n, 8, 1), ENOSPC, 0,
		       "a node has 4096 links at most");
	EXPECT_EQ(LINKS_MAX, links(nl));
	ASSERT_EQ(0, link_del(nl, "p0", neighbour(0)));
	EXPECT_EQ(0, table_add(nl, n, 8, 1));
}

/* Replace all of a node's links by as many others: no plan needs more steps. */
TEST_F_TIMEOUT(links, plan__so_many_steps_at_most, LONG)
{
	struct nl *nl = &self->nl;
	uint32_t n;

	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	for (n = 0; n < 2 * LINKS_MAX; n++)
		ASSERT_EQ(0, table_add(nl, n, 8, 1));
	EXPECT_REFUSED(nl, table_add(nl, n, 8, 1), E2BIG, 0,
		       "a plan has 8192 steps about links at most");
	EXPECT_REFUSED(nl, link_del(nl, "p0", neighbour(0)), E2BIG, 0,
		       "a plan has 8192 steps about links at most");
}

TEST_HARNESS_MAIN
