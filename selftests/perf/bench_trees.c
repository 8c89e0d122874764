// SPDX-License-Identifier: GPL-2.0
/*
 * CPU time, memory and cost of the tree builders, one JSON line for each method
 * and size; or the members of one instance, for a peer in another language.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../tools/libaggtree/aggtree.h"

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

static int draw(const char *topology, const char *senders,
		const char *receivers, struct aggt_topo **topo,
		struct aggt_list *s, struct aggt_list *r)
{
	struct aggt_err err;
	char text[64];

	*topo = aggt_topo_parse(topology, &err);
	if (!*topo)
		goto fail;
	snprintf(text, sizeof(text), "random:%s", senders);
	if (aggt_list_parse(*topo, text, 1, s, &err))
		goto fail;
	snprintf(text, sizeof(text), "random:%s", receivers);
	if (!aggt_list_parse(*topo, text, ~1ull, r, &err))
		return 0;
fail:
	fprintf(stderr, "bench_trees: %s\n", err.text);
	return 1;
}

static int print_members(const char *topology, const char *senders)
{
	struct aggt_topo *topo;
	struct aggt_list s, r;
	size_t i;

	if (draw(topology, senders, "1", &topo, &s, &r))
		return 1;
	printf("%u", r.node[0]);
	for (i = 0; i < s.n; i++)
		printf(" %u", s.node[i]);
	putchar('\n');
	return 0;
}

/*
 * Repeat for half a second of CPU time; report the fastest run. "auto-deep" is
 * auto without its bound on the depth.
 */
static int measure(const char *topology, const char *senders,
		   const char *receivers, const char *method)
{
	double best = 1e9, start = seconds(), before;
	struct aggt_job job = { .method = method, .seed = 1 };
	struct aggt_topo *topo;
	struct aggt_list s, r;
	struct rusage usage;
	struct aggt_err err;
	double cost = 0;
	uint32_t depth = 0;

	if (draw(topology, senders, receivers, &topo, &s, &r))
		return 1;
	if (!strcmp(method, "auto-deep")) {
		job.method = "auto";
		job.max_depth = AGGT_DEPTH_NONE;
	}
	job.senders = s.node;
	job.n_senders = s.n;
	job.receivers = r.node;
	job.n_receivers = r.n;
	do {
		struct aggt_plan *plan;

		before = seconds();
		plan = aggt_plan_build(topo, &job, &err);
		if (!plan) {
			fprintf(stderr, "bench_trees: %s\n", err.text);
			return 1;
		}
		if (seconds() - before < best)
			best = seconds() - before;
		cost = aggt_plan_metrics(plan)->cost;
		depth = aggt_plan_metrics(plan)->depth;
		aggt_plan_free(plan);
	} while (seconds() - start < 0.5);
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"topology\":\"%s\",\"senders\":%s,\"receivers\":%s,\"method\":\"%s\",\"ms\":%.3f,\"cost\":%.0f,\"depth\":%u,\"kib\":%ld}\n",
	       topology, senders, receivers, method, best * 1e3, cost, depth,
	       usage.ru_maxrss);
	return 0;
}

int main(int argc, char **argv)
{
	int i, status;

	if (argc == 3)
		return print_members(argv[1], argv[2]);
	if (argc < 5) {
		fprintf(stderr,
			"usage: bench_trees TOPOLOGY SENDERS [RECEIVERS METHOD...]\n");
		return 2;
	}
	/*
	 * Each method runs in its own process, so that the memory is its own.
	 */
	for (i = 4; i < argc; i++) {
		fflush(stdout);
		if (!fork())
			exit(measure(argv[1], argv[2], argv[3], argv[i]));
		if (wait(&status) < 0 || status)
			return 1;
	}
	return 0;
}
