// SPDX-License-Identifier: GPL-2.0
/* The trees of a plan and what they cost, as JSON. */
#include "plan.h"

/**
 * plan_metrics() - what a plan costs
 * @m: the metrics
 */
json_t *plan_metrics(const struct aggt_metrics *m)
{
	return json_pack("{s:f, s:f, s:f, s:I, s:I, s:I, s:i}",
			 "cost", m->cost, "existing", m->existing,
			 "saving", m->saving, "links", (json_int_t)m->links,
			 "aggregating_servers", (json_int_t)m->aggregating,
			 "added_servers", (json_int_t)m->added,
			 "depth", (int)m->depth);
}

static json_t *tree_json(const struct aggt_tree *tree,
			 const struct aggt_metrics *m)
{
	json_t *edges = json_array(), *senders = json_array();
	aggt_node entry = aggt_tree_entry(tree);
	size_t i, n = aggt_tree_size(tree);

	for (i = 0; i < n; i++) {
		uint32_t up = aggt_tree_parent(tree, i);
		json_int_t server = aggt_tree_server(tree, i);

		if (aggt_tree_sends(tree, i))
			json_array_append_new(senders, json_integer(server));
		if (up == AGGT_NONE)
			continue;
		json_array_append_new(edges,
				      json_pack("[I, I]", server, (json_int_t)
						aggt_tree_server(tree, up)));
	}
	return json_pack("{s:I, s:o, s:o, s:f, s:I, s:i, s:o}",
			 "receiver", (json_int_t)aggt_tree_receiver(tree),
			 "entry", entry == AGGT_NONE ? json_null() :
			 json_integer(entry), "senders", senders,
			 "cost", m->cost, "links", (json_int_t)m->links,
			 "depth", (int)m->depth, "edges", edges);
}

/**
 * plan_trees() - the trees of a plan
 * @plan: the plan
 */
json_t *plan_trees(const struct aggt_plan *plan)
{
	json_t *trees = json_array();
	size_t i;

	for (i = 0; i < aggt_plan_trees(plan); i++)
		json_array_append_new(trees,
				      tree_json(aggt_plan_tree(plan, i),
						aggt_plan_tree_metrics(plan,
								       i)));
	return trees;
}
