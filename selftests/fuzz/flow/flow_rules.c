// SPDX-License-Identifier: GPL-2.0
/* Rules of a channel, one by one, with one node of the simulated network and a
 * peer whose packets the test makes.
 */
#include <linux/skbuff.h>

#include "flow/growth.h"
#include "peer.h"
#include "world.h"

#include "kselftest_harness.h"

#define SEED	0x72756c65
#define FIRST	AGGNET_SEQ_FIRST

static const struct world_conf keyed = {
	.lists = true, WORLD_USUAL,
};

static const struct world_conf sorted = {
	.lists = true, .sorted = true, WORLD_USUAL,
};

/* The least memory of an entry, and no list of children. */
static const struct world_conf tight = {
	.chain = true, .acceptor_writes = true,
	.payload = AGGNET_PAYLOAD_USUAL, .memory = 1,
	.records = 512, .keys = 512,
};

/* Memory for more than one credit of each child. */
static const struct world_conf roomy = {
	.chain = true, .acceptor_writes = true,
	.function = AGGNET_FN_SUM, .vtype = AGGNET_VTYPE_FLOAT64,
	.payload = AGGNET_PAYLOAD_USUAL, .memory = 2,
	.records = 512, .keys = 512,
};

static const struct world_conf chain = {
	.chain = true, .lists = true, .sorted = true, WORLD_USUAL,
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
	return world_begin(conf, SEED, node);
}

/* --- an acceptor and its child ---------------------------------------------- */

/* Bind a child to the receiver in the regular way. */
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
	EXPECT_ABORTED(AGGNET_R_PROTOCOL, tree);
	EXPECT_EQ(p->id, tree->outcome.about);
	peer_data(p, FIRST + 1);
	EXPECT_EQ(2, tree->count.packets_in);
}

TEST_F(rules, fin__ends_before_what_was_merged)
{
	check_hole(_metadata, &keyed, &self->peer);
}

TEST_F(rules, fin__ends_before_what_was_merged_in_order)
{
	check_hole(_metadata, &sorted, &self->peer);
}

/* The packets may arrive in any order. */
TEST_F(rules, fin__waits_for_what_was_not_merged)
{
	struct aggnet_tree *tree = begin(&keyed, RECEIVER);
	u32 credits = tree->acceptor.credits;
	u32 seq;

	accepted(tree, &self->peer);
	for (seq = FIRST + 2; seq >= FIRST; seq--) {
		peer_fin(&self->peer, FIRST + 3);
		EXPECT_EQ(1, tree->acceptor.bound);
		peer_data(&self->peer, seq);
	}
	peer_fin(&self->peer, FIRST + 3);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	EXPECT_EQ(0, tree->acceptor.bound);
	EXPECT_EQ(credits, tree->acceptor.credits);
	peer_fin(&self->peer, FIRST + 3);
	peer_data(&self->peer, FIRST + 1);
	peer_data(&self->peer, FIRST + 3);
	EXPECT_EQ(3, tree->count.packets_in);
	EXPECT_EQ(1, tree->books.weight);
	EXPECT_EQ(credits, tree->acceptor.credits);
}

/* A copy of a child's packet may be replayed any number of times. */
TEST_F(rules, replay__of_a_child_is_no_sign_of_life)
{
	struct aggnet_tree *tree = begin(&keyed, RECEIVER);
	u64 us = 0, next;

	accepted(tree, &self->peer);
	peer_data(&self->peer, FIRST);
	while (tree->state == AGGNET_TREE_OPEN && world_next_timer(&next)) {
		world_wait(next);
		peer_replay(&self->peer);
		us += next;
		ASSERT_GE(2 * WORLD_GIVE_UP * 1000ull, us);
	}
	EXPECT_EQ(AGGNET_R_TIMEOUT, tree->outcome.reason);
	EXPECT_EQ(self->peer.id, tree->outcome.about);
	EXPECT_EQ(1, tree->count.packets_in);
}

/*
 * --- captured packets that are replayed
 * -----------------------------------------
 */

#define SECOND		1000000u	/* us */
#define CAPTURED	(3 * WORLD_GIVE_UP / 1000)	/* packets, one a second */

/*
 * Send a packet that shows that the peer is alive, with the time of its clock.
 */
typedef void (*lives_fn)(struct peer *p);

/*
 * The peer sends one each second; its clock is ahead of the node's by @ahead.
 */
static void lives(struct peer *p, lives_fn says, u32 seconds, u32 ahead)
{
	while (seconds--) {
		world_wait(SECOND);
		world.packets = 0;
		p->stamp = world.us + ahead;
		says(p);
	}
}

/*
 * Packets captured at the start are replayed after @minutes: they neither delay
 * a peer that lives nor keep one alive that does not.
 */
static void check_captured(struct __test_metadata *_metadata, struct peer *p,
			   lives_fn says, u32 minutes)
{
	static struct peer captured[CAPTURED];
	u8 state = p->tree->state;
	u32 i;

	for (i = 0; i < CAPTURED; i++) {
		lives(p, says, 1, 0);
		captured[i] = *p;
	}
	lives(p, says, 60 * minutes - CAPTURED, 0);
	peer_replay(&captured[0]);
	lives(p, says, 3 * WORLD_GIVE_UP / 1000, 0);
	EXPECT_EQ(state, p->tree->state);
	for (i = 1; i < CAPTURED; i++) {
		world_wait(SECOND);
		world.packets = 0;
		peer_replay(&captured[i]);
	}
	EXPECT_ABORTED(AGGNET_R_TIMEOUT, p->tree);
	EXPECT_EQ(p->id, p->tree->outcome.about);
}

/* Half of the range of a stamp, three quarters, nearly all of it, and more. */
static const u32 captured_minutes[] = { 36, 54, 70, 72 };

static void child_lives(struct peer *p)
{
	peer_say(p, AGGNET_PROBE, 0, NULL, 0);
}

TEST_F(rules, captured__packet_of_a_child_stays_old)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(captured_minutes); i++) {
		self->peer = (struct peer){ .nonce = 0x1234 };
		begin(&keyed, RECEIVER);
		self->peer.stamp = world.us;
		accepted(world.node[RECEIVER].tree, &self->peer);
		check_captured(_metadata, &self->peer, child_lives,
			       captured_minutes[i]);
		if (i + 1 < ARRAY_SIZE(captured_minutes))
			world_end();
	}
}

/*
 * The node's clock stood still for less than give_up, and the child's did not.
 */
TEST_F(rules, slept__acceptor_goes_on)
{
	struct aggnet_tree *tree = begin(&keyed, RECEIVER);
	u32 ahead = WORLD_GIVE_UP * 900;

	self->peer.stamp = world.us;
	accepted(tree, &self->peer);
	lives(&self->peer, child_lives, 2, 0);
	lives(&self->peer, child_lives, 60, ahead);
	/* And vice versa: the child's clock stood still. */
	lives(&self->peer, child_lives, 60, 2 * ahead);
	world_wait(WORLD_GIVE_UP * 900);
	lives(&self->peer, child_lives, 60, ahead);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
}

/* --- a child that finds no room ------------------------------------------------ */

/* The planned child is bound, and own records leave no room for another. */
static struct aggnet_tree *crowded(struct peer *planned)
{
	struct aggnet_tree *tree = begin(&tight, RECEIVER);

	accepted(tree, planned);
	while (tree->store.ops->fits(tree, NULL))
		world_write(RECEIVER, 1);
	INSIST(tree->store.ops->fits(tree, tree->acceptor.child),
	       "too much is written");
	return tree;
}

/* The receiver's writer was refused, and growth was requested. */
static struct aggnet_tree *refused(struct peer *planned)
{
	struct aggnet_tree *tree = crowded(planned);
	u32 i;

	tree->conf.memory *= 2;
	world_wait(100000);	/* the first check */
	for (i = 0; world_poll(RECEIVER); i++) {
		INSIST(i < tight.records, "nothing is refused");
		world_write(RECEIVER, 1);
	}
	world.wakes = 0;
	return tree;
}

/* The entry may grow, but the node has no more memory. */
TEST_F(rules, open__makes_room_at_the_limit_of_the_node)
{
	struct peer stranger;
	struct aggnet_tree *tree = crowded(&self->peer);

	tree->conf.memory *= 2;
	world.full = true;
	EXPECT_FALSE(tree->pressure);
	stranger = peer_as(tree, OTHER, 0x5678);
	peer_ask(&stranger, AGGNET_F_ANY);
	world_work();
	EXPECT_TRUE(tree->pressure);
	world_read(100);
	peer_open(&stranger);
	EXPECT_EQ(2, tree->acceptor.bound);
}

/* A child does not wait for growth while growth waits for memory. */
TEST_F(rules, growth__is_not_relied_on_for_long)
{
	struct aggnet_tree *tree = refused(&self->peer);
	u32 i;

	EXPECT_FALSE(tree->pressure);
	for (i = 0; i < WORLD_GIVE_UP / 400; i++)
		world_wait(100000);
	EXPECT_TRUE(tree->pressure);
	EXPECT_LT(0, world.wakes);
	world_read(100);
	EXPECT_TRUE(world_poll(RECEIVER));
}

TEST_F(rules, growth__that_waits_for_memory_is_looked_at_soon)
{
	struct aggnet_tree *tree = refused(&self->peer);

	world_wait(30000);
	EXPECT_TRUE(tree->pressure);
	EXPECT_LT(0, world.wakes);
}

static void wants_room(struct aggnet_tree *tree)
{
	struct aggnet_run run;

	aggnet_run_begin(tree, &run);
	aggnet_growth_ask(tree);
	aggnet_run_end(tree, &run);
}

/* A step of growth waits for memory when growth is requested again. */
TEST_F(rules, growth__that_is_asked_for_again_is_looked_at_soon)
{
	struct aggnet_tree *tree = refused(&self->peer);
	u32 ms;

	list_del_init(&tree->grow.list);	/* as at the start of a step */
	world_wait(10000);
	wants_room(tree);
	for (ms = 0; ms < 40; ms++)
		world_wait(1000);
	EXPECT_TRUE(tree->pressure);
	EXPECT_LT(0, world.wakes);
	aggnet_tree_put(tree);
}

/* A part of the growth is done, and the rest waits for memory. */
TEST_F(rules, growth__in_part_wakes_a_writer)
{
	struct aggnet_tree *tree = refused(&self->peer);

	/*
	 * Act as if chunks had been added: a packet needs fewer of the free
	 * ones.
	 */
	tree->packet.chunks /= 2;
	ASSERT_TRUE(tree->store.ops->fits(tree, tree->acceptor.child));
	world_wait(30000);
	EXPECT_LT(0, world.wakes);
	EXPECT_FALSE(tree->pressure);
}

/* Another entry of the same node, which may grow. */
static struct aggnet_tree *sibling(const struct aggnet_tree *tree)
{
	struct aggnet_tree_conf conf = tree->conf;

	conf.incast_id += 1ull << 32;
	conf.memory *= 4;
	conf.children = NULL;
	conf.nchildren = 0;
	tree = aggnet_tree_create(tree->an, &conf, NULL);
	INSIST(!IS_ERR(tree), "the entry is refused");
	return (struct aggnet_tree *)tree;
}

/* A node whose growth waits for memory must not delay other nodes' growth. */
TEST_F(rules, growth__of_a_node_takes_turns)
{
	const struct aggnet_tree *tree = begin(&tight, RECEIVER);
	struct aggnet_tree *s[3];
	u32 chunks, i, turn;

	for (i = 0; i < ARRAY_SIZE(s); i++)
		s[i] = sibling(tree);
	chunks = s[0]->store.table.chunks;
	for (i = 0; i < ARRAY_SIZE(s); i++)
		wants_room(s[i]);
	wants_room(s[0]);
	/* The entry is withdrawn while it waits for its turn. */
	aggnet_tree_kill(s[1], AGGNET_R_WITHDRAWN);
	for (turn = 0; turn < ARRAY_SIZE(s); turn += 2) {
		world_work_once();
		for (i = 0; i < ARRAY_SIZE(s); i += 2)
			EXPECT_EQ(i <= turn, s[i]->store.table.chunks > chunks);
	}
	for (i = 0; i < ARRAY_SIZE(s); i += 2)
		aggnet_tree_kill(s[i], AGGNET_R_WITHDRAWN);
}

/* The receiver frees memory for a child that has no other end to bind to. */
TEST_F(rules, open__makes_room_at_the_receiver)
{
	struct peer stranger;
	struct aggnet_tree *tree = crowded(&self->peer);

	stranger = peer_as(tree, OTHER, 0x5678);
	peer_ask(&stranger, AGGNET_F_ANY);
	EXPECT_EQ(0, world.packets);
	EXPECT_TRUE(tree->pressure);
	world_read(100);
	peer_open(&stranger);
	EXPECT_EQ(2, tree->acceptor.bound);
}

/* Its next OPENs may come too late: without a list any child is meant at once. */
TEST_F(rules, open__makes_room_without_a_list_of_children)
{
	struct peer stranger;
	struct aggnet_tree *tree = crowded(&self->peer);

	stranger = peer_as(tree, OTHER, 0x5678);
	peer_ask(&stranger, 0);
	EXPECT_EQ(0, world.packets);
	EXPECT_TRUE(tree->pressure);
	world_read(100);
	peer_open(&stranger);
	EXPECT_EQ(2, tree->acceptor.bound);
}

/* The planned child was bound with the last credit. */
static struct aggnet_tree *full(struct peer *planned, struct peer *stranger)
{
	struct aggnet_tree *tree = begin(&roomy, RECEIVER);
	u32 n;

	tree->conf.memory = tree->store.table.chunks * AGGNET_CHUNK;
	for (n = 0; tree->store.ops->fits(tree, NULL); n++) {
		INSIST(n < roomy.records, "the table does not get full");
		world_write(RECEIVER, 1);
	}
	accepted(tree, planned);
	*stranger = peer_as(tree, OTHER, 0x5678);
	return tree;
}

/*
 * A sibling that only sends signs of life does not get the room kept for a
 * child.
 */
TEST_F(rules, room__is_kept_for_a_child_that_was_refused)
{
	struct peer stranger;
	struct aggnet_tree *tree = full(&self->peer, &stranger);
	u32 reads;

	peer_ask(&stranger, AGGNET_F_ANY);
	EXPECT_EQ(0, world.packets);
	for (reads = 0; !tree->store.ops->fits(tree, NULL); reads++) {
		ASSERT_GT(100, reads);
		world_read(1);
	}
	child_lives(&self->peer);
	peer_open(&stranger);
	EXPECT_EQ(2, tree->acceptor.bound);
}

/* The room is not kept for ever: the child may have bound elsewhere. */
TEST_F(rules, room__is_not_kept_for_a_child_that_asks_no_more)
{
	struct peer stranger;
	struct aggnet_tree *tree = full(&self->peer, &stranger);

	peer_ask(&stranger, AGGNET_F_ANY);
	world_read(100);
	EXPECT_TRUE(aggnet_acceptor_refuses(tree));
	lives(&self->peer, child_lives, 4, 0);
	EXPECT_FALSE(aggnet_acceptor_refuses(tree));
}

/* The child was accepted when there was room; now there is none. */
static struct aggnet_tree *filled(struct peer *planned, struct peer *stranger)
{
	struct aggnet_tree *tree = begin(&tight, RECEIVER);
	struct aggnet_pkt pkt;

	accepted(tree, planned);
	*stranger = peer_as(tree, OTHER, 0x5678);
	peer_ask(stranger, AGGNET_F_ANY);
	INSIST(peer_hears(stranger, &pkt) && pkt.type == AGGNET_ACCEPT,
	       "the peer is not accepted");
	stranger->node_nonce = pkt.src_nonce;
	while (tree->store.ops->fits(tree, NULL))
		world_write(RECEIVER, 1);
	return tree;
}

/* There was room at the OPEN, and there is none at the PROBE: make room. */
TEST_F(rules, probe__makes_room)
{
	struct peer stranger;
	struct aggnet_tree *tree = filled(&self->peer, &stranger);

	peer_say(&stranger, AGGNET_PROBE, 0, NULL, 0);
	EXPECT_EQ(1, tree->acceptor.bound);
	EXPECT_TRUE(tree->pressure);
}

/* A FIN without a PROBE does not make room. */
TEST_F(rules, fin__makes_no_room)
{
	struct peer stranger;
	struct aggnet_tree *tree = filled(&self->peer, &stranger);
	struct aggnet_fin empty = { .final = cpu_to_be32(FIRST) };

	peer_say(&stranger, AGGNET_FIN, 0, &empty, sizeof(empty));
	EXPECT_EQ(1, tree->acceptor.bound);
	EXPECT_FALSE(tree->pressure);
}

/*
 * Idle credits claim all free memory, so there is no room even when the reader
 * has read everything. A refused writer makes it read again.
 */
TEST_F(rules, pressure__ends_with_the_last_record)
{
	struct aggnet_tree *tree = begin(&tight, RECEIVER);
	struct peer other[2];
	u32 i, turn;

	accepted(tree, &self->peer);
	for (i = 0; i < ARRAY_SIZE(other); i++) {
		other[i] = peer_as(tree, CHILD + i, 0x5678 + i);
		peer_ask(&other[i], AGGNET_F_ANY);
		peer_bind(&other[i]);
	}
	for (turn = 0; turn < 2; turn++) {
		ASSERT_EQ(0, aggnet_tree_keys(tree));
		ASSERT_FALSE(tree->store.ops->fits(tree, NULL));
		EXPECT_FALSE(tree->pressure);
		world.wakes = 0;
		for (i = 0; i < WORLD_KEYS / 4; i++)
			world_write(RECEIVER, 1);
		EXPECT_TRUE(tree->pressure);
		EXPECT_LT(0, world.wakes);
		world_read(100);
	}
}

/*
 * Below the chain's receiver are an end that is a source, one that is not, and
 * two sources. All bypass their planned ends; the end that is not a source has
 * no records and ends first.
 */
TEST_F(rules, runs__are_there_for_all_that_miss_their_end)
{
	struct aggnet_tree *tree = begin(&chain, RECEIVER);
	static const u8 order[] = { ACCEPTOR, CHILD, OTHER, WRONG };
	struct aggnet_fin empty = { .final = cpu_to_be32(FIRST) };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		struct peer p = peer_as(tree, order[i], 0x1234 + i);
		struct aggnet_pkt pkt;

		peer_ask(&p, AGGNET_F_ANY);
		ASSERT_TRUE(peer_hears(&p, &pkt));
		p.node_nonce = pkt.src_nonce;
		peer_say(&p, AGGNET_PROBE, 0, NULL, 0);
		EXPECT_EQ(i + 1, tree->acceptor.bound_total);
		if (order[i] == ACCEPTOR)
			peer_say(&p, AGGNET_FIN, 0, &empty, sizeof(empty));
	}
}

/* --- a child and its acceptor ------------------------------------------------ */

#define PATIENCE	10000000u	/* us without credit */
#define TIMERS		10000		/* more than may fire in that time */
#define SHORT_GIVE_UP	400		/* ms; the acceptor answers */

/* The acceptor sends an ACK of all that was sent, with this credit. */
static void acked(struct peer *p, u16 flags, u32 credit)
{
	peer_ack(p, flags, p->tree->up.sender.nxt, credit);
}

/* Answer all packets under way. Return: how many had this type */
static u32 answered(struct peer *p, u8 type, u16 flags, u32 credit)
{
	struct aggnet_pkt pkt;
	u32 n = 0;

	while (peer_hears(p, &pkt)) {
		n += pkt.type == type;
		acked(p, flags, credit);
	}
	return n;
}

/* The same for PATIENCE; each packet is answered at once. */
static u32 asked(struct peer *p, u8 type, u16 flags, u32 credit)
{
	u64 us = 0, next = 0;
	u32 n = 0, timers = 0;

	for (; us < PATIENCE && world_next_timer(&next); us += next) {
		INSIST(timers++ < TIMERS, "a timer does not let time go on");
		world_wait(next);
		n += answered(p, type, flags, credit);
	}
	return n;
}

/* The child binds to its acceptor, which gives it no credit. */
static void bound(struct aggnet_tree *tree, struct peer *p)
{
	struct aggnet_pkt pkt;

	*p = peer_acceptor(tree);
	INSIST(peer_hears(p, &pkt) && pkt.type == AGGNET_OPEN, "no OPEN");
	peer_accept(p, 0);
	INSIST(answered(p, AGGNET_PROBE, 0, FIRST) == 1, "it is not bound");
}

/* The acceptor may have a larger limit; this end keeps its own. */
TEST_F(rules, accept__does_not_raise_the_limit_of_records)
{
	const struct aggnet_accept accept = {
		.max_payload = cpu_to_be16(U16_MAX),
		.max_records = cpu_to_be16(U16_MAX),
	};
	struct aggnet_tree *tree = begin(&keyed, CHILD);
	struct aggnet_pkt pkt;

	world_write(CHILD, keyed.records);
	self->peer = peer_acceptor(tree);
	ASSERT_TRUE(peer_hears(&self->peer, &pkt));
	peer_say(&self->peer, AGGNET_ACCEPT, 0, &accept, sizeof(accept));
	EXPECT_EQ(AGGNET_UP_BINDING, tree->up.state);
	EXPECT_EQ(tree->packet.max_records, tree->up.max_records);
	EXPECT_EQ(tree->packet.max_payload, tree->up.max_payload);
}

/* A child that has all of its records and no credit. */
static struct aggnet_tree *waiting(struct peer *p, u32 give_up_ms)
{
	struct aggnet_tree *tree = begin(&keyed, CHILD);

	tree->conf.give_up_ms = give_up_ms;
	world_write(CHILD, keyed.records);
	world_shutdown(CHILD);
	bound(tree, p);
	return tree;
}

/* First at once, then each 200 ms or more often, because give_up is short. */
TEST_F(rules, probe__asks_for_credit_less_and_less)
{
	struct aggnet_tree *tree = waiting(&self->peer, SHORT_GIVE_UP);
	u32 n = asked(&self->peer, AGGNET_PROBE, 0, FIRST);

	EXPECT_LE(PATIENCE / 200000, n);
	EXPECT_GE(PATIENCE / 50000, n);
	EXPECT_EQ(AGGNET_TREE_CLOSING, tree->state);
}

TEST_F(rules, credit__is_used_at_once)
{
	struct aggnet_tree *tree = waiting(&self->peer, SHORT_GIVE_UP);

	asked(&self->peer, AGGNET_PROBE, 0, FIRST);
	EXPECT_EQ(FIRST, tree->up.sender.nxt);
	self->peer.echo = 0;	/* the ACK answers no packet */
	peer_ack(&self->peer, 0, FIRST, FIRST + 1);
	EXPECT_EQ(FIRST + 1, tree->up.sender.nxt);
	EXPECT_EQ(0, tree->up.sender.rtt.backoff);
	EXPECT_EQ(2, answered(&self->peer, AGGNET_DATA, 0, FIRST + 2));
	EXPECT_EQ(FIRST + 2, tree->up.sender.nxt);
}

/* So old a replay that its credit seems to be ahead of the newest. */
TEST_F(rules, credit__of_a_captured_ack_is_not_taken)
{
	struct aggnet_tree *tree = waiting(&self->peer, SHORT_GIVE_UP);
	u32 late = FIRST + (1u << 31) - 10;

	asked(&self->peer, AGGNET_PROBE, 0, FIRST);
	tree->up.sender.una = late;
	tree->up.sender.nxt = late;
	tree->up.sender.credit = late;
	peer_ack(&self->peer, 0, late, late + 30);
	EXPECT_LT(late, tree->up.sender.nxt);
	peer_ack(&self->peer, 0, FIRST, FIRST);
	EXPECT_EQ(late + 30, tree->up.sender.credit);
}

/*
 * A packet sent well before another that arrived is lost before its timer
 * fires.
 */
TEST_F(rules, loss__is_detected_by_what_arrived_later)
{
	struct aggnet_tree *tree = waiting(&self->peer, WORLD_GIVE_UP);
	struct aggnet_ack later = {
		.cum = cpu_to_be32(FIRST),
		.credit = cpu_to_be32(FIRST + 2),
		.sack = { cpu_to_be64(1) },
	};
	struct aggnet_pkt pkt;

	peer_ack(&self->peer, 0, FIRST, FIRST + 1);
	world_wait(2000);
	peer_ack(&self->peer, 0, FIRST, FIRST + 2);
	ASSERT_EQ(FIRST + 2, tree->up.sender.nxt);
	world.packets = 0;
	peer_say(&self->peer, AGGNET_ACK, 0, &later, sizeof(later));
	ASSERT_TRUE(peer_hears(&self->peer, &pkt));
	EXPECT_EQ(AGGNET_DATA, pkt.type);
	EXPECT_TRUE(pkt.flags & AGGNET_F_REXMIT);
}

/*
 * Records that take long to pack: a section under the lock ends before the
 * burst.
 */
TEST_F(rules, ack__is_asked_for_by_the_last_of_a_run)
{
	struct world_conf conf = keyed;
	struct aggnet_tree *tree;
	struct aggnet_hdr *last;
	u32 n;

	conf.function = AGGNET_FN_TOPK;
	tree = begin(&conf, CHILD);
	world_write(CHILD, conf.records);
	world_shutdown(CHILD);
	bound(tree, &self->peer);
	peer_ack(&self->peer, 0, FIRST, FIRST + 64);
	while (tree->up.stopped) {
		n = world.packets;
		ASSERT_LT(0, n);
		last = (struct aggnet_hdr *)world.packet[n - 1]->bytes;
		EXPECT_EQ(AGGNET_DATA, last->type);
		EXPECT_TRUE(be16_to_cpu(last->flags) & AGGNET_F_ACK);
		acked(&self->peer, 0, FIRST + 64);
	}
	EXPECT_LT(FIRST + 2, tree->up.sender.nxt);
}

/* The next ACK that is due is that of an earlier packet. */
TEST_F(rules, ack__is_asked_for_by_the_last_of_the_flow)
{
	struct world_conf conf = keyed;
	struct aggnet_tree *tree;
	struct aggnet_hdr *last;

	conf.records = 96;
	conf.keys = 96;
	tree = begin(&conf, CHILD);
	world_write(CHILD, 64);
	world_write(CHILD, 32);
	world_shutdown(CHILD);
	bound(tree, &self->peer);
	peer_ack(&self->peer, 0, FIRST, FIRST + 64);
	ASSERT_EQ(FIRST + 9, tree->up.sender.nxt);
	last = (struct aggnet_hdr *)world.packet[world.packets - 1]->bytes;
	EXPECT_EQ(AGGNET_DATA, last->type);
	EXPECT_TRUE(be16_to_cpu(last->flags) & AGGNET_F_ACK);
}

/*
 * Packets that left while the window was full rely on the ACK of an earlier one. If it
 * opens no window, a PROBE asks for theirs, once.
 */
TEST_F(rules, ack__is_asked_for_by_a_probe_if_no_packet_follows)
{
	struct world_conf conf = keyed;
	struct aggnet_cwnd *cwnd;
	struct aggnet_tree *tree;
	struct aggnet_pkt pkt;
	u32 n;

	conf.records = 512;
	conf.keys = 512;
	tree = begin(&conf, CHILD);
	cwnd = &tree->up.sender.cwnd;
	for (n = 0; n < conf.records; n += 64)
		world_write(CHILD, 64);
	world_shutdown(CHILD);
	bound(tree, &self->peer);
	*cwnd = (struct aggnet_cwnd){ .cwnd = 3, .ssthresh = 3, .max = 3 };
	peer_ack(&self->peer, 0, FIRST, FIRST + 64);
	ASSERT_EQ(FIRST + 3, tree->up.sender.nxt);
	cwnd->cwnd = 5;
	peer_ack(&self->peer, 0, FIRST, FIRST + 64);
	ASSERT_EQ(FIRST + 5, tree->up.sender.nxt);
	*cwnd = (struct aggnet_cwnd){ .cwnd = 2, .ssthresh = 2, .max = 2 };
	world.packets = 0;
	peer_ack(&self->peer, 0, FIRST + 3, FIRST + 64);
	ASSERT_TRUE(peer_hears(&self->peer, &pkt));
	EXPECT_EQ(AGGNET_PROBE, pkt.type);
	peer_ack(&self->peer, 0, FIRST + 3, FIRST + 64);
	EXPECT_FALSE(peer_hears(&self->peer, &pkt));
	acked(&self->peer, 0, FIRST + 64);
	ASSERT_TRUE(peer_hears(&self->peer, &pkt));
	EXPECT_EQ(AGGNET_DATA, pkt.type);
}

/* Packets of an aborted transfer are not sent again, and their timer stops. */
TEST_F(rules, abort__ends_the_clock_of_what_was_sent)
{
	struct aggnet_tree *tree = waiting(&self->peer, WORLD_GIVE_UP);
	u64 us = 0, next;
	u32 n = 0;

	peer_ack(&self->peer, 0, FIRST, FIRST + 1);
	ASSERT_EQ(FIRST + 1, tree->up.sender.nxt);
	aggnet_tree_abort_user(tree, AGGNET_R_USER);
	for (; us < PATIENCE && world_next_timer(&next); us += next) {
		ASSERT_GE(TIMERS, ++n);
		world.packets = 0;
		world_wait(next);
	}
}

/* The acceptor has everything and is not DONE. */
static struct aggnet_tree *finished(struct peer *p, u32 give_up_ms)
{
	struct aggnet_tree *tree = waiting(p, give_up_ms);

	acked(p, 0, FIRST + 64);
	INSIST(answered(p, AGGNET_FIN, 0, FIRST + 64) == 1, "no FIN");
	acked(p, AGGNET_F_FIN, FIRST + 64);
	return tree;
}

/* Each 50 ms, doubled after each 8 FINs, up to 1 s. */
TEST_F(rules, fin__asks_for_done_less_and_less)
{
	struct aggnet_tree *tree = finished(&self->peer, WORLD_GIVE_UP);
	u32 n = asked(&self->peer, AGGNET_FIN, AGGNET_F_FIN, FIRST + 64);

	EXPECT_LE(PATIENCE / 1000000, n);
	EXPECT_GE(PATIENCE / 250000, n);
	EXPECT_EQ(AGGNET_TREE_WAITING, tree->state);
}

/* A child that gets answers does not give up, however short give_up is. */
TEST_F(rules, fin__asks_within_give_up)
{
	struct aggnet_tree *tree = finished(&self->peer, SHORT_GIVE_UP);

	asked(&self->peer, AGGNET_FIN, AGGNET_F_FIN, FIRST + 64);
	EXPECT_EQ(AGGNET_TREE_WAITING, tree->state);
}

/* This DONE is for a result that does not have this node's records. */
TEST_F(rules, done__is_early_before_the_fin_is_acknowledged)
{
	struct aggnet_tree *tree = waiting(&self->peer, WORLD_GIVE_UP);

	peer_done(&self->peer);
	EXPECT_EQ(AGGNET_TREE_CLOSING, tree->state);
	acked(&self->peer, 0, FIRST + 64);
	INSIST(answered(&self->peer, AGGNET_FIN, 0, FIRST + 64) == 1, "no FIN");
	acked(&self->peer, AGGNET_F_FIN, FIRST + 64);
	EXPECT_EQ(AGGNET_TREE_WAITING, tree->state);
	peer_done(&self->peer);
	EXPECT_EQ(AGGNET_TREE_DONE, tree->state);
}

TEST_F(rules, done__is_early_before_all_is_written)
{
	struct aggnet_tree *tree = begin(&keyed, CHILD);

	bound(tree, &self->peer);
	peer_done(&self->peer);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	world_write(CHILD, 1);
	EXPECT_EQ(1, world.node[CHILD].written);
}

/* The acceptor first refused this incarnation, and then bound it. */
TEST_F(rules, rst__is_late_once_the_channel_is_bound)
{
	struct aggnet_tree *tree = waiting(&self->peer, WORLD_GIVE_UP);
	u64 nonce = tree->up.nonce;

	peer_rst(&self->peer, AGGNET_RST_CLOSED);
	EXPECT_EQ(AGGNET_TREE_CLOSING, tree->state);
	EXPECT_EQ(AGGNET_UP_BOUND, tree->up.state);
	EXPECT_EQ(nonce, tree->up.nonce);
}

/* A restarted acceptor has lost what the earlier one merged. */
TEST_F(rules, rst__of_another_incarnation_ends_the_epoch)
{
	struct aggnet_tree *tree = waiting(&self->peer, WORLD_GIVE_UP);

	self->peer.nonce++;
	peer_rst(&self->peer, AGGNET_RST_NONCE);
	EXPECT_ABORTED(AGGNET_R_RESET, tree);
}

/* Each event is a message to all listeners. */
TEST_F(rules, rst__of_a_newer_epoch_is_told_once)
{
	struct aggnet_tree *tree = waiting(&self->peer, SHORT_GIVE_UP);

	peer_rst(&self->peer, AGGNET_RST_EPOCH);
	EXPECT_EQ(AGGNET_R_STALE, tree->outcome.reason);
	peer_replay(&self->peer);
	EXPECT_EQ(1, world.epochs);
}

TEST_F(rules, replay__of_an_acceptor_is_no_sign_of_life)
{
	struct aggnet_tree *tree = waiting(&self->peer, WORLD_GIVE_UP);
	u64 us = 0, next;

	while (tree->state == AGGNET_TREE_CLOSING && world_next_timer(&next)) {
		world_wait(next);
		world.packets = 0;
		peer_replay(&self->peer);
		us += next;
		ASSERT_GE(2 * WORLD_GIVE_UP * 1000ull, us);
	}
	EXPECT_EQ(AGGNET_R_TIMEOUT, tree->outcome.reason);
	EXPECT_EQ(self->peer.id, tree->outcome.about);
}

static void acceptor_lives(struct peer *p)
{
	acked(p, 0, FIRST);
}

TEST_F(rules, captured__packet_of_an_acceptor_stays_old)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(captured_minutes); i++) {
		waiting(&self->peer, WORLD_GIVE_UP);
		check_captured(_metadata, &self->peer, acceptor_lives,
			       captured_minutes[i]);
		if (i + 1 < ARRAY_SIZE(captured_minutes))
			world_end();
	}
}

/* --- many children ----------------------------------------------------------- */

#define MANY	5000	/* slots for more than three times as many */
#define SILENT	1234	/* the child that is silent first */
#define TURNS	4
#define MOST	65536	/* sources of an entry */
#define FEW	16
#define LOOK_MOST 4096	/* slots that one section under the lock may check */

/* A receiver of @contributors, which bind to it. */
static struct aggnet_tree *begin_many(u32 contributors, u32 sources)
{
	struct aggnet_tree_conf conf = {
		.contributors = contributors, .sources = sources,
		.memory = 256 << 20,
	};
	struct aggnet_tree *tree = world_entry(RECEIVER, &conf);

	INSIST(!IS_ERR(tree), "the entry is refused");
	return tree;
}

/* All children bind, and all but one send a FIN. */
static void one_of_many(struct aggnet_tree *tree, u32 n, u32 silent)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct peer p = peer_of(tree, 0x0b000000 + i, 1 + i);

		peer_open(&p);
		if (i != silent)
			peer_fin(&p, FIRST);
	}
}

/* A quarter of give_up is left for an ABORT and its path. */
static void check_silent(struct __test_metadata *_metadata,
			 const struct aggnet_tree *tree, u32 silent)
{
	u32 looked, most = 0;
	u64 us = 0, next;

	while (tree->state == AGGNET_TREE_OPEN && world_next_timer(&next)) {
		looked = tree->acceptor.silence_cursor;
		world_wait(next);
		us += next;
		most = max(most, tree->acceptor.silence_cursor - looked);
	}
	EXPECT_GE(LOOK_MOST, most);
	EXPECT_ABORTED(AGGNET_R_TIMEOUT, tree);
	EXPECT_EQ(htonl(0x0b000000 + silent), tree->outcome.about);
	EXPECT_LE(WORLD_GIVE_UP * 1000ull, us);
	EXPECT_GE(WORLD_GIVE_UP * 1750ull, us);
}

TEST_F(rules, give_up__is_kept_of_many)
{
	u32 turn;

	for (turn = 0; turn < TURNS; turn++) {
		struct aggnet_tree *tree;

		world_start(&keyed, SEED + turn);
		tree = begin_many(MANY, MANY);
		one_of_many(tree, MANY, SILENT + turn);
		check_silent(_metadata, tree, SILENT + turn);
		if (turn < TURNS - 1)
			world_end();
	}
}

/*
 * The most slots that an entry may have; a child's slot depends on its
 * identity.
 */
TEST_F(rules, give_up__is_kept_of_the_most)
{
	u32 turn;

	for (turn = 0; turn < TURNS; turn++) {
		struct aggnet_tree *tree;

		world_start(&keyed, SEED + turn);
		tree = begin_many(FEW, MOST);
		one_of_many(tree, FEW, turn);
		check_silent(_metadata, tree, turn);
		if (turn < TURNS - 1)
			world_end();
	}
}

TEST_HARNESS_MAIN
