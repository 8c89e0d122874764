// SPDX-License-Identifier: GPL-2.0
/* A flow's path by its links, and the links that nodes on it look up. */
#include <stdlib.h>

#include "internal.h"
#include "path.h"

/* 25 bits of a number and one for what it is of; large networks share names. */
#define NAME_NUMBER	0x1ffffffu
#define NAME_END	26

uint64_t aggt_link_name(bool from_switch, uint32_t from, bool to_switch,
			uint32_t to)
{
	uint64_t tail = (uint64_t)from_switch << 25 | (from & NAME_NUMBER);
	uint64_t head = (uint64_t)to_switch << 25 | (to & NAME_NUMBER);

	return tail << NAME_END | head;
}

/**
 * struct look - a packet at a server of its path
 * @topo: the network
 * @conf: which nodes look up what
 * @receiver: where it goes
 * @from: the server
 * @to: the next one
 * @dim: of the hop there
 * @ingress: of the hop to @from, AGGT_NONE if the packet is made there
 */
struct look {
	const struct aggt_topo *topo;
	const struct aggt_filter_conf *conf;
	aggt_node receiver;
	aggt_node from;
	aggt_node to;
	uint32_t dim;
	uint32_t ingress;
};

static int add_name(struct aggt_names *names, uint64_t name)
{
	size_t room = 2 * names->room + 16;
	uint64_t *more;

	if (names->n == names->room) {
		more = realloc(names->name, room * sizeof(*more));
		if (!more)
			return -1;
		names->name = more;
		names->room = room;
	}
	names->name[names->n++] = name;
	return 0;
}

static int end_node(struct aggt_path *path)
{
	size_t room = 2 * path->room + 16;
	size_t *more;

	if (path->n_nodes == path->room) {
		more = realloc(path->node, room * sizeof(*more));
		if (!more)
			return -1;
		path->node = more;
		path->room = room;
	}
	path->node[path->n_nodes++] = path->wrong.n;
	return 0;
}

/* By the paper's rule only links to the receiver's digit are looked up. */
static bool leads(const struct look *l, unsigned int dim, unsigned int digit)
{
	return l->conf->rule == AGGT_FILTER_GENERAL ||
	       digit == aggt_topo_digit(l->topo, l->receiver, dim);
}

/* Of a port to a switch that looks further: there is one link. */
static int look_at_switch(struct aggt_path *path, const struct look *l,
			  unsigned int dim)
{
	unsigned int own = aggt_topo_digit(l->topo, l->from, dim);
	uint32_t sw = aggt_topo_switch(l->topo, l->from, dim);

	if (dim == l->dim || (l->conf->rule == AGGT_FILTER_PAPER &&
			      leads(l, dim, own)))
		return 0;
	return add_name(&path->wrong, aggt_link_name(false, l->from, true, sw));
}

/* Of a port to a switch that does not: a link to each server behind it. */
static int look_at_servers(struct aggt_path *path, const struct look *l,
			   unsigned int dim)
{
	unsigned int d, own = aggt_topo_digit(l->topo, l->from, dim);

	for (d = 0; d < aggt_topo_radix(l->topo, dim); d++) {
		aggt_node to = aggt_topo_with_digit(l->topo, l->from, dim, d);

		if (d == own || to == l->to || !leads(l, dim, d))
			continue;
		if (add_name(&path->wrong,
			     aggt_link_name(false, l->from, false, to)))
			return -1;
	}
	return 0;
}

static int look_from_server(struct aggt_path *path, const struct look *l)
{
	unsigned int dim;

	/* The node that makes a packet knows the link that it leaves by. */
	if (l->ingress == AGGT_NONE)
		return 0;
	for (dim = 0; dim < aggt_topo_dims(l->topo); dim++) {
		if (dim == l->ingress)
			continue;
		if (l->conf->switches ? look_at_switch(path, l, dim) :
					look_at_servers(path, l, dim))
			return -1;
	}
	return end_node(path);
}

static int look_from_switch(struct aggt_path *path, const struct look *l)
{
	uint32_t sw = aggt_topo_switch(l->topo, l->from, l->dim);
	unsigned int d;

	for (d = 0; d < aggt_topo_radix(l->topo, l->dim); d++) {
		aggt_node to = aggt_topo_with_digit(l->topo, l->from, l->dim,
						    d);

		if (to == l->from || to == l->to || !leads(l, l->dim, d))
			continue;
		if (add_name(&path->wrong, aggt_link_name(true, sw, false, to)))
			return -1;
	}
	return end_node(path);
}

static int add_hop(struct aggt_path *path, const struct look *l)
{
	uint32_t sw = aggt_topo_switch(l->topo, l->from, l->dim);

	if (look_from_server(path, l))
		return -1;
	if (!l->conf->switches)
		return add_name(&path->right,
				aggt_link_name(false, l->from, false, l->to));
	if (add_name(&path->right, aggt_link_name(false, l->from, true, sw)) ||
	    add_name(&path->right, aggt_link_name(true, sw, false, l->to)))
		return -1;
	return look_from_switch(path, l);
}

int aggt_path_find(struct aggt_path *path, const struct aggt_plan *plan,
		   const struct aggt_entry *entry,
		   const struct aggt_filter_conf *conf)
{
	const struct aggt_tree *tree = plan->tree[entry->tree];
	uint32_t v = aggt_tree_find(tree, entry->server), up;
	struct look l = {
		.topo = plan->topo, .conf = conf,
		.receiver = entry->receiver, .ingress = AGGT_NONE,
	};

	path->right.n = 0;
	path->wrong.n = 0;
	path->n_nodes = 0;
	for (; v; v = up) {
		up = aggt_tree_parent(tree, v);
		l.from = aggt_tree_server(tree, v);
		l.to = aggt_tree_server(tree, up);
		l.dim = aggt_topo_link_dim(plan->topo, l.from, l.to);
		if (add_hop(path, &l))
			return -1;
		l.ingress = l.dim;
	}
	return 0;
}

void aggt_path_free(struct aggt_path *path)
{
	free(path->right.name);
	free(path->wrong.name);
	free(path->node);
}
