// SPDX-License-Identifier: GPL-2.0
/* Routes of a testbed: the usual ones, and those around failed parts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "netns.h"
#include "testbed/testbed.h"

/**
 * struct at_server - where routes are set
 * @topo: the topology
 * @r: batch in the namespace of the server
 * @server: the server
 * @what: what an error line calls them; NULL: they may be refused
 */
struct at_server {
	const struct aggt_topo *topo;
	struct rtnl *r;
	aggt_node server;
	const char *what;
};

/* Port of a server for packets to a neighbour, AGGT_NONE if it is not one. */
static uint32_t level_of(const struct aggt_topo *topo, aggt_node from,
			 aggt_node to)
{
	return aggt_topo_agents(topo) ? 0 : aggt_topo_link_dim(topo, from, to);
}

static int set_route(void *arg, aggt_node to, aggt_node hop)
{
	const struct at_server *at = arg;
	uint32_t own = level_of(at->topo, at->server, hop);
	uint32_t far = level_of(at->topo, hop, at->server);
	const struct tb_port port = {
		.node = at->server,
		.number = own,
		.far = aggt_topo_server_far(at->topo, at->server, own),
	};

	return rtnl_add(at->r,
			rtnl_msg_route(addressing_of_server(at->topo, to),
				       addressing_of_port(at->topo, hop, far),
				       tb_port_index(&port),
				       addressing_of_server(at->topo,
							    at->server),
				       !tb_has_subnets(at->topo)),
			at->what, to);
}

/**
 * tb_find_routes() - find the ways through a graph
 * @tb: the testbed, gets them
 *
 * A search finds the ways from all servers to one, so this is done once, not for each
 * server.
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_find_routes(struct testbed *tb)
{
	size_t n = aggt_topo_servers(tb->topo);
	aggt_node from, to;

	if (tb->part || aggt_topo_digits(tb->topo))
		return 0;
	tb->next_hop = malloc(n * n * sizeof(*tb->next_hop));
	if (!tb->next_hop) {
		err("out of memory");
		return -1;
	}
	for (to = 0; to < n; to++)
		for (from = 0; from < n; from++)
			tb->next_hop[from * n + to] = from == to ||
				aggt_topo_distance(tb->topo, from, to) ==
				AGGT_NONE ? AGGT_NONE :
				aggt_topo_next_hop(tb->topo, from, to);
	return 0;
}

/* Switches with links to each other let each server reach each other in a hop. */
static aggt_node usual_hop(const struct testbed *tb, aggt_node server,
			   aggt_node dst)
{
	size_t n = aggt_topo_servers(tb->topo);

	if (server == dst)
		return AGGT_NONE;
	if (tb->next_hop)
		return tb->next_hop[server * n + dst];
	return aggt_topo_agents(tb->topo) ? dst :
	       aggt_topo_next_hop(tb->topo, server, dst);
}

/**
 * tb_routes() - set the usual routes of a server in place of any others
 * @tb: the testbed
 * @r: a batch in the server's namespace
 * @server: number of the server
 *
 * In a testbed of plans these are the paths of the plans, both ways.
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_routes(const struct testbed *tb, struct rtnl *r, aggt_node server)
{
	struct at_server at = {
		.topo = tb->topo, .r = r, .server = server,
		.what = "route to v%u",
	};
	aggt_node dst, hop;

	if (tb->part)
		return tb_part_routes(tb, server, set_route, &at);
	for (dst = 0; dst < aggt_topo_servers(tb->topo); dst++) {
		hop = usual_hop(tb, server, dst);
		if (hop != AGGT_NONE && set_route(&at, dst, hop))
			return -1;
	}
	return 0;
}

/*
 * Packets of a planned link need a route to its neighbour. That to an identity is
 * there, and a subnet has its own.
 */
static int add_link_route(const struct testbed *tb, struct rtnl *r,
			  const struct tb_port *port, aggt_node other,
			  struct in_addr addr)
{
	if (tb_has_subnets(tb->topo) ||
	    addr.s_addr == addressing_of_server(tb->topo, other).s_addr)
		return 0;
	return rtnl_add(r, rtnl_msg_route(addr, addr, tb_port_index(port),
					  addressing_of_server(tb->topo,
							       port->node), true),
			"route to the port of v%u", other);
}

static int add_neighbour(const struct testbed *tb, struct rtnl *r,
			 aggt_node server, aggt_node other)
{
	unsigned int far = level_of(tb->topo, other, server);
	struct in_addr addr;
	struct tb_port port;
	uint8_t mac[6];

	if (other == server ||
	    level_of(tb->topo, server, other) == AGGT_NONE ||
	    !tb_port(tb, false, other, far, &port) ||
	    !tb_port(tb, false, server, level_of(tb->topo, server, other), &port))
		return 0;
	addr = addressing_of_port(tb->topo, other, far);
	addressing_of_mac(tb->topo, other, far, mac);
	if (add_link_route(tb, r, &port, other, addr))
		return -1;
	return rtnl_add(r, rtnl_msg_neigh(tb_port_index(&port), addr, mac),
			"neighbour v%u", other);
}

/**
 * tb_neighbours() - tell a server the hardware addresses of all its neighbours
 * @tb: the testbed
 * @r: a batch in the server's namespace, which has its ports
 * @server: number of the server
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_neighbours(const struct testbed *tb, struct rtnl *r, aggt_node server)
{
	bool all = aggt_topo_agents(tb->topo);
	size_t i, n = aggt_topo_servers(tb->topo);
	aggt_node *list = all ? NULL :
			  aggt_topo_neighbours(tb->topo, server, &n);
	int ret = 0;

	if (!all && !list) {
		err("out of memory");
		return -1;
	}
	for (i = 0; !ret && i < n; i++)
		ret = add_neighbour(tb, r, server, all ? (aggt_node)i : list[i]);
	free(list);
	return ret;
}

/**
 * struct reroute - paths to one server
 * @topo: the topology
 * @dist: hops of each server to the destination, AGGT_NONE: no path
 * @queue: servers in the order of their distance
 * @route: routes that differ from the usual ones
 * @n: how many
 * @room: size of @route
 */
struct reroute {
	const struct aggt_topo *topo;
	uint32_t *dist;
	aggt_node *queue;
	struct detour {
		aggt_node at;
		aggt_node to;
		aggt_node hop;
	} *route;
	size_t n;
	size_t room;
};

static bool hop_ok(const struct reroute *r, aggt_node a, aggt_node b,
		   unsigned int dim)
{
	return aggt_topo_server_ok(r->topo, a) &&
	       aggt_topo_server_ok(r->topo, b) &&
	       aggt_topo_link_ok(r->topo, a, dim) &&
	       aggt_topo_link_ok(r->topo, b, dim);
}

/* Servers that are one hop nearer to @at than their distance so far. */
static size_t look_around(struct reroute *r, aggt_node at, size_t tail)
{
	unsigned int dim, digit;
	aggt_node next;

	for (dim = 0; dim < aggt_topo_dims(r->topo); dim++) {
		for (digit = 0; digit < aggt_topo_radix(r->topo, dim);
		     digit++) {
			next = aggt_topo_with_digit(r->topo, at, dim, digit);
			if (r->dist[next] != AGGT_NONE ||
			    !hop_ok(r, at, next, dim))
				continue;
			r->dist[next] = r->dist[at] + 1;
			r->queue[tail++] = next;
		}
	}
	return tail;
}

static int add_detour(struct reroute *r, aggt_node at, aggt_node to,
		      aggt_node hop)
{
	struct detour *grown;

	if (r->n == r->room) {
		r->room = 2 * r->room + 64;
		grown = realloc(r->route, r->room * sizeof(*grown));
		if (!grown)
			return -1;
		r->route = grown;
	}
	r->route[r->n++] = (struct detour){ at, to, hop };
	return 0;
}

/*
 * The neighbour on a shortest path. AGGT_NONE: it is the usual one, and no
 * other was set before. If the path became longer, another neighbour may be
 * set, and a part of its path may have failed since.
 */
static aggt_node next_hop(const struct reroute *r, aggt_node at, aggt_node to)
{
	aggt_node usual = aggt_topo_next_hop(r->topo, at, to), next;
	unsigned int dim = aggt_topo_link_dim(r->topo, at, usual), digit;
	aggt_node found = AGGT_NONE;

	if (r->dist[usual] == r->dist[at] - 1 && hop_ok(r, at, usual, dim))
		return r->dist[at] == aggt_topo_distance(r->topo, at, to) ?
		       AGGT_NONE : usual;
	for (dim = 0; dim < aggt_topo_dims(r->topo); dim++) {
		for (digit = 0; digit < aggt_topo_radix(r->topo, dim);
		     digit++) {
			next = aggt_topo_with_digit(r->topo, at, dim, digit);
			if (next != at && r->dist[next] == r->dist[at] - 1 &&
			    hop_ok(r, at, next, dim))
				found = next;
		}
	}
	return found;
}

static int ways_to(struct reroute *r, aggt_node to)
{
	uint32_t servers = aggt_topo_servers(r->topo);
	size_t head = 0, tail = 1;
	aggt_node at, hop;

	memset(r->dist, 0xff, servers * sizeof(*r->dist));
	r->dist[to] = 0;
	r->queue[0] = to;
	while (head < tail)
		tail = look_around(r, r->queue[head++], tail);
	for (head = 1; head < tail; head++) {
		at = r->queue[head];
		hop = next_hop(r, at, to);
		if (hop != AGGT_NONE && add_detour(r, at, to, hop))
			return -1;
	}
	return 0;
}

static int by_place(const void *a, const void *b)
{
	const struct detour *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/*
 * Set all new routes of one server. A refused route uses a link that has just
 * gone down; when supervision finds that, it sets all routes again. Return: how
 * many, or -1
 */
static int set_routes(const struct reroute *r, const struct detour *route,
		      const struct detour *end)
{
	const char *name = addressing_server_name(route->at);
	struct at_server at = { .topo = r->topo, .server = route->at };
	const struct detour *d;
	int ret = 0;

	/* The server may have been deleted just now. */
	if (netns_enter(name))
		return netns_exists(name) ? -1 : 1;
	at.r = rtnl_open(name);
	if (!at.r)
		return -1;
	for (d = route; !ret && d < end && d->at == route->at; d++)
		ret = set_route(&at, d->to, d->hop);
	if (!ret)
		ret = rtnl_commit(at.r);
	rtnl_close(at.r);
	return ret ? -1 : (int)(d - route);
}

/**
 * tb_reroute() - route plain IP around failed parts
 * @topo: topology of the running testbed, with its failed parts
 *
 * Leaves the process in some namespace.
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_reroute(const struct aggt_topo *topo)
{
	uint32_t i, servers = aggt_topo_servers(topo);
	struct reroute r = {
		.topo = topo,
		.dist = calloc(servers, sizeof(*r.dist)),
		.queue = calloc(servers, sizeof(*r.queue)),
	};
	const struct detour *d;
	int ret = r.dist && r.queue ? 0 : -1;

	for (i = 0; !ret && i < servers; i++)
		ret = ways_to(&r, i);
	if (ret)
		err("out of memory");
	if (r.n)
		qsort(r.route, r.n, sizeof(*r.route), by_place);
	for (d = r.route; !ret && d < r.route + r.n; ) {
		int done = netns_exists(addressing_server_name(d->at)) ?
			   set_routes(&r, d, r.route + r.n) : 1;

		ret = done < 0 ? -1 : 0;
		d += done;
	}
	free(r.dist);
	free(r.queue);
	free(r.route);
	return ret;
}
