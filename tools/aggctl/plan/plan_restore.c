// SPDX-License-Identifier: GPL-2.0
/* A plan from its JSON, to be updated. */
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "info.h"
#include "plan/plan.h"

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
	const json_t *objective = json_object_get(members, "objective");
	int found = 0;
	size_t n;

	job->senders = read_numbers(json_object_get(members, "senders"),
				    &job->n_senders);
	job->receivers = read_numbers(json_object_get(members, "receivers"),
				      &job->n_receivers);
	if (!job->senders || !job->receivers || !json_is_integer(depth))
		return false;
	job->max_depth = (uint32_t)json_integer_value(depth);
	if (objective)
		found = json_is_string(objective) ?
			aggnet_enum_find(plan_objective_names,
					 json_string_value(objective)) : -1;
	if (found < 0)
		return false;
	job->objective = (enum aggt_objective)found;
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
	json_int_t first, second;
	json_t *pair;
	size_t i;

	*n = json_array_size(pairs);
	list = calloc(*n + 1, sizeof(*list));
	if (!list || !json_is_array(pairs))
		goto bad;
	json_array_foreach((json_t *)pairs, i, pair) {
		if (json_unpack(pair, "[II!]", &first, &second) || first < 0 ||
		    second < 0 || first > UINT32_MAX || second > UINT32_MAX)
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

static bool read_stored(const json_t *json, const struct plan_conf *conf,
			struct stored *s)
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
	s->job.pipelined = conf->layout != AGGNET_LAYOUT_KEYED;
	s->job.packet = plan_packet(conf);
	s->job.copies = plan_copies(conf);
	s->job.rate = conf->rate;
	s->n = json_array_size(trees);
	s->shape = calloc(s->n + 1, sizeof(*s->shape));
	if (!s->shape || s->n != aggt_job_trees(&s->job))
		return false;
	for (i = 0; i < s->n; i++)
		if (!read_shape(json_array_get(trees, i), &s->shape[i]))
			return false;
	return true;
}

/**
 * struct number - a number of a stored plan
 * @name: the member
 * @least: least value
 * @most: largest value
 * @to: where it goes
 * @otherwise: its value if it is not there
 * @optional: it may be missing
 */
struct number {
	const char *name;
	json_int_t least;
	json_int_t most;
	uint64_t *to;
	uint64_t otherwise;
	bool optional;
};

static int read_number(const json_t *object, const struct number *number,
		       const char *path)
{
	const json_t *value = json_object_get(object, number->name);
	json_int_t v = json_integer_value(value);

	*number->to = number->otherwise;
	if (!value && number->optional)
		return 0;
	if (!json_is_integer(value)) {
		err("%s: %s: %s", path, number->name,
		    value ? "it is not a whole number" : "it is missing");
		return -1;
	}
	if (v < number->least || v > number->most) {
		err("%s: %s: %" JSON_INTEGER_FORMAT " is not in %"
		    JSON_INTEGER_FORMAT "..%" JSON_INTEGER_FORMAT, path,
		    number->name, v, number->least, number->most);
		return -1;
	}
	*number->to = (uint64_t)v;
	return 0;
}

static int read_all(const json_t *object, const struct number *number,
		    size_t n, const char *path)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (read_number(object, &number[i], path))
			return -1;
	return 0;
}

/* The value of an enumeration that a member names. */
static int read_name(const json_t *object, const char *name,
		     const char * const *names, uint8_t *to, const char *path)
{
	const char *text = json_string_value(json_object_get(object, name));
	int found = text ? aggnet_enum_find(names, text) : -1;

	if (found < 0) {
		err("%s: %s: '%s' is unknown", path, name, text ? text : "");
		return -1;
	}
	*to = (uint8_t)found;
	return 0;
}

/* What belongs to the function. */
static int read_values(const json_t *json, struct plan_conf *conf,
		       const char *path)
{
	uint64_t scale, k;
	const struct number number[] = {
		{ "scale", 0, UINT8_MAX, &scale, 0, false },
		{ "k", 0, UINT16_MAX, &k, 0, false },
		{ "elements", 0, INT64_MAX, &conf->elements, 0, false },
	};

	if (read_all(json, number, ARRAY_SIZE(number), path) ||
	    read_name(json, "vtype", aggnet_vtype_names, &conf->vtype, path) ||
	    read_name(json, "layout", aggnet_layout_names, &conf->layout, path))
		return -1;
	conf->scale = (uint8_t)scale;
	conf->k = (uint32_t)k;
	return 0;
}

/* Of Bloom tables; a plan that leaves it to the kernel says nothing. */
static int read_geometry(const json_t *json, struct plan_conf *conf,
			 const char *path)
{
	uint64_t bits, hashes, capacity;
	const struct number number[] = {
		{ "bits", 0, UINT32_MAX, &bits, 0, true },
		{ "hashes", 0, UINT8_MAX, &hashes, 0, true },
		{ "capacity", 0, UINT32_MAX, &capacity, 0, true },
	};

	if (read_all(json, number, ARRAY_SIZE(number), path))
		return -1;
	conf->bits = (uint32_t)bits;
	conf->hashes = (uint32_t)hashes;
	conf->capacity = (uint32_t)capacity;
	return 0;
}

static int read_flag(const json_t *object, const char *name, bool *to,
		     const char *path)
{
	const json_t *value = json_object_get(object, name);

	*to = json_is_true(value);
	if (!value || json_is_boolean(value))
		return 0;
	err("%s: %s: it is neither true nor false", path, name);
	return -1;
}

/* Users and limits. */
static int read_entries(const json_t *json, struct plan_conf *conf,
			const char *path)
{
	uint64_t uid, gid, writers, hold, give_up;
	const struct number number[] = {
		{ "uid", 0, UINT32_MAX, &uid, 0, false },
		{ "gid", 0, UINT32_MAX - 1, &gid, UINT32_MAX, true },
		{ "writers", 1, AGGNET_WRITERS_MAX, &writers, 0, false },
		{ "memory", 0, INT64_MAX, &conf->memory, 0, false },
		{ "hold", 0, UINT32_MAX, &hold, 0, false },
		{ "give_up", 0, UINT32_MAX, &give_up, 0, false },
		{ "rate", 1, INT64_MAX, &conf->rate, 0, true },
		{ "flow_size", 1, INT64_MAX, &conf->flow_size, 0, true },
	};

	if (read_all(json, number, ARRAY_SIZE(number), path) ||
	    read_flag(json, "keyed", &conf->keyed, path) ||
	    read_flag(json, "allow_missing", &conf->allow_missing, path) ||
	    read_flag(json, "persist", &conf->persist, path) ||
	    read_flag(json, "down", &conf->down, path))
		return -1;
	conf->uid = (uint32_t)uid;
	conf->gid = (uint32_t)gid;
	conf->has_gid = conf->gid != UINT32_MAX;
	conf->writers = (uint32_t)writers;
	conf->hold = (uint32_t)hold;
	conf->give_up = (uint32_t)give_up;
	return read_values(json, conf, path) ||
	       read_geometry(json, conf, path) ? -1 : 0;
}

static int read_conf(const json_t *json, struct plan_conf *conf,
		     const char *path)
{
	const char *switching = json_string_value(json_object_get(json,
								  "switching"));
	uint64_t job, instance;
	const struct number number[] = {
		{ "job", 0, UINT32_MAX, &job, 0, false },
		{ "instance", 0, UINT32_MAX, &instance, 0, false },
	};

	if (read_all(json, number, ARRAY_SIZE(number), path) ||
	    read_name(json, "function", aggnet_function_names, &conf->function,
		      path) ||
	    read_name(json, "scheme", aggnet_scheme_names, &conf->scheme,
		      path) ||
	    read_entries(json_object_get(json, "entries"), conf, path))
		return -1;
	conf->job = (uint32_t)job;
	conf->instance = (uint32_t)instance;
	conf->aggnet_switches = switching && !strcmp(switching, "aggnet");
	if (!switching) {
		err("%s: switching: it is missing", path);
		return -1;
	}
	if (conf->scheme == AGGNET_SCHEME_PACKET &&
	    !plan_filters_restore(json_object_get(json, "filter"),
				  &conf->filter)) {
		err("%s: filter: it is not what a plan has", path);
		return -1;
	}
	return 0;
}

/* Numbers that are read where there is no path to name. */
static int check_numbers(const json_t *json, const char *path)
{
	const json_t *trees = json_object_get(json, "trees");
	uint64_t value;
	const struct number depth = {
		"max_depth", 0, UINT32_MAX, &value, 0, false
	};
	const struct number number[] = {
		{ "attempt", 0, UINT32_MAX, &value, 0, true },
		{ "used", 0, UINT32_MAX, &value, 0, true },
		{ "entry", 0, UINT32_MAX - 1, &value, 0, true },
	};
	json_t *tree;
	size_t i, n;

	if (read_number(json_object_get(json, "members"), &depth, path))
		return -1;
	json_array_foreach((json_t *)trees, i, tree) {
		n = json_is_null(json_object_get(tree, "entry")) ? 2 : 3;
		if (read_all(tree, number, n, path))
			return -1;
	}
	return 0;
}

static int read_id(struct plan *plan, const json_t *json, const char *path)
{
	if (plan_set_id(plan, json_object_get(json, "id")))
		return 0;
	err("%s: id: it is not 16 hexadecimal digits", path);
	return -1;
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
	if (json_is_string(name) &&
	    strcmp(json_string_value(name), aggt_topo_name(plan->topo))) {
		err("%s: its topology is %s, but its description is of %s",
		    path, json_string_value(name), aggt_topo_name(plan->topo));
		return -1;
	}
	json_array_foreach(json_object_get(json, "failed"), i, part)
		if (!json_is_string(part) ||
		    aggt_topo_fail(plan->topo, json_string_value(part), &why))
			goto bad;
	return 0;
bad:
	err("%s: its topology: %s", path, why.text);
	return -1;
}

/* The key of a tree, from any node that has it. */
static json_t *find_key(const json_t *nodes, uint32_t job, const char *receiver)
{
	json_t *node, *entry, *key, *to, *number;
	const char *name;
	size_t i;

	json_object_foreach((json_t *)nodes, name, node) {
		json_array_foreach(json_object_get(node, "trees"), i, entry) {
			key = json_object_get(entry, "key");
			to = json_object_get(entry, "receiver");
			number = json_object_get(entry, "job");
			if (json_integer_value(number) == job &&
			    json_is_string(key) && json_is_string(to) &&
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

/* An attempt may have been tried after the one in force, and undone. */
static void keep_attempt(struct plan *plan, size_t i, const json_t *tree)
{
	const json_t *attempt = json_object_get(tree, "attempt");
	const json_t *used = json_object_get(tree, "used");
	uint32_t last = (uint32_t)json_integer_value(used);

	plan->attempt[i] = (uint32_t)json_integer_value(attempt);
	plan->used[i] = plan->attempt[i];
	if (used && (int32_t)(last - plan->attempt[i]) > 0)
		plan->used[i] = last;
}

/* Trees that stay as they are keep their epochs and keys. */
static void keep_epochs(struct plan *plan, const json_t *json)
{
	const json_t *tree;
	struct in_addr to;
	json_t *key;
	size_t i;

	for (i = 0; i < aggt_plan_trees(plan->trees); i++) {
		tree = json_array_get(json_object_get(json, "trees"), i);
		keep_attempt(plan, i, tree);
		to = plan_identity(plan, receiver_of(plan, i));
		key = find_key(json_object_get(json, "nodes"),
			       plan_job(plan, i), addr_text(to));
		if (!plan->key || !key)
			continue;
		json_decref(plan->key[i]);
		plan->key[i] = json_incref(key);
	}
}

/* A file may have other names of the parts, which are known to exist. */
static void keep_failed(struct plan *plan, const json_t *json)
{
	char name[AGGT_PART];
	json_t *part;
	size_t i;

	json_array_foreach(json_object_get(json, "failed"), i, part)
		if (!aggt_part_name(plan->topo, json_string_value(part), name,
				    NULL))
			list_add(plan->failed, name);
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
	if (read_id(plan, json, path) || read_conf(json, &plan->conf, path) ||
	    check_numbers(json, path))
		return -1;
	if (!read_stored(json, &plan->conf, &s)) {
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
	keep_failed(plan, json);
	json_array_extend(plan->absent, json_object_get(json, "absent"));
	keep_epochs(plan, json);
	return 0;
}
