// SPDX-License-Identifier: GPL-2.0
/* Runs an experiment: draws members, builds plans, on all processors. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "aggctl.h"
#include "aggtree.h"
#include "eval/eval.h"

#define MAX_SETTINGS 64
#define MAX_THREADS 64

/**
 * struct crew - threads that work through settings and rounds
 * @result: what they fill in
 * @lock: protects all below, and the points of @result
 * @next: item to take: setting * rounds + round
 * @done: items done
 * @failed: why one could not be, empty if all could
 * @start: when it began
 */
struct crew {
	struct eval_result *result;
	pthread_mutex_t lock;
	size_t next;
	size_t done;
	struct aggt_err failed;
	struct timespec start;
};

/** struct members - drawn for one setting and round. */
struct members {
	struct aggt_topo *topo;
	struct aggt_list senders;
	struct aggt_list receivers;
};

static int draw_members(const struct eval_setting *s, uint64_t seed,
			struct members *m, struct aggt_err *why)
{
	const char *how = s->managed ? "managed" : "random";
	char text[32];

	memset(m, 0, sizeof(*m));
	m->topo = aggt_topo_parse(s->topology, why);
	if (!m->topo)
		return -1;
	snprintf(text, sizeof(text), "%s:%u", how, s->senders);
	if (aggt_list_parse(m->topo, text, seed, &m->senders, why))
		return -1;
	snprintf(text, sizeof(text), "%s:%u", how, s->receivers);
	return aggt_list_parse(m->topo, text, ~seed, &m->receivers, why);
}

static void drop_members(struct members *m)
{
	aggt_list_clear(&m->senders);
	aggt_list_clear(&m->receivers);
	aggt_topo_free(m->topo);
}

/* Flows that reach a receiver, on average. */
static double input(const struct aggt_plan *plan)
{
	size_t k, i, n, flows = 0;

	for (k = 0; k < aggt_plan_trees(plan); k++) {
		const struct aggt_tree *tree = aggt_plan_tree(plan, k);

		n = aggt_tree_size(tree);
		for (i = 1; i < n; i++)
			flows += aggt_plan_aggregates(plan) ?
				 !aggt_tree_parent(tree, i) :
				 aggt_tree_sends(tree, i);
	}
	return (double)flows / k;
}

static int measure(const struct aggt_topo *topo, const struct aggt_job *job,
		   double *value, double *existing, struct aggt_err *why)
{
	const struct aggt_metrics *m;
	struct aggt_plan *plan;

	if (eval_is_peer(job->method))
		return eval_peer(topo, job, value);
	plan = aggt_plan_build(topo, job, why);
	/* The search for the best sequence has a limit: not all points have one. */
	if (!plan)
		return strcmp(job->method, "rs:best") ? -1 : 0;
	m = aggt_plan_metrics(plan);
	*existing = m->existing;
	value[EVAL_COST] = m->cost;
	value[EVAL_LINKS] = m->links;
	value[EVAL_AGGREGATING] = m->aggregating;
	value[EVAL_ADDED] = m->added;
	value[EVAL_DEPTH] = m->depth;
	value[EVAL_INPUT] = input(plan);
	aggt_plan_free(plan);
	return 0;
}

static void add_point(struct crew *crew, size_t index, const double *value,
		      double existing)
{
	struct eval_point *p = &crew->result->point[index];
	size_t i;

	pthread_mutex_lock(&crew->lock);
	for (i = 0; i < EVAL_VALUES; i++) {
		p->sum[i] += value[i];
		p->square[i] += value[i] * value[i];
	}
	p->existing += existing;
	pthread_mutex_unlock(&crew->lock);
}

/* Run all methods of one setting on the same members. */
static int run_item(struct crew *crew, size_t setting, size_t round,
		    struct aggt_err *why)
{
	const struct eval_result *r = crew->result;
	const struct eval_setting *s = &r->setting[setting];
	uint64_t seed = r->seed + (setting * 1000003 + round) * 2654435761u;
	double existing = 0;
	struct members m;
	size_t k;
	int ret;

	ret = draw_members(s, seed, &m, why);
	for (k = 0; k < r->n_methods && !ret; k++) {
		struct aggt_job job = {
			.senders = m.senders.node, .n_senders = m.senders.n,
			.receivers = m.receivers.node,
			.n_receivers = m.receivers.n,
			.method = r->eval->method[k].method,
			.delta = s->delta, .seed = seed,
		};
		double value[EVAL_VALUES];
		size_t i;

		for (i = 0; i < EVAL_VALUES; i++)
			value[i] = NAN;
		ret = measure(m.topo, &job, value, &existing, why);
		value[EVAL_SAVING] = 1 - value[EVAL_COST] / existing;
		if (!ret)
			add_point(crew, setting * r->n_methods + k, value,
				  existing);
	}
	drop_members(&m);
	return ret;
}

static void progress(const struct crew *crew, size_t items)
{
	struct timespec now;
	double spent;

	if (!isatty(STDERR_FILENO))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	spent = now.tv_sec - crew->start.tv_sec +
		(now.tv_nsec - crew->start.tv_nsec) * 1e-9;
	fprintf(stderr, "\r%s: %zu of %zu, about %.0f s left   %s",
		crew->result->eval->name, crew->done, items,
		spent / crew->done * (items - crew->done),
		crew->done == items ? "\n" : "");
}

/* The last settings are the largest, so they are taken first. */
static void *work(void *arg)
{
	struct crew *crew = arg;
	const struct eval_result *r = crew->result;
	size_t items = r->n_settings * r->rounds, item;
	struct aggt_err why;

	for (;;) {
		pthread_mutex_lock(&crew->lock);
		item = crew->failed.text[0] ? items : crew->next++;
		pthread_mutex_unlock(&crew->lock);
		if (item >= items)
			return NULL;
		item = items - 1 - item;
		snprintf(why.text, sizeof(why.text), "out of memory");
		if (run_item(crew, item / r->rounds, item % r->rounds, &why)) {
			pthread_mutex_lock(&crew->lock);
			crew->failed = why;
			pthread_mutex_unlock(&crew->lock);
			return NULL;
		}
		pthread_mutex_lock(&crew->lock);
		crew->done++;
		progress(crew, items);
		pthread_mutex_unlock(&crew->lock);
	}
}

static int start_crew(struct crew *crew)
{
	long i, n = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[MAX_THREADS];

	if (n < 1)
		n = 1;
	if (n > MAX_THREADS)
		n = MAX_THREADS;
	clock_gettime(CLOCK_MONOTONIC, &crew->start);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, work, crew))
			break;
	if (!i)
		work(crew);
	while (i--)
		pthread_join(thread[i], NULL);
	if (crew->failed.text[0])
		return fail("eval %s: %s", crew->result->eval->name,
			    crew->failed.text);
	return ST_DONE;
}

int eval_run(struct eval_result *result)
{
	struct crew crew = { .result = result,
			     .lock = PTHREAD_MUTEX_INITIALIZER };
	const struct eval *eval = result->eval;

	result->setting = calloc(MAX_SETTINGS, sizeof(*result->setting));
	if (!result->setting)
		return fail("eval: out of memory");
	result->n_settings = eval->settings(result->setting, MAX_SETTINGS);
	while (eval->method[result->n_methods].name)
		result->n_methods++;
	if (!result->rounds)
		result->rounds = eval->rounds;
	result->point = calloc(result->n_settings * result->n_methods,
			       sizeof(*result->point));
	if (!result->point)
		return fail("eval: out of memory");
	return start_crew(&crew);
}

void eval_free(struct eval_result *result)
{
	free(result->setting);
	free(result->point);
}
