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

/* --- many children ----------------------------------------------------------- */

#define MANY	5000	/* slots for three times as many, and more */
#define SILENT	1234	/* the first of those of whom each is silent in turn */
#define TURNS	4

/* A receiver of as many sources, each of which binds there. */
static struct aggnet_tree *begin_many(void)
{
	struct node *node = &world.node[RECEIVER];
	struct aggnet_tree_conf conf = {
		.incast_id = ntohl(node->an.identity),
		.contributors = MANY,
		.sources = MANY,
		.give_up_ms = WORLD_GIVE_UP,
		.memory = 256 << 20,
	};

	node->tree = aggnet_tree_create(&node->an, &conf, NULL);
	INSIST(!IS_ERR(node->tree), "the entry is refused");
	INSIST(!aggnet_tree_join_reader(node->tree, &node->reader),
	       "the reader cannot join");
	aggnet_tree_get(node->tree);
	node->joined = true;
	return node->tree;
}

/* All come, and all but one say their end. */
static void one_of_many(struct aggnet_tree *tree, u32 silent)
{
	u32 i;

	for (i = 0; i < MANY; i++) {
		struct peer p = {
			.tree = tree, .nonce = 1 + i,
			.id = htonl(0x0b000000 + i),
		};

		peer_open(&p);
		if (i != silent)
			peer_fin(&p, FIRST);
	}
}

/* A quarter of it is left for an ABORT and its way. */
TEST_F(rules, give_up__is_kept_of_many)
{
	u32 turn;

	for (turn = 0; turn < TURNS; turn++) {
		struct aggnet_tree *tree;
		u64 us = 0, next;

		world_start(&keyed, SEED + turn);
		tree = begin_many();
		one_of_many(tree, SILENT + turn);
		while (tree->state == AGGNET_TREE_OPEN &&
		       world_next_timer(&next)) {
			world_wait(next);
			us += next;
		}
		EXPECT_EQ(AGGNET_TREE_ABORTED, tree->state);
		EXPECT_EQ(AGGNET_R_TIMEOUT, tree->reason);
		EXPECT_EQ(htonl(0x0b000000 + SILENT + turn), tree->about);
		EXPECT_LE(WORLD_GIVE_UP * 1000ull, us);
		EXPECT_GE(WORLD_GIVE_UP * 1750ull, us);
		if (turn < TURNS - 1)
			world_end();
	}
}

TEST_HARNESS_MAIN
