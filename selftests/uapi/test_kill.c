// SPDX-License-Identifier: GPL-2.0
/* Each role of a transfer dies in each state of it: every application that
 * lives gets an outcome in time, and no result is wrong. Needs root and the
 * module. ROUNDS=n kills each role so many times, SEED=n repeats an order.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#include "../lib/clock.h"
#include "../lib/device.h"
#include "../lib/random.h"
#include "../lib/stall.h"
#include "line_transfer.h"

#define WORKERS		8	/* lines at the same time */

enum {
	NO_ROLE, SOURCE, SOURCE_PORT, TRANSIT, AGGREGATOR, RECEIVER,
	RECEIVER_HOST, ROLES
};

static const char * const role_name[ROLES] = {
	"no role", "the source", "the source's port", "the transit's host",
	"the aggregator's host", "the receiver", "the receiver's host",
};

static const int role_host[ROLES] = {
	[TRANSIT] = NODE_T, [AGGREGATOR] = NODE_AGG, [RECEIVER_HOST] = NODE_R,
};

/**
 * struct victim - a transfer in which a worker kills roles
 * @t: the transfer
 * @killed: the role is dead
 * @worst: ms from a role's death to the last outcome
 * @rng: random generator
 */
struct victim {
	struct line_transfer t;
	bool killed;
	int64_t worst[ROLES];
	unsigned long long rng;
};

static void cut_source(struct line_transfer *t)
{
	line_enter(&t->line, NODE_C);
	device_set_up("r", false);
}

/* Cut the host off, before or after its applications are killed. */
static void kill_host(struct victim *v, int host)
{
	bool at_once = splitmix64(&v->rng) & 1;
	int i;

	if (at_once)
		line_cut(&v->t.line, host);
	for (i = 0; i < APPS; i++)
		if (app_node[i] == host)
			app_kill(&v->t, i);
	line_destroy(&v->t.line, host);
}

static void kill_role(struct victim *v, int role)
{
	if (role == SOURCE)
		app_kill(&v->t, APP_C);
	else if (role == SOURCE_PORT)
		cut_source(&v->t);
	else if (role == RECEIVER)
		app_kill(&v->t, APP_R);
	else if (role != NO_ROLE)
		kill_host(v, role_host[role]);
}

static int mend(struct victim *v, int role)
{
	if (role == SOURCE_PORT && v->killed)
		return line_mend_link(&v->t.line, NODE_C);
	if (!role_host[role] || !v->killed)
		return 0;
	return line_mend_node(&v->t.line, role_host[role]);
}

/*
 * Must every application that lives succeed? A finished source is not needed.
 */
static bool must_succeed(int role, const struct state *s)
{
	if (s->c_fails)
		return false;
	if (role == SOURCE)
		return s->c_shut;
	return role == NO_ROLE || (role == RECEIVER && s->take);
}

/* Must every application that lives fail? */
static bool must_fail(int role, const struct state *s)
{
	if (role == SOURCE)
		return !s->c_shut;
	if (role == RECEIVER || role == RECEIVER_HOST)
		return !s->take;
	return s->c_fails || (role == AGGREGATOR && !s->a_shut);
}

/* Is no node told of this death, so that the others notice silence only? */
static bool is_silent(int role, const struct state *s)
{
	return role_host[role] || role == SOURCE_PORT ||
	       (s->later && role != NO_ROLE);
}

/* A death that is reported has one errno; an answer may end a silence early. */
static bool is_expected(int role, const struct state *s, int error)
{
	if (error == ECONNABORTED)
		return is_silent(role, s) || role == SOURCE || s->c_fails;
	if (error == EPIPE)
		return is_silent(role, s) || role == RECEIVER;
	return is_silent(role, s) &&
	       (error == ETIMEDOUT || error == ECONNRESET);
}

/* Return: what is wrong, or NULL */
static const char *judge(struct line_transfer *t, int role, const struct state *s, int app)
{
	const struct app *a = &t->app[app];

	if (a->fd < 0)
		return NULL;
	if (!a->over)
		return "hangs";
	if (a->error && !is_expected(role, s, a->error))
		return "has an error that means something else";
	if (a->error && must_succeed(role, s))
		return "has an error";
	if (!a->error && must_fail(role, s))
		return "has no error";
	if (!a->error && !t->taken)
		return "has success, but the receiver did not read the result";
	if (app == APP_R && !a->error && !transfer_exact(t))
		return "has a wrong result";
	return NULL;
}

/* The applications that die with the role, one bit each. */
static unsigned int absent(int role)
{
	unsigned int apps = 0;
	int i;

	for (i = 0; i < APPS; i++)
		if ((role == SOURCE && i == APP_C) ||
		    (role == RECEIVER && i == APP_R) ||
		    (role_host[role] && role_host[role] == app_node[i]))
			apps |= 1u << i;
	return apps;
}

/* Kill once. Return: what is wrong, or NULL */
static const char *play(struct victim *v, int role, const struct state *s, int *app)
{
	const char *wrong;
	int64_t killed;

	*app = 0;
	v->killed = false;
	v->t.give_up = must_succeed(role, s) || !is_silent(role, s) ?
		       PATIENT : GIVE_UP;
	wrong = transfer_bring(&v->t, s);
	if (wrong)
		return wrong;
	killed = now_ms();
	v->killed = true;
	kill_role(v, role);
	if (s->later && transfer_join(&v->t, absent(role)))
		return "cannot join";
	transfer_narrow(&v->t, s, LINE_MTU);
	transfer_reach(&v->t, &transfer_rest, transfer_over);
	if (now_ms() - killed > v->worst[role])
		v->worst[role] = now_ms() - killed;
	for (*app = 0; *app < APPS && !wrong; (*app)++)
		wrong = judge(&v->t, role, s, *app);
	*app -= !!wrong;
	return wrong;
}

/* --- tests ---------------------------------------------------------------- */

enum { CELLS = ROLES * STATES };

/* Draw the next cell: each comes once in random order, then all again. */
static unsigned int next_cell(unsigned long long *rng, unsigned int *cells,
			      unsigned int i)
{
	unsigned int at = i % CELLS, k = at + splitmix64(rng) % (CELLS - at);
	unsigned int cell = cells[k];

	cells[k] = cells[at];
	cells[at] = cell;
	return cell;
}

/* Return: true if nothing is wrong */
static bool play_cell(struct victim *v, unsigned int round, unsigned int cell)
{
	const struct state *s = &transfer_states[cell / ROLES];
	int role = cell % ROLES, app;
	const char *wrong = play(v, role, s, &app);

	if (wrong)
		printf("# round %u: %s dies in state %s: %s %s (error %d)%s\n",
		       round, role_name[role], s->name, app_name[app], wrong,
		       v->t.app[app].error, transfer_picture(&v->t));
	transfer_end(&v->t);
	transfer_narrow(&v->t, s, LINE_MTU);
	return !mend(v, role) && !wrong;
}

/*
 * Do a share of all deaths on a line of its own. Return: true if nothing is
 * wrong
 */
static bool work(struct victim *v, unsigned int share, unsigned int rounds)
{
	unsigned int cells[CELLS], i, cell;
	/* All workers share the order of cells, whatever else they draw. */
	unsigned long long order = v->rng;
	bool well;

	stall_watch();
	well = !transfer_up(&v->t);
	for (i = 0; i < CELLS; i++)
		cells[i] = i;
	for (i = 0; well && i < rounds * CELLS; i++) {
		cell = next_cell(&order, cells, i);
		if (i % WORKERS == share)
			well = play_cell(v, i, cell);
	}
	if (well)
		line_down(&v->t.line);
	return well;
}

/* Shared with the process that started them. */
FIXTURE(workers) {
	struct victim *all;
};

FIXTURE_SETUP(workers)
{
	const char *seed = getenv("SEED");
	int i;

	self->all = mmap(NULL, WORKERS * sizeof(*self->all),
			 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);
	ASSERT_NE(MAP_FAILED, self->all);
	for (i = 0; i < WORKERS; i++)
		self->all[i].rng = seed ? strtoull(seed, NULL, 0) : 1;
	TH_LOG("seed %llu", self->all->rng);
}

FIXTURE_TEARDOWN(workers)
{
}

/* Run several workers: each waits most of the time until nodes give up. */
TEST_F_TIMEOUT(workers, death__of_every_role_in_every_state, LONG)
{
	const char *rounds = getenv("ROUNDS");
	struct victim *all = self->all;
	pid_t worker[WORKERS];
	int i, role, status;

	for (i = 0; i < WORKERS; i++) {
		worker[i] = fork();
		ASSERT_LE(0, worker[i]);
		if (!worker[i])
			exit(!work(&all[i], i, rounds ? atoi(rounds) : 1));
	}
	for (i = 0; i < WORKERS; i++) {
		EXPECT_EQ(worker[i], waitpid(worker[i], &status, 0));
		EXPECT_EQ(0, status);
	}
	for (i = 1; i < WORKERS; i++) {
		all->t.repeated += all[i].t.repeated;
		all->t.unexplained += all[i].t.unexplained;
	}
	TH_LOG("%u tries repeated because the host was slow, %u of them without a stall",
	       all->t.repeated, all->t.unexplained);
	for (role = 0; role < ROLES; role++) {
		for (i = 1; i < WORKERS; i++)
			if (all[i].worst[role] > all->worst[role])
				all->worst[role] = all[i].worst[role];
		TH_LOG("%s: all returned after %lld ms at most",
		       role_name[role], (long long)all->worst[role]);
	}
}

TEST_HARNESS_MAIN
