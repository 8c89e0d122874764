// SPDX-License-Identifier: GPL-2.0
/*
 * Graphs of servers, switches and links: their paths and hops by breadth-first
 * search, from one vertex at a time and no further than needed.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

static int search_init(struct aggt_search *s, uint32_t n, bool relay)
{
	s->root = AGGT_NONE;
	s->relay = relay;
	s->dist = malloc(n * sizeof(*s->dist));
	s->hops = malloc(n * sizeof(*s->hops));
	s->via = malloc(n * sizeof(*s->via));
	s->width = malloc(n * sizeof(*s->width));
	s->several = malloc(n * sizeof(*s->several));
	s->queue = malloc(n * sizeof(*s->queue));
	if (!s->dist || !s->hops || !s->via || !s->width || !s->several ||
	    !s->queue)
		return -1;
	memset(s->dist, 0xff, n * sizeof(*s->dist));
	return 0;
}

static void search_free(struct aggt_search *s)
{
	free(s->dist);
	free(s->hops);
	free(s->via);
	free(s->width);
	free(s->several);
	free(s->queue);
}

void aggt_graph_free(struct aggt_graph *graph)
{
	uint32_t i;

	if (!graph)
		return;
	search_free(&graph->path);
	search_free(&graph->hop);
	for (i = 0; graph->name && i < graph->n; i++)
		free(graph->name[i]);
	free(graph->name);
	free(graph->by_name);
	free(graph->line);
	free(graph->link);
	free(graph->first);
	free(graph->arc);
	free(graph);
}

int aggt_graph_start(struct aggt_topo *topo, uint64_t servers,
		     uint64_t switches, struct aggt_err *err)
{
	struct aggt_graph *graph;

	if (servers + switches > AGGT_GRAPH_VERTICES) {
		aggt_err_set(err, "%s: more than %u servers and switches",
			     topo->name, AGGT_GRAPH_VERTICES);
		return -1;
	}
	graph = calloc(1, sizeof(*graph));
	topo->graph = graph;
	if (!graph) {
		aggt_err_nomem(err);
		return -1;
	}
	graph->n = servers + switches;
	graph->first = calloc((size_t)graph->n + 1, sizeof(*graph->first));
	if (!graph->first || search_init(&graph->path, graph->n, true) ||
	    search_init(&graph->hop, graph->n, false)) {
		aggt_err_nomem(err);
		return -1;
	}
	topo->servers = servers;
	topo->points = servers;
	topo->switches = switches;
	return 0;
}

int aggt_graph_link(struct aggt_topo *topo, uint32_t a, uint32_t b,
		    uint64_t rate, struct aggt_err *err)
{
	struct aggt_graph *graph = topo->graph;

	if (graph->n_links == AGGT_GRAPH_LINKS) {
		aggt_err_set(err, "%s: more than %u links", topo->name,
			     AGGT_GRAPH_LINKS);
		return -1;
	}
	if (graph->n_links == graph->room) {
		uint32_t room = 2 * graph->room + 64;
		struct aggt_link *link = realloc(graph->link,
						 room * sizeof(*link));

		if (!link) {
			aggt_err_nomem(err);
			return -1;
		}
		graph->link = link;
		graph->room = room;
	}
	graph->link[graph->n_links++] = (struct aggt_link){ { a, b }, rate };
	if (rate > graph->fastest)
		graph->fastest = rate;
	return 0;
}

/* Sort the links by vertex; those of a vertex stay in their order. */
int aggt_graph_finish(struct aggt_topo *topo, struct aggt_err *err)
{
	struct aggt_graph *graph = topo->graph;
	uint32_t i, end, at, *fill;

	graph->arc = malloc(2 * ((size_t)graph->n_links + 1) *
			    sizeof(*graph->arc));
	fill = calloc((size_t)graph->n + 1, sizeof(*fill));
	if (!graph->arc || !fill) {
		free(fill);
		aggt_err_nomem(err);
		return -1;
	}
	for (i = 0; i < graph->n_links; i++)
		for (end = 0; end < 2; end++)
			graph->first[graph->link[i].end[end] + 1]++;
	for (i = 0; i < graph->n; i++)
		graph->first[i + 1] += graph->first[i];
	for (i = 0; i < graph->n_links; i++) {
		for (end = 0; end < 2; end++) {
			at = graph->link[i].end[end];
			graph->arc[graph->first[at] + fill[at]++] =
				(struct aggt_arc){ graph->link[i].end[!end], i };
		}
	}
	free(fill);
	return 0;
}

static uint32_t find_name(const struct aggt_graph *graph, const char *name,
			  size_t len)
{
	uint32_t low = 0, high = graph->n;

	while (low < high) {
		uint32_t middle = (low + high) / 2;
		const char *other = graph->name[graph->by_name[middle]];
		int order = strncmp(name, other, len);

		if (!order && !other[len])
			return graph->by_name[middle];
		if (order > 0)
			low = middle + 1;
		else
			high = middle;
	}
	return AGGT_NONE;
}

/* Without other names they are vN and wN. */
uint32_t aggt_graph_find(const struct aggt_topo *topo, const char *name,
			 size_t len)
{
	uint32_t most = *name == 'v' ? topo->servers : topo->switches;
	uint64_t number = 0;
	size_t i;

	if (topo->graph->name)
		return find_name(topo->graph, name, len);
	if (len < 2 || (*name != 'v' && *name != 'w'))
		return AGGT_NONE;
	for (i = 1; i < len; i++) {
		if (!isdigit((unsigned char)name[i]))
			return AGGT_NONE;
		number = number * 10 + (name[i] - '0');
		if (number >= most)
			return AGGT_NONE;
	}
	return number + (*name == 'w' ? topo->servers : 0);
}

uint32_t aggt_graph_find_link(const struct aggt_topo *topo, uint32_t a,
			      uint32_t b)
{
	const struct aggt_graph *graph = topo->graph;
	uint32_t i, least = a;

	if (aggt_graph_ports(graph, b) < aggt_graph_ports(graph, a)) {
		least = b;
		b = a;
	}
	for (i = graph->first[least]; i < graph->first[least + 1]; i++)
		if (graph->arc[i].to == b)
			return graph->arc[i].link;
	return AGGT_NONE;
}

static void search_clear(struct aggt_search *s)
{
	uint32_t i;

	for (i = 0; i < s->tail; i++)
		s->dist[s->queue[i]] = AGGT_NONE;
	s->root = AGGT_NONE;
	s->mixed = false;
	s->tail = 0;
	s->head = 0;
}

void aggt_graph_forget(struct aggt_graph *graph)
{
	search_clear(&graph->path);
	search_clear(&graph->hop);
}

static void search_from(struct aggt_search *s, uint32_t root)
{
	search_clear(s);
	s->root = root;
	s->dist[root] = 0;
	s->hops[root] = 0;
	s->width[root] = UINT64_MAX;
	s->via[root] = (struct aggt_arc){ root, AGGT_NONE };
	s->queue[s->tail++] = root;
}

/* The slowest link on the path through @at by a link of this rate. */
static uint64_t path_width(const struct aggt_search *s, uint32_t at,
			   uint64_t rate)
{
	return rate && rate < s->width[at] ? rate : s->width[at];
}

/* Reach the vertices behind @at, or reach them by a wider path. */
static void expand(const struct aggt_topo *topo, struct aggt_search *s,
		   uint32_t at)
{
	struct aggt_graph *graph = topo->graph;
	uint32_t i;

	graph->work += aggt_graph_ports(graph, at);
	for (i = graph->first[at]; i < graph->first[at + 1]; i++) {
		uint32_t to = graph->arc[i].to, link = graph->arc[i].link;
		uint64_t width = path_width(s, at, graph->link[link].rate);

		if (!aggt_arc_ok(topo, to, link))
			continue;
		if (s->dist[to] == AGGT_NONE) {
			s->dist[to] = s->dist[at] + 1;
			s->several[to] = false;
			s->queue[s->tail++] = to;
		} else if (s->dist[to] <= s->dist[at]) {
			continue;
		} else {
			s->several[to] = true;
			s->mixed |= s->width[to] != width;
			if (s->width[to] >= width)
				continue;
		}
		s->width[to] = width;
		s->hops[to] = s->hops[at] + (to < topo->servers);
		s->via[to] = (struct aggt_arc){ at, link };
	}
}

/* Search until the path from @from is known, or that there is none. */
static uint32_t search(const struct aggt_topo *topo, struct aggt_search *s,
		       uint32_t from, uint32_t root)
{
	if (s->root != root)
		search_from(s, root);
	while (s->head < s->tail &&
	       s->dist[s->queue[s->head]] < s->dist[from]) {
		uint32_t at = s->queue[s->head++];

		if (s->relay || at == root || at >= topo->servers)
			expand(topo, s, at);
	}
	return s->dist[from];
}

/* The search begins at @to, so it does not see that @to itself has failed. */
uint32_t aggt_graph_dist(const struct aggt_topo *topo, uint32_t from,
			 uint32_t to)
{
	if (!aggt_topo_server_ok(topo, to))
		return AGGT_NONE;
	return search(topo, &topo->graph->path, from, to);
}

uint32_t aggt_graph_up(const struct aggt_topo *topo, uint32_t from,
		       uint32_t to)
{
	search(topo, &topo->graph->path, from, to);
	return topo->graph->path.via[from].to;
}

/*
 * The links of a hop: of the shortest paths those whose slowest link is the
 * fastest, and of these the one that takes, from the end with the lower number
 * on, the links that were named first. A search from the end with the higher
 * number always tells it. One from the other end does as long as the paths that
 * it compared are alike; then it has found the same path first. So one search
 * serves all hops to a server, whatever their numbers are.
 *
 * Return: how many, 0 if it is not a hop.
 */
static uint32_t search_hop(const struct aggt_topo *topo, uint32_t from,
			   uint32_t to)
{
	struct aggt_search *s = &topo->graph->hop;
	uint32_t root = s->root == from ? from : to;
	uint32_t leaf = root == from ? to : from, links;

	if (!aggt_topo_server_ok(topo, from) || !aggt_topo_server_ok(topo, to))
		return 0;
	links = search(topo, s, leaf, root);
	if (s->mixed && root < leaf)
		links = search(topo, s, root, leaf);
	return links == AGGT_NONE ? 0 : links;
}

/*
 * The first vertex that is nearer to the root of a search, on a path without a
 * link slower than @width.
 */
static uint32_t first_up(const struct aggt_topo *topo,
			 const struct aggt_search *s, uint32_t at,
			 uint64_t width)
{
	const struct aggt_graph *graph = topo->graph;
	uint32_t i;

	for (i = graph->first[at]; s->several[at] && i < graph->first[at + 1];
	     i++) {
		uint32_t to = graph->arc[i].to, link = graph->arc[i].link;

		if ((to == s->root || to >= topo->servers) &&
		    s->dist[to] == s->dist[at] - 1 &&
		    path_width(s, to, graph->link[link].rate) >= width &&
		    aggt_arc_ok(topo, at, link))
			return to;
	}
	return s->via[at].to;
}

/* Vertex number @i after @from on its hop to @to. */
static uint32_t hop_vertex(const struct aggt_topo *topo, uint32_t from,
			   uint32_t to, uint32_t i)
{
	const struct aggt_search *s = &topo->graph->hop;
	uint32_t low = from < to ? from : to, high = from < to ? to : from;
	uint32_t links = search_hop(topo, from, to), at;

	/* From the leaf to the root of the search. */
	if (s->root == from)
		i = links - i;
	if (s->root == high)
		for (at = low; i; i--)
			at = first_up(topo, s, at, s->width[low]);
	else
		for (at = high; i; i--)
			at = s->via[at].to;
	return at;
}

aggt_code aggt_graph_encode(const struct aggt_topo *topo, aggt_node server)
{
	(void)topo;
	return server;
}

uint32_t aggt_graph_decode(const struct aggt_topo *topo, aggt_code point)
{
	(void)topo;
	return (uint32_t)point;
}

uint32_t aggt_graph_neighbours(const struct aggt_topo *topo, aggt_code at,
			       aggt_code *list)
{
	struct aggt_search *s = &topo->graph->hop;
	uint32_t i, n = 0;

	search_from(s, (uint32_t)at);
	while (s->head < s->tail) {
		uint32_t next = s->queue[s->head++];

		if (next == at || next >= topo->servers)
			expand(topo, s, next);
	}
	for (i = 1; i < s->tail; i++) {
		if (s->queue[i] >= topo->servers)
			continue;
		if (list)
			list[n] = s->queue[i];
		n++;
	}
	return n;
}

uint32_t aggt_graph_distance(const struct aggt_topo *topo, aggt_code from,
			     aggt_code to)
{
	if (aggt_graph_dist(topo, (uint32_t)from, (uint32_t)to) == AGGT_NONE)
		return AGGT_NONE;
	/* The root counts none, so each point but the first is counted. */
	return topo->graph->path.hops[from];
}

uint32_t aggt_graph_path_links(const struct aggt_topo *topo, aggt_code from,
			       aggt_code to)
{
	return aggt_graph_dist(topo, (uint32_t)from, (uint32_t)to);
}

aggt_code aggt_graph_next_hop(const struct aggt_topo *topo, aggt_code from,
			      aggt_code to)
{
	uint32_t at = (uint32_t)from;

	if (aggt_graph_dist(topo, at, (uint32_t)to) == AGGT_NONE)
		return to;
	do {
		at = topo->graph->path.via[at].to;
	} while (at >= topo->servers);
	return at;
}

uint32_t aggt_graph_hop_links(const struct aggt_topo *topo, aggt_code from,
			      aggt_code to)
{
	return search_hop(topo, (uint32_t)from, (uint32_t)to);
}

uint64_t aggt_graph_hop_link(const struct aggt_topo *topo, aggt_code from,
			     aggt_code to, uint32_t i, bool *back)
{
	uint32_t a = hop_vertex(topo, (uint32_t)from, (uint32_t)to, i);
	uint32_t b = hop_vertex(topo, (uint32_t)from, (uint32_t)to, i + 1);

	if (back)
		*back = a > b;
	return aggt_graph_find_link(topo, a, b);
}

uint32_t aggt_graph_switch_between(const struct aggt_topo *topo,
				   aggt_code from, aggt_code to, uint32_t i)
{
	if (i + 1 >= search_hop(topo, (uint32_t)from, (uint32_t)to))
		return AGGT_NONE;
	return hop_vertex(topo, (uint32_t)from, (uint32_t)to, i + 1) -
	       topo->servers;
}

uint32_t aggt_graph_port_of(const struct aggt_graph *graph, uint32_t vertex,
			    uint32_t link)
{
	uint32_t i;

	for (i = graph->first[vertex]; graph->arc[i].link != link; i++)
		;
	return i - graph->first[vertex];
}

/*
 * The search begins at the switch, so one serves all servers; of several
 * shortest paths it takes the links that were named first, as hops do from
 * their end with the lower number.
 */
uint32_t aggt_graph_forward(const struct aggt_topo *topo, uint32_t sw,
			    aggt_node server, unsigned int port)
{
	const struct aggt_graph *graph = topo->graph;
	const struct aggt_arc *last = &graph->arc[graph->first[server] + port];
	struct aggt_search *s = &topo->graph->hop;
	uint32_t from = topo->servers + sw, at = last->to;

	if (at == from)
		return aggt_graph_port_of(graph, from, last->link);
	if (at < topo->servers || search(topo, s, at, from) == AGGT_NONE)
		return AGGT_NONE;
	while (s->via[at].to != from)
		at = s->via[at].to;
	return aggt_graph_port_of(graph, from, s->via[at].link);
}

uint32_t aggt_graph_port(const struct aggt_topo *topo, aggt_code from,
			 aggt_code to)
{
	const struct aggt_graph *graph = topo->graph;
	uint32_t i, next;

	if (from == to || !search_hop(topo, (uint32_t)from, (uint32_t)to))
		return AGGT_NONE;
	next = hop_vertex(topo, (uint32_t)from, (uint32_t)to, 1);
	for (i = graph->first[from]; graph->arc[i].to != next; i++)
		;
	return i - graph->first[from];
}
