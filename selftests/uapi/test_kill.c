// SPDX-License-Identifier: GPL-2.0
/* Death of every role of a transfer in every state of it: every application that
 * lives gets an outcome in time, and no result is wrong. Also hosts that come
 * back, IDs that are used again, and packets that come late. Needs root and the
 * module. ROUNDS=n kills each so often, SEED=n repeats an order.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

#include "../inet_sum.h"
#include "../random.h"
#include "line.h"
#include "member.h"

#define GIVE_UP		400	/* ms */
#define PATIENT		60000	/* where nobody may give up */
#define SLOWEST		64	/* times as slow as we expect a host to be */
#define SLACK		60000	/* of a slow machine, before it counts as a hang */
#define RECORDS		400	/* of each source */
#define FRAMES_MAX	256
#define WORKERS		8	/* lines at once */
#define MTU		1500
#define CLOSED		68	/* MTU of a link that takes no packet of ours */
#define SHORT		200	/* of one that takes OPENs and their answers */

/* --- applications --------------------------------------------------------- */

enum { APP_C, APP_AGG, APP_R, APPS };

static const int app_node[APPS] = { NODE_C, NODE_AGG, NODE_R };
static const char * const app_name[APPS] = { "C", "A", "R" };

/**
 * struct app - a process that takes part, played by this one
 * @fd: its socket, -1: it is dead
 * @sent: records so far
 * @shut: the source has told its end
 * @sum: of the values that the receiver has read
 * @over: it has its outcome
 * @error: which, 0: all is well
 */
struct app {
	int fd;
	unsigned int sent;
	bool shut;
	int64_t sum;
	bool over;
	int error;
};

/* --- a line ---------------------------------------------------------------- */

enum {
	NOBODY, SOURCE, SOURCE_PORT, TRANSIT, AGGREGATOR, RECEIVER,
	RECEIVER_HOST, ROLES
};

FIXTURE(line) {
	struct line line;
	struct app app[APPS];
	bool taken;		/* the end mark, by a living receiver */
	uint32_t give_up;	/* of the entries, ms */
	uint32_t slow;		/* so many times what a quick host needs */
	bool killed;
	uint32_t instance;
	uint32_t hold[NODES];
	int64_t worst[ROLES];	/* ms from a death to the last outcome */
	unsigned long long rng;
};

typedef struct _test_data_line test;

static uint64_t draw(test *self)
{
	return splitmix64(&self->rng);
}

static void app_over(struct app *app, int error)
{
	app->over = true;
	app->error = error;
}

static void app_send(struct app *app, unsigned int until)
{
	uint8_t buf[2048];
	char key[16];
	size_t len = 0;
	ssize_t n;
	unsigned int i;

	for (i = app->sent; i < until && len < 1900; i++) {
		snprintf(key, sizeof(key), "key %u", i);
		len += put_record(buf + len, key, 1);
	}
	if (!len)
		return;
	n = send(app->fd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0 && errno != EAGAIN)
		app_over(app, errno);
	for (len = 0; n > 0 && len < (size_t)n; app->sent++)
		len += 2 + buf[len] + buf[len + 1];
}

static int64_t record_value(const uint8_t *record)
{
	int64_t value = 0;

	/* Short positive ones only: counts of sources. */
	memcpy(&value, record + 2 + record[0], record[1]);
	return value;
}

/* One message; the end mark only if @take. Return: false: not now */
static bool app_read(test *self, bool take)
{
	struct app *app = &self->app[APP_R];
	static struct message m;
	size_t at;
	ssize_t n;

	n = recv(app->fd, &m, sizeof(m), MSG_DONTWAIT | MSG_PEEK);
	if (n >= 0 && !take)
		return false;
	if (n >= 0 || errno == EOPNOTSUPP)
		n = recv(app->fd, &m, sizeof(m), MSG_DONTWAIT);
	if (n < 0) {
		if (errno != EAGAIN)
			app_over(app, errno);
		return false;
	}
	if (m.head.type == AGGNET_MSG_END) {
		self->taken = true;
		app_over(app, 0);
		return false;
	}
	for (at = 0; at < n - sizeof(m.head);
	     at += 2 + m.records[at] + m.records[at + 1])
		app->sum += record_value(m.records + at);
	return true;
}

/* What a source does next, up to @records, and to its end if @shut. */
static void app_write(struct app *app, unsigned int records, bool shut)
{
	char byte;

	if (app->fd < 0 || app->over)
		return;
	if (app->sent < records) {
		app_send(app, records);
	} else if (shut && !app->shut) {
		if (shutdown(app->fd, SHUT_WR))
			app_over(app, errno);
		app->shut = true;
	} else if (shut) {
		if (recv(app->fd, &byte, 1, MSG_DONTWAIT) == 0)
			app_over(app, 0);
		else if (errno != EAGAIN)
			app_over(app, errno);
	}
}

static void app_kill(test *self, int app)
{
	if (self->app[app].fd >= 0)
		close(self->app[app].fd);
	self->app[app].fd = -1;
}

static int app_join(test *self, int app)
{
	line_enter(&self->line, app_node[app]);
	self->app[app] = (struct app){ .fd = joined(app == APP_R) };
	return self->app[app].fd < 0 ? -1 : 0;
}

/* --- entries -------------------------------------------------------------- */

static int add(test *self, int node)
{
	struct aggnet_tree_info e = entry(node == NODE_C || node == NODE_AGG);
	struct in_addr child = ip(line_identity(node == NODE_R ? NODE_AGG :
						NODE_C));

	e.instance = self->instance;
	e.has |= AGGNET_HAS(AGGNET_A_TREE_GIVE_UP) |
		 AGGNET_HAS(AGGNET_A_TREE_HOLD);
	e.give_up = self->slow * self->give_up;
	e.hold = self->hold[node];
	line_enter(&self->line, node);
	if (node == NODE_T) {
		e.has = AGGNET_HAS(AGGNET_A_TREE_INCAST_ID) |
			AGGNET_HAS(AGGNET_A_TREE_INSTANCE) |
			AGGNET_HAS(AGGNET_A_TREE_SCHEME) |
			AGGNET_HAS(AGGNET_A_TREE_LINK_IFINDEX) |
			AGGNET_HAS(AGGNET_A_TREE_LINK_NEIGHBOUR);
		e.scheme = AGGNET_SCHEME_EXACT;
		e.link_ifindex = if_nametoindex("r");
		e.link_neighbour = ip("10.16.1.2");
	}
	if (node == NODE_AGG || node == NODE_R) {
		e.has |= AGGNET_HAS(AGGNET_A_TREE_CHILDREN);
		e.children = (struct aggnet_addrs){ &child, 1 };
		e.contributors = node == NODE_AGG ? 2 : 1;
		e.sources = 2;
	}
	return add_entry(self->line.ctl[node], &e, false);
}

/* A new instance of the same incast ID, parents first. */
static int begin(test *self)
{
	int node;

	self->instance++;
	self->taken = false;
	for (node = NODES; node--;)
		if (add(self, node))
			return -1;
	return 0;
}

static void end(test *self)
{
	int i;

	for (i = 0; i < APPS; i++)
		app_kill(self, i);
	for (i = 0; i < NODES; i++)
		if (self->line.ctl[i])
			aggnet_tree_del(self->line.ctl[i],
					aggnet_incast_id(JOB, ip(NODE_A)));
}

static struct aggnet_tree_info look(test *self, int node)
{
	struct aggnet_tree_info tree = {};

	if (self->line.ctl[node])
		aggnet_tree_get(self->line.ctl[node],
				aggnet_incast_id(JOB, ip(NODE_A)), &tree);
	free(tree.children.addr);
	free(tree.missing_names.addr);
	return tree;
}

static uint64_t counter(test *self, int node, const char *name)
{
	struct aggnet_stat *list;
	uint64_t value = 0;
	size_t i, n;

	if (aggnet_stats_list(self->line.ctl[node], &list, &n))
		return 0;
	for (i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			value = list[i].value;
	free(list);
	return value;
}

/* --- states --------------------------------------------------------------- */

/**
 * struct state - of a transfer in which somebody dies
 * @name: for people
 * @later: nobody joins before
 * @first: this must be so before @mtu, and before anything is sent
 * @mtu: of the link on the left of @at, 0: what it was
 * @at: node
 * @c_hold: of C's entry, ms: its records leave as they come
 * @a_hold: of the aggregator's, likewise
 * @c: records of C
 * @c_shut: and its end
 * @c_fails: and C ends without it
 * @a: the aggregator's own source, as @c
 * @a_shut: as @c_shut
 * @read: the receiver reads the records
 * @take: and the end mark
 * @there: the state has been reached
 */
struct state {
	const char *name;
	bool later;
	bool (*first)(test *self);
	int mtu;
	int at;
	uint32_t c_hold;
	uint32_t a_hold;
	unsigned int c;
	bool c_shut;
	bool c_fails;
	unsigned int a;
	bool a_shut;
	bool read;
	bool take;
	bool (*there)(test *self);
};

static bool is_idle(test *self)
{
	return look(self, NODE_R).state == AGGNET_TREE_IDLE;
}

static bool is_opening(test *self)
{
	return look(self, NODE_C).state == AGGNET_TREE_OPEN &&
	       look(self, NODE_R).channels == 1;
}

/* C has its ACCEPT, and the PROBE does not come through. */
static bool is_binding(test *self)
{
	return look(self, NODE_C).acceptor.s_addr &&
	       !look(self, NODE_AGG).channels;
}

static bool is_bound(test *self)
{
	return look(self, NODE_AGG).channels == 1 &&
	       look(self, NODE_R).channels == 1;
}

static bool has_data(test *self)
{
	return look(self, NODE_AGG).records_in > 0;
}

static bool is_relayed(test *self)
{
	return look(self, NODE_R).records_in > 0;
}

static bool is_finished(test *self)
{
	return look(self, NODE_C).state == AGGNET_TREE_WAITING;
}

/* The aggregator, whose FIN does not come through. */
static bool is_closing(test *self)
{
	return is_finished(self) &&
	       look(self, NODE_AGG).state == AGGNET_TREE_CLOSING;
}

static bool is_whole(test *self)
{
	return look(self, NODE_R).state == AGGNET_TREE_CLOSING;
}

static bool is_read(test *self)
{
	return is_whole(self) && !look(self, NODE_R).keys;
}

static bool is_taken(test *self)
{
	return self->taken;
}

static bool is_aborted(test *self)
{
	return look(self, NODE_R).state == AGGNET_TREE_ABORTED;
}

enum {
	IDLE, OPENING, BINDING, BOUND, DATA, RELAYING, FINISHED, CLOSING, WHOLE,
	READ, DONE, ABORTED, STATES
};

static const struct state states[STATES] = {
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

static void step(test *self, const struct state *s)
{
	struct app *c = &self->app[APP_C], *r = &self->app[APP_R];

	app_write(c, s->c, s->c_shut);
	if (s->c_fails && c->sent == s->c)
		app_kill(self, APP_C);
	app_write(&self->app[APP_AGG], s->a, s->a_shut);
	if (s->read && r->fd >= 0 && !r->over)
		while (app_read(self, s->take))
			;
}

static bool all_over(test *self)
{
	int i;

	for (i = 0; i < APPS; i++)
		if (self->app[i].fd >= 0 && !self->app[i].over)
			return false;
	return true;
}

/* Has somebody given up, or gone around an aggregator that did? */
static bool is_slow(test *self)
{
	struct aggnet_tree_info r = look(self, NODE_R);

	return r.channels > 1 || r.reason == AGGNET_R_TIMEOUT ||
	       look(self, NODE_AGG).reason == AGGNET_R_TIMEOUT ||
	       look(self, NODE_C).reason == AGGNET_R_TIMEOUT;
}

/* Let the applications go on until that. Return: false: not in time */
static bool reach(test *self, const struct state *s, bool (*there)(test *self))
{
	int64_t until = line_now() + 2 * self->slow * self->give_up + SLACK;

	while (!there(self)) {
		if (line_now() > until || (there != all_over && is_slow(self)))
			return false;
		step(self, s);
		poll(NULL, 0, 4);
	}
	return true;
}

/* --- deaths --------------------------------------------------------------- */

static const char * const role_name[ROLES] = {
	"nobody", "the source", "the source's port", "the transit's host",
	"the aggregator's host", "the receiver", "the receiver's host",
};

static const int role_host[ROLES] = {
	[TRANSIT] = NODE_T, [AGGREGATOR] = NODE_AGG, [RECEIVER_HOST] = NODE_R,
};

static void cut_source(test *self)
{
	line_enter(&self->line, NODE_C);
	line_set_up("r", false);
}

/* Its routes went with the device. */
static int connect_source(test *self)
{
	line_enter(&self->line, NODE_C);
	return line_set_up("r", true) ?: line_routes(NODE_C, true);
}

static void narrow(test *self, const struct state *s, int mtu)
{
	if (!s->mtu || self->line.ns[s->at] < 0)
		return;
	line_enter(&self->line, s->at);
	line_set_mtu("l", mtu);
}

/* A host goes at once, or kills its processes before. */
static void kill_host(test *self, int host)
{
	bool at_once = draw(self) & 1;
	int i;

	if (at_once)
		line_cut(&self->line, host);
	for (i = 0; i < APPS; i++)
		if (app_node[i] == host)
			app_kill(self, i);
	line_destroy(&self->line, host);
}

static void kill_role(test *self, int role)
{
	if (role == SOURCE)
		app_kill(self, APP_C);
	else if (role == SOURCE_PORT)
		cut_source(self);
	else if (role == RECEIVER)
		app_kill(self, APP_R);
	else if (role != NOBODY)
		kill_host(self, role_host[role]);
}

static int mend(test *self, int role)
{
	if (role == SOURCE_PORT && self->killed)
		return connect_source(self);
	if (!role_host[role] || !self->killed)
		return 0;
	return line_restore(&self->line, role_host[role]);
}

/* --- what must come of it ------------------------------------------------- */

/* Must everybody who lives succeed? What was taken over needs no source. */
static bool must_succeed(int role, const struct state *s)
{
	if (s->c_fails)
		return false;
	if (role == SOURCE)
		return s->c_shut;
	return role == NOBODY || (role == RECEIVER && s->take);
}

/* Must everybody who lives fail? */
static bool must_fail(int role, const struct state *s)
{
	if (role == SOURCE)
		return !s->c_shut;
	if (role == RECEIVER || role == RECEIVER_HOST)
		return !s->take;
	return s->c_fails || (role == AGGREGATOR && !s->a_shut);
}

static bool is_known(int error)
{
	return error == ETIMEDOUT || error == ECONNABORTED ||
	       error == ECONNRESET || error == EPIPE;
}

/* Return: what is wrong, NULL: nothing */
static const char *judge(test *self, int role, const struct state *s, int app)
{
	const struct app *a = &self->app[app];

	if (a->fd < 0)
		return NULL;
	if (!a->over)
		return "hangs";
	if (a->error && !is_known(a->error))
		return "has an error that means something else";
	if (a->error && must_succeed(role, s))
		return "has an error";
	if (!a->error && must_fail(role, s))
		return "has no error";
	if (!a->error && !self->taken)
		return "has success, but nobody has the result";
	if (app == APP_R && !a->error && a->sum != 2 * RECORDS)
		return "has a wrong result";
	return NULL;
}

static const struct state the_end = {
	.name = "end", .c = RECORDS, .c_shut = true, .a = RECORDS,
	.a_shut = true, .read = true, .take = true,
};

/* The applications that a death leaves, receiver first. */
static int join_all(test *self, int dead)
{
	int i;

	for (i = APPS; i--;) {
		if ((dead == SOURCE && i == APP_C) ||
		    (dead == RECEIVER && i == APP_R) ||
		    (role_host[dead] && role_host[dead] == app_node[i]))
			continue;
		if (app_join(self, i))
			return -1;
	}
	return 0;
}

/* Once. Return: what went wrong, NULL: nothing */
static const char *try_to_bring(test *self, const struct state *s)
{
	int i;

	for (i = 0; i < APPS; i++)
		self->app[i] = (struct app){ .fd = -1 };
	self->killed = false;
	self->hold[NODE_C] = self->slow * s->c_hold;
	self->hold[NODE_AGG] = self->slow * s->a_hold;
	if (begin(self))
		return "no entries";
	if (!s->first)
		narrow(self, s, s->mtu);
	if (!s->later && join_all(self, NOBODY))
		return "an application cannot join";
	if (s->first) {
		if (!reach(self, &states[BOUND], s->first))
			return "the state before is not reached";
		narrow(self, s, s->mtu);
	}
	return reach(self, s, s->there) ? NULL : "the state is not reached";
}

/*
 * Bring the transfer there. A host that is too busy for our clocks gets slower
 * ones. Return: what went wrong, NULL: nothing
 */
static const char *bring(test *self, const struct state *s)
{
	const char *wrong;

	for (self->slow = 1;; self->slow *= 2) {
		wrong = try_to_bring(self, s);
		if (!is_slow(self) || self->slow > SLOWEST)
			return wrong;
		end(self);
		narrow(self, s, MTU);
	}
}

/* The transfer as the nodes see it. */
static const char *picture(test *self)
{
	static char text[512];
	int node, len = 0;

	for (node = 0; node < NODES; node++) {
		struct aggnet_tree_info tree = look(self, node);

		len += sprintf(text + len, "; %s: state %d reason %d, %u children, bound to %s",
			       line_identity(node), tree.state, tree.reason,
			       tree.channels, inet_ntoa(tree.acceptor));
	}
	return text;
}

/* One death. Return: what is wrong, NULL: nothing */
static const char *play(test *self, int role, const struct state *s, int *who)
{
	const char *wrong;
	int64_t killed;

	*who = 0;
	self->give_up = must_succeed(role, s) ? PATIENT : GIVE_UP;
	wrong = bring(self, s);
	if (wrong)
		return wrong;
	killed = line_now();
	self->killed = true;
	kill_role(self, role);
	if (s->later && join_all(self, role))
		return "cannot join";
	narrow(self, s, MTU);
	reach(self, &the_end, all_over);
	if (line_now() - killed > self->worst[role])
		self->worst[role] = line_now() - killed;
	for (*who = 0; *who < APPS && !wrong; (*who)++)
		wrong = judge(self, role, s, *who);
	*who -= !!wrong;
	return wrong;
}

/* --- tests ---------------------------------------------------------------- */

FIXTURE_SETUP(line)
{
	const char *seed = getenv("SEED");

	self->rng = seed ? strtoull(seed, NULL, 0) : 1;
	TH_LOG("seed %llu", self->rng);
	ASSERT_EQ(0, line_up(&self->line));
}

FIXTURE_TEARDOWN(line)
{
	line_down(&self->line);
}

enum { CELLS = ROLES * STATES };

/* The next of all, each once in random order, and so on again. */
static unsigned int next_cell(unsigned long long *rng, unsigned int *cells,
			      unsigned int i)
{
	unsigned int at = i % CELLS, k = at + splitmix64(rng) % (CELLS - at);
	unsigned int cell = cells[k];

	cells[k] = cells[at];
	cells[at] = cell;
	return cell;
}

/* Return: nothing is wrong */
static bool play_cell(test *self, unsigned int round, unsigned int cell)
{
	const struct state *s = &states[cell / ROLES];
	int role = cell % ROLES, who;
	const char *wrong = play(self, role, s, &who);

	if (wrong)
		printf("# round %u: %s dies in state %s: %s %s (error %d)%s\n",
		       round, role_name[role], s->name, app_name[who], wrong,
		       self->app[who].error, picture(self));
	end(self);
	narrow(self, s, MTU);
	return !mend(self, role) && !wrong;
}

/* Its share of all deaths, on a line of its own. Return: all is well */
static bool work(test *self, unsigned int share, unsigned int rounds)
{
	unsigned int cells[CELLS], i, cell;
	bool well = !line_up(&self->line);
	/* The same for all workers, whatever else they draw. */
	unsigned long long order = self->rng;

	for (i = 0; i < CELLS; i++)
		cells[i] = i;
	for (i = 0; well && i < rounds * CELLS; i++) {
		cell = next_cell(&order, cells, i);
		if (i % WORKERS == share)
			well = play_cell(self, i, cell);
	}
	if (well)
		line_down(&self->line);
	return well;
}

/* They may be seen by the process that made them. */
FIXTURE(workers) {
	test *all;
};

FIXTURE_SETUP(workers)
{
	const char *seed = getenv("SEED");
	int i;

	self->all = mmap(NULL, WORKERS * sizeof(test), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->all);
	for (i = 0; i < WORKERS; i++)
		self->all[i].rng = seed ? strtoull(seed, NULL, 0) : 1;
	TH_LOG("seed %llu", self->all->rng);
}

FIXTURE_TEARDOWN(workers)
{
}

/* Most of the time is spent waiting for somebody to give up: several at once. */
TEST_F_TIMEOUT(workers, death__of_every_role_in_every_state, LONG)
{
	const char *rounds = getenv("ROUNDS");
	test *all = self->all;
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
	for (role = 0; role < ROLES; role++) {
		for (i = 1; i < WORKERS; i++)
			if (all[i].worst[role] > all->worst[role])
				all->worst[role] = all[i].worst[role];
		TH_LOG("%s: all returned after %lld ms at most",
		       role_name[role], (long long)all->worst[role]);
	}
}

/* It comes back as it was, with a new nonce, and begins again. */
static int reboot(test *self, int app)
{
	int node = app_node[app];

	app_kill(self, app);
	line_destroy(&self->line, node);
	return line_restore(&self->line, node) || add(self, node) ||
	       app_join(self, app) ? -1 : 0;
}

TEST_F_TIMEOUT(line, reboot__of_each_member_in_the_middle, LONG)
{
	int app, i;

	for (app = 0; app < APPS; app++) {
		self->give_up = GIVE_UP;
		ASSERT_EQ(NULL, bring(self, &states[RELAYING]));
		ASSERT_EQ(0, reboot(self, app));
		reach(self, &the_end, all_over);
		for (i = 0; i < APPS; i++)
			EXPECT_TRUE(self->app[i].over && self->app[i].error)
				TH_LOG("%s reboots: %s has no error",
				       app_name[app], app_name[i]);
		end(self);
	}
}

/* What it had sent is safe: it changes nothing for the others. */
TEST_F_TIMEOUT(line, reboot__of_a_source_after_its_end, LONG)
{
	self->give_up = PATIENT;
	ASSERT_EQ(NULL, bring(self, &states[FINISHED]));
	self->give_up = GIVE_UP;
	ASSERT_EQ(0, reboot(self, APP_C));
	reach(self, &the_end, all_over);
	EXPECT_EQ(0, self->app[APP_R].error);
	EXPECT_EQ(0, self->app[APP_AGG].error);
	EXPECT_EQ(2 * RECORDS, self->app[APP_R].sum);
	EXPECT_NE(0, self->app[APP_C].error);
	EXPECT_LT(0, counter(self, NODE_AGG, "drop_nonce"));
	end(self);
}

/* --- late packets --------------------------------------------------------- */

struct frames {
	int fd;
	size_t n;
	struct {
		size_t len;
		bool right;	/* it left by the port on the right */
		uint8_t bytes[2048];
	} frame[FRAMES_MAX];
};

static bool is_ours(const uint8_t *frame, size_t len)
{
	const struct iphdr *iph = (const void *)(frame + sizeof(struct ethhdr));
	const struct udphdr *udp = (const void *)(iph + 1);

	return len >= sizeof(struct ethhdr) + sizeof(*iph) + sizeof(*udp) &&
	       iph->protocol == IPPROTO_UDP &&
	       udp->dest == htons(AGGNET_UDP_PORT);
}

/* A device would have filled in the checksum. */
static void put_checksum(uint8_t *frame, size_t len)
{
	struct iphdr *iph = (void *)(frame + sizeof(struct ethhdr));
	struct udphdr *udp = (void *)(iph + 1);

	udp->check = 0;
	udp->check = inet_udp_sum(iph, udp, len - sizeof(struct ethhdr) -
				  sizeof(*iph));
}

/* What T has sent on, in both directions. */
static void capture(struct frames *f)
{
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	ssize_t len;

	while (f->n < FRAMES_MAX) {
		len = recvfrom(f->fd, f->frame[f->n].bytes,
			       sizeof(f->frame[0].bytes), MSG_DONTWAIT,
			       (struct sockaddr *)&from, &size);
		if (len < 0)
			break;
		if (from.sll_pkttype != PACKET_OUTGOING ||
		    !is_ours(f->frame[f->n].bytes, len))
			continue;
		put_checksum(f->frame[f->n].bytes, len);
		f->frame[f->n].len = len;
		f->frame[f->n].right = from.sll_ifindex ==
				       (int)if_nametoindex("r");
		f->n++;
	}
}

/* All of it again, in random order. */
static void replay(test *self, const struct frames *f)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET };
	size_t i, k;

	line_enter(&self->line, NODE_T);
	for (i = 0; i < f->n; i++) {
		k = draw(self) % f->n;
		to.sll_ifindex = (int)if_nametoindex(f->frame[k].right ? "r" :
						     "l");
		/* A link that is cut takes none. */
		sendto(f->fd, f->frame[k].bytes, f->frame[k].len, 0,
		       (struct sockaddr *)&to, sizeof(to));
	}
}

/* The same incast ID, again and again, under the packets of the first time. */
TEST_F_TIMEOUT(line, late_packets__of_an_older_instance, LONG)
{
	static struct frames f;
	unsigned int i, k;

	self->give_up = PATIENT;
	line_enter(&self->line, NODE_T);
	f.fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	ASSERT_LE(0, f.fd);
	ASSERT_EQ(NULL, bring(self, &states[DONE]));
	ASSERT_TRUE(reach(self, &the_end, all_over));
	line_enter(&self->line, NODE_T);
	capture(&f);
	end(self);
	ASSERT_LT(10, f.n);
	for (i = 0; i < ABORTED; i++) {
		ASSERT_EQ(NULL, bring(self, &states[i]));
		replay(self, &f);
		if (states[i].later)
			ASSERT_EQ(0, join_all(self, NOBODY));
		narrow(self, &states[i], MTU);
		replay(self, &f);
		reach(self, &the_end, all_over);
		for (k = 0; k < APPS; k++)
			EXPECT_TRUE(self->app[k].over && !self->app[k].error)
				TH_LOG("state %s: %s has error %d",
				       states[i].name, app_name[k],
				       self->app[k].error);
		EXPECT_EQ(2 * RECORDS, self->app[APP_R].sum);
		end(self);
	}
	EXPECT_LT(0, counter(self, NODE_AGG, "drop_epoch_old"));
	close(f.fd);
}

TEST_HARNESS_MAIN
