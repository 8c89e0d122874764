// SPDX-License-Identifier: GPL-2.0
/* A missing or late source costs merging, never exactness, and a source that
 * never comes is named: rounds of each kind on a line that is made once.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "ctree.h"
#include "frame.h"
#include "rounds.h"
#include "../lib/stall.h"

#define RECORDS		600	/* of s; a has a third */
#define KEYS		(2 * RECORDS)	/* more than are used */
#define HOLD_MS		20
#define GIVE_UP_MS	1000	/* where a source never comes, at first */
#define PATIENT_MS	600000	/* where no node may give up */
#define BOUND		600	/* seconds: a longer wait is a hang */
#define MEMORY		131072

static const struct kind *kind;
static unsigned int rounds;
static bool misnamed;
static unsigned int repeated;
static uint32_t give_up = GIVE_UP_MS;
static uint32_t partials;
static struct app apps[NODES];
static uint64_t seen[KEYS];
static struct ctree tree;

static void complain(const char *what)
{
	fprintf(stderr, "%u: %s\n", rounds, what);
	exit(1);
}

/*
 * A node probes its neighbours each quarter of give_up. A neighbour that stood
 * still for half of give_up may be taken for dead: repeat a round that names
 * it, with twice the give_up. Without such a stall it is an error.
 */
static bool excused(void)
{
	if (!misnamed)
		return false;
	if (stall_longest() < give_up / 2)
		complain("the wrong node is named");
	repeated++;
	give_up *= 2;
	return true;
}

/* --- what a transfer is made of ------------------------------------------------ */

/* Add entries of the next transfer. @a_sends: a is a source besides s. */
static void plan(bool a_sends, uint32_t hold, uint32_t patience)
{
	tree = (struct ctree) {
		.instance = tree.instance + 1,
		.memory = MEMORY,
		.give_up = patience,
		.node = {
			[S] = { 1, 1, 1, 0 },
			/*
			 * If a does not send, it waits for a second child,
			 * which never comes.
			 */
			[A] = { 2, 2, a_sends, hold },
			[R] = { 1, a_sends ? 2 : 1, 0, 0 },
		},
	};
	ctree_install(&tree);
}

static void start(int i)
{
	app_start(&apps[i]);
}

static void ready(int i)
{
	apps[i] = (struct app) {
		.netns = line.ns[i],
		.reader = i == R,
		.receiver = node_id(R),
		.job = CTREE_JOB,
		.first = (uint32_t)i * RECORDS / 2,
		.records = i == S ? RECORDS : RECORDS / 3,
		.salt = (uint32_t)i,
		.seen = seen,
		.keys = KEYS,
	};
}

static void join(int i)
{
	if (!app_join(&apps[i], BOUND))
		complain("an application did not return");
}

/*
 * Wait until node @i's entry is in that state and has sent that many packets.
 */
static void wait_for(int i, uint8_t state, uint64_t packets)
{
	long end = now_ms() + BOUND * 1000L;
	struct aggnet_tree_info info;

	while (!ctree_get(i, &info) || info.state < state ||
	       info.packets_out < packets) {
		if (now_ms() > end)
			complain("the entry does not get this far");
		sched_yield();
	}
}

/* @a_sends: a is a source, too */
static void exact(bool a_sends)
{
	unsigned int all = RECORDS + (a_sends ? RECORDS / 3 : 0), i;
	const struct app *r = &apps[R];

	for (i = 0; i < NODES; i++) {
		if (i == A && !a_sends)
			continue;
		join((int)i);
		if (apps[i].result) {
			fprintf(stderr, "node %u: %s\n", i,
				strerror(apps[i].result));
			complain("a transfer failed for nothing");
		}
	}
	if (!app_exact(r, apps, NODES, a_sends ? 0 : 1 << A) ||
	    r->end.records != all)
		complain("the result is wrong");
	if (r->end.sources != 1U + a_sends || r->end.of != 1U + a_sends)
		complain("the end mark counts the sources wrong");
	partials += r->end.partials;
}

static bool names(const struct aggnet_status *st, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < st->names; i++)
		if (st->name[i] == id)
			return true;
	return false;
}

/*
 * Node @i's application gets the node that gave up and the node that is
 * missing.
 */
static void timed_out(int i, int about)
{
	const struct aggnet_status *st = &apps[i].status;

	join(i);
	if (apps[i].result != ETIMEDOUT || st->reason != AGGNET_R_TIMEOUT)
		complain("it did not time out");
	if (st->origin != node_id(S) && st->origin != node_id(A) &&
	    st->origin != node_id(R))
		complain("the node that gave up is not named");
	misnamed |= st->about != node_id(about);
	if (about == S && !misnamed &&
	    (!st->missing || !names(st, node_id(S))))
		complain("the node that is missing is not named");
}

/* --- kinds ---------------------------------------------------------------------- */

/* s comes when a does not wait any longer. */
static void straggler(void)
{
	plan(true, HOLD_MS, PATIENT_MS);
	start(A);
	start(R);
	wait_for(A, AGGNET_TREE_WAITING, 0);
	start(S);
	exact(true);
	if (!apps[R].end.partials)
		complain("no node reports that a did not wait");
}

/* s is bound and slow: a sends what it has and continues with s. */
static void slow(void)
{
	plan(true, HOLD_MS, PATIENT_MS);
	apps[S].pause = 1 + (uint32_t)draw() % (RECORDS - 1);
	start(S);
	start(A);
	start(R);
	wait_for(A, AGGNET_TREE_OPEN, 1);
	app_go(&apps[S]);
	exact(true);
	if (!apps[R].end.partials)
		complain("no node reports that a did not wait");
}

/* a has no entry, or gets one in the middle of the transfer. */
static void no_entry(void)
{
	plan(false, HOLD_MS, PATIENT_MS);
	ctree_del(A);
	start(R);
	if (draw() & 1)
		start(S);
	if (draw() & 1 && ctree_add(&tree, A))
		complain(aggnet_ctl_error(line.ctl[A]));
	if (!apps[S].thread)
		start(S);
	exact(false);
}

/* a has no port, as if the module were not loaded; a may send. */
static void no_port(void)
{
	bool a_sends = draw() & 1;

	if (aggnet_port_del(line.ctl[A], LINE_LEFT) ||
	    aggnet_port_del(line.ctl[A], LINE_RIGHT))
		complain(aggnet_ctl_error(line.ctl[A]));
	plan(a_sends, HOLD_MS, PATIENT_MS);
	start(S);
	if (a_sends)
		start(A);
	start(R);
	exact(a_sends);
	if (line_mend_ports(&line, A))
		complain("the ports cannot be attached again");
}

/* a runs, and s never comes. */
static void no_source(void)
{
	plan(true, 0, give_up);
	start(A);
	start(R);
	timed_out(A, S);
	timed_out(R, S);
}

/* The same with a hold: a stops waiting for s, and r gives up. */
static void no_straggler(void)
{
	plan(true, HOLD_MS, give_up);
	start(A);
	start(R);
	timed_out(A, S);
	timed_out(R, S);
}

/* No program reads at r. */
static void no_receiver(void)
{
	plan(true, 0, give_up);
	start(S);
	start(A);
	timed_out(S, R);
	timed_out(A, R);
}

static const struct kind {
	const char *name;
	void (*round)(void);
} kinds[] = {
	{ "straggler", straggler },
	{ "slow", slow },
	{ "no-entry", no_entry },
	{ "no-port", no_port },
	{ "no-source", no_source },
	{ "no-straggler", no_straggler },
	{ "no-receiver", no_receiver },
};

/* straggler SEED ROUNDS KIND */
int main(int argc, char **argv)
{
	unsigned int n, i;

	kind = rounds_begin(argc, argv, kinds, sizeof(kinds) / sizeof(kinds[0]),
			    sizeof(kinds[0]), &n);
	stall_watch();
	if (line_up(&line))
		return 1;
	for (rounds = 1; rounds <= n; rounds += !excused()) {
		for (i = 0; i < NODES; i++)
			ready((int)i);
		misnamed = false;
		stall_forget();
		kind->round();
	}
	line_down(&line);
	printf("%u rounds, %u partials, %u repeated because the host stood still\n",
	       n, partials, repeated);
	return 0;
}
