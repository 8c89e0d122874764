// SPDX-License-Identifier: GPL-2.0
/* The paths that updates keep and their cost, compared with new plans (paper
 * 004, IV-C..E).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggctl.h"
#include "aggtree.h"
#include "eval/eval.h"

#define TOPOLOGY "bcube:8,5"
#define SENDERS 500
#define METHOD "ars"

static const char *const kinds[] = {
	"join", "leave", "receiver", "failed server", "failed switch",
	"failed link",
};

/** struct sums - over the rounds of one kind of change. */
struct sums {
	unsigned int n;
	double reuse;
	double changed;
	double entries;
	double cost;
	double rebuilt;
	double seconds;
	double anew;
};

static double cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

/* The first server of the tree that only relays or merges. */
static aggt_node inner_server(const struct aggt_tree *tree, size_t from)
{
	size_t i, n = aggt_tree_size(tree);

	for (i = 0; i < n; i++) {
		size_t v = (from + i) % n;

		if (v && !aggt_tree_sends(tree, v))
			return aggt_tree_server(tree, v);
	}
	return aggt_tree_server(tree, n - 1);
}

/* Something that matters to the tree, drawn by @seed. */
static void draw_change(const struct aggt_topo *topo,
			const struct aggt_plan *plan, size_t kind,
			uint64_t seed, char *text, size_t len)
{
	const struct aggt_job *job = aggt_plan_job(plan);
	const struct aggt_tree *tree = aggt_plan_tree(plan, 0);
	uint32_t draw = seed * 2654435761u;
	aggt_node v = inner_server(tree, draw % aggt_tree_size(tree));
	uint32_t i = aggt_tree_find(tree, v), sw, dim;
	aggt_node up = aggt_tree_server(tree, aggt_tree_parent(tree, i));

	dim = aggt_topo_link_dim(topo, v, up);
	sw = aggt_topo_switch(topo, v, dim);
	if (kind == 0)
		snprintf(text, len, "join:v%u",
			 draw % aggt_topo_servers(topo));
	else if (kind == 1)
		snprintf(text, len, "leave:v%u",
			 job->senders[draw % job->n_senders]);
	else if (kind == 2)
		snprintf(text, len, "receiver:v%u", job->receivers[0]);
	else if (kind == 3)
		snprintf(text, len, "failed:v%u", v);
	else if (kind == 4)
		snprintf(text, len, "failed:w%u", sw);
	else
		snprintf(text, len, "failed:v%u-w%u", v, sw);
}

/* Compare the updated plan with one that is built for the current members. */
static int compare(const struct aggt_topo *topo, const struct aggt_plan *plan,
		   const struct aggt_plan *next, struct sums *s)
{
	struct aggt_plan *anew;
	struct aggt_diff *diff;
	size_t n;
	double start = cpu_seconds();

	anew = aggt_plan_build(topo, aggt_plan_job(next), NULL);
	if (!anew)
		return -1;
	s->anew += cpu_seconds() - start;
	s->rebuilt += aggt_plan_metrics(anew)->cost;
	aggt_plan_free(anew);
	if (aggt_plan_diff(plan, next, &diff, &n))
		return -1;
	free(diff);
	s->changed += n;
	aggt_plan_entries(next, &n);
	s->entries += n;
	s->cost += aggt_plan_metrics(next)->cost;
	s->reuse += aggt_plan_reuse(plan, next);
	s->n++;
	return 0;
}

static int run_change(struct aggt_topo *topo, const struct aggt_plan *plan,
		      size_t kind, uint64_t seed, struct sums *s)
{
	struct aggt_change change;
	struct aggt_plan *next;
	char text[64];
	double start;
	int ret;

	draw_change(topo, plan, kind, seed, text, sizeof(text));
	if (aggt_change_parse(topo, text, &change, NULL))
		return -1;
	start = cpu_seconds();
	next = aggt_plan_update(topo, plan, &change, 1, NULL);
	/* Joining with a server that is a sender already changes nothing. */
	if (!next)
		return 0;
	s->seconds += cpu_seconds() - start;
	ret = compare(topo, plan, next, s);
	aggt_plan_free(next);
	return ret;
}

/* A fresh topology for each change, as failures stay with it. */
static int run_round(size_t kind, uint64_t seed, struct sums *s)
{
	struct aggt_topo *topo = aggt_topo_parse(TOPOLOGY, NULL);
	struct aggt_job job = { .method = METHOD };
	struct aggt_list senders = {}, receivers = {};
	struct aggt_plan *plan = NULL;
	char text[32];
	int ret = -1;

	snprintf(text, sizeof(text), "random:%u", SENDERS);
	if (!topo || aggt_list_parse(topo, text, seed, &senders, NULL) ||
	    aggt_list_parse(topo, "random:1", ~seed, &receivers, NULL))
		goto out;
	job.senders = senders.node;
	job.n_senders = senders.n;
	job.receivers = receivers.node;
	job.n_receivers = 1;
	plan = aggt_plan_build(topo, &job, NULL);
	if (plan)
		ret = run_change(topo, plan, kind, seed, s);
out:
	aggt_plan_free(plan);
	aggt_list_clear(&senders);
	aggt_list_clear(&receivers);
	aggt_topo_free(topo);
	return ret;
}

static json_t *kind_json(size_t kind, const struct sums *s)
{
	return json_pack("{s:s s:f s:f s:f s:f s:f s:f}", "change", kinds[kind],
			 "reuse", s->reuse / s->n,
			 "changed_entries", s->changed / s->n,
			 "entries", s->entries / s->n,
			 "cost_over_rebuilt", s->cost / s->rebuilt,
			 "update_ms", s->seconds / s->n * 1e3,
			 "rebuild_ms", s->anew / s->n * 1e3);
}

json_t *eval_update(uint64_t seed, unsigned int rounds)
{
	json_t *rows = json_array();
	size_t kind;
	unsigned int i;

	for (kind = 0; kind < ARRAY_SIZE(kinds); kind++) {
		struct sums s = { .n = 0 };

		for (i = 0; i < rounds; i++) {
			if (run_round(kind, seed + i, &s)) {
				err("eval: %s: out of memory", kinds[kind]);
				json_decref(rows);
				return NULL;
			}
		}
		if (s.n)
			json_array_append_new(rows, kind_json(kind, &s));
	}
	return rows;
}

static const struct eval_column columns[] = {
	{ "change", "change", -14, 0 },
	{ "reuse", "reuse", 18, 3 },
	{ "changed_entries", "changed_entries", 18, 3 },
	{ "entries", "entries", 18, 3 },
	{ "cost_over_rebuilt", "cost_over_rebuilt", 18, 3 },
	{ "update_ms", "update_ms", 18, 3 },
	{ "rebuild_ms", "rebuild_ms", 18, 3 },
};

static const struct eval_table table = { columns, ARRAY_SIZE(columns) };

void eval_update_print(const json_t *rows)
{
	printf("update: %s, %u senders, %s; means of the changes\n\n",
	       TOPOLOGY, SENDERS, METHOD);
	eval_table_print(&table, rows);
}

void eval_update_rst(FILE *f, const json_t *rows)
{
	fprintf(f, "\nUpdates of a plan\n-----------------\n\n"
		"%s, %u senders, %s (``update``). *reuse* is the share of the\n"
		"new tree's hops that the old one had; times are of the CPU.\n\n"
		".. list-table:: Means\n   :header-rows: 1\n\n",
		TOPOLOGY, SENDERS, METHOD);
	eval_table_rst(&table, f, rows);
}
