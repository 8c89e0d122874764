// SPDX-License-Identifier: GPL-2.0
/*
 * Search for the tree whose transfer ends first: add senders one by one where
 * that costs the least time, then move those that others wait for. Paths lead
 * through servers that the tree does not use, so that flows do not merge and
 * wait there.
 */
#include <stdlib.h>

#include "early.h"

/* Vertices that are tried as a place; all of a small tree. */
#define MAX_PLACES 64

/* Places to which a path is searched, the best first, and paths to each. */
#define MAX_TRIES 12
#define MAX_WAYS 6

/* Moves in a row that may make the tree worse, and how often that begins. */
#define DETOUR 3
#define DETOUR_EVERY 6

/** struct place - where a vertex could be hung. */
struct place {
	uint32_t at;
	uint32_t dim;
	struct aggt_rank rank;
};

struct search {
	struct aggt_early e;
	struct aggt_rng rng;
	struct place *place;
	uint32_t n_places;
	uint32_t *hung;		/* the root and the senders that are hung */
	uint32_t n_hung;
	uint32_t bound;
	struct aggt_rank best;
	uint32_t *parent;	/* of the best tree, by spot */
	uint32_t n_parents;
};

static uint32_t draw(struct search *s, uint32_t bound)
{
	return aggt_rng_below(&s->rng, bound);
}

static void mark_below(struct aggt_early *e, uint32_t v)
{
	uint32_t c;

	e->spot[v].stamp = e->stamp;
	for (c = e->spot[v].first; c != AGGT_NONE; c = e->spot[c].next)
		mark_below(e, c);
}

static uint32_t hops_to(const struct aggt_early *e, uint32_t v, uint32_t at,
			uint32_t dim)
{
	aggt_code diff = e->spot[v].code ^ e->spot[at].code;

	return aggt_weight(e->topo, diff) + (diff & e->topo->mask[dim] ? 0 : 2);
}

static void rate_place(struct search *s, uint32_t v, uint32_t at)
{
	uint32_t d, height, hops;

	for (d = 0; d < s->e.topo->dims; d++) {
		struct place *p = &s->place[s->n_places];

		hops = hops_to(&s->e, v, at, d);
		p->at = at;
		p->dim = d;
		height = aggt_early_try(&s->e, v, at, d, hops, &p->rank);
		s->n_places += height <= s->bound;
	}
}

static bool is_place(const struct aggt_early *e, uint32_t at)
{
	return (!at || e->spot[at].used) && e->spot[at].stamp != e->stamp;
}

static void find_places(struct search *s, uint32_t v)
{
	uint32_t i, at;

	s->n_places = 0;
	s->e.stamp++;
	mark_below(&s->e, v);
	if (s->e.n <= MAX_PLACES) {
		for (at = 0; at < s->e.n; at++)
			if (is_place(&s->e, at))
				rate_place(s, v, at);
		return;
	}
	rate_place(s, v, 0);
	for (i = 1; i < MAX_PLACES; i++) {
		at = i % 4 ? s->hung[draw(s, s->n_hung)] : draw(s, s->e.n);
		if (is_place(&s->e, at))
			rate_place(s, v, at);
	}
}

/* Take the best place out; equal ones are drawn. */
static struct place take_place(struct search *s)
{
	uint32_t i, best = 0, same = 1;
	struct place p;

	for (i = 1; i < s->n_places; i++) {
		if (aggt_better_rank(&s->place[i].rank, &s->place[best].rank)) {
			best = i;
			same = 1;
		} else if (!aggt_better_rank(&s->place[best].rank,
					     &s->place[i].rank) &&
			   !draw(s, ++same)) {
			best = i;
		}
	}
	p = s->place[best];
	s->place[best] = s->place[--s->n_places];
	return p;
}

static aggt_code with_digit(const struct aggt_topo *topo, aggt_code code,
			    uint32_t dim, uint32_t digit)
{
	return (code & ~topo->mask[dim]) | (aggt_code)digit << topo->shift[dim];
}

/* Does the tree leave the switch of a hop by another link than that to @to? */
static bool second_exit(const struct aggt_early *e, aggt_code at, aggt_code to)
{
	uint32_t d = 0, digit, v;

	if (!e->one_exit)
		return false;
	while (!((at ^ to) & e->topo->mask[d]))
		d++;
	for (digit = 0; digit < e->topo->radix[d]; digit++) {
		v = aggt_map_get(&e->index, with_digit(e->topo, to, d, digit));
		if (v != AGGT_NONE && e->spot[v].up != AGGT_NONE &&
		    e->spot[v].dim == d &&
		    e->spot[e->spot[v].up].code != to)
			return true;
	}
	return false;
}

/* One more hop; false if it is broken or meets the tree. */
static bool step(const struct aggt_early *e, aggt_code *at, aggt_code to,
		 struct aggt_chain *chain)
{
	uint32_t v = aggt_map_get(&e->index, to);

	if (!aggt_hop_ok(e->topo, *at, to) || !aggt_point_ok(e->topo, to) ||
	    second_exit(e, *at, to) ||
	    (v != AGGT_NONE && (!v || e->spot[v].used || e->spot[v].sends)))
		return false;
	chain->code[chain->n++] = to;
	*at = to;
	return true;
}

/*
 * Find a path of free servers that changes dimensions in a random order, the
 * place's own dimension last. If the digits there are equal, or to avoid used
 * servers, it changes that dimension first.
 */
static bool find_path(struct search *s, uint32_t v, const struct place *p,
		      bool around, struct aggt_chain *chain)
{
	const struct aggt_topo *topo = s->e.topo;
	aggt_code at = s->e.spot[v].code, end = s->e.spot[p->at].code;
	uint32_t order[AGGT_MAX_DIMS], i, k, n = 0, d;

	chain->n = 0;
	for (d = 0; d < topo->dims; d++) {
		if (d == p->dim || !((at ^ end) & topo->mask[d]))
			continue;
		k = draw(s, n + 1);
		order[n++] = order[k];
		order[k] = d;
	}
	if (around || !((at ^ end) & topo->mask[p->dim])) {
		aggt_code aside = with_digit(topo, at, p->dim,
					     draw(s, topo->radix[p->dim]));

		/* Without other dimensions it is the switch of the last hop. */
		if (!((aside ^ end) & topo->mask[p->dim]) ||
		    (s->e.one_exit && !n && aside != at) ||
		    (aside != at && !step(&s->e, &at, aside, chain)))
			return false;
	}
	for (i = 0; i < n; i++)
		if (!step(&s->e, &at, (at & ~topo->mask[order[i]]) |
			  (end & topo->mask[order[i]]), chain))
			return false;
	return aggt_hop_ok(topo, at, end) && !second_exit(&s->e, at, end);
}

/* Straight on, as packets go, until the tree is met. */
static uint32_t fall_back(const struct search *s, uint32_t v,
			  struct aggt_chain *chain)
{
	const struct aggt_early *e = &s->e;
	aggt_code at = e->spot[v].code, end = e->spot[0].code;
	uint32_t d = e->topo->dims, met;

	chain->n = 0;
	while (d--) {
		if (!((at ^ end) & e->topo->mask[d]))
			continue;
		at = (at & ~e->topo->mask[d]) | (end & e->topo->mask[d]);
		met = aggt_map_get(&e->index, at);
		if (met != AGGT_NONE && (!met || e->spot[met].used))
			return met;
		chain->code[chain->n++] = at;
	}
	return 0;
}

/* Find the best place that there is a path to. Return: it, or AGGT_NONE. */
static uint32_t choose(struct search *s, uint32_t v, struct aggt_chain *chain)
{
	uint32_t i, k;

	find_places(s, v);
	for (i = 0; i < MAX_TRIES && s->n_places; i++) {
		struct place p = take_place(s);

		for (k = 0; k < MAX_WAYS; k++)
			if (find_path(s, v, &p, k % 2, chain))
				return p.at;
	}
	return AGGT_NONE;
}

static int hang_all(struct search *s, uint32_t n)
{
	struct aggt_chain chain;
	uint32_t v, at;

	for (s->n_hung = 1; s->n_hung <= n; s->n_hung++) {
		v = s->hung[s->n_hung];
		if (s->e.spot[v].used)
			continue;
		at = choose(s, v, &chain);
		if (at == AGGT_NONE)
			at = fall_back(s, v, &chain);
		if (aggt_early_hang(&s->e, v, at, &chain))
			return -1;
	}
	return 0;
}

/*
 * One of the children on the busiest link that may delay the end of the
 * transfer.
 */
static uint32_t late_child(struct search *s, uint32_t v)
{
	const struct aggt_early *e = &s->e;
	uint32_t c, found = AGGT_NONE, dim = 0, n = 0;
	double end[AGGT_MAX_DIMS] = { 0 }, at;

	for (c = e->spot[v].first; c != AGGT_NONE; c = e->spot[c].next) {
		double *last = &end[e->spot[c].dim];

		at = e->spot[c].state.ready;
		*last = e->job->pipelined ? *last + e->spot[c].state.flow :
			(*last > at ? *last : at) + e->spot[c].state.flow;
		if (*last > end[dim])
			dim = e->spot[c].dim;
	}
	for (c = e->spot[v].first; c != AGGT_NONE; c = e->spot[c].next)
		if (e->spot[c].dim == dim && !draw(s, ++n))
			found = c;
	return found;
}

/* A vertex with the busiest links, or the root, which waits for all. */
static uint32_t late_vertex(struct search *s)
{
	uint32_t v, found = 0, n = 0;

	if (!s->e.job->pipelined)
		return 0;
	for (v = 0; v < s->e.n; v++)
		if ((!v || s->e.spot[v].used) &&
		    s->e.spot[v].state.load >= s->e.load * (1 - 1e-9) &&
		    !draw(s, ++n))
			found = v;
	return found;
}

/* Follow a chain to the vertex where its flow begins. */
static uint32_t end_of_chain(const struct aggt_early *e, uint32_t v)
{
	while (!e->spot[v].sends && e->spot[v].first != AGGT_NONE &&
	       e->spot[e->spot[v].first].next == AGGT_NONE)
		v = e->spot[v].first;
	return v;
}

/* What to move: mostly on the path that the receiver waits for. */
static uint32_t pick(struct search *s)
{
	uint32_t v = late_vertex(s), c;

	if (!draw(s, 4)) {
		v = draw(s, s->e.n);
		return v && s->e.spot[v].used ? end_of_chain(&s->e, v) : 0;
	}
	for (;;) {
		c = late_child(s, v);
		if (c == AGGT_NONE)
			return v;
		v = end_of_chain(&s->e, c);
		if (draw(s, 2))
			return v;
	}
}

static int note_best(struct search *s)
{
	struct aggt_rank rank = aggt_early_rank(&s->e);
	uint32_t *parent, v;

	if (s->n_parents && !aggt_better_rank(&rank, &s->best))
		return 0;
	parent = realloc(s->parent, s->e.n * sizeof(*parent));
	if (!parent)
		return -1;
	for (v = 0; v < s->e.n; v++)
		parent[v] = s->e.spot[v].used ? s->e.spot[v].up : AGGT_NONE;
	s->parent = parent;
	s->n_parents = s->e.n;
	s->best = rank;
	return 0;
}

static int move(struct search *s, bool detour)
{
	struct aggt_rank before = aggt_early_rank(&s->e), after;
	struct aggt_chain old, new;
	uint32_t v = pick(s), from, at;

	if (!v)
		return 0;
	from = aggt_early_cut(&s->e, v, &old);
	at = choose(s, v, &new);
	if (aggt_early_hang(&s->e, v, at == AGGT_NONE ? from : at,
			    at == AGGT_NONE ? &old : &new))
		return -1;
	after = aggt_early_rank(&s->e);
	if (at == AGGT_NONE || detour || !aggt_better_rank(&before, &after))
		return 0;
	aggt_early_cut(&s->e, v, &new);
	return aggt_early_hang(&s->e, v, from, &old);
}

static int improve(struct search *s, uint64_t budget)
{
	uint32_t i;

	if (note_best(s))
		return -1;
	for (i = 0; s->e.work < budget; i++) {
		s->e.work += s->e.n;
		if (move(s, i % DETOUR_EVERY < DETOUR) || note_best(s))
			return -1;
	}
	return 0;
}

/* Larger flows first: later ones take the remaining places. */
static void order_senders(struct search *s, uint32_t *order, uint32_t n)
{
	uint32_t i, k, v;

	for (i = 0; i < n; i++) {
		k = draw(s, i + 1);
		order[i] = order[k];
		order[k] = i + 1;
	}
	for (i = 1; i < n; i++) {
		v = order[i];
		for (k = i; k && s->e.spot[order[k - 1]].size <
				 s->e.spot[v].size; k--)
			order[k] = order[k - 1];
		order[k] = v;
	}
}

/* The best tree, as builders leave it. */
static int give_back(const struct search *s, struct aggt_tree *tree)
{
	uint32_t v, i, up;

	for (v = 1; v < s->n_parents; v++) {
		if (s->parent[v] == AGGT_NONE)
			continue;
		i = aggt_tree_add(tree, s->e.spot[v].code);
		up = aggt_tree_add(tree, s->e.spot[s->parent[v]].code);
		if (i == AGGT_NONE || up == AGGT_NONE)
			return -1;
		tree->parent[i] = up;
	}
	return 0;
}

int aggt_build_early(struct aggt_tree *tree, const struct aggt_job *job,
		     struct aggt_grow *how)
{
	struct search s = { .bound = how->bound };
	uint32_t n = tree->n - 1;
	int ret = -1;

	aggt_rng_seed(&s.rng, how->seed);
	s.hung = calloc(n + 1, sizeof(*s.hung));
	s.place = malloc((MAX_PLACES + 1) * tree->topo->dims *
			 sizeof(*s.place));
	if (!s.hung || !s.place || aggt_early_init(&s.e, tree, job))
		goto out;
	s.e.one_exit = how->one_exit;
	order_senders(&s, s.hung + 1, n);
	if (!hang_all(&s, n) && !improve(&s, how->budget))
		ret = give_back(&s, tree);
	how->work = s.e.work;
out:
	aggt_early_free(&s.e);
	free(s.place);
	free(s.parent);
	free(s.hung);
	return ret;
}
