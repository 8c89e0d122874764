// SPDX-License-Identifier: GPL-2.0
/* Netlink: each command for entries of trees, and each refusal. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "nl_node.h"

#define KEY	"\x01\x02\x03\x04\x05\x06\x07\x08secret!!"

FIXTURE(tree) {
	struct nl nl;
};

FIXTURE_SETUP(tree)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, link_add(nl, "p0", NEIGHBOUR));
}

FIXTURE_TEARDOWN(tree)
{
	nl_close(&self->nl);
}

/*
 * Begin an end with two children that also sends, without attributes of type
 * @but.
 */
static void begin(struct nl *nl, uint64_t id, int but)
{
	const uint32_t children[] = { addr("10.0.0.3"), addr("10.0.0.2") };

	nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
	if (but != AGGNET_A_TREE_INCAST_ID)
		nl_u64(nl, AGGNET_A_TREE_INCAST_ID, id);
	if (but != AGGNET_A_TREE_INSTANCE)
		nl_u32(nl, AGGNET_A_TREE_INSTANCE, 5);
	if (but != AGGNET_A_TREE_CONTRIBUTORS)
		nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, 3);
	if (but != AGGNET_A_TREE_SOURCES)
		nl_u32(nl, AGGNET_A_TREE_SOURCES, 7);
	if (but != AGGNET_A_TREE_WRITERS)
		nl_u32(nl, AGGNET_A_TREE_WRITERS, 2);
	if (but != AGGNET_A_TREE_CHILDREN)
		nl_put(nl, AGGNET_A_TREE_CHILDREN, children, sizeof(children));
	if (but != AGGNET_A_TREE_SCHEME)
		nl_u8(nl, AGGNET_A_TREE_SCHEME, AGGNET_SCHEME_EXACT);
	if (but != AGGNET_A_TREE_LINK_IFINDEX)
		nl_u32(nl, AGGNET_A_TREE_LINK_IFINDEX, ifindex("p0"));
	if (but != AGGNET_A_TREE_LINK_NEIGHBOUR)
		nl_u32(nl, AGGNET_A_TREE_LINK_NEIGHBOUR, addr(NEIGHBOUR));
}

static int get(struct nl *nl, uint64_t id)
{
	nl_begin(nl, AGGNET_CMD_TREE_GET, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, id);
	return nl_talk(nl);
}

TEST_F(tree, add__all_and_get)
{
	struct nl *nl = &self->nl;
	const uint32_t *child;

	begin(nl, incast(1), 0);
	nl_u32(nl, AGGNET_A_TREE_ATTEMPT, 6);
	nl_u8(nl, AGGNET_A_TREE_FUNCTION, AGGNET_FN_MAX);
	nl_u8(nl, AGGNET_A_TREE_VTYPE, AGGNET_VTYPE_INT64);
	nl_u8(nl, AGGNET_A_TREE_HOPS, 4);
	nl_u32(nl, AGGNET_A_TREE_UID, 1000);
	nl_u32(nl, AGGNET_A_TREE_GID, 1001);
	nl_u64(nl, AGGNET_A_TREE_MEMORY, 1 << 20);
	nl_u32(nl, AGGNET_A_TREE_HOLD, 250);
	nl_u32(nl, AGGNET_A_TREE_GIVE_UP, 5000);
	nl_put(nl, AGGNET_A_TREE_KEY, KEY, 16);
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, get(nl, incast(1)));
	EXPECT_EQ(incast(1), nl_get_u64(nl, AGGNET_A_TREE_INCAST_ID));
	EXPECT_EQ(5, nl_get_u32(nl, AGGNET_A_TREE_INSTANCE));
	EXPECT_EQ(6, nl_get_u32(nl, AGGNET_A_TREE_ATTEMPT));
	EXPECT_EQ(3, nl_get_u32(nl, AGGNET_A_TREE_CONTRIBUTORS));
	EXPECT_EQ(7, nl_get_u32(nl, AGGNET_A_TREE_SOURCES));
	EXPECT_EQ(2, nl_get_u32(nl, AGGNET_A_TREE_WRITERS));
	ASSERT_EQ(8, nl_len(nl, AGGNET_A_TREE_CHILDREN));
	child = nl_data(nl, AGGNET_A_TREE_CHILDREN);
	EXPECT_EQ(addr("10.0.0.2"), child[0]);
	EXPECT_EQ(addr("10.0.0.3"), child[1]);
	/* Neither has bound. */
	ASSERT_EQ(8, nl_len(nl, AGGNET_A_TREE_UNBOUND));
	child = nl_data(nl, AGGNET_A_TREE_UNBOUND);
	EXPECT_EQ(addr("10.0.0.2"), child[0]);
	EXPECT_EQ(addr("10.0.0.3"), child[1]);
	EXPECT_EQ(AGGNET_FN_MAX, nl_get_u8(nl, AGGNET_A_TREE_FUNCTION));
	EXPECT_EQ(AGGNET_SCHEME_EXACT, nl_get_u8(nl, AGGNET_A_TREE_SCHEME));
	EXPECT_EQ(ifindex("p0"), nl_get_u32(nl, AGGNET_A_TREE_LINK_IFINDEX));
	EXPECT_EQ(addr(NEIGHBOUR),
		  nl_get_u32(nl, AGGNET_A_TREE_LINK_NEIGHBOUR));
	EXPECT_EQ(4, nl_get_u8(nl, AGGNET_A_TREE_HOPS));
	EXPECT_EQ(1000, nl_get_u32(nl, AGGNET_A_TREE_UID));
	EXPECT_EQ(1001, nl_get_u32(nl, AGGNET_A_TREE_GID));
	EXPECT_EQ(1 << 20, nl_get_u64(nl, AGGNET_A_TREE_MEMORY));
	EXPECT_EQ(250, nl_get_u32(nl, AGGNET_A_TREE_HOLD));
	EXPECT_EQ(5000, nl_get_u32(nl, AGGNET_A_TREE_GIVE_UP));
	EXPECT_TRUE(nl_has(nl, AGGNET_A_TREE_KEYED));
	EXPECT_TRUE(nl_has(nl, AGGNET_A_TREE_STATE));
	EXPECT_EQ(AGGNET_TREE_IDLE, nl_get_u8(nl, AGGNET_A_TREE_STATE));
	EXPECT_LT(0, nl_get_u64(nl, AGGNET_A_TREE_MEMORY_USED));
}

/* Add an end that sends a filter of @size bytes; NULL: none. */
static int add_filter(struct nl *nl, const void *filter, size_t size)
{
	begin(nl, incast(1), AGGNET_A_TREE_SCHEME);
	nl_u8(nl, AGGNET_A_TREE_SCHEME, AGGNET_SCHEME_PACKET);
	if (filter)
		nl_put(nl, AGGNET_A_TREE_FILTER, filter, size);
	return nl_talk(nl);
}

TEST_F(tree, add__filter)
{
	static const char filter[16] = { 0, 42, 0x23, 7, -1, 1, 2, 3, 4, 3, 9 };
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, add_filter(nl, filter, sizeof(filter)));
	ASSERT_EQ(0, get(nl, incast(1)));
	EXPECT_EQ(AGGNET_SCHEME_PACKET, nl_get_u8(nl, AGGNET_A_TREE_SCHEME));
	ASSERT_EQ(sizeof(filter), nl_len(nl, AGGNET_A_TREE_FILTER));
	EXPECT_EQ(0, memcmp(filter, nl_data(nl, AGGNET_A_TREE_FILTER),
			    sizeof(filter)));
}

TEST_F(tree, add__filter_to_the_switch_behind_the_port)
{
	static const char filter[8] = { 0, 8, 1, 0, 1 };
	struct nl *nl = &self->nl;

	begin(nl, incast(1), AGGNET_A_TREE_LINK_NEIGHBOUR);
	nl_u8(nl, AGGNET_A_TREE_SCHEME, AGGNET_SCHEME_PACKET);
	nl_put(nl, AGGNET_A_TREE_FILTER, filter, sizeof(filter));
	EXPECT_EQ(0, nl_talk(nl));
}

TEST_F(tree, add__filter_refused)
{
	static const char good[8] = { 0, 8, 1, 0, 1 };
	static const struct {
		char byte[16];
		size_t size;
	} bad[] = {
		{ { 0, 7, 1, 0, 1 }, 8 },	/* too few bits */
		{ { 0, 8, 0, 0, 1 }, 8 },	/* spent */
		{ { 0, 9, 1, 0, 1, 2 }, 8 },	/* a bit set behind the last */
		{ { 0, 8, 1, 0, 1, 1 }, 8 },	/* padding is not 0 */
		{ { 0, 42, 1 }, 8 },		/* cut */
		{ { 0, 8, 1, 0, 1 }, 16 },	/* too long */
		{ { 0, 8, 1, 0, 1 }, 5 },	/* not a whole unit */
		{ { 0 }, 0 },
	};
	struct nl *nl = &self->nl;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		EXPECT_REFUSED(nl, add_filter(nl, bad[i].byte, bad[i].size),
			       EINVAL, AGGNET_A_TREE_FILTER,
			       "filter is malformed");
	EXPECT_REFUSED(nl, add_filter(nl, NULL, 0), EINVAL,
		       AGGNET_A_TREE_SCHEME, "scheme packet needs a filter");
	begin(nl, incast(1), 0);
	nl_put(nl, AGGNET_A_TREE_FILTER, good, sizeof(good));
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_TREE_FILTER,
		       "a filter is for what leaves by scheme packet");
	EXPECT_EQ(0, trees(nl));
}

TEST_F(tree, add__stripe)
{
	struct nl *nl = &self->nl;

	begin(nl, incast(1), 0);
	nl_u8(nl, AGGNET_A_TREE_STRIPE, 2);
	nl_u8(nl, AGGNET_A_TREE_STRIPES, 3);
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, get(nl, incast(1)));
	EXPECT_EQ(2, nl_get_u8(nl, AGGNET_A_TREE_STRIPE));
	EXPECT_EQ(3, nl_get_u8(nl, AGGNET_A_TREE_STRIPES));
}

TEST_F(tree, add__stripe_refused)
{
	struct nl *nl = &self->nl;
	unsigned int i;

	/* Without a number of stripes, and with a number that is too small. */
	for (i = 0; i < 2; i++) {
		begin(nl, incast(1), 0);
		nl_u8(nl, AGGNET_A_TREE_STRIPE, 2);
		if (i)
			nl_u8(nl, AGGNET_A_TREE_STRIPES, 2);
		EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_TREE_STRIPE,
			       "the number of a stripe must be less than the number of stripes");
	}
	begin(nl, incast(1), 0);
	nl_u8(nl, AGGNET_A_TREE_STRIPES, AGGNET_STRIPES_MAX + 1);
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_TREE_STRIPES,
		       "stripes must be from 1 to 64");
}

TEST_F(tree, add__defaults)
{
	struct nl *nl = &self->nl;

	begin(nl, incast(1), AGGNET_A_TREE_WRITERS);
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, get(nl, incast(1)));
	EXPECT_EQ(0, nl_get_u32(nl, AGGNET_A_TREE_ATTEMPT));
	EXPECT_TRUE(nl_has(nl, AGGNET_A_TREE_WRITERS));
	EXPECT_EQ(0, nl_get_u32(nl, AGGNET_A_TREE_WRITERS));
	EXPECT_EQ(AGGNET_FN_SUM, nl_get_u8(nl, AGGNET_A_TREE_FUNCTION));
	EXPECT_EQ(AGGNET_MEMORY_DEFAULT, nl_get_u64(nl, AGGNET_A_TREE_MEMORY));
	EXPECT_EQ(AGGNET_HOLD_DEFAULT, nl_get_u32(nl, AGGNET_A_TREE_HOLD));
	EXPECT_EQ(AGGNET_GIVE_UP_DEFAULT,
		  nl_get_u32(nl, AGGNET_A_TREE_GIVE_UP));
	/* No user may use the socket, and there is no key. */
	EXPECT_FALSE(nl_has(nl, AGGNET_A_TREE_UID));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_TREE_GID));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_TREE_KEYED));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_TREE_MEMBERS));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_TREE_STRIPES));
}

TEST_F(tree, add__receiver)
{
	struct nl *nl = &self->nl;
	uint64_t id = 3ULL << 32 | ntohl(addr(IDENTITY));

	nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, id);
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
	nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, 1);
	nl_u32(nl, AGGNET_A_TREE_SOURCES, 1);
	nl_u32(nl, AGGNET_A_TREE_MEMBERS, 77);
	nl_u32(nl, AGGNET_A_TREE_ABSENT, addr("10.0.0.9"));
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, get(nl, id));
	EXPECT_EQ(4, nl_len(nl, AGGNET_A_TREE_ABSENT));
	EXPECT_EQ(addr("10.0.0.9"), nl_get_u32(nl, AGGNET_A_TREE_ABSENT));
	/* It is an end, although it has one child and does not send. */
	EXPECT_TRUE(nl_has(nl, AGGNET_A_TREE_STATE));
	EXPECT_EQ(77, nl_get_u32(nl, AGGNET_A_TREE_MEMBERS));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_TREE_LINK_IFINDEX));
}

struct find {
	const void *what;
	size_t len;
	bool found;
};

static void find_bytes(struct nl *nl, void *arg)
{
	struct find *f = arg;

	if (memmem(nl->answer.bytes, sizeof(nl->answer), f->what, f->len))
		f->found = true;
}

TEST_F(tree, key__is_never_told)
{
	struct nl *nl = &self->nl;
	struct find key = { KEY, 16 }, id = { NULL, 8 };
	uint64_t number = incast(1);

	id.what = &number;
	begin(nl, incast(1), 0);
	nl_put(nl, AGGNET_A_TREE_KEY, KEY, 16);
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, get(nl, incast(1)));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_TREE_KEY));
	EXPECT_EQ(NULL, memmem(nl->kept, nl->kept_len, KEY, 16));
	EXPECT_NE(NULL, memmem(nl->kept, nl->kept_len, &number, 8));
	memset(&nl->answer, 0, sizeof(nl->answer));
	ASSERT_EQ(0, nl_dump(nl, AGGNET_CMD_TREE_GET, find_bytes, &key));
	EXPECT_FALSE(key.found);
	/* The same search finds the number that is there. */
	ASSERT_EQ(0, nl_dump(nl, AGGNET_CMD_TREE_GET, find_bytes, &id));
	EXPECT_TRUE(id.found);
}

TEST_F(tree, key__length)
{
	struct nl *nl = &self->nl;

	begin(nl, incast(1), 0);
	nl_put(nl, AGGNET_A_TREE_KEY, KEY, 15);
	EXPECT_EQ(-ERANGE, nl_talk(nl));
	EXPECT_EQ(AGGNET_A_TREE_KEY, nl->blamed);
}

TEST_F(tree, add__missing)
{
	static const int required[] = {
		AGGNET_A_TREE_INCAST_ID, AGGNET_A_TREE_INSTANCE,
		AGGNET_A_TREE_CONTRIBUTORS, AGGNET_A_TREE_SOURCES,
	};
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(required); i++) {
		begin(nl, incast(1), required[i]);
		EXPECT_MISSING(nl, nl_talk(nl), required[i]);
	}
	EXPECT_EQ(0, trees(nl));
}

/* An entry with exactly one wrong attribute. */
static const struct wrong {
	int attr;
	int size;	/* of the value: 1, 4, 8 */
	uint64_t value;
	int error;
	const char *sentence;
} wrongs[] = {
	{ AGGNET_A_TREE_INCAST_ID, 8, 1ULL << 32, EINVAL,
	  "receiver of the incast ID is not a unicast address" },
	{ AGGNET_A_TREE_INCAST_ID, 8, 0xe0000001, EINVAL,
	  "receiver of the incast ID is not a unicast address" },
	{ AGGNET_A_TREE_INCAST_ID, 8, 0x7f000001, EINVAL,
	  "receiver of the incast ID is not a unicast address" },
	{ AGGNET_A_TREE_INCAST_ID, 8, 0xffffffff, EINVAL,
	  "receiver of the incast ID is not a unicast address" },
	{ AGGNET_A_TREE_SOURCES, 4, 0, EINVAL, "sources must be from 1 to 65536" },
	{ AGGNET_A_TREE_SOURCES, 4, 65537, EINVAL,
	  "sources must be from 1 to 65536" },
	{ AGGNET_A_TREE_SOURCES, 4, 0xffffffff, EINVAL,
	  "sources must be from 1 to 65536" },
	{ AGGNET_A_TREE_CONTRIBUTORS, 4, 0, EINVAL,
	  "contributors must be at least 1" },
	{ AGGNET_A_TREE_CONTRIBUTORS, 4, 8, EINVAL,
	  "contributors cannot exceed sources" },
	{ AGGNET_A_TREE_WRITERS, 4, 1025, EINVAL,
	  "writers cannot exceed 1024" },
	{ AGGNET_A_TREE_MEMBERS, 4, 1, EINVAL,
	  "members are for the receiver's entry" },
	{ AGGNET_A_TREE_ABSENT, 4, 1, EINVAL,
	  "absent sources are for the receiver's entry" },
	{ AGGNET_A_TREE_FUNCTION, 1, __AGGNET_FN_MAX, EINVAL,
	  "unknown aggregate function" },
	{ AGGNET_A_TREE_LAYOUT, 1, __AGGNET_LAYOUT_MAX, EINVAL,
	  "unknown layout" },
	{ AGGNET_A_TREE_K, 4, 1, EINVAL,
	  "k is for functions that keep pairs" },
	{ AGGNET_A_TREE_VTYPE, 1, __AGGNET_VTYPE_MAX, EINVAL,
	  "unknown value type" },
	{ AGGNET_A_TREE_SCHEME, 1, __AGGNET_SCHEME_MAX, EINVAL,
	  "scheme must be route, exact, bloom or packet" },
	{ AGGNET_A_TREE_SCHEME, 1, AGGNET_SCHEME_ROUTE, EINVAL,
	  "scheme route takes no link" },
	{ AGGNET_A_TREE_LINK_IFINDEX, 4, 0, EINVAL,
	  "schemes exact, bloom and packet need the port of a link" },
	{ AGGNET_A_TREE_LINK_IFINDEX, 4, 999, ENODEV, "port is not attached" },
	{ AGGNET_A_TREE_LINK_NEIGHBOUR, 4, 0, EINVAL,
	  "scheme exact needs the neighbour's address" },
	{ AGGNET_A_TREE_HOPS, 1, 63, EINVAL, "hops cannot exceed 62" },
	{ AGGNET_A_TREE_PERSIST, 1, 2, EINVAL, "persist cannot exceed 1" },
	{ AGGNET_A_TREE_DIRECTION, 1, AGGNET_DIR_BOTH, EINVAL,
	  "direction cannot exceed 1" },
	{ AGGNET_A_TREE_UID, 4, 0xffffffff, EINVAL,
	  "user ID has no mapping in this user namespace" },
	{ AGGNET_A_TREE_GID, 4, 0xffffffff, EINVAL,
	  "group ID has no mapping in this user namespace" },
	{ AGGNET_A_TREE_MEMORY, 8, 65535, EINVAL,
	  "memory must be at least 65536 bytes" },
	{ AGGNET_A_TREE_HOLD, 4, 1073741825, EINVAL,
	  "hold cannot exceed 1073741824 ms" },
	{ AGGNET_A_TREE_GIVE_UP, 4, 0, EINVAL,
	  "give_up must be from 1 to 2147483 ms" },
	{ AGGNET_A_TREE_GIVE_UP, 4, 1073741825, EINVAL,
	  "give_up must be from 1 to 2147483 ms" },
};

TEST_F(tree, add__refused)
{
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrongs); i++) {
		const struct wrong *w = &wrongs[i];

		begin(nl, incast(1), w->attr);
		nl_put(nl, w->attr, &w->value, w->size);
		EXPECT_REFUSED(nl, nl_talk(nl), w->error, w->attr,
			       w->sentence);
	}
	EXPECT_EQ(0, trees(nl));
	EXPECT_EQ(0, marks(nl, "p0", NEIGHBOUR));
}

/* The weight of a flow has 16 bits. */
TEST_F(tree, add__sorted_refused)
{
	const uint8_t sorted = AGGNET_LAYOUT_SORTED;
	const uint32_t sources = 65536;
	struct nl *nl = &self->nl;

	begin(nl, incast(1), AGGNET_A_TREE_SOURCES);
	nl_put(nl, AGGNET_A_TREE_SOURCES, &sources, sizeof(sources));
	nl_put(nl, AGGNET_A_TREE_LAYOUT, &sorted, sizeof(sorted));
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_TREE_SOURCES,
		       "a sorted tree has 65535 sources at most");
	EXPECT_EQ(0, trees(nl));
}

/* What a stream that goes down cannot have. */
TEST_F(tree, add__down_refused)
{
	static const struct {
		int attr;
		int size;
		uint64_t value;
		const char *sentence;
	} wrong[] = {
		{ AGGNET_A_TREE_LAYOUT, 1, AGGNET_LAYOUT_KEYED,
		  "layout bytes is for direction down, and no other layout is" },
		{ AGGNET_A_TREE_FUNCTION, 1, AGGNET_FN_MAX,
		  "a stream of bytes has neither function nor value type" },
		{ AGGNET_A_TREE_SCHEME, 1, AGGNET_SCHEME_BLOOM,
		  "a tree that leads down has scheme exact or route" },
		{ AGGNET_A_TREE_HOLD, 4, 1000,
		  "a tree that leads down waits for all members: it has no hold" },
		{ AGGNET_A_TREE_STRIPES, 1, 2,
		  "a tree that leads down has no stripes or absent sources" },
		{ AGGNET_A_TREE_CHILDREN, 4, 0x0200000a,
		  "a tree that leads down needs the list of all children" },
	};
	const uint8_t bytes = AGGNET_LAYOUT_BYTES;
	const uint8_t down = AGGNET_DIR_DOWN;
	struct nl *nl = &self->nl;
	uint32_t child = addr("10.0.0.2");
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		begin(nl, incast(1), wrong[i].attr);
		nl_put(nl, AGGNET_A_TREE_DIRECTION, &down, sizeof(down));
		if (wrong[i].attr != AGGNET_A_TREE_LAYOUT)
			nl_put(nl, AGGNET_A_TREE_LAYOUT, &bytes, sizeof(bytes));
		nl_put(nl, wrong[i].attr, wrong[i].attr == AGGNET_A_TREE_CHILDREN ?
		       (const void *)&child : &wrong[i].value, wrong[i].size);
		EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, wrong[i].attr,
			       wrong[i].sentence);
	}
	begin(nl, incast(1), 0);
	nl_put(nl, AGGNET_A_TREE_LAYOUT, &bytes, sizeof(bytes));
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_TREE_LAYOUT,
		       "layout bytes is for direction down, and no other layout is");
	EXPECT_EQ(0, trees(nl));
}

TEST_F(tree, add__children_refused)
{
	static const struct {
		const char *child[3];
		const char *sentence;
	} list[] = {
		{ { "10.0.0.2", "0.0.0.0" },
		  "a child is not a unicast address" },
		{ { "239.0.0.1", "10.0.0.2" },
		  "a child is not a unicast address" },
		{ { "10.0.0.2", IDENTITY },
		  "this server is listed as its own child" },
		{ { "10.0.0.2", "10.0.0.2" }, "a child is listed twice" },
		{ { "10.0.0.2", "10.0.0.3", "10.0.0.4" },
		  "more children than contributors" },
	};
	struct nl *nl = &self->nl;
	uint32_t child[3];
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(list); i++) {
		for (n = 0; n < 3 && list[i].child[n]; n++)
			child[n] = addr(list[i].child[n]);
		begin(nl, incast(1), AGGNET_A_TREE_CHILDREN);
		nl_put(nl, AGGNET_A_TREE_CHILDREN, child, 4 * n);
		EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_TREE_CHILDREN,
			       list[i].sentence);
	}
	for (n = 0; n < 8; n += 7) {
		begin(nl, incast(1), AGGNET_A_TREE_CHILDREN);
		nl_put(nl, AGGNET_A_TREE_CHILDREN, child, n);
		EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_TREE_CHILDREN,
			       "children must be addresses of 4 bytes each");
	}
	EXPECT_EQ(0, trees(nl));
}

TEST_F(tree, add__absent_are_addresses)
{
	struct nl *nl = &self->nl;
	uint64_t id = 3ULL << 32 | ntohl(addr(IDENTITY));
	static const char zero[8];
	unsigned int n;

	for (n = 0; n < 8; n += 7) {
		nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
		nl_u64(nl, AGGNET_A_TREE_INCAST_ID, id);
		nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
		nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, 1);
		nl_u32(nl, AGGNET_A_TREE_SOURCES, 1);
		nl_put(nl, AGGNET_A_TREE_ABSENT, zero, n);
		EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_TREE_ABSENT,
			       "absent must be addresses of 4 bytes each");
	}
	EXPECT_EQ(0, trees(nl));
}

TEST_F(tree, add__receiver_takes_no_link)
{
	struct nl *nl = &self->nl;
	uint64_t id = 3ULL << 32 | ntohl(addr(IDENTITY));

	begin(nl, id, 0);
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_TREE_LINK_IFINDEX,
		       "the receiver has no parent, so no link");
	begin(nl, id, AGGNET_A_TREE_LINK_IFINDEX);
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_TREE_LINK_NEIGHBOUR,
		       "the receiver has no parent, so no link");
}

TEST_F(tree, add__bloom_needs_the_link)
{
	struct nl *nl = &self->nl;

	EXPECT_REFUSED(nl, transit_add(nl, incast(1), 1, 0, "p0", OTHER),
		       ENOENT, AGGNET_A_TREE_LINK_NEIGHBOUR,
		       "no link with that neighbour: add it first");
	EXPECT_REFUSED(nl, transit_add(nl, incast(1), 1, 0, "p1", NEIGHBOUR),
		       ENODEV, AGGNET_A_TREE_LINK_IFINDEX,
		       "port is not attached");
	EXPECT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR));
	EXPECT_EQ(1, marks(nl, "p0", NEIGHBOUR));
}

TEST_F(tree, add__memory_for_its_contributors)
{
	struct nl *nl = &self->nl;

	nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
	nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, 65536);
	nl_u32(nl, AGGNET_A_TREE_SOURCES, 65536);
	EXPECT_REFUSED(nl, nl_talk(nl), ENOSPC, 0,
		       "memory is too small for a credit for each contributor");
}

TEST_F(tree, add__only_told)
{
	static const int told[] = {
		AGGNET_A_TREE_KEYED, AGGNET_A_TREE_STATE,
		AGGNET_A_TREE_REASON, AGGNET_A_TREE_ORIGIN,
		AGGNET_A_TREE_WEIGHT, AGGNET_A_TREE_CHANNELS,
		AGGNET_A_TREE_MEMORY_USED, AGGNET_A_TREE_KEYS,
		AGGNET_A_TREE_RECORDS_IN, AGGNET_A_TREE_RECORDS_OUT,
		AGGNET_A_TREE_PACKETS_IN, AGGNET_A_TREE_PACKETS_OUT,
		AGGNET_A_TREE_REXMITS, AGGNET_A_TREE_ACCEPTOR,
		AGGNET_A_TREE_PAD,
	};
	struct nl *nl = &self->nl;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(told); i++) {
		begin(nl, incast(1), 0);
		nl_u64(nl, told[i], 0);
		EXPECT_EQ(-EINVAL, nl_talk(nl));
		EXPECT_EQ(told[i], nl->blamed);
		EXPECT_STRNE("", nl->text);
	}
	begin(nl, incast(1), 0);
	nl_u8(nl, __AGGNET_A_TREE_MAX, 0);
	EXPECT_EQ(-EINVAL, nl_talk(nl));
	EXPECT_EQ(__AGGNET_A_TREE_MAX, nl->blamed);
	EXPECT_EQ(0, trees(nl));
}

TEST_F(tree, add__wrong_size)
{
	struct nl *nl = &self->nl;

	begin(nl, incast(1), AGGNET_A_TREE_SOURCES);
	nl_u16(nl, AGGNET_A_TREE_SOURCES, 7);
	EXPECT_EQ(-EINVAL, nl_talk(nl));
	EXPECT_EQ(AGGNET_A_TREE_SOURCES, nl->blamed);
}

TEST_F(tree, add__without_identity)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_namespace());
	nl_close(nl);
	ASSERT_EQ(0, nl_open(nl));
	EXPECT_REFUSED(nl, tree_add(nl, incast(1), 1, 0), EADDRNOTAVAIL,
		       AGGNET_A_TREE_INCAST_ID,
		       "this server has no identity: set the node's address first");
	/* A switch needs no identity. */
	ASSERT_EQ(0, node_role(nl, AGGNET_ROLE_SWITCH));
	ASSERT_EQ(0, port_add(nl, "p0"));
	EXPECT_REFUSED(nl, transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR),
		       ENOENT, AGGNET_A_TREE_LINK_NEIGHBOUR,
		       "no link with that neighbour: add it first");
}

TEST_F(tree, transit__by_route_of_attributes)
{
	struct nl *nl = &self->nl;

	/* No attributes of the flow. */
	ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR));
	ASSERT_EQ(0, get(nl, incast(1)));
	EXPECT_EQ(AGGNET_SCHEME_BLOOM, nl_get_u8(nl, AGGNET_A_TREE_SCHEME));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_TREE_CONTRIBUTORS));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_TREE_STATE));
	/*
	 * Attributes of a flow with one child, and no writer: it is not an end
	 * either.
	 */
	nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(2));
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
	nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, 1);
	nl_u32(nl, AGGNET_A_TREE_SOURCES, 4);
	nl_u8(nl, AGGNET_A_TREE_SCHEME, AGGNET_SCHEME_EXACT);
	nl_u32(nl, AGGNET_A_TREE_LINK_IFINDEX, ifindex("p0"));
	nl_u32(nl, AGGNET_A_TREE_LINK_NEIGHBOUR, addr(OTHER));
	ASSERT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, get(nl, incast(2)));
	EXPECT_EQ(4, nl_get_u32(nl, AGGNET_A_TREE_SOURCES));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_TREE_STATE));
}

TEST_F(tree, replace__epochs)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, tree_add(nl, incast(1), 10, 0));
	EXPECT_REFUSED(nl, tree_add(nl, incast(1), 11, 0), EEXIST,
		       AGGNET_A_TREE_INCAST_ID,
		       "this job and receiver have an entry: replace or delete it");
	EXPECT_REFUSED(nl, tree_add(nl, incast(1), 10, NLM_F_REPLACE), ESTALE,
		       AGGNET_A_TREE_INSTANCE,
		       "epoch is not newer than the one in force");
	EXPECT_REFUSED(nl, tree_add(nl, incast(1), 9, NLM_F_REPLACE), ESTALE,
		       AGGNET_A_TREE_INSTANCE,
		       "epoch is not newer than the one in force");
	EXPECT_EQ(0, tree_add(nl, incast(1), 11, NLM_F_REPLACE));
	/* Serial numbers: half of the circle ahead is the newest. */
	EXPECT_EQ(0, tree_add(nl, incast(1), 11 + 0x7fffffffu, NLM_F_REPLACE));
	EXPECT_EQ(0, tree_add(nl, incast(1), 5, NLM_F_REPLACE));
	EXPECT_EQ(1, trees(nl));
	ASSERT_EQ(0, get(nl, incast(1)));
	EXPECT_EQ(5, nl_get_u32(nl, AGGNET_A_TREE_INSTANCE));
	/* REPLACE without an old entry adds one. */
	EXPECT_EQ(0, tree_add(nl, incast(2), 1, NLM_F_REPLACE));
}

TEST_F(tree, replace__attempt)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, tree_add(nl, incast(1), 10, 0));
	begin(nl, incast(1), AGGNET_A_TREE_INSTANCE);
	nl->request.head.nlmsg_flags |= NLM_F_REPLACE;
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 10);
	nl_u32(nl, AGGNET_A_TREE_ATTEMPT, 1);
	EXPECT_EQ(0, nl_talk(nl));
	ASSERT_EQ(0, get(nl, incast(1)));
	EXPECT_EQ(1, nl_get_u32(nl, AGGNET_A_TREE_ATTEMPT));
}

/* Add an entry of epoch @instance; @plan: 16 bytes, NULL: without a plan. */
static int add_of_plan(struct nl *nl, uint32_t instance, const char *plan)
{
	begin(nl, incast(1), AGGNET_A_TREE_INSTANCE);
	nl->request.head.nlmsg_flags |= NLM_F_REPLACE;
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, instance);
	if (plan)
		nl_put(nl, AGGNET_A_TREE_PLAN, plan, AGGNET_PLAN_LEN);
	return nl_talk(nl);
}

TEST_F(tree, replace__plans_of_one_epoch)
{
	static const char one[] = "sixteen bytes, 1", two[] = "sixteen bytes, 2";
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, add_of_plan(nl, 10, one));
	ASSERT_EQ(0, get(nl, incast(1)));
	ASSERT_EQ(AGGNET_PLAN_LEN, nl_len(nl, AGGNET_A_TREE_PLAN));
	EXPECT_EQ(0, memcmp(one, nl_data(nl, AGGNET_A_TREE_PLAN),
			    AGGNET_PLAN_LEN));
	EXPECT_REFUSED(nl, add_of_plan(nl, 10, two), ESTALE,
		       AGGNET_A_TREE_PLAN,
		       "another plan of the same epoch is in force");
	/* There is no attribute that the error could refer to. */
	EXPECT_REFUSED(nl, add_of_plan(nl, 10, NULL), ESTALE, 0,
		       "another plan of the same epoch is in force");
	EXPECT_REFUSED(nl, add_of_plan(nl, 10, one), ESTALE,
		       AGGNET_A_TREE_INSTANCE,
		       "epoch is not newer than the one in force");
	EXPECT_EQ(0, add_of_plan(nl, 11, two));
	EXPECT_EQ(0, add_of_plan(nl, 12, NULL));
	ASSERT_EQ(0, get(nl, incast(1)));
	EXPECT_FALSE(nl_has(nl, AGGNET_A_TREE_PLAN));
}

TEST_F(tree, plan__length)
{
	struct nl *nl = &self->nl;

	begin(nl, incast(1), 0);
	nl_put(nl, AGGNET_A_TREE_PLAN, "too short", 9);
	EXPECT_EQ(-ERANGE, nl_talk(nl));
	EXPECT_EQ(0, trees(nl));
}

TEST_F(tree, del__and_what_is_not_there)
{
	struct nl *nl = &self->nl;

	EXPECT_REFUSED(nl, tree_del(nl, incast(1)), ENOENT,
		       AGGNET_A_TREE_INCAST_ID, "no entry of that incast ID");
	EXPECT_REFUSED(nl, get(nl, incast(1)), ENOENT,
		       AGGNET_A_TREE_INCAST_ID, "no entry of that incast ID");
	EXPECT_MISSING(nl, nl_do(nl, AGGNET_CMD_TREE_DEL),
		       AGGNET_A_TREE_INCAST_ID);
	EXPECT_MISSING(nl, nl_do(nl, AGGNET_CMD_TREE_GET),
		       AGGNET_A_TREE_INCAST_ID);
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
	EXPECT_EQ(0, tree_del(nl, incast(1)));
	EXPECT_EQ(0, trees(nl));
	ASSERT_EQ(0, tree_add(nl, incast(1), 1, 0));
}

/*
 * Delete an entry of epoch 10.@attempt and of this plan; NULL: without a plan.
 */
static int del_of_plan(struct nl *nl, uint32_t attempt, const char *plan)
{
	nl_begin(nl, AGGNET_CMD_TREE_DEL, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 10);
	if (attempt)
		nl_u32(nl, AGGNET_A_TREE_ATTEMPT, attempt);
	if (plan)
		nl_put(nl, AGGNET_A_TREE_PLAN, plan, AGGNET_PLAN_LEN);
	return nl_talk(nl);
}

#define EXPECT_OTHER(nl, call)						\
	EXPECT_REFUSED(nl, call, ESTALE, AGGNET_A_TREE_INSTANCE,	\
		       "an entry of another epoch or plan is in force")

TEST_F(tree, del__of_one_epoch_and_plan)
{
	static const char one[] = "sixteen bytes, 1", two[] = "sixteen bytes, 2";
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, add_of_plan(nl, 10, one));
	EXPECT_OTHER(nl, del_of_plan(nl, 0, two));
	EXPECT_OTHER(nl, del_of_plan(nl, 0, NULL));
	EXPECT_OTHER(nl, del_of_plan(nl, 1, one));
	EXPECT_EQ(1, trees(nl));
	EXPECT_EQ(0, del_of_plan(nl, 0, one));
	EXPECT_EQ(0, trees(nl));
	EXPECT_REFUSED(nl, del_of_plan(nl, 0, one), ENOENT,
		       AGGNET_A_TREE_INCAST_ID, "no entry of that incast ID");
	ASSERT_EQ(0, add_of_plan(nl, 10, NULL));
	EXPECT_OTHER(nl, del_of_plan(nl, 0, one));
	EXPECT_EQ(0, del_of_plan(nl, 0, NULL));
	ASSERT_EQ(0, add_of_plan(nl, 11, one));
	EXPECT_OTHER(nl, del_of_plan(nl, 0, one));
	EXPECT_EQ(1, trees(nl));
	/* Without an epoch or a plan any entry is deleted. */
	EXPECT_EQ(0, tree_del(nl, incast(1)));
}

TEST_F(tree, del__epoch_without_instance)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, add_of_plan(nl, 10, NULL));
	nl_begin(nl, AGGNET_CMD_TREE_DEL, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
	nl_u32(nl, AGGNET_A_TREE_ATTEMPT, 0);
	EXPECT_MISSING(nl, nl_talk(nl), AGGNET_A_TREE_INSTANCE);
	nl_begin(nl, AGGNET_CMD_TREE_DEL, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
	nl_put(nl, AGGNET_A_TREE_PLAN, "sixteen bytes, 1", AGGNET_PLAN_LEN);
	EXPECT_MISSING(nl, nl_talk(nl), AGGNET_A_TREE_INSTANCE);
	EXPECT_EQ(1, trees(nl));
}

/* The table: many entries are added and deleted, and the others are found. */
TEST_F(tree, table__holds_what_was_put_in)
{
	struct nl *nl = &self->nl;
	uint32_t job, n = 300;

	for (job = 0; job < n; job++)
		ASSERT_EQ(0, transit_add(nl, incast(job * 7919), 1, 0, "p0",
					 NEIGHBOUR));
	EXPECT_EQ(n, trees(nl));
	for (job = 0; job < n; job += 3)
		ASSERT_EQ(0, tree_del(nl, incast(job * 7919)));
	EXPECT_EQ(n - n / 3, trees(nl));
	for (job = 0; job < n; job++)
		EXPECT_EQ(job % 3 ? 0 : -ENOENT, get(nl, incast(job * 7919)));
	EXPECT_EQ(n - n / 3, marks(nl, "p0", NEIGHBOUR));
}

FIXTURE(at_switch) {
	struct nl nl;
};

static int switch_link(struct nl *nl, const char *neighbour)
{
	nl_begin(nl, AGGNET_CMD_LINK_ADD, 0);
	nl_u32(nl, AGGNET_A_LINK_IFINDEX, ifindex("p0"));
	nl_u32(nl, AGGNET_A_LINK_NEIGHBOUR, addr(neighbour));
	nl_put(nl, AGGNET_A_LINK_LLADDR, "\x02\x00\x00\x00\x00\x07", 6);
	return nl_talk(nl);
}

FIXTURE_SETUP(at_switch)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, node_role(nl, AGGNET_ROLE_SWITCH));
	ASSERT_EQ(0, port_add(nl, "p0"));
	ASSERT_EQ(0, switch_link(nl, NEIGHBOUR));
	ASSERT_EQ(0, switch_link(nl, OTHER));
}

FIXTURE_TEARDOWN(at_switch)
{
	nl_close(&self->nl);
}

TEST_F(at_switch, add__several_links)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR));
	ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", OTHER));
	EXPECT_EQ(2, trees(nl));
	EXPECT_EQ(1, marks(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(1, marks(nl, "p0", OTHER));
	EXPECT_REFUSED(nl, transit_add(nl, incast(1), 1, 0, "p0", OTHER),
		       EEXIST, AGGNET_A_TREE_INCAST_ID,
		       "this job and receiver have an entry: replace or delete it");
	EXPECT_REFUSED(nl, transit_add(nl, incast(1), 2, 0, "p0", OTHER),
		       EEXIST, AGGNET_A_TREE_INCAST_ID,
		       "this job and receiver have an entry: replace or delete it");
}

TEST_F_TIMEOUT(at_switch, add__so_many_links_at_most, LONG)
{
	struct nl *nl = &self->nl;
	char neighbour[20];
	int i;

	for (i = 0; i <= 256; i++) {
		snprintf(neighbour, sizeof(neighbour), "10.17.%d.%d", i >> 8,
			 i & 255);
		ASSERT_EQ(0, switch_link(nl, neighbour));
		if (i < 256)
			ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0",
						 neighbour));
	}
	EXPECT_REFUSED(nl, transit_add(nl, incast(1), 1, 0, "p0", neighbour),
		       ENOSPC, AGGNET_A_TREE_LINK_IFINDEX,
		       "an incast ID leaves a switch by 256 links at most");
	EXPECT_EQ(0, transit_add(nl, incast(2), 1, 0, "p0", neighbour));
}

TEST_F(at_switch, replace__takes_all_links)
{
	struct nl *nl = &self->nl;

	ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR));
	ASSERT_EQ(0, transit_add(nl, incast(1), 1, 0, "p0", OTHER));
	ASSERT_EQ(0, transit_add(nl, incast(1), 2, NLM_F_REPLACE, "p0", OTHER));
	EXPECT_EQ(1, trees(nl));
	EXPECT_EQ(0, marks(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(1, marks(nl, "p0", OTHER));
	ASSERT_EQ(0, transit_add(nl, incast(1), 2, NLM_F_REPLACE, "p0",
				 NEIGHBOUR));
	EXPECT_EQ(2, trees(nl));
	ASSERT_EQ(0, tree_del(nl, incast(1)));
	EXPECT_EQ(0, trees(nl));
	EXPECT_EQ(0, marks(nl, "p0", NEIGHBOUR));
	EXPECT_EQ(0, marks(nl, "p0", OTHER));
}

TEST_F(at_switch, add__no_flow)
{
	static const struct { int attr, size; } flow[] = {
		{ AGGNET_A_TREE_CONTRIBUTORS, 4 }, { AGGNET_A_TREE_SOURCES, 4 },
		{ AGGNET_A_TREE_CHILDREN, 4 }, { AGGNET_A_TREE_FUNCTION, 1 },
		{ AGGNET_A_TREE_VTYPE, 1 }, { AGGNET_A_TREE_HOPS, 1 },
		{ AGGNET_A_TREE_WRITERS, 4 }, { AGGNET_A_TREE_UID, 4 },
		{ AGGNET_A_TREE_GID, 4 }, { AGGNET_A_TREE_MEMORY, 8 },
		{ AGGNET_A_TREE_HOLD, 4 }, { AGGNET_A_TREE_GIVE_UP, 4 },
		{ AGGNET_A_TREE_KEY, 16 }, { AGGNET_A_TREE_MEMBERS, 4 },
		{ AGGNET_A_TREE_LAYOUT, 1 }, { AGGNET_A_TREE_SCALE, 1 },
		{ AGGNET_A_TREE_K, 4 }, { AGGNET_A_TREE_ELEMENTS, 8 },
		{ AGGNET_A_TREE_ABSENT, 4 }, { AGGNET_A_TREE_PERSIST, 1 },
		{ AGGNET_A_TREE_STRIPE, 1 }, { AGGNET_A_TREE_STRIPES, 1 },
		{ AGGNET_A_TREE_DIRECTION, 1 },
	};
	struct nl *nl = &self->nl;
	uint64_t value[2] = {};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flow); i++) {
		value[0] = flow[i].attr == AGGNET_A_TREE_MEMORY ?
			   AGGNET_MEMORY_MIN : 1;
		nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
		nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
		nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
		nl_u32(nl, AGGNET_A_TREE_LINK_IFINDEX, ifindex("p0"));
		nl_u32(nl, AGGNET_A_TREE_LINK_NEIGHBOUR, addr(NEIGHBOUR));
		nl_put(nl, flow[i].attr, value, flow[i].size);
		EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, flow[i].attr,
			       "a switch only forwards: it takes no attribute of a flow");
	}
	nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
	nl_u32(nl, AGGNET_A_TREE_LINK_IFINDEX, ifindex("p0"));
	nl_u32(nl, AGGNET_A_TREE_LINK_NEIGHBOUR, addr(NEIGHBOUR));
	nl_u8(nl, AGGNET_A_TREE_SCHEME, AGGNET_SCHEME_EXACT);
	EXPECT_REFUSED(nl, nl_talk(nl), EINVAL, AGGNET_A_TREE_SCHEME,
		       "a switch forwards by Bloom tables only");
	EXPECT_EQ(0, trees(nl));
}

/* A refusal returns the request without its key. */
TEST_F(tree, add__leaves_no_key_behind)
{
	static const char key[] = "0123456789abcdef";
	struct nl *nl = &self->nl;
	unsigned int i;
	int whole = 0;

	ASSERT_EQ(0, setsockopt(nl->fd, SOL_NETLINK, NETLINK_CAP_ACK, &whole,
				sizeof(whole)));
	for (i = 0; i < 2; i++) {
		nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
		nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
		nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
		nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, 1);
		nl_u32(nl, AGGNET_A_TREE_SOURCES, 1);
		nl_u32(nl, AGGNET_A_TREE_WRITERS, 1);
		nl_u64(nl, AGGNET_A_TREE_MEMORY, AGGNET_MEMORY_MIN);
		nl_put(nl, AGGNET_A_TREE_KEY, key, 16);
		ASSERT_EQ(i ? -EEXIST : 0, nl_talk(nl));
	}
	EXPECT_LT(nl->request.head.nlmsg_len, nl->answer.head.nlmsg_len);
	EXPECT_EQ(NULL, memmem(&nl->answer, sizeof(nl->answer), key, 16));
}

/* An attribute can hold so many children; a longer list could not be dumped. */
TEST_F(tree, children__as_many_as_an_attribute_takes)
{
	static uint8_t seen[65536];
	static uint32_t child[16382];
	struct nl *nl = &self->nl;
	uint32_t i, contributors;
	const uint32_t *told;

	ASSERT_EQ(0, node_memory(nl, 1 << 30));
	for (i = 0; i < 16382; i++)
		child[i] = htonl(0x0a010000 + i);
	for (contributors = 16383; contributors >= 16382; contributors--) {
		nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
		nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
		nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
		nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, contributors);
		nl_u32(nl, AGGNET_A_TREE_SOURCES, contributors);
		nl_u64(nl, AGGNET_A_TREE_MEMORY, 50 << 20);
		nl_u8(nl, AGGNET_A_TREE_LAYOUT, AGGNET_LAYOUT_SORTED);
		nl_put(nl, AGGNET_A_TREE_CHILDREN, child, sizeof(child));
		if (contributors > 16382)
			EXPECT_REFUSED(nl, nl_talk(nl), EINVAL,
				       AGGNET_A_TREE_CHILDREN,
				       "a list has 16382 children at most: leave it out where there are more");
		else
			ASSERT_EQ(0, nl_talk(nl)) {
				TH_LOG("%s", nl->text);
			}
	}
	ASSERT_EQ(0, get(nl, incast(1)));
	ASSERT_EQ(sizeof(child), nl_len(nl, AGGNET_A_TREE_CHILDREN));
	/* The kernel keeps them in its own order. */
	told = nl_data(nl, AGGNET_A_TREE_CHILDREN);
	for (i = 0; i < 16382; i++)
		seen[(uint16_t)ntohl(told[i])]++;
	for (i = 0; i < 16382; i++)
		ASSERT_EQ(1, seen[i]);
}

TEST_HARNESS_MAIN
