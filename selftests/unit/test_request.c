// SPDX-License-Identifier: GPL-2.0
/* Unit tests of libaggnet's requests: a request is as long as its lists, and is
 * refused if they are longer than allowed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <string.h>

#include "../../tools/libaggnet/spec_gen.c"
#include "../../tools/libaggnet/field.c"
#include "../../tools/libaggnet/ctl.c"
#include "../../tools/libaggnet/request.c"
#define fields plan_fields
#include "../../tools/libaggnet/plan.c"
#undef fields
#include "../../tools/libaggnet/tree.c"

#include <kselftest_harness.h>

static struct in_addr addr[AGGNET_ADDRS_MAX + 1];

FIXTURE(request) {
	struct aggnet_ctl ctl;
	struct aggnet_tree_info tree;
};

FIXTURE_SETUP(request)
{
	self->ctl = (struct aggnet_ctl){ .family = 42 };
	self->tree = (struct aggnet_tree_info){
		.has = AGGNET_HAS(AGGNET_A_TREE_INCAST_ID), .incast_id = 7,
	};
}

FIXTURE_TEARDOWN(request)
{
}

static struct nl_msg *tree_add(struct aggnet_ctl *ctl,
			       const struct aggnet_tree_info *tree)
{
	return aggnet_ctl_msg(ctl, AGGNET_CMD_TREE_ADD, 0, &aggnet_noun_tree,
			      tree);
}

/* Two lists of the greatest length fit one request. */
TEST_F(request, lists__two_long_ones)
{
	struct aggnet_tree_info *tree = &self->tree, back;
	struct genlmsghdr *g;
	struct nl_msg *msg;
	size_t i;

	for (i = 0; i < AGGNET_ADDRS_MAX; i++)
		addr[i].s_addr = htonl(0x0a000000 + i);
	tree->has |= AGGNET_HAS(AGGNET_A_TREE_CHILDREN) |
		     AGGNET_HAS(AGGNET_A_TREE_ABSENT);
	tree->children = (struct aggnet_addrs){ addr, AGGNET_ADDRS_MAX };
	tree->absent = (struct aggnet_addrs){ addr, AGGNET_ADDRS_MAX };
	msg = tree_add(&self->ctl, tree);
	ASSERT_NE(NULL, msg);
	g = nlmsg_data(nlmsg_hdr(msg));
	ASSERT_EQ(0, aggnet_field_take_all(&aggnet_noun_tree,
					   genlmsg_attrdata(g, 0),
					   genlmsg_attrlen(g, 0), &back));
	EXPECT_EQ(tree->has, back.has);
	EXPECT_EQ(7, back.incast_id);
	ASSERT_EQ(AGGNET_ADDRS_MAX, back.children.n);
	ASSERT_EQ(AGGNET_ADDRS_MAX, back.absent.n);
	EXPECT_EQ(0, memcmp(addr, back.children.addr,
			    AGGNET_ADDRS_MAX * sizeof(*addr)));
	EXPECT_EQ(0, memcmp(addr, back.absent.addr,
			    AGGNET_ADDRS_MAX * sizeof(*addr)));
	aggnet_field_clear(&aggnet_noun_tree, &back);
	nlmsg_free(msg);
}

/* Nothing is sent, and no byte behind the list is read. */
TEST_F(request, lists__too_long)
{
	struct aggnet_tree_info *tree = &self->tree;

	tree->has |= AGGNET_HAS(AGGNET_A_TREE_FILTER);
	tree->filter.n = sizeof(tree->filter.byte) + 1;
	EXPECT_EQ(-EMSGSIZE, aggnet_tree_add(&self->ctl, tree, false));
	EXPECT_STREQ("filter: more than 128 bytes",
		     aggnet_ctl_error(&self->ctl));
	tree->filter.n = 0;
	tree->has |= AGGNET_HAS(AGGNET_A_TREE_ABSENT);
	tree->absent = (struct aggnet_addrs){ addr, AGGNET_ADDRS_MAX + 1 };
	EXPECT_EQ(-EMSGSIZE, aggnet_tree_add(&self->ctl, tree, false));
	EXPECT_STREQ("absent: more than 16382 addresses",
		     aggnet_ctl_error(&self->ctl));
}

TEST_HARNESS_MAIN
