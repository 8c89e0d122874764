// SPDX-License-Identifier: GPL-2.0
/* Things are removed in the middle of a transfer. Whatever is removed, and
 * when: each application returns with the exact result or an error, and nothing
 * is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../lib/device.h"
#include "crew.h"
#include "ctree.h"
#include "frame.h"
#include "rounds.h"

#define RECORDS		6000
#define KEYS		(2 * RECORDS)	/* more than are used */
#define GIVE_UP_MS	300
#define HOLD_MS		20
#define PATIENT_MS	60000	/* where nothing is removed */
#define BOUND		120	/* seconds: a longer wait is a hang */
#define MEMORY		131072	/* at most so many times the rounds */
#define MORE		20	/* at most so many times the rounds */

static uint32_t instance;
static unsigned int rounds;
/* Outcomes of the transfers. Survived: the removal came before the end. */
static unsigned int exact, failed, survived;
static long slowest;

static void complain(const char *what)
{
	fprintf(stderr, "round %u: %s\n", rounds, what);
	exit(1);
}

/* @alone: only s sends. */
static void entries(bool alone, uint32_t give_up)
{
	struct ctree tree = {
		.instance = ++instance,
		.memory = MEMORY,
		.give_up = give_up,
		.node = {
			[S] = { 1, 1, 1, 0 },
			/*
			 * If a does not send, it waits for a second child,
			 * which never comes.
			 */
			[A] = { 2, 2, !alone, alone ? HOLD_MS : 0 },
			[R] = { 1, alone ? 1 : 2, 0, 0 },
		},
	};

	ctree_install(&tree);
}

/*
 * --- what is removed and restored; each function returns 0
 * ----------------------
 */

static int hit;	/* the node, or link, that was hit in this round */

static int mend_ports(void)
{
	return line_mend_ports(&line, hit);
}

static int mend_link(void)
{
	return line_mend_link(&line, hit);
}

static int mend_node(void)
{
	return line_mend_node(&line, hit);
}

static int set_up(int i, bool up)
{
	int err;

	line_enter(&line, i);
	err = device_set_up(i == S ? "r" : "l", up);
	line_leave(&line);
	return err;
}

static int port_goes(void)
{
	struct aggnet_port_info port = {
		.has = AGGNET_HAS(AGGNET_A_PORT_IFINDEX),
		.ifindex = draw() & 1 ? LINE_LEFT : LINE_RIGHT,
	};
	int err = aggnet_port_del(line.ctl[A], port.ifindex);

	hit = A;
	if (!err && draw() & 1)
		err = aggnet_port_add(line.ctl[A], &port);
	return err;
}

static int device_goes(void)
{
	bool gone;

	hit = draw() & 1 ? S : A;
	line_enter(&line, A);
	device_delete(hit == S ? "l" : "r");
	gone = !if_nametoindex(hit == S ? "l" : "r");
	line_leave(&line);
	return gone ? 0 : -1;
}

static int carrier_goes(void)
{
	int i = draw() & 1 ? S : R;
	int err = set_up(i, false);

	hit = i == S ? S : A;
	if (!err && draw() & 1)
		err = set_up(i, true);
	return err;
}

static int identity_goes(void)
{
	hit = (int)(draw() % NODES);
	return line_del_identity(&line, hit);
}

static int withdrawn(void)
{
	return ctree_del((int)(draw() % NODES));
}

static int newer_plan(void)
{
	entries(false, GIVE_UP_MS);
	return 0;
}

/* Only s and r have sockets; a socket holds its namespace. */
static int namespace_goes(void)
{
	hit = A;
	line_release(&line, A);
	return 0;
}

static int module_stays(void)
{
	/* Without applications a socket of this process holds the module. */
	int fd = socket(AF_INET, SOCK_RDM, IPPROTO_AGGNET);
	int refused;

	if (fd < 0)
		return -1;
	if (!syscall(SYS_delete_module, "aggnet", O_NONBLOCK))
		complain("the module went although a socket is open");
	refused = errno == EWOULDBLOCK || errno == EBUSY;
	close(fd);
	return refused ? 0 : -1;
}

static int nothing_goes(void)
{
	return 0;
}

static const struct what {
	const char *name;
	int (*happens)(void);
	int (*mend)(void);
	bool alone;	/* a has no application */
	bool harmless;	/* the result must be exact */
	bool hurts;	/* some transfers must fail */
} whats[] = {
	{ "nothing", nothing_goes, NULL, false, true, false },
	{ "port", port_goes, mend_ports, false, false, false },
	{ "device", device_goes, mend_link, false, false, true },
	{ "carrier", carrier_goes, mend_link, false, false, true },
	{ "identity", identity_goes, mend_node, false, false, true },
	{ "namespace", namespace_goes, mend_node, true, false, true },
	{ "entry", withdrawn, NULL, false, false, true },
	{ "plan", newer_plan, NULL, false, false, true },
	{ "module", module_stays, NULL, false, true, false },
};

/* --- rounds -------------------------------------------------------------------- */

static struct app apps[NODES];
static uint64_t seen[KEYS];

static void start(bool alone)
{
	int i;

	for (i = 0; i < NODES; i++) {
		apps[i] = (struct app) {
			.netns = line.ns[i],
			.reader = i == R,
			.receiver = node_id(R),
			.job = CTREE_JOB,
			.first = (uint32_t)i * RECORDS / 2,
			.records = i == S ? RECORDS : RECORDS / 10,
			.salt = (uint32_t)i,
			.seen = seen,
			.keys = KEYS,
		};
		if (i != A || !alone)
			app_start(&apps[i]);
		else
			apps[i].ended = true;
	}
}

/* Wait until so many records have left s or have reached r. */
static void wait_for(const struct app *app, unsigned int records)
{
	long end = now_ms() + BOUND * 1000;

	while (app->done < records && !app->ended)
		if (now_ms() > end)
			complain("it does not begin");
		else
			sched_yield();
}

/*
 * If a source got DONE, or the receiver got END, the result must be complete.
 * @struck: the removal came before the end
 */
static void judge(const struct what *what, bool struck)
{
	bool done = !apps[R].result;

	if (done && !app_exact(&apps[R], apps, NODES, what->alone ? 1 << A : 0))
		complain("END, but the result is wrong");
	if (!done && (!apps[S].result || (!what->alone && !apps[A].result)))
		complain("a source was told DONE, the receiver has no END");
	if (what->harmless && (!done || apps[S].result || apps[A].result))
		complain("a transfer failed for nothing");
	if (done)
		exact++;
	else
		failed++;
	survived += done && struck;
}

/* Has a transfer failed if some must fail, or survived if it may? */
static bool shown(const struct what *what)
{
	return what->hurts ? failed : survived;
}

static void one_round(const struct what *what)
{
	bool struck;
	long began;
	int i;

	entries(what->alone, what->harmless ? PATIENT_MS : GIVE_UP_MS);
	start(what->alone);
	wait_for(&apps[draw() & 1 ? S : R], (unsigned int)draw() % RECORDS);
	began = now_ms();
	if (what->happens())
		complain("what was to happen did not");
	struck = !apps[R].ended;
	for (i = 0; i < NODES; i++)
		if (apps[i].thread && !app_join(&apps[i], BOUND))
			complain("an application did not return");
	if (now_ms() - began > slowest)
		slowest = now_ms() - began;
	judge(what, struck);
	if (what->mend && what->mend())
		complain("it cannot be mended");
}

/* Without its entry each node frees all that it holds. */
static void nothing_left(void)
{
	long end = now_ms() + BOUND * 1000;
	struct aggnet_node_info info = {};
	int i;

	for (i = 0; i < NODES; i++) {
		/* It may have been withdrawn before. */
		ctree_del(i);
		do {
			if (aggnet_node_get(line.ctl[i], &info))
				complain(aggnet_ctl_error(line.ctl[i]));
			if (now_ms() > end)
				complain("memory is still held");
		} while (info.memory_used);
	}
}

/* removal SEED ROUNDS WHAT */
int main(int argc, char **argv)
{
	const struct what *what;
	unsigned int n;

	what = rounds_begin(argc, argv, whats, sizeof(whats) / sizeof(whats[0]),
			    sizeof(whats[0]), &n);
	if (line_up(&line))
		return 1;
	for (rounds = 1; rounds <= n || (!shown(what) && rounds <= MORE * n);
	     rounds++)
		one_round(what);
	nothing_left();
	if (!shown(what))
		complain(what->hurts ? "no transfer failed" :
			 "no transfer survived");
	line_down(&line);
	printf("exact %u, %u of them hit before their end, failed %u, slowest %ld ms\n",
	       exact, survived, failed, slowest);
	return 0;
}
