// SPDX-License-Identifier: GPL-2.0
/*
 * The best of all routing sequences: stage by stage from the top, without every
 * prefix that cannot lead to less traffic than the best known.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/**
 * struct input - the flows that meet at a server: their sum and the largest.
 */
struct input {
	aggt_code code;
	double sum;
	double max;
};

/**
 * struct search - for a sequence
 * @topo: the topology
 * @tree: receiver and senders
 * @delta: aggregation ratio
 * @heaviest: the largest flow of a sender
 * @links: that a hop crosses
 * @access: traffic from servers to their agents
 * @own: senders of each stage
 * @n_own: how many
 * @at: servers of each stage as the symbols at hand have it: senders first
 * @n_at: how many
 * @below: least traffic that leaves this stage and those below
 * @symbol: e_j by stage
 * @used: symbols of the stages above
 * @least: traffic of the best sequence, or what it has to be less than
 * @best: its symbols, e_1 first
 * @found: whether there is one
 * @seen: scratch: where a label is in a stage
 * @work: servers looked at
 * @limit: of that
 */
struct search {
	const struct aggt_topo *topo;
	const struct aggt_tree *tree;
	double delta;
	double heaviest;
	unsigned int links;
	double access;
	struct input *own[AGGT_MAX_DIMS + 1];
	uint32_t n_own[AGGT_MAX_DIMS + 1];
	struct input *at[AGGT_MAX_DIMS + 1];
	uint32_t n_at[AGGT_MAX_DIMS + 1];
	double below[AGGT_MAX_DIMS + 1];
	unsigned int symbol[AGGT_MAX_DIMS + 1];
	unsigned int used;
	double least;
	unsigned int best[AGGT_MAX_DIMS];
	bool found;
	struct aggt_map seen[AGGT_MAX_DIMS + 1];
	uint64_t work;
	uint64_t limit;
};

static double output(const struct search *s, const struct input *in)
{
	return in->max + s->delta * (in->sum - in->max);
}

/* Labels are kept as they differ from the receiver's. */
static aggt_code label(const struct search *s, uint32_t v)
{
	return s->tree->code[v] ^ s->tree->code[0];
}

static struct input own_input(const struct search *s,
			      const struct aggt_job *job, uint32_t v)
{
	struct input in = { .code = label(s, v) };
	uint32_t i;

	for (i = s->tree->sender[v]; i != AGGT_NONE; i = s->tree->more[i]) {
		double size = aggt_job_size(job, i, s->delta);

		/* The receiver's own flow stays there. */
		if (job->senders[i] == s->tree->receiver)
			continue;
		in.sum += size;
		if (size > in.max)
			in.max = size;
	}
	return in;
}

/* Stages hold as many as there are senders from them on. */
static int alloc_stages(struct search *s)
{
	uint32_t v, count = 0;
	unsigned int j;

	for (v = 0; v < s->tree->n; v++)
		s->n_own[aggt_weight(s->topo, label(s, v))]++;
	for (j = s->topo->dims + 1; j--; ) {
		count += s->n_own[j];
		s->own[j] = malloc((s->n_own[j] + 1) * sizeof(struct input));
		s->at[j] = malloc((count + 1) * sizeof(struct input));
		if (!s->own[j] || !s->at[j] || aggt_map_init(&s->seen[j], count))
			return -1;
		s->n_own[j] = 0;
	}
	return 0;
}

/*
 * Paths only correct digits, so two flows can have met at stage @j only if j
 * digits are common to their senders and not the receiver's.
 */
static bool may_meet(const struct search *s, aggt_code a, aggt_code b,
		     unsigned int j)
{
	aggt_code common = aggt_differs(s->topo, a) &
			   ~aggt_differs(s->topo, a ^ b);

	return aggt_bits(common) >= j;
}

/*
 * Flows merge to no less than if equal ones met in pairs all the time: then n
 * of them come to n^p, p being log2(1 + delta). So a flow of size f counts for
 * f^(1/p); to keep numbers small, f is relative to the largest of all.
 */
static double count_of(const struct search *s, double size)
{
	return s->delta > 0 && size > 0 ?
	       pow(size / s->heaviest, 1 / log2(1 + s->delta)) : 0;
}

static double size_of(const struct search *s, double count)
{
	return s->delta > 0 ? s->heaviest * pow(count, log2(1 + s->delta)) : 0;
}

/** struct crowd - senders of a stage and above: some that stay apart, the rest. */
struct crowd {
	struct input *apart;
	uint32_t n;
	double sum;
	double heavy;
	double heaviest;
	double rest;
};

/* The senders of stage @j come first: they are apart from each other. */
static void join_crowd(struct search *s, struct crowd *c, unsigned int j,
		       const struct input *in)
{
	double size = output(s, in);
	uint32_t i = c->n < s->n_own[j] ? c->n : 0;

	c->heaviest = fmax(c->heaviest, size);
	for (; i < c->n && s->work < s->limit / 2; i++)
		if (may_meet(s, in->code, c->apart[i].code, j))
			break;
	s->work += i;
	if (i < c->n) {
		c->rest += count_of(s, size);
		return;
	}
	c->apart[c->n++] = *in;
	c->sum += size;
	c->heavy = fmax(c->heavy, size);
}

/* At the least, all that need not stay apart are with the largest that do. */
static double bound_stage(struct search *s, unsigned int j)
{
	struct crowd c = { .apart = s->at[j] };
	double merged;
	unsigned int up;
	uint32_t i;

	for (up = j; up <= s->topo->dims; up++)
		for (i = 0; i < s->n_own[up]; i++)
			join_crowd(s, &c, j, &s->own[up][i]);
	merged = size_of(s, count_of(s, c.heavy) + c.rest);
	return c.sum - c.heavy + fmax(c.heaviest, merged);
}

static void bound_stages(struct search *s)
{
	unsigned int j;
	uint32_t i;

	for (j = 0; j <= s->topo->dims; j++)
		for (i = 0; i < s->n_own[j]; i++)
			s->heaviest = fmax(s->heaviest,
					   output(s, &s->own[j][i]));
	/* What leaves the receiver's agent for it crosses one link. */
	s->below[0] = s->topo->agents ? bound_stage(s, 0) : 0;
	for (j = 1; j <= s->topo->dims; j++)
		s->below[j] = s->below[j - 1] + s->links * bound_stage(s, j);
}

static int search_init(struct search *s, const struct aggt_job *job)
{
	uint32_t v;

	if (alloc_stages(s))
		return -1;
	for (v = 0; v < s->tree->n; v++) {
		struct input in = own_input(s, job, v);
		unsigned int j = aggt_weight(s->topo, in.code);

		s->own[j][s->n_own[j]++] = in;
		if (s->topo->agents)
			s->access += in.sum;
	}
	bound_stages(s);
	return 0;
}

static void search_free(struct search *s)
{
	unsigned int j;

	for (j = 0; j <= s->topo->dims; j++) {
		free(s->own[j]);
		free(s->at[j]);
		aggt_map_free(&s->seen[j]);
	}
}

static int put(struct search *s, unsigned int j, aggt_code code, double size)
{
	uint32_t *slot = aggt_map_slot(&s->seen[j], code);
	struct input *in;

	if (!slot)
		return -1;
	if (*slot == AGGT_NONE) {
		*slot = s->n_at[j]++;
		s->at[j][*slot] = (struct input){ .code = code };
	}
	in = &s->at[j][*slot];
	in->sum += size;
	in->max = fmax(in->max, size);
	return 0;
}

static int put_own(struct search *s, unsigned int j)
{
	uint32_t i;

	aggt_map_clear(&s->seen[j]);
	for (i = 0; i < s->n_own[j]; i++) {
		uint32_t *slot = aggt_map_slot(&s->seen[j], s->own[j][i].code);

		if (!slot)
			return -1;
		*slot = i;
		s->at[j][i] = s->own[j][i];
	}
	s->n_at[j] = s->n_own[j];
	return 0;
}

/* What is at stage @j - 1 if stage @j has this symbol. */
static int descend(struct search *s, unsigned int j, unsigned int symbol)
{
	const struct aggt_topo *topo = s->topo;
	uint32_t i;

	s->symbol[j] = symbol;
	if (put_own(s, j - 1))
		return -1;
	for (i = 0; i < s->n_at[j]; i++) {
		const struct input *in = &s->at[j][i];
		unsigned int d = aggt_stage_dim(topo, s->symbol, topo->dims, j,
						in->code);

		if (put(s, j - 1, in->code & ~topo->mask[d], output(s, in)))
			return -1;
	}
	s->work += s->n_own[j - 1] + s->n_at[j];
	return 0;
}

/* What leaves the servers of a stage; for the receiver, from its agent. */
static double traffic(const struct search *s, unsigned int j)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < s->n_at[j]; i++)
		sum += output(s, &s->at[j][i]);
	if (!j)
		return s->topo->agents ? sum : 0;
	return s->links * sum;
}

static bool hopeless(const struct search *s, unsigned int j, double cost)
{
	return cost + (j ? s->below[j - 1] : 0) >= s->least * (1 - 1e-9);
}

static void keep(struct search *s, double cost)
{
	unsigned int d;

	s->least = cost;
	s->found = true;
	for (d = 0; d < s->topo->dims; d++)
		s->best[d] = s->symbol[d + 1];
}

/* Try symbols for stage @j, the most promising first; @cost is up to there. */
static int explore(struct search *s, unsigned int j, double cost)
{
	double next[AGGT_MAX_DIMS];
	unsigned int d, best, left = 0;

	if (!j) {
		keep(s, cost);
		return 0;
	}
	for (d = 0; d < s->topo->dims; d++) {
		if (s->used & 1u << d)
			continue;
		if (descend(s, j, d))
			return -1;
		next[d] = cost + traffic(s, j - 1);
		left |= (!hopeless(s, j - 1, next[d])) << d;
	}
	while (left && s->work < s->limit) {
		best = __builtin_ctz(left);
		for (d = best + 1; d < s->topo->dims; d++)
			if (left & 1u << d && next[d] < next[best])
				best = d;
		left &= ~(1u << best);
		if (hopeless(s, j - 1, next[best]))
			return 0;
		s->used |= 1u << best;
		if (descend(s, j, best) || explore(s, j - 1, next[best]))
			return -1;
		s->used &= ~(1u << best);
	}
	return 0;
}

int aggt_best_sequence(const struct aggt_tree *tree, const struct aggt_job *job,
		       struct aggt_sequence *best)
{
	struct search s = { .topo = tree->topo, .tree = tree,
			    .delta = job->delta, .limit = best->limit,
			    .links = tree->topo->agents ? 1 : 2 };
	unsigned int top = tree->topo->dims;
	int ret = -1;

	if (search_init(&s, job) || put_own(&s, top))
		goto out;
	s.least = best->cost - s.access;
	if (!hopeless(&s, top, traffic(&s, top)) &&
	    explore(&s, top, traffic(&s, top)))
		goto out;
	best->cost = s.least + s.access;
	best->found = s.found;
	best->sure = s.work < s.limit;
	memcpy(best->symbol, s.best, sizeof(best->symbol));
	ret = 0;
out:
	search_free(&s);
	return ret;
}
