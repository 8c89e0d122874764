// SPDX-License-Identifier: GPL-2.0
/* Plays all members of a job on a testbed and takes the time from the first
 * record to the complete, checked result. Prints one line of JSON.
 * Usage: members LAYOUT JOB RECORDS DELTA TASKS RECEIVER SENDER...
 *   LAYOUT   keyed, dense, or tcp (no aggnet: as many bytes as keyed)
 *   RECORDS  of each task, or elements of the vector
 *   DELTA    part of the keys that only one task has, 0..1
 *   TASKS    processes of each sender
 *   nodes    v0, v1, ... of the testbed
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crew.h"
#include "load.h"
#include "peer.h"

static struct {
	bool tcp;
	uint32_t job;
	struct load load;
	struct in_addr receiver;
	struct crew crew;
	struct aggnet_source *source;
	struct aggnet_sink *sink;
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

static bool source_join(void *arg, uint32_t index)
{
	const struct aggnet_options opt = { .flags = AGGNET_OPT_NO_REPLAY };

	(void)arg;
	(void)index;
	if (run.tcp) {
		run.fd = peer_connect(run.receiver);
		if (run.fd < 0)
			perror("connect");
		return run.fd >= 0;
	}
	if (!aggnet_source_open(&run.source, run.receiver, run.job, &opt))
		return true;
	fprintf(stderr, "%s\n", aggnet_source_error(run.source));
	return false;
}

static bool source_work(void *arg, uint32_t index)
{
	int err;

	(void)arg;
	if (run.tcp)
		return peer_send(run.fd, load_bytes(&run.load));
	err = load_send(&run.load, index, run.source);
	err = err ? err : aggnet_source_finish(run.source);
	if (err)
		fprintf(stderr, "source %u: %s\n", index,
			aggnet_source_error(run.source));
	return !err;
}

static bool sink_join(void *arg, uint32_t index)
{
	(void)arg;
	(void)index;
	if (run.tcp) {
		run.fd = peer_listen((int)run.load.sources);
		if (run.fd < 0)
			perror("listen");
		return run.fd >= 0;
	}
	if (!aggnet_sink_open(&run.sink, run.receiver, run.job, NULL))
		return true;
	fprintf(stderr, "%s\n", aggnet_sink_error(run.sink));
	return false;
}

static bool sink_work(void *arg, uint32_t index)
{
	struct crew_shared *shared = run.crew.shared;
	int err;

	(void)arg;
	(void)index;
	if (run.tcp) {
		shared->exact = peer_read(run.fd, (int)run.load.sources,
					  run.load.sources *
					  load_bytes(&run.load));
		shared->ended = crew_clock();
		return shared->exact;
	}
	err = aggnet_sink_run(run.sink);
	shared->ended = crew_clock();
	shared->exact = !err && load_is_result(&run.load, run.sink);
	err = err ? err : aggnet_sink_commit(run.sink);
	if (err)
		fprintf(stderr, "receiver: %s\n", aggnet_sink_error(run.sink));
	return !err;
}

/* The receiver joins first, because a TCP source connects to it. */
static bool start_all(uint32_t tasks, char **node)
{
	uint32_t i, task;

	if (!crew_start(&run.crew, *node++, sink_join, sink_work, NULL, 0) ||
	    !crew_joined(&run.crew))
		return false;
	for (i = 0; *node; node++) {
		for (task = 0; task < tasks; task++, i++)
			if (!crew_start(&run.crew, *node, source_join,
					source_work, NULL, i))
				return false;
	}
	return crew_joined(&run.crew);
}

static bool run_job(uint32_t tasks, char **nodes)
{
	struct ticks before, after;
	double began;
	bool good;

	if (!start_all(tasks, nodes))
		return false;
	before = ticks();
	began = crew_begin(&run.crew);
	good = crew_wait(&run.crew);
	after = ticks();
	after.all -= before.all;
	after.idle -= before.idle;
	printf("{\"seconds\":%.6f,\"exact\":%s,\"busy\":%.3f}\n",
	       run.crew.shared->ended - began,
	       good && run.crew.shared->exact ? "true" : "false",
	       1 - (double)after.idle / (double)(after.all ? after.all : 1));
	return good && run.crew.shared->exact;
}

int main(int argc, char **argv)
{
	uint32_t tasks;

	if (argc < 8) {
		fprintf(stderr, "usage: members keyed|dense|tcp JOB RECORDS DELTA TASKS RECEIVER SENDER...\n");
		return 2;
	}
	run.tcp = !strcmp(argv[1], "tcp");
	run.load.dense = !strcmp(argv[1], "dense");
	run.job = (uint32_t)strtoul(argv[2], NULL, 10);
	run.load.records = (uint32_t)strtoul(argv[3], NULL, 10);
	run.load.common = run.load.dense ? run.load.records :
			  (uint32_t)((1 - strtod(argv[4], NULL)) *
				     run.load.records + 0.5);
	tasks = (uint32_t)strtoul(argv[5], NULL, 10);
	run.load.sources = tasks * (uint32_t)(argc - 7);
	run.receiver = identity(argv[6]);
	return crew_init(&run.crew) || !run_job(tasks, argv + 6);
}
