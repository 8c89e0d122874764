// SPDX-License-Identifier: GPL-2.0
/* What a plan becomes, and in which entries of which nodes it differs. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "aggctl.h"
#include "info.h"
#include "plan/plan.h"

/* Of an attempt that is salted: bits of it, and as many digits in hex. */
#define SALT_BITS	16
#define SALT_DIGITS	4

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Is an entry the same one? A switch may have several of a tree. */
static bool same_entry(const json_t *a, const json_t *b)
{
	const char *const *name;
	static const char *const names[] = { "receiver", "job", NULL };

	for (name = names; *name; name++)
		if (!json_equal(json_object_get(a, *name),
				json_object_get(b, *name)))
			return false;
	return json_object_get(a, "scheme") ||
	       json_equal(json_object_get(a, "link_port"),
			  json_object_get(b, "link_port"));
}

static const json_t *find_entry(const json_t *trees, const json_t *entry)
{
	json_t *other;
	size_t i;

	json_array_foreach((json_t *)trees, i, other)
		if (same_entry(other, entry))
			return other;
	return NULL;
}

/* The identity of the whole tree does not tell which of its entries differ. */
static bool is_changed(const json_t *old, const json_t *new)
{
	json_t *bare = json_copy((json_t *)new);
	bool changed;

	json_object_del(bare, "plan");
	if (json_object_get(old, "plan"))
		json_object_set(bare, "plan", json_object_get(old, "plan"));
	changed = !json_equal((json_t *)old, bare);
	json_decref(bare);
	return changed;
}

/**
 * struct diff - how two plans differ
 * @nodes: by node: receivers of the entries to add, to change, to delete
 * @trees: names of the trees of which any entry differs
 */
struct diff {
	json_t *nodes;
	json_t *trees;
};

static void note(struct diff *diff, json_t *node, const char *kind,
		 const json_t *entry)
{
	json_array_append(json_object_get(node, kind),
			  json_object_get(entry, "receiver"));
	json_object_set_new(diff->trees, plan_name_entry(entry).text,
			    json_true());
}

static bool is_empty(const json_t *diff)
{
	return !json_array_size(json_object_get(diff, "add")) &&
	       !json_array_size(json_object_get(diff, "change")) &&
	       !json_array_size(json_object_get(diff, "delete"));
}

static void diff_node(struct diff *all, const char *name, const json_t *from,
		      const json_t *to)
{
	json_t *diff = json_pack("{s:[], s:[], s:[]}", "add", "change",
				 "delete");
	const json_t *old = json_object_get(from, "trees");
	const json_t *new = json_object_get(to, "trees");
	const json_t *other;
	json_t *entry;
	size_t i;

	json_array_foreach((json_t *)new, i, entry) {
		other = find_entry(old, entry);
		if (!other)
			note(all, diff, "add", entry);
		else if (is_changed(other, entry))
			note(all, diff, "change", entry);
	}
	json_array_foreach((json_t *)old, i, entry)
		if (!find_entry(new, entry))
			note(all, diff, "delete", entry);
	if (is_empty(diff))
		json_decref(diff);
	else
		json_object_set_new(all->nodes, name, diff);
}

static struct diff diff_nodes(const json_t *from, const json_t *to)
{
	struct diff diff = { json_object(), json_object() };
	const char *name;
	json_t *node;

	json_object_foreach((json_t *)to, name, node)
		diff_node(&diff, name, json_object_get(from, name), node);
	json_object_foreach((json_t *)from, name, node)
		if (!json_object_get(to, name))
			diff_node(&diff, name, node, NULL);
	return diff;
}

/* The last digits of the identity of a tree, a number. */
static uint32_t salt(const json_t *nodes, const char *tree)
{
	const char *name, *plan;
	json_t *node, *entry;
	size_t i;

	json_object_foreach((json_t *)nodes, name, node) {
		json_array_foreach(json_object_get(node, "trees"), i, entry) {
			plan = json_string_value(json_object_get(entry,
								 "plan"));
			if (plan && strlen(plan) > SALT_DIGITS &&
			    !strcmp(plan_name_entry(entry).text, tree))
				return (uint32_t)strtoul(plan + strlen(plan) -
							 SALT_DIGITS, NULL, 16);
		}
	}
	return 0;
}

/*
 * Supervisors that do not know of each other may plan different trees for one
 * attempt: then the attempts differ, too, and are not mixed.
 */
static uint32_t next_attempt(const struct plan *plan, size_t i,
			     const json_t *nodes, const char *tree)
{
	uint32_t last = plan->used[i];

	if (!plan->salted)
		return last + 1;
	return ((last >> SALT_BITS) + 1) << SALT_BITS | salt(nodes, tree);
}

/* A tree of which any entry differs begins a new attempt at all its nodes. */
static void next_attempts(struct plan *plan, const json_t *touched,
			  const json_t *nodes)
{
	struct plan_name tree;
	size_t i;

	for (i = 0; i < aggt_plan_trees(plan->trees); i++) {
		tree = plan_name_tree(plan, i);
		if (!json_object_get(touched, tree.text) &&
		    !(plan->renew && plan->renew[i]))
			continue;
		plan->attempt[i] = next_attempt(plan, i, nodes, tree.text);
		plan->used[i] = plan->attempt[i];
	}
}

static bool has_tree(const json_t *trees, const json_t *entry)
{
	json_t *other;
	size_t i;

	json_array_foreach((json_t *)trees, i, other)
		if (json_equal(json_object_get(other, "receiver"),
			       json_object_get(entry, "receiver")) &&
		    json_equal(json_object_get(other, "job"),
			       json_object_get(entry, "job")))
			return true;
	return false;
}

static json_t *entry_name(const json_t *entry)
{
	json_t *plan = json_object_get(entry, "plan");
	json_t *name;

	name = json_pack("{s:O, s:O, s:O, s:O}",
			 "job", json_object_get(entry, "job"),
			 "receiver", json_object_get(entry, "receiver"),
			 "instance", json_object_get(entry, "instance"),
			 "attempt", json_object_get(entry, "attempt"));
	if (plan)
		json_object_set(name, "plan", plan);
	return name;
}

/* The new node's list of old entries that "apply --replace" deletes. */
static void add_removals(const json_t *from, json_t *to)
{
	json_t *remove = json_array(), *links = json_object_get(to, "links");
	json_t *entry, *link, *other;
	bool there;
	size_t i, k;

	json_array_foreach(json_object_get(from, "trees"), i, entry)
		if (!has_tree(json_object_get(to, "trees"), entry) &&
		    !has_tree(remove, entry))
			json_array_append_new(remove, entry_name(entry));
	if (json_array_size(remove))
		json_object_set(to, "remove", remove);
	json_decref(remove);
	/* Links stay known, so that they are withdrawn some time. */
	json_array_foreach(json_object_get(from, "links"), i, link) {
		there = false;
		json_array_foreach(links, k, other)
			there |= json_equal(link, other);
		if (!there)
			json_array_append(links, link);
	}
}

static void keep_old_nodes(const json_t *from, json_t *to)
{
	const char *name;
	json_t *old, *new;

	json_object_foreach((json_t *)from, name, old) {
		new = json_object_get(to, name);
		if (!new) {
			new = json_copy(old);
			json_object_set_new(new, "trees", json_array());
			json_object_set_new(new, "links", json_array());
			json_object_del(new, "remove");
			json_object_set_new(to, name, new);
		}
		add_removals(old, new);
	}
}

static json_t *text_list(char **texts, size_t n)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		json_array_append_new(list, json_string(texts[i]));
	return list;
}

/* Senders that the new plan is without, if it may be. */
static void note_absent(struct plan *plan, const struct aggt_plan *next)
{
	const struct aggt_job *old = aggt_plan_job(plan->trees);
	const struct aggt_job *new = aggt_plan_job(next);
	size_t i, k;

	for (i = 0; plan->conf.allow_missing && i < old->n_senders; i++) {
		for (k = 0; k < new->n_senders; k++)
			if (new->senders[k] == old->senders[i])
				break;
		if (k == new->n_senders)
			json_array_append_new(plan->absent,
				addr_json(plan_identity(plan,
							old->senders[i])));
	}
}

/* The parts that have not failed before. */
static json_t *new_failures(const struct plan *plan,
			    const struct aggt_change *change, size_t n)
{
	json_t *failed = json_array();
	size_t i;

	for (i = 0; i < n; i++)
		if (change[i].kind == AGGT_FAILED &&
		    !aggt_topo_failed(plan->topo, change[i].part))
			list_add(failed, change[i].part);
	return failed;
}

/* Change the trees; returns what is to be told of it. */
static json_t *change_trees(struct plan *plan, const struct aggt_change *change,
			    char **texts, size_t n)
{
	double start = now(), updated;
	struct aggt_plan *trees, *rebuilt;
	struct aggt_err why;
	json_t *update;

	trees = aggt_plan_update(plan->topo, plan->trees, change, n, &why);
	if (!trees) {
		err("plan: %s", why.text);
		return NULL;
	}
	updated = now();
	rebuilt = aggt_plan_build(plan->topo, aggt_plan_job(trees), &why);
	update = json_pack("{s:o, s:f, s:f}", "changes", text_list(texts, n),
			   "reuse", aggt_plan_reuse(plan->trees, trees),
			   "seconds", updated - start);
	if (rebuilt) {
		json_object_set_new(update, "rebuild_seconds",
				    json_real(now() - updated));
		json_object_set_new(update, "rebuild_cost",
				    json_real(aggt_plan_metrics(rebuilt)->cost));
	}
	aggt_plan_free(rebuilt);
	note_absent(plan, trees);
	aggt_plan_free(plan->trees);
	plan->trees = trees;
	return update;
}

static struct aggt_change *parse_changes(struct plan *plan, char **texts,
					 size_t n)
{
	struct aggt_change *change = calloc(n + 1, sizeof(*change));
	struct aggt_err why = { "out of memory" };
	size_t i = 0;

	while (change && i < n &&
	       !aggt_change_parse(plan->topo, texts[i], &change[i], &why))
		i++;
	if (change && i == n)
		return change;
	err("plan: %s", why.text);
	free(change);
	return NULL;
}

/**
 * plan_update() - change a plan
 * @plan: the plan
 * @old: its JSON
 * @texts: what happens to it, in that order
 * @n: how much
 *
 * Return: JSON of the new plan, with its difference to the old one, or NULL
 * with an error line printed.
 */
json_t *plan_update(struct plan *plan, const json_t *old, char **texts,
		    size_t n)
{
	struct aggt_change *change = parse_changes(plan, texts, n);
	const json_t *from = json_object_get(old, "nodes");
	json_t *update, *json, *failed;
	struct diff diff;

	if (!change)
		return NULL;
	failed = new_failures(plan, change, n);
	update = change_trees(plan, change, texts, n);
	free(change);
	json_array_extend(plan->failed, failed);
	json_decref(failed);
	if (!update)
		return NULL;
	json = plan_json(plan);
	if (!json) {
		json_decref(update);
		return NULL;
	}
	diff = diff_nodes(from, json_object_get(json, "nodes"));
	next_attempts(plan, diff.trees, json_object_get(json, "nodes"));
	json_decref(diff.trees);
	json_decref(json);
	json = plan_json(plan);
	if (!json) {
		json_decref(update);
		json_decref(diff.nodes);
		return NULL;
	}
	keep_old_nodes(from, json_object_get(json, "nodes"));
	json_object_set_new(json, "update", update);
	json_object_set_new(json, "diff", diff.nodes);
	return json;
}
