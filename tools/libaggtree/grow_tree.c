// SPDX-License-Identifier: GPL-2.0
/* The tree of a search: vertices are added, removed and moved. */
#include <string.h>

#include "grow.h"

uint32_t aggt_grow_add(struct grow *g, aggt_code code)
{
	uint32_t i = g->free;

	/* Added servers are inner vertices, so there are never more of them. */
	if (i != AGGT_NONE)
		g->free = g->v[i].next;
	else
		i = g->n++;
	memset(&g->v[i], 0, sizeof(g->v[i]));
	g->code[i] = code;
	g->parent[i] = AGGT_NONE;
	g->v[i].child = AGGT_NONE;
	g->v[i].next = AGGT_NONE;
	g->v[i].prev = AGGT_NONE;
	g->v[i].used = true;
	return i;
}

static void free_vertex(struct grow *g, uint32_t i)
{
	g->v[i].used = false;
	g->parent[i] = AGGT_NONE;
	g->v[i].next = g->free;
	g->free = i;
}

static void link_child(struct grow *g, uint32_t i, uint32_t parent)
{
	struct vertex *v = &g->v[i], *p = &g->v[parent];

	g->parent[i] = parent;
	v->prev = AGGT_NONE;
	v->next = p->child;
	if (v->next != AGGT_NONE)
		g->v[v->next].prev = i;
	p->child = i;
}

void aggt_grow_unlink(struct grow *g, uint32_t i)
{
	struct vertex *v = &g->v[i];

	if (v->next != AGGT_NONE)
		g->v[v->next].prev = v->prev;
	if (v->prev != AGGT_NONE)
		g->v[v->prev].next = v->next;
	else
		g->v[g->parent[i]].child = v->next;
	g->parent[i] = AGGT_NONE;
	v->next = AGGT_NONE;
	v->prev = AGGT_NONE;
}

static void move_children(struct grow *g, uint32_t from, uint32_t to)
{
	uint32_t c;

	while ((c = g->v[from].child) != AGGT_NONE) {
		aggt_grow_unlink(g, c);
		link_child(g, c, to);
	}
}

uint32_t aggt_grow_walk_down(struct grow *g, uint32_t top, uint32_t depth)
{
	uint32_t done = 0, n = 0, mark = ++g->walk;

	g->v[top].depth = depth;
	g->stack[n++] = top;
	while (done < n) {
		uint32_t i = g->stack[done++], c;

		g->v[i].mark = mark;
		for (c = g->v[i].child; c != AGGT_NONE; c = g->v[c].next) {
			g->v[c].depth = g->v[i].depth + grow_hops(g, i, c);
			g->stack[n++] = c;
		}
	}
	return n;
}

void aggt_grow_walk_up(struct grow *g, uint32_t n)
{
	uint32_t i, c;

	while (n--) {
		struct vertex *v = &g->v[i = g->stack[n]];

		v->height = 0;
		v->load = grow_own_size(g, i);
		v->heavy = v->load;
		for (c = v->child; c != AGGT_NONE; c = g->v[c].next) {
			uint32_t h = g->v[c].height + grow_hops(g, i, c);

			v->load += g->v[c].load;
			if (g->v[c].heavy > v->heavy)
				v->heavy = g->v[c].heavy;
			if (h > v->height)
				v->height = h;
		}
	}
}

/* The subtree of @i has changed: update the largest flows on the path down. */
void aggt_grow_lift(struct grow *g, uint32_t i)
{
	bool changed = true;
	double heavy;
	uint32_t c;

	while (g->sized && i && i != AGGT_NONE) {
		heavy = grow_own_size(g, i);
		for (c = g->v[i].child; c != AGGT_NONE; c = g->v[c].next)
			if (g->v[c].heavy > heavy)
				heavy = g->v[c].heavy;
		if (heavy == g->v[i].heavy && !changed)
			return;
		changed = heavy != g->v[i].heavy;
		g->v[i].heavy = heavy;
		i = g->parent[i];
	}
}

/* @b, a child of @a, has the same label: make them one. */
uint32_t aggt_grow_fuse(struct grow *g, uint32_t a, uint32_t b)
{
	uint32_t up;

	aggt_grow_unlink(g, b);
	if (grow_added(g, b)) {
		move_children(g, b, a);
		free_vertex(g, b);
		return a;
	}
	up = g->parent[a];
	aggt_grow_unlink(g, a);
	move_children(g, a, b);
	link_child(g, b, up);
	g->v[b].depth = g->v[a].depth;
	free_vertex(g, a);
	return b;
}

/* The label on the edge above @i nearest to @code, the upper one of equals. */
static aggt_code meeting_point(const struct grow *g, uint32_t i, aggt_code code)
{
	aggt_code below = g->code[i], above = g->code[g->parent[i]];
	unsigned int d;

	for (d = 0; d < g->topo->dims; d++)
		if (!((below ^ code) & g->topo->mask[d]))
			above ^= (above ^ code) & g->topo->mask[d];
	return above;
}

/* Link @x, an unattached subtree, to the edge above @i. */
static uint32_t join(struct grow *g, uint32_t x, uint32_t i)
{
	uint32_t up, at = i;

	if (i) {
		aggt_code meet = meeting_point(g, i, g->code[x]);

		up = g->parent[i];
		if (meet == g->code[up]) {
			at = up;
		} else if (meet != g->code[i]) {
			at = meet == g->code[x] ? x : aggt_grow_add(g, meet);
			aggt_grow_unlink(g, i);
			link_child(g, i, at);
			link_child(g, at, up);
			g->v[at].depth = g->v[up].depth + grow_hops(g, at, up);
		}
	}
	if (at == x)
		return x;
	link_child(g, x, at);
	if (g->code[at] == g->code[x])
		return aggt_grow_fuse(g, at, x);
	return x;
}

uint32_t aggt_grow_attach(struct grow *g, uint32_t x, uint32_t i)
{
	x = join(g, x, i);
	aggt_grow_lift(g, x);
	aggt_grow_lift(g, g->parent[x]);
	return x;
}

/* Remove an added server that at most one vertex uses. */
void aggt_grow_tidy(struct grow *g, uint32_t p)
{
	uint32_t up, only;

	while (grow_added(g, p) && g->v[p].child == AGGT_NONE) {
		up = g->parent[p];
		aggt_grow_unlink(g, p);
		free_vertex(g, p);
		p = up;
	}
	only = g->v[p].child;
	if (!grow_added(g, p) || g->v[only].next != AGGT_NONE)
		return;
	up = g->parent[p];
	aggt_grow_unlink(g, only);
	aggt_grow_unlink(g, p);
	free_vertex(g, p);
	link_child(g, only, up);
	if (g->v[only].depth != g->v[up].depth + grow_hops(g, up, only))
		aggt_grow_walk_down(g, only,
				    g->v[up].depth + grow_hops(g, up, only));
}
