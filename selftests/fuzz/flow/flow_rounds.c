// SPDX-License-Identifier: GPL-2.0
/* Rounds of a persistent tree, rule by rule: what an acceptor and a child do with
 * packets of another round than their own.
 */
#include <linux/skbuff.h>

#include "peer.h"
#include "world.h"

#include "kselftest_harness.h"

#define SEED	0x726f756e
#define FIRST	AGGNET_SEQ_FIRST

/* Sources that have nothing to give: only rounds distinguish their packets. */
static const struct world_conf empty = {
	.lists = true, .payload = AGGNET_PAYLOAD_USUAL, .memory = 8,
	.keys = 64, .rounds = 3,
};

FIXTURE(rounds)
{
	struct aggnet_tree *tree;
	struct peer peer;
	struct peer other;
};

FIXTURE_SETUP(rounds)
{
}

FIXTURE_TEARDOWN(rounds)
{
	world_end();
}

/* --- an acceptor and two children ------------------------------------------- */

/* The receiver's entry, of two sources; both are bound. */
static void two_children(struct peer *one, struct peer *two)
{
	struct aggnet_tree_conf conf = {
		.contributors = 2,
		.sources = 2,
		.persist = true,
		.memory = 1 << 20,
	};
	struct aggnet_tree *tree;

	world_start(&empty, SEED);
	tree = world_entry(RECEIVER, &conf);
	INSIST(!IS_ERR(tree), "the entry is refused");
	*one = peer_as(tree, ACCEPTOR, 0x1234);
	*two = peer_as(tree, WRONG, 0x5678);
	peer_open(one);
	peer_open(two);
}

/* The reader takes the end mark of a round. Return: was it the last? */
static bool ends(struct aggnet_tree *tree, u32 round)
{
	u8 buf[AGGNET_RECORD_MAX];
	struct aggnet_msg msg = { 0 };
	struct aggnet_end end;
	int len;

	do {
		len = aggnet_tree_read(tree, &msg, buf, sizeof(buf), false);
		INSIST(len > 0, "there is no end mark");
		if (msg.type == AGGNET_MSG_RECORDS)
			aggnet_tree_taken(tree, false);
	} while (msg.type != AGGNET_MSG_END);
	memcpy(&end, buf, sizeof(end));
	INSIST(end.round == round, "another round has ended");
	world.packets = 0;
	INSIST(!aggnet_tree_end(tree, round), "the end mark cannot be taken");
	/* Leaving is no abort then. */
	world.ended |= !!end.last << world.node[RECEIVER].attempt;
	return end.last;
}

/* Take packets until one of this type comes. Return: has it come? */
static bool hears(struct peer *p, u8 type, struct aggnet_pkt *pkt)
{
	while (peer_hears(p, pkt))
		if (pkt->type == type)
			return true;
	return false;
}

/* The first round is done: both children are told, and have credit for the next. */
TEST_F(rounds, done__begins_the_next_round)
{
	struct aggnet_pkt pkt = {};
	struct aggnet_tree *tree;
	int i;

	two_children(&self->peer, &self->other);
	tree = self->peer.tree;
	peer_data(&self->peer, FIRST);
	peer_fin(&self->peer, FIRST + 1);
	EXPECT_EQ(1, tree->acceptor.bound);
	peer_fin(&self->other, FIRST);
	EXPECT_EQ(AGGNET_TREE_CLOSING, tree->state);
	EXPECT_FALSE(ends(tree, 0));
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	EXPECT_EQ(1, tree->round);
	EXPECT_EQ(2, tree->acceptor.bound);
	EXPECT_EQ(0, tree->books.weight);
	EXPECT_EQ(0, tree->books.records);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(hears(&self->peer, AGGNET_DONE, &pkt));
		EXPECT_EQ(0, pkt.round);
		EXPECT_FALSE(pkt.flags & AGGNET_F_LAST);
		ASSERT_TRUE(peer_hears(&self->peer, &pkt));
		EXPECT_EQ(AGGNET_ACK, pkt.type);
		EXPECT_EQ(1, pkt.round);
	}
	EXPECT_LT(1, tree->acceptor.credits);
}

/* The end mark of a round that two threads have read is taken once. */
TEST_F(rounds, end_mark__ends_its_own_round)
{
	struct aggnet_tree *tree;

	two_children(&self->peer, &self->other);
	tree = self->peer.tree;
	peer_fin(&self->peer, FIRST);
	peer_fin(&self->other, FIRST);
	ends(tree, 0);
	self->peer.round = 1;
	self->other.round = 1;
	peer_fin(&self->peer, FIRST);
	peer_fin(&self->other, FIRST);
	EXPECT_EQ(AGGNET_TREE_CLOSING, tree->state);
	EXPECT_EQ(0, aggnet_tree_end(tree, 0));
	EXPECT_EQ(AGGNET_TREE_CLOSING, tree->state);
	EXPECT_EQ(1, tree->round);
}

/* It is answered, because the DONE may be lost, and not counted again. */
TEST_F(rounds, fin__of_the_round_before)
{
	struct aggnet_pkt pkt = {};
	struct aggnet_tree *tree;

	two_children(&self->peer, &self->other);
	tree = self->peer.tree;
	peer_fin(&self->other, FIRST);
	peer_fin(&self->peer, FIRST);
	ends(tree, 0);
	world.packets = 0;
	peer_replay(&self->peer);
	EXPECT_EQ(2, tree->acceptor.bound);
	ASSERT_TRUE(peer_hears(&self->peer, &pkt));
	EXPECT_EQ(AGGNET_DONE, pkt.type);
	EXPECT_EQ(0, pkt.round);
	EXPECT_FALSE(pkt.flags & AGGNET_F_LAST);
	EXPECT_EQ(0, world.packets);
}

/* There is no round before the first one. */
TEST_F(rounds, fin__of_the_round_before_the_first)
{
	u64 before;

	two_children(&self->peer, &self->other);
	before = world.node[RECEIVER].stats.value[AGGNET_STAT_drop_round];
	self->peer.round = U32_MAX;
	peer_fin(&self->peer, FIRST);
	EXPECT_EQ(0, world.packets);
	EXPECT_EQ(before + 1, world.node[RECEIVER]
				   .stats.value[AGGNET_STAT_drop_round]);
}

/* An end without sources may have gone back to sleep: the next round is complete
 * without it.
 */
TEST_F(rounds, fin__of_an_end_without_sources)
{
	const struct aggnet_fin fin = { .final = cpu_to_be32(FIRST) };
	struct aggnet_tree *tree;
	struct peer third;

	two_children(&self->peer, &self->other);
	tree = self->peer.tree;
	third = peer_of(tree, 0x0a000063, 0x9abc);
	peer_open(&third);
	EXPECT_EQ(3, tree->acceptor.bound);
	peer_say(&third, AGGNET_FIN, 0, &fin, sizeof(fin));
	peer_fin(&self->peer, FIRST);
	peer_fin(&self->other, FIRST);
	EXPECT_FALSE(ends(tree, 0));
	EXPECT_EQ(2, tree->acceptor.bound);
	self->peer.round = 1;
	self->other.round = 1;
	peer_fin(&self->peer, FIRST);
	peer_fin(&self->other, FIRST);
	EXPECT_FALSE(ends(tree, 1));
	EXPECT_EQ(2, tree->round);
}

/* No round waits for it, so it may ask after several. */
TEST_F(rounds, fin__of_an_earlier_round)
{
	struct aggnet_pkt pkt = {};
	struct aggnet_tree *tree;
	u32 round;

	two_children(&self->peer, &self->other);
	tree = self->peer.tree;
	for (round = 0; round < 3; round++) {
		self->peer.round = round;
		self->other.round = round;
		peer_fin(&self->other, FIRST);
		peer_fin(&self->peer, FIRST);
		ends(tree, round);
	}
	self->peer.round = 0;
	world.packets = 0;
	peer_fin(&self->peer, FIRST);
	EXPECT_EQ(2, tree->acceptor.bound);
	ASSERT_TRUE(peer_hears(&self->peer, &pkt));
	EXPECT_EQ(AGGNET_DONE, pkt.type);
	EXPECT_EQ(2, pkt.round);
}

TEST_F(rounds, data__of_the_round_before)
{
	struct aggnet_tree *tree;
	u64 before;

	two_children(&self->peer, &self->other);
	tree = self->peer.tree;
	peer_fin(&self->other, FIRST);
	peer_data(&self->peer, FIRST);
	peer_fin(&self->peer, FIRST + 1);
	ends(tree, 0);
	world.packets = 0;
	before = world.node[RECEIVER].stats.value[AGGNET_STAT_drop_round];
	peer_data(&self->peer, FIRST);
	peer_data(&self->peer, FIRST + 1);
	EXPECT_EQ(0, world.packets);
	EXPECT_EQ(before + 2, world.node[RECEIVER]
				   .stats.value[AGGNET_STAT_drop_round]);
	EXPECT_EQ(0, tree->store.table.keys);
}

/* No child is ahead of its acceptor. */
TEST_F(rounds, fin__of_the_next_round)
{
	two_children(&self->peer, &self->other);
	self->peer.round = 1;
	peer_fin(&self->peer, FIRST);
	EXPECT_EQ(2, self->peer.tree->acceptor.bound);
	EXPECT_EQ(0, world.packets);
}

TEST_F(rounds, last__is_told_by_one_child_and_to_all)
{
	const struct aggnet_fin fin = {
		.final = cpu_to_be32(FIRST),
		.weight = cpu_to_be32(1),
	};
	struct aggnet_pkt pkt = {};
	struct aggnet_tree *tree;
	int i;

	two_children(&self->peer, &self->other);
	tree = self->peer.tree;
	peer_fin(&self->peer, FIRST);
	peer_say(&self->other, AGGNET_FIN, AGGNET_F_LAST, &fin, sizeof(fin));
	EXPECT_TRUE(ends(tree, 0));
	EXPECT_EQ(AGGNET_TREE_DONE, tree->state);
	for (i = 0; i < 2; i++) {
		ASSERT_TRUE(hears(&self->peer, AGGNET_DONE, &pkt));
		EXPECT_EQ(0, pkt.round);
		EXPECT_TRUE(pkt.flags & AGGNET_F_LAST);
	}
}

/* The child has another plan of this epoch, or the node has. */
TEST_F(rounds, open__of_a_tree_that_is_not_persistent)
{
	two_children(&self->peer, &self->other);
	self->peer.tree->conf.persist = false;
	self->peer.nonce++;
	self->peer.id = htonl(ntohl(self->peer.id) + 100);
	peer_ask(&self->peer, AGGNET_F_ANY);
	self->peer.tree->conf.persist = true;
	EXPECT_EQ(AGGNET_TREE_OPEN, self->peer.tree->state);
	world.packets = 0;
	peer_replay(&self->peer);
	EXPECT_ABORTED(AGGNET_R_FUNCTION, self->peer.tree);
}

/* --- a child and its acceptor ------------------------------------------------- */

/* A source that has ended its part of the first round; its FIN is taken. */
static struct aggnet_tree *waiting(struct peer *p)
{
	struct aggnet_tree *tree = world_begin(&empty, SEED, CHILD);
	struct aggnet_pkt pkt = {};

	*p = peer_acceptor(tree);
	INSIST(hears(p, AGGNET_OPEN, &pkt), "no OPEN");
	peer_accept(p, 1);
	INSIST(hears(p, AGGNET_PROBE, &pkt), "no PROBE");
	peer_ack(p, 0, FIRST, FIRST + 2);
	INSIST(!aggnet_tree_end_round(tree, &world.node[CHILD].writer),
	       "the round does not end");
	INSIST(hears(p, AGGNET_FIN, &pkt) && !pkt.round, "no FIN");
	peer_ack(p, AGGNET_F_FIN, FIRST, FIRST + 2);
	INSIST(tree->state == AGGNET_TREE_WAITING, "the FIN is not taken");
	world.marks[1] = 1;
	return tree;
}

/* Custody of the FIN does not end a round, DONE does. */
TEST_F(rounds, done__ends_a_round_at_its_child)
{
	struct aggnet_tree *tree = waiting(&self->peer);
	struct aggnet_local *writer = &world.node[CHILD].writer;

	EXPECT_EQ(-EAGAIN, aggnet_tree_end_round(tree, writer));
	EXPECT_EQ(0, aggnet_tree_outcome(tree, writer, false));
	peer_done(&self->peer);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	EXPECT_EQ(1, tree->round);
	EXPECT_EQ(1, aggnet_tree_outcome(tree, writer, true));
	EXPECT_EQ(1, aggnet_tree_outcome(tree, writer, false));
	EXPECT_EQ(-ENOMSG, aggnet_tree_outcome(tree, writer, false));
}

/* Credit ends with its round: the acceptor has taken it back. */
TEST_F(rounds, credit__ends_with_its_round)
{
	struct aggnet_tree *tree = waiting(&self->peer);

	EXPECT_EQ(FIRST + 2, tree->up.sender.credit);
	peer_done(&self->peer);
	EXPECT_EQ(FIRST, tree->up.sender.credit);
	peer_ack(&self->peer, 0, FIRST, FIRST + 2);
	EXPECT_EQ(FIRST, tree->up.sender.credit);
	self->peer.round = 1;
	peer_ack(&self->peer, 0, FIRST, FIRST + 1);
	EXPECT_EQ(FIRST + 1, tree->up.sender.credit);
}

/* A copy of it comes when the next round waits for its own. */
TEST_F(rounds, done__of_the_round_before)
{
	struct aggnet_tree *tree = waiting(&self->peer);
	struct aggnet_local *writer = &world.node[CHILD].writer;

	peer_done(&self->peer);
	ASSERT_EQ(0, aggnet_tree_end_round(tree, writer));
	self->peer.round = 1;
	peer_ack(&self->peer, AGGNET_F_FIN, FIRST, FIRST);
	ASSERT_EQ(AGGNET_TREE_WAITING, tree->state);
	self->peer.round = 0;
	peer_done(&self->peer);
	EXPECT_EQ(AGGNET_TREE_WAITING, tree->state);
	EXPECT_EQ(1, tree->round);
	self->peer.round = 1;
	peer_done(&self->peer);
	EXPECT_EQ(2, tree->round);
}

/* An end with sources is waited for: it has missed no round. */
TEST_F(rounds, done__of_a_later_round)
{
	struct aggnet_tree *tree = waiting(&self->peer);

	self->peer.round = 2;
	peer_done(&self->peer);
	EXPECT_EQ(0, tree->round);
	EXPECT_EQ(AGGNET_TREE_WAITING, tree->state);
	tree->conf.writers = 0;
	peer_done(&self->peer);
	EXPECT_EQ(3, tree->round);
}

/* The same, told by the round that the acceptor is in. */
TEST_F(rounds, ack__of_a_later_round)
{
	struct aggnet_tree *tree = waiting(&self->peer);

	tree->conf.writers = 0;
	self->peer.round = 3;
	peer_ack(&self->peer, 0, FIRST, FIRST + 3);
	EXPECT_EQ(3, tree->round);
	EXPECT_EQ(FIRST + 3, tree->up.sender.credit);
}

/* The acceptor is in the next round, so DONE was lost. */
TEST_F(rounds, ack__of_the_next_round_implies_done)
{
	struct aggnet_tree *tree = waiting(&self->peer);

	self->peer.round = 1;
	peer_ack(&self->peer, 0, FIRST, FIRST + 3);
	EXPECT_EQ(1, tree->round);
	EXPECT_EQ(FIRST + 3, tree->up.sender.credit);
}

TEST_F(rounds, abort__of_the_next_round_implies_done)
{
	const struct aggnet_abort abort = {
		.reason = cpu_to_be32(AGGNET_R_RECEIVER),
	};
	struct aggnet_tree *tree = waiting(&self->peer);
	struct aggnet_local *writer = &world.node[CHILD].writer;

	self->peer.round = 1;
	peer_say(&self->peer, AGGNET_ABORT, 0, &abort, sizeof(abort));
	EXPECT_ABORTED(AGGNET_R_RECEIVER, tree);
	EXPECT_EQ(1, aggnet_tree_outcome(tree, writer, false));
	EXPECT_EQ(-EPIPE, aggnet_tree_outcome(tree, writer, false));
	world.harm = true;
}

/* A FIN that was not sent was not counted: the round is not done. */
TEST_F(rounds, abort__of_the_next_round_before_a_fin)
{
	const struct aggnet_abort abort = {
		.reason = cpu_to_be32(AGGNET_R_RECEIVER),
	};
	struct aggnet_tree *tree = world_begin(&empty, SEED, CHILD);
	struct aggnet_local *writer = &world.node[CHILD].writer;
	struct aggnet_pkt pkt = {};

	self->peer = peer_acceptor(tree);
	ASSERT_TRUE(hears(&self->peer, AGGNET_OPEN, &pkt));
	peer_accept(&self->peer, 1);
	ASSERT_TRUE(hears(&self->peer, AGGNET_PROBE, &pkt));
	ASSERT_EQ(0, aggnet_tree_end_round(tree, writer));
	self->peer.round = 1;
	peer_say(&self->peer, AGGNET_ABORT, 0, &abort, sizeof(abort));
	EXPECT_ABORTED(AGGNET_R_RECEIVER, tree);
	EXPECT_EQ(-EPIPE, aggnet_tree_outcome(tree, writer, false));
	world.harm = true;
}

/* The acceptor, in the next round, answers the ABORT of a child that missed it. */
TEST_F(rounds, abort__is_answered_in_any_round)
{
	const struct aggnet_abort abort = {
		.reason = cpu_to_be32(AGGNET_R_USER),
	};
	struct aggnet_tree *tree = waiting(&self->peer);

	aggnet_tree_abort_user(tree, AGGNET_R_USER);
	self->peer.round = 1;
	peer_say(&self->peer, AGGNET_ABORT, AGGNET_F_REPLY, &abort,
		 sizeof(abort));
	EXPECT_TRUE(tree->up.told);
	world.harm = true;
}

/* Nothing before this node's own FIN can have been counted. */
TEST_F(rounds, ack__of_the_next_round_is_early)
{
	struct aggnet_tree *tree = waiting(&self->peer);

	peer_done(&self->peer);
	self->peer.round = 2;
	peer_ack(&self->peer, 0, FIRST, FIRST + 3);
	EXPECT_EQ(1, tree->round);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
}

static u32 fell_back(const struct aggnet_pkt *pkt)
{
	const struct aggnet_fin *fin = (const void *)pkt->body;

	return be32_to_cpu(fin->by_plain_ip[AGGNET_FALLBACK_LINK - 1]);
}

/* The FIN of a round has the packets by plain IP that no FIN before it has told. */
TEST_F(rounds, fin__tells_fallbacks_once)
{
	struct aggnet_tree *tree = waiting(&self->peer);
	struct aggnet_local *writer = &world.node[CHILD].writer;
	struct aggnet_pkt pkt = {};

	aggnet_tree_fell_back(tree, AGGNET_FALLBACK_LINK);
	aggnet_tree_fell_back(tree, AGGNET_FALLBACK_LINK);
	peer_done(&self->peer);
	EXPECT_EQ(1, aggnet_tree_outcome(tree, writer, true));
	self->peer.round = 1;
	EXPECT_EQ(0, aggnet_tree_end_round(tree, writer));
	ASSERT_TRUE(hears(&self->peer, AGGNET_FIN, &pkt));
	EXPECT_EQ(1, pkt.round);
	EXPECT_EQ(2, fell_back(&pkt));
	/* A repeat has the same number: the acceptor may have taken the first one. */
	aggnet_tree_fell_back(tree, AGGNET_FALLBACK_LINK);
	tree->below[AGGNET_FALLBACK_LINK] += 3;
	world_wait(3000000);
	ASSERT_TRUE(hears(&self->peer, AGGNET_FIN, &pkt));
	EXPECT_EQ(2, fell_back(&pkt));
	peer_ack(&self->peer, AGGNET_F_FIN, FIRST, FIRST + 2);
	peer_done(&self->peer);
	EXPECT_EQ(1, aggnet_tree_outcome(tree, writer, true));
	self->peer.round = 2;
	EXPECT_EQ(0, aggnet_tree_end_round(tree, writer));
	ASSERT_TRUE(hears(&self->peer, AGGNET_FIN, &pkt));
	EXPECT_EQ(2, pkt.round);
	EXPECT_EQ(4, fell_back(&pkt));
}

/* What a writer ends for ever between two rounds ends in the next one. */
TEST_F(rounds, shutdown__between_two_rounds)
{
	struct aggnet_tree *tree = waiting(&self->peer);
	struct aggnet_pkt pkt = {};

	EXPECT_EQ(0, aggnet_tree_shutdown(tree, &world.node[CHILD].writer));
	world.packets = 0;
	peer_done(&self->peer);
	ASSERT_TRUE(hears(&self->peer, AGGNET_FIN, &pkt));
	EXPECT_EQ(1, pkt.round);
	EXPECT_TRUE(pkt.flags & AGGNET_F_LAST);
}

/* The process ends at once: nothing remains that could end the next round. */
TEST_F(rounds, shutdown__between_two_rounds_by_a_writer_that_leaves)
{
	struct aggnet_tree *tree = waiting(&self->peer);
	struct node *child = &world.node[CHILD];
	struct aggnet_pkt pkt = {};

	EXPECT_EQ(0, aggnet_tree_shutdown(tree, &child->writer));
	aggnet_tree_leave(tree, &child->writer);
	child->writer.list.next = NULL;
	world.packets = 0;
	peer_done(&self->peer);
	ASSERT_TRUE(hears(&self->peer, AGGNET_FIN, &pkt));
	EXPECT_EQ(1, pkt.round);
	EXPECT_TRUE(pkt.flags & AGGNET_F_LAST);
	aggnet_tree_put(tree);
}

TEST_HARNESS_MAIN
