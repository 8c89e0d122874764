// SPDX-License-Identifier: GPL-2.0
/*
 * A method for comparison that the library does not have: flows that do not
 * join where they meet.
 */
#include <stdlib.h>
#include <string.h>

#include "aggtree.h"
#include "eval/eval.h"

bool eval_is_peer(const char *method)
{
	return !strcmp(method, "unjoined");
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

/* Hops of a path that corrects digits in a random order. */
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

/* Fill in the cost; unknown values are left unchanged. */
int eval_peer(const struct aggt_topo *topo, const struct aggt_job *job,
	      double *value)
{
	double cost = unjoined(topo, job);

	if (cost < 0)
		return -1;
	value[EVAL_COST] = cost;
	return 0;
}
