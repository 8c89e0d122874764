// SPDX-License-Identifier: GPL-2.0
/* A tree that knows when its transfer ends: states of vertices, kept up. */
#include <stdlib.h>
#include <string.h>

#include "early.h"

/* Of servers with digits: a switch between any two. */
#define HOP_LINKS	2

void aggt_early_free(struct aggt_early *e)
{
	aggt_map_free(&e->index);
	free(e->spot);
	free(e->input);
}

uint32_t aggt_early_spot(struct aggt_early *e, aggt_code code)
{
	uint32_t *slot = aggt_map_slot(&e->index, code), room;
	struct aggt_spot *spot;

	if (!slot)
		return AGGT_NONE;
	if (*slot != AGGT_NONE)
		return *slot;
	if (e->n == e->room) {
		room = 2 * e->room + 64;
		spot = realloc(e->spot, room * sizeof(*spot));
		if (!spot)
			return AGGT_NONE;
		e->spot = spot;
		e->room = room;
	}
	*slot = e->n;
	e->spot[e->n] = (struct aggt_spot){ .code = code, .up = AGGT_NONE,
					    .first = AGGT_NONE };
	return e->n++;
}

static struct aggt_input *next_input(struct aggt_early *e, uint32_t n)
{
	uint32_t room = 2 * e->input_room + 64;
	struct aggt_input *input;

	if (n < e->input_room)
		return &e->input[n];
	input = realloc(e->input, room * sizeof(*input));
	if (!input) {
		e->nomem = true;
		return &e->input[0];
	}
	e->input = input;
	e->input_room = room;
	return &e->input[n];
}

/* Keep inputs in the order of links and of times. */
static uint32_t add_input(struct aggt_early *e, uint32_t n,
			  const struct aggt_input *add)
{
	struct aggt_input *to = next_input(e, n);

	for (; to > e->input && (to[-1].dim > add->dim ||
				 (to[-1].dim == add->dim &&
				  to[-1].ready > add->ready)); to--, e->work++)
		*to = to[-1];
	*to = *add;
	return n + 1;
}

static uint32_t collect(struct aggt_early *e, uint32_t v,
			const struct aggt_input *extra, uint32_t except)
{
	uint32_t c, n = 0;

	if (extra)
		n = add_input(e, n, extra);
	for (c = e->spot[v].first; c != AGGT_NONE; c = e->spot[c].next) {
		const struct aggt_spot *child = &e->spot[c];
		struct aggt_input add = { child->dim, child->state.height,
					  child->state.flow,
					  child->state.ready };

		if (c != except)
			n = add_input(e, n, &add);
	}
	e->work += n + 1;
	return n;
}

/* What the links bring, one flow after the other on each. */
static void sum_links(const struct aggt_early *e, uint32_t n,
		      struct aggt_state *s)
{
	double end = 0, load = 0, last = 0, late;
	uint32_t i;

	late = (HOP_LINKS - 1) * e->job->packet;
	for (i = 0; i < n; i++) {
		const struct aggt_input *in = &e->input[i];

		if (i && in->dim != in[-1].dim) {
			end = 0;
			load = 0;
		}
		if (in->ready + late > end)
			end = in->ready + late;
		end += in->flow;
		load += in->flow;
		if (end > last)
			last = end;
		if (load > s->load)
			s->load = load;
		if (i + 1 == n || in->dim != in[1].dim)
			s->squares += e->job->pipelined ? load * load :
							  end * end;
	}
	s->ready = last;
}

/* The state of a vertex with another input, and without one of its children. */
static struct aggt_state look(struct aggt_early *e, uint32_t v,
			      const struct aggt_input *extra, uint32_t except)
{
	const struct aggt_spot *spot = &e->spot[v];
	uint32_t i, n = collect(e, v, extra, except);
	double sum = spot->size, max = spot->size;
	struct aggt_state s = { 0 };

	for (i = 0; i < n; i++) {
		sum += e->input[i].flow;
		if (e->input[i].flow > max)
			max = e->input[i].flow;
		if (e->input[i].height + 1 > s.height)
			s.height = e->input[i].height + 1;
	}
	s.flow = max + e->job->delta * (sum - max);
	sum_links(e, n, &s);
	if (v && n == 1 && !spot->sends)
		s.ready = e->input[0].ready + HOP_LINKS * e->job->packet;
	return s;
}

static struct aggt_rank rank_of(const struct aggt_early *e,
				const struct aggt_state *root, double load,
				double squares)
{
	double latency = HOP_LINKS * root->height * e->job->packet;

	return (struct aggt_rank){
		.time = e->job->pipelined ? load + latency : root->ready,
		.squares = squares,
	};
}

struct aggt_rank aggt_early_rank(const struct aggt_early *e)
{
	return rank_of(e, &e->spot[0].state, e->load, e->squares);
}

bool aggt_better_rank(const struct aggt_rank *a, const struct aggt_rank *b)
{
	double slack = 1e-9 * (1 + b->time);

	if (a->time < b->time - slack || a->time > b->time + slack)
		return a->time < b->time;
	slack = 1e-9 * (1 + b->squares);
	if (a->squares < b->squares - slack || a->squares > b->squares + slack)
		return a->squares < b->squares;
	return a->hops < b->hops;
}

static bool same_out(const struct aggt_state *a, const struct aggt_state *b)
{
	return a->flow == b->flow && a->ready == b->ready &&
	       a->height == b->height;
}

uint32_t aggt_early_try(struct aggt_early *e, uint32_t v, uint32_t at,
			uint32_t dim, uint32_t hops, struct aggt_rank *rank)
{
	const struct aggt_state *own = &e->spot[v].state;
	struct aggt_input in = { dim, own->height + hops - 1, own->flow,
				 own->ready + (hops - 1) * HOP_LINKS *
				 e->job->packet };
	double load = e->load, squares = e->squares;
	uint32_t from = AGGT_NONE;
	struct aggt_state s;

	/* What the chain brings to each vertex on it. */
	squares += (hops - 1) * (e->job->pipelined ? in.flow * in.flow : 0);
	for (;; at = e->spot[at].up) {
		const struct aggt_state *old = &e->spot[at].state;

		s = look(e, at, &in, from);
		if (s.load > load)
			load = s.load;
		squares += s.squares - old->squares;
		if (!at)
			break;
		if (same_out(&s, old)) {
			s = e->spot[0].state;
			break;
		}
		in = (struct aggt_input){ e->spot[at].dim, s.height, s.flow,
					  s.ready };
		from = at;
	}
	*rank = rank_of(e, &s, load, squares);
	rank->hops = hops;
	return s.height;
}

/* Bring the states from a vertex to the root up to date. */
static void refresh(struct aggt_early *e, uint32_t v)
{
	for (;; v = e->spot[v].up) {
		struct aggt_state *old = &e->spot[v].state, s;
		bool same;

		s = look(e, v, NULL, AGGT_NONE);
		e->squares += s.squares - old->squares;
		if (s.load > e->load)
			e->load = s.load;
		same = same_out(&s, old);
		*old = s;
		if (!v || same)
			return;
	}
}

static void link_up(struct aggt_early *e, uint32_t v, uint32_t up)
{
	aggt_code diff = e->spot[v].code ^ e->spot[up].code;
	uint32_t d = 0;

	while (!(diff & e->topo->mask[d]))
		d++;
	e->spot[v].dim = d;
	e->spot[v].up = up;
	e->spot[v].next = e->spot[up].first;
	e->spot[up].first = v;
	e->spot[v].used = true;
}

int aggt_early_hang(struct aggt_early *e, uint32_t v, uint32_t at,
		    const struct aggt_chain *chain)
{
	uint32_t i, up, last = v;

	for (i = 0; i < chain->n; i++) {
		up = aggt_early_spot(e, chain->code[i]);
		if (up == AGGT_NONE)
			return -1;
		link_up(e, last, up);
		e->spot[up].used = true;
		e->spot[up].state = look(e, up, NULL, AGGT_NONE);
		e->squares += e->spot[up].state.squares;
		last = up;
	}
	link_up(e, last, at);
	refresh(e, at);
	return e->nomem ? -1 : 0;
}

static void unlink_up(struct aggt_early *e, uint32_t v)
{
	uint32_t *at = &e->spot[e->spot[v].up].first;

	while (*at != v)
		at = &e->spot[*at].next;
	*at = e->spot[v].next;
	e->spot[v].up = AGGT_NONE;
	e->spot[v].used = false;
}

/* The vertices that lead to the root, or will, know the most of their links. */
static void find_load(struct aggt_early *e)
{
	uint32_t v;

	e->load = 0;
	for (v = 0; v < e->n; v++)
		if ((!v || e->spot[v].used) &&
		    e->spot[v].state.load > e->load)
			e->load = e->spot[v].state.load;
}

uint32_t aggt_early_cut(struct aggt_early *e, uint32_t v,
			struct aggt_chain *chain)
{
	uint32_t up = e->spot[v].up, next;

	chain->n = 0;
	unlink_up(e, v);
	while (up && !e->spot[up].sends && e->spot[up].first == AGGT_NONE &&
	       chain->n < AGGT_CHAIN_MAX) {
		next = e->spot[up].up;
		chain->code[chain->n++] = e->spot[up].code;
		e->squares -= e->spot[up].state.squares;
		unlink_up(e, up);
		up = next;
	}
	refresh(e, up);
	if (e->job->pipelined)
		find_load(e);
	return up;
}

int aggt_early_init(struct aggt_early *e, const struct aggt_tree *tree,
		    const struct aggt_job *job)
{
	uint32_t v, i;

	memset(e, 0, sizeof(*e));
	e->topo = tree->topo;
	e->job = job;
	if (aggt_map_init(&e->index, 2 * tree->n))
		return -1;
	for (v = 0; v < tree->n; v++) {
		i = aggt_early_spot(e, tree->code[v]);
		if (i == AGGT_NONE)
			return -1;
		e->spot[i].sends = tree->sender[v] != AGGT_NONE;
		e->spot[i].size = aggt_vertex_size(tree, job, v, job->delta);
		e->spot[i].state.flow = e->spot[i].size;
	}
	e->spot[0].used = true;
	return 0;
}
