// SPDX-License-Identifier: GPL-2.0
/* Cuts of a graph: max-flows by shortest paths on which there is room. */
#include <stdlib.h>
#include <string.h>

#include "cut.h"
#include "graph.h"

int aggt_cut_init(struct aggt_cut *cut, const struct aggt_topo *topo)
{
	size_t links = 2 * (size_t)topo->graph->n_links + 1;
	size_t n = topo->graph->n;

	memset(cut, 0, sizeof(*cut));
	cut->topo = topo;
	cut->room = calloc(links, sizeof(*cut->room));
	cut->left = calloc(links, sizeof(*cut->left));
	cut->by = calloc(n, sizeof(*cut->by));
	cut->round = calloc(n, sizeof(*cut->round));
	cut->sink = calloc(n, sizeof(*cut->sink));
	cut->queue = calloc(n, sizeof(*cut->queue));
	if (cut->room && cut->left && cut->by && cut->round && cut->sink &&
	    cut->queue)
		return 0;
	aggt_cut_free(cut);
	return -1;
}

void aggt_cut_free(struct aggt_cut *cut)
{
	free(cut->room);
	free(cut->left);
	free(cut->by);
	free(cut->round);
	free(cut->sink);
	free(cut->queue);
}

uint64_t aggt_cut_unit(const struct aggt_topo *topo, const struct aggt_job *job)
{
	uint64_t unit = job->rate ? job->rate : topo->graph->fastest;

	return unit > AGGT_CUT_RATE ? AGGT_CUT_RATE : unit ? unit : 1;
}

uint64_t aggt_cut_rate(const struct aggt_topo *topo, uint32_t link,
		       uint64_t unit)
{
	uint64_t rate = topo->graph->link[link].rate;

	return rate > AGGT_CUT_RATE ? AGGT_CUT_RATE : rate ? rate : unit;
}

void aggt_cut_rates(struct aggt_cut *cut, uint64_t unit)
{
	const struct aggt_graph *graph = cut->topo->graph;
	uint32_t i;

	for (i = 0; i < graph->n_links; i++) {
		const uint32_t *end = graph->link[i].end;
		bool ok = aggt_arc_ok(cut->topo, end[0], i) &&
			  aggt_arc_ok(cut->topo, end[1], i);

		cut->room[2 * i] = ok ? aggt_cut_rate(cut->topo, i, unit) : 0;
		cut->room[2 * i + 1] = cut->room[2 * i];
	}
}

static void reach(struct aggt_cut *cut, uint32_t vertex, size_t way,
		  uint32_t *tail)
{
	cut->round[vertex] = cut->rounds;
	cut->by[vertex] = way;
	cut->queue[(*tail)++] = vertex;
}

/* A path with room to a vertex where the flow ends: that one, or AGGT_NONE. */
static uint32_t find_path(struct aggt_cut *cut, aggt_node from,
			  aggt_node beside)
{
	const struct aggt_graph *graph = cut->topo->graph;
	uint32_t head = 0, tail = 0, i;

	cut->rounds++;
	reach(cut, from, AGGT_NONE, &tail);
	if (beside != AGGT_NONE && beside != from)
		reach(cut, beside, AGGT_NONE, &tail);
	while (head < tail) {
		uint32_t at = cut->queue[head++];

		cut->work += aggt_graph_ports(graph, at);
		for (i = graph->first[at]; i < graph->first[at + 1]; i++) {
			uint32_t to = graph->arc[i].to;
			size_t way = aggt_cut_way(graph->arc[i].link, at, to);

			if (cut->round[to] == cut->rounds || !cut->left[way])
				continue;
			reach(cut, to, way, &tail);
			if (cut->sink[to])
				return to;
		}
	}
	return AGGT_NONE;
}

/* The vertex that @way of a link leaves, if it leads to @to. */
static uint32_t behind(const struct aggt_cut *cut, size_t way, uint32_t to)
{
	const uint32_t *end = cut->topo->graph->link[way / 2].end;

	return end[0] == to ? end[1] : end[0];
}

/* Take the room on the path that ends at @to, @most at most. */
static uint64_t take_path(struct aggt_cut *cut, uint32_t to, uint64_t most)
{
	uint32_t at, way;

	for (at = to; (way = cut->by[at]) != AGGT_NONE;
	     at = behind(cut, way, at))
		if (cut->left[way] < most)
			most = cut->left[way];
	for (at = to; (way = cut->by[at]) != AGGT_NONE;
	     at = behind(cut, way, at)) {
		cut->left[way] -= most;
		/* What flows back on the link can be taken from it again. */
		cut->left[way ^ 1] += most;
	}
	return most;
}

uint64_t aggt_cut_flow(struct aggt_cut *cut, aggt_node from, aggt_node beside,
		       uint64_t enough)
{
	uint64_t flow = 0;
	uint32_t end;

	memcpy(cut->left, cut->room,
	       2 * (size_t)cut->topo->graph->n_links * sizeof(*cut->left));
	while (flow < enough) {
		end = find_path(cut, from, beside);
		if (end == AGGT_NONE)
			break;
		flow += take_path(cut, end, enough - flow);
	}
	return flow;
}

uint64_t aggt_cut_least(struct aggt_cut *cut, const struct aggt_job *job,
			uint64_t enough)
{
	uint64_t flow, least = enough;
	size_t i;

	cut->sink[job->receivers[0]] = true;
	for (i = 0; i < job->n_senders; i++) {
		if (job->senders[i] == job->receivers[0])
			continue;
		flow = aggt_cut_flow(cut, job->senders[i], AGGT_NONE, least);
		if (flow < least)
			least = flow;
	}
	cut->sink[job->receivers[0]] = false;
	return least;
}
