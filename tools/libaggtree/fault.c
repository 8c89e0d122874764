// SPDX-License-Identifier: GPL-2.0
/* Failed or missing parts of a topology: servers, switches, links. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* Kinds of keys in topo->fault. */
#define FAULT_SERVER	0
#define FAULT_SWITCH	1
#define FAULT_LINK	2	/* and upwards: the dimension is added; in a
				 * graph it is the link's number
				 */

/**
 * struct part - a part of a topology
 * @number: of the server, switch or link
 * @kind: FAULT_*
 */
struct part {
	uint64_t number;
	unsigned int kind;
};

static bool has_fault(const struct aggt_topo *topo, uint64_t number,
		      unsigned int kind)
{
	return topo->fault.n &&
	       aggt_map_get(&topo->fault, aggt_tag(number, kind)) != AGGT_NONE;
}

bool aggt_topo_server_ok(const struct aggt_topo *topo, aggt_node server)
{
	if (!topo->fault.n)
		return true;
	return !has_fault(topo, server, FAULT_SERVER) &&
	       (!topo->agents || !has_fault(topo, server / topo->per_point,
					    FAULT_SWITCH));
}

bool aggt_point_ok(const struct aggt_topo *topo, aggt_code code)
{
	aggt_node first;
	uint32_t i;

	if (!topo->fault.n)
		return true;
	first = aggt_decode(topo, code) * topo->per_point;
	for (i = 0; i < topo->per_point; i++)
		if (aggt_topo_server_ok(topo, first + i))
			return true;
	return false;
}

bool aggt_arc_ok(const struct aggt_topo *topo, uint32_t vertex, uint32_t link)
{
	if (!topo->fault.n)
		return true;
	if (has_fault(topo, link, FAULT_LINK))
		return false;
	if (vertex < topo->servers)
		return !has_fault(topo, vertex, FAULT_SERVER);
	return !has_fault(topo, vertex - topo->servers, FAULT_SWITCH);
}

bool aggt_hop_ok(const struct aggt_topo *topo, aggt_code from, aggt_code to)
{
	uint32_t a, b, dim;

	if (!topo->fault.n)
		return true;
	if (!aggt_point_ok(topo, from) || !aggt_point_ok(topo, to))
		return false;
	if (topo->graph)
		return aggt_hop_links(topo, from, to);
	a = aggt_decode(topo, from);
	b = aggt_decode(topo, to);
	if (topo->agents)
		return !has_fault(topo, aggt_trunk(topo, a, b), FAULT_LINK);
	dim = aggt_topo_link_dim(topo, a, b);
	return !has_fault(topo, a, FAULT_LINK + dim) &&
	       !has_fault(topo, b, FAULT_LINK + dim) &&
	       !has_fault(topo, aggt_topo_switch(topo, a, dim), FAULT_SWITCH);
}

bool aggt_topo_link_ok(const struct aggt_topo *topo, aggt_node server,
		       unsigned int dim)
{
	return !has_fault(topo, server, FAULT_LINK + dim) &&
	       !has_fault(topo, aggt_topo_switch(topo, server, dim),
			  FAULT_SWITCH);
}

static uint32_t parse_switch(const struct aggt_topo *topo, const char *text,
			     struct aggt_err *err)
{
	unsigned long number = 0;
	char *end = NULL;

	if (*text)
		number = strtoul(text + 1, &end, 10);
	if (*text != 'w' || !isdigit((unsigned char)text[1]) || *end) {
		aggt_err_set(err, "failed %.64s: expected vN, wN or vN-wN",
			     text);
		return AGGT_NONE;
	}
	if (number >= topo->switches) {
		aggt_err_set(err, "switch %.64s: %s has w0..w%u", text,
			     topo->name, topo->switches - 1);
		return AGGT_NONE;
	}
	return number;
}

/* The two ends of a link, text up to the dash and behind it. */
static int parse_ends(const struct aggt_topo *topo, const char *text,
		      uint32_t *a, uint32_t *b, struct aggt_err *err)
{
	const char *dash = strchr(text, '-');
	char first[32];

	if ((size_t)(dash - text) >= sizeof(first)) {
		aggt_err_set(err, "link %.64s: expected vN-wN or wN-wN",
			     text);
		return -1;
	}
	memcpy(first, text, dash - text);
	first[dash - text] = 0;
	*a = *first == 'w' ? parse_switch(topo, first, err) :
			     aggt_server_parse(topo, first, err);
	if (*a == AGGT_NONE)
		return -1;
	*b = parse_switch(topo, dash + 1, err);
	return *b == AGGT_NONE ? -1 : 0;
}

static int no_link(const char *text, struct aggt_err *err)
{
	aggt_err_set(err, "link %.64s: there is no such link", text);
	return -1;
}

unsigned int aggt_graph_named_links(const struct aggt_topo *topo,
				    const char *text, uint32_t *first,
				    uint32_t *link)
{
	unsigned int found = 0;
	uint32_t a, b, number;
	const char *dash;

	for (dash = strchr(text, '-'); dash; dash = strchr(dash + 1, '-')) {
		a = aggt_graph_find(topo, text, dash - text);
		b = aggt_graph_find(topo, dash + 1, strlen(dash + 1));
		if (a == AGGT_NONE || b == AGGT_NONE)
			continue;
		number = aggt_graph_find_link(topo, a, b);
		if (number == AGGT_NONE)
			continue;
		*first = a;
		*link = number;
		found++;
	}
	return found;
}

/* The server of a graph and its port to the other end of a link. */
static aggt_node parse_port(const struct aggt_topo *topo, const char *text,
			    unsigned int *port, struct aggt_err *err)
{
	const struct aggt_graph *graph = topo->graph;
	uint32_t i, server, link;
	unsigned int found;

	found = aggt_graph_named_links(topo, text, &server, &link);
	if (found > 1) {
		aggt_err_set(err, "link %.64s: names two links", text);
		return AGGT_NONE;
	}
	if (!found || server >= topo->servers) {
		aggt_err_set(err, "link %.64s: there is no such link of a server",
			     text);
		return AGGT_NONE;
	}
	for (i = graph->first[server]; graph->arc[i].link != link; i++)
		;
	*port = i - graph->first[server];
	return server;
}

aggt_node aggt_link_parse(const struct aggt_topo *topo, const char *text,
			  unsigned int *dim, struct aggt_err *err)
{
	uint32_t server, sw;

	if (topo->graph)
		return parse_port(topo, text, dim, err);
	if (parse_ends(topo, text, &server, &sw, err))
		return AGGT_NONE;
	*dim = aggt_topo_switch_level(topo, sw);
	if (*text != 'w' && aggt_topo_switch(topo, server, *dim) == sw)
		return server;
	no_link(text, err);
	return AGGT_NONE;
}

static int find_trunk(const struct aggt_topo *topo, const char *text,
		      struct part *part, struct aggt_err *err)
{
	uint32_t a, b;

	if (parse_ends(topo, text, &a, &b, err))
		return -1;
	if (!topo->agents || a == b ||
	    aggt_topo_link_dim(topo, a * topo->per_point,
			       b * topo->per_point) == AGGT_NONE)
		return no_link(text, err);
	*part = (struct part){ aggt_trunk(topo, a, b), FAULT_LINK };
	return 0;
}

static int find_link(const struct aggt_topo *topo, const char *text,
		     struct part *part, struct aggt_err *err)
{
	unsigned int dim;
	aggt_node server;

	if (*text == 'w')
		return find_trunk(topo, text, part, err);
	server = aggt_link_parse(topo, text, &dim, err);
	if (server == AGGT_NONE)
		return -1;
	/*
	 * A server with an agent has only this link: without it the server has
	 * failed.
	 */
	*part = (struct part){ server, topo->agents ? FAULT_SERVER :
						      FAULT_LINK + dim };
	return 0;
}

static struct part vertex(const struct aggt_topo *topo, uint32_t number)
{
	if (number < topo->servers)
		return (struct part){ number, FAULT_SERVER };
	return (struct part){ number - topo->servers, FAULT_SWITCH };
}

static int find_in_graph(const struct aggt_topo *topo, const char *text,
			 struct part *part, struct aggt_err *err)
{
	uint32_t first, link, number = aggt_graph_find(topo, text,
						       strlen(text));
	unsigned int found = aggt_graph_named_links(topo, text, &first, &link);

	if (found > 1) {
		aggt_err_set(err, "failed %.64s: names two links", text);
		return -1;
	}
	if (found && number != AGGT_NONE) {
		aggt_err_set(err, "failed %.64s: names a %s and a link", text,
			     number < topo->servers ? "host" : "switch");
		return -1;
	}
	if (!found && number == AGGT_NONE) {
		aggt_err_set(err, "failed %.64s: %s has no such server, switch or link",
			     text, topo->name);
		return -1;
	}
	*part = found ? (struct part){ link, FAULT_LINK } :
			vertex(topo, number);
	return 0;
}

static int find_part(const struct aggt_topo *topo, const char *text,
		     struct part *part, struct aggt_err *err)
{
	uint32_t number;

	if (topo->graph)
		return find_in_graph(topo, text, part, err);
	if (strchr(text, '-'))
		return find_link(topo, text, part, err);
	if (*text == 'w')
		number = parse_switch(topo, text, err);
	else
		number = aggt_server_parse(topo, text, err);
	if (number == AGGT_NONE)
		return -1;
	*part = (struct part){ number, *text == 'w' ? FAULT_SWITCH :
						      FAULT_SERVER };
	return 0;
}

static void name_ends(char *name, struct aggt_label a, struct aggt_label b)
{
	snprintf(name, AGGT_PART, "%s-%s", a.text, b.text);
}

static struct aggt_label vertex_label(const struct aggt_topo *topo,
				      uint32_t number)
{
	return number < topo->servers ?
	       aggt_label(topo, number) :
	       aggt_switch_label(topo, number - topo->servers);
}

/* The lower end first, unless that names another part, too. */
static void name_arc(const struct aggt_topo *topo, const uint32_t *end,
		     char *name)
{
	bool back = end[0] > end[1];
	struct aggt_label low = vertex_label(topo, end[back]);
	struct aggt_label high = vertex_label(topo, end[!back]);
	struct part part;

	name_ends(name, low, high);
	if (find_in_graph(topo, name, &part, NULL))
		name_ends(name, high, low);
}

static void name_link(const struct aggt_topo *topo, const struct part *part,
		      char *name)
{
	unsigned int dim = part->kind - FAULT_LINK;
	uint32_t number = (uint32_t)part->number;

	if (topo->graph)
		name_arc(topo, topo->graph->link[number].end, name);
	else if (topo->agents)
		name_ends(name,
			  aggt_switch_label(topo, part->number / topo->points),
			  aggt_switch_label(topo, part->number % topo->points));
	else
		name_ends(name, aggt_label(topo, number),
			  aggt_switch_label(topo, aggt_topo_switch(topo, number,
							      dim)));
}

void aggt_port_name(const struct aggt_topo *topo, aggt_node server,
		    unsigned int dim, char *name)
{
	const struct aggt_graph *graph = topo->graph;

	if (graph)
		name_ends(name, aggt_label(topo, server),
			  vertex_label(topo, graph->arc[graph->first[server] +
							dim].to));
	else
		name_ends(name, aggt_label(topo, server),
			  aggt_switch_label(topo, aggt_topo_switch(topo, server,
								   dim)));
}

int aggt_part_name(const struct aggt_topo *topo, const char *text, char *name,
		   struct aggt_err *err)
{
	struct part part;

	if (find_part(topo, text, &part, err))
		return -1;
	if (part.kind == FAULT_SERVER)
		strcpy(name, aggt_label(topo, (aggt_node)part.number).text);
	else if (part.kind == FAULT_SWITCH)
		strcpy(name, aggt_switch_label(topo, (uint32_t)part.number).text);
	else
		name_link(topo, &part, name);
	return 0;
}

bool aggt_topo_failed(const struct aggt_topo *topo, const char *text)
{
	struct part part;

	return !find_part(topo, text, &part, NULL) &&
	       has_fault(topo, part.number, part.kind);
}

int aggt_topo_fail(struct aggt_topo *topo, const char *text,
		   struct aggt_err *err)
{
	struct part part;
	uint32_t *slot;

	if (find_part(topo, text, &part, err))
		return -1;
	slot = aggt_map_slot(&topo->fault, aggt_tag(part.number, part.kind));
	if (!slot) {
		aggt_err_nomem(err);
		return -1;
	}
	if (*slot != AGGT_NONE) {
		aggt_err_set(err, "failed %.64s: named twice", text);
		return -1;
	}
	*slot = 0;
	if (topo->graph)
		aggt_graph_forget(topo->graph);
	return 0;
}
