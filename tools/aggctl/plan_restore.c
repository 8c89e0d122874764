// SPDX-License-Identifier: GPL-2.0
/* A plan from its JSON, to be updated. */
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "info.h"
#include "plan.h"

/**
 * struct stored - what the library wants, read from JSON
 * @job: the job; its lists are ours
 * @shape: of each tree; their lists are ours
 * @n: trees
 */
struct stored {
	struct aggt_job job;
	struct aggt_shape *shape;
	size_t n;
};

static void free_stored(struct stored *s)
{
	size_t i;

	for (i = 0; s->shape && i < s->n; i++) {
		free((void *)s->shape[i].edge);
		free((void *)s->shape[i].symbols);
		free((void *)s->shape[i].lean);
	}
	free(s->shape);
	free((void *)s->job.senders);
	free((void *)s->job.receivers);
	free((void *)s->job.sizes);
	free((void *)s->job.tasks);
}

/* A list of numbers below 2^32; NULL if it is none. */
static uint32_t *read_numbers(const json_t *list, size_t *n)
{
	uint32_t *numbers;
	json_t *value;
	size_t i;

	*n = json_array_size(list);
	numbers = calloc(*n + 1, sizeof(*numbers));
	if (!numbers || !json_is_array(list))
		goto bad;
	json_array_foreach((json_t *)list, i, value) {
		json_int_t v = json_integer_value(value);

		if (!json_is_integer(value) || v < 0 || v > UINT32_MAX)
			goto bad;
		numbers[i] = (uint32_t)v;
	}
	return numbers;
bad:
	free(numbers);
	return NULL;
}

static double *read_sizes(const json_t *list, size_t n)
{
	double *sizes;
	size_t i;

	if (json_array_size(list) != n)
		return NULL;
	sizes = calloc(n + 1, sizeof(*sizes));
	for (i = 0; sizes && i < n; i++)
		sizes[i] = json_number_value(json_array_get(list, i));
	return sizes;
}

static bool read_members(const json_t *members, struct aggt_job *job)
{
	const json_t *sizes = json_object_get(members, "sizes");
	const json_t *tasks = json_object_get(members, "tasks");
	const json_t *depth = json_object_get(members, "max_depth");
	size_t n;

	job->senders = read_numbers(json_object_get(members, "senders"),
				    &job->n_senders);
	job->receivers = read_numbers(json_object_get(members, "receivers"),
				      &job->n_receivers);
	if (!job->senders || !job->receivers || !json_is_integer(depth))
		return false;
	job->max_depth = (uint32_t)json_integer_value(depth);
	if (sizes)
		job->sizes = read_sizes(sizes, job->n_senders);
	n = job->n_senders;
	if (tasks)
		job->tasks = read_numbers(tasks, &n);
	return !sizes == !job->sizes && !tasks == !job->tasks &&
	       n == job->n_senders;
}

/* A list of pairs of server or switch numbers; NULL if it is none. */
static struct aggt_edge *read_pairs(const json_t *pairs, size_t *n)
{
	struct aggt_edge *list;
	int first, second;
	json_t *pair;
	size_t i;

	*n = json_array_size(pairs);
	list = calloc(*n + 1, sizeof(*list));
	if (!list || !json_is_array(pairs))
		goto bad;
	json_array_foreach((json_t *)pairs, i, pair) {
		if (json_unpack(pair, "[ii!]", &first, &second) || first < 0 ||
		    second < 0)
			goto bad;
		list[i].child = (aggt_node)first;
		list[i].parent = (aggt_node)second;
	}
	return list;
bad:
	free(list);
	return NULL;
}

/* What switches lean on; without agents there is none of it. */
static bool read_leaning(const json_t *leaning, struct aggt_shape *shape)
{
	struct aggt_edge *pair;
	struct aggt_lean *list;
	size_t i;

	if (!leaning)
		return true;
	pair = read_pairs(leaning, &shape->n_leans);
	list = calloc(shape->n_leans + 1, sizeof(*list));
	for (i = 0; pair && list && i < shape->n_leans; i++)
		list[i] = (struct aggt_lean){ pair[i].child, pair[i].parent };
	free(pair);
	shape->lean = list;
	return pair && list;
}

static bool read_shape(const json_t *tree, struct aggt_shape *shape)
{
	const json_t *entry = json_object_get(tree, "entry");
	size_t n;

	shape->entry = json_is_integer(entry) ?
		       (aggt_node)json_integer_value(entry) : AGGT_NONE;
	shape->symbols = read_numbers(json_object_get(tree, "symbols"), &n);
	shape->n_symbols = (unsigned int)n;
	shape->edge = read_pairs(json_object_get(tree, "edges"),
				 &shape->n_edges);
	return read_leaning(json_object_get(tree, "leaning"), shape) &&
	       shape->edge && shape->symbols;
}

static bool read_stored(const json_t *json, struct stored *s)
{
	const json_t *trees = json_object_get(json, "trees");
	const char *method;
	json_int_t seed;
	size_t i;

	if (json_unpack((json_t *)json, "{s:s, s:F, s:I}", "method", &method,
			"delta", &s->job.delta, "seed", &seed) ||
	    !read_members(json_object_get(json, "members"), &s->job))
		return false;
	s->job.method = method;
	s->job.seed = (uint64_t)seed;
	s->n = json_array_size(trees);
	s->shape = calloc(s->n + 1, sizeof(*s->shape));
	if (!s->shape || s->n != s->job.n_receivers)
		return false;
	for (i = 0; i < s->n; i++)
		if (!read_shape(json_array_get(trees, i), &s->shape[i]))
			return false;
	return true;
}

/* What belongs to the function. */
static bool read_values(const json_t *json, struct plan_conf *conf)
{
	json_int_t scale, k, elements;
	const char *vtype, *layout;
	int v, l;

	if (json_unpack((json_t *)json, "{s:s, s:s, s:I, s:I, s:I}",
			"vtype", &vtype, "layout", &layout, "scale", &scale,
			"k", &k, "elements", &elements))
		return false;
	v = aggnet_enum_find(aggnet_vtype_names, vtype);
	l = aggnet_enum_find(aggnet_layout_names, layout);
	*conf = (struct plan_conf){
		.vtype = (uint8_t)v, .layout = (uint8_t)l,
		.scale = (uint8_t)scale, .k = (uint32_t)k,
		.elements = (uint64_t)elements,
	};
	return v >= 0 && l >= 0;
}

/* Of Bloom tables; a plan that leaves it to the kernel says nothing. */
static bool read_geometry(const json_t *json, struct plan_conf *conf)
{
	json_int_t bits = 0, hashes = 0, capacity = 0;

	if (json_unpack((json_t *)json, "{s?I, s?I, s?I}", "bits", &bits,
			"hashes", &hashes, "capacity", &capacity))
		return false;
	conf->bits = (uint32_t)bits;
	conf->hashes = (uint32_t)hashes;
	conf->capacity = (uint32_t)capacity;
	return true;
}

static bool read_conf(const json_t *json, struct plan_conf *conf)
{
	struct plan_conf values;
	json_int_t job, instance, uid, writers, memory, hold, give_up;
	const char *function, *scheme, *switching;
	int gid = -1, keyed, missing = 0, f, s;

	if (json_unpack((json_t *)json,
			"{s:I, s:I, s:s, s:s, s:s, s:{s:I, s:I, s:I, s:I, s:I, s:b, s?b, s?i}}",
			"job", &job, "instance", &instance,
			"function", &function, "scheme", &scheme,
			"switching", &switching, "entries", "uid", &uid,
			"writers", &writers, "memory", &memory,
			"hold", &hold, "give_up", &give_up,
			"keyed", &keyed, "allow_missing", &missing,
			"gid", &gid))
		return false;
	f = aggnet_enum_find(aggnet_function_names, function);
	s = aggnet_enum_find(aggnet_scheme_names, scheme);
	if (!read_values(json_object_get(json, "entries"), &values))
		return false;
	*conf = (struct plan_conf){
		.job = (uint32_t)job, .instance = (uint32_t)instance,
		.scheme = (uint8_t)s, .function = (uint8_t)f,
		.aggnet_switches = !strcmp(switching, "aggnet"),
		.keyed = keyed, .writers = (uint32_t)writers,
		.uid = (uint32_t)uid, .gid = (uint32_t)gid,
		.has_gid = gid >= 0, .memory = (uint64_t)memory,
		.hold = (uint32_t)hold, .give_up = (uint32_t)give_up,
		.allow_missing = missing,
		.vtype = values.vtype, .layout = values.layout,
		.scale = values.scale, .k = values.k,
		.elements = values.elements,
	};
	if (s == AGGNET_SCHEME_PACKET &&
	    !plan_filters_restore(json_object_get(json, "filter"),
				  &conf->filter))
		return false;
	return f >= 0 && s >= 0 &&
	       read_geometry(json_object_get(json, "entries"), conf);
}

static int restore_topology(struct plan *plan, const json_t *json,
			    const char *path)
{
	const json_t *text = json_object_get(json, "description");
	const json_t *name = json_object_get(json, "topology");
	struct aggt_err why = { "it names none" };
	json_t *part;
	size_t i;

	if (json_is_string(text)) {
		plan->description = strdup(json_string_value(text));
		plan->topo = aggt_topo_describe(json_string_value(text), &why);
	} else if (json_is_string(name)) {
		plan->topo = aggt_topo_parse(json_string_value(name), &why);
	}
	if (!plan->topo)
		goto bad;
	json_array_foreach(json_object_get(json, "failed"), i, part)
		if (!json_is_string(part) ||
		    aggt_topo_fail(plan->topo, json_string_value(part), &why))
			goto bad;
	return 0;
bad:
	err("%s: its topology: %s", path, why.text);
	return -1;
}

/* The key of the tree to a receiver, from any node that has it. */
static json_t *find_key(const json_t *nodes, const char *receiver)
{
	json_t *node, *entry, *key, *to;
	const char *name;
	size_t i;

	json_object_foreach((json_t *)nodes, name, node) {
		json_array_foreach(json_object_get(node, "trees"), i, entry) {
			key = json_object_get(entry, "key");
			to = json_object_get(entry, "receiver");
			if (json_is_string(key) && json_is_string(to) &&
			    !strcmp(json_string_value(to), receiver))
				return key;
		}
	}
	return NULL;
}

static aggt_node receiver_of(const struct plan *plan, size_t i)
{
	return aggt_tree_receiver(aggt_plan_tree(plan->trees, i));
}

/* Trees that stay as they are keep their epochs and keys. */
static void keep_epochs(struct plan *plan, const json_t *json)
{
	const json_t *tree, *value;
	struct in_addr to;
	json_t *key;
	size_t i;

	for (i = 0; i < aggt_plan_trees(plan->trees); i++) {
		tree = json_array_get(json_object_get(json, "trees"), i);
		value = json_object_get(tree, "attempt");
		plan->attempt[i] = (uint32_t)json_integer_value(value);
		to = plan_identity(plan, receiver_of(plan, i));
		key = find_key(json_object_get(json, "nodes"), addr_text(to));
		if (!plan->key || !key)
			continue;
		json_decref(plan->key[i]);
		plan->key[i] = json_incref(key);
	}
}

/**
 * plan_restore() - make a plan from its JSON
 * @plan: empty; plan_clear() is due in any case
 * @json: what plan_json() made once
 * @path: where it came from, for error lines
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_restore(struct plan *plan, const json_t *json, const char *path)
{
	struct stored s = {};
	struct aggt_err why;
	int ret = -1;

	if (restore_topology(plan, json, path))
		return -1;
	if (!read_conf(json, &plan->conf) || !read_stored(json, &s)) {
		err("%s: not a plan of 'aggctl -j plan'", path);
	} else {
		plan->trees = aggt_plan_restore(plan->topo, &s.job, s.shape,
						&why);
		if (!plan->trees)
			err("%s: %s", path, why.text);
		else
			ret = plan_prepare(plan);
	}
	free_stored(&s);
	if (ret)
		return ret;
	json_array_extend(plan->failed, json_object_get(json, "failed"));
	json_array_extend(plan->absent, json_object_get(json, "absent"));
	keep_epochs(plan, json);
	return 0;
}
