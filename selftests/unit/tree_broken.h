/* SPDX-License-Identifier: GPL-2.0 */
/* The failed parts of a network, recorded by the test. */
#ifndef TREE_BROKEN_H
#define TREE_BROKEN_H

#include "tree_random.h"

/* Return: a switch linked with the switch of server @v */
static uint32_t random_hop(const struct aggt_topo *t, aggt_node v)
{
	unsigned int d = rnd(aggt_topo_dims(t));
	unsigned int digit = aggt_topo_digit(t, v, d) + 1;

	return aggt_topo_switch(t, aggt_topo_with_digit(t, v, d,
				digit % aggt_topo_radix(t, d)), 0);
}

/* @to: the other switch of a trunk. */
static struct {
	uint32_t v;
	uint32_t sw;
	uint32_t to;
} broken[32];
static size_t n_broken;

static void note_failure(const char *part)
{
	broken[n_broken].v = AGGT_NONE;
	broken[n_broken].sw = AGGT_NONE;
	broken[n_broken].to = AGGT_NONE;
	sscanf(part, "v%u", &broken[n_broken].v);
	if (strchr(part, 'w'))
		sscanf(strchr(part, 'w'), "w%u-w%u", &broken[n_broken].sw,
		       &broken[n_broken].to);
	n_broken++;
}

/* For switches with servers: do both and the link between them work? */
static bool trunk_works(uint32_t a, uint32_t b)
{
	size_t i;

	for (i = 0; i < n_broken; i++) {
		uint32_t sw = broken[i].sw, to = broken[i].to;

		if (broken[i].v != AGGT_NONE)
			continue;
		if (to == AGGT_NONE ? sw == a || sw == b :
		    (sw == a && to == b) || (sw == b && to == a))
			return false;
	}
	return true;
}

/* Does the server of an entry work, and with agents its switch? */
static bool server_works(const struct aggt_entry *e)
{
	size_t i;

	for (i = 0; i < n_broken; i++)
		if (broken[i].v == AGGT_NONE ?
		    broken[i].to == AGGT_NONE && broken[i].sw == e->sw :
		    broken[i].v == e->server)
			return false;
	return true;
}

static bool hop_works(const struct aggt_topo *t, aggt_node a, aggt_node b)
{
	uint32_t sw = aggt_topo_switch(t, a, aggt_topo_link_dim(t, a, b));
	size_t i;

	for (i = 0; i < n_broken; i++) {
		bool here = broken[i].v == a || broken[i].v == b;

		if (broken[i].v == AGGT_NONE ? broken[i].sw == sw :
		    here && (broken[i].sw == AGGT_NONE || broken[i].sw == sw))
			return false;
	}
	return true;
}

static const char *check_hops(const struct aggt_topo *t,
			      const struct aggt_plan *plan)
{
	size_t i, k, n;
	const struct aggt_entry *e = aggt_plan_entries(plan, &n);

	for (k = 0; k < aggt_plan_trees(plan); k++) {
		const struct aggt_tree *tree = aggt_plan_tree(plan, k);

		for (i = 1; i < aggt_tree_size(tree); i++) {
			uint32_t a = aggt_tree_server(tree, i);
			uint32_t b = aggt_tree_server(tree,
						aggt_tree_parent(tree, i));

			if (!(aggt_topo_agents(t) ? trunk_works(a, b) :
						    hop_works(t, a, b)))
				return "a hop through what has failed";
		}
	}
	for (i = 0; i < n && aggt_topo_agents(t); i++)
		if (!server_works(&e[i]))
			return "an entry of what has failed";
	return NULL;
}

#endif /* TREE_BROKEN_H */
