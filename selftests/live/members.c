// SPDX-License-Identifier: GPL-2.0
/* Plays all members of a job on a testbed and takes the time from the first
 * record to the complete, checked results. Prints one line of JSON.
 * Usage: members LAYOUT JOB RECORDS DELTA TASKS RECEIVERS SENDERS [OPTION=VALUE...]
 *   LAYOUT   keyed, sorted, dense; without aggnet, as many bytes as keyed: tcp,
 *            combiner (userspace programs merge at the ends of a tree)
 *   RECORDS  of each task for each receiver, or elements of the vector
 *   DELTA    part of the keys that only one task has, 0..1
 *   TASKS    processes of each sender
 *   nodes    of the testbed: v0,v1,...
 *   late     the first sender begins so many seconds after the others (0)
 *   tree     of combiner: file with a line "NODE PARENT" for each end of the tree
 *            but the receiver, parents first
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "combiner.h"
#include "crew.h"
#include "load.h"
#include "peer.h"
#include "tree.h"

#define NODES	8192

/**
 * struct flow - the records for one receiver
 * @load: the records
 * @job: its job ID
 * @node: name of the receiver
 * @receiver: its identity
 * @result: of the receiver
 */
struct flow {
	struct load load;
	uint32_t job;
	const char *node;
	struct in_addr receiver;
	struct crew_result *result;
};

static struct {
	bool tcp;
	bool combiner;
	uint32_t tasks;
	double late;
	char *receiver[NODES];
	char *sender[NODES];
	uint32_t receivers;
	uint32_t senders;
	struct tree tree;
	struct crew crew;
	struct aggnet_source *source;
	struct aggnet_sink *sink;
	int listener;
	int fd;
} run;

/* Time since boot, and of this the time without work, in ticks. */
struct ticks {
	unsigned long long all;
	unsigned long long idle;
};

static struct ticks ticks(void)
{
	unsigned long long t[8] = {};
	FILE *stat = fopen("/proc/stat", "r");
	struct ticks ticks = {};
	unsigned int i;

	if (!stat || fscanf(stat, "cpu %llu %llu %llu %llu %llu %llu %llu %llu",
			    t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6,
			    t + 7) != 8) {
		perror("/proc/stat");
		exit(1);
	}
	fclose(stat);
	for (i = 0; i < 8; i++)
		ticks.all += t[i];
	ticks.idle = t[3] + t[4];
	return ticks;
}

/* Identity of server vN of a testbed: 10.0.a.b, a.b is N + 1. */
static struct in_addr identity(const char *node)
{
	uint32_t n = (uint32_t)strtoul(node + 1, NULL, 10) + 1;

	return (struct in_addr){ htonl(10U << 24 | n) };
}

static bool connected(const char *node)
{
	run.fd = peer_connect(identity(node));
	if (run.fd < 0)
		perror("connect");
	return run.fd >= 0;
}

static bool listening(uint32_t connections)
{
	run.listener = peer_listen((int)connections);
	if (run.listener < 0)
		perror("listen");
	return run.listener >= 0;
}

/* --- sources ----------------------------------------------------------------- */

static bool source_join(void *arg, uint32_t index)
{
	const struct aggnet_options opt = { .flags = AGGNET_OPT_NO_REPLAY };
	const char *node = run.sender[index / run.tasks];
	const struct flow *flow = arg;

	if (run.combiner)
		return connected(tree_inputs(&run.tree, node) > 1 ? node :
				 tree_parent(&run.tree, node));
	if (run.tcp)
		return connected(flow->node);
	if (!aggnet_source_open(&run.source, flow->receiver, flow->job, &opt))
		return true;
	fprintf(stderr, "%s\n", aggnet_source_error(run.source));
	return false;
}

static bool source_work(void *arg, uint32_t index)
{
	const struct flow *flow = arg;
	int err;

	if (index < run.tasks)
		crew_sleep(run.late);
	if (run.combiner)
		return combiner_source(run.fd, &flow->load, index);
	if (run.tcp)
		return peer_send(run.fd, load_bytes(&flow->load));
	err = load_send(&flow->load, index, run.source);
	err = err ? err : aggnet_source_finish(run.source);
	if (err)
		fprintf(stderr, "source %u: %s\n", index,
			aggnet_source_error(run.source));
	return !err;
}

/* --- receivers --------------------------------------------------------------- */

static bool sink_join(void *arg, uint32_t index)
{
	const struct flow *flow = arg;

	(void)index;
	if (run.tcp || run.combiner)
		return listening(flow->load.sources);
	if (!aggnet_sink_open(&run.sink, flow->receiver, flow->job, NULL))
		return true;
	fprintf(stderr, "%s\n", aggnet_sink_error(run.sink));
	return false;
}

static bool sink_merge(const struct flow *flow)
{
	struct load_check check = load_check(&flow->load);
	bool good = combiner_merge(run.listener,
				   tree_inputs(&run.tree, flow->node), -1,
				   &check);

	return load_checked(&check) && good;
}

static bool sink_result(const struct flow *flow)
{
	int err = aggnet_sink_run(run.sink);

	flow->result->ended = crew_clock();
	flow->result->exact = !err && load_is_result(&flow->load, run.sink);
	err = err ? err : aggnet_sink_commit(run.sink);
	if (err)
		fprintf(stderr, "receiver: %s\n", aggnet_sink_error(run.sink));
	return !err;
}

static bool sink_work(void *arg, uint32_t index)
{
	const struct flow *flow = arg;
	struct crew_result *result = flow->result;

	(void)index;
	if (!run.tcp && !run.combiner)
		return sink_result(flow);
	result->exact = run.combiner ? sink_merge(flow) :
			peer_read(run.listener, (int)flow->load.sources,
				  flow->load.sources * load_bytes(&flow->load));
	result->ended = crew_clock();
	return result->exact;
}

/* --- combiners --------------------------------------------------------------- */

static bool combiner_join(void *arg, uint32_t index)
{
	(void)arg;
	return listening(tree_inputs(&run.tree, run.tree.node[index].name)) &&
	       connected(run.tree.node[index].parent);
}

static bool combiner_work(void *arg, uint32_t index)
{
	(void)arg;
	return combiner_merge(run.listener,
			      tree_inputs(&run.tree,
					  run.tree.node[index].name),
			      run.fd, NULL);
}

/* A combiner connects to its parent, which has to listen by then. */
static bool start_combiners(void)
{
	uint32_t i;

	for (i = 0; i < run.tree.n; i++) {
		const char *name = run.tree.node[i].name;

		if (tree_inputs(&run.tree, name) > 1 &&
		    (!crew_start(&run.crew, name, combiner_join, combiner_work,
				 NULL, i) || !crew_joined(&run.crew)))
			return false;
	}
	return true;
}

/* --- the job ----------------------------------------------------------------- */

/* Receivers join first, because TCP sources connect to them. */
static bool start_all(struct flow *flow, uint32_t flows)
{
	uint32_t i, f;

	for (f = 0; f < flows; f++)
		if (!crew_start(&run.crew, flow[f].node, sink_join, sink_work,
				&flow[f], 0))
			return false;
	if (!crew_joined(&run.crew) || !start_combiners())
		return false;
	for (i = 0; i < run.senders * run.tasks; i++)
		for (f = 0; f < flows; f++)
			if (!crew_start(&run.crew, run.sender[i / run.tasks],
					source_join, source_work, &flow[f], i))
				return false;
	return crew_joined(&run.crew);
}

static bool run_job(struct flow *flow, uint32_t flows)
{
	struct ticks before, after;
	double began, ended = 0;
	uint32_t f;
	bool good;

	if (!start_all(flow, flows))
		return false;
	before = ticks();
	began = crew_begin(&run.crew);
	good = crew_wait(&run.crew);
	after = ticks();
	after.all -= before.all;
	after.idle -= before.idle;
	for (f = 0; f < flows; f++) {
		good = good && flow[f].result->exact;
		if (flow[f].result->ended > ended)
			ended = flow[f].result->ended;
	}
	printf("{\"seconds\":%.6f,\"exact\":%s,\"busy\":%.3f}\n",
	       ended - began, good ? "true" : "false",
	       1 - (double)after.idle / (double)(after.all ? after.all : 1));
	return good;
}

/* Split @list at its commas. Return: how many names it has */
static uint32_t split(char *list, char **name)
{
	uint32_t n = 0;
	char *word;

	while ((word = strsep(&list, ",")) && n < NODES)
		name[n++] = word;
	return n;
}

static bool option(const char *arg)
{
	if (!strncmp(arg, "late=", 5))
		run.late = strtod(arg + 5, NULL);
	else if (!strncmp(arg, "tree=", 5))
		return tree_read(&run.tree, arg + 5);
	else
		return false;
	return true;
}

static struct flow make_flow(char **argv, uint32_t f)
{
	struct flow flow = {
		.load.dense = !strcmp(argv[1], "dense"),
		.load.sources = run.tasks * run.senders,
		.load.records = (uint32_t)strtoul(argv[3], NULL, 10),
		.job = (uint32_t)strtoul(argv[2], NULL, 10),
		.node = run.receiver[f],
		.result = &run.crew.result[f],
	};

	flow.load.common = flow.load.dense ? flow.load.records :
			   (uint32_t)((1 - strtod(argv[4], NULL)) *
				      flow.load.records + 0.5);
	flow.receiver = identity(flow.node);
	return flow;
}

int main(int argc, char **argv)
{
	struct flow *flow;
	uint32_t f;
	int i;

	if (argc < 8) {
		fprintf(stderr, "usage: members keyed|sorted|dense|tcp|combiner JOB RECORDS DELTA TASKS RECEIVERS SENDERS [OPTION=VALUE...]\n");
		return 2;
	}
	run.tcp = !strcmp(argv[1], "tcp");
	run.combiner = !strcmp(argv[1], "combiner");
	run.tasks = (uint32_t)strtoul(argv[5], NULL, 10);
	run.receivers = split(argv[6], run.receiver);
	run.senders = split(argv[7], run.sender);
	for (i = 8; i < argc; i++) {
		if (!option(argv[i])) {
			fprintf(stderr, "members: '%s'\n", argv[i]);
			return 2;
		}
	}
	for (i = 0; i < (int)run.senders; i++)
		tree_add_inputs(&run.tree, run.sender[i], run.tasks);
	flow = calloc(run.receivers, sizeof(*flow));
	if (!flow || crew_init(&run.crew, run.receivers))
		return 1;
	for (f = 0; f < run.receivers; f++)
		flow[f] = make_flow(argv, f);
	return !run_job(flow, run.receivers);
}
