// SPDX-License-Identifier: GPL-2.0
/* The entries of one node: staged, taken back, withdrawn. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "info.h"
#include "plan/plan_apply.h"

#define PLAN_ID_LEN	8	/* of the identity the part that is random */

static const char * const link_skip[] = { "port", NULL };
static const char * const tree_skip[] = {
	"link_port", "link_to", "parent", "role", "switch", NULL
};

static const char *tree_text(const struct aggnet_tree_info *tree)
{
	static char text[64];

	snprintf(text, sizeof(text), "tree of job %u to %s",
		 aggnet_incast_job(tree->incast_id),
		 addr_text(aggnet_incast_receiver(tree->incast_id)));
	return text;
}

static const struct node_port *named_port(const struct node *node,
					  const json_t *object,
					  const char *member)
{
	const char *name = json_string_value(json_object_get(object, member));
	const struct node_port *port = name ? node_port(node, name) : NULL;

	if (!port)
		err("%s: %s: '%s' is not one of the node's ports", node->name,
		    member, name ? name : "");
	return port;
}

static int parse_link(const struct node *node, const json_t *object,
		      struct aggnet_link_info *link)
{
	const struct node_port *port = named_port(node, object, "port");

	memset(link, 0, sizeof(*link));
	if (!port || info_parse(&aggnet_noun_link, object, link_skip, link,
				node->name))
		return -1;
	link->ifindex = port->ifindex;
	link->has |= AGGNET_HAS(AGGNET_A_LINK_IFINDEX);
	return 0;
}

/* But for its port. info_clear() is due in any case. */
static int parse_bare_tree(const struct node *node, const json_t *object,
			   struct aggnet_tree_info *tree)
{
	memset(tree, 0, sizeof(*tree));
	return info_parse(&aggnet_noun_tree, object, tree_skip, tree,
			  node->name);
}

static int parse_tree_port(const struct node *node, const json_t *object,
			   struct aggnet_tree_info *tree)
{
	const struct node_port *port;

	if (!json_object_get(object, "link_port"))
		return 0;
	port = named_port(node, object, "link_port");
	if (!port)
		return -1;
	tree->link_ifindex = port->ifindex;
	tree->has |= AGGNET_HAS(AGGNET_A_TREE_LINK_IFINDEX);
	return 0;
}

/* info_clear() is due in any case. */
static int parse_tree(const struct node *node, const json_t *object,
		      struct aggnet_tree_info *tree)
{
	return parse_bare_tree(node, object, tree) ||
	       parse_tree_port(node, object, tree) ? -1 : 0;
}

/* Filters of packets find a link by the name that it has from the start. */
static bool same_name(const struct aggnet_link_info *now,
		      const struct aggnet_link_info *wanted)
{
	return !(wanted->has & AGGNET_HAS(AGGNET_A_LINK_NAME)) ||
	       ((now->has & AGGNET_HAS(AGGNET_A_LINK_NAME)) &&
		now->name == wanted->name);
}

static int check_name(const struct node *node,
		      const struct aggnet_link_info *now,
		      const struct aggnet_link_info *wanted)
{
	char port[IF_NAMESIZE] = "?";

	if (same_name(now, wanted))
		return 0;
	if_indextoname(now->ifindex, port);
	err("%s: the link %s%s%s is there, but not by the name that the plan gives it: withdraw the plan that it is of, or delete it",
	    node->name, port, now->neighbour.s_addr ? " to " : "",
	    now->neighbour.s_addr ? addr_text(now->neighbour) : "");
	return -1;
}

/* A device that a link or an entry names is gone. */
static bool is_gone(const struct node *node, const json_t *object,
		    const char *member)
{
	const char *port = json_string_value(json_object_get(object, member));

	return port && !node_port(node, port);
}

/*
 * Links are shared by plans: only those that lack are added. @replace: the node
 * may have lost devices.
 */
static int stage_links(struct node *node, const json_t *links, bool replace)
{
	size_t i, n, wanted = json_array_size(links);
	const struct aggnet_link_info *there;
	struct aggnet_link_info *now, *link;
	const json_t *object;
	int ret = 0;

	if (!wanted)
		return 0;
	if (aggnet_link_list(node->ctl, &now, &n))
		return node_refused(node, "links");
	node->links = calloc(wanted, sizeof(*node->links));
	if (!node->links) {
		err("%s: out of memory", node->name);
		ret = -1;
	}
	for (i = 0; !ret && i < wanted; i++) {
		object = json_array_get(links, i);
		/* A link goes with its device; an entry that needs it is refused. */
		if (replace && is_gone(node, object, "port"))
			continue;
		link = &node->links[node->n_links];
		ret = parse_link(node, object, link);
		there = ret ? NULL : info_find_link(now, n, link);
		if (there)
			ret = check_name(node, there, link);
		if (ret || there)
			continue;
		if (aggnet_link_add(node->ctl, link))
			ret = node_refused(node, "link");
		else
			node->n_links++;
	}
	free(now);
	return ret;
}

/* Returns 1 if the tree has an entry, 0 if not, -1 with an error line. */
static int find_entry(const struct node *node,
		      const struct aggnet_tree_info *tree,
		      struct aggnet_tree_info *now)
{
	int error = aggnet_tree_get(node->ctl, tree->incast_id, now);

	if (error && error != -ENOENT)
		return node_refused(node, tree_text(tree));
	return !error;
}

static bool same_epoch(const struct aggnet_tree_info *a,
		       const struct aggnet_tree_info *b)
{
	return a->instance == b->instance && a->attempt == b->attempt;
}

static bool has_plan(const struct aggnet_tree_info *tree)
{
	return tree->has & AGGNET_HAS(AGGNET_A_TREE_PLAN);
}

/* The random part and the digest, or neither of both entries. */
static bool same_plan(const struct aggnet_tree_info *a,
		      const struct aggnet_tree_info *b)
{
	return has_plan(a) == has_plan(b) &&
	       !memcmp(a->plan, b->plan, sizeof(a->plan));
}

/* Attempts of one plan: the random part is the same, the digest need not be. */
static bool one_plan(const struct aggnet_tree_info *a,
		     const struct aggnet_tree_info *b)
{
	return a->instance == b->instance && has_plan(a) && has_plan(b) &&
	       !memcmp(a->plan, b->plan, PLAN_ID_LEN);
}

static struct node_entry entry_of(const struct aggnet_tree_info *tree)
{
	struct node_entry entry = {
		.instance = tree->instance, .attempt = tree->attempt,
		.has_plan = has_plan(tree),
	};

	memcpy(entry.plan, tree->plan, sizeof(entry.plan));
	return entry;
}

static struct aggnet_tree_info tree_of(uint64_t incast_id,
				       const struct node_entry *entry)
{
	struct aggnet_tree_info tree = {
		.has = entry->has_plan ? AGGNET_HAS(AGGNET_A_TREE_PLAN) : 0,
		.incast_id = incast_id, .instance = entry->instance,
		.attempt = entry->attempt,
	};

	memcpy(tree.plan, entry->plan, sizeof(tree.plan));
	return tree;
}

static bool is_entry(const struct aggnet_tree_info *tree,
		     const struct node_entry *entry)
{
	const struct aggnet_tree_info other = tree_of(tree->incast_id, entry);

	return same_epoch(tree, &other) && same_plan(tree, &other);
}

static int other_plan(const struct node *node,
		      const struct aggnet_tree_info *tree)
{
	err("%s: %s: another plan of the same epoch %u.%u is in force: withdraw that one, or plan again",
	    node->name, tree_text(tree), tree->instance, tree->attempt);
	return -1;
}

/**
 * struct standing - how an entry of a plan stands at a node
 * @there: it is in force
 * @was: another epoch of its tree is
 * @old: what is in force
 */
struct standing {
	bool there;
	bool was;
	struct node_entry old;
};

/*
 * Returns 0, or -1 with an error line: also if an entry of the same epoch is
 * there, but of another plan.
 */
static int find_standing(const struct node *node,
			 const struct aggnet_tree_info *tree,
			 struct standing *standing)
{
	struct aggnet_tree_info now;
	int found = find_entry(node, tree, &now), ret = 0;

	*standing = (struct standing){};
	if (found <= 0)
		return found;
	standing->there = same_epoch(&now, tree);
	standing->was = !standing->there;
	standing->old = entry_of(&now);
	if (standing->there && !same_plan(&now, tree))
		ret = other_plan(node, tree);
	aggnet_tree_clear(&now);
	return ret;
}

static struct node_step *last_step(const struct node *node)
{
	return node->n_steps ? &node->step[node->n_steps - 1] : NULL;
}

/* An incast ID may have several entries in a row, at a switch. */
static void note_step(struct node *node, struct node_step step)
{
	struct node_step *last = last_step(node);

	if (!last || last->incast_id != step.incast_id) {
		node->step[node->n_steps++] = step;
		return;
	}
	/* It has been removed before, or has another entry. */
	if (last->was) {
		step.was = true;
		step.old = last->old;
	}
	*last = step;
}

/* Of serial numbers, as nodes compare them. */
static bool is_newer(const struct aggnet_tree_info *tree,
		     const struct node_entry *was)
{
	uint64_t a = (uint64_t)tree->instance << 32 | tree->attempt;
	uint64_t b = (uint64_t)was->instance << 32 | was->attempt;

	return (int64_t)(a - b) > 0;
}

static int not_newer(const struct node *node,
		     const struct aggnet_tree_info *tree,
		     const struct node_entry *was)
{
	err("%s: %s: epoch %u.%u is in force, and this plan's %u.%u is not newer: to apply this plan, withdraw that one first",
	    node->name, tree_text(tree), was->instance, was->attempt,
	    tree->instance, tree->attempt);
	return -1;
}

static int has_entry(const struct node *node,
		     const struct aggnet_tree_info *tree)
{
	err("%s: %s: another plan of this job is in force: withdraw that one, or apply this plan with --replace",
	    node->name, tree_text(tree));
	return -1;
}

static int stage_tree(struct node *node, const struct aggnet_tree_info *tree,
		      bool replace)
{
	struct node_step step = {
		.incast_id = tree->incast_id, .added = true,
		.new = entry_of(tree),
	};
	struct standing standing = {};

	if (find_standing(node, tree, &standing))
		return -1;
	/* A tree that an update left alone goes on as it is. */
	if (standing.there)
		return 0;
	if (standing.was && !replace)
		return has_entry(node, tree);
	if (standing.was && !is_newer(tree, &standing.old))
		return not_newer(node, tree, &standing.old);
	if (aggnet_tree_add(node->ctl, tree, replace))
		return node_refused(node, tree_text(tree));
	step.was = standing.was;
	step.old = standing.old;
	note_step(node, step);
	return 0;
}

static int stage_trees(struct node *node, const json_t *trees, bool replace)
{
	struct aggnet_tree_info tree;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < json_array_size(trees); i++) {
		ret = parse_tree(node, json_array_get(trees, i), &tree) ||
		      stage_tree(node, &tree, replace);
		info_clear(&aggnet_noun_tree, &tree);
	}
	return ret ? -1 : 0;
}

static int stage_removal(struct node *node, const struct aggnet_tree_info *tree)
{
	struct standing standing;

	if (find_standing(node, tree, &standing))
		return -1;
	if (!standing.there)
		return 0;
	if (aggnet_tree_del_epoch(node->ctl, tree))
		return node_refused(node, tree_text(tree));
	note_step(node, (struct node_step){ .incast_id = tree->incast_id,
					    .was = true,
					    .old = standing.old });
	return 0;
}

/* Entries of the plan that this one is an update of. */
static int stage_removals(struct node *node, const json_t *trees)
{
	struct aggnet_tree_info tree;
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < json_array_size(trees); i++) {
		ret = parse_tree(node, json_array_get(trees, i), &tree) ||
		      stage_removal(node, &tree);
		info_clear(&aggnet_noun_tree, &tree);
	}
	return ret ? -1 : 0;
}

/**
 * plan_part_stage() - have a node check and stage its entries
 * @node: the node, open; we are in its namespace
 * @entry: its part of the plan
 * @replace: entries of older epochs may be replaced
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_part_stage(struct node *node, const json_t *entry, bool replace)
{
	const json_t *role = json_object_get(entry, "role");
	const json_t *address = json_object_get(entry, "address");

	const json_t *remove = json_object_get(entry, "remove");
	const json_t *trees = json_object_get(entry, "trees");

	/* What replaces a plan may go around devices that it had. */
	if (node_setup(node, json_string_value(role),
		       json_string_value(address),
		       json_object_get(entry, "ports"), replace))
		return -1;
	node->step = calloc(json_array_size(trees) + json_array_size(remove) +
			    1, sizeof(*node->step));
	if (!node->step) {
		err("%s: out of memory", node->name);
		return -1;
	}
	if (aggnet_plan_begin(node->ctl))
		return node_refused(node, "plan");
	if (replace && stage_removals(node, remove))
		return -1;
	return stage_links(node, json_object_get(entry, "links"), replace) ||
	       stage_trees(node, trees, replace) ? -1 : 0;
}

/* Return: a row, or NULL with an error line printed. */
static json_t *compare(const struct node *node, const json_t *object)
{
	struct aggnet_tree_info tree, now;
	json_t *row = NULL;
	int found = -1;
	bool same = false;

	if (!parse_bare_tree(node, object, &tree))
		found = find_entry(node, &tree, &now);
	if (found > 0) {
		same = same_epoch(&now, &tree) && same_plan(&now, &tree);
		aggnet_tree_clear(&now);
	}
	if (found >= 0)
		row = json_pack("{s:s, s:b, s:b}", "entry", tree_text(&tree),
				"there", found, "same", same);
	info_clear(&aggnet_noun_tree, &tree);
	return row;
}

static json_t *compare_link(const struct node *node, const json_t *object,
			    const struct aggnet_link_info *list, size_t n)
{
	const char *port = json_string_value(json_object_get(object, "port"));
	const char *to = json_string_value(json_object_get(object, "neighbour"));
	const struct aggnet_link_info *now = NULL;
	struct aggnet_link_info link;
	bool same = false;

	if (!is_gone(node, object, "port")) {
		if (parse_link(node, object, &link))
			return NULL;
		now = info_find_link(list, n, &link);
		same = now && same_name(now, &link);
	}
	return json_pack("{s:o, s:b, s:b, s:b}", "entry",
			 json_sprintf("link %s%s%s", port ? port : "?",
				      to ? " to " : "", to ? to : ""),
			 "link", true, "there", now != NULL, "same", same);
}

/* Return: 0, or -1 with an error line printed */
static int compare_links(const struct node *node, const json_t *links,
			 json_t *rows)
{
	struct aggnet_link_info *list;
	const json_t *object;
	int ret = 0;
	size_t i, n;

	if (!json_array_size(links))
		return 0;
	if (aggnet_link_list(node->ctl, &list, &n))
		return node_refused(node, "links");
	json_array_foreach((json_t *)links, i, object)
		if (json_array_append_new(rows, compare_link(node, object, list, n)))
			ret = -1;
	free(list);
	return ret;
}

/**
 * plan_part_compare() - which of its entries and links a node has in force
 * @node: the node, open; we are in its namespace
 * @entry: its part of the plan
 *
 * Return: an array with a row for each entry: its name (entry), whether there is one of
 * its job and receiver (there), and whether that one is of this plan (same); likewise
 * for each link, whose row says so (link), and which is the same if it has the name of
 * the plan; or NULL with an error line printed.
 */
json_t *plan_part_compare(const struct node *node, const json_t *entry)
{
	json_t *rows = json_array(), *object;
	size_t i;

	json_array_foreach(json_object_get(entry, "trees"), i, object)
		if (json_array_append_new(rows, compare(node, object)))
			goto fail;
	if (!compare_links(node, json_object_get(entry, "links"), rows))
		return rows;
fail:
	json_decref(rows);
	return NULL;
}

static const struct node_step *find_step(const struct node *node, uint64_t id)
{
	size_t i;

	for (i = 0; i < node->n_steps; i++)
		if (node->step[i].incast_id == id)
			return &node->step[i];
	return NULL;
}

/*
 * Only what was there before comes back. Its device may be gone: then the node
 * would refuse all that is staged.
 */
static int stage_old_tree(struct node *node, const json_t *object,
			  struct aggnet_tree_info *tree,
			  const struct node_entry *was)
{
	if (!is_entry(tree, was)) {
		err("%s: %s: epoch %u.%u was in force, not this entry of %u.%u: it does not come back",
		    node->name, tree_text(tree), was->instance, was->attempt,
		    tree->instance, tree->attempt);
		return 0;
	}
	if (is_gone(node, object, "link_port")) {
		err("%s: %s: its device %s is gone: the entry does not come back",
		    node->name, tree_text(tree),
		    json_string_value(json_object_get(object, "link_port")));
		return 0;
	}
	if (parse_tree_port(node, object, tree))
		return -1;
	return aggnet_tree_add(node->ctl, tree, false) ?
	       node_refused(node, tree_text(tree)) : 0;
}

/* Entries of the plan before that this one has replaced or removed. */
static int stage_old(struct node *node, const json_t *old)
{
	const struct node_step *step;
	struct aggnet_tree_info tree;
	json_t *object;
	int ret = 0;
	size_t i;

	json_array_foreach((json_t *)json_object_get(old, "trees"), i, object) {
		ret = parse_bare_tree(node, object, &tree);
		step = ret ? NULL : find_step(node, tree.incast_id);
		if (step && step->was && step->stands)
			ret = stage_old_tree(node, object, &tree, &step->old);
		info_clear(&aggnet_noun_tree, &tree);
		if (ret)
			return ret;
	}
	return 0;
}

/* Does the node have what the step made of the incast ID, and nothing else? */
static int find_result(const struct node *node, struct node_step *step)
{
	const struct aggnet_tree_info tree = { .incast_id = step->incast_id };
	struct aggnet_tree_info now;
	int found = find_entry(node, &tree, &now);

	if (found < 0)
		return -1;
	step->stands = found ? step->added && is_entry(&now, &step->new) :
			       !step->added;
	if (found)
		aggnet_tree_clear(&now);
	return 0;
}

static int stage_undo_step(struct node *node, struct node_step *step)
{
	struct aggnet_tree_info tree = tree_of(step->incast_id, &step->new);

	if (find_result(node, step))
		return -1;
	if (step->added && step->stands &&
	    aggnet_tree_del_epoch(node->ctl, &tree))
		return node_refused(node, tree_text(&tree));
	return 0;
}

/* Entries that were added and are still there. */
static int stage_undo(struct node *node)
{
	size_t i;

	for (i = 0; i < node->n_steps; i++)
		if (stage_undo_step(node, &node->step[i]))
			return -1;
	return 0;
}

/* Does the node have one of the links that were staged? */
static int has_link(const struct node *node)
{
	struct aggnet_link_info *now;
	int found = 0;
	size_t i, n;

	if (!node->n_links)
		return 0;
	if (aggnet_link_list(node->ctl, &now, &n))
		return node_refused(node, "links");
	for (i = 0; i < node->n_links; i++)
		found |= !!info_find_link(now, n, &node->links[i]);
	free(now);
	return found;
}

/**
 * plan_part_committed() - is a node's part in force although its commit failed?
 * @node: the node, with the handle that staged it
 *
 * A node may have served the request whose answer was lost.
 *
 * Return: 1, 0, or -1 with an error line printed.
 */
int plan_part_committed(struct node *node)
{
	size_t i;

	for (i = 0; i < node->n_steps; i++) {
		if (find_result(node, &node->step[i]))
			return -1;
		if (node->step[i].stands)
			return 1;
	}
	return has_link(node);
}

/**
 * plan_part_undo() - take back what was committed a moment ago
 * @node: the node, with the handle that staged it; we are in its namespace
 * @old: its part of the plan that was in force before, NULL: it is not known
 *
 * Entries and links of devices that are gone stay away. A tree that has been
 * touched since, because another plan was applied or this one was withdrawn,
 * stays as it is.
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_part_undo(struct node *node, const json_t *old)
{
	size_t i;

	if (node_look(node))
		return -1;
	if (aggnet_plan_begin(node->ctl))
		return node_refused(node, "plan");
	if (stage_undo(node) || stage_old(node, old))
		return -1;
	for (i = 0; i < node->n_links; i++)
		if (node_has(node, node->links[i].ifindex) &&
		    aggnet_link_del(node->ctl, &node->links[i]))
			return node_refused(node, "link");
	if (aggnet_plan_commit(node->ctl))
		return node_refused(node, "plan");
	return 0;
}

static bool same_tree(const json_t *tree, const json_t *other)
{
	return json_equal(json_object_get(tree, "job"),
			  json_object_get(other, "job")) &&
	       json_equal(json_object_get(tree, "receiver"),
			  json_object_get(other, "receiver"));
}

/* Is one of the first @n entries of the list of the same tree? */
static bool has_tree(const json_t *trees, size_t n, const json_t *tree)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (same_tree(tree, json_array_get(trees, i)))
			return true;
	return false;
}

/* Is @now the plan's @tree, or of another attempt? Return: 1, or -1 if not. */
static int may_delete(const struct node *node,
		      const struct aggnet_tree_info *tree,
		      const struct aggnet_tree_info *now)
{
	if (one_plan(now, tree))
		return 1;
	if (same_epoch(now, tree))
		return same_plan(now, tree) ? 1 : other_plan(node, tree);
	err("%s: %s: it is in epoch %u.%u, not in the plan's %u.%u",
	    node->name, tree_text(tree), now->instance, now->attempt,
	    tree->instance, tree->attempt);
	return -1;
}

/*
 * An entry of another plan is not ours to delete, also if it replaces this one
 * right now. Return: 1, 0 if there was no entry, or -1
 */
static int delete_entry(const struct node *node,
			const struct aggnet_tree_info *tree)
{
	struct aggnet_tree_info now;
	int found = find_entry(node, tree, &now);

	if (found <= 0)
		return found;
	found = may_delete(node, tree, &now);
	if (found > 0 && aggnet_tree_del_epoch(node->ctl, &now))
		found = node_refused(node, tree_text(tree));
	aggnet_tree_clear(&now);
	return found;
}

static int withdraw_tree(struct node *node, const json_t *object,
			 unsigned int *missing)
{
	struct aggnet_tree_info tree;
	int ret;

	/* The device of its link need not be there any more. */
	ret = parse_bare_tree(node, object, &tree);
	if (!ret) {
		ret = delete_entry(node, &tree);
		*missing += !ret;
	}
	info_clear(&aggnet_noun_tree, &tree);
	return ret < 0 ? -1 : 0;
}

/*
 * Links that no tree of any plan leaves by any more. Those that have a name
 * stay: they belong to the network, and packets of other plans go by it. Those of
 * a device that is gone went with it.
 */
static int withdraw_links(struct node *node, const json_t *links)
{
	const struct aggnet_link_info *found;
	struct aggnet_link_info *now, link;
	const json_t *object;
	int ret = 0;
	size_t i, n;

	if (!json_array_size(links))
		return 0;
	if (aggnet_link_list(node->ctl, &now, &n))
		return node_refused(node, "links");
	for (i = 0; !ret && i < json_array_size(links); i++) {
		object = json_array_get(links, i);
		if (json_object_get(object, "name") ||
		    is_gone(node, object, "port"))
			continue;
		ret = parse_link(node, object, &link);
		found = ret ? NULL : info_find_link(now, n, &link);
		if (found && !found->trees &&
		    !(found->has & AGGNET_HAS(AGGNET_A_LINK_NAME)) &&
		    aggnet_link_del(node->ctl, &link))
			ret = node_refused(node, "link");
	}
	free(now);
	return ret;
}

/**
 * plan_part_sweep() - delete what a node has of any attempt of a plan
 * @node: the node, open
 * @tree: an entry of the plan, with its identity
 *
 * A repair may have put entries in nodes of which the plan file does not tell.
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_part_sweep(struct node *node, const json_t *tree)
{
	struct aggnet_tree_info *list, ours;
	int ret, error;
	size_t i, n;

	ret = parse_tree(node, tree, &ours);
	if (ret || !has_plan(&ours))
		goto out;
	if (aggnet_tree_list(node->ctl, &list, &n)) {
		ret = node_refused(node, "trees");
		goto out;
	}
	for (i = 0; !ret && i < n; i++) {
		if (!one_plan(&list[i], &ours))
			continue;
		/* Those of one tree go together at a switch. */
		error = aggnet_tree_del_epoch(node->ctl, &list[i]);
		if (error && error != -ENOENT)
			ret = node_refused(node, tree_text(&list[i]));
	}
	aggnet_tree_list_free(list, n);
out:
	info_clear(&aggnet_noun_tree, &ours);
	return ret;
}

/* How many entries of the list are of the same tree? */
static unsigned int count_tree(const json_t *trees, const json_t *tree)
{
	unsigned int n = 0;
	json_t *other;
	size_t i;

	json_array_foreach((json_t *)trees, i, other)
		n += same_tree(tree, other);
	return n;
}

/* A switch has an entry for each link of a tree; they go together. */
static int withdraw_trees(struct node *node, const json_t *trees,
			  unsigned int *missing)
{
	unsigned int gone;
	json_t *tree;
	size_t i;

	json_array_foreach((json_t *)trees, i, tree) {
		if (has_tree(trees, i, tree))
			continue;
		gone = 0;
		if (withdraw_tree(node, tree, &gone))
			return -1;
		if (gone)
			*missing += count_tree(trees, tree);
	}
	return 0;
}

/* Entries of before, if the supervisor was killed before it deleted them. */
static int withdraw_removed(struct node *node, const json_t *trees,
			    const json_t *remove)
{
	unsigned int gone = 0;
	json_t *tree;
	size_t i;

	json_array_foreach((json_t *)remove, i, tree)
		if (!has_tree(remove, i, tree) &&
		    !has_tree(trees, json_array_size(trees), tree) &&
		    withdraw_tree(node, tree, &gone))
			return -1;
	return 0;
}

/**
 * plan_part_withdraw() - delete a node's entries, all of them or none
 * @node: the node, open; we are in its namespace
 * @entry: its part of the plan
 * @missing: counts entries that are not there
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_part_withdraw(struct node *node, const json_t *entry,
		       unsigned int *missing)
{
	const json_t *trees = json_object_get(entry, "trees");

	if (node_ports(node, json_object_get(entry, "ports"),
		       NODE_ATTACH_NONE))
		return -1;
	if (aggnet_plan_begin(node->ctl))
		return node_refused(node, "plan");
	if (withdraw_trees(node, trees, missing) ||
	    withdraw_removed(node, trees, json_object_get(entry, "remove")))
		return -1;
	if (aggnet_plan_commit(node->ctl))
		return node_refused(node, "plan");
	return withdraw_links(node, json_object_get(entry, "links"));
}
