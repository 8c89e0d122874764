// SPDX-License-Identifier: GPL-2.0
/* A testbed of some plans: the nodes that their flows pass, and routes for those
 * nodes that talk to each other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "testbed/testbed.h"

/**
 * struct tb_part - the part of a topology that a testbed has
 * @server: servers, ascending
 * @n_servers: how many
 * @sw: switches, ascending
 * @n_switches: how many
 * @route: routes by server, then destination; empty if the part was read from a
 *	running testbed
 * @n_routes: how many
 * @room: of @server, @sw and @route, while they grow
 */
struct tb_part {
	uint32_t *server;
	size_t n_servers;
	uint32_t *sw;
	size_t n_switches;
	struct tb_route {
		aggt_node at;
		aggt_node to;
		aggt_node hop;
		uint32_t order;
	} *route;
	size_t n_routes;
	size_t room[3];
};

static void *grow(void *array, size_t n, size_t *room, size_t size)
{
	void *more;

	if (n < *room)
		return array;
	*room = 2 * *room + 64;
	more = realloc(array, *room * size);
	if (!more)
		err("out of memory");
	return more;
}

static int add_number(uint32_t **list, size_t *n, size_t *room, uint32_t number)
{
	uint32_t *more = grow(*list, *n, room, sizeof(*more));

	if (!more)
		return -1;
	*list = more;
	more[(*n)++] = number;
	return 0;
}

static int add_server(struct tb_part *part, aggt_node server)
{
	return add_number(&part->server, &part->n_servers, &part->room[0],
			  server);
}

static int add_switch(struct tb_part *part, uint32_t sw)
{
	return add_number(&part->sw, &part->n_switches, &part->room[1], sw);
}

static int add_route(struct tb_part *part, aggt_node at, aggt_node to,
		     aggt_node hop)
{
	struct tb_route *more = grow(part->route, part->n_routes,
				     &part->room[2], sizeof(*more));

	if (!more)
		return -1;
	part->route = more;
	more[part->n_routes] = (struct tb_route){
		.at = at, .to = to, .hop = hop,
		.order = (uint32_t)part->n_routes,
	};
	part->n_routes++;
	return 0;
}

/* --- reading plans ---------------------------------------------------------- */

/** struct edge - a hop of a tree, towards the receiver. */
struct edge {
	aggt_node child;
	aggt_node parent;
};

static int by_child(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->child < y->child ? -1 : x->child > y->child;
}

/* AGGT_NONE at the receiver. */
static aggt_node parent_of(const struct edge *edge, size_t n, aggt_node child)
{
	const struct edge key = { .child = child };
	const struct edge *found = bsearch(&key, edge, n, sizeof(key), by_child);

	return found ? found->parent : AGGT_NONE;
}

/*
 * From a server to all that its flow reaches, and back. A route that another tree
 * has set before is kept. No loop results: each path leads nearer to its end in one
 * tree, or into the path of an earlier tree.
 */
static int route_path(struct tb_part *part, const struct edge *edge, size_t n,
		      aggt_node from)
{
	aggt_node at = from, hop, first = parent_of(edge, n, from);
	size_t steps;

	for (steps = 0; steps <= n; steps++) {
		hop = parent_of(edge, n, at);
		if (hop == AGGT_NONE)
			return 0;
		if (add_route(part, from, hop, first) ||
		    add_route(part, hop, from, at))
			return -1;
		at = hop;
	}
	err("a tree of the plan has a cycle");
	return -1;
}

/* The switches that forward frames from a server to its neighbour. */
static int add_hop(struct tb_part *part, const struct aggt_topo *topo,
		   aggt_node from, aggt_node to)
{
	uint32_t level = aggt_topo_link_dim(topo, to, from), out;
	struct aggt_far far = aggt_topo_server_far(topo, from,
				aggt_topo_link_dim(topo, from, to));

	while (far.is_switch) {
		out = aggt_topo_forward(topo, far.number, to, level);
		if (out == AGGT_NONE) {
			err("%s: no way from switch %s to %s crosses switches only",
			    aggt_topo_name(topo),
			    addressing_name_switch(topo, far.number),
			    addressing_name_server(topo, to));
			return -1;
		}
		if (add_switch(part, far.number))
			return -1;
		far = aggt_topo_switch_far(topo, far.number, out);
	}
	return 0;
}

static int read_edge(struct tb_part *part, const struct aggt_topo *topo,
		     json_t *json, struct edge *edge)
{
	uint32_t servers = aggt_topo_servers(topo);
	json_int_t a, b;

	if (json_unpack(json, "[I, I]", &a, &b) || a < 0 || b < 0 ||
	    a >= servers || b >= servers ||
	    aggt_topo_link_dim(topo, (aggt_node)a, (aggt_node)b) == AGGT_NONE) {
		err("a tree of the plan has an edge that is not a hop of %s",
		    aggt_topo_name(topo));
		return -1;
	}
	edge->child = (aggt_node)a;
	edge->parent = (aggt_node)b;
	return add_server(part, edge->child) || add_server(part, edge->parent) ||
	       add_hop(part, topo, edge->child, edge->parent) ||
	       add_hop(part, topo, edge->parent, edge->child);
}

static int read_tree(struct tb_part *part, const struct aggt_topo *topo,
		     const json_t *tree)
{
	const json_t *edges = json_object_get(tree, "edges");
	size_t i, n = json_array_size(edges);
	struct edge *edge = calloc(n + 1, sizeof(*edge));
	int ret = edge ? 0 : -1;

	for (i = 0; !ret && i < n; i++)
		ret = read_edge(part, topo, json_array_get(edges, i), &edge[i]);
	if (edge)
		qsort(edge, n, sizeof(*edge), by_child);
	else
		err("out of memory");
	for (i = 0; !ret && i < n; i++)
		ret = route_path(part, edge, n, edge[i].child);
	free(edge);
	return ret;
}

static int check_same(const struct testbed *tb, const char *file,
		      const char *name, const char *text)
{
	if (strcmp(name, aggt_topo_name(tb->topo))) {
		err("%s: its topology is %s, that of the first plan is %s",
		    file, name, aggt_topo_name(tb->topo));
		return -1;
	}
	if (!addressing_same(name, text, tb->description)) {
		err("%s: its description is not that of the first plan", file);
		return -1;
	}
	return 0;
}

/* The topology of the first plan is that of the testbed. */
static int read_topology(struct testbed *tb, const char *file, const json_t *plan)
{
	const char *name = json_string_value(json_object_get(plan, "topology"));
	const char *text = json_string_value(json_object_get(plan, "description"));
	struct aggt_err why;

	if (!name || json_array_size(json_object_get(plan, "trees")) == 0) {
		err("%s: not a plan; 'aggctl -j plan' prints one", file);
		return -1;
	}
	if (tb->topo)
		return check_same(tb, file, name, text);
	if (text) {
		tb->description = strdup(text);
		if (!tb->description) {
			err("out of memory");
			return -1;
		}
	}
	tb->topo = text ? aggt_topo_describe(text, &why) :
			  aggt_topo_parse(name, &why);
	if (!tb->topo) {
		err("%s: %s", file, why.text);
		return -1;
	}
	return addressing_check(tb->topo, true);
}

static int read_plan(struct testbed *tb, const char *file)
{
	json_error_t error;
	json_t *plan = json_load_file(file, 0, &error);
	const json_t *tree;
	size_t i;
	int ret;

	if (!plan) {
		if (json_error_code(&error) == json_error_cannot_open_file)
			err("%s: %s", file, strerror(errno));
		else
			err("%s: line %d: %s", file, error.line, error.text);
		return -1;
	}
	ret = read_topology(tb, file, plan);
	json_array_foreach(json_object_get(plan, "trees"), i, tree)
		ret = ret || read_tree(tb->part, tb->topo, tree);
	json_decref(plan);
	return ret ? -1 : 0;
}

/* --- order ------------------------------------------------------------------ */

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static size_t sort_numbers(uint32_t *list, size_t n)
{
	size_t i, kept = 0;

	if (n)
		qsort(list, n, sizeof(*list), by_number);
	for (i = 0; i < n; i++)
		if (!kept || list[i] != list[kept - 1])
			list[kept++] = list[i];
	return kept;
}

static int by_route(const void *a, const void *b)
{
	const struct tb_route *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

static void sort_part(struct tb_part *part)
{
	struct tb_route *r = part->route;
	size_t i, kept = 0;

	part->n_servers = sort_numbers(part->server, part->n_servers);
	part->n_switches = sort_numbers(part->sw, part->n_switches);
	if (part->n_routes)
		qsort(r, part->n_routes, sizeof(*r), by_route);
	for (i = 0; i < part->n_routes; i++)
		if (!kept || r[i].at != r[kept - 1].at ||
		    r[i].to != r[kept - 1].to)
			r[kept++] = r[i];
	part->n_routes = kept;
}

/* The nodes of the part, and their ports of links that it has, need addresses. */
static int check_addresses(const struct testbed *tb)
{
	const struct tb_part *part = tb->part;
	unsigned int level, ports;
	struct tb_port port;
	size_t i;

	for (i = 0; i < part->n_servers; i++) {
		if (addressing_check_server(tb->topo, part->server[i]))
			return -1;
		ports = tb_ports(tb, false, part->server[i]);
		for (level = 0; level < ports; level++)
			if (tb_port(tb, false, part->server[i], level, &port) &&
			    addressing_check_port(tb->topo, port.node, level))
				return -1;
	}
	return 0;
}

/**
 * tb_part_read() - make a testbed have the nodes of some plans only
 * @tb: gets the topology of the plans, and the part; tb_free() frees both
 * @file: the plans; where several lead to a destination by different routes, the
 *	first one's routes are taken
 * @n: how many
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_part_read(struct testbed *tb, char **file, int n)
{
	tb->part = calloc(1, sizeof(*tb->part));
	if (!tb->part) {
		err("out of memory");
		return -1;
	}
	while (n--)
		if (read_plan(tb, *file++))
			return -1;
	sort_part(tb->part);
	return check_addresses(tb);
}

/**
 * tb_part_restore() - the part that a running testbed has
 * @tb: the testbed, its topology known
 * @nodes: of its state
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_part_restore(struct testbed *tb, const json_t *nodes)
{
	const json_t *node;
	const char *role;
	json_int_t number;
	int ret = 0;
	size_t i;

	tb->part = calloc(1, sizeof(*tb->part));
	if (!tb->part) {
		err("out of memory");
		return -1;
	}
	json_array_foreach(nodes, i, node) {
		if (json_unpack((json_t *)node, "{s:s, s:I}", "role", &role,
				"number", &number))
			continue;
		ret = ret || (!strcmp(role, "server") ?
			      add_server(tb->part, (aggt_node)number) :
			      add_switch(tb->part, (uint32_t)number));
	}
	sort_part(tb->part);
	return ret;
}

/* --- looking ---------------------------------------------------------------- */

void tb_free(struct testbed *tb)
{
	if (tb->part) {
		free(tb->part->server);
		free(tb->part->sw);
		free(tb->part->route);
	}
	free(tb->part);
	free(tb->description);
	free(tb->next_hop);
	aggt_topo_free(tb->topo);
}

uint32_t tb_servers(const struct testbed *tb)
{
	return tb->part ? (uint32_t)tb->part->n_servers :
			  aggt_topo_servers(tb->topo);
}

aggt_node tb_server(const struct testbed *tb, uint32_t index)
{
	return tb->part ? tb->part->server[index] : index;
}

uint32_t tb_switches(const struct testbed *tb)
{
	return tb->part ? (uint32_t)tb->part->n_switches :
			  aggt_topo_switches(tb->topo);
}

uint32_t tb_switch(const struct testbed *tb, uint32_t index)
{
	return tb->part ? tb->part->sw[index] : index;
}

uint32_t tb_index(const struct testbed *tb, bool is_switch, uint32_t node)
{
	const uint32_t *list, *found;
	size_t n;

	if (!tb->part)
		return node;
	list = is_switch ? tb->part->sw : tb->part->server;
	n = is_switch ? tb->part->n_switches : tb->part->n_servers;
	found = n ? bsearch(&node, list, n, sizeof(node), by_number) : NULL;
	return found ? (uint32_t)(found - list) : AGGT_NONE;
}

/**
 * tb_part_routes() - call a function for each route of a server
 * @tb: a testbed that has a part
 * @server: the server
 * @set: called with destination and next hop; an error ends the walk
 * @arg: for @set
 *
 * Return: 0, or what @set returned.
 */
int tb_part_routes(const struct testbed *tb, aggt_node server, tb_set_route set,
		   void *arg)
{
	const struct tb_part *part = tb->part;
	size_t low = 0, high = part->n_routes;
	int ret = 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (part->route[mid].at < server)
			low = mid + 1;
		else
			high = mid;
	}
	for (; !ret && low < part->n_routes && part->route[low].at == server; low++)
		ret = set(arg, part->route[low].to, part->route[low].hop);
	return ret;
}
