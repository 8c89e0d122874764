// SPDX-License-Identifier: GPL-2.0
/* Netlink: each command for links, and each refusal. */
#include <errno.h>
#include <string.h>

#include "harness.h"
#include "nl_node.h"

#define MAC	"\x02\x00\x00\x00\x00\x07"

FIXTURE(link) {
	struct nl nl;
};

FIXTURE_SETUP(link)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, port_add(nl, "p0"));
}

FIXTURE_TEARDOWN(link)
{
	nl_close(&self->nl);
}

/* Begin a LINK_ADD on p0 to NEIGHBOUR; attributes may follow. */
static void begin(struct nl *nl)
{
	nl_begin(nl, AGGNET_CMD_LINK_ADD, 0);
	nl_u32(nl, AGGNET_A_LINK_IFINDEX, ifindex("p0"));
	nl_u32(nl, AGGNET_A_LINK_NEIGHBOUR, addr(NEIGHBOUR));
}

/* The only link. */
struct one {
	int n;
	uint32_t ifindex, neighbour, bits, capacity, trees, set;
	uint8_t hashes;
	uint64_t name;
	bool has_neighbour, has_lladdr, has_name, has_digit;
	uint8_t digit;
	char lladdr[6];
};

static void take(struct nl *nl, void *arg)
{
	struct one *one = arg;

	one->n++;
	one->ifindex = nl_get_u32(nl, AGGNET_A_LINK_IFINDEX);
	one->neighbour = nl_get_u32(nl, AGGNET_A_LINK_NEIGHBOUR);
	one->bits = nl_get_u32(nl, AGGNET_A_LINK_BITS);
	one->hashes = nl_get_u8(nl, AGGNET_A_LINK_HASHES);
	one->capacity = nl_get_u32(nl, AGGNET_A_LINK_CAPACITY);
	one->trees = nl_get_u32(nl, AGGNET_A_LINK_TREES);
	one->set = nl_get_u32(nl, AGGNET_A_LINK_BITS_SET);
	one->has_neighbour = nl_has(nl, AGGNET_A_LINK_NEIGHBOUR);
	one->has_name = nl_has(nl, AGGNET_A_LINK_NAME);
	if (one->has_name)
		one->name = nl_get_u64(nl, AGGNET_A_LINK_NAME);
	one->has_digit = nl_has(nl, AGGNET_A_LINK_DIGIT);
	if (one->has_digit)
		one->digit = nl_get_u8(nl, AGGNET_A_LINK_DIGIT);
	one->has_lladdr = nl_len(nl, AGGNET_A_LINK_LLADDR) == 6;
	if (one->has_lladdr)
		memcpy(one->lladdr, nl_data(nl, AGGNET_A_LINK_LLADDR), 6);
}

static struct one the_link(struct nl *nl)
{
	struct one one = { 0 };

	nl_dump(nl, AGGNET_CMD_LINK_GET, take, &one);
	return one;
}

TEST_F(link, add__defaults)
{
	struct one one;

	ASSERT_EQ(0, link_add(&self->nl, "p0", NEIGHBOUR));
	one = the_link(&self->nl);
	EXPECT_EQ(1, one.n);
	EXPECT_EQ(ifindex("p0"), one.ifindex);
	EXPECT_EQ(addr(NEIGHBOUR), one.neighbour);
	EXPECT_EQ(AGGNET_LINK_BITS_DEFAULT, one.bits);
	EXPECT_EQ(AGGNET_LINK_HASHES_DEFAULT, one.hashes);
	EXPECT_EQ(AGGNET_LINK_CAPACITY_DEFAULT, one.capacity);
	EXPECT_EQ(0, one.trees);
	EXPECT_EQ(0, one.set);
	EXPECT_FALSE(one.has_lladdr);
}

TEST_F(link, add__all)
{
	struct nl *nl = &self->nl;
	struct one one;

	begin(nl);
	nl_u32(nl, AGGNET_A_LINK_BITS, 256);
	nl_u8(nl, AGGNET_A_LINK_HASHES, 16);
	nl_u32(nl, AGGNET_A_LINK_CAPACITY, 7);
	ASSERT_EQ(0, nl_talk(nl));
	one = the_link(nl);
	EXPECT_EQ(256, one.bits);
	EXPECT_EQ(16, one.hashes);
	EXPECT_EQ(7, one.capacity);
}

TEST_F(link, add__to_the_switch_behind_the_port)
{
	struct nl *nl = &self->nl;
	struct one one;

	nl_begin(nl, AGGNET_CMD_LINK_ADD, 0);
	nl_u32(nl, AGGNET_A_LINK_IFINDEX, ifindex("p0"));
	ASSERT_EQ(0, nl_talk(nl));
	one = the_link(nl);
	EXPECT_EQ(1, one.n);
	EXPECT_FALSE(one.has_neighbour);
	/* One link of each kind. */
	EXPECT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(0, link_add(nl, "p0", OTHER));
	EXPECT_EQ(3, links(nl));
}

TEST_F(link, add__refused)
{
	struct nl *nl = &self->nl;

	EXPECT_MISSING(nl, nl_do(nl, AGGNET_CMD_LINK_ADD),
		       AGGNET_A_LINK_IFINDEX);
	EXPECT_REFUSED(nl, link_add(nl, "p1", NEIGHBOUR), ENODEV,
		       AGGNET_A_LINK_IFINDEX, "port is not attached");
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	EXPECT_REFUSED(nl, link_add(nl, "p0", NEIGHBOUR), EEXIST,
		       AGGNET_A_LINK_NEIGHBOUR,
		       "this port has that link already");
	EXPECT_EQ(1, links(nl));
}

TEST_F(link, add__geometry_refused)
{
	static const uint32_t bits[] = { 0, 4, 100, 4097, 1u << 27 };
	static const uint8_t hashes[] = { 0, 17, 255 };
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		begin(nl);
		nl_u32(nl, AGGNET_A_LINK_BITS, bits[i]);
		EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_LINK_BITS,
			       "bits must be a power of 2 from 8 to 67108864");
	}
	for (i = 0; i < sizeof(hashes); i++) {
		begin(nl);
		nl_u8(nl, AGGNET_A_LINK_HASHES, hashes[i]);
		EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_LINK_HASHES,
			       "hashes must be from 1 to 16");
	}
	EXPECT_EQ(0, links(nl));
}

TEST_F(link, name__and_digit)
{
	struct nl *nl = &self->nl;
	struct one one;

	begin(nl);
	nl_u64(nl, AGGNET_A_LINK_NAME, 0x123456789abcdefULL);
	ASSERT_EQ(0, nl_talk(nl));
	one = the_link(nl);
	EXPECT_TRUE(one.has_name);
	EXPECT_EQ(0x123456789abcdefULL, one.name);
	EXPECT_FALSE(one.has_digit);
	ASSERT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
	begin(nl);
	nl_u64(nl, AGGNET_A_LINK_NAME, 1);
	nl_u8(nl, AGGNET_A_LINK_DIGIT, 255);
	ASSERT_EQ(0, nl_talk(nl));
	one = the_link(nl);
	EXPECT_EQ(1, one.name);
	EXPECT_TRUE(one.has_digit);
	EXPECT_EQ(255, one.digit);
	ASSERT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	one = the_link(nl);
	EXPECT_FALSE(one.has_name);
	EXPECT_FALSE(one.has_digit);
}

TEST_F(link, name__refused)
{
	struct nl *nl = &self->nl;

	begin(nl);
	nl_u64(nl, AGGNET_A_LINK_NAME, 0);
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_LINK_NAME,
		       "name must be at least 1");
	begin(nl);
	nl_u8(nl, AGGNET_A_LINK_DIGIT, 1);
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_LINK_DIGIT,
		       "a digit is for links that have a name");
	EXPECT_EQ(0, links(nl));
}

TEST_F(link, add__beyond_the_memory_limit)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_memory(nl, AGGNET_MEMORY_MIN));
	begin(nl);
	nl_u32(nl, AGGNET_A_LINK_BITS, 1u << 20);
	EXPECT_REFUSED(nl, nl_talk(nl), ENOSPC, 0,
		       "Bloom table does not fit the node's memory limit");
	EXPECT_EQ(0, links(nl));
	EXPECT_EQ(0, memory_used(nl));
}

TEST_F(link, lladdr__of_a_server)
{
	struct nl *nl = &self->nl;

	begin(nl);
	nl_put(nl, AGGNET_A_LINK_LLADDR, MAC, 6);
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_LINK_LLADDR,
		       "lladdr is for switches: a server asks its neighbour table");
}

TEST_F(link, lladdr__of_a_switch)
{
	struct nl *nl = &self->nl;
	struct one one;

	ASSERT_EQ(0, node_role(nl, AGGNET_ROLE_SWITCH));
	begin(nl);
	EXPECT_MISSING(nl, nl_talk(nl), AGGNET_A_LINK_LLADDR);
	begin(nl);
	nl_put(nl, AGGNET_A_LINK_LLADDR, "\x03\xa6\x60\x00\x00\x01", 6);
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_LINK_LLADDR,
		       "lladdr is not a unicast address");
	begin(nl);
	nl_put(nl, AGGNET_A_LINK_LLADDR, MAC, 5);
	EXPECT_EQ(-ERANGE, nl_talk(nl));
	EXPECT_EQ(AGGNET_A_LINK_LLADDR, nl->blamed);
	begin(nl);
	nl_put(nl, AGGNET_A_LINK_LLADDR, MAC, 6);
	ASSERT_EQ(0, nl_talk(nl));
	one = the_link(nl);
	EXPECT_TRUE(one.has_lladdr);
	EXPECT_EQ(0, memcmp(one.lladdr, MAC, 6));
}

TEST_F(link, del__unused)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	EXPECT_REFUSED(nl, link_del(nl, "p0", OTHER), ENOENT,
		       AGGNET_A_LINK_IFINDEX,
		       "this port has no link with that neighbour");
	EXPECT_REFUSED(nl, link_del(nl, "p1", NEIGHBOUR), ENOENT,
		       AGGNET_A_LINK_IFINDEX,
		       "this port has no link with that neighbour");
	EXPECT_MISSING(nl, nl_do(nl, AGGNET_CMD_LINK_DEL),
		       AGGNET_A_LINK_IFINDEX);
	EXPECT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(0, links(nl));
	EXPECT_TRUE(memory_becomes(nl, 0));
}

/* A deleted link is freed after a grace period, which rarely ends at once. */
TEST_F(link, del__is_charged_until_it_is_free)
{
	struct nl *nl = &self->nl;
	bool charged = false;
	int i;

	for (i = 0; i < 1000 && !charged; i++) {
		ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
		ASSERT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
		charged = memory_used(nl);
	}
	EXPECT_TRUE(charged);
	EXPECT_TRUE(memory_becomes(nl, 0));
}

TEST_F(link, del__takes_no_geometry)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, AGGNET_CMD_LINK_DEL, 0);
	nl_u32(nl, AGGNET_A_LINK_IFINDEX, ifindex("p0"));
	nl_u32(nl, AGGNET_A_LINK_BITS, 8);
	EXPECT_EQ(-EINVAL, nl_talk(nl));
	EXPECT_EQ(AGGNET_A_LINK_BITS, nl->blamed);
}

TEST_F(link, del__busy)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR));
	EXPECT_REFUSED(nl, link_del(nl, "p0", NEIGHBOUR), EBUSY,
		       AGGNET_A_LINK_IFINDEX,
		       "trees leave by this link: delete them first");
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	EXPECT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
}

TEST_F(link, filter__has_what_is_in_force)
{
	struct nl *nl = &self->nl;
	uint32_t job;

	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
	ASSERT_EQ(0, link_add(nl, "p0", OTHER));
	for (job = 1; job <= 50; job++)
		ASSERT_EQ(0, transit_add(nl, incast(job), 1, 0, "p0",
					 job % 2 ? NEIGHBOUR : OTHER));
	EXPECT_EQ(25, marks(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(25, marks(nl, "p0", OTHER));
	/* A newer epoch through the other link moves the ID to its table; */
	ASSERT_EQ(0, transit_add(nl, incast(1), 2, NLM_F_REPLACE, "p0", OTHER));
	EXPECT_EQ(24, marks(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(26, marks(nl, "p0", OTHER));
	/* one through the same link leaves the ID there once. */
	ASSERT_EQ(0, transit_add(nl, incast(1), 3, NLM_F_REPLACE, "p0", OTHER));
	EXPECT_EQ(26, marks(nl, "p0", OTHER));
	for (job = 1; job <= 50; job++)
		ASSERT_EQ(0, tree_del(nl, incast(job)));
	EXPECT_EQ(0, marks(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(0, marks(nl, "p0", OTHER));
	EXPECT_EQ(0, the_link(nl).set);
}

/* Add a link on p0 with a table of 64 bits for @capacity IDs. */
static int small_link(struct nl *nl, uint32_t capacity)
{
	begin(nl);
	nl_u32(nl, AGGNET_A_LINK_BITS, 64);
	nl_u8(nl, AGGNET_A_LINK_HASHES, 4);
	nl_u32(nl, AGGNET_A_LINK_CAPACITY, capacity);
	return nl_talk(nl);
}

#define EXPECT_TABLE(nl, expected_bits, expected_capacity, members) do {	\
	struct one one_ = the_link(nl);					\
									\
	EXPECT_EQ(expected_bits, one_.bits);				\
	EXPECT_EQ(expected_capacity, one_.capacity);			\
	EXPECT_EQ(members, one_.trees);					\
} while (0)

/* Add entries of jobs @from to @to through the link. */
static int fill(struct nl *nl, uint32_t from, uint32_t to)
{
	int err = 0;

	for (; from <= to && !err; from++)
		err = transit_add(nl, incast(from), 1, 0, "p0", NEIGHBOUR);
	return err;
}

TEST_F(link, grow__as_it_fills)
{
	struct nl *nl = &self->nl;
	struct one one;
	uint64_t bytes;

	ASSERT_EQ(0, small_link(nl, 10));
	bytes = memory_used(nl) + table_memory(1024) - table_memory(64);
	ASSERT_EQ(0, fill(nl, 1, 10));
	EXPECT_EQ(64, the_link(nl).bits);
	ASSERT_EQ(0, fill(nl, 11, 11));
	EXPECT_TABLE(nl, 128, 20, 11);
	ASSERT_EQ(0, fill(nl, 12, 81));
	EXPECT_TABLE(nl, 1024, 160, 81);
	EXPECT_EQ(4, the_link(nl).hashes);
	/*
	 * The table has each entry: otherwise bits would remain, or be cleared
	 * early.
	 */
	ASSERT_EQ(0, trees_del(nl, 1, 81));
	one = the_link(nl);
	EXPECT_EQ(0, one.trees);
	EXPECT_EQ(0, one.set);
	EXPECT_EQ(1024, one.bits);
	EXPECT_TRUE(memory_becomes(nl, bytes));
	ASSERT_EQ(0, link_del(nl, "p0", NEIGHBOUR));
	EXPECT_TRUE(memory_becomes(nl, 0));
}

TEST_F(link, grow__for_a_plan_at_once)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, small_link(nl, 10));
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_BEGIN));
	ASSERT_EQ(0, fill(nl, 1, 100));
	EXPECT_EQ(64, the_link(nl).bits);
	ASSERT_EQ(0, nl_do(nl, AGGNET_CMD_PLAN_COMMIT));
	EXPECT_TABLE(nl, 1024, 160, 100);
}

TEST_F(link, grow__not_if_the_size_is_given)
{
	struct nl *nl = &self->nl;
	struct one one;

	begin(nl);
	nl_u32(nl, AGGNET_A_LINK_BITS, 8);
	ASSERT_EQ(0, nl_talk(nl));
	EXPECT_EQ(0, the_link(nl).capacity);
	ASSERT_EQ(0, fill(nl, 1, 50));
	one = the_link(nl);
	EXPECT_EQ(8, one.bits);
	EXPECT_EQ(50, one.trees);
}

TEST_F(link, grow__later_where_memory_does_not_suffice)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_memory(nl, AGGNET_MEMORY_MIN));
	begin(nl);
	nl_u32(nl, AGGNET_A_LINK_BITS, 8192);
	nl_u32(nl, AGGNET_A_LINK_CAPACITY, 6);
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, fill(nl, 1, 12));
	EXPECT_TABLE(nl, 8192, 6, 12);
	ASSERT_EQ(0, node_memory(nl, AGGNET_MEMORY_DEFAULT));
	ASSERT_EQ(0, trees_del(nl, 12, 12));
	EXPECT_TABLE(nl, 16384, 12, 11);
	ASSERT_EQ(0, trees_del(nl, 1, 11));
	EXPECT_EQ(0, the_link(nl).set);
}

TEST_HARNESS_MAIN
