// SPDX-License-Identifier: GPL-2.0
/* Which links packets take: the planned link is among the copies when too many
 * Bloom tables match; a port without transit passes OPENs to the entry; a
 * transfer continues if a planned link that bypasses its acceptor comes up.
 * Needs root and the module.
 */
#include <net/if.h>
#include <net/if_arp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "../lib/device.h"
#include "harness.h"
#include "two_nodes.h"

FIXTURE(way) {
	struct two_nodes on;
	struct message m;
};

FIXTURE_SETUP(way)
{
}

FIXTURE_TEARDOWN(way)
{
	two_nodes_down(&self->on);
}

#define SELF	FIXTURE_DATA(way)

/* Return: the value that the receiver got before its end; or -1 */
static int64_t received(SELF *self)
{
	int64_t value = -1;
	int r = -1;

	if (!setns(self->on.ns_a, CLONE_NEWNET))
		r = reader();
	if (r >= 0)
		value = only_value(&self->m, receive(r, &self->m, 0));
	if (value >= 0 && (receive(r, &self->m, 0) <= 0 ||
			   self->m.head.type != AGGNET_MSG_END))
		value = -1;
	close(r);
	return value;
}

/*
 * The caller is in the source's namespace. Return: what the receiver got, or -1
 */
static int64_t transferred(SELF *self)
{
	int64_t value = -1;
	int w = writer();

	if (w >= 0 && !send_record(w, "key", 3) && !shutdown(w, SHUT_WR))
		value = received(self);
	if (value >= 0 && receive(w, &self->m, 0))
		value = -1;
	close(w);
	return value;
}

/* --- copies --------------------------------------------------------------- */

#define NEIGHBOURS	6	/* more than the four copies */
#define DECOYS		256	/* entries that set all eight bits of a table */

/* Add a neighbour that does not exist. Return: 0 or -1 */
static int add_nobody(struct in_addr neighbour)
{
	struct arpreq arp = {
		.arp_ha = { .sa_family = ARPHRD_ETHER, .sa_data = { 2, 9 } },
		.arp_flags = ATF_COM | ATF_PERM,
		.arp_dev = "vb",
	};
	struct sockaddr_in *sin = (struct sockaddr_in *)&arp.arp_pa;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int err;

	sin->sin_family = AF_INET;
	sin->sin_addr = neighbour;
	err = ioctl(fd, SIOCSARP, &arp);
	close(fd);
	return err;
}

static int add_link(struct aggnet_ctl *ctl, struct in_addr neighbour)
{
	const struct aggnet_link_info link = {
		.has = AGGNET_HAS(AGGNET_A_LINK_IFINDEX) |
		       AGGNET_HAS(AGGNET_A_LINK_NEIGHBOUR) |
		       AGGNET_HAS(AGGNET_A_LINK_BITS) |
		       AGGNET_HAS(AGGNET_A_LINK_HASHES),
		.ifindex = if_nametoindex("vb"),
		.neighbour = neighbour,
		.bits = 8,
		.hashes = 1,
	};

	return aggnet_link_add(ctl, &link);
}

static int add_by_table(struct aggnet_ctl *ctl, uint32_t job,
			struct in_addr neighbour, uint32_t writers)
{
	struct aggnet_tree_info e = entry(writers);

	e.has |= AGGNET_HAS(AGGNET_A_TREE_SCHEME) |
		 AGGNET_HAS(AGGNET_A_TREE_LINK_IFINDEX) |
		 AGGNET_HAS(AGGNET_A_TREE_LINK_NEIGHBOUR);
	e.incast_id = aggnet_incast_id(job, ip(NODE_A));
	e.scheme = AGGNET_SCHEME_BLOOM;
	e.link_ifindex = if_nametoindex("vb");
	e.link_neighbour = neighbour;
	if (!writers)
		e.has &= ~(AGGNET_HAS(AGGNET_A_TREE_CONTRIBUTORS) |
			   AGGNET_HAS(AGGNET_A_TREE_SOURCES) |
			   AGGNET_HAS(AGGNET_A_TREE_WRITERS) |
			   AGGNET_HAS(AGGNET_A_TREE_FUNCTION) |
			   AGGNET_HAS(AGGNET_A_TREE_MEMORY));
	return add_entry(ctl, &e, false);
}

/* Does this link exist, and does its table match every ID? */
static bool says_yes(struct aggnet_ctl *ctl, struct in_addr neighbour)
{
	struct aggnet_link_info *list;
	bool yes = false;
	size_t i, n;

	if (aggnet_link_list(ctl, &list, &n))
		return false;
	for (i = 0; i < n; i++)
		if (list[i].neighbour.s_addr == neighbour.s_addr)
			yes = list[i].bits_set == list[i].bits;
	free(list);
	return yes;
}

/* Add a link with a table that matches every ID. Return: 0 or -1 */
static int add_liar(struct aggnet_ctl *ctl, struct in_addr neighbour)
{
	static uint32_t job = 1000;
	unsigned int n;

	if (add_link(ctl, neighbour))
		return -1;
	for (n = 0; n < DECOYS && !says_yes(ctl, neighbour); n++)
		if (add_by_table(ctl, job++, neighbour, 0))
			return -1;
	return says_yes(ctl, neighbour) ? 0 : -1;
}

/* The last link is the planned one; the others lead to no node. */
TEST_F(way, bloom__the_planned_link_is_not_left_out)
{
	struct in_addr neighbour;
	unsigned int i;

	ASSERT_EQ(0, two_nodes_up(&self->on));
	ASSERT_EQ(0, attach(self->on.b, "vb", true));
	for (i = 1; i < NEIGHBOURS; i++) {
		neighbour.s_addr = htonl(0x0a10000a + i);
		ASSERT_EQ(0, add_nobody(neighbour));
		ASSERT_EQ(0, add_liar(self->on.b, neighbour));
	}
	neighbour = ip("10.16.0.1");
	ASSERT_EQ(0, add_liar(self->on.b, neighbour));
	ASSERT_EQ(0, add_by_table(self->on.b, JOB, neighbour, 1));
	ASSERT_EQ(0, add_writers(self->on.a, 0));
	EXPECT_EQ(3, transferred(self));
	EXPECT_LE(NEIGHBOURS - 4, counter(self->on.b, "drop_copies"));
	EXPECT_EQ(0, counter(self->on.b, "drop_copies") % (NEIGHBOURS - 4));
}

/* --- a port without transit ------------------------------------------------ */

/*
 * Make T, between A and B, a source that has sent its record and its end. B is
 * T's child or not. T's port has no transit: only OPENs of B reach T. Return:
 * T's writer or -1
 */
static int between(SELF *self, bool child)
{
	struct in_addr id = ip(NODE_B);
	struct aggnet_tree_info e = entry(0);
	int w;

	e.contributors = 2 - child;
	e.sources = 2;
	if (two_nodes_apart(&self->on) || attach(self->on.t, "tb", false) ||
	    add_entry(self->on.a, &e, false) || add_writers(self->on.b, 1))
		return -1;
	e = entry(1);
	if (child) {
		e.has |= AGGNET_HAS(AGGNET_A_TREE_CHILDREN);
		e.children = (struct aggnet_addrs){ &id, 1 };
		e.contributors = 2;
		e.sources = 2;
	}
	if (add_entry(self->on.t, &e, false))
		return -1;
	w = writer();
	if (send_record(w, "key", 4) || shutdown(w, SHUT_WR) ||
	    setns(self->on.ns_b, CLONE_NEWNET))
		return -1;
	return w;
}

TEST_F(way, transit_off__the_entry_serves_its_child)
{
	int w = between(self, true);

	ASSERT_LE(0, w);
	EXPECT_EQ(7, transferred(self));
	EXPECT_EQ(0, receive(w, &self->m, 0));
	EXPECT_EQ(2, counter(self->on.t, "merged_packets"));
	EXPECT_EQ(0, counter(self->on.t, "forwarded"));
	close(w);
}

/* IP takes the OPEN past T's entry. */
TEST_F(way, transit_off__a_node_that_is_not_a_child_passes)
{
	int w = between(self, false);

	ASSERT_LE(0, w);
	EXPECT_EQ(7, transferred(self));
	EXPECT_EQ(0, receive(w, &self->m, 0));
	EXPECT_EQ(1, counter(self->on.t, "merged_packets"));
	EXPECT_EQ(0, counter(self->on.t, "forwarded"));
	EXPECT_LT(0, counter(self->on.t, "passed"));
	close(w);
}

/*
 * --- around a planned link ---------------------------------------------------
 */

/*
 * B's planned link leads to A and is down. B is not a child of T or A; T is A's
 * child.
 */
static int plan_direct(SELF *self)
{
	struct in_addr t = ip(NODE_T);
	struct aggnet_tree_info e = entry(0);

	if (two_nodes_apart(&self->on) || attach(self->on.t, "tb", true) ||
	    add_writers(self->on.t, 1) || two_nodes_direct(&self->on) ||
	    attach(self->on.b, "db", true))
		return -1;
	e.has |= AGGNET_HAS(AGGNET_A_TREE_CHILDREN);
	e.children = (struct aggnet_addrs){ &t, 1 };
	e.sources = 2;
	if (add_entry(self->on.a, &e, false))
		return -1;
	e = entry(1);
	e.has |= AGGNET_HAS(AGGNET_A_TREE_SCHEME) |
		 AGGNET_HAS(AGGNET_A_TREE_LINK_IFINDEX) |
		 AGGNET_HAS(AGGNET_A_TREE_LINK_NEIGHBOUR);
	e.scheme = AGGNET_SCHEME_EXACT;
	e.link_ifindex = if_nametoindex("db");
	e.link_neighbour = ip("10.18.0.1");
	return add_entry(self->on.b, &e, false);
}

static bool accepted_by(struct aggnet_ctl *ctl, struct in_addr acceptor)
{
	struct aggnet_tree_info e;

	return !aggnet_tree_get(ctl, aggnet_incast_id(JOB, ip(NODE_A)), &e) &&
	       e.acceptor.s_addr == acceptor.s_addr;
}

/* IP brings B's OPEN to T, which is not on the planned path. */
TEST_F(way, exact__the_link_heals_behind_an_unplanned_acceptor)
{
	int t, b;

	ASSERT_EQ(0, plan_direct(self));
	b = writer();
	ASSERT_EQ(0, setns(self->on.ns_t, CLONE_NEWNET));
	t = writer();
	ASSERT_EQ(0, send_record(t, "key", 4));
	ASSERT_EQ(0, setns(self->on.ns_b, CLONE_NEWNET));
	ASSERT_EQ(0, send_record(b, "key", 3));
	while (!accepted_by(self->on.b, ip(NODE_T)))
		usleep(1000);
	ASSERT_EQ(0, device_set_up("db", true));
	ASSERT_EQ(0, device_wait("db"));
	ASSERT_EQ(0, shutdown(b, SHUT_WR));
	ASSERT_EQ(0, shutdown(t, SHUT_WR));
	EXPECT_EQ(7, received(self));
	EXPECT_EQ(0, receive(b, &self->m, 0));
	EXPECT_EQ(0, receive(t, &self->m, 0));
	close(b);
	close(t);
}

TEST_HARNESS_MAIN
