// SPDX-License-Identifier: GPL-2.0
/* A plan as JSON: all that "apply" and "plan --update" need of it. */
#include <stdio.h>

#include "info.h"
#include "plan/plan.h"

static void add_stripes(const struct plan *plan, json_t *metrics)
{
	const struct aggt_stripes *s = aggt_plan_stripes(plan->trees);

	if (!s)
		return;
	json_object_set_new(metrics, "stripes", json_integer(s->n));
	json_object_set_new(metrics, "stress", json_integer(s->stress));
	json_object_set_new(metrics, "cut_bound", json_real(s->bound));
	json_object_set_new(metrics, "cut_share", json_real(s->share));
}

static json_t *metrics_json(const struct plan *plan)
{
	const struct aggt_metrics *m = aggt_plan_metrics(plan->trees);
	const char *skipped = aggt_plan_skipped(plan->trees);
	json_t *object;

	object = json_pack("{s:f, s:f, s:f, s:I, s:I, s:I, s:I, s:f}",
			 "cost", m->cost, "existing", m->existing,
			 "saving", m->saving, "links", (json_int_t)m->links,
			 "aggregating_servers", (json_int_t)m->aggregating,
			 "added_servers", (json_int_t)m->added,
			 "depth", (json_int_t)m->depth,
			 "leaning", m->leaning);
	if (skipped)
		json_object_set_new(object, "skipped", json_string(skipped));
	plan_predict(plan, object);
	plan_count_copies(plan, object);
	add_stripes(plan, object);
	return object;
}

static json_t *nodes_list(const aggt_node *node, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, json_integer(node[i]));
	return list;
}

static json_t *edges_json(const struct aggt_tree *tree)
{
	json_t *edges = json_array();
	size_t i;

	for (i = 1; i < aggt_tree_size(tree); i++) {
		json_int_t up = aggt_tree_server(tree,
						 aggt_tree_parent(tree, i));
		json_int_t server = aggt_tree_server(tree, i);

		json_array_append_new(edges, json_pack("[I, I]", server, up));
	}
	return edges;
}

static json_t *symbols_json(const struct aggt_tree *tree)
{
	unsigned int symbols[AGGT_MAX_DIMS];
	unsigned int i, n = aggt_tree_sequence(tree, symbols);
	json_t *list = json_array();

	for (i = 0; i < n; i++)
		json_array_append_new(list, json_integer(symbols[i]));
	return list;
}

/*
 * With agents: what each aggregating switch leans on, as [switch, server]; the
 * receiver's switch comes first.
 */
static json_t *leaning_json(const struct aggt_tree *tree)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < aggt_tree_size(tree); i++) {
		json_int_t sw = aggt_tree_server(tree, i);
		aggt_node server = aggt_tree_leans(tree, i);

		if (server != AGGT_NONE)
			json_array_append_new(list,
					      json_pack("[I, I]", sw,
							(json_int_t)server));
	}
	return list;
}

static json_t *tree_json(const struct plan *plan, size_t i)
{
	const struct aggt_job *job = aggt_plan_job(plan->trees);
	const struct aggt_tree *tree = aggt_plan_tree(plan->trees, i);
	const struct aggt_metrics *m = aggt_plan_tree_metrics(plan->trees, i);
	aggt_node receiver = aggt_tree_receiver(tree);
	aggt_node entry = aggt_tree_entry(tree);
	json_t *object;

	object = json_pack("{s:I, s:o, s:I, s:o, s:o, s:f, s:I, s:I, s:o, s:o}",
			   "receiver", (json_int_t)receiver, "identity",
			   addr_json(plan_identity(plan, receiver)),
			   "attempt", (json_int_t)plan->attempt[i],
			   "entry", entry == AGGT_NONE ? json_null() :
			   json_integer(entry),
			   "senders", nodes_list(job->senders, job->n_senders),
			   "cost", m->cost, "links", (json_int_t)m->links,
			   "depth", (json_int_t)m->depth,
			   "symbols", symbols_json(tree),
			   "edges", edges_json(tree));
	if (aggt_plan_stripes(plan->trees))
		json_object_set_new(object, "job",
				    json_integer(plan_job(plan, i)));
	if (plan->used[i] != plan->attempt[i])
		json_object_set_new(object, "used",
				    json_integer(plan->used[i]));
	if (aggt_topo_agents(plan->topo))
		json_object_set_new(object, "leaning", leaning_json(tree));
	return object;
}

/* Names of hosts by their numbers, which the trees have; NULL: they are vN. */
static json_t *names_json(const struct plan *plan)
{
	const struct aggt_tree *tree;
	char number[16];
	json_t *names;
	size_t i, k;

	if (!aggt_topo_server_name(plan->topo, 0))
		return NULL;
	names = json_object();
	for (i = 0; i < aggt_plan_trees(plan->trees); i++) {
		tree = aggt_plan_tree(plan->trees, i);
		for (k = 0; k < aggt_tree_size(tree); k++) {
			aggt_node server = aggt_tree_server(tree, k);

			snprintf(number, sizeof(number), "%u", server);
			json_object_set_new(names, number,
					    json_string(plan_server_name(plan,
									 server)));
		}
	}
	return names;
}

static json_t *trees_json(const struct plan *plan)
{
	json_t *trees = json_array();
	size_t i;

	for (i = 0; i < aggt_plan_trees(plan->trees); i++)
		json_array_append_new(trees, tree_json(plan, i));
	return trees;
}

/* What the job was, beside what stands on top. */
static json_t *job_json(const struct plan *plan)
{
	const struct aggt_job *job = aggt_plan_job(plan->trees);
	json_t *object, *sizes = json_array(), *tasks = json_array();
	size_t i;

	for (i = 0; job->sizes && i < job->n_senders; i++)
		json_array_append_new(sizes, json_real(job->sizes[i]));
	for (i = 0; job->tasks && i < job->n_senders; i++)
		json_array_append_new(tasks, json_integer(job->tasks[i]));
	object = json_pack("{s:o, s:o, s:I}",
			   "senders", nodes_list(job->senders, job->n_senders),
			   "receivers", nodes_list(job->receivers,
						   job->n_receivers),
			   "max_depth", (json_int_t)job->max_depth);
	if (job->objective != AGGT_TRAFFIC)
		json_object_set_new(object, "objective",
				    json_string(plan_objective_names[job->objective]));
	if (job->sizes)
		json_object_set(object, "sizes", sizes);
	if (job->tasks)
		json_object_set(object, "tasks", tasks);
	json_decref(sizes);
	json_decref(tasks);
	return object;
}

static json_t *conf_json(const struct plan_conf *conf)
{
	json_t *object;

	object = json_pack("{s:I, s:I, s:I, s:I, s:I, s:b, s:b}",
			   "uid", (json_int_t)conf->uid,
			   "writers", (json_int_t)conf->writers,
			   "memory", (json_int_t)conf->memory,
			   "hold", (json_int_t)conf->hold,
			   "give_up", (json_int_t)conf->give_up,
			   "keyed", conf->keyed,
			   "allow_missing", conf->allow_missing);
	json_object_set_new(object, "vtype",
			    json_string(aggnet_vtype_names[conf->vtype]));
	json_object_set_new(object, "layout",
			    json_string(aggnet_layout_names[conf->layout]));
	json_object_set_new(object, "scale", json_integer(conf->scale));
	json_object_set_new(object, "k", json_integer(conf->k));
	json_object_set_new(object, "elements",
			    json_integer((json_int_t)conf->elements));
	if (conf->bits)
		json_object_update_new(object,
				       json_pack("{s:I, s:I, s:I}", "bits",
						 (json_int_t)conf->bits, "hashes",
						 (json_int_t)conf->hashes, "capacity",
						 (json_int_t)conf->capacity));
	if (conf->has_gid)
		json_object_set_new(object, "gid", json_integer(conf->gid));
	if (conf->persist)
		json_object_set_new(object, "persist", json_true());
	if (conf->down)
		json_object_set_new(object, "down", json_true());
	if (conf->rate)
		json_object_set_new(object, "rate",
				    json_integer((json_int_t)conf->rate));
	if (conf->flow_size)
		json_object_set_new(object, "flow_size",
				    json_integer((json_int_t)conf->flow_size));
	return object;
}

/* Entries name addresses; there are none for networks of any size. */
static json_t *nodes_json(const struct plan *plan, json_t **filter)
{
	struct plan_filters all = {};
	json_t *nodes = NULL;

	if (plan_has_filters(plan)) {
		if (plan_filters(plan, &all))
			goto out;
		*filter = plan_filters_json(&all);
	}
	nodes = plan_has_addresses(plan) ? plan_nodes(plan, all.hex) :
					   json_object();
out:
	plan_filters_clear(&all);
	return nodes;
}

/**
 * plan_json() - a plan as JSON
 * @plan: the plan
 *
 * Return: the object, or NULL with an error line printed.
 */
json_t *plan_json(const struct plan *plan)
{
	const struct aggt_job *job = aggt_plan_job(plan->trees);
	const struct plan_conf *conf = &plan->conf;
	json_t *object, *nodes, *names, *filter = NULL;

	nodes = nodes_json(plan, &filter);
	if (!nodes || plan_sign(plan, nodes)) {
		json_decref(nodes);
		json_decref(filter);
		return NULL;
	}
	object = json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:f, s:I, s:I}",
			   "topology", aggt_topo_name(plan->topo),
			   "method", job->method, "job",
			   (json_int_t)conf->job, "function",
			   aggnet_function_names[conf->function], "scheme",
			   aggnet_scheme_names[conf->scheme], "switching",
			   conf->aggnet_switches ? "aggnet" : "dumb",
			   "delta", job->delta,
			   "seed", (json_int_t)job->seed,
			   "instance", (json_int_t)conf->instance);
	json_object_set_new(object, "release",
			    json_string(AGGNET_LIBRARY_VERSION));
	if (plan->id[0])
		json_object_set_new(object, "id", json_string(plan->id));
	if (plan->description)
		json_object_set_new(object, "description",
				    json_string(plan->description));
	json_object_set(object, "failed", plan->failed);
	json_object_set(object, "absent", plan->absent);
	json_object_set_new(object, "members", job_json(plan));
	json_object_set_new(object, "entries", conf_json(conf));
	json_object_set_new(object, "metrics", metrics_json(plan));
	json_object_set_new(object, "trees", trees_json(plan));
	names = names_json(plan);
	if (names)
		json_object_set_new(object, "names", names);
	if (filter)
		json_object_set_new(object, "filter", filter);
	if (plan_is_for_testbed(plan))
		json_object_set_new(object, "addresses", json_string("testbed"));
	json_object_set_new(object, "nodes", nodes);
	return object;
}
