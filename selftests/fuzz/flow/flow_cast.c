// SPDX-License-Identifier: GPL-2.0
/* A stream that goes down a tree: every reader gets every byte once and in order and
 * the root is DONE then, or all get an error, whatever the network does. Random runs,
 * from SEED, and single rules.
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/poll.h>
#include <linux/random.h>
#include <linux/skbuff.h>

#include "mem.h"
#include "peer.h"
#include "world.h"

#include "kselftest_harness.h"

#define SEED		0x63617374
#define RUNS		100
#define STEPS		1200
#define SETTLE		60000
#define FIRST		AGGNET_SEQ_FIRST
#define SMALL		(64 << 10)	/* a ring of 32 packets */
#define PART		52		/* bytes in a packet of a peer */
#define READERS		2		/* of a node with several */
#define ROUNDS		4		/* of a persistent tree, at most */

static const struct world_conf usual = { WORLD_USUAL };

/**
 * struct app - the processes of a node
 * @reader: they read the stream
 * @readers: how many there are
 * @joined: how many have joined; the others do later
 * @gone: the node has lost its entry, and gets none again
 * @round: rounds whose end mark each has
 * @read: bytes of the next one that it has
 * @ended: it has the last end mark
 * @waits: it found nothing to read, when the node had woken it @wakes times
 */
struct app {
	struct aggnet_local reader[READERS];
	u32 readers;
	u32 joined;
	bool gone;
	u32 round[READERS];
	u64 read[READERS];
	bool ended[READERS];
	bool waits[READERS];
	u32 wakes[READERS];
};

enum shape { CHAIN, STAR, FORKS };

/**
 * struct cast - a run
 * @app: of each node but the root
 * @rounds: of a persistent tree; 0: it is not persistent
 * @round: rounds that the root has ended
 * @known: rounds whose outcome it has
 * @total: bytes of the next one
 * @written: bytes of it that the root has written
 * @early: it shuts down before the last round begins
 * @totals: bytes of each round that it has ended
 * @checked: it has given a check for the round
 * @ended: it has ended the stream
 * @polls: it polls after each write
 * @waits: it found no room, or left none, when it had been woken @wakes times
 * @wakes: see @waits
 * @harm: an error is a right outcome
 */
static struct cast {
	struct app app[WORLD_NODES];
	u32 rounds;
	u32 round;
	u32 known;
	u64 total;
	u64 written;
	bool early;
	u64 totals[ROUNDS];
	bool checked[ROUNDS];
	bool ended;
	bool polls;
	bool waits;
	u32 wakes;
	bool harm;
} cast;

static u32 one_of(u32 n)
{
	return get_random_u32() % n;
}

static u8 byte_at(u32 round, u64 at)
{
	return (at * 0x9e3779b97f4a7c15ull) >> 56 ^ round;
}

/* --- nodes -------------------------------------------------------------------- */

static void arrange(enum shape shape)
{
	u32 i;

	for (i = 1; i < WORLD_NODES; i++)
		world.node[i].parent = shape == CHAIN ? i - 1 :
				       shape == STAR ? RECEIVER : (i - 1) / 2;
}

/* Identities ascend with the nodes. The entry owns the list. */
static void list_children(struct aggnet_tree_conf *conf, u32 node)
{
	u32 i;

	conf->children = aggnet_zalloc(WORLD_NODES * sizeof(__be32), GFP_KERNEL);
	for (i = 1; i < WORLD_NODES; i++)
		if (world.node[i].parent == node)
			conf->children[conf->nchildren++] =
				world.node[i].an.identity;
	conf->contributors = conf->nchildren + !!conf->writers;
}

static u32 readers_below(u32 node)
{
	u32 i, n = cast.app[node].readers > 0;

	for (i = 1; i < WORLD_NODES; i++)
		if (world.node[i].parent == node)
			n += readers_below(i);
	return n;
}

static struct aggnet_tree_conf entry_of(u32 node, u64 memory)
{
	struct aggnet_tree_conf conf = {
		.instance = 1,
		.attempt = 1,
		.sources = readers_below(node),
		.writers = cast.app[node].readers,
		.shape.layout = AGGNET_LAYOUT_BYTES,
		.direction = AGGNET_DIR_DOWN,
		.persist = cast.rounds > 0,
		.hops = 1,
		.memory = memory,
	};

	list_children(&conf, node);
	if (world.conf.keyed)
		aggnet_secret_set(&conf.key, "0123456789abcdef");
	return conf;
}

static void join(u32 node)
{
	struct node *n = &world.node[node];
	struct app *a = &cast.app[node];
	int err;

	if (!n->tree || a->joined == a->readers)
		return;
	err = aggnet_tree_join_writer(n->tree, &a->reader[a->joined]);
	INSIST(!err || cast.harm, "a reader cannot join");
	if (err)
		return;
	aggnet_tree_get(n->tree);
	a->joined++;
}

static void leave(u32 node, u32 reader)
{
	struct app *a = &cast.app[node];
	struct aggnet_local *local = &a->reader[reader];

	if (reader >= a->joined || !local->list.next)
		return;
	aggnet_tree_leave(world.node[node].tree, local);
	aggnet_tree_put(world.node[node].tree);
	local->list.next = NULL;
}

static void leave_all(u32 node)
{
	u32 i;

	for (i = 0; i < READERS; i++)
		leave(node, i);
}

static void add(u32 node, u64 memory)
{
	struct aggnet_tree_conf conf;

	if (world.node[node].tree || cast.app[node].gone)
		return;
	conf = entry_of(node, memory);
	INSIST(!IS_ERR(world_entry(node, &conf)), "an entry is refused");
}

static void start(enum shape shape, bool keyed, u64 seed)
{
	struct world_conf conf = usual;
	u32 i;

	conf.keyed = keyed;
	world_start(&conf, seed);
	memset(&cast, 0, sizeof(cast));
	arrange(shape);
	for (i = 1; i < WORLD_NODES; i++)
		cast.app[i].readers = 1;
}

static void end(void)
{
	u32 i;

	/* Leaving is no abort then, or one that is not looked at. */
	for (i = 0; i < WORLD_NODES; i++)
		leave_all(i);
	world.ended |= 1ull << world.node[RECEIVER].attempt;
	world_end();
}

/* --- applications ---------------------------------------------------------------- */

static void root_writes(u32 most)
{
	struct node *root = &world.node[RECEIVER];
	struct aggnet_tree *tree = root->tree;
	u32 len = min_t(u64, most, cast.total - cast.written);
	u32 i, wakes = root->wakes;
	static u8 buf[16384];
	int taken;

	if (!tree || cast.ended || !len)
		return;
	for (i = 0; i < len; i++)
		buf[i] = byte_at(cast.round, cast.written + i);
	taken = aggnet_cast_write(tree, buf, len);
	INSIST(taken > 0 || taken == -EAGAIN || cast.harm,
	       "a write fails for no reason");
	/* After less than it gave it may wait without another try. */
	cast.waits = taken == -EAGAIN || (taken > 0 && taken < len);
	cast.wakes = wakes;
	if (taken > 0)
		cast.written += taken;
	if (cast.polls)
		cast.waits = !aggnet_tree_poll(tree, &root->reader);
}

static u64 check_of(u32 round)
{
	return cast.totals[round] ^ round << 20 ^ 77;
}

/* Sizes of rounds: none, about a packet, many packets */
static u64 size_of_round(void)
{
	switch (one_of(8)) {
	case 0:
		return 0;
	case 1:
		return 1384;
	default:
		return one_of(cast.rounds ? 60000 : 300000);
	}
}

/* End the present round, or the stream with it. It may be too early. */
static void root_ends(void)
{
	bool last = cast.round + 1 >= cast.rounds;
	struct node *root = &world.node[RECEIVER];
	struct aggnet_tree *tree = root->tree;
	u32 wakes = root->wakes;
	int err = 0;

	if (!tree || cast.ended || cast.written < cast.total)
		return;
	cast.totals[cast.round] = cast.total;
	if (!last || !cast.early)
		err = aggnet_cast_set_check(tree, check_of(cast.round));
	INSIST(!err || cast.harm || (err == -EAGAIN && cast.round),
	       "the check is refused");
	cast.waits = err == -EAGAIN;
	cast.wakes = wakes;
	if (err == -EAGAIN)
		return;
	INSIST(!aggnet_cast_end(tree, last) || cast.harm,
	       "the round does not end");
	cast.checked[cast.round++] = !last || !cast.early;
	cast.ended = last;
	cast.written = 0;
	cast.total = cast.early && cast.round + 1 >= cast.rounds ?
		     0 : size_of_round();
}

/* It gets an outcome for each round that is done, and no other. */
static void root_asks(void)
{
	struct node *root = &world.node[RECEIVER];
	struct aggnet_tree *tree = root->tree;
	int err;

	if (!tree || !root->reader.list.next)
		return;
	err = aggnet_tree_outcome(tree, &root->reader, false);
	cast.known += err == 1 && cast.known < cast.round;
	INSIST(cast.harm || err >= 0 ||
	       (err == -ENOMSG && cast.known == cast.round && !cast.ended),
	       "a wrong outcome");
	INSIST(cast.harm || err != 1 || cast.known <= tree->round ||
	       tree->state == AGGNET_TREE_DONE, "an early outcome");
}

static void check_end(u32 node, const u8 *buf, u32 round, u64 read)
{
	const struct aggnet_tree *tree = world.node[node].tree;
	struct aggnet_end mark;

	memcpy(&mark, buf, sizeof(mark));
	INSIST(cast.round > round && read == cast.totals[round] &&
	       mark.records == read, "the end mark comes early");
	INSIST(mark.round == round && mark.last == (round + 1 >= cast.rounds),
	       "the end mark is of another round");
	INSIST(tree->store.cast.checked == cast.checked[round] &&
	       (!cast.checked[round] ||
		tree->store.cast.check == check_of(round)), "a wrong check");
}

/* The reader has read the end mark in @buf. */
static void takes_end(u32 node, u32 reader, const u8 *buf)
{
	struct app *a = &cast.app[node];
	u32 round = a->round[reader];
	int err;

	check_end(node, buf, round, a->read[reader]);
	a->round[reader]++;
	a->read[reader] = 0;
	a->ended[reader] = round + 1 >= cast.rounds;
	err = aggnet_cast_take_end(world.node[node].tree, &a->reader[reader],
				   round);
	INSIST(!err || cast.harm, "the end mark cannot be taken");
}

static void node_reads(u32 node, u32 reader, u32 most)
{
	struct aggnet_tree *tree = world.node[node].tree;
	struct app *a = &cast.app[node];
	u32 wakes = world.node[node].wakes;
	struct aggnet_msg msg;
	static u8 buf[16384];
	int i, len;

	if (!tree || reader >= a->joined || !a->reader[reader].list.next ||
	    a->ended[reader])
		return;
	most = clamp_t(u32, most, AGGNET_RECORD_MAX, sizeof(buf));
	len = aggnet_cast_read(tree, &a->reader[reader], &msg, buf, most, false);
	INSIST(len > 0 || len == -EAGAIN || cast.harm,
	       "a read fails for no reason");
	a->waits[reader] = len == -EAGAIN;
	a->wakes[reader] = wakes;
	if (len < 0)
		return;
	if (msg.type == AGGNET_MSG_END) {
		takes_end(node, reader, buf);
		return;
	}
	for (i = 0; i < len; i++)
		INSIST(buf[i] == byte_at(a->round[reader], a->read[reader] + i),
		       "a wrong byte");
	a->read[reader] += len;
	aggnet_tree_taken(tree, false);
}

/* Do all readers have the end marks of so many rounds? */
static bool all_have(u32 rounds)
{
	u32 i, r;

	for (i = 1; i < WORLD_NODES; i++)
		for (r = 0; r < cast.app[i].readers; r++)
			if (cast.app[i].round[r] < rounds)
				return false;
	return true;
}

static bool all_ended(void)
{
	return cast.ended && all_have(cast.round);
}

/* --- what must hold after each section under a tree's lock ------------------------- */

static void check_branches(const struct aggnet_tree *tree)
{
	const struct aggnet_cast *c = &tree->store.cast;
	const struct aggnet_branch *b;
	u32 i;

	if (c->todo)
		return;
	for (i = 0; i < c->bound; i++) {
		b = &c->branch[i];
		INSIST(!aggnet_sender_all_acked(&b->sender) ||
		       b->sender.nxt == aggnet_fanout_cum(&c->fan) ||
		       !aggnet_sender_may_add(&b->sender),
		       "a packet waits for nothing");
		/* A child that has just bound asks for it. */
		INSIST(b->fin || !c->fan.ended ||
		       b->sender.credit == FIRST ||
		       b->sender.nxt != c->fan.final, "the end is not told");
		INSIST((aggnet_sender_all_acked(&b->sender) &&
			(!b->fin || b->told)) || c->timer.pending || tree->dead,
		       "nothing repeats a packet");
	}
}

/* Those that lack the oldest packet, also children and readers that are not there. */
static void check_last(const struct aggnet_tree *tree, u32 node)
{
	const struct aggnet_cast *c = &tree->store.cast;
	const struct app *a = &cast.app[node];
	u32 i, n = 0;

	/* All have everything, and readers may leave. */
	if (c->fan.ended && c->fan.first == c->fan.final)
		return;
	for (i = 0; i < c->branches; i++)
		n += c->branch[i].sender.una == c->fan.first;
	for (i = 0; i < a->readers; i++)
		n += i >= a->joined || a->reader[i].seq == c->fan.first;
	INSIST(c->last == n, "the oldest packet is not kept, or kept too long");
}

static void check_waits(struct aggnet_tree *tree, u32 node)
{
	const struct app *a = &cast.app[node];
	u32 wakes = world.node[node].wakes;
	u32 r;

	for (r = 0; r < a->joined; r++)
		INSIST(!a->waits[r] || a->wakes[r] != wakes ||
		       !aggnet_cast_may_read(tree, &a->reader[r]),
		       "a reader was not woken");
	INSIST(node != RECEIVER || !cast.waits || cast.wakes != wakes ||
	       !aggnet_cast_may_write(tree), "the root was not woken");
}

static void ran(struct aggnet_tree *tree)
{
	u32 node = container_of(tree->an, struct node, an) - world.node;
	const struct aggnet_fanout *fan;

	if (tree != world.node[node].tree || tree->dead)
		return;
	INSIST(node != RECEIVER || tree->state != AGGNET_TREE_DONE ||
	       all_ended(), "the root is DONE, but not all have everything");
	INSIST(node != RECEIVER || all_have(tree->round),
	       "the root goes on, but not all have the round");
	if (tree->state == AGGNET_TREE_IDLE || tree->state >= AGGNET_TREE_DONE)
		return;
	check_branches(tree);
	check_last(tree, node);
	check_waits(tree, node);
	fan = &tree->store.cast.fan;
	INSIST(!aggnet_cast_waits(tree) || fan->granted != fan->win.cum ||
	       fan->granted == aggnet_fanout_credit(fan),
	       "the parent waits for credit that is there");
}

/* --- random runs -------------------------------------------------------------------- */

static void network_step(u32 op)
{
	u32 n = world.packets;

	if (!n)
		return;
	switch (op) {
	case 0:
		world_copy(one_of(n));
		break;
	case 1:
		world_lose(one_of(n));
		break;
	case 2:
		world_corrupt(one_of(n), one_of(12000));
		break;
	case 3:
		world_stray(one_of(n), one_of(WORLD_NODES));
		break;
	case 4:
		world_deliver(one_of(n));
		break;
	default:
		for (n = min(n, 1 + one_of(16)); n; n--)
			world_deliver(0);
	}
}

static void step(u64 memory)
{
	u32 node = one_of(WORLD_NODES);

	switch (one_of(16)) {
	case 0 ... 6:
		network_step(one_of(10));
		break;
	case 7:
		world_wait(one_of(20000));
		break;
	case 8 ... 9:
		root_writes(1 + one_of(one_of(2) ? 16000 : 100));
		break;
	case 10:
		root_ends();
		root_asks();
		break;
	case 11 ... 12:
		node_reads(node, one_of(READERS), one_of(16000));
		break;
	case 13:
		world_work();
		break;
	case 14:
		add(node, memory);
		if (one_of(2))
			join(node);
		break;
	default:
		world.no_packet = !one_of(4);
	}
}

static void harm(void)
{
	u32 node = one_of(WORLD_NODES);

	cast.harm = true;
	if (!one_of(3)) {
		leave(node, 0);
		return;
	}
	/* Withdrawn, or as after a crash: then no packet leaves. */
	world.node[node].mute = one_of(2);
	leave_all(node);
	world_del(node);
	world.node[node].mute = false;
	cast.app[node].gone = true;
}

static bool settled(void)
{
	u32 i;

	for (i = 0; i < WORLD_NODES; i++)
		if (world.node[i].tree &&
		    world.node[i].tree->state < AGGNET_TREE_DONE &&
		    (world.node[i].tree->state != AGGNET_TREE_IDLE ||
		     !cast.harm))
			return false;
	return true;
}

/* A process that waits tries again only after it is woken. */
static void everybody_goes_on(u64 memory)
{
	struct app *a;
	u32 i, r;

	for (i = 0; i < WORLD_NODES; i++) {
		a = &cast.app[i];
		if (!cast.harm)
			add(i, memory);
		join(i);
		for (r = 0; r < a->readers; r++)
			if (!a->waits[r] || a->wakes[r] != world.node[i].wakes)
				node_reads(i, r, 16000);
	}
	if (!cast.waits || cast.wakes != world.node[RECEIVER].wakes)
		root_writes(16000);
	if (!cast.waits || cast.wakes != world.node[RECEIVER].wakes)
		root_ends();
	root_asks();
	world_work();
}

static void settle(u64 memory)
{
	u32 steps, n;

	world.settling = true;
	for (steps = 0; steps < SETTLE; steps++) {
		everybody_goes_on(memory);
		for (n = world.packets; n; n--)
			world_deliver(0);
		if (settled())
			return;
		world_pass();
	}
	world_fail(__func__, "it does not come to an end");
}

static void random_run(enum shape shape, u64 seed, bool harmful, bool rounds)
{
	u32 steps, when = STEPS, i;
	u64 memory;

	start(shape, seed & 1, seed);
	world.ran = ran;
	memory = one_of(2) ? SMALL : 1 << 20;
	cast.rounds = rounds ? 1 + one_of(ROUNDS) : 0;
	cast.total = size_of_round();
	cast.early = rounds && !one_of(4);
	cast.polls = one_of(2);
	for (i = 1; i < WORLD_NODES; i++)
		cast.app[i].readers = 1 + !one_of(3);
	/* A node in the middle that has no process of its own */
	if (shape == FORKS && one_of(2))
		cast.app[1].readers = 0;
	if (harmful)
		when = one_of(STEPS);
	for (i = 0; i < WORLD_NODES; i++)
		if (one_of(4))
			add(i, memory);
	for (steps = 0; steps < STEPS; steps++) {
		step(memory);
		if (steps == when)
			harm();
	}
	settle(memory);
	INSIST(cast.harm || (all_ended() && world.node[RECEIVER].tree->state ==
			     AGGNET_TREE_DONE), "the transfer is not done");
	INSIST(cast.harm || cast.known == cast.round, "an outcome is lost");
	end();
}

static void random_runs(enum shape shape, bool harmful, bool rounds)
{
	const char *text = getenv("SEED");
	u64 seed = text ? strtoull(text, NULL, 0) : SEED;
	u32 i;

	for (i = 0; i < RUNS; i++) {
		printf("# seed %llu\r", (unsigned long long)(seed + i));
		fflush(stdout);
		random_run(shape, seed + i, harmful, rounds);
	}
}

TEST(stream__down_a_chain)
{
	random_runs(CHAIN, false, false);
}

TEST(stream__down_a_star)
{
	random_runs(STAR, false, false);
}

TEST(stream__down_forks)
{
	random_runs(FORKS, false, false);
}

TEST(rounds__down_a_chain)
{
	random_runs(CHAIN, false, true);
}

TEST(rounds__down_a_star)
{
	random_runs(STAR, false, true);
}

TEST(rounds__down_forks)
{
	random_runs(FORKS, false, true);
}

TEST(error__down_a_chain)
{
	random_runs(CHAIN, true, false);
}

TEST(error__down_a_star)
{
	random_runs(STAR, true, false);
}

TEST(error__down_forks)
{
	random_runs(FORKS, true, false);
}

TEST(error__in_rounds_down_forks)
{
	random_runs(FORKS, true, true);
}

/* --- single rules: a node and peers that the test plays ------------------------------ */

FIXTURE(rules)
{
	struct aggnet_tree *tree;
	struct peer peer;
	struct peer other;
};

FIXTURE_SETUP(rules)
{
}

FIXTURE_TEARDOWN(rules)
{
	cast.harm = true;
	end();
}

/* Take packets until one of this type comes. Return: has it come? */
static bool hears(struct peer *p, u8 type, struct aggnet_pkt *pkt)
{
	while (peer_hears(p, pkt))
		if (pkt->type == type)
			return true;
	return false;
}

static u64 dropped(u32 node, enum aggnet_stat why)
{
	return world.node[node].stats.value[why];
}

/* The root of two planned children; one has bound, and has no credit yet. */
static struct aggnet_tree *root_in_rounds(struct peer *one, u32 rounds)
{
	struct aggnet_tree *tree;

	start(STAR, false, SEED);
	cast.rounds = rounds;
	world.node[CHILD].parent = CHILD;
	world.node[OTHER].parent = OTHER;
	add(RECEIVER, SMALL);
	tree = world.node[RECEIVER].tree;
	*one = peer_as(tree, ACCEPTOR, 0x1234);
	peer_open(one);
	cast.total = 100;
	return tree;
}

static struct aggnet_tree *root_and(struct peer *one)
{
	return root_in_rounds(one, 0);
}

/* Both have bound. */
static struct aggnet_tree *root_of_two(struct peer *one, struct peer *two)
{
	struct aggnet_tree *tree = root_and(one);

	*two = peer_as(tree, WRONG, 0x5678);
	peer_open(two);
	return tree;
}

/* A node of a chain with a reader, bound to its parent. */
static struct aggnet_tree *bound_in_rounds(struct peer *p, u32 node, u32 rounds)
{
	struct aggnet_pkt pkt = {};
	struct aggnet_tree *tree;

	start(CHAIN, false, SEED);
	cast.rounds = rounds;
	cast.round = ROUNDS;
	add(node, SMALL);
	join(node);
	tree = world.node[node].tree;
	*p = peer_acceptor(tree);
	INSIST(hears(p, AGGNET_OPEN, &pkt), "no OPEN");
	peer_accept(p, 1);
	INSIST(hears(p, AGGNET_PROBE, &pkt), "no PROBE");
	peer_ack(p, 0, FIRST, FIRST);
	INSIST(hears(p, AGGNET_ACK, &pkt) && pkt.flags & AGGNET_F_DOWN,
	       "no credit");
	return tree;
}

static struct aggnet_tree *bound_node(struct peer *p, u32 node)
{
	return bound_in_rounds(p, node, 0);
}

/* The last node of the chain */
static struct aggnet_tree *reader_of(struct peer *p)
{
	return bound_node(p, OTHER);
}

static void say_bytes(struct peer *p, u32 seq, u64 at, u16 flags)
{
	struct {
		struct aggnet_data data;
		u8 byte[PART];
	} body = {
		.data.seq = cpu_to_be32(seq),
		.data.represents = cpu_to_be64(at),
	};
	u32 i;

	for (i = 0; i < sizeof(body.byte); i++)
		body.byte[i] = byte_at(p->round, at + i);
	peer_say(p, AGGNET_DATA, AGGNET_F_DOWN | flags, &body, sizeof(body));
}

static void say_end(struct peer *p, u32 final, u64 bytes)
{
	struct aggnet_fin fin = {
		.final = cpu_to_be32(final),
		.records = cpu_to_be64(bytes),
	};
	u16 last = p->round + 1 == cast.rounds ? AGGNET_F_LAST : 0;

	cast.totals[p->round] = bytes;
	cast.checked[p->round] = true;
	fin.check = cpu_to_be64(check_of(p->round));
	peer_say(p, AGGNET_FIN, AGGNET_F_DOWN | AGGNET_F_CHECK | last, &fin,
		 sizeof(fin));
}

/* The readers of the nodes that the test plays have taken an end mark. */
static void all_take_a_round(void)
{
	u32 i;

	for (i = 1; i < WORLD_NODES; i++)
		cast.app[i].round[0]++;
}

TEST_F(rules, done__when_all_children_have_finished)
{
	struct aggnet_tree *tree = root_of_two(&self->peer, &self->other);

	peer_ack(&self->peer, AGGNET_F_DOWN, FIRST, FIRST + 32);
	peer_ack(&self->other, AGGNET_F_DOWN, FIRST, FIRST + 32);
	root_writes(100);
	root_ends();
	peer_fin(&self->peer, FIRST);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	all_take_a_round();
	peer_fin(&self->other, FIRST);
	EXPECT_EQ(AGGNET_TREE_DONE, tree->state);
}

TEST_F(rules, fin__of_a_child_before_the_end)
{
	struct aggnet_tree *tree = root_of_two(&self->peer, &self->other);

	root_writes(100);
	/* Until the end is known, this is any number. */
	tree->store.cast.fan.final = FIRST;
	peer_fin(&self->peer, FIRST);
	EXPECT_ABORTED(AGGNET_R_PROTOCOL, tree);
}

TEST_F(rules, fin__of_a_child_that_has_not_got_all)
{
	struct aggnet_tree *tree = root_of_two(&self->peer, &self->other);

	root_writes(100);
	root_ends();
	peer_fin(&self->peer, FIRST);
	EXPECT_ABORTED(AGGNET_R_PROTOCOL, tree);
}

/* The ring keeps what one of the two has not got. */
TEST_F(rules, ring__waits_for_the_slowest)
{
	struct aggnet_tree *tree = root_of_two(&self->peer, &self->other);
	const struct aggnet_fanout *fan = &tree->store.cast.fan;
	u32 i;

	cast.total = 1 << 20;
	for (i = 0; i < 32; i++)
		root_writes(10);
	EXPECT_FALSE(aggnet_cast_may_write(tree));
	peer_ack(&self->peer, AGGNET_F_DOWN, FIRST, FIRST + 32);
	world_work();
	peer_ack(&self->peer, AGGNET_F_DOWN, FIRST + 8, FIRST + 40);
	EXPECT_FALSE(aggnet_cast_may_write(tree));
	peer_ack(&self->other, AGGNET_F_DOWN, FIRST, FIRST + 32);
	peer_ack(&self->other, AGGNET_F_DOWN, FIRST + 4, FIRST + 32);
	EXPECT_EQ(FIRST + 4, fan->first);
	EXPECT_TRUE(aggnet_cast_may_write(tree));
}

/* A process that polls between writes never finds that one takes nothing. */
TEST_F(rules, root__is_woken_after_a_poll)
{
	struct aggnet_tree *tree = root_of_two(&self->peer, &self->other);
	struct node *root = &world.node[RECEIVER];
	u32 i, wakes;

	cast.total = 1 << 20;
	for (i = 0; i < 32; i++) {
		EXPECT_TRUE(aggnet_tree_poll(tree, &root->reader) & EPOLLOUT);
		root_writes(10);
	}
	EXPECT_EQ(0, aggnet_tree_poll(tree, &root->reader));
	wakes = root->wakes;
	peer_ack(&self->peer, AGGNET_F_DOWN, FIRST, FIRST + 32);
	peer_ack(&self->other, AGGNET_F_DOWN, FIRST, FIRST + 32);
	world_work();
	peer_ack(&self->peer, AGGNET_F_DOWN, FIRST + 8, FIRST + 40);
	EXPECT_EQ(wakes, root->wakes);
	peer_ack(&self->other, AGGNET_F_DOWN, FIRST + 8, FIRST + 40);
	EXPECT_EQ(wakes + 1, root->wakes);
}

/* Both children have all packets but the last @left ones that a stream may have. */
static struct aggnet_tree *root_near_the_end(struct peer *one, struct peer *two,
					     u32 left)
{
	struct aggnet_tree *tree = root_of_two(one, two);
	struct aggnet_cast *c = &tree->store.cast;
	u32 seq = AGGNET_SEQ_END - left, i;

	aggnet_fanout_slide(&c->fan, seq);
	aggnet_rxwin_init(&c->fan.win, seq);
	c->fan.top = seq;
	for (i = 0; i < c->branches; i++)
		aggnet_sender_init(&c->branch[i].sender,
				   c->branch[i].sender.segment,
				   c->branch[i].sender.slots, seq);
	peer_ack(one, AGGNET_F_DOWN, seq, seq + 32);
	peer_ack(two, AGGNET_F_DOWN, seq, seq + 32);
	return tree;
}

TEST_F(rules, end__with_the_last_packet)
{
	struct aggnet_tree *tree = root_near_the_end(&self->peer, &self->other,
						     1);
	u8 byte = 0;

	root_writes(100);
	EXPECT_EQ(100, cast.written);
	root_ends();
	EXPECT_EQ(-EPIPE, aggnet_cast_write(tree, &byte, 1));
	EXPECT_EQ(-EPIPE, aggnet_cast_set_check(tree, 1));
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
}

TEST_F(rules, end__after_the_last_packet)
{
	struct aggnet_tree *tree = root_near_the_end(&self->peer, &self->other,
						     1);
	u8 byte = 0;

	root_writes(100);
	EXPECT_TRUE(aggnet_tree_poll(tree, &world.node[RECEIVER].reader) &
		    EPOLLOUT);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	EXPECT_EQ(-EPROTO, aggnet_cast_write(tree, &byte, 1));
	EXPECT_ABORTED(AGGNET_R_PROTOCOL, tree);
}

/* The network carries only what is small, or only upward. */
TEST_F(rules, child__that_lives_but_gets_nothing)
{
	struct aggnet_tree *tree = root_of_two(&self->peer, &self->other);
	u32 ms;

	peer_ack(&self->peer, AGGNET_F_DOWN, FIRST, FIRST + 32);
	peer_ack(&self->other, AGGNET_F_DOWN, FIRST, FIRST + 32);
	root_writes(100);
	for (ms = 0; ms < WORLD_GIVE_UP + 3000; ms += 500) {
		EXPECT_EQ(ms < WORLD_GIVE_UP ? AGGNET_TREE_OPEN : tree->state,
			  tree->state);
		peer_ack(&self->peer, AGGNET_F_DOWN, FIRST, FIRST + 32);
		peer_ack(&self->other, AGGNET_F_DOWN, FIRST + 1, FIRST + 32);
		world_wait(500000);
	}
	EXPECT_ABORTED(AGGNET_R_TIMEOUT, tree);
	EXPECT_EQ(self->peer.id, tree->outcome.about);
}

/* It gets packets, but there is always one that it has not acknowledged. */
TEST_F(rules, child__that_is_never_idle)
{
	struct aggnet_tree *tree = root_of_two(&self->peer, &self->other);
	u32 seq = FIRST, ms;

	cast.total = 1 << 20;
	root_writes(10);
	for (ms = 0; ms < WORLD_GIVE_UP + 3000; ms += 500) {
		peer_ack(&self->peer, AGGNET_F_DOWN, seq, seq + 32);
		peer_ack(&self->other, AGGNET_F_DOWN, seq, seq + 32);
		root_writes(10);
		world_wait(500000);
		seq++;
	}
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
}

/* A node does not finish without a child, however long it waits. */
TEST_F(rules, child__that_never_comes)
{
	struct aggnet_tree *tree = bound_node(&self->peer, CHILD);
	struct aggnet_pkt pkt = {};
	u32 ms;

	cast.total = PART;
	say_bytes(&self->peer, FIRST, 0, 0);
	say_end(&self->peer, FIRST + 1, PART);
	node_reads(CHILD, 0, 512);
	node_reads(CHILD, 0, 512);
	EXPECT_TRUE(cast.app[CHILD].ended[0]);
	for (ms = 0; ms < WORLD_GIVE_UP + 3000; ms += 500) {
		EXPECT_FALSE(hears(&self->peer, AGGNET_FIN, &pkt));
		EXPECT_TRUE(tree->acceptor.open);
		peer_ack(&self->peer, 0, FIRST, FIRST);
		world_wait(500000);
	}
	EXPECT_ABORTED(AGGNET_R_TIMEOUT, tree);
	EXPECT_EQ(world.node[OTHER].an.identity, tree->outcome.about);
}

/* The root of two children; one has bound, and announces the sources of both. */
static struct aggnet_tree *root_of_one(struct peer *one)
{
	struct aggnet_tree *tree = root_and(one);

	root_writes(100);
	peer_ack(one, AGGNET_F_DOWN, FIRST, FIRST + 32);
	return tree;
}

TEST_F(rules, child__that_announces_the_sources_of_another)
{
	struct aggnet_tree *tree = root_of_one(&self->peer);
	u32 ms;

	for (ms = 0; ms < WORLD_GIVE_UP + 3000; ms += 500) {
		peer_ack(&self->peer, AGGNET_F_DOWN, FIRST + 1, FIRST + 33);
		world_wait(500000);
	}
	EXPECT_ABORTED(AGGNET_R_TIMEOUT, tree);
	EXPECT_EQ(world.node[WRONG].an.identity, tree->outcome.about);
}

TEST_F(rules, done__not_without_a_child)
{
	struct aggnet_tree *tree = root_of_one(&self->peer);
	const struct aggnet_fin fin = {
		.final = cpu_to_be32(FIRST),
		.weight = cpu_to_be32(2),
	};

	root_ends();
	peer_ack(&self->peer, AGGNET_F_DOWN | AGGNET_F_FIN, FIRST + 1,
		 FIRST + 33);
	peer_say(&self->peer, AGGNET_FIN, 0, &fin, sizeof(fin));
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	world_wait((WORLD_GIVE_UP + 3000) * 1000ull);
	EXPECT_ABORTED(AGGNET_R_TIMEOUT, tree);
}

/* A child without credit is slow, and not silent. The root's process may leave. */
TEST_F(rules, child__that_is_slow)
{
	struct aggnet_tree *tree = root_of_two(&self->peer, &self->other);
	struct node *root = &world.node[RECEIVER];
	u32 ms;

	root_writes(100);
	root_ends();
	aggnet_tree_leave(tree, &root->reader);
	aggnet_tree_put(tree);
	root->reader.list.next = NULL;
	for (ms = 0; ms < 2 * WORLD_GIVE_UP; ms += 500) {
		peer_ack(&self->peer, AGGNET_F_DOWN, FIRST, FIRST);
		peer_ack(&self->other, AGGNET_F_DOWN, FIRST, FIRST);
		world_wait(500000);
	}
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
}

static void expect_refused(struct __test_metadata *_metadata,
			   struct aggnet_tree_conf *conf)
{
	EXPECT_EQ(-EINVAL, PTR_ERR(world_entry(RECEIVER, conf)));
	aggnet_free(conf->children);
}

/* Memory for a branch is there only for a listed child. */
TEST_F(rules, entry__that_no_stream_can_have)
{
	struct aggnet_tree_conf conf;

	start(STAR, false, SEED);
	conf = entry_of(RECEIVER, SMALL);
	conf.nchildren--;
	expect_refused(_metadata, &conf);
	conf = entry_of(RECEIVER, SMALL);
	conf.hold_ms = 1000;
	expect_refused(_metadata, &conf);
}

TEST_F(rules, open__of_an_unplanned_child)
{
	struct aggnet_tree *tree = root_of_two(&self->peer, &self->other);
	struct peer third = peer_as(tree, OTHER, 0x9abc);
	struct aggnet_pkt pkt = {};

	peer_ask(&third, AGGNET_F_ANY);
	EXPECT_FALSE(hears(&third, AGGNET_ACCEPT, &pkt));
	EXPECT_EQ(2, tree->acceptor.bound);
}

TEST_F(rules, open__of_another_direction)
{
	struct aggnet_tree *tree;

	start(STAR, false, SEED);
	add(RECEIVER, SMALL);
	tree = world.node[RECEIVER].tree;
	self->peer = peer_as(tree, ACCEPTOR, 0x1234);
	tree->conf.direction = AGGNET_DIR_UP;
	peer_ask(&self->peer, 0);
	tree->conf.direction = AGGNET_DIR_DOWN;
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	peer_replay(&self->peer);
	EXPECT_ABORTED(AGGNET_R_FUNCTION, tree);
}

TEST_F(rules, data__that_goes_up)
{
	struct aggnet_tree *tree = root_of_two(&self->peer, &self->other);
	u64 before = dropped(RECEIVER, AGGNET_STAT_drop_state);

	world.packets = 0;
	peer_data(&self->peer, FIRST);
	EXPECT_EQ(before + 1, dropped(RECEIVER, AGGNET_STAT_drop_state));
	EXPECT_EQ(0, world.packets);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
}

TEST_F(rules, data__for_which_there_is_no_slot)
{
	struct aggnet_tree *tree = reader_of(&self->peer);
	u64 before = dropped(OTHER, AGGNET_STAT_drop_window);

	say_bytes(&self->peer, FIRST + 31, 31 * PART, 0);
	EXPECT_EQ(before, dropped(OTHER, AGGNET_STAT_drop_window));
	say_bytes(&self->peer, FIRST + 32, 32 * PART, 0);
	EXPECT_EQ(before + 1, dropped(OTHER, AGGNET_STAT_drop_window));
	EXPECT_EQ(FIRST, tree->store.cast.fan.win.cum);
}

TEST_F(rules, data__behind_the_end)
{
	struct aggnet_tree *tree = reader_of(&self->peer);
	u64 before = dropped(OTHER, AGGNET_STAT_drop_window);

	say_end(&self->peer, FIRST + 1, PART);
	say_bytes(&self->peer, FIRST + 1, PART, 0);
	EXPECT_EQ(before + 1, dropped(OTHER, AGGNET_STAT_drop_window));
	say_bytes(&self->peer, FIRST, 0, 0);
	EXPECT_TRUE(aggnet_fanout_is_whole(&tree->store.cast.fan));
}

TEST_F(rules, data__that_does_not_follow)
{
	struct aggnet_tree *tree = reader_of(&self->peer);

	say_bytes(&self->peer, FIRST, 0, 0);
	say_bytes(&self->peer, FIRST + 1, PART - 1, 0);
	EXPECT_ABORTED(AGGNET_R_PROTOCOL, tree);
}

TEST_F(rules, end__of_another_length)
{
	struct aggnet_tree *tree = reader_of(&self->peer);

	say_bytes(&self->peer, FIRST, 0, 0);
	say_end(&self->peer, FIRST + 1, PART + 1);
	EXPECT_ABORTED(AGGNET_R_MISMATCH, tree);
}

TEST_F(rules, end__before_what_has_come)
{
	struct aggnet_tree *tree = reader_of(&self->peer);

	say_bytes(&self->peer, FIRST + 2, 2 * PART, 0);
	say_end(&self->peer, FIRST + 2, 2 * PART);
	EXPECT_ABORTED(AGGNET_R_PROTOCOL, tree);
}

TEST_F(rules, end__is_answered_each_time)
{
	struct aggnet_pkt pkt = {};
	u32 i;

	reader_of(&self->peer);
	for (i = 0; i < 2; i++) {
		world.packets = 0;
		say_end(&self->peer, FIRST + 1, PART);
		ASSERT_TRUE(hears(&self->peer, AGGNET_ACK, &pkt));
		EXPECT_TRUE(pkt.flags & AGGNET_F_FIN);
	}
}

/* Two threads read: what one copies out may still be lost. */
TEST_F(rules, end_mark__after_all_bytes_are_copied)
{
	struct aggnet_tree *tree = reader_of(&self->peer);
	struct aggnet_local *local = &cast.app[OTHER].reader[0];
	struct aggnet_msg msg;
	u8 buf[512];

	say_bytes(&self->peer, FIRST, 0, 0);
	say_end(&self->peer, FIRST + 1, PART);
	EXPECT_EQ(PART, aggnet_cast_read(tree, local, &msg, buf, sizeof(buf),
					 false));
	EXPECT_EQ(AGGNET_MSG_BYTES, msg.type);
	EXPECT_EQ(-EAGAIN, aggnet_cast_read(tree, local, &msg, buf, sizeof(buf),
					    false));
	aggnet_tree_taken(tree, true);
	EXPECT_ABORTED(AGGNET_R_RECEIVER, tree);
}

/* A reader that has not taken what is there need not be woken. */
TEST_F(rules, reader__is_woken_once)
{
	u32 wakes;

	reader_of(&self->peer);
	cast.total = 4 * PART;
	wakes = world.node[OTHER].wakes;
	say_bytes(&self->peer, FIRST, 0, 0);
	say_bytes(&self->peer, FIRST + 1, PART, 0);
	EXPECT_EQ(wakes + 1, world.node[OTHER].wakes);
	node_reads(OTHER, 0, 512);
	wakes = world.node[OTHER].wakes;
	say_bytes(&self->peer, FIRST + 2, 2 * PART, 0);
	say_bytes(&self->peer, FIRST + 3, 3 * PART, 0);
	EXPECT_EQ(wakes + 1, world.node[OTHER].wakes);
}

TEST_F(rules, reader__that_leaves_early)
{
	struct aggnet_tree *tree = reader_of(&self->peer);

	say_bytes(&self->peer, FIRST, 0, 0);
	say_end(&self->peer, FIRST + 1, PART);
	node_reads(OTHER, 0, 512);
	leave(OTHER, 0);
	EXPECT_ABORTED(AGGNET_R_RECEIVER, tree);
}

TEST_F(rules, root__that_leaves_early)
{
	struct aggnet_tree *tree = root_of_two(&self->peer, &self->other);
	struct node *root = &world.node[RECEIVER];

	root_writes(100);
	aggnet_tree_leave(tree, &root->reader);
	aggnet_tree_put(tree);
	root->reader.list.next = NULL;
	EXPECT_ABORTED(AGGNET_R_SENDER, tree);
}

/* A hole that closes is acknowledged, although the packet that closes it asked not. */
TEST_F(rules, hole__that_closes)
{
	struct aggnet_pkt pkt = {};

	reader_of(&self->peer);
	say_bytes(&self->peer, FIRST + 1, PART, 0);
	world.packets = 0;
	say_bytes(&self->peer, FIRST, 0, 0);
	EXPECT_TRUE(hears(&self->peer, AGGNET_ACK, &pkt));
	world.packets = 0;
	say_bytes(&self->peer, FIRST + 2, 2 * PART, 0);
	EXPECT_FALSE(hears(&self->peer, AGGNET_ACK, &pkt));
}

#define MANY		5000	/* children, more than one run of the timer looks at */

/* The timer of many children stops when all have everything. */
TEST_F(rules, timer__of_many_children)
{
	struct aggnet_tree_conf conf;
	struct aggnet_tree *tree;
	struct peer *peer;
	u32 i;

	start(STAR, false, SEED);
	conf = entry_of(RECEIVER, SMALL);
	aggnet_free(conf.children);
	conf.children = aggnet_zalloc(MANY * sizeof(__be32), GFP_KERNEL);
	for (i = 0; i < MANY; i++)
		conf.children[i] = 0x0100000b + (i << 8);
	conf.nchildren = MANY;
	conf.contributors = MANY;
	conf.sources = MANY;
	tree = world_entry(RECEIVER, &conf);
	ASSERT_FALSE(IS_ERR(tree));
	cast.total = 100;
	root_writes(100);
	peer = calloc(MANY, sizeof(*peer));
	ASSERT_NE(NULL, peer);
	for (i = 0; i < MANY; i++) {
		world.packets = 0;
		peer[i] = peer_of(tree, ntohl(0x0100000b + (i << 8)), 1 + i);
		peer_open(&peer[i]);
		peer_ack(&peer[i], AGGNET_F_DOWN, FIRST, FIRST + 32);
	}
	world_wait(20000);
	EXPECT_TRUE(tree->store.cast.timer.pending);
	for (i = 0; i < MANY; i++)
		peer_ack(&peer[i], AGGNET_F_DOWN, FIRST + 1, FIRST + 33);
	EXPECT_EQ(FIRST + 1, tree->store.cast.fan.first);
	/* A call serves a timer once. */
	for (i = 0; i < 10; i++)
		world_wait(200000);
	EXPECT_FALSE(tree->store.cast.timer.pending);
	free(peer);
}

#define GAPS		2000	/* packets that come at the rate of a link */

/* What the child of a node has got, without a loss */
struct follower {
	u32 cum;
	u32 stamp;	/* that it owes an ACK; 0: none */
	u32 repeated;
};

/* All packets under way arrive; those for the parent and nodes are not used. */
static void follow(struct follower *f, const struct peer *child)
{
	const struct packet *one;
	struct aggnet_pkt pkt;

	for (; world.packets; world_lose(0)) {
		one = world.packet[0];
		if (aggnet_parse_header(one->bytes, one->len, &pkt) !=
		    AGGNET_PARSE_OK || pkt.dst != child->id ||
		    pkt.type != AGGNET_DATA)
			continue;
		f->cum += !(pkt.flags & AGGNET_F_REXMIT);
		f->repeated += !!(pkt.flags & AGGNET_F_REXMIT);
		if (pkt.flags & AGGNET_F_ACK)
			f->stamp = pkt.stamp;
	}
}

/*
 * DATA come one in @gap microseconds, and the parent asks for an ACK of each eighth;
 * the child of the node acknowledges in the next gap what asks. Return: packets that
 * were sent to the child again
 */
static u32 repeated_at(struct peer *up, struct peer *down, u32 gap)
{
	struct aggnet_tree *tree = bound_node(up, CHILD);
	struct follower f = { .cum = FIRST };
	u32 i;

	*down = peer_as(tree, OTHER, 0x4321);
	peer_open(down);
	peer_ack(down, AGGNET_F_DOWN, FIRST, FIRST + 200);
	for (i = 0; i < GAPS; i++) {
		say_bytes(up, FIRST + i, (u64)i * PART,
			  i % 8 == 7 ? AGGNET_F_ACK : 0);
		node_reads(CHILD, 0, 16000);
		down->echo = f.stamp;
		if (f.stamp)
			peer_ack(down, AGGNET_F_DOWN, f.cum, f.cum + 200);
		f.stamp = 0;
		follow(&f, down);
		world_wait(gap);
	}
	INSIST(f.cum == FIRST + GAPS, "not all packets have gone on");
	return f.repeated;
}

/* A node sends on as slowly as it gets, 10 Mbit/s, and repeats nothing. */
TEST_F(rules, branch__that_follows_a_slow_link)
{
	EXPECT_EQ(0, repeated_at(&self->peer, &self->other, 1200));
}

/* At 2 Mbit/s a gap is longer than the shortest timeout. */
TEST_F(rules, branch__that_follows_a_very_slow_link)
{
	EXPECT_GE(2, repeated_at(&self->peer, &self->other, 6000));
}

/* --- rounds --------------------------------------------------------------------- */

/*
 * The root of two children, in its second round. They had credit for one packet in the
 * first one, and only their FINs say that they have it.
 */
static struct aggnet_tree *root_in_the_next(struct peer *one, struct peer *two)
{
	struct aggnet_tree *tree = root_in_rounds(one, ROUNDS);

	*two = peer_as(tree, WRONG, 0x5678);
	peer_open(two);
	peer_ack(one, AGGNET_F_DOWN, FIRST, FIRST + 1);
	peer_ack(two, AGGNET_F_DOWN, FIRST, FIRST + 1);
	root_writes(100);
	root_ends();
	all_take_a_round();
	peer_fin(one, FIRST);
	INSIST(!tree->round, "a round ends before all have it");
	world.packets = 0;
	peer_fin(two, FIRST);
	INSIST(tree->round == 1 && tree->state == AGGNET_TREE_OPEN,
	       "the next round does not begin");
	return tree;
}

/* DATA to a peer among the packets under way, of this round */
static u32 data_of(const struct peer *p, u32 round)
{
	struct aggnet_pkt pkt;
	u32 i, n = 0;

	for (i = 0; i < world.packets; i++) {
		INSIST(aggnet_parse_header(world.packet[i]->bytes,
					   world.packet[i]->len, &pkt) ==
		       AGGNET_PARSE_OK, "a node's packet has no form");
		n += pkt.type == AGGNET_DATA && pkt.dst == p->id &&
		     pkt.round == round;
	}
	return n;
}

TEST_F(rules, round__begins_without_an_ACK)
{
	struct aggnet_tree *tree;
	struct aggnet_pkt pkt = {};

	tree = root_in_the_next(&self->peer, &self->other);
	ASSERT_TRUE(hears(&self->peer, AGGNET_DONE, &pkt));
	EXPECT_EQ(0, pkt.round);
	EXPECT_FALSE(pkt.flags & AGGNET_F_LAST);
	cast.total = 20000;
	world.packets = 0;
	root_writes(16000);
	/* The first window has grown by one packet. */
	EXPECT_EQ(11, data_of(&self->peer, 1));
	EXPECT_EQ(FIRST + 1 + AGGNET_FANOUT_MIN,
		  tree->store.cast.branch[0].sender.credit);
}

/* An ACK that comes late tells nothing of the next round. */
TEST_F(rules, round__that_an_older_ACK_does_not_end)
{
	struct aggnet_branch *b;
	struct aggnet_tree *tree;

	tree = root_in_the_next(&self->peer, &self->other);
	b = &tree->store.cast.branch[0];
	cast.total = 0;
	root_ends();
	EXPECT_TRUE(b->fin);
	peer_ack(&self->peer, AGGNET_F_DOWN | AGGNET_F_FIN, FIRST + 1,
		 FIRST + 33);
	EXPECT_FALSE(b->told);
	self->peer.round = 1;
	peer_ack(&self->peer, AGGNET_F_DOWN | AGGNET_F_FIN, FIRST + 1,
		 FIRST + 33);
	EXPECT_TRUE(b->told);
}

/* The process may end then. */
TEST_F(rules, round__that_is_the_last_and_empty)
{
	struct node *root = &world.node[RECEIVER];
	struct aggnet_pkt pkt = {};
	struct aggnet_tree *tree;

	tree = root_in_rounds(&self->peer, ROUNDS);
	self->other = peer_as(tree, WRONG, 0x5678);
	peer_open(&self->other);
	cast.total = 0;
	root_ends();
	EXPECT_EQ(-EAGAIN, aggnet_cast_end(tree, false));
	EXPECT_EQ(0, aggnet_cast_end(tree, true));
	EXPECT_EQ(-EPIPE, aggnet_cast_end(tree, false));
	EXPECT_EQ(0, aggnet_cast_end(tree, true));
	aggnet_tree_leave(tree, &root->reader);
	aggnet_tree_put(tree);
	root->reader.list.next = NULL;
	all_take_a_round();
	peer_fin(&self->peer, FIRST);
	world.packets = 0;
	peer_fin(&self->other, FIRST);
	EXPECT_EQ(1, tree->round);
	do {
		ASSERT_TRUE(hears(&self->peer, AGGNET_FIN, &pkt));
	} while (pkt.dst != self->peer.id);
	EXPECT_EQ(1, pkt.round);
	EXPECT_TRUE(pkt.flags & AGGNET_F_DOWN && pkt.flags & AGGNET_F_LAST);
}

/* Numbers of rounds do not wrap, whichever way a tree leads. */
TEST_F(rules, round__that_has_the_last_number)
{
	struct aggnet_tree *tree = root_in_rounds(&self->peer, ROUNDS);
	u32 i;

	self->other = peer_as(tree, WRONG, 0x5678);
	peer_open(&self->other);
	cast.total = 0;
	root_ends();
	tree->round = U32_MAX;
	for (i = 0; i <= tree->acceptor.mask; i++)
		tree->acceptor.child[i].rounds = U32_MAX;
	self->peer.round = U32_MAX;
	self->other.round = U32_MAX;
	peer_fin(&self->peer, FIRST);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	peer_fin(&self->other, FIRST);
	EXPECT_ABORTED(AGGNET_R_PROTOCOL, tree);
	EXPECT_EQ(U32_MAX, tree->round);
}

/* Only the root ends the tree: its FIN has told whether a round is the last one. */
TEST_F(rules, round__that_a_child_calls_the_last)
{
	const struct aggnet_fin fin = {
		.final = cpu_to_be32(FIRST),
		.weight = cpu_to_be32(1),
	};
	struct aggnet_tree *tree = root_in_rounds(&self->peer, ROUNDS);

	self->other = peer_as(tree, WRONG, 0x5678);
	peer_open(&self->other);
	cast.total = 0;
	root_ends();
	cast.harm = true;
	peer_say(&self->peer, AGGNET_FIN, AGGNET_F_LAST, &fin, sizeof(fin));
	EXPECT_ABORTED(AGGNET_R_PROTOCOL, tree);
}

/* The timeout of a branch has doubled, as FINs were lost; the next round begins anew. */
TEST_F(rules, round__begins_with_the_shortest_timeout)
{
	struct aggnet_tree *tree = root_in_the_next(&self->peer, &self->other);
	struct aggnet_branch *b = &tree->store.cast.branch[0];

	self->peer.round = 1;
	self->other.round = 1;
	cast.total = 0;
	root_ends();
	all_take_a_round();
	world_wait(1000000);
	EXPECT_LT(0, b->sender.rtt.backoff);
	peer_fin(&self->peer, FIRST);
	peer_fin(&self->other, FIRST);
	EXPECT_EQ(2, tree->round);
	EXPECT_EQ(0, b->sender.rtt.backoff);
}

/* The last node of the chain; its reader has the first round, of @packets. */
static struct aggnet_tree *reader_in_the_next(struct peer *p, u32 packets)
{
	struct aggnet_tree *tree = bound_in_rounds(p, OTHER, ROUNDS);
	struct aggnet_pkt pkt = {};
	u32 i;

	for (i = 0; i < packets; i++)
		say_bytes(p, FIRST + i, i * PART, 0);
	say_end(p, FIRST + packets, packets * PART);
	node_reads(OTHER, 0, 16000);
	if (packets)
		node_reads(OTHER, 0, 16000);
	INSIST(cast.app[OTHER].round[0] == 1, "the end mark does not come");
	node_reads(OTHER, 0, 16000);
	INSIST(cast.app[OTHER].round[0] == 1, "the end mark comes twice");
	INSIST(hears(p, AGGNET_FIN, &pkt), "the node does not finish");
	return tree;
}

TEST_F(rules, done__begins_the_next_round)
{
	struct aggnet_tree *tree = reader_in_the_next(&self->peer, 3);
	const struct aggnet_cast *c = &tree->store.cast;

	EXPECT_EQ(AGGNET_TREE_CLOSING, tree->state);
	peer_done(&self->peer);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	EXPECT_EQ(1, tree->round);
	EXPECT_FALSE(c->fan.ended);
	EXPECT_FALSE(c->checked);
	self->peer.round = 1;
	say_bytes(&self->peer, FIRST + 3, 0, 0);
	node_reads(OTHER, 0, 16000);
	EXPECT_EQ(PART, cast.app[OTHER].read[0]);
}

/* The FIN of the round has told that others follow. */
TEST_F(rules, done__of_the_last_round_too_early)
{
	const struct aggnet_done done = { .sources = cpu_to_be32(1) };
	struct aggnet_tree *tree = reader_in_the_next(&self->peer, 1);

	cast.harm = true;
	peer_say(&self->peer, AGGNET_DONE, AGGNET_F_LAST, &done, sizeof(done));
	EXPECT_ABORTED(AGGNET_R_PROTOCOL, tree);
}

/* DONE was lost: what the parent sends in the next round implies it. */
TEST_F(rules, done__is_implied_by_the_next_round)
{
	struct aggnet_tree *tree = reader_in_the_next(&self->peer, 1);

	self->peer.round = 1;
	say_bytes(&self->peer, FIRST + 1, 0, 0);
	EXPECT_EQ(1, tree->round);
	EXPECT_EQ(FIRST + 2, aggnet_fanout_cum(&tree->store.cast.fan));
}

TEST_F(rules, end__of_the_round_before)
{
	struct aggnet_tree *tree = reader_in_the_next(&self->peer, 1);

	peer_done(&self->peer);
	say_end(&self->peer, FIRST + 1, PART);
	EXPECT_FALSE(tree->store.cast.fan.ended);
	node_reads(OTHER, 0, 16000);
	EXPECT_EQ(1, cast.app[OTHER].round[0]);
}

/* Two threads of a reader have read the same end mark; the other one is late. */
TEST_F(rules, end_mark__is_taken_once)
{
	struct aggnet_tree *tree = reader_in_the_next(&self->peer, 0);
	struct aggnet_local *local = &cast.app[OTHER].reader[0];

	EXPECT_EQ(0, aggnet_cast_take_end(tree, local, 0));
	EXPECT_EQ(1, tree->writers.done);
	peer_done(&self->peer);
	self->peer.round = 1;
	say_end(&self->peer, FIRST, 0);
	EXPECT_EQ(0, aggnet_cast_take_end(tree, local, 0));
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	EXPECT_EQ(1, local->rounds);
}

/* A reader that has nothing to read between two rounds is woken by the next one. */
TEST_F(rules, reader__is_woken_in_the_next_round)
{
	u32 wakes;

	reader_in_the_next(&self->peer, 0);
	peer_done(&self->peer);
	node_reads(OTHER, 0, 16000);
	wakes = world.node[OTHER].wakes;
	self->peer.round = 1;
	say_bytes(&self->peer, FIRST, 0, 0);
	EXPECT_EQ(wakes + 1, world.node[OTHER].wakes);
}

/* PROBEs of a node in so many milliseconds, whose parent answers each */
static u32 probes_in(struct peer *p, u32 time)
{
	struct aggnet_pkt pkt = {};
	u32 ms, n = 0;

	for (ms = 0; ms < time; ms += 10) {
		world_wait(10000);
		while (peer_hears(p, &pkt)) {
			if (pkt.type != AGGNET_PROBE)
				continue;
			n++;
			peer_ack(p, 0, FIRST, FIRST);
		}
	}
	return n;
}

/* Between two rounds a node only says that it lives; within one it asks for packets. */
TEST_F(rules, node__is_quiet_between_rounds)
{
	struct aggnet_tree *tree = reader_in_the_next(&self->peer, 2);

	peer_done(&self->peer);
	self->peer.round = 1;
	EXPECT_GE(61, probes_in(&self->peer, 60000));
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	while (!probes_in(&self->peer, 10))
		;
	say_bytes(&self->peer, FIRST + 2, 0, 0);
	EXPECT_LE(2, probes_in(&self->peer, 500));
}

/* A round in which nothing comes lasts as long as the other end lives. */
TEST_F(rules, parent__that_is_lost_between_rounds)
{
	struct aggnet_tree *tree = reader_in_the_next(&self->peer, 2);

	peer_done(&self->peer);
	self->peer.round = 1;
	probes_in(&self->peer, 3 * WORLD_GIVE_UP);
	EXPECT_EQ(AGGNET_TREE_OPEN, tree->state);
	world_wait((WORLD_GIVE_UP + 3000) * 1000ull);
	world_wait(1000000);
	EXPECT_ABORTED(AGGNET_R_TIMEOUT, tree);
}

/* --- epochs ---------------------------------------------------------------------- */

/* A parent that has an older epoch cannot use an RST of its child. */
TEST_F(rules, data__of_an_older_epoch)
{
	struct aggnet_tree *tree = reader_of(&self->peer);

	tree->conf.attempt--;
	say_bytes(&self->peer, FIRST, 0, 0);
	world.packets = 0;
	tree->conf.attempt++;
	peer_replay(&self->peer);
	EXPECT_EQ(0, world.packets);
}

TEST_HARNESS_MAIN
