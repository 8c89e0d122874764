// SPDX-License-Identifier: GPL-2.0
/* Members die in the middle of a transfer that libaggnet's supervision watches.
 * If a repair is possible, the result is exact; if not, each node is told which
 * node died. Rounds of each kind on a line that is made once; r sends, too.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aggnet_supervise.h>

#include "crew.h"
#include "ctree.h"
#include "frame.h"
#include "rounds.h"

#define RECORDS		600	/* of s; r has a third */
#define KEYS		(2 * RECORDS)	/* more than are used */
#define HOLD_MS		20
#define PATIENT_MS	600000	/* no node may give up, even on a slow host */
#define BOUND		600	/* seconds: a longer wait is a hang */
#define MEMORY		131072

enum { SOURCE, OWN, READER, APPS };	/* at s, at r, at r */

/* How far a is: s is bound; a has all records of s; a has sent them on. */
enum stage { BOUND_TO, HOLDS, SENT };

/**
 * struct kind - which node dies, and when
 * @name: in the command line
 * @dies: makes it die
 * @at: how far a is then
 * @allow: the plan allows a source to be missing
 * @reason: the reason that all members get; 0: the transfer is repaired
 * @origin: the node that the reason names
 */
struct kind {
	const char *name;
	void (*dies)(void);
	enum stage at;
	bool allow;
	uint32_t reason;
	int origin;
};

static const struct kind *kind;
static unsigned int rounds;
static struct app apps[APPS];
static uint64_t seen[KEYS];
static struct ctree tree;
static struct aggnet_watch *watch;
static struct aggnet_ctl *post[NODES];
/* Sums over all rounds. */
static unsigned int repairs;
static uint64_t again;
static long found_ms, mended_ms, slowest_ms;

static void complain(const char *what)
{
	fprintf(stderr, "%u: %s\n", rounds, what);
	exit(1);
}

/* --- a transfer ------------------------------------------------------------------ */

/*
 * @a_hold: how long a waits for another child, which never comes; 0: for ever
 */
static void plan(uint32_t a_hold)
{
	tree = (struct ctree) {
		.instance = tree.instance + 1,
		.memory = MEMORY,
		.give_up = PATIENT_MS,
		.node = {
			[S] = { 1, 1, 1, 0 },
			[A] = { 2, 2, 0, a_hold },
			[R] = { 2, 2, 1, 0 },
		},
	};
	ctree_install(&tree);
}

static void begin(void)
{
	int i;

	for (i = 0; i < APPS; i++) {
		apps[i] = (struct app) {
			.netns = line.ns[i == SOURCE ? S : R],
			.reader = i == READER,
			.receiver = node_id(R),
			.job = CTREE_JOB,
			.first = (uint32_t)i * RECORDS / 2,
			.records = i == SOURCE ? RECORDS : RECORDS / 3,
			.salt = (uint32_t)i,
			.seen = seen,
			.keys = KEYS,
			.work = app_replays,
			.repair = kind->reason ? 0 : PATIENT_MS,
		};
	}
	/* r's own input ends after the repair, so r is not complete before. */
	apps[OWN].pause = 1 + (uint32_t)draw() % (RECORDS / 3 - 1);
	if (kind->at == BOUND_TO)
		apps[SOURCE].pause = 1 + (uint32_t)draw() % (RECORDS - 1);
	if (kind->reason == AGGNET_R_RECEIVER) {
		apps[READER].pause = 1;
		apps[READER].quits = true;
	}
	apps[SOURCE].quits = kind->reason == AGGNET_R_SENDER || kind->allow;
	for (i = 0; i < APPS; i++)
		app_start(&apps[i]);
}

static bool a_is_there(void)
{
	struct aggnet_tree_info info;

	if (!ctree_get(A, &info))
		return false;
	switch (kind->at) {
	case BOUND_TO:
		return info.channels;
	case HOLDS:
		return info.weight == 1;
	default:
		return info.state == AGGNET_TREE_WAITING;
	}
}

static void wait_for_a(void)
{
	long end = now_ms() + BOUND * 1000L;

	while (!a_is_there()) {
		if (now_ms() > end)
			complain("it does not get so far");
		sched_yield();
	}
}

/*
 * --- which node dies
 * ------------------------------------------------------------------
 */

/* Delete a's namespace and make it again, with the same identity and epoch. */
static void aggregator_dies(void)
{
	aggnet_ctl_close(post[A]);
	post[A] = NULL;
	if (line_mend_node(&line, A))
		complain("a cannot be made again");
	if (ctree_add(&tree, A))
		complain(aggnet_ctl_error(line.ctl[A]));
}

static void source_dies(void)
{
	app_go(&apps[SOURCE]);
}

static void receiver_dies(void)
{
	app_go(&apps[READER]);
}

/* --- supervision -------------------------------------------------------------------- */

static void listen_at(int i)
{
	line_enter(&line, i);
	if (aggnet_ctl_open(&post[i]) || aggnet_events_join(post[i]))
		complain(aggnet_ctl_error(post[i]));
	line_leave(&line);
}

static void watch_begin(void)
{
	static const char * const name[NODES] = { "s", "a", "r" };
	int i, err = 0;

	watch = aggnet_watch_new(kind->allow);
	if (!watch)
		complain("out of memory");
	for (i = 0; i < NODES; i++) {
		unsigned int parts = i == S ? AGGNET_WATCH_SOURCE :
				     i == R ? AGGNET_WATCH_RECEIVER : 0;

		err |= aggnet_watch_server(watch, name[i], (struct in_addr){
					   node_id(i) }, parts);
		listen_at(i);
	}
	err |= aggnet_watch_tree(watch, ctree_id(), tree.instance, 0, "r");
	if (err)
		complain("out of memory");
}

static void watch_end(void)
{
	int i;

	for (i = 0; i < NODES; i++) {
		aggnet_ctl_close(post[i]);
		post[i] = NULL;
	}
	aggnet_watch_free(watch);
}

/* Feed events to the watch, for @wait_ms; -1: wait for the first one */
static void hear(int wait_ms)
{
	static const char * const name[NODES] = { "s", "a", "r" };
	struct aggnet_event_info event;
	struct pollfd pfd[NODES];
	int i;

	for (i = 0; i < NODES; i++)
		pfd[i] = (struct pollfd){ post[i] ? aggnet_events_fd(post[i]) :
					  -1, POLLIN, 0 };
	if (!poll(pfd, NODES, wait_ms < 0 ? BOUND * 1000 : wait_ms) &&
	    wait_ms < 0)
		complain("nothing is heard");
	for (i = 0; i < NODES; i++) {
		if (!pfd[i].revents || aggnet_events_next(post[i], &event))
			continue;
		aggnet_watch_event(watch, name[i], &event, now_ms());
		aggnet_event_clear(&event);
	}
}

/* Start a new attempt, receiver first; without s if s has left. */
static void repair(const struct aggnet_finding *f, bool *left)
{
	tree.attempt++;
	*left |= f->n_changes && !strcmp(f->change[0], "leave:s");
	if (*left) {
		tree.absent = node_id(S);
		tree.node[R].contributors = 1;
		tree.node[R].sources = 1;
		ctree_del(S);
		ctree_del(A);
		if (ctree_add(&tree, R))
			complain(aggnet_ctl_error(line.ctl[R]));
	} else {
		/*
		 * a waits only briefly for another child, so that the transfer
		 * ends.
		 */
		tree.node[A].hold = HOLD_MS;
		ctree_install(&tree);
	}
	if (aggnet_watch_tree(watch, ctree_id(), tree.instance, tree.attempt,
			      "r"))
		complain("out of memory");
	repairs++;
}

/* Return: true if the transfer is done, false if it failed */
static bool supervise(long died, bool *left)
{
	struct aggnet_finding f;

	for (;;) {
		switch (aggnet_watch_judge(watch, now_ms(), &f)) {
		case AGGNET_WATCH_WAIT:
			hear(f.wait_ms);
			break;
		case AGGNET_WATCH_REPAIR:
			found_ms += now_ms() - died;
			repair(&f, left);
			mended_ms += now_ms() - died;
			app_go(&apps[OWN]);
			if (!*left && apps[SOURCE].pause)
				app_go(&apps[SOURCE]);
			break;
		case AGGNET_WATCH_DONE:
			return true;
		case AGGNET_WATCH_FAILED:
			return false;
		}
	}
}

/*
 * --- checks
 * ------------------------------------------------------------------------
 */

static void exact(bool left)
{
	unsigned int all = (left ? 0 : RECORDS) + RECORDS / 3;
	const struct app *r = &apps[READER];
	int i;

	for (i = 0; i < APPS; i++)
		if (apps[i].result && !(left && i == SOURCE))
			complain("a transfer that was repaired failed");
	if (!app_exact(r, apps, APPS, left ? 1 << SOURCE : 0) ||
	    r->end.records != all)
		complain("the result is wrong");
	if (r->end.of != 2 || r->end.absent != left ||
	    r->end.sources != 2U - left)
		complain("the end mark counts the sources wrong");
	if (r->absent != (left ? node_id(S) : 0))
		complain("the absent source is not named");
}

static void told(int i)
{
	const struct aggnet_status *st = &apps[i].status;

	if (!apps[i].result)
		complain("an application was told that all is well");
	if (st->reason != kind->reason || st->origin != node_id(kind->origin))
		complain("the wrong reason, or node, is told");
}

static void one_round(void)
{
	bool left = false, done;
	long died;
	int i;

	plan(kind->at == SENT ? HOLD_MS : 0);
	watch_begin();
	begin();
	wait_for_a();
	kind->dies();
	/* The deleted node sends events again from now on. */
	died = now_ms();
	if (!post[A])
		listen_at(A);
	done = supervise(died, &left);
	if (done != !kind->reason)
		complain(done ? "it is done" : "it was not repaired");
	for (i = 0; i < APPS; i++)
		app_go(&apps[i]);
	for (i = 0; i < APPS; i++)
		if (!app_join(&apps[i], BOUND))
			complain("an application did not return");
	if (now_ms() - died > slowest_ms)
		slowest_ms = now_ms() - died;
	again += apps[SOURCE].again + apps[OWN].again;
	if (done)
		exact(left);
	for (i = 0; !done && i < APPS; i++)
		if (!apps[i].quits)
			told(i);
	watch_end();
}

static const struct kind kinds[] = {
	{ "before-custody", aggregator_dies, HOLDS, false, 0, 0 },
	{ "after-custody", aggregator_dies, SENT, false, 0, 0 },
	{ "source", source_dies, BOUND_TO, false, AGGNET_R_SENDER, S },
	{ "source-left", source_dies, BOUND_TO, true, 0, 0 },
	{ "receiver", receiver_dies, BOUND_TO, false, AGGNET_R_RECEIVER, R },
};

/* crash_rounds SEED ROUNDS KIND */
int main(int argc, char **argv)
{
	unsigned int n;

	kind = rounds_begin(argc, argv, kinds, sizeof(kinds) / sizeof(kinds[0]),
			    sizeof(kinds[0]), &n);
	if (line_up(&line))
		return 1;
	for (rounds = 1; rounds <= n; rounds++)
		one_round();
	line_down(&line);
	printf("%u rounds, %u repairs", n, repairs);
	if (repairs)
		printf(": detection %ld ms and total %ld ms on average, %llu bytes a repair sent again",
		       found_ms / repairs, mended_ms / repairs,
		       (unsigned long long)(again / repairs));
	printf("; slowest to the end %ld ms\n", slowest_ms);
	return 0;
}
