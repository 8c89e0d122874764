// SPDX-License-Identifier: GPL-2.0
/* Netlink: dumps in several parts, and changes between the parts. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "nl_node.h"

#define ENTRIES		1000	/* fill many datagrams */
#define CHILDREN	1100	/* more than a page */
#define ABSENT		16000	/* more than one part of a dump holds */
#define LARGE		3	/* entries with that many absent sources */
#define ALL		"a dump tells of all objects: it takes no attribute"

FIXTURE(dump) {
	struct nl nl;
	struct nl other;
};

FIXTURE_SETUP(dump)
{
	struct nl *nl = &self->nl;
	uint32_t job;

	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, nl_open(&self->other));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	for (job = 0; job < ENTRIES; job++)
		ASSERT_EQ(0, transit_add(nl, incast(job), 1, 0, "p0",
					 NEIGHBOUR));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_COMMIT));
}

FIXTURE_TEARDOWN(dump)
{
	nl_close(&self->nl);
	nl_close(&self->other);
}

struct seen {
	uint8_t times[ENTRIES + 1];
	int n;
};

static void see(struct nl *nl, void *arg)
{
	uint64_t job = nl_get_u64(nl, AGGNET_A_TREE_INCAST_ID) >> 32;
	struct seen *seen = arg;

	seen->n++;
	if (job <= ENTRIES)
		seen->times[job]++;
}

/* Return: datagrams, or -errno */
static int finish(struct nl *nl, struct seen *seen)
{
	int more, n = 0;

	do {
		more = nl_dump_next(nl, see, seen);
		n++;
	} while (more > 0);
	return more ? more : n;
}

static void start(struct nl *nl)
{
	nl_begin(nl, AGGNET_CMD_TREE_GET, NLM_F_DUMP);
	nl_dump_send(nl);
}

TEST_F(dump, each_entry_once)
{
	struct nl *nl = &self->nl;
	struct seen seen = { 0 };
	int i;

	start(nl);
	EXPECT_LT(3, finish(nl, &seen));
	EXPECT_EQ(0, nl->flags & NLM_F_DUMP_INTR);
	EXPECT_EQ(ENTRIES, seen.n);
	for (i = 0; i < ENTRIES; i++)
		EXPECT_EQ(1, seen.times[i]);
}

TEST_F(dump, change_between_parts_is_told)
{
	struct nl *nl = &self->nl;
	struct seen seen = { 0 };

	start(nl);
	ASSERT_EQ(1, nl_dump_next(nl, see, &seen));
	EXPECT_EQ(0, nl->flags & NLM_F_DUMP_INTR);
	ASSERT_EQ(0, tree_add(&self->other, incast(ENTRIES), 1, 0));
	EXPECT_LT(0, finish(nl, &seen));
	EXPECT_NE(0, nl->flags & NLM_F_DUMP_INTR);
}

TEST_F(dump, refused_change_is_no_change)
{
	struct nl *nl = &self->nl;
	struct seen seen = { 0 };

	start(nl);
	ASSERT_EQ(1, nl_dump_next(nl, see, &seen));
	ASSERT_EQ(-EEXIST, tree_add(&self->other, incast(0), 1, 0));
	/* A plan that is only staged is not an interruption either. */
	ASSERT_EQ(0, nl_do(&self->other, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, tree_add(&self->other, incast(ENTRIES), 1, 0));
	EXPECT_LT(0, finish(nl, &seen));
	EXPECT_EQ(0, nl->flags & NLM_F_DUMP_INTR);
	EXPECT_EQ(ENTRIES, seen.n);
}

TEST_F(dump, all_deleted_between_parts)
{
	struct nl *nl = &self->nl;
	struct seen seen = { 0 };
	uint32_t job;

	start(nl);
	ASSERT_EQ(1, nl_dump_next(nl, see, &seen));
	ASSERT_EQ(0, nl_do(&self->other, AGGNET_CMD_PLAN_BEGIN));
	for (job = 0; job < ENTRIES; job++)
		ASSERT_EQ(0, tree_del(&self->other, incast(job)));
	ASSERT_EQ(0, nl_do(&self->other, AGGNET_CMD_PLAN_COMMIT));
	EXPECT_LT(0, finish(nl, &seen));
	EXPECT_NE(0, nl->flags & NLM_F_DUMP_INTR);
}

TEST_F(dump, socket_closed_half_way)
{
	struct seen seen = { 0 };

	start(&self->nl);
	ASSERT_EQ(1, nl_dump_next(&self->nl, see, &seen));
	nl_close(&self->nl);
	EXPECT_EQ(ENTRIES, trees(&self->other));
}

static void length_of_children(struct nl *nl, void *arg)
{
	if (nl_has(nl, AGGNET_A_TREE_CHILDREN))
		*(size_t *)arg = nl_len(nl, AGGNET_A_TREE_CHILDREN);
}

TEST_F(dump, entry_larger_than_a_page)
{
	static uint32_t child[CHILDREN];
	struct nl *nl = &self->nl;
	size_t len = 0;
	uint32_t i;

	for (i = 0; i < CHILDREN; i++)
		child[i] = htonl(0x0a010000 + i);
	nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(ENTRIES));
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
	nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, CHILDREN);
	nl_u32(nl, AGGNET_A_TREE_SOURCES, CHILDREN);
	nl_u64(nl, AGGNET_A_TREE_MEMORY, 40 << 20);
	nl_put(nl, AGGNET_A_TREE_CHILDREN, child, sizeof(child));
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, nl_dump(nl, AGGNET_CMD_TREE_GET, length_of_children,
			     &len));
	EXPECT_EQ(sizeof(child), len);
	nl_begin(nl, AGGNET_CMD_TREE_GET, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(ENTRIES));
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(sizeof(child), nl_len(nl, AGGNET_A_TREE_CHILDREN));
	/* 10.1.0.0 is the least in network byte order, on any machine. */
	EXPECT_EQ(0, memcmp(nl_data(nl, AGGNET_A_TREE_CHILDREN), child, 4));
}

/* An entry of the receiver with many absent sources. */
static int large_add(struct nl *nl, uint32_t job)
{
	static uint32_t absent[ABSENT];
	uint32_t i;

	for (i = 0; i < ABSENT; i++)
		absent[i] = htonl(0x0a010000 + i);
	nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID,
	       (uint64_t)job << 32 | ntohl(addr(IDENTITY)));
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
	nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, 1);
	nl_u32(nl, AGGNET_A_TREE_SOURCES, ABSENT);
	nl_u64(nl, AGGNET_A_TREE_MEMORY, AGGNET_MEMORY_MIN);
	nl_put(nl, AGGNET_A_TREE_ABSENT, absent, sizeof(absent));
	return nl_talk(nl);
}

/*
 * Each of the new ones is larger than the buffer that the dump has for its
 * parts.
 */
TEST_F(dump, larger_entries_between_parts)
{
	struct nl *nl = &self->nl, *other = &self->other;
	struct seen seen = { 0 };
	uint32_t job;

	start(nl);
	ASSERT_EQ(1, nl_dump_next(nl, see, &seen));
	ASSERT_EQ(0, nl_do(other, AGGNET_CMD_PLAN_BEGIN));
	for (job = 0; job < LARGE; job++)
		ASSERT_EQ(0, large_add(other, job));
	ASSERT_EQ(0, nl_do(other, AGGNET_CMD_PLAN_COMMIT));
	EXPECT_LT(0, finish(nl, &seen));
	EXPECT_NE(0, nl->flags & NLM_F_DUMP_INTR);
	/* A dump that starts now has large enough buffers. */
	EXPECT_EQ(ENTRIES + LARGE, trees(nl));
}

TEST_F(dump, header__flags_and_reserved)
{
	struct nl *nl = &self->nl;
	struct genlmsghdr *g = NLMSG_DATA(&nl->request.head);

	nl_begin(nl, AGGNET_CMD_TREE_GET, NLM_F_DUMP | NLM_F_DUMP_FILTERED);
	nl_dump_send(nl);
	EXPECT_REFUSED(nl, nl_dump_next(nl, NULL, NULL), EINVAL, 0,
		       "the command does not take one of the header's flags");
	nl_begin(nl, AGGNET_CMD_TREE_GET, NLM_F_DUMP);
	g->reserved = 7;
	nl_dump_send(nl);
	EXPECT_REFUSED(nl, nl_dump_next(nl, NULL, NULL), EINVAL, 0,
		       "reserved field of the header is not zero");
}

TEST_F(dump, takes_no_attributes)
{
	struct nl *nl = &self->nl;
	static const uint8_t cmd[] = {
		AGGNET_CMD_LINK_GET, AGGNET_CMD_TREE_GET, AGGNET_CMD_PORT_GET,
	};
	unsigned int i;

	for (i = 0; i < sizeof(cmd); i++) {
		nl_begin(nl, cmd[i], NLM_F_DUMP);
		nl_u8(nl, 60, 0);
		nl_dump_send(nl);
		EXPECT_EQ(-EINVAL, nl_dump_next(nl, NULL, NULL));
		EXPECT_STRNE("", nl->text);
	}
	/*
	 * Attributes that the command takes when it is not a dump are refused,
	 * too.
	 */
	nl_begin(nl, AGGNET_CMD_PORT_GET, NLM_F_DUMP);
	nl_u32(nl, AGGNET_A_PORT_IFINDEX, ifindex("p0"));
	nl_dump_send(nl);
	EXPECT_EQ(-EINVAL, nl_dump_next(nl, NULL, NULL));
	EXPECT_STREQ(ALL, nl->text);
	nl_begin(nl, AGGNET_CMD_TREE_GET, NLM_F_DUMP);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
	nl_dump_send(nl);
	EXPECT_EQ(-EINVAL, nl_dump_next(nl, NULL, NULL));
	EXPECT_STREQ(ALL, nl->text);
	/* No link can be asked for by name. */
	EXPECT_EQ(-EOPNOTSUPP, nl_do(nl, AGGNET_CMD_LINK_GET));
}

TEST_HARNESS_MAIN
