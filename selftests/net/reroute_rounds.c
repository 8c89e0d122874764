// SPDX-License-Identifier: GPL-2.0
/* A link, a switch or an aggregator fails in the middle of a transfer, and
 * supervision finds the other path: rounds of each on a testbed that is made
 * once, v3 - v1 - v0 and v3 - v2 - v0, where all send to v0.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "bed.h"
#include "crew.h"
#include "frame.h"
#include "plan/plan.h"
#include "plan/plan_apply.h"
#include "rounds.h"
#include "supervise/supervise.h"
#include "testbed/testbed.h"

#define TOPOLOGY	"bcube:2,1"
#define JOB		1
#define RECORDS		400	/* of each source */
#define KEYS		(4 * RECORDS)	/* more than are used */
#define PATIENT_MS	600000	/* no node may give up, even on a slow host */
#define BOUND		600	/* seconds: a longer wait is a hang */
#define MEMORY		131072

enum { NEAR, FAR = 3, SERVERS };	/* v0 receives, v3 is two hops away */

/*
 * How far the aggregator is: v3 is bound; it has all of v3; it has sent that
 * on.
 */
enum stage { BOUND_TO, HOLDS, SENT, STAGES };

/**
 * struct kind - what fails
 * @name: in the command line
 * @goes: makes it fail
 * @source: it is a source, and may be missing
 */
struct kind {
	const char *name;
	void (*goes)(void);
	bool source;
};

/*
 * For each round: ms until the failure was found, then until the new attempt
 * was in force, in all until the receiver had the result; bytes that the lost
 * attempts had sent.
 */
enum { FOUND, MENDED, TOTAL, RESENT, FIGURES };

static const struct kind *kind;
static unsigned int rounds;
static long *figures[FIGURES];
static struct app apps[SERVERS];
static uint64_t seen[KEYS];
static uint32_t instance;
/*
 * In this round: v3's parent, which merges, and the server on the other path.
 */
static aggt_node merger, other;
static sem_t listening;
static unsigned int repairs;
static int64_t judged_ms, in_force_ms;
static uint64_t lost;

static void complain(const char *what)
{
	fprintf(stderr, "%u: %s\n", rounds, what);
	exit(1);
}

/* --- a plan ---------------------------------------------------------- */

static json_t *make_plan(const char *method)
{
	static const aggt_node senders[] = { 1, 2, FAR }, receiver = NEAR;
	const struct aggt_job job = {
		.senders = senders, .n_senders = 3, .receivers = &receiver,
		.n_receivers = 1, .method = method,
	};
	struct plan plan = { .conf = {
		.job = JOB, .instance = ++instance,
		.scheme = AGGNET_SCHEME_EXACT, .aggnet_switches = true,
		.filter.rate = 1, .keyed = true, .writers = 1, .memory = MEMORY,
		.give_up = PATIENT_MS, .allow_missing = kind->source,
	} };
	struct aggt_err why = { "" };
	json_t *json = NULL;

	if (!plan_topology(&plan, "plan", TOPOLOGY))
		plan.trees = aggt_plan_build(plan.topo, &job, &why);
	if (plan.trees && !plan_prepare(&plan))
		json = plan_json(&plan);
	if (!json)
		complain(why.text);
	plan_clear(&plan);
	return json;
}

static aggt_node parent(const json_t *json, aggt_node server)
{
	const json_t *trees = json_object_get(json, "trees");
	json_t *edge;
	size_t i;

	json_array_foreach(json_object_get(json_array_get(trees, 0), "edges"),
			   i, edge)
		if (json_integer_value(json_array_get(edge, 0)) == server)
			return (aggt_node)json_integer_value(
					json_array_get(edge, 1));
	return AGGT_NONE;
}

/* Remove what the last round left. */
static void install(json_t *json)
{
	struct plan_install how = { .in_testbed = true, .replace = true };
	struct plan_file file;

	if (plan_file_take(&file, json) || plan_install(&file, &how))
		complain("the plan is refused");
	plan_file_free(&file);
}

/* --- supervision ----------------------------------------------------- */

static void ready(void *arg, size_t nodes)
{
	(void)arg;
	(void)nodes;
	sem_post(&listening);
}

static void repaired(void *arg, const struct repair *r)
{
	int i;

	(void)arg;
	if (!repairs++)
		judged_ms = r->judged_ms;
	in_force_ms = r->installed_ms;
	lost += r->bytes;
	for (i = 0; i < SERVERS; i++)
		app_go(&apps[i]);
}

static void stalled(void *arg, const char *node, uint32_t missing)
{
	(void)arg;
	(void)node;
	(void)missing;
}

static void *supervise(void *json)
{
	struct supervise s = {
		.json = json, .in_testbed = true,
		.ready = ready, .told = repaired, .stalled = stalled,
	};
	char why[AGGNET_WATCH_TEXT] = "supervision failed";

	if (supervise_run(&s, why, sizeof(why)))
		complain(why);
	return NULL;
}

/* --- a transfer ------------------------------------------------------ */

/* A random point in the middle of its records. */
static uint32_t middle(void)
{
	return 1 + (uint32_t)draw() % (RECORDS - 1);
}

/* Hold the other path's server until a repair: v0 is not complete before. */
static void begin(enum stage stage)
{
	uint32_t i;

	for (i = 0; i < SERVERS; i++)
		apps[i] = (struct app) {
			.netns = bed.netns[i],
			.reader = i == NEAR,
			.receiver = addressing_identity(NEAR).s_addr,
			.job = JOB,
			.first = i * RECORDS / 2,
			.records = RECORDS,
			.salt = i,
			.seen = seen,
			.keys = KEYS,
			.work = app_replays,
			.repair = PATIENT_MS,
		};
	apps[other].pause = middle();
	if (stage == BOUND_TO)
		apps[FAR].pause = middle();
	/* It must not join an attempt that starts between its two cuts. */
	if (kind->source)
		apps[merger].work = NULL;
	for (i = 0; i < SERVERS; i++)
		app_start(&apps[i]);
}

static void join(int i)
{
	if (!app_join(&apps[i], BOUND))
		complain("an application did not return");
}

static struct aggnet_tree_info state_of(aggt_node server)
{
	uint64_t id = aggnet_incast_id(JOB, addressing_identity(NEAR));
	struct aggnet_tree_info info = {}, numbers;

	if (aggnet_tree_get(bed.ctl[server], id, &info))
		complain(aggnet_ctl_error(bed.ctl[server]));
	numbers = info;
	aggnet_tree_clear(&info);
	return numbers;
}

static bool is_there(enum stage stage)
{
	struct aggnet_tree_info info = state_of(merger);

	switch (stage) {
	case BOUND_TO:
		return info.channels;
	case HOLDS:
		return info.weight == 2;
	default:
		return info.state == AGGNET_TREE_WAITING;
	}
}

static void wait_for(enum stage stage)
{
	long end = now_ms() + BOUND * 1000L;

	while (!is_there(stage)) {
		if (now_ms() > end)
			complain("it does not get so far");
		sched_yield();
	}
}

/* --- what fails ------------------------------------------------------ */

/* Draw the server at the lower end of a hop of the tree; @level: the hop's. */
static aggt_node draw_hop(unsigned int *level)
{
	const aggt_node from[] = { merger, other, FAR };
	const aggt_node to[] = { NEAR, NEAR, merger };
	unsigned int i = draw() % 3;

	*level = aggt_topo_link_dim(bed.topo, from[i], to[i]);
	return from[i];
}

/* Cut a hop's link at a random server and at a random end. */
static void link_goes(void)
{
	unsigned int level;
	aggt_node server = draw_hop(&level);

	if (draw() & 1)
		server = aggt_topo_with_digit(bed.topo, server, level,
			!aggt_topo_digit(bed.topo, server, level));
	bed_cut(server, level, draw() & 1);
}

/* The switch stops forwarding, or loses both links at a random end. */
static void switch_goes(void)
{
	unsigned int level, digit;
	aggt_node server = draw_hop(&level);
	uint32_t sw = aggt_topo_switch(bed.topo, server, level);
	bool at_switch = draw() & 1;

	if (draw() % 3 == 0) {
		bed_stop(sw);
		return;
	}
	for (digit = 0; digit < 2; digit++)
		bed_cut(aggt_topo_switch_server(bed.topo, sw, digit), level,
			at_switch);
}

/* All cables of the aggregator are pulled. */
static void merger_goes(void)
{
	bool at_switch = draw() & 1;
	unsigned int level;

	for (level = 0; level < aggt_topo_dims(bed.topo); level++)
		bed_cut(merger, level, at_switch);
}

/* The cable of the aggregator that is pulled second. */
static unsigned int last_cable;
static bool to_pull;

/*
 * Pull one cable. Pull the other when supervision knows of the first and is
 * about to set routes: routes through the second cable are then refused.
 */
static void cables_go(void)
{
	last_cable = draw() & 1;
	to_pull = true;
	bed_cut(merger, !last_cable, draw() & 1);
}

typeof(tb_reroute) __real_tb_reroute, __wrap_tb_reroute;

/* The linker's --wrap calls it instead of aggctl's function. */
int __wrap_tb_reroute(const struct aggt_topo *topo)
{
	if (to_pull)
		bed_cut(merger, last_cable, false);
	to_pull = false;
	return __real_tb_reroute(topo);
}

/* --- checks ---------------------------------------------------------- */

static void exact(void)
{
	const struct app *r = &apps[NEAR];
	unsigned int sources = 3U - kind->source, i;

	for (i = 0; i < SERVERS; i++)
		if (!apps[i].result == (kind->source && i == merger))
			complain(apps[i].result ?
				 "a transfer that was repaired failed" :
				 "the node that is gone was told that all is well");
	if (!app_exact(r, apps, SERVERS, kind->source ? 1 << merger : 0) ||
	    r->end.records != sources * RECORDS)
		complain("the result is wrong");
	if (r->end.of != 3 || r->end.sources != sources ||
	    r->end.absent != kind->source)
		complain("the end mark counts the sources wrong");
	if (r->absent != (kind->source ? addressing_identity(merger).s_addr : 0))
		complain("the absent source is not named");
	if (kind->source && state_of(other).weight != 2)
		complain("the other server does not merge");
}

static void note(long broken_ms)
{
	figures[FOUND][rounds - 1] = (long)judged_ms - broken_ms;
	figures[MENDED][rounds - 1] = (long)(in_force_ms - judged_ms);
	figures[TOTAL][rounds - 1] = now_ms() - broken_ms;
	figures[RESENT][rounds - 1] = (long)lost;
}

static void one_round(void)
{
	/* Of these methods one takes v3 to v2 and the other takes it to v1. */
	json_t *json = make_plan(draw() & 1 ? "irs" : "steiner");
	enum stage stage = draw() % STAGES;
	pthread_t watcher;
	long broken_ms;
	int i;

	repairs = 0;
	lost = 0;
	merger = parent(json, FAR);
	other = FAR - merger;
	install(json);
	if (pthread_create(&watcher, NULL, supervise, json))
		complain("no thread");
	sem_wait(&listening);
	begin(stage);
	wait_for(stage);
	broken_ms = now_ms();
	kind->goes();
	join(NEAR);
	pthread_join(watcher, NULL);
	if (!repairs)
		complain("there was nothing to repair");
	note(broken_ms);
	/*
	 * Bring up what is down: the last part may have failed without an
	 * event.
	 */
	bed_mend();
	for (i = NEAR + 1; i < SERVERS; i++)
		join(i);
	exact();
}

static const struct kind kinds[] = {
	{ "link", link_goes, false },
	{ "switch", switch_goes, false },
	{ "aggregator", merger_goes, true },
	{ "cables", cables_go, true },
};

/* reroute_rounds SEED ROUNDS KIND */
int main(int argc, char **argv)
{
	unsigned int n, i;

	kind = rounds_begin(argc, argv, kinds, sizeof(kinds) / sizeof(kinds[0]),
			    sizeof(kinds[0]), &n);
	for (i = 0; i < FIGURES; i++) {
		figures[i] = calloc(n, sizeof(long));
		if (!figures[i])
			complain("out of memory");
	}
	sem_init(&listening, 0, 0);
	bed_make(TOPOLOGY);
	for (rounds = 1; rounds <= n; rounds++)
		one_round();
	bed_unmake();
	printf("%u rounds; medians: detection %ld ms, repair %ld ms, total %ld ms, %ld bytes sent again\n",
	       n, rounds_median(figures[FOUND], n),
	       rounds_median(figures[MENDED], n),
	       rounds_median(figures[TOTAL], n),
	       rounds_median(figures[RESENT], n));
	return 0;
}
