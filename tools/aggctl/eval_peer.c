// SPDX-License-Identifier: GPL-2.0
/*
 * Peers that are no methods of the library: flows that do not join where they
 * meet, and the best of all routing sequences. Formula (3) of paper 000.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggtree.h"
#include "eval.h"

/* Beyond, there are too many sequences to try them all. */
#define MAX_PERMUTED 6

bool eval_is_peer(const char *method)
{
	return !strcmp(method, "unjoined") || !strcmp(method, "sequences");
}

static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return *state >> 33;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Hops of a way that corrects digits in a drawn order. */
static size_t walk(const struct aggt_topo *topo, aggt_node from, aggt_node to,
		   uint64_t *state, uint64_t *hop)
{
	unsigned int i, order[AGGT_MAX_DIMS], dims = aggt_topo_dims(topo);
	size_t n = 0;

	for (i = 0; i < dims; i++) {
		unsigned int k = draw(state) % (i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (i = 0; i < dims; i++) {
		unsigned int digit = aggt_topo_digit(topo, to, order[i]);
		aggt_node next;

		if (aggt_topo_digit(topo, from, order[i]) == digit)
			continue;
		next = aggt_topo_with_digit(topo, from, order[i], digit);
		hop[n++] = (uint64_t)from << 32 | next;
		from = next;
	}
	return n;
}

/* Flows merge at a server only if they leave it for the same neighbour. */
static double unjoined(const struct aggt_topo *topo, const struct aggt_job *job)
{
	size_t room = job->n_senders * aggt_topo_dims(topo);
	uint64_t *hop = malloc(room * sizeof(*hop));
	uint64_t state = job->seed;
	size_t i, k, n, links = 0;

	if (!hop)
		return -1;
	for (k = 0; k < job->n_receivers; k++) {
		for (i = 0, n = 0; i < job->n_senders; i++)
			n += walk(topo, job->senders[i], job->receivers[k],
				  &state, hop + n);
		qsort(hop, n, sizeof(*hop), by_value);
		for (i = 0; i < n; i++)
			links += !i || hop[i] != hop[i - 1];
	}
	free(hop);
	return 2.0 * links;
}

static double sequence_cost(const struct aggt_topo *topo,
			    const struct aggt_job *job,
			    const unsigned int *symbol)
{
	struct aggt_job rs = *job;
	struct aggt_plan *plan;
	char method[16] = "rs:";
	unsigned int d;
	double cost;

	for (d = 0; d < aggt_topo_dims(topo); d++)
		snprintf(method + 3 + d, 2, "%u", symbol[d]);
	rs.method = method;
	plan = aggt_plan_build(topo, &rs, NULL);
	if (!plan)
		return -1;
	cost = aggt_plan_metrics(plan)->cost;
	aggt_plan_free(plan);
	return cost;
}

/* The least cost of all orders of symbol[at..]. */
static double best_sequence(const struct aggt_topo *topo,
			    const struct aggt_job *job, unsigned int *symbol,
			    unsigned int at)
{
	unsigned int i, swap, dims = aggt_topo_dims(topo);
	double cost, best = -1;

	if (at == dims)
		return sequence_cost(topo, job, symbol);
	for (i = at; i < dims; i++) {
		swap = symbol[at];
		symbol[at] = symbol[i];
		symbol[i] = swap;
		cost = best_sequence(topo, job, symbol, at + 1);
		if (best < 0 || cost < best)
			best = cost;
		symbol[i] = symbol[at];
		symbol[at] = swap;
	}
	return best;
}

/* Fill in the cost and the saving; what is not known stays as it is. */
int eval_peer(const struct aggt_topo *topo, const struct aggt_job *job,
	      double *value)
{
	unsigned int symbol[AGGT_MAX_DIMS], d;
	double cost;

	for (d = 0; d < aggt_topo_dims(topo); d++)
		symbol[d] = d;
	if (!strcmp(job->method, "unjoined"))
		cost = unjoined(topo, job);
	else if (aggt_topo_dims(topo) <= MAX_PERMUTED)
		cost = best_sequence(topo, job, symbol, 0);
	else
		cost = NAN;
	if (cost < 0)
		return -1;
	value[EVAL_COST] = cost;
	return 0;
}

/* The least filter with less than one false positive on a way. */
unsigned int eval_filter_bits(unsigned int k)
{
	return ceil(2 * (k + 1) * log(2.0 / (k * (k - 1.0))) / log(0.6185));
}
