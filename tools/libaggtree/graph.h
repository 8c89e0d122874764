/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Topologies without digits: a graph of servers, switches and links, and the
 * answers of struct aggt_topo_ops that follow from it.
 */
#ifndef AGGT_GRAPH_H
#define AGGT_GRAPH_H

#include "internal.h"

/** AGGT_GRAPH_VERTICES - most servers and switches of a graph. */
#define AGGT_GRAPH_VERTICES 200000u

/** AGGT_GRAPH_LINKS - most links of a graph. */
#define AGGT_GRAPH_LINKS 2000000u

/** AGGT_GRAPH_PORTS - most links of a server. */
#define AGGT_GRAPH_PORTS AGGT_MAX_DIMS

/**
 * struct aggt_link - a link
 * @end: its vertices: servers by their numbers, switches behind all servers
 * @rate: bit/s, 0 if unknown
 */
struct aggt_link {
	uint32_t end[2];
	uint64_t rate;
};

/** struct aggt_arc - a link seen from one of its ends. */
struct aggt_arc {
	uint32_t to;
	uint32_t link;
};

/**
 * struct aggt_search - shortest paths from all vertices to one
 * @root: that one, AGGT_NONE before the first search
 * @relay: paths may lead through servers, not only through switches
 * @dist: by vertex: links to the root, AGGT_NONE if not reached
 * @hops: by vertex: points passed on the path
 * @via: by vertex: the arc's vertex and link that come next
 * @width: by vertex: the slowest rate on the path
 * @several: by vertex: more than one arc leads nearer to the root
 * @mixed: two paths to a vertex had different slowest links
 * @queue: vertices in the order in which they were reached
 * @head: those before it have been expanded
 * @tail: where the next vertex goes
 *
 * A search goes only as far as it was asked and is resumed from there. Of two
 * shortest paths the one whose slowest link is faster is taken, then the one
 * that was found first.
 */
struct aggt_search {
	uint32_t root;
	bool relay;
	uint32_t *dist;
	uint32_t *hops;
	struct aggt_arc *via;
	uint64_t *width;
	bool *several;
	bool mixed;
	uint32_t *queue;
	uint32_t head;
	uint32_t tail;
};

/**
 * struct aggt_graph - the vertices and links of a topology
 * @n: vertices
 * @link: links
 * @n_links: how many
 * @room: of @link
 * @fastest: the highest rate of a link, 0 if none is known
 * @first: by vertex: index of its first arc, and behind the last one
 * @arc: links by vertex, the ports of a vertex in the order of the links
 * @name: by vertex, NULL if they are vN and wN
 * @by_name: vertices in the order of their names
 * @line: by vertex: number of the line that named it
 * @path: the search that next hops are taken from
 * @hop: the search that links of hops are taken from
 * @work: arcs that searches have looked at
 */
struct aggt_graph {
	uint32_t n;
	struct aggt_link *link;
	uint32_t n_links;
	uint32_t room;
	uint64_t fastest;
	uint32_t *first;
	struct aggt_arc *arc;
	char **name;
	uint32_t *by_name;
	unsigned int *line;
	struct aggt_search path;
	struct aggt_search hop;
	uint64_t work;
};

/**
 * aggt_graph_start - begin the graph of a topology
 * @topo: gets the graph and the numbers of servers and switches
 * @servers: how many
 * @switches: how many
 * @err: too many, or no memory
 *
 * Return: 0 or -1.
 */
int aggt_graph_start(struct aggt_topo *topo, uint64_t servers,
		     uint64_t switches, struct aggt_err *err);

/** aggt_graph_link - add a link of two vertices. Return: 0 or -1. */
int aggt_graph_link(struct aggt_topo *topo, uint32_t a, uint32_t b,
		    uint64_t rate, struct aggt_err *err);

/** aggt_graph_finish - no link follows. Return: 0 or -1. */
int aggt_graph_finish(struct aggt_topo *topo, struct aggt_err *err);
void aggt_graph_free(struct aggt_graph *graph);

/** aggt_graph_forget - a part has failed since the last search. */
void aggt_graph_forget(struct aggt_graph *graph);

/**
 * aggt_graph_find - find a vertex by its name
 * @topo: the topology
 * @name: not terminated
 * @len: its length
 *
 * Return: the vertex or AGGT_NONE.
 */
uint32_t aggt_graph_find(const struct aggt_topo *topo, const char *name,
			 size_t len);

/** aggt_graph_find_link - Return: the link of two vertices or AGGT_NONE. */
uint32_t aggt_graph_find_link(const struct aggt_topo *topo, uint32_t a,
			      uint32_t b);

/**
 * aggt_graph_named_links - find links by the names of their ends
 * @topo: the topology
 * @text: the names of two ends with a dash between them
 * @first: the end that is named first
 * @link: the link's number
 *
 * Return: how many links @text can name, because names may have dashes, too.
 */
unsigned int aggt_graph_named_links(const struct aggt_topo *topo,
				    const char *text, uint32_t *first,
				    uint32_t *link);

/** aggt_graph_ports - links of a vertex. */
static inline uint32_t aggt_graph_ports(const struct aggt_graph *graph,
					uint32_t vertex)
{
	return graph->first[vertex + 1] - graph->first[vertex];
}

/** aggt_graph_dist - links from a vertex to a server, AGGT_NONE: no path. */
uint32_t aggt_graph_dist(const struct aggt_topo *topo, uint32_t from,
			 uint32_t to);

/**
 * aggt_graph_up - the vertex after @from on the path to a server
 * @topo: the topology
 * @from: any vertex from which there is a path
 * @to: the server
 */
uint32_t aggt_graph_up(const struct aggt_topo *topo, uint32_t from,
		       uint32_t to);

/** aggt_graph_port_of - number of a link among the links of one of its ends. */
uint32_t aggt_graph_port_of(const struct aggt_graph *graph, uint32_t vertex,
			    uint32_t link);

/** aggt_graph_forward - aggt_topo_forward() of a graph. */
uint32_t aggt_graph_forward(const struct aggt_topo *topo, uint32_t sw,
			    aggt_node server, unsigned int port);

aggt_code aggt_graph_encode(const struct aggt_topo *topo, aggt_node server);
uint32_t aggt_graph_decode(const struct aggt_topo *topo, aggt_code point);
uint32_t aggt_graph_neighbours(const struct aggt_topo *topo, aggt_code at,
			       aggt_code *list);
uint32_t aggt_graph_distance(const struct aggt_topo *topo, aggt_code from,
			     aggt_code to);
uint32_t aggt_graph_path_links(const struct aggt_topo *topo, aggt_code from,
			       aggt_code to);
aggt_code aggt_graph_next_hop(const struct aggt_topo *topo, aggt_code from,
			      aggt_code to);
uint32_t aggt_graph_hop_links(const struct aggt_topo *topo, aggt_code from,
			      aggt_code to);
uint64_t aggt_graph_hop_link(const struct aggt_topo *topo, aggt_code from,
			     aggt_code to, uint32_t i, bool *back);
uint32_t aggt_graph_switch_between(const struct aggt_topo *topo,
				   aggt_code from, aggt_code to, uint32_t i);
uint32_t aggt_graph_port(const struct aggt_topo *topo, aggt_code from,
			 aggt_code to);

/* The operations of a kind that is nothing but its graph. */
#define AGGT_GRAPH_OPS					\
	.encode = aggt_graph_encode,			\
	.decode = aggt_graph_decode,			\
	.neighbours = aggt_graph_neighbours,		\
	.distance = aggt_graph_distance,		\
	.path_links = aggt_graph_path_links,		\
	.next_hop = aggt_graph_next_hop,		\
	.hop_links = aggt_graph_hop_links,		\
	.hop_link = aggt_graph_hop_link,		\
	.switch_between = aggt_graph_switch_between,	\
	.port = aggt_graph_port

#endif /* AGGT_GRAPH_H */
