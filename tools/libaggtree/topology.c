// SPDX-License-Identifier: GPL-2.0
/* Topologies of all kinds: their names, and the functions of each kind. */
#include <ctype.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "graph.h"

int aggt_parse_numbers(const char *text, uint32_t *number, unsigned int room,
		       const char **end)
{
	unsigned int n = 0;
	char *stop;

	for (;;) {
		unsigned long value;

		if (!isdigit((unsigned char)*text) || n == room)
			return -1;
		value = strtoul(text, &stop, 10);
		if (value > UINT32_MAX)
			return -1;
		number[n++] = value;
		if (*stop != ',')
			break;
		text = stop + 1;
	}
	if (end)
		*end = stop;
	else if (*stop)
		return -1;
	return n;
}

static const struct aggt_topo_ops *const kinds[] = {
	&aggt_bcube_ops, &aggt_ghc_ops, &aggt_fbfly_ops, &aggt_hyperx_ops,
	&aggt_camcube_ops, &aggt_dcell_ops, &aggt_leafspine_ops,
	&aggt_fattree_ops, &aggt_racks_ops,
};

/* The kind of @text, and the text after the colon. */
static const struct aggt_topo_ops *find_kind(const char *text,
					     const char **args)
{
	size_t i, len = strcspn(text, ":");

	for (i = 0; i < ARRAY_SIZE(kinds) && text[len]; i++) {
		if (strlen(kinds[i]->kind) != len ||
		    strncmp(kinds[i]->kind, text, len))
			continue;
		*args = text + len + 1;
		return kinds[i];
	}
	return NULL;
}

static void unknown_kind(const char *text, struct aggt_err *err)
{
	char forms[sizeof(err->text)] = "";
	size_t i, n = ARRAY_SIZE(kinds), len = 0;

	for (i = 0; i < n && len < sizeof(forms); i++)
		len += snprintf(forms + len, sizeof(forms) - len, "%s%s",
				!i ? "" : i + 1 < n ? ", " : " or ",
				kinds[i]->form);
	aggt_err_set(err, "topology %.64s: expected %s", text, forms);
}

struct aggt_topo *aggt_topo_new(const struct aggt_topo_ops *ops,
				const char *args, struct aggt_err *err)
{
	struct aggt_topo *topo = calloc(1, sizeof(*topo));

	if (!topo) {
		aggt_err_nomem(err);
		return NULL;
	}
	topo->ops = ops;
	topo->per_point = 1;
	if (ops->parse(topo, args, err)) {
		aggt_topo_free(topo);
		return NULL;
	}
	if (aggt_map_init(&topo->fault, 0) ||
	    aggt_map_init(&topo->address, 0)) {
		aggt_err_nomem(err);
		aggt_topo_free(topo);
		return NULL;
	}
	return topo;
}

struct aggt_topo *aggt_topo_parse(const char *text, struct aggt_err *err)
{
	const struct aggt_topo_ops *ops;
	const char *args;

	ops = find_kind(text, &args);
	if (ops)
		return aggt_topo_new(ops, args, err);
	unknown_kind(text, err);
	return NULL;
}

void aggt_topo_free(struct aggt_topo *topo)
{
	if (!topo)
		return;
	aggt_map_free(&topo->fault);
	aggt_map_free(&topo->address);
	aggt_graph_free(topo->graph);
	free(topo->text);
	free(topo);
}

uint64_t aggt_topo_rate(const struct aggt_topo *topo)
{
	return topo->graph ? topo->graph->fastest : 0;
}

const char *aggt_topo_server_name(const struct aggt_topo *topo,
				  aggt_node server)
{
	return topo->graph && topo->graph->name ? topo->graph->name[server] :
						  NULL;
}

const char *aggt_topo_switch_name(const struct aggt_topo *topo, uint32_t sw)
{
	return topo->graph && topo->graph->name ?
	       topo->graph->name[topo->servers + sw] : NULL;
}

static struct aggt_label label_of(const char *name, char letter,
				  uint32_t number)
{
	struct aggt_label label;

	if (name)
		snprintf(label.text, sizeof(label.text), "%s", name);
	else
		snprintf(label.text, sizeof(label.text), "%c%u", letter, number);
	return label;
}

struct aggt_label aggt_label(const struct aggt_topo *topo, aggt_node server)
{
	return label_of(aggt_topo_server_name(topo, server), 'v', server);
}

struct aggt_label aggt_switch_label(const struct aggt_topo *topo, uint32_t sw)
{
	return label_of(aggt_topo_switch_name(topo, sw), 'w', sw);
}

const char *aggt_topo_name(const struct aggt_topo *topo)
{
	return topo->name;
}

uint32_t aggt_topo_servers(const struct aggt_topo *topo)
{
	return topo->servers;
}

uint32_t aggt_topo_switches(const struct aggt_topo *topo)
{
	return topo->switches;
}

bool aggt_topo_agents(const struct aggt_topo *topo)
{
	return topo->agents;
}

bool aggt_topo_digits(const struct aggt_topo *topo)
{
	return !topo->graph;
}

unsigned int aggt_topo_ports(const struct aggt_topo *topo, aggt_node server)
{
	if (topo->graph)
		return aggt_graph_ports(topo->graph, server);
	return topo->agents ? 1 : topo->dims;
}

aggt_node *aggt_topo_neighbours(const struct aggt_topo *topo, uint32_t point,
				size_t *n)
{
	aggt_code at = aggt_encode(topo, point * topo->per_point), *code;
	aggt_node *list;
	size_t i;

	*n = topo->ops->neighbours(topo, at, NULL);
	code = malloc((*n + 1) * sizeof(*code));
	list = malloc((*n + 1) * sizeof(*list));
	if (code && list)
		topo->ops->neighbours(topo, at, code);
	for (i = 0; code && list && i < *n; i++)
		list[i] = aggt_decode(topo, code[i]);
	if (!code) {
		free(list);
		list = NULL;
	}
	free(code);
	return list;
}

aggt_code *aggt_path(const struct aggt_topo *topo, aggt_code from,
		     aggt_code to, unsigned int *n)
{
	unsigned int i;
	aggt_code *path;

	*n = topo->ops->distance(topo, from, to);
	if (*n == AGGT_NONE)
		*n = 1;
	path = malloc(((size_t)*n + 1) * sizeof(*path));
	for (i = 0; path && i < *n; i++)
		path[i] = from = topo->ops->next_hop(topo, from, to);
	return path;
}

uint32_t aggt_topo_hop_links(const struct aggt_topo *topo, uint32_t a,
			     uint32_t b)
{
	return aggt_hop_links(topo, aggt_encode(topo, a * topo->per_point),
			      aggt_encode(topo, b * topo->per_point));
}

uint32_t aggt_topo_hop_switch(const struct aggt_topo *topo, uint32_t a,
			      uint32_t b, uint32_t i)
{
	return topo->ops->switch_between(topo,
				aggt_encode(topo, a * topo->per_point),
				aggt_encode(topo, b * topo->per_point), i);
}

unsigned int aggt_topo_distance(const struct aggt_topo *topo, aggt_node a,
				aggt_node b)
{
	return topo->ops->distance(topo, aggt_encode(topo, a),
				   aggt_encode(topo, b));
}

uint32_t aggt_topo_link_dim(const struct aggt_topo *topo, aggt_node a,
			    aggt_node b)
{
	return topo->ops->port(topo, aggt_encode(topo, a),
			       aggt_encode(topo, b));
}

aggt_node aggt_topo_next_hop(const struct aggt_topo *topo, aggt_node from,
			     aggt_node to)
{
	aggt_code at = aggt_encode(topo, from), end = aggt_encode(topo, to);

	if (at == end)
		return to;
	return aggt_decode(topo, topo->ops->next_hop(topo, at, end)) *
	       topo->per_point + from % topo->per_point;
}

aggt_code aggt_encode(const struct aggt_topo *topo, aggt_node server)
{
	return topo->ops->encode(topo, server);
}

uint32_t aggt_decode(const struct aggt_topo *topo, aggt_code code)
{
	return topo->ops->decode(topo, code);
}
