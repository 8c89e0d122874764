// SPDX-License-Identifier: GPL-2.0
/* Nodes and applications of the world, and what must hold: a result has every
 * source's records once, or the transfer fails; and there is an outcome.
 */
#include <stdio.h>

#include <linux/poll.h>
#include <linux/random.h>
#include <linux/skbuff.h>

#include "core/fault.h"
#include "flow/growth.h"
#include "flow/store.h"
#include "mem.h"
#include "records.h"
#include "world.h"

#define JOB		7ull
#define IDENTITY	0x0a000001u
#define SETTLE		50000		/* steps in which a run must end */

struct world world;

void world_fail(const char *where, const char *what)
{
	u32 i;

	printf("# %s: %s\n", where, what);
	for (i = 0; i < WORLD_NODES; i++) {
		struct node *n = &world.node[i];

		if (!n->tree) {
			printf("# node %u: no entry\n", i);
			continue;
		}
		printf("# node %u: attempt %u state %u reason %u up %u weight %u of %u keys %u round %u written %u joined %d closed %d\n",
		       i, n->attempt, n->tree->state, n->tree->outcome.reason,
		       n->tree->up.state, n->tree->books.weight,
		       n->tree->conf.sources, aggnet_tree_keys(n->tree),
		       n->tree->round, n->written, n->joined, n->closed);
	}
	fflush(stdout);
	abort();
}

/* --- nodes ------------------------------------------------------------------- */

static bool is_below(u32 node, u32 top)
{
	while (node != top && node != RECEIVER)
		node = world.node[node].parent;
	return node == top;
}

static int identity_cmp(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static void conf_children(struct aggnet_tree_conf *conf, u32 node)
{
	u32 i, n = 0;

	conf->children = aggnet_zalloc(WORLD_NODES * sizeof(__be32),
				       GFP_KERNEL);
	for (i = 1; i < WORLD_NODES; i++)
		if (world.node[i].parent == node)
			conf->children[n++] = world.node[i].an.identity;
	qsort(conf->children, n, sizeof(__be32), identity_cmp);
	conf->nchildren = world.conf.lists ? n : 0;
	conf->contributors = n + world.node[node].writes;
	conf->writers = world.node[node].writes;
}

static void conf_key(struct aggnet_tree_conf *conf)
{
	u8 bytes[] = "0123456789abcde";

	if (world.conf.anew)
		bytes[0] += conf->attempt;
	if (world.conf.keyed)
		aggnet_secret_set(&conf->key, bytes);
}

static void conf_make(struct aggnet_tree_conf *conf, u32 node)
{
	u32 i;

	*conf = (struct aggnet_tree_conf) {
		.incast_id = JOB << 32 | IDENTITY,
		.instance = 1,
		.attempt = world.node[node].attempt,
		.members_known = true,
		.hold_ms = world.conf.hold_ms,
		.give_up_ms = WORLD_GIVE_UP,
		.shape = records_shape(),
		.hops = 1,
		.persist = world.conf.rounds,
	};
	conf_key(conf);
	for (i = 0; i < WORLD_NODES; i++) {
		if (!world.node[i].writes)
			continue;
		conf->members += aggnet_member(IDENTITY + i);
		conf->sources += is_below(i, node);
	}
	conf_children(conf, node);
	conf->memory = (u64)(conf->contributors + 2) * world.conf.memory *
		       aggnet_table_chunks_per_packet(&conf->shape,
						      AGGNET_PAYLOAD_USUAL) *
		       AGGNET_CHUNK;
}

/* An entry has at most one reader, and as many writers as planned. */
static void refuse_others(u32 node)
{
	struct aggnet_tree *tree = world.node[node].tree;
	struct aggnet_local other = { 0 };

	INSIST(aggnet_tree_join_writer(tree, &other) < 0,
	       "there are more writers than planned");
	INSIST(aggnet_tree_join_reader(tree, &other) < 0,
	       "there is another reader");
}

static void join(u32 node)
{
	struct node *n = &world.node[node];
	int err = 0;

	if (n->joined || n->closed)
		return;
	n->written = 0;
	n->round = 0;
	n->done = false;
	n->writer_waits = false;
	n->reader_waits = false;
	n->writer = (struct aggnet_local) { 0 };
	n->reader = (struct aggnet_local) { 0 };
	if (n->writes) {
		err = aggnet_tree_join_writer(n->tree, &n->writer);
		if (!err)
			aggnet_tree_get(n->tree);
		n->joined = !err;
	}
	if (node == RECEIVER && !err) {
		records_forget();
		err = aggnet_tree_join_reader(n->tree, &n->reader);
		if (!err)
			aggnet_tree_get(n->tree);
		INSIST(!err || world.harm, "the reader cannot join");
		n->joined = true;
	}
	n->closed = err != 0;
	refuse_others(node);
}

void world_add(u32 node)
{
	struct node *n = &world.node[node];
	struct aggnet_tree_conf conf;

	if (!n->tree) {
		get_random_bytes(&n->an.secret, sizeof(n->an.secret));
		conf_make(&conf, node);
		n->tree = aggnet_tree_create(&n->an, &conf, NULL);
		INSIST(!IS_ERR(n->tree), "the entry is refused");
		n->free = n->tree->store.table.free;
		n->closed = false;
	}
	if (n->writes || node == RECEIVER)
		join(node);
}

struct aggnet_tree *world_begin(const struct world_conf *conf, u64 seed,
				u32 node)
{
	world_start(conf, seed);
	world_add(node);
	return world.node[node].tree;
}

struct aggnet_tree *world_entry(u32 node, struct aggnet_tree_conf *conf)
{
	struct node *n = &world.node[node];
	struct aggnet_tree *tree;

	conf->incast_id = ntohl(world.node[RECEIVER].an.identity);
	conf->give_up_ms = WORLD_GIVE_UP;
	tree = aggnet_tree_create(&n->an, conf, NULL);
	if (IS_ERR(tree))
		return tree;
	n->tree = tree;
	if (node != RECEIVER)
		return tree;
	INSIST(!aggnet_tree_join_reader(tree, &n->reader),
	       "the reader cannot join");
	aggnet_tree_get(tree);
	n->joined = true;
	return tree;
}

static bool is_aborted(const struct node *n)
{
	return n->tree->state == AGGNET_TREE_ABORTED;
}

static void leave(struct node *n, struct aggnet_local *local)
{
	if (!local->list.next)
		return;
	aggnet_tree_leave(n->tree, local);
	aggnet_tree_put(n->tree);
	local->list.next = NULL;
}

/* Before the end mark is taken this aborts the transfer. */
static void leave_reader(struct node *n)
{
	bool reads = n->reader.list.next;

	leave(n, &n->reader);
	INSIST(!reads || world.ended & 1ull << n->attempt || is_aborted(n),
	       "the reader left without the end mark");
}

void world_close(u32 node)
{
	struct node *n = &world.node[node];

	if (n->joined) {
		world_look(node);
		leave_reader(n);
		leave(n, &n->writer);
	}
	/* An application that is not a member yet does not join later. */
	n->closed = true;
	n->joined = false;
}

static void drop_tree(u32 node, enum aggnet_reason reason)
{
	struct node *n = &world.node[node];

	if (!n->tree)
		return;
	/* The members get the outcome and then leave. */
	aggnet_tree_kill(n->tree, reason);
	if (n->joined) {
		leave(n, &n->reader);
		leave(n, &n->writer);
		n->joined = false;
	}
	n->tree = NULL;
}

void world_del(u32 node)
{
	drop_tree(node, AGGNET_R_WITHDRAWN);
}

void world_crash(u32 node)
{
	world.node[node].mute = true;
	world_close(node);
	drop_tree(node, AGGNET_R_WITHDRAWN);
	world.node[node].mute = false;
}

void world_renew(u32 node)
{
	struct node *n = &world.node[node];
	struct aggnet_tree *old = n->tree;

	if (old)
		aggnet_tree_get(old);
	drop_tree(node, AGGNET_R_STALE);
	n->attempt++;
	if (world.attempt < n->attempt)
		world.attempt = n->attempt;
	world_add(node);
	if (old) {
		aggnet_tree_follow(n->tree, old);
		aggnet_tree_put(old);
	}
}

/* --- applications ------------------------------------------------------------ */

bool world_poll(u32 node)
{
	struct node *n = &world.node[node];
	u32 wakes = n->wakes;
	bool room;

	if (!n->joined || !n->writes || n->writer.shut)
		return false;
	room = aggnet_tree_poll(n->tree, &n->writer) & EPOLLOUT;
	n->writer_waits = !room && n->wakes == wakes;
	return room;
}

void world_write(u32 node, u32 records)
{
	struct node *n = &world.node[node];
	u8 buf[64 * RECORD_MAX];
	u32 wakes = n->wakes;
	u32 len = 0, i;
	int taken, off;

	if (!n->joined || !n->writes)
		return;
	if (n->writer.shut) {
		len = records_put(buf, node, 0, n->round);
		INSIST(aggnet_tree_write(n->tree, &n->writer, buf, len, 1) < 0,
		       "a write behind the end is taken");
		return;
	}
	records = min3(records, 64u, world.conf.records - n->written);
	for (i = 0; i < records; i++)
		len += records_put(buf + len, node, n->written + i, n->round);
	if (!len)
		return;
	taken = aggnet_tree_write(n->tree, &n->writer, buf, len, records);
	INSIST(taken > 0 || taken == -EAGAIN || is_aborted(n),
	       "a write fails for no reason");
	n->writer_waits = taken == -EAGAIN && n->wakes == wakes;
	for (off = 0; off < taken; off += 2 + buf[off] + buf[off + 1])
		n->written++;
}

/* One of the sources may tell no fingerprint; all others tell any number. */
static bool tells_check(u32 node)
{
	return world.conf.records % 8 != node;
}

static u64 check_of(u32 node, u32 attempt, u32 round)
{
	return (0x9e3779b97f4a7c15ull * (node + 1) ^ attempt ^ round << 8) >> 3;
}

/* Return: false: the round has not begun, so it is too early */
static bool tell_check(u32 node)
{
	struct node *n = &world.node[node];
	enum aggnet_fingerprint kind = aggnet_fp_kind(&n->tree->conf.shape);
	int err;

	if (!tells_check(node) || n->writer.shut)
		return true;
	err = aggnet_tree_set_check(n->tree, &n->writer,
				    check_of(node, n->attempt, n->round));
	INSIST(err == -EAGAIN || err == (kind ? 0 : -EOPNOTSUPP) ||
	       is_aborted(n),
	       "a fingerprint is refused for no reason");
	return err != -EAGAIN;
}

/* All but the last round end so; it may be too early for it. */
static void end_round(u32 node)
{
	struct node *n = &world.node[node];
	int err;

	if (!tell_check(node))
		return;
	err = aggnet_tree_end_round(n->tree, &n->writer);
	INSIST(!err || err == -EAGAIN || is_aborted(n),
	       "a round does not end for no reason");
	if (err)
		return;
	n->round++;
	n->written = 0;
}

void world_shutdown(u32 node)
{
	struct node *n = &world.node[node];

	if (!n->joined || !n->writes || n->written < world.conf.records)
		return;
	if (n->round + 1 < world.conf.rounds) {
		end_round(node);
		return;
	}
	/* A source that tells none may shut down before the last round begins. */
	if (!tell_check(node))
		return;
	INSIST(!aggnet_tree_shutdown(n->tree, &n->writer) || is_aborted(n),
	       "a shutdown fails for no reason");
}

/* That of all sources, if each of them has told one. */
static void check_fingerprint(struct aggnet_tree *tree, u32 round)
{
	enum aggnet_fingerprint kind = aggnet_fp_kind(&tree->conf.shape);
	bool all = kind != AGGNET_FP_NONE;
	struct aggnet_check check;
	u64 want = 0;
	u32 i;

	for (i = 0; i < WORLD_NODES; i++) {
		if (!world.node[i].writes)
			continue;
		all &= tells_check(i) || !world.conf.records;
		if (tells_check(i))
			want = aggnet_fp_add(kind, want,
					     check_of(i, tree->conf.attempt,
						      round));
	}
	aggnet_tree_check(tree, &check);
	INSIST(check.whole == all, "the fingerprint is of others");
	INSIST(!all || check.value == want, "a wrong fingerprint");
}

/* Check the result. A wrong one is never allowed. */
static void check_result(const struct aggnet_end *end)
{
	u32 sources = 0, i;

	for (i = 0; i < WORLD_NODES; i++)
		sources += world.node[i].writes;
	INSIST(end->sources == sources && end->of == sources,
	       "the end mark is for other sources");
	INSIST(end->records == (u64)sources * world.conf.records,
	       "the end mark is for other records");
	INSIST(records_all(end->round), "a wrong number");
}

static void take_end(struct node *n, const struct aggnet_end *end)
{
	u32 *marks = &world.marks[n->attempt];

	check_result(end);
	check_fingerprint(n->tree, end->round);
	/* The end mark of the last round may be read again. */
	INSIST(end->round == *marks ||
	       (end->last && end->round + 1 == *marks) ||
	       (world.harm && end->round < *marks), "a wrong round");
	INSIST(!end->last == (end->round + 1 < world.conf.rounds),
	       "a wrong number of rounds");
	*marks = end->round + 1;
	if (end->last)
		world.ended |= 1ull << n->attempt;
	else
		records_forget();
	INSIST(!aggnet_tree_end(n->tree, end->round),
	       "the end mark cannot be taken");
}

static int read_one(struct node *n, struct aggnet_msg *msg, u8 *buf, size_t size)
{
	u32 wakes = n->wakes;
	int len;

	n->reading = true;
	len = aggnet_tree_read(n->tree, msg, buf, size, false);
	n->reading = false;
	INSIST(len > 0 || len == -EAGAIN || is_aborted(n),
	       "a read fails for no reason");
	n->reader_waits = len == -EAGAIN && n->wakes == wakes;
	world_ran(n->tree);
	return len;
}

void world_read(u32 messages)
{
	struct node *n = &world.node[RECEIVER];
	struct aggnet_msg msg;
	u8 buf[2048];

	while (messages-- && n->joined && n->reader.list.next) {
		if (read_one(n, &msg, buf, sizeof(buf)) < 0)
			return;
		if (msg.type == AGGNET_MSG_RECORDS) {
			records_take(buf, msg.records);
			aggnet_tree_taken(n->tree, false);
			world_ran(n->tree);
		} else if (msg.type == AGGNET_MSG_END) {
			take_end(n, (const struct aggnet_end *)buf);
		}
	}
}

void world_look(u32 node)
{
	struct node *n = &world.node[node];
	int outcome;

	if (!n->tree || !n->joined)
		return;
	outcome = aggnet_tree_outcome(n->tree, &n->writer, false);
	n->done = n->tree->state == AGGNET_TREE_DONE;
	INSIST(!n->done || world.ended & 1ull << n->attempt,
	       "DONE, but the result was not taken");
	INSIST(world.harm || n->writer.told <= world.marks[n->attempt],
	       "a round is DONE, but its result was not taken");
	INSIST(outcome >= 0 || outcome == -ENOMSG || world.harm,
	       "an error, but nothing happened");
}

/*
 * --- settling
 * ---------------------------------------------------------------------
 */

/* The entry of a node without an application may still be idle. */
static bool settled(void)
{
	bool all = true;
	u32 i;

	for (i = 0; i < WORLD_NODES; i++) {
		struct aggnet_tree *tree = world.node[i].tree;

		world_look(i);
		if (tree->state < AGGNET_TREE_DONE &&
		    (tree->state != AGGNET_TREE_IDLE || world.node[i].joined))
			all = false;
	}
	return all;
}

/*
 * Credit is not taken back. If sources wait for each other, those that wait may
 * hold credit for all of the receiver's memory, and an unplanned child gets
 * none. In a tree with rounds children that have finished the first one keep a
 * claim.
 */
static bool all_promised(void)
{
	const struct aggnet_tree *tree = world.node[RECEIVER].tree;

	return (world.conf.in_turn || world.conf.rounds) &&
	       !world.conf.sorted && tree->acceptor.open &&
	       !aggnet_tree_keys(tree) &&
	       !tree->store.ops->fits(tree, NULL);
}

/* A writer that waits tries again only after it is woken. Some poll() first. */
static void goes_on(u32 node)
{
	if (world.node[node].writer_waits)
		return;
	if (node % 2 || world_poll(node))
		world_write(node, 64);
}

/* Has the source written all records of the present round? */
static bool has_given(const struct node *n)
{
	return n->written == world.conf.records ||
	       n->writer.rounds != n->tree->round;
}

static void everybody_goes_on(void)
{
	bool turn = true;
	u32 i;

	for (i = 0; i < WORLD_NODES; i++) {
		while (world.node[i].attempt < world.attempt)
			world_renew(i);
		world_add(i);
		if (turn)
			goes_on(i);
		/*
		 * One thread that feeds two sources in turn finishes the first
		 * before the second.
		 */
		if (world.conf.in_turn && !world.conf.sorted &&
		    world.node[i].joined &&
		    world.node[i].writes &&
		    world.node[i].tree->state < AGGNET_TREE_DONE)
			turn &= has_given(&world.node[i]);
		world_shutdown(i);
	}
	world_work();
	if (!world.node[RECEIVER].reader_waits)
		world_read(16);
}

void world_settle(void)
{
	u32 steps, n;

	world.settling = true;
	for (steps = 0; steps < SETTLE; steps++) {
		everybody_goes_on();
		world.harm |= all_promised();
		for (n = world.packets; n; n--)
			world_deliver(0);
		if (settled()) {
			INSIST(world.harm || world.ended,
			       "the receiver has no end mark");
			return;
		}
		world_pass();
	}
	world_fail(__func__, "it does not come to an end");
}

/* --- setting up ------------------------------------------------------------------ */

void world_start(const struct world_conf *conf, u64 seed)
{
	u32 i;

	world.conf = *conf;
	world.packets = 0;
	world.ended = 0;
	memset(world.marks, 0, sizeof(world.marks));
	world.attempt = 1;
	world.harm = conf->fault;
	world.made = NULL;
	world.settling = false;
	world.no_packet = false;
	world.full = false;
	world.wakes = 0;
	records_forget();
	shim_random_seed(seed);
	/* All clocks wrap in most runs. */
	world.start = (1ull << 32) - get_random_u32() % 4000000;
	world.us = world.start;
	jiffies = -(get_random_u32() % 1000ul);
	aggnet_tree_init();
	for (i = 0; i < WORLD_PACKETS; i++)
		world.packet[i] = &world.store[i];
	for (i = 0; i < WORLD_NODES; i++) {
		struct node *n = &world.node[i];

		*n = (struct node) { .attempt = 1 };
		n->an.stats = &n->stats;
		aggnet_growth_start(&n->an);
		n->an.identity = htonl(IDENTITY + i);
		n->an.fault = AGGNET_FAULT_NONE;
		n->writes = i > ACCEPTOR || conf->acceptor_writes;
	}
	world.node[conf->faulty].an.fault = conf->fault;
	world.node[ACCEPTOR].parent = conf->chain ? WRONG : RECEIVER;
	world.node[WRONG].parent = RECEIVER;
	world.node[CHILD].parent = ACCEPTOR;
	world.node[OTHER].parent = conf->chain ? WRONG : ACCEPTOR;
}

void world_end(void)
{
	u32 i;

	for (i = 0; i < WORLD_NODES; i++)
		drop_tree(i, AGGNET_R_WITHDRAWN);
	world_work();
	for (i = 0; i < WORLD_NODES; i++) {
		INSIST(!atomic64_read(&world.node[i].an.memory_used),
		       "memory is still accounted");
		aggnet_growth_stop(&world.node[i].an);
	}
	aggnet_tree_exit();
	INSIST(!shim_alloc_live, "memory is lost");
}
