// SPDX-License-Identifier: GPL-2.0
/* The states of a transfer along a line, and how a test reaches each of them.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>

#include "../lib/clock.h"
#include "../lib/device.h"
#include "../lib/stall.h"
#include "line_transfer.h"
#include "member.h"
#include "slow_kernel.h"

#define STALL_MS	100	/* a CPU's stall that excuses a timeout */
/*
 * A loaded host may be late by an RTO, or by GIVE_UP, without such a stall,
 * when other processes delay the kernel's work. Tries slower than SLOW_FREE
 * need a stall; of the others no more than a quarter, and FREE, may do without
 * one.
 */
#define SLOW_FREE	4	/* times the first try's clocks */
#define FREE		5
#define SLOWEST		64	/* ms more for a slow machine */
#define CHECKED		8	/* factor of a kernel with checkers */
#define SLACK		60000	/* ms more for a slow machine */
#define CLOSED		68	/* MTU of a link that no aggnet packet passes */
#define SHORT		200	/* MTU that only OPENs and their answers pass */

static bool is_idle(struct line_transfer *t)
{
	return transfer_look(t, NODE_R).state == AGGNET_TREE_IDLE;
}

static bool is_opening(struct line_transfer *t)
{
	return transfer_look(t, NODE_C).state == AGGNET_TREE_OPEN &&
	       transfer_look(t, NODE_R).channels == 1;
}

/* C has its ACCEPT, and its PROBE does not arrive. */
static bool is_binding(struct line_transfer *t)
{
	return transfer_look(t, NODE_C).acceptor.s_addr &&
	       !transfer_look(t, NODE_AGG).channels;
}

static bool is_bound(struct line_transfer *t)
{
	return transfer_look(t, NODE_AGG).channels == 1 &&
	       transfer_look(t, NODE_R).channels == 1;
}

static bool has_data(struct line_transfer *t)
{
	return transfer_look(t, NODE_AGG).records_in > 0;
}

static bool is_relayed(struct line_transfer *t)
{
	return transfer_look(t, NODE_R).records_in > 0;
}

static bool is_finished(struct line_transfer *t)
{
	return transfer_look(t, NODE_C).state == AGGNET_TREE_WAITING;
}

/* The aggregator's FIN does not arrive. */
static bool is_closing(struct line_transfer *t)
{
	return is_finished(t) &&
	       transfer_look(t, NODE_AGG).state == AGGNET_TREE_CLOSING;
}

static bool is_whole(struct line_transfer *t)
{
	return transfer_look(t, NODE_R).state == AGGNET_TREE_CLOSING;
}

static bool is_read(struct line_transfer *t)
{
	return is_whole(t) && !transfer_look(t, NODE_R).keys;
}

static bool is_taken(struct line_transfer *t)
{
	return t->taken;
}

static bool is_aborted(struct line_transfer *t)
{
	return transfer_look(t, NODE_R).state == AGGNET_TREE_ABORTED;
}

const struct state transfer_states[STATES] = {
	[IDLE] = { .name = "idle", .later = true, .there = is_idle },
	[OPENING] = { .name = "opening", .mtu = CLOSED, .at = NODE_T,
		.there = is_opening },
	[BINDING] = { .name = "binding", .mtu = SHORT, .at = NODE_AGG,
		.there = is_binding },
	[BOUND] = { .name = "bound", .there = is_bound },
	[DATA] = { .name = "data", .c = RECORDS / 2, .c_hold = 50,
		.there = has_data },
	[RELAYING] = { .name = "relaying", .c = RECORDS / 2, .c_hold = 50,
		.a_hold = 50, .there = is_relayed },
	[FINISHED] = { .name = "finished", .c = RECORDS, .c_shut = true,
		.there = is_finished },
	[CLOSING] = { .name = "closing", .first = is_bound, .mtu = CLOSED,
		.at = NODE_R, .c = RECORDS, .c_shut = true, .a = RECORDS,
		.a_shut = true, .there = is_closing },
	[WHOLE] = { .name = "whole", .c = RECORDS, .c_shut = true, .a = RECORDS,
		.a_shut = true, .there = is_whole },
	[READ] = { .name = "read", .c = RECORDS, .c_shut = true, .a = RECORDS,
		.a_shut = true, .read = true, .there = is_read },
	[DONE] = { .name = "done", .c = RECORDS, .c_shut = true, .a = RECORDS,
		.a_shut = true, .read = true, .take = true, .there = is_taken },
	[ABORTED] = { .name = "aborted", .first = is_bound, .c = RECORDS / 2,
		.c_fails = true, .there = is_aborted },
};

const struct state transfer_rest = {
	.name = "end", .c = RECORDS, .c_shut = true, .a = RECORDS,
	.a_shut = true, .read = true, .take = true,
};

static void step(struct line_transfer *t, const struct state *s)
{
	struct app *c = &t->app[APP_C], *r = &t->app[APP_R];

	app_write(t, APP_C, s->c, s->c_shut);
	if (s->c_fails && c->sent == s->c)
		app_kill(t, APP_C);
	app_write(t, APP_AGG, s->a, s->a_shut);
	if (s->read && r->fd >= 0 && !r->over)
		while (app_read(t, s->take))
			;
}

bool transfer_over(struct line_transfer *t)
{
	int i;

	for (i = 0; i < APPS; i++)
		if (t->app[i].fd >= 0 && !t->app[i].over)
			return false;
	return true;
}

/* Has a node given up? */
static bool has_timed_out(struct line_transfer *t)
{
	return transfer_look(t, NODE_R).reason == AGGNET_R_TIMEOUT ||
	       transfer_look(t, NODE_AGG).reason == AGGNET_R_TIMEOUT ||
	       transfer_look(t, NODE_C).reason == AGGNET_R_TIMEOUT;
}

/* Has a node given up, or has C bound past the aggregator? */
static bool is_slow(struct line_transfer *t)
{
	return transfer_look(t, NODE_R).channels > 1 || has_timed_out(t);
}

bool transfer_reach(struct line_transfer *t, const struct state *s,
		    bool (*there)(struct line_transfer *t))
{
	int64_t until = now_ms() + 2 * t->slow * t->give_up + SLACK;

	while (!there(t)) {
		if (now_ms() > until ||
		    (there != transfer_over && is_slow(t)))
			return false;
		step(t, s);
		poll(NULL, 0, 4);
	}
	return true;
}

void transfer_narrow(struct line_transfer *t, const struct state *s, int mtu)
{
	if (!s->mtu || t->line.ns[s->at] < 0)
		return;
	line_enter(&t->line, s->at);
	device_set_mtu("l", mtu);
}

/* The receiver joins first. */
int transfer_join(struct line_transfer *t, unsigned int absent)
{
	int i;

	for (i = APPS; i--;)
		if (!(absent & 1u << i) && app_join(t, i))
			return -1;
	return 0;
}

/* Try once. Return: what went wrong, or NULL */
static const char *try_to_bring(struct line_transfer *t, const struct state *s)
{
	int i;

	for (i = 0; i < APPS; i++)
		t->app[i] = (struct app){ .fd = -1 };
	t->hold[NODE_C] = t->slow * s->c_hold;
	t->hold[NODE_AGG] = t->slow * s->a_hold;
	if (transfer_begin(t))
		return "no entries";
	if (!s->first)
		transfer_narrow(t, s, s->mtu);
	if (!s->later && transfer_join(t, 0))
		return "an application cannot join";
	if (s->first) {
		if (!transfer_reach(t, &transfer_states[BOUND], s->first))
			return "the state before is not reached";
		transfer_narrow(t, s, s->mtu);
	}
	return transfer_reach(t, s, s->there) ? NULL : "the state is not reached";
}

/* On a slow host no node gives up before its time, or if give_up is PATIENT. */
static bool is_early(struct line_transfer *t, int64_t took)
{
	return has_timed_out(t) && (t->give_up == PATIENT ||
				    took < t->slow * t->give_up / 2);
}

/* How many times slower than others is this kernel? */
static uint32_t slowness(void)
{
	return slow_kernel() ? CHECKED : 1;
}

/* Return: why a try on a host that seems slow is not repeated, or NULL */
static const char *not_excused(struct line_transfer *t, int64_t took)
{
	bool stalled = stall_longest() >= STALL_MS;

	if (is_early(t, took))
		return "a node gave up too early";
	t->unexplained += !stalled;
	if (t->unexplained > FREE + t->instance / 4)
		return "too many tries are repeated, and the host did not stall";
	if (!stalled && t->slow >= SLOW_FREE * slowness())
		return has_timed_out(t) ?
		       "a node gave up, and the host did not stall" :
		       "C bound past the aggregator, and the host did not stall";
	return t->slow > SLOWEST ? "the host is too slow" : NULL;
}

const char *transfer_bring(struct line_transfer *t, const struct state *s)
{
	const char *wrong, *not;
	int64_t began;

	for (t->slow = slowness();; t->slow *= 2) {
		stall_forget();
		began = now_ms();
		wrong = try_to_bring(t, s);
		if (!is_slow(t))
			return wrong;
		not = not_excused(t, now_ms() - began);
		if (not)
			return not;
		t->repeated++;
		transfer_end(t);
		transfer_narrow(t, s, LINE_MTU);
	}
}

const char *transfer_picture(struct line_transfer *t)
{
	static char text[512];
	int node, len = 0;

	for (node = 0; node < NODES; node++) {
		struct aggnet_tree_info tree = transfer_look(t, node);

		len += sprintf(text + len, "; 10.0.0.%d: state %d reason %d, %u children, bound to %s",
			       NODES - node, tree.state, tree.reason,
			       tree.channels, inet_ntoa(tree.acceptor));
	}
	return text;
}
