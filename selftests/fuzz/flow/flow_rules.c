// SPDX-License-Identifier: GPL-2.0
/* Rules of a channel, one by one, with one node of the world and a peer whose
 * every packet the test makes.
 */
#include <linux/skbuff.h>

#include "peer.h"
#include "world.h"

#include "kselftest_harness.h"

#define SEED	0x72756c65
#define FIRST	AGGNET_SEQ_FIRST

static const struct world_conf keyed = {
	.lists = true, .payload = AGGNET_PAYLOAD_USUAL, .memory = 8,
	.records = 64, .keys = 64,
};

static const struct world_conf sorted = {
	.lists = true, .payload = AGGNET_PAYLOAD_USUAL, .memory = 8,
	.records = 64, .keys = 64, .sorted = true,
};

FIXTURE(rules)
{
	struct aggnet_tree *tree;
	struct peer peer;
};

FIXTURE_SETUP(rules)
{
	self->peer = (struct peer){ .nonce = 0x1234 };
}

FIXTURE_TEARDOWN(rules)
{
	world_end();
}

static struct aggnet_tree *begin(const struct world_conf *conf, u32 node)
{
	world_start(conf, SEED);
	world_add(node);
	return world.node[node].tree;
}

/* --- an acceptor and its child ---------------------------------------------- */

/* A child of the receiver that begins in the right way. */
static void accepted(struct aggnet_tree *tree, struct peer *p)
{
	p->tree = tree;
	p->id = world.node[ACCEPTOR].an.identity;
	peer_open(p);
}

static void check_hole(struct __test_metadata *_metadata,
		       const struct world_conf *conf, struct peer *p)
{
	struct aggnet_tree *tree = begin(conf, RECEIVER);

	accepted(tree, p);
	peer_data(p, FIRST);
	peer_data(p, FIRST + 2);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	peer_fin(p, FIRST + 1);
	EXPECT_EQ(AGGNET_TREE_ABORTED, tree->state);
	EXPECT_EQ(AGGNET_R_PROTOCOL, tree->reason);
	EXPECT_EQ(p->id, tree->about);
	peer_data(p, FIRST + 1);
	EXPECT_EQ(2, tree->packets_in);
}

TEST_F(rules, fin__ends_before_what_was_merged)
{
	check_hole(_metadata, &keyed, &self->peer);
}

TEST_F(rules, fin__ends_before_what_was_merged_in_order)
{
	check_hole(_metadata, &sorted, &self->peer);
}

/* Whatever order a network makes of it. */
TEST_F(rules, fin__waits_for_what_was_not_merged)
{
	struct aggnet_tree *tree = begin(&keyed, RECEIVER);
	u32 credits = tree->credits;
	u32 seq;

	accepted(tree, &self->peer);
	for (seq = FIRST + 2; seq >= FIRST; seq--) {
		peer_fin(&self->peer, FIRST + 3);
		EXPECT_EQ(1, tree->bound);
		peer_data(&self->peer, seq);
	}
	peer_fin(&self->peer, FIRST + 3);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	EXPECT_EQ(0, tree->bound);
	EXPECT_EQ(credits, tree->credits);
	peer_fin(&self->peer, FIRST + 3);
	peer_data(&self->peer, FIRST + 1);
	peer_data(&self->peer, FIRST + 3);
	EXPECT_EQ(3, tree->packets_in);
	EXPECT_EQ(1, tree->weight);
	EXPECT_EQ(credits, tree->credits);
}

TEST_HARNESS_MAIN
