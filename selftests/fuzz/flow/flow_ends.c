// SPDX-License-Identifier: GPL-2.0
/* Rules about how a transfer ends: which sources it waits for, which children
 * are refused, what a newer epoch does. The test uses nodes of the simulated
 * network, or one node and peers whose packets the test makes.
 */
#include <linux/skbuff.h>

#include "core/accum.h"
#include "core/fault.h"
#include "mem.h"
#include "flow/host.h"
#include "peer.h"
#include "world.h"

#include "kselftest_harness.h"

#define SEED	0x656e6473
#define FIRST	AGGNET_SEQ_FIRST
#define RTO_US	2000000ull	/* the longest */
#define MANY_FIRST	0x0b000000	/* identity */

static const struct world_conf plain = {
	.lists = true, WORLD_USUAL,
};

static struct aggnet_tree *tree_of(u32 node)
{
	return world.node[node].tree;
}

static struct aggnet_tree *begin(const struct world_conf *conf, u32 node)
{
	return world_begin(conf, SEED, node);
}

/* Take the oldest packet under way and its header. */
static bool heard(struct peer *p, struct aggnet_pkt *pkt)
{
	static struct packet copy;

	if (!world.packets)
		return false;
	copy = *world.packet[0];
	INSIST(peer_hears(p, pkt), "no packet");
	pkt->body = copy.bytes + sizeof(struct aggnet_hdr);
	return true;
}

/*
 * Send a packet of the peer. Return: the type of the first answer, 0: no answer
 */
static u8 asks(struct peer *p, u8 type, u16 flags, const void *body, u16 length,
	       struct aggnet_pkt *answer)
{
	world.packets = 0;
	peer_say(p, type, flags, body, length);
	return heard(p, answer) ? answer->type : 0;
}

/* Send an OPEN to any end. Return: the type of the answer, 0: no answer */
static u8 opens(struct peer *p)
{
	const struct aggnet_shape *shape = &p->tree->conf.shape;
	const struct aggnet_open open = {
		.function = shape->function,
		.vtype = shape->vtype,
		.layout = shape->layout,
	};
	struct aggnet_pkt answer;
	u8 type = asks(p, AGGNET_OPEN, AGGNET_F_ANY, &open, sizeof(open),
		       &answer);

	if (type == AGGNET_ACCEPT)
		p->node_nonce = answer.src_nonce;
	return type;
}

static u8 probes(struct peer *p)
{
	struct aggnet_pkt answer;

	return asks(p, AGGNET_PROBE, 0, NULL, 0, &answer);
}

/* Bind a child to @tree. */
static struct peer child(struct aggnet_tree *tree, u32 id, u64 nonce)
{
	struct peer p = peer_of(tree, id, nonce);

	INSIST(opens(&p) == AGGNET_ACCEPT, "the peer is not accepted");
	INSIST(probes(&p) == AGGNET_ACK, "the peer is not bound");
	return p;
}

static struct peer child_node(struct aggnet_tree *tree, u32 node)
{
	return child(tree, ntohl(world.node[node].an.identity), 1 + node);
}

static void finishes_short(struct peer *p, u32 weight, u64 records,
			   u32 partials)
{
	const struct aggnet_fin fin = {
		.final = cpu_to_be32(FIRST + records),
		.weight = cpu_to_be32(weight),
		.partials = cpu_to_be32(partials),
		.records = cpu_to_be64(records),
		.members = cpu_to_be32(weight ? aggnet_member(ntohl(p->id)) : 0),
	};
	struct aggnet_pkt answer;

	asks(p, AGGNET_FIN, 0, &fin, sizeof(fin), &answer);
}

static void finishes(struct peer *p, u32 weight, u64 records)
{
	finishes_short(p, weight, records, 0);
}

/*
 * Deliver everything until @us have passed or @tree ends; no record is written.
 */
static u64 runs(const struct aggnet_tree *tree, u64 us)
{
	u64 start = world.us, next;
	u32 n;

	while (world.us - start < us && tree->state < AGGNET_TREE_DONE) {
		for (n = world.packets; n; n--)
			world_deliver(0);
		world_work();
		if (world.packets)
			world_wait(200);
		else if (world_next_timer(&next))
			world_wait(max_t(u64, next, 1000));
		else
			break;
	}
	return world.us - start;
}

FIXTURE(ends)
{
	struct aggnet_pkt answer;
};

FIXTURE_SETUP(ends)
{
}

FIXTURE_TEARDOWN(ends)
{
	world_end();
}

/* --- a newer epoch ---------------------------------------------------------- */

/* Begin a newer epoch at the node; its packets of the change are lost. */
static void renew_in_silence(u32 node)
{
	world.harm = true;
	world.node[node].mute = true;
	world_renew(node);
	world.node[node].mute = false;
	world.packets = 0;
}

/* All members are there, and the child is bound to its acceptor. */
static struct aggnet_tree *all_bound(const struct world_conf *conf)
{
	struct aggnet_tree *tree;
	u32 i;

	world_start(conf, SEED);
	for (i = 0; i < WORLD_NODES; i++)
		world_add(i);
	tree = tree_of(CHILD);
	while (tree->up.state < AGGNET_UP_BOUND)
		runs(tree, 10000);
	return tree;
}

/* The tree ends within an RTO, because the node @origin has a newer epoch. */
static void check_stale(struct __test_metadata *_metadata,
			const struct aggnet_tree *tree, u32 origin)
{
	EXPECT_GE(RTO_US, runs(tree, WORLD_GIVE_UP * 3000ull));
	EXPECT_ABORTED(AGGNET_R_STALE, tree);
	EXPECT_EQ(world.node[origin].an.identity, tree->outcome.origin);
}

/* The acceptor has a newer epoch and answers the child's next packet. */
TEST_F(ends, epoch__newer_one_ends_a_bound_child)
{
	struct aggnet_tree *tree = all_bound(&plain);

	renew_in_silence(ACCEPTOR);
	world_write(CHILD, 20);
	check_stale(_metadata, tree, ACCEPTOR);
}

static const struct world_conf anew = {
	.lists = true, .keyed = true, .anew = true, WORLD_USUAL,
};

/* The newer epoch has another key; the answer is under the child's key. */
TEST_F(ends, epoch__newer_one_of_another_key_ends_a_child)
{
	struct aggnet_tree *tree = all_bound(&anew);

	renew_in_silence(ACCEPTOR);
	world_write(CHILD, 20);
	check_stale(_metadata, tree, ACCEPTOR);
}

/*
 * A repair in between keeps the newer key, and the acceptor still knows the
 * older one.
 */
TEST_F(ends, epoch__repaired_one_of_another_key_ends_a_child)
{
	struct aggnet_tree *tree = all_bound(&anew);

	renew_in_silence(ACCEPTOR);
	world.conf.anew = false;
	tree_of(ACCEPTOR)->conf.key.bytes[0] = '0';
	renew_in_silence(ACCEPTOR);
	world_write(CHILD, 20);
	check_stale(_metadata, tree, ACCEPTOR);
}

static const struct world_conf secret = {
	.lists = true, .keyed = true, WORLD_USUAL,
};

/* The child has a newer epoch, and the ABORT of its older one was lost. */
TEST_F(ends, epoch__newer_one_ends_an_acceptor)
{
	all_bound(&secret);
	renew_in_silence(CHILD);
	check_stale(_metadata, tree_of(ACCEPTOR), CHILD);
	check_stale(_metadata, tree_of(RECEIVER), CHILD);
}

/*
 * The child notices first that its acceptor is dead, and begins a repaired plan. The receiver
 * was not its acceptor: it says which node is dead, and the child's new entry opens there
 * until the receiver has the repaired plan, too.
 */
TEST_F(ends, epoch__newer_one_of_a_grandchild_hides_no_death)
{
	all_bound(&secret);
	world_crash(ACCEPTOR);
	runs(tree_of(RECEIVER), WORLD_GIVE_UP * 750ull);
	renew_in_silence(CHILD);
	runs(tree_of(RECEIVER), RTO_US);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree_of(RECEIVER)->state);
	EXPECT_LT(0, world.node[RECEIVER].stats.value[AGGNET_STAT_drop_epoch_new]);
	runs(tree_of(RECEIVER), WORLD_GIVE_UP * 1000ull);
	EXPECT_ABORTED(AGGNET_R_TIMEOUT, tree_of(RECEIVER));
	EXPECT_EQ(world.node[ACCEPTOR].an.identity,
		  tree_of(RECEIVER)->outcome.about);
	world_renew(RECEIVER);
	runs(tree_of(CHILD), RTO_US);
	EXPECT_EQ(AGGNET_UP_BOUND, tree_of(CHILD)->up.state);
}

/* A planned child that has not bound will not: it is in the newer epoch. */
TEST_F(ends, epoch__newer_one_of_a_planned_child_ends_an_acceptor)
{
	u32 i;

	world_start(&secret, SEED);
	for (i = 0; i < WORLD_NODES; i++)
		if (i != CHILD)
			world_add(i);
	while (tree_of(OTHER)->up.state < AGGNET_UP_BOUND)
		runs(tree_of(OTHER), 10000);
	world.harm = true;
	world.packets = 0;
	world.node[CHILD].attempt++;
	world_add(CHILD);
	check_stale(_metadata, tree_of(ACCEPTOR), CHILD);
}

static const struct world_conf unlisted = { .keyed = true, WORLD_USUAL };

/* An end without a list cannot tell whose child it is. */
TEST_F(ends, epoch__newer_one_ends_an_acceptor_without_a_list)
{
	all_bound(&unlisted);
	world_crash(ACCEPTOR);
	renew_in_silence(CHILD);
	check_stale(_metadata, tree_of(RECEIVER), CHILD);
}

/*
 * Without a key any host can send an OPEN: only a bound child's ABORT counts.
 */
TEST_F(ends, epoch__newer_one_does_not_end_an_acceptor_without_a_key)
{
	all_bound(&plain);
	renew_in_silence(CHILD);
	runs(tree_of(ACCEPTOR), RTO_US);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree_of(ACCEPTOR)->state);
	EXPECT_LT(0, world.node[ACCEPTOR].stats.value[AGGNET_STAT_drop_epoch_new]);
}

/* An idle acceptor has no transfer that could end. */
TEST_F(ends, epoch__newer_one_leaves_an_idle_acceptor)
{
	world_start(&secret, SEED);
	world_add(ACCEPTOR);
	world.node[CHILD].attempt++;
	world_add(CHILD);
	runs(tree_of(ACCEPTOR), RTO_US);
	EXPECT_EQ(AGGNET_TREE_IDLE, tree_of(ACCEPTOR)->state);
	EXPECT_LT(0, world.node[ACCEPTOR].stats.value[AGGNET_STAT_drop_epoch_new]);
}

/* The packet has neither the entry's key nor the older one. */
TEST_F(ends, epoch__older_one_of_an_unknown_key_is_not_answered)
{
	struct aggnet_tree *tree = all_bound(&anew);

	renew_in_silence(ACCEPTOR);
	tree_of(ACCEPTOR)->elder_key.bytes[1]++;
	world_write(CHILD, 20);
	runs(tree, RTO_US);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
}

TEST_F(ends, epoch__newer_one_ends_a_child_that_opens)
{
	struct aggnet_tree *tree;

	world_start(&plain, SEED);
	world.harm = true;
	world_add(ACCEPTOR);
	renew_in_silence(ACCEPTOR);
	world_add(CHILD);
	tree = tree_of(CHILD);
	EXPECT_GE(RTO_US, runs(tree, WORLD_GIVE_UP * 3000ull));
	EXPECT_ABORTED(AGGNET_R_STALE, tree);
}

/* --- many children ---------------------------------------------------------- */

#define MANY	200	/* slots for several times the limit of one section */

static u32 told[MANY];

/* Count the ABORTs that each of many children gets. */
static void count_told(const struct aggnet_pkt *pkt)
{
	u32 i = ntohl(pkt->dst) - MANY_FIRST;

	if (pkt->type == AGGNET_ABORT && i < MANY)
		told[i]++;
}

/* A receiver with MANY sources, all of which are bound. */
static struct aggnet_tree *many(void)
{
	struct aggnet_tree_conf conf = {
		.contributors = MANY, .sources = MANY, .memory = 16 << 20,
	};
	struct aggnet_tree *tree;
	u32 i;

	world_start(&plain, SEED);
	tree = world_entry(RECEIVER, &conf);
	INSIST(!IS_ERR(tree), "the entry is refused");
	for (i = 0; i < MANY; i++)
		child(tree, MANY_FIRST + i, 1 + i);
	return tree;
}

/* Each child has been sent zero credit, and then memory becomes free. */
TEST_F(ends, many__are_told_of_credit_in_short_runs)
{
	struct aggnet_tree *tree = many();
	struct aggnet_run run;
	u32 i;

	aggnet_run_begin(tree, &run);
	for (i = 0; i <= tree->acceptor.mask; i++)
		tree->acceptor.child[i].waits_for_credit =
			tree->acceptor.child[i].id;
	tree->acceptor.waits_for_credit = MANY;
	tree->store.ops->reclaim(tree, &run);
	aggnet_run_end(tree, &run);
	EXPECT_LT(0, tree->acceptor.waits_for_credit);
	world_work();
	EXPECT_EQ(0, tree->acceptor.waits_for_credit);
}

static void check_told(struct __test_metadata *_metadata)
{
	u32 i;

	for (i = 0; i < MANY; i++)
		EXPECT_EQ(1, told[i]);
}

TEST_F(ends, many__are_told_of_an_abort_in_short_runs)
{
	struct aggnet_tree *tree = many();

	memset(told, 0, sizeof(told));
	world.made = count_told;
	aggnet_tree_abort_user(tree, AGGNET_R_USER);
	world_work();
	check_told(_metadata);
}

/*
 * A withdrawn entry answers nothing later: all children must get an ABORT now.
 */
TEST_F(ends, withdrawn__is_told_to_all_children)
{
	struct aggnet_tree *tree = many();

	ASSERT_LT(256, tree->acceptor.mask);
	memset(told, 0, sizeof(told));
	world.made = count_told;
	world_del(RECEIVER);
	check_told(_metadata);
}

/* --- an end that is DONE ---------------------------------------------------- */

/* A receiver with its three sources bound, which have sent their FINs. */
static struct aggnet_tree *whole_of(struct peer *p, u32 records)
{
	struct aggnet_tree *tree = begin(&plain, RECEIVER);
	u32 i;

	for (i = 0; i < 3; i++)
		p[i] = child_node(tree, WRONG + i);
	for (i = 0; i < 3; i++) {
		if (records)
			peer_data(&p[i], FIRST);
		finishes(&p[i], 1, records);
	}
	return tree;
}

static struct aggnet_tree *whole(struct peer *p)
{
	return whole_of(p, 0);
}

/* Read the reader's next message. Return: its length, or a negative errno */
static int reads(struct aggnet_tree *tree, u16 *type)
{
	u8 buf[AGGNET_RECORD_MAX];
	struct aggnet_msg msg = { 0 };
	int len = aggnet_tree_read(tree, &msg, buf, sizeof(buf), false);

	*type = msg.type;
	return len;
}

/* Reading an end mark without taking it has no effect. */
TEST_F(ends, done__waits_for_the_end_mark_to_be_taken)
{
	struct peer p[3];
	struct aggnet_tree *tree = whole(p);
	u16 type = 0;

	EXPECT_LT(0, reads(tree, &type));
	EXPECT_EQ(AGGNET_MSG_END, type);
	EXPECT_EQ(AGGNET_TREE_CLOSING, tree->state);
	EXPECT_LT(0, reads(tree, &type));
	EXPECT_EQ(0, aggnet_tree_end(tree, 0));
	EXPECT_EQ(AGGNET_TREE_DONE, tree->state);
	EXPECT_EQ(0, aggnet_tree_end(tree, 0));
}

/* The end mark was handed out: another reader would wait in vain. */
TEST_F(ends, end_mark__is_for_one_reader)
{
	struct aggnet_local other = { 0 };
	struct peer p[3];
	struct aggnet_tree *tree = whole(p);

	EXPECT_EQ(0, aggnet_tree_end(tree, 0));
	world.ended = 1ull << world.node[RECEIVER].attempt;
	EXPECT_EQ(-EADDRINUSE, aggnet_tree_join_reader(tree, &other));
	world_close(RECEIVER);
	EXPECT_EQ(AGGNET_TREE_DONE, tree->state);
	EXPECT_EQ(-EALREADY, aggnet_tree_join_reader(tree, &other));
}

/* A record is lost in the buffer after its unit was counted. */
TEST_F(ends, end_mark__is_not_given_if_records_are_lost)
{
	u16 type = 0;
	struct peer p[3];
	struct aggnet_tree *tree;
	u32 i;

	tree = begin(&plain, RECEIVER);
	world.node[RECEIVER].an.fault = AGGNET_FAULT_DROP;
	for (i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = child_node(tree, WRONG + i);
		peer_data(&p[i], FIRST);
		finishes(&p[i], 1, 1);
	}
	ASSERT_EQ(AGGNET_TREE_CLOSING, tree->state);
	EXPECT_LT(0, reads(tree, &type));
	EXPECT_EQ(AGGNET_MSG_RECORDS, type);
	aggnet_tree_taken(tree, false);
	EXPECT_EQ(-EBADMSG, reads(tree, &type));
	EXPECT_ABORTED(AGGNET_R_MISMATCH, tree);
}

/*
 * Copying the records to the application may still fail: the sources must wait.
 */
TEST_F(ends, end_mark__waits_for_records_on_their_way_out)
{
	u16 type = 0;
	struct peer p[3];
	struct aggnet_tree *tree = whole_of(p, 1);

	EXPECT_LT(0, reads(tree, &type));
	EXPECT_EQ(AGGNET_MSG_RECORDS, type);
	EXPECT_EQ(-EAGAIN, reads(tree, &type));
	aggnet_tree_taken(tree, true);
	EXPECT_ABORTED(AGGNET_R_RECEIVER, tree);
}

TEST_F(ends, end_mark__comes_when_the_records_are_out)
{
	u16 type = 0;
	struct peer p[3];
	struct aggnet_tree *tree = whole_of(p, 1);
	u32 wakes;

	EXPECT_LT(0, reads(tree, &type));
	wakes = world.node[RECEIVER].wakes;
	aggnet_tree_taken(tree, false);
	EXPECT_LT(wakes, world.node[RECEIVER].wakes);
	EXPECT_LT(0, reads(tree, &type));
	EXPECT_EQ(AGGNET_MSG_END, type);
}

TEST_F(ends, end_mark__is_not_taken_from_an_aborted_tree)
{
	struct peer p[3];
	struct aggnet_tree *tree = whole(p);
	u16 type = 0;

	EXPECT_LT(0, reads(tree, &type));
	aggnet_tree_abort_user(tree, AGGNET_R_USER);
	EXPECT_EQ(-ECANCELED, aggnet_tree_end(tree, 0));
	EXPECT_EQ(AGGNET_TREE_ABORTED, tree->state);
}

/*
 * The child gave up before DONE arrived; it can parse the answer to its ABORT.
 */
TEST_F(ends, abort__of_a_child_is_answered_when_done)
{
	struct peer p[3];
	struct aggnet_tree *tree = whole(p);
	const struct aggnet_abort abort = {
		.reason = cpu_to_be32(AGGNET_R_TIMEOUT),
		.origin = p[0].id,
	};
	const struct aggnet_abort *body;

	aggnet_tree_end(tree, 0);
	ASSERT_EQ(AGGNET_ABORT, asks(&p[0], AGGNET_ABORT, 0, &abort,
				     sizeof(abort), &self->answer));
	EXPECT_EQ(AGGNET_F_REPLY, self->answer.flags);
	body = (const void *)self->answer.body;
	EXPECT_EQ(AGGNET_R_TIMEOUT, be32_to_cpu(body->reason));
	EXPECT_EQ(p[0].id, body->origin);
	EXPECT_EQ(AGGNET_TREE_DONE, tree->state);
}

/* --- a read ----------------------------------------------------------------- */

/*
 * States that take so long to read that one section under the lock reads few.
 */
static const struct world_conf reals = {
	.lists = true, .function = AGGNET_FN_SUM,
	.vtype = AGGNET_VTYPE_FLOAT64, WORLD_USUAL,
};

/* A receiver with such states that has all records. */
static struct aggnet_tree *whole_reals(void)
{
	struct aggnet_tree *tree = begin(&reals, RECEIVER);
	u32 i, steps;

	for (i = 0; i < WORLD_NODES; i++)
		world_add(i);
	for (steps = 0; steps < 100 && tree->state == AGGNET_TREE_OPEN;
	     steps++) {
		for (i = 0; i < WORLD_NODES; i++) {
			world_write(i, 64);
			world_shutdown(i);
		}
		runs(tree, 1000);
	}
	INSIST(tree->state == AGGNET_TREE_CLOSING, "not all has come");
	INSIST(reals.keys > aggnet_accum_reads(&tree->conf.shape),
	       "one run of the lock reads all");
	return tree;
}

TEST_F(ends, read__fills_its_buffer_in_several_runs_of_the_lock)
{
	struct aggnet_tree *tree = whole_reals();
	static u8 buf[64 * AGGNET_RECORD_MAX];
	struct aggnet_msg msg;

	EXPECT_LT(0, aggnet_tree_read(tree, &msg, buf, sizeof(buf), false));
	EXPECT_EQ(AGGNET_MSG_RECORDS, msg.type);
	EXPECT_EQ(0, aggnet_tree_keys(tree));
}

static int other_read;	/* result of another thread's last read */

/* Between two sections of a read another thread reads all the rest. */
static void read_between(struct aggnet_tree *tree)
{
	static u8 buf[64 * AGGNET_RECORD_MAX];
	struct aggnet_msg msg;

	world.ran = NULL;
	INSIST(aggnet_tree_read(tree, &msg, buf, sizeof(buf), false) > 0,
	       "nothing is left to read");
	aggnet_tree_taken(tree, false);
	other_read = aggnet_tree_read(tree, &msg, buf, sizeof(buf), false);
}

/* The first thread may still lose the records of its first section. */
TEST_F(ends, end_mark__does_not_come_between_two_runs_of_a_read)
{
	struct aggnet_tree *tree = whole_reals();
	static u8 buf[64 * AGGNET_RECORD_MAX];
	struct aggnet_msg msg;

	other_read = 0;
	world.ran = read_between;
	EXPECT_LT(0, aggnet_tree_read(tree, &msg, buf, sizeof(buf), false));
	EXPECT_EQ(-EAGAIN, other_read);
	aggnet_tree_taken(tree, true);
	EXPECT_EQ(AGGNET_TREE_ABORTED, tree->state);
}

/* --- slots of children ------------------------------------------------------ */

#define END(i)		(0x0b000001 + (i))	/* planned ends */
#define SOURCE(i)	(0x0c000001 + (i))	/* sources below them */
#define SOURCES		8
#define ENDS		4

/* A receiver of sources in pairs, each pair below an end of its own. */
static struct aggnet_tree *pairs(void)
{
	struct aggnet_tree_conf conf = {
		.contributors = ENDS, .sources = SOURCES, .memory = 1 << 20,
		.nchildren = ENDS,
	};
	struct aggnet_tree *tree;
	u32 i;

	world_start(&plain, SEED);
	conf.children = aggnet_zalloc(ENDS * sizeof(__be32), GFP_KERNEL);
	for (i = 0; i < ENDS; i++)
		conf.children[i] = htonl(END(i));
	tree = world_entry(RECEIVER, &conf);
	INSIST(!IS_ERR(tree), "the entry is refused");
	return tree;
}

/* All sources bypass their planned ends, which bind and have nothing. */
TEST_F(ends, slots__are_there_for_empty_ends_and_all_sources)
{
	struct aggnet_tree *tree = pairs();
	struct peer p;
	u32 i;

	for (i = 0; i < ENDS; i++) {
		p = child(tree, END(i), 1);
		finishes(&p, 0, 0);
	}
	for (i = 0; i < SOURCES; i++) {
		p = child(tree, SOURCE(i), 1);
		finishes(&p, 1, 0);
	}
	EXPECT_EQ(AGGNET_TREE_CLOSING, tree->state);
	EXPECT_EQ(SOURCES, tree->books.weight);
}

TEST_F(ends, slots__of_planned_children_are_kept)
{
	struct aggnet_tree *tree = pairs();
	struct peer p;
	u32 i;

	for (i = 0; i < 100; i++) {
		p = peer_of(tree, SOURCE(i), 1);
		if (opens(&p) != AGGNET_ACCEPT)
			break;
		EXPECT_EQ(AGGNET_ACK, probes(&p));
		finishes(&p, 0, 0);	/* makes room for the next one */
	}
	EXPECT_LE(SOURCES, i);
	EXPECT_GT(100, i);
	for (i = 0; i < ENDS; i++)
		child(tree, END(i), 1);
	EXPECT_EQ(ENDS, tree->acceptor.bound_total - tree->acceptor.unplanned);
	/* Searching for a child that does not exist must end soon. */
	EXPECT_LE(tree->acceptor.bound_total, tree->acceptor.mask / 2 + 1);
}

/* --- memory of a sorted entry ------------------------------------------------ */

/* Create a receiver of @n sorted contributors. Return: 0 or -errno */
static long in_order(u32 n, u64 memory)
{
	struct aggnet_tree_conf conf = {
		.contributors = n, .sources = n, .memory = memory,
		.shape.layout = AGGNET_LAYOUT_SORTED,
	};
	struct aggnet_tree *tree = world_entry(RECEIVER, &conf);

	return IS_ERR(tree) ? PTR_ERR(tree) : 0;
}

/*
 * The entry's memory must suffice for the least run of each planned
 * contributor.
 */
TEST_F(ends, memory__has_room_for_all_planned_runs)
{
	u64 least = 4ull * AGGNET_RUN_MIN *
		    aggnet_runs_stride(AGGNET_PAYLOAD_USUAL);

	world_start(&plain, SEED);
	EXPECT_EQ(-ENOSPC, in_order(4, least - 1));
	EXPECT_EQ(0, in_order(4, least));
}

/*
 * --- missing sources
 * -------------------------------------------------------------
 */

static const struct world_conf chain = {
	.chain = true, .acceptor_writes = true, .lists = true, WORLD_USUAL,
};

/* All but one are there. They write some records and stay alive. */
static struct aggnet_tree *all_but(const struct world_conf *conf, u32 missing)
{
	u32 i;

	world_start(conf, SEED);
	world.harm = true;
	for (i = 0; i < WORLD_NODES; i++)
		if (i != missing)
			world_add(i);
	runs(tree_of(RECEIVER), 500000);
	for (i = 0; i < WORLD_NODES; i++)
		if (i != missing && world.node[i].writes)
			world_write(i, 10);
	return tree_of(RECEIVER);
}

static void check_missing(struct __test_metadata *_metadata,
			  const struct world_conf *conf, u32 missing,
			  s32 finished)
{
	struct aggnet_tree *tree = all_but(conf, missing);

	if (finished >= 0) {
		world_write(finished, conf->records);
		world_shutdown(finished);
	}
	runs(tree, WORLD_GIVE_UP * 12000ull);
	EXPECT_GE(2 * WORLD_GIVE_UP * 1000ull + RTO_US, world.us - world.start);
	EXPECT_ABORTED(AGGNET_R_TIMEOUT, tree);
	EXPECT_EQ(world.node[missing].an.identity, tree->outcome.about);
	EXPECT_EQ(1, tree->outcome.missing);
}

TEST_F(ends, missing__beside_one_that_has_finished)
{
	check_missing(_metadata, &plain, OTHER, CHILD);
}

TEST_F(ends, missing__beside_those_that_live)
{
	check_missing(_metadata, &plain, OTHER, -1);
}

TEST_F(ends, missing__at_the_end_of_a_chain)
{
	check_missing(_metadata, &chain, CHILD, -1);
}

TEST_F(ends, missing__in_the_middle_of_a_chain)
{
	check_missing(_metadata, &chain, OTHER, CHILD);
}

/* The first record of a sorted flow states the number of its sources. */
TEST_F(ends, missing__at_the_end_of_a_sorted_chain)
{
	struct world_conf conf = chain;

	conf.sorted = true;
	check_missing(_metadata, &conf, CHILD, -1);
}

TEST_F(ends, missing__in_the_middle_of_a_sorted_chain)
{
	struct world_conf conf = chain;

	conf.sorted = true;
	check_missing(_metadata, &conf, OTHER, CHILD);
}

/* An OPEN passes the end and wakes it. */
static void wake(struct aggnet_tree *tree)
{
	struct aggnet_run run;

	aggnet_run_begin(tree, &run);
	aggnet_tree_touch(tree, &run);
	aggnet_run_end(tree, &run);
}

/*
 * The source comes when its planned end has stopped waiting and others are
 * slow.
 */
TEST_F(ends, missing__comes_after_all)
{
	struct aggnet_tree *tree = all_but(&plain, OTHER);

	runs(tree, WORLD_GIVE_UP * 800ull);
	EXPECT_EQ(1, tree_of(ACCEPTOR)->books.partials);
	world_add(OTHER);
	runs(tree, WORLD_GIVE_UP * 8000ull);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	EXPECT_EQ(3, aggnet_tree_covered(tree));
	world_settle();
	EXPECT_EQ(AGGNET_TREE_DONE, tree->state);
}

/* After hold the end sends what it has, although a source may still come. */
TEST_F(ends, missing__is_not_waited_for_longer_than_hold)
{
	struct world_conf conf = plain;
	struct aggnet_tree *tree;

	conf.hold_ms = 100;
	tree = all_but(&conf, OTHER);
	runs(tree, 1000000);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree_of(ACCEPTOR)->state);
	EXPECT_EQ(1, tree_of(ACCEPTOR)->books.partials);
	EXPECT_LT(0, tree->count.records_in);
}

/* The number that its planned end reports is lost again and again. */
TEST_F(ends, missing__is_told_until_it_arrives)
{
	struct aggnet_tree *tree = all_but(&plain, OTHER);
	u64 start = world.us;

	world.node[ACCEPTOR].mute = true;
	while (world.us - start < WORLD_GIVE_UP * 800ull)
		runs(tree, 10000);
	world.node[ACCEPTOR].mute = false;
	EXPECT_EQ(3, aggnet_tree_covered(tree));
	runs(tree, WORLD_GIVE_UP * 200ull);
	EXPECT_EQ(2, aggnet_tree_covered(tree));
}

/* Send a PROBE that states how many sources the flow will contain. */
static void tells(struct peer *p, u32 sources)
{
	const struct aggnet_probe probe = {
		.sources = cpu_to_be32(sources + 1),
	};
	struct aggnet_pkt answer;

	asks(p, AGGNET_PROBE, 0, &probe, sizeof(probe), &answer);
}

/* Sources that bind here instead of their planned end are not counted as missing. */
TEST_F(ends, missing__of_an_end_with_more_than_its_sources)
{
	struct aggnet_tree *tree;
	struct peer p;
	u32 stray;

	world_start(&plain, SEED);
	world.harm = true;
	world_add(RECEIVER);
	world_add(ACCEPTOR);
	tree = tree_of(ACCEPTOR);
	wake(tree);
	while (!tree->up.rooted)
		runs(tree, 10000);
	p = child_node(tree, OTHER);
	tells(&p, 1);
	p = child_node(tree, CHILD);
	finishes(&p, 1, 0);
	for (stray = 0; stray < 2; stray++) {
		p = child(tree, MANY_FIRST + stray, 1 + stray);
		finishes(&p, 1, 0);
	}
	ASSERT_EQ(3, tree->books.weight);
	ASSERT_EQ(2, tree->conf.sources);
	runs(tree, WORLD_GIVE_UP * 3000ull);
	EXPECT_ABORTED(AGGNET_R_TIMEOUT, tree);
	EXPECT_EQ(world.node[OTHER].an.identity, tree->outcome.about);
	EXPECT_EQ(1, tree->outcome.missing);
}

/* A flow cannot contain more sources than there are. */
TEST_F(ends, told__is_no_more_than_all)
{
	struct aggnet_tree *tree = pairs();
	struct peer p = child(tree, SOURCE(0), 1);

	tells(&p, U32_MAX - 1);
	EXPECT_EQ(SOURCES, tree->acceptor.told);
	tells(&p, 1);
	EXPECT_EQ(1, tree->acceptor.told);
	finishes(&p, 1, 0);
	EXPECT_EQ(0, tree->acceptor.told);
}

/*
 * The number changes up and down: the receiver does not wait longer because of
 * it.
 */
TEST_F(ends, told__in_turn_postpones_nothing)
{
	struct aggnet_tree *tree = pairs();
	struct peer p = child(tree, SOURCE(0), 1);
	u64 start = world.us;
	u32 n;

	for (n = 0; tree->state == AGGNET_TREE_OPEN; n++) {
		ASSERT_GE(5 * WORLD_GIVE_UP * 1000ull, world.us - start);
		tells(&p, 1 + 2 * (n & 1));
		world_wait(500000);
	}
	EXPECT_EQ(AGGNET_R_TIMEOUT, tree->outcome.reason);
	EXPECT_GE(2 * WORLD_GIVE_UP * 1000ull, world.us - start);
}

/* --- refusals ----------------------------------------------------------------- */

/*
 * OPEN unplanned children, which are accepted, and bind as many as fit. Return:
 * the first one that was refused
 */
static u32 refused(struct aggnet_tree *tree, struct peer *p, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		p[i] = peer_of(tree, SOURCE(i), 1 + i);
		INSIST(opens(&p[i]) == AGGNET_ACCEPT, "there is no room at all");
	}
	for (i = 0; i < n; i++)
		if (probes(&p[i]) == AGGNET_RST)
			return i;
	INSIST(false, "there is room for all of them");
	return n;
}

/*
 * The child opens again and is bound, although a copy of its old PROBE arrives
 * late.
 */
TEST_F(ends, refused__child_is_not_bound_by_a_copy)
{
	struct aggnet_tree *tree = pairs();
	struct peer p[8];
	u32 i = refused(tree, p, 8);
	u32 bound = tree->acceptor.bound;

	ASSERT_LT(0, i);
	finishes(&p[0], 0, 0);	/* makes room */
	EXPECT_EQ(AGGNET_RST, probes(&p[i]));
	EXPECT_EQ(bound - 1, tree->acceptor.bound);
	p[i].nonce = 0x999;
	EXPECT_EQ(AGGNET_ACCEPT, opens(&p[i]));
	EXPECT_EQ(AGGNET_ACK, probes(&p[i]));
	EXPECT_EQ(bound, tree->acceptor.bound);
}

/*
 * After the refusal bound children stay bound, and the others are asked to OPEN
 * again.
 */
TEST_F(ends, refused__child_takes_none_with_it)
{
	struct aggnet_tree *tree = pairs();
	struct peer planned = peer_of(tree, END(0), 77);
	struct peer p[8];
	u32 i;

	EXPECT_EQ(AGGNET_ACCEPT, opens(&planned));
	i = refused(tree, p, 8);
	EXPECT_EQ(AGGNET_ACK, probes(&p[0]));
	EXPECT_EQ(AGGNET_ACK, probes(&planned));
	if (i + 1 < 8)
		EXPECT_EQ(AGGNET_RST, probes(&p[i + 1]));
}

/* A planned child that ends before it is bound does not need room. */
TEST_F(ends, refused__planned_child_takes_none_with_it)
{
	struct aggnet_tree *tree = pairs();
	struct peer planned = peer_of(tree, END(0), 77);
	struct peer p = peer_of(tree, SOURCE(0), 78);

	EXPECT_EQ(AGGNET_ACCEPT, opens(&p));
	EXPECT_EQ(AGGNET_ACCEPT, opens(&planned));
	finishes(&planned, 0, 0);
	EXPECT_EQ(AGGNET_ACK, probes(&p));
}

/*
 * A child that was not accepted cannot bind: an RST does not contain the nonce.
 */
TEST_F(ends, refused__child_is_not_told_the_nonce)
{
	struct aggnet_tree *tree = pairs();
	struct peer p = peer_of(tree, SOURCE(0), 78);

	EXPECT_EQ(AGGNET_RST, asks(&p, AGGNET_PROBE, 0, NULL, 0,
				   &self->answer));
	p.node_nonce = self->answer.src_nonce;
	EXPECT_EQ(AGGNET_RST, probes(&p));
	EXPECT_EQ(0, tree->acceptor.bound_total);
}

/* @n packets of @node leave by plain IP. What does the acceptor learn, and the receiver? */
static void check_fell_back(struct __test_metadata *_metadata, u32 node,
			    unsigned int n, u32 acceptor, u32 receiver)
{
	struct aggnet_tree *tree = all_but(&plain, WORLD_NODES);

	while (n--)
		aggnet_tree_fell_back(tree_of(node), AGGNET_FALLBACK_POLICY);
	world_settle();
	EXPECT_EQ(AGGNET_TREE_DONE, tree->state);
	EXPECT_EQ(acceptor, tree_of(ACCEPTOR)->below[AGGNET_FALLBACK_POLICY]);
	EXPECT_EQ(receiver, tree->below[AGGNET_FALLBACK_POLICY]);
	EXPECT_EQ(0, tree->below[AGGNET_FALLBACK_LINK]);
	world_end();
}

TEST_F(ends, fallbacks__are_told_upwards)
{
	check_fell_back(_metadata, CHILD, 0, 0, 0);
	check_fell_back(_metadata, CHILD, 3, 3, 3);
	check_fell_back(_metadata, ACCEPTOR, 2, 0, 2);
	/* Nothing is above it. */
	check_fell_back(_metadata, RECEIVER, 1, 0, 0);
}

/* The cause that a node has to write into a packet which it sends by plain IP. */
static enum aggnet_fallback writes(struct aggnet_tree *tree)
{
	return aggnet_tree_fell_back(tree, AGGNET_FALLBACK_LINK);
}

/* The FIN of an end tells it; a node whose entry only forwards sends no FIN. */
TEST_F(ends, fallbacks__are_told_by_packet_or_fin)
{
	struct aggnet_tree_conf conf = { .forward_only = true };
	struct aggnet_tree *tree;

	world_start(&plain, SEED);
	tree = world_entry(ACCEPTOR, &conf);
	ASSERT_FALSE(IS_ERR(tree));
	EXPECT_EQ(AGGNET_FALLBACK_LINK, writes(tree));
	EXPECT_EQ(1, atomic_read(&tree->fallback[AGGNET_FALLBACK_LINK]));
	world_end();

	tree = begin(&plain, ACCEPTOR);
	EXPECT_EQ(AGGNET_FALLBACK_NONE, writes(tree));
	EXPECT_EQ(1, atomic_read(&tree->fallback[AGGNET_FALLBACK_LINK]));
}

/* A node without a channel of its own writes the cause into the packet. */
TEST_F(ends, fallbacks__on_the_way)
{
	struct aggnet_tree *tree = begin(&plain, RECEIVER);
	struct peer p = child(tree, END(0), 1);

	peer_data(&p, FIRST);
	EXPECT_EQ(0, tree->below[AGGNET_FALLBACK_BLOOM]);
	p.fallback = AGGNET_FALLBACK_BLOOM;
	peer_data(&p, FIRST);
	EXPECT_EQ(1, tree->below[AGGNET_FALLBACK_BLOOM]);
	peer_replay(&p);
	EXPECT_EQ(1, tree->below[AGGNET_FALLBACK_BLOOM]);
	EXPECT_EQ(0, tree->below[AGGNET_FALLBACK_LINK]);
}

/* Sums of packets by plain IP stay at their highest value. */
TEST_F(ends, fallbacks__do_not_wrap)
{
	u32 n = U32_MAX - 1;

	aggnet_add_most(&n, 1);
	EXPECT_EQ(U32_MAX, n);
	aggnet_add_most(&n, 1);
	EXPECT_EQ(U32_MAX, n);
	aggnet_add_most(&n, U32_MAX);
	EXPECT_EQ(U32_MAX, n);
	world_start(&plain, 1);
}

/* A node without sources may send a FIN, but no records. */
TEST_F(ends, fin__has_no_records_without_sources)
{
	struct aggnet_tree *tree = begin(&plain, RECEIVER);
	struct peer p = child(tree, END(0), 1);

	finishes(&p, 0, 0);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	p = child(tree, END(1), 1);
	peer_data(&p, FIRST);
	finishes(&p, 0, 1);
	EXPECT_ABORTED(AGGNET_R_PROTOCOL, tree);
	EXPECT_EQ(p.id, tree->outcome.about);
}

/*
 * --- a child whose acceptor is the test
 * -----------------------------------------
 */

/* Bind the node to this acceptor; no packet is under way afterwards. */
static struct peer served(struct aggnet_tree *tree)
{
	struct peer p = peer_acceptor(tree);

	peer_accept(&p, 0);
	peer_ack(&p, 0, tree->up.sender.nxt, FIRST);
	world.packets = 0;
	return p;
}

/* The acceptor restarts before it gets the ABORT. */
TEST_F(ends, abort__is_told_to_the_next_incarnation)
{
	struct aggnet_tree *tree = begin(&plain, CHILD);
	struct peer p = served(tree);

	aggnet_tree_abort_user(tree, AGGNET_R_SENDER);
	world.packets = 0;
	p.nonce++;
	peer_rst(&p, AGGNET_RST_NONCE);
	ASSERT_TRUE(heard(&p, &self->answer));
	EXPECT_EQ(AGGNET_OPEN, self->answer.type);
	p = peer_acceptor(tree);
	p.nonce++;
	world.packets = 0;
	peer_accept(&p, 0);
	ASSERT_TRUE(heard(&p, &self->answer));
	EXPECT_EQ(AGGNET_ABORT, self->answer.type);
	EXPECT_EQ(AGGNET_R_SENDER, tree->outcome.reason);
}

/* The child is accepted and refused again and again: this is not progress. */
TEST_F(ends, refused__child_gives_up)
{
	struct aggnet_tree *tree = begin(&plain, CHILD);
	u64 start = world.us;

	while (tree->state < AGGNET_TREE_DONE &&
	       world.us - start < WORLD_GIVE_UP * 3000ull) {
		struct peer p = peer_acceptor(tree);

		peer_accept(&p, 0);
		world.packets = 0;
		world_wait(1000);
		peer_rst(&p, AGGNET_RST_CLOSED);
		world.packets = 0;
		world_wait(200000);
	}
	EXPECT_ABORTED(AGGNET_R_TIMEOUT, tree);
	EXPECT_GE(WORLD_GIVE_UP * 1000ull + RTO_US, world.us - start);
}

/* Sequences may not wrap: the transfer ends before they do. */
TEST_F(ends, sequences__end_before_they_come_again)
{
	struct aggnet_tree *tree = begin(&plain, CHILD);
	struct peer p = served(tree);

	tree->up.sender.una = AGGNET_SEQ_END - 1;
	tree->up.sender.nxt = AGGNET_SEQ_END - 1;
	tree->up.sender.credit = AGGNET_SEQ_END - 1;
	world_write(CHILD, plain.records);
	world_shutdown(CHILD);
	peer_ack(&p, 0, tree->up.sender.nxt, AGGNET_SEQ_END + 8);
	EXPECT_EQ(AGGNET_SEQ_END, tree->up.sender.nxt);
	EXPECT_ABORTED(AGGNET_R_PROTOCOL, tree);
	EXPECT_EQ(tree->an->identity, tree->outcome.about);
}

TEST_F(ends, sequences__are_not_taken_again)
{
	struct aggnet_tree *tree = begin(&plain, RECEIVER);
	struct peer p = child_node(tree, WRONG);
	struct aggnet_child *c;

	for (c = tree->acceptor.child; !c->id; c++)
		;
	tree->acceptor.credits += 9 - (c->credit - FIRST - c->received);
	c->win.cum = AGGNET_SEQ_END - 1;
	c->received = AGGNET_SEQ_END - 1 - FIRST;
	c->credit = AGGNET_SEQ_END + 8;
	peer_data(&p, AGGNET_SEQ_END - 1);
	EXPECT_EQ(1, tree->count.packets_in);
	peer_data(&p, AGGNET_SEQ_END);
	EXPECT_EQ(1, tree->count.packets_in);
}

/* An end with a missing child looks its name up once. */
TEST_F(ends, fin__names_are_looked_up_once)
{
	struct aggnet_tree *tree = begin(&plain, ACCEPTOR);
	struct peer p;

	wake(tree);
	p = served(tree);
	runs(tree, WORLD_GIVE_UP * 750ull);
	EXPECT_EQ(AGGNET_TREE_CLOSING, tree->state);
	EXPECT_TRUE(tree->up.fin);
	EXPECT_EQ(2, tree->outcome.lost.n);
	tree->outcome.lost.n = 0;
	world.packets = 0;
	runs(tree, RTO_US);
	EXPECT_EQ(0, tree->outcome.lost.n);
	(void)p;
}

/* An unplanned child does not replace a planned one. */
TEST_F(ends, cut_short__waits_for_planned_children)
{
	struct aggnet_tree *tree = begin(&plain, ACCEPTOR);
	struct peer extra, p;

	wake(tree);
	p = served(tree);
	peer_ack(&p, AGGNET_F_ROOTED, tree->up.sender.nxt, FIRST);
	world.packets = 0;
	extra = child(tree, END(0), 1);
	p = child_node(tree, CHILD);
	finishes(&extra, 0, 0);
	finishes_short(&p, 0, 0, 1);
	EXPECT_EQ(1, tree->acceptor.unplanned);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	p = child_node(tree, OTHER);
	finishes(&p, 1, 0);
	EXPECT_EQ(AGGNET_TREE_CLOSING, tree->state);
}

/*
 * With fewer names than contributors the end still waits for all contributors.
 */
TEST_F(ends, cut_short__waits_for_contributors_without_names)
{
	struct aggnet_tree *tree = begin(&plain, ACCEPTOR);
	struct peer p;

	wake(tree);
	served(tree);
	tree->conf.contributors++;
	tree->conf.sources++;
	p = child_node(tree, CHILD);
	finishes_short(&p, 0, 0, 1);
	p = child_node(tree, OTHER);
	finishes(&p, 1, 0);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
}

#define MOST	65536	/* sources of an entry */

/* An end of MOST sources; its only child has reported that it has one. */
static struct aggnet_tree *strayed(struct peer *up, struct peer *down)
{
	struct aggnet_tree_conf conf = {
		.contributors = 1, .sources = MOST, .memory = 16 << 20,
	};
	struct aggnet_tree *tree = world_entry(ACCEPTOR, &conf);

	INSIST(!IS_ERR(tree), "the entry is refused");
	wake(tree);
	*up = served(tree);
	peer_ack(up, AGGNET_F_ROOTED, tree->up.sender.nxt, FIRST);
	world.packets = 0;
	*down = child(tree, MANY_FIRST, 1);
	tells(down, 1);
	return tree;
}

/* The number is not sent each time the end looks for silent children. */
TEST_F(ends, many__sources_are_not_told_at_each_look)
{
	struct aggnet_tree *tree;
	struct aggnet_pkt pkt;
	struct peer up, down;
	u64 us = 0, next;
	u32 n = 0;

	world_start(&plain, SEED);
	tree = strayed(&up, &down);
	EXPECT_TRUE(tree->up.strayed);
	for (; us < WORLD_GIVE_UP * 1000ull && world_next_timer(&next);
	     us += next) {
		world.packets = 0;
		world_wait(next);
		while (heard(&up, &pkt))
			n += pkt.type == AGGNET_PROBE;
		tells(&down, 1);
		peer_ack(&up, AGGNET_F_ROOTED, tree->up.sender.nxt, FIRST);
	}
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	/* Eight reports of a small end, and as many signs of life. */
	EXPECT_LE(8, n);
	EXPECT_GE(20, n);
}

/*
 * No child bound after the OPENs that passed the end, and its own OPENs are
 * lost.
 */
TEST_F(ends, empty__end_sleeps_again)
{
	struct world_conf conf = plain;
	struct aggnet_tree *tree;

	conf.hold_ms = WORLD_GIVE_UP / 4;
	tree = begin(&conf, ACCEPTOR);
	wake(tree);
	world.node[ACCEPTOR].mute = true;
	runs(tree, WORLD_GIVE_UP * 3000ull);
	EXPECT_EQ(AGGNET_TREE_IDLE, tree->state);
	EXPECT_EQ(AGGNET_R_NONE, tree->outcome.reason);
	EXPECT_EQ(0, tree->books.partials);
	world.node[ACCEPTOR].mute = false;
	wake(tree);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	EXPECT_EQ(1, world.packets);
}

/* An acceptor answers; then nothing arrives from it, and nothing gets to it. */
static void accepted_and_lost(struct __test_metadata *_metadata, u32 hold_ms)
{
	const struct aggnet_accept accept = {
		.max_payload = cpu_to_be16(AGGNET_PAYLOAD_USUAL),
		.max_records = cpu_to_be16(64),
	};
	struct world_conf conf = plain;
	struct aggnet_tree *tree;
	struct peer p;

	conf.hold_ms = hold_ms;
	tree = begin(&conf, ACCEPTOR);
	wake(tree);
	p = peer_acceptor(tree);
	p.id = world.node[RECEIVER].an.identity;
	peer_say(&p, AGGNET_ACCEPT, 0, &accept, sizeof(accept));
	ASSERT_EQ(AGGNET_UP_BINDING, tree->up.state);
	world.node[ACCEPTOR].mute = true;
	runs(tree, WORLD_GIVE_UP * 3000ull);
	EXPECT_EQ(AGGNET_TREE_IDLE, tree->state);
	EXPECT_EQ(AGGNET_R_NONE, tree->outcome.reason);
	EXPECT_EQ(0, tree->books.partials);
	world.node[ACCEPTOR].mute = false;
	wake(tree);
	EXPECT_EQ(AGGNET_UP_OPENING, tree->up.state);
}

TEST_F(ends, empty__end_sleeps_if_its_acceptor_is_lost)
{
	accepted_and_lost(_metadata, 0);
	world_end();
	accepted_and_lost(_metadata, WORLD_GIVE_UP / 4);
}

/* The end is bound, but the ACK is lost. Its sources bypass it. */
TEST_F(ends, empty__end_that_sleeps_tells_its_acceptor)
{
	struct aggnet_tree *tree = begin(&plain, RECEIVER), *end;
	struct peer p = child_node(tree, WRONG);
	u32 i;

	finishes(&p, 1, 0);
	world_add(ACCEPTOR);
	end = tree_of(ACCEPTOR);
	wake(end);
	world_deliver(0);
	world_deliver(0);
	ASSERT_EQ(AGGNET_UP_BINDING, end->up.state);
	aggnet_tree_fell_back(end, AGGNET_FALLBACK_LINK);
	world.node[RECEIVER].mute = true;
	runs(tree, WORLD_GIVE_UP * 1100ull);
	world.node[RECEIVER].mute = false;
	EXPECT_EQ(AGGNET_TREE_IDLE, end->state);
	EXPECT_FALSE(end->up.fin);
	EXPECT_EQ(0, end->outcome.lost.n);
	EXPECT_EQ(0, tree->acceptor.bound);
	/* The FIN of its next channel does not tell these again. */
	EXPECT_EQ(1, tree->below[AGGNET_FALLBACK_LINK]);
	EXPECT_EQ(1, end->up.fell[AGGNET_FALLBACK_LINK]);
	for (i = CHILD; i <= OTHER; i++) {
		p = child_node(tree, i);
		finishes(&p, 1, 0);
	}
	EXPECT_EQ(AGGNET_TREE_CLOSING, tree->state);
}

/* --- where an acceptor is ----------------------------------------------------- */

/* After @tries OPENs plain IP takes one to @node. Return: the PROBE */
static struct packet probe_to(struct aggnet_tree *tree, u32 tries, u32 node)
{
	struct peer p;
	u64 us;

	wake(tree);
	while (tree->up.tries < tries && world_next_timer(&us))
		world_wait(us);
	p = peer_acceptor(tree);
	p.id = world.node[node].an.identity;
	world.packets = 0;
	peer_accept(&p, tree->up.hop);
	INSIST(world.packets == 1, "the child does not bind");
	return *world.packet[0];
}

static u8 hop_of(const struct packet *p)
{
	return ((const struct aggnet_hdr *)p->bytes)->hop;
}

/* Links may come up again, and the planned path bypasses an unplanned end. */
TEST_F(ends, any__acceptor_is_not_on_the_planned_way)
{
	struct packet probe = probe_to(begin(&plain, CHILD), AGGNET_ANY_AFTER,
				       WRONG);

	EXPECT_EQ(AGGNET_WAY_ROUND, probe.way);
	EXPECT_EQ(AGGNET_HOP_MAX, hop_of(&probe));
}

/* All planned paths lead to the receiver. */
TEST_F(ends, any__receiver_is_on_the_planned_way)
{
	struct packet probe = probe_to(begin(&plain, CHILD), AGGNET_ANY_AFTER,
				       RECEIVER);

	EXPECT_EQ(AGGNET_WAY_UP, probe.way);
	EXPECT_EQ(AGGNET_HOP_MAX, hop_of(&probe));
}

TEST_F(ends, accept__planned_way_is_not_too_long_for_the_hop_field)
{
	struct aggnet_tree *tree = begin(&plain, CHILD);
	struct packet probe = probe_to(tree, 0, ACCEPTOR);

	EXPECT_EQ(AGGNET_WAY_UP, probe.way);
	EXPECT_EQ(tree->conf.hops + 2, hop_of(&probe));
}

TEST_HARNESS_MAIN
