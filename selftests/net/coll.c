// SPDX-License-Identifier: GPL-2.0
/* A rank of a group: coll ROOT JOB RANK RANKS FUNCTION TYPE WHAT [NUMBER]. The tree up
 * has the job ID JOB, that down the next one. WHAT is
 *
 * each     run each collective, with vectors of NUMBER elements
 * many     run NUMBER all-reduces of one element
 * sizes    run all-reduces of one part and of several, and of a few elements more and less
 * timed    run a reduce, a broadcast and an all-reduce of NUMBER elements; rank 0 prints
 *          how many seconds each took
 * endless  run all-reduces of NUMBER elements until one fails, and print its errno; one
 *          before them is announced by a file named "JOB.RANK"
 * differ   rank 1 makes another call than the others
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../tools/libaggnet/aggnet.h"
#include "../lib/collectives.h"

static int run_many(struct aggnet_group *g, const struct aggnet_group_conf *c,
		    uint32_t times)
{
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < times; i++)
		err = collectives_reduce_one(g, c, i);
	return err;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void large_fill(int64_t *x, uint32_t n, uint32_t rank)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		x[i] = (int64_t)i * ((1ll << 40) + rank);
}

static int large_check(const int64_t *x, uint32_t n, uint32_t ranks)
{
	const int64_t all = (int64_t)ranks * (1ll << 40) +
			    (int64_t)ranks * (ranks - 1) / 2;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (x[i] != (int64_t)i * all)
			return -EILSEQ;
	return 0;
}

/* An all-reduce in place. */
static int run_large(struct aggnet_group *g, const struct aggnet_group_conf *c,
		     uint32_t n)
{
	int64_t *x = calloc(n + 1, sizeof(*x));
	int err;

	if (!x)
		abort();
	large_fill(x, n, c->rank);
	err = aggnet_allreduce(g, x, x, n) ?: large_check(x, n, c->ranks);
	free(x);
	return err;
}

/* A part that goes down early has 5526 elements. */
static int run_sizes(struct aggnet_group *g, const struct aggnet_group_conf *c)
{
	static const uint32_t n[] = {
		0, 5525, 5526, 5527, 2 * 5526 - 13, 2 * 5526, 2 * 5526 + 1, 12,
		3 * 5526 + 100, 3 * 5526 - 1,
	};
	size_t i;
	int err = 0;

	for (i = 0; !err && i < sizeof(n) / sizeof(n[0]); i++)
		err = run_large(g, c, n[i]);
	return err;
}

/* Rank 0 has completed its call when all ranks have what they get. */
static int run_timed(struct aggnet_group *g, const struct aggnet_group_conf *c,
		     uint32_t n)
{
	int64_t *send = calloc(2 * (size_t)n, sizeof(*send)), *recv = send + n;
	double at[4];
	int err;

	if (!send)
		abort();
	large_fill(send, n, c->rank);
	err = aggnet_barrier(g);
	at[0] = seconds();
	err = err ?: aggnet_reduce(g, send, recv, n, 0);
	at[1] = seconds();
	err = err ?: aggnet_broadcast(g, recv, n, 0);
	at[2] = seconds();
	err = err ?: aggnet_allreduce(g, send, send, n);
	at[3] = seconds();
	err = err ?: large_check(send, n, c->ranks) ?:
		     large_check(recv, n, c->ranks);
	if (!err && !c->rank)
		printf("%.3f %.3f %.3f\n", at[1] - at[0], at[2] - at[1],
		       at[3] - at[2]);
	free(send);
	return err;
}

static int run_endless(struct aggnet_group *g, const struct aggnet_group_conf *c,
		       uint32_t n)
{
	char name[32];
	int fd, err = collectives_reduce_one(g, c, 0);
	uint32_t i;

	snprintf(name, sizeof(name), "%u.%u", c->up, c->rank);
	fd = err ? -1 : open(name, O_CREAT | O_WRONLY, 0600);
	if (fd >= 0)
		close(fd);
	for (i = 1; !err; i++)
		err = n == 1 ? collectives_reduce_one(g, c, i) :
			       run_large(g, c, n);
	printf("%s\n", strerrorname_np(-err));
	return err;
}

static int run_differ(struct aggnet_group *g, const struct aggnet_group_conf *c)
{
	int err = c->rank == 1 ? aggnet_barrier(g) :
				 collectives_reduce_one(g, c, 0);

	printf("%s\n", strerrorname_np(-err));
	return err;
}

static int run(struct aggnet_group *g, const struct aggnet_group_conf *c,
	       const char *what, uint32_t number)
{
	if (!strcmp(what, "each"))
		return collectives_run(g, c, number);
	if (!strcmp(what, "many"))
		return run_many(g, c, number);
	if (!strcmp(what, "sizes"))
		return run_sizes(g, c);
	if (!strcmp(what, "timed"))
		return run_timed(g, c, number);
	if (!strcmp(what, "differ"))
		return run_differ(g, c);
	return run_endless(g, c, number);
}

int main(int argc, char **argv)
{
	struct aggnet_group_conf conf = {};
	struct aggnet_group *g;
	int err;

	if (argc < 8 || !inet_aton(argv[1], &conf.root)) {
		fprintf(stderr,
			"usage: coll ROOT JOB RANK RANKS FUNCTION TYPE WHAT [NUMBER]\n");
		return 2;
	}
	conf.up = (uint32_t)strtoul(argv[2], NULL, 10);
	conf.down = conf.up + 1;
	conf.rank = (uint32_t)strtoul(argv[3], NULL, 10);
	conf.ranks = (uint32_t)strtoul(argv[4], NULL, 10);
	conf.function = (uint32_t)aggnet_enum_find(aggnet_function_names, argv[5]);
	conf.vtype = (uint32_t)aggnet_enum_find(aggnet_vtype_names, argv[6]);
	err = aggnet_group_open(&g, &conf);
	if (!err)
		err = run(g, &conf, argv[7], argc > 8 ?
			  (uint32_t)strtoul(argv[8], NULL, 10) : 1);
	if (!err)
		err = aggnet_group_finish(g);
	if (err)
		fprintf(stderr, "coll: rank %u: %s: %s\n", conf.rank,
			strerror(-err), aggnet_group_error(g));
	aggnet_group_close(g);
	return !!err;
}
