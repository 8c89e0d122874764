// SPDX-License-Identifier: GPL-2.0
/* A rank of a group: coll ROOT JOB RANK RANKS FUNCTION TYPE WHAT [NUMBER]. The tree up
 * has the job ID JOB, that down the next one. WHAT is
 *
 * each     run each collective, with vectors of NUMBER elements
 * many     run NUMBER all-reduces of one element
 * endless  run all-reduces until one fails, and print its errno; the first one is
 *          announced by a file named "JOB.RANK"
 * differ   rank 1 makes another call than the others
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int run_endless(struct aggnet_group *g, const struct aggnet_group_conf *c)
{
	char name[32];
	int fd, err = collectives_reduce_one(g, c, 0);
	uint32_t i;

	snprintf(name, sizeof(name), "%u.%u", c->up, c->rank);
	fd = err ? -1 : open(name, O_CREAT | O_WRONLY, 0600);
	if (fd >= 0)
		close(fd);
	for (i = 1; !err; i++)
		err = collectives_reduce_one(g, c, i);
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
	if (!strcmp(what, "differ"))
		return run_differ(g, c);
	return run_endless(g, c);
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
