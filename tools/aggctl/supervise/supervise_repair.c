// SPDX-License-Identifier: GPL-2.0
/* A new attempt: the plan recomputed around a failure, and put in force. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "info.h"
#include "netns.h"
#include "plan/plan.h"
#include "plan/plan_apply.h"
#include "supervise/supervise.h"
#include "testbed/testbed.h"

/* A repair that a node refuses is tried again after 0.2 s, 0.4 s, ... */
#define RETRY_MS	100u
#define REFUSALS_MAX	5

static const struct post *find_post(const struct supervise *s,
				    const char *name)
{
	size_t i;

	for (i = 0; i < s->n_posts; i++)
		if (!strcmp(s->post[i].name, name))
			return &s->post[i];
	return NULL;
}

/* The plan goes around the part, also after it has worked again. */
static bool has_failed(const struct supervise *s, const char *change)
{
	const size_t len = strlen("failed:");

	return !strncmp(change, "failed:", len) &&
	       list_has(json_object_get(s->json, "failed"), change + len);
}

/* The receiver has its result: its tree needs it no more, and no other. */
static bool is_over(const struct supervise *s, const char *change)
{
	const size_t len = strlen("failed:");
	size_t i;

	for (i = 0; i < s->n_trees; i++)
		if (!strncmp(change, "failed:", len) &&
		    !strcmp(change + len, s->tree[i].at))
			return true;
	return false;
}

/* What was found stays to be done until it has been. Return: is any of it new? */
static bool take_finding(struct supervise *s, const struct aggnet_finding *f)
{
	bool news = false;
	size_t i;

	for (i = 0; i < f->n_changes; i++)
		if (!has_failed(s, f->change[i]))
			news |= list_add(is_over(s, f->change[i]) ? s->over :
					 s->changes, f->change[i]);
	for (i = 0; i < f->n_renew; i++)
		news |= list_add(s->renew,
				 supervise_tree(s, f->renew[i])->text);
	return news;
}

/* --- finished trees ------------------------------------------------------- */

/* Has the receiver of a tree, or of an entry, its result? */
static bool is_finished(const struct supervise *s, const json_t *named)
{
	return aggnet_watch_is_done(s->watch, supervise_incast(s->json, named));
}

static json_t *receivers_of(const json_t *json)
{
	return json_object_get(json_object_get(json, "members"), "receivers");
}

static json_t *entries_of(const json_t *json, const char *node)
{
	return json_object_get(json_object_get(json_object_get(json, "nodes"),
					       node), "trees");
}

static void leave_out_finished(const struct supervise *s, json_t *entries)
{
	size_t i;

	for (i = json_array_size(entries); i--; )
		if (is_finished(s, json_array_get(entries, i)))
			json_array_remove(entries, i);
}

/* Stripes are planned together, finished or not. */
static bool is_striped(const json_t *json)
{
	return json_object_get(json_object_get(json, "metrics"), "stripes");
}

/*
 * The plan in force without the trees whose receivers have the result: they are
 * left as they are, whether the receivers live or not.
 */
static json_t *unfinished(const struct supervise *s)
{
	json_t *json = json_deep_copy(s->json), *node;
	json_t *trees = json_object_get(json, "trees");
	const char *name;
	size_t i;

	if (is_striped(json))
		return json;
	for (i = json_array_size(trees); i--; ) {
		if (!is_finished(s, json_array_get(trees, i)))
			continue;
		json_array_remove(trees, i);
		json_array_remove(receivers_of(json), i);
	}
	json_object_foreach(json_object_get(json, "nodes"), name, node)
		leave_out_finished(s, json_object_get(node, "trees"));
	return json;
}

/* What was planned for a finished stripe is not installed. */
static void undo_finished(const struct supervise *s, json_t *json)
{
	json_t *trees = json_object_get(json, "trees"), *node;
	const char *name;
	size_t i;

	for (i = json_array_size(trees); i--; )
		if (is_finished(s, json_array_get(trees, i)))
			json_array_remove(trees, i);
	json_object_foreach(json_object_get(json, "nodes"), name, node) {
		leave_out_finished(s, json_object_get(node, "trees"));
		leave_out_finished(s, json_object_get(node, "remove"));
	}
}

/* Have the finished trees be at their places again. */
static void put_back(const struct supervise *s, json_t *json)
{
	json_t *trees = json_object_get(json, "trees"), *tree, *node, *entry;
	const char *name;
	size_t i;

	if (is_striped(json))
		undo_finished(s, json);
	json_array_foreach(json_object_get(s->json, "trees"), i, tree) {
		if (!is_finished(s, tree))
			continue;
		json_array_insert(trees, i, tree);
		if (!is_striped(json))
			json_array_insert(receivers_of(json), i,
					  json_array_get(receivers_of(s->json), i));
	}
	json_object_foreach(json_object_get(s->json, "nodes"), name, node)
		json_array_foreach(json_object_get(node, "trees"), i, entry)
			if (is_finished(s, entry))
				json_array_append(entries_of(json, name),
						  entry);
	if (json_object_get(json, "names"))
		json_object_update_missing(json_object_get(json, "names"),
					   json_object_get(s->json, "names"));
}

/* A plan cannot be read in which the receiver of a tree has failed. */
static void leave_out_over(const struct supervise *s, json_t *failed)
{
	char text[sizeof("failed:") + AGGT_PART];
	size_t i;

	for (i = json_array_size(failed); i--; ) {
		snprintf(text, sizeof(text), "failed:%s",
			 json_string_value(json_array_get(failed, i)));
		if (list_has(s->over, text))
			json_array_remove(failed, i);
	}
}

/* --- planning ------------------------------------------------------------- */

static int mark_trees(const struct supervise *s, struct plan *plan)
{
	size_t i, n = aggt_plan_trees(plan->trees);
	const struct supervised_tree *tree;
	struct in_addr to;

	plan->salted = s->only && plan->id[0];
	plan->renew = calloc(n, sizeof(*plan->renew));
	if (!plan->renew) {
		err("out of memory");
		return -1;
	}
	for (i = 0; i < n; i++) {
		to = plan_identity(plan, aggt_tree_receiver(
				   aggt_plan_tree(plan->trees, i)));
		tree = supervise_tree(s, aggnet_incast_id(plan_job(plan, i), to));
		plan->renew[i] = list_has(s->renew, tree->text);
		plan->used[i] = tree->used;
	}
	return 0;
}

static void add_changes(char **texts, size_t *n, const json_t *changes)
{
	json_t *value;
	size_t i;

	json_array_foreach((json_t *)changes, i, value)
		texts[(*n)++] = (char *)json_string_value(value);
}

/* Members are numbers; a described network has names for them. */
static bool is_sender(const json_t *json, const char *node)
{
	const json_t *names = json_object_get(json, "names"), *name;
	char number[16], own[sizeof(number) + 1];
	json_t *sender;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(json, "members"),
					   "senders"), i, sender) {
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(sender));
		snprintf(own, sizeof(own), "v%s", number);
		name = json_object_get(names, number);
		if (!strcmp(name ? json_string_value(name) : own, node))
			return true;
	}
	return false;
}

/*
 * A source that was not heard has failed, with all ways through it; but others may have
 * no other way. Then it leaves as a source only. Return: is there such a source?
 */
static bool only_leave(struct supervise *s)
{
	const size_t len = strlen("failed:");
	const char *change;
	bool any = false;
	size_t i;

	for (i = 0; i < json_array_size(s->changes); i++) {
		change = json_string_value(json_array_get(s->changes, i));
		if (strncmp(change, "failed:", len) ||
		    !is_sender(s->json, change + len))
			continue;
		json_array_set_new(s->changes, i,
				   json_sprintf("leave:%s", change + len));
		any = true;
	}
	return any;
}

/*
 * The plan in force, changed; NULL with an error line printed. @routed: plain IP
 * goes around what has failed
 */
static json_t *try_plan(struct supervise *s, bool *routed)
{
	const size_t most = json_array_size(s->changes) +
			    json_array_size(s->over);
	char **texts = calloc(most + 1, sizeof(*texts));
	json_t *json = NULL, *old;
	struct plan plan = {};
	size_t n = 0;

	if (!texts) {
		err("out of memory");
		return NULL;
	}
	add_changes(texts, &n, s->changes);
	add_changes(texts, &n, s->over);
	old = unfinished(s);
	if (!plan_restore(&plan, old, s->path ? s->path : "plan") &&
	    !mark_trees(s, &plan))
		json = plan_update(&plan, old, texts, n);
	json_decref(old);
	if (json) {
		put_back(s, json);
		leave_out_over(s, json_object_get(json, "failed"));
	}
	if (json && !plan_has_addresses(&plan)) {
		err("supervise: the way around what has failed leads through a host without an address");
		json_decref(json);
		json = NULL;
	}
	/* Answers and fallbacks go by plain IP, which only a testbed has us route. */
	*routed = !json || !s->in_testbed || s->only ||
		  !aggt_topo_digits(plan.topo) ||
		  !tb_reroute(plan.topo);
	plan_clear(&plan);
	free(texts);
	return json;
}

static json_t *replan(struct supervise *s, bool *routed)
{
	json_t *json;
	bool again;

	err_keep();
	json = try_plan(s, routed);
	again = !json && only_leave(s);
	err_tell(!again);
	return again ? try_plan(s, routed) : json;
}

/* --- installation --------------------------------------------------------- */

/*
 * Nodes that are there, with entries parents first, then those without. Return:
 * 0, or -1 with an error line printed
 */
static int order_parts(const struct supervise *s, struct plan_file *file)
{
	struct plan_part *part = calloc(file->n + 1, sizeof(*part));
	size_t i, n = 0;

	if (!part) {
		err("out of memory");
		return -1;
	}
	for (i = 0; i < file->n; i++)
		if (find_post(s, file->part[i].name)->ctl &&
		    json_array_size(json_object_get(file->part[i].entry,
						    "trees")))
			part[n++] = file->part[i];
	for (i = file->n; i--; )
		if (find_post(s, file->part[i].name)->ctl &&
		    !json_array_size(json_object_get(file->part[i].entry,
						     "trees")))
			part[n++] = file->part[i];
	free(file->part);
	file->part = part;
	file->n = n;
	return 0;
}

/**
 * supervise_install() - put a plan in force where it is not
 * @s: the supervision
 * @json: the plan
 * @old: the plan that comes back if it is refused, NULL: none
 *
 * Return: 0, 1 if a node has gone in the meantime, or -1 with an error line
 * printed.
 */
int supervise_install(struct supervise *s, json_t *json, const json_t *old)
{
	struct plan_install how = {
		.in_testbed = s->in_testbed, .replace = true, .unchecked = true,
		.old = old, .at = SIZE_MAX,
	};
	struct plan_file file;
	int ret;

	ret = plan_file_take(&file, json);
	if (!ret)
		ret = s->only ? plan_file_select(&file, s->only) :
				order_parts(s, &file);
	if (!ret)
		ret = plan_install(&file, &how);
	if (ret && s->in_testbed && how.at < file.n &&
	    !netns_exists(file.part[how.at].name)) {
		supervise_gone(s, file.part[how.at].name);
		ret = 1;
	}
	plan_file_free(&file);
	return ret;
}

/**
 * supervise_save() - have the file of the plan tell another one
 * @s: the supervision
 * @json: the plan
 *
 * A network goes on to be supervised if its file cannot be written.
 */
void supervise_save(struct supervise *s, const json_t *json)
{
	bool before = s->unsaved;

	if (!s->store)
		return;
	s->unsaved = plan_store_save(s->store, json);
	if (s->unsaved)
		err("warning: %s: it does not have the plan that is in force",
		    s->path);
	else if (before)
		err("%s: it has the plan that is in force again", s->path);
}

/*
 * The file tells what is about to be installed before any node has it: what a
 * supervisor that is killed leaves behind, the next one completes.
 */
static void announce(struct supervise *s, json_t *json)
{
	json_object_set_new(json, "installing", json_true());
	supervise_save(s, json);
	json_object_del(json, "installing");
}

/* --- the lost attempts ---------------------------------------------------- */

static bool renewed(const json_t *old, const json_t *new, size_t i)
{
	const json_t *a = json_array_get(json_object_get(old, "trees"), i);
	const json_t *b = json_array_get(json_object_get(new, "trees"), i);

	return !json_equal(json_object_get(a, "attempt"),
			   json_object_get(b, "attempt"));
}

/* What the nodes that are there have sent for a tree. */
static uint64_t sent(const struct supervise *s, uint64_t incast_id)
{
	struct aggnet_tree_info tree;
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < s->n_posts; i++) {
		if (!s->post[i].ctl ||
		    aggnet_tree_get(s->post[i].ctl, incast_id, &tree))
			continue;
		bytes += tree.bytes_out;
		aggnet_tree_clear(&tree);
	}
	return bytes;
}

static void count_lost(const struct supervise *s, const json_t *json,
		       struct repair *repair)
{
	json_t *tree;
	size_t i;

	json_array_foreach(json_object_get(json, "trees"), i, tree) {
		if (!renewed(s->json, json, i))
			continue;
		repair->bytes += sent(s, supervise_incast(json, tree));
		repair->trees++;
	}
}

/* From now on the new attempts are what is heard of. */
static int begin_attempts(struct supervise *s, json_t *json)
{
	json_t *tree, *attempt;
	size_t i;

	json_array_foreach(json_object_get(json, "trees"), i, tree) {
		if (!renewed(s->json, json, i))
			continue;
		attempt = json_object_get(tree, "attempt");
		if (supervise_watch(s, json, i,
				    (uint32_t)json_integer_value(attempt)))
			return -1;
		s->tree[i].undone = false;
	}
	json_decref(s->json);
	s->json = json_incref(json);
	json_array_clear(s->changes);
	json_array_clear(s->renew);
	s->retry_ms = 0;
	s->refusals = 0;
	supervise_save(s, s->json);
	return 0;
}

/*
 * Nodes may have installed these attempts and deleted them again. The plan in
 * force tells so, for later supervisors.
 */
static void skip_attempts(struct supervise *s, const json_t *json)
{
	json_t *old = json_object_get(s->json, "trees");
	size_t i;

	for (i = 0; i < s->n_trees; i++) {
		if (!renewed(s->json, json, i))
			continue;
		supervise_skip(s, i);
		json_object_set_new(json_array_get(old, i), "used",
				    json_integer(s->tree[i].used));
	}
}

/* An attempt that nodes may have seen is not used for anything else. */
static void use_attempts(struct supervise *s, const json_t *json)
{
	json_t *tree, *attempt;
	size_t i;

	json_array_foreach(json_object_get(json, "trees"), i, tree) {
		attempt = json_object_get(tree, "attempt");
		if (renewed(s->json, json, i))
			s->tree[i].used = (uint32_t)json_integer_value(attempt);
	}
}

/* Is an entry of a tree that begins another attempt? */
static bool is_renewed(const json_t *old, const json_t *new,
		       const json_t *entry)
{
	json_t *tree;
	size_t i;

	json_array_foreach(json_object_get(new, "trees"), i, tree)
		if (supervise_incast(new, tree) == supervise_incast(new, entry))
			return renewed(old, new, i);
	return false;
}

static void leave_out_old(const struct supervise *s, const json_t *json,
			  json_t *entries)
{
	size_t i;

	for (i = json_array_size(entries); i--; )
		if (!is_renewed(s->json, json, json_array_get(entries, i)))
			json_array_remove(entries, i);
}

/*
 * Install the entries of the trees that begin another attempt only. The entries of
 * the other trees are in force; or they were withdrawn after the result; or the file
 * is older than a repair of them, and does not have what is in force.
 */
static int install_renewed(struct supervise *s, const json_t *json)
{
	json_t *part = json_deep_copy(json), *node;
	const char *name;
	int ret;

	json_object_foreach(json_object_get(part, "nodes"), name, node) {
		leave_out_old(s, json, json_object_get(node, "trees"));
		leave_out_old(s, json, json_object_get(node, "remove"));
	}
	ret = supervise_install(s, part, s->json);
	json_decref(part);
	return ret;
}

static int put_in_force(struct supervise *s, json_t *json,
			struct repair *repair)
{
	int ret = 0;

	count_lost(s, json, repair);
	repair->planned_ms = supervise_now();
	if (repair->trees) {
		announce(s, json);
		use_attempts(s, json);
		ret = install_renewed(s, json);
	}
	if (ret) {
		skip_attempts(s, json);
		supervise_save(s, s->json);
		return ret;
	}
	repair->installed_ms = supervise_now();
	return begin_attempts(s, json);
}

/*
 * What was refused is tried again with what is found until then. The nodes have
 * the plan of before meanwhile, if it could be brought back.
 */
static int put_off(struct supervise *s, const json_t *json)
{
	if (supervise_overtaken(s, json))
		return -1;
	if (++s->refusals > REFUSALS_MAX) {
		err("the repair was refused %u times: supervision ends",
		    s->refusals);
		return -1;
	}
	s->retry_ms = supervise_now() + (RETRY_MS << s->refusals);
	err("warning: the repair was refused: it is tried again in %u ms",
	    RETRY_MS << s->refusals);
	return 0;
}

static int repair(struct supervise *s, struct repair *repair)
{
	bool routed;
	json_t *json = replan(s, &routed);
	int ret;

	if (!json)
		return -1;
	ret = routed ? put_in_force(s, json, repair) : -1;
	if (ret < 0)
		ret = put_off(s, json) ? -1 : 1;
	else if (ret && s->only)
		ret = -1;
	else
		/* A node that has gone meanwhile is judged before that. */
		s->retry_ms = ret ? supervise_now() + RETRY_MS : 0;
	json_decref(json);
	if (ret)
		return ret < 0 ? -1 : 0;
	repair->unsaved = s->unsaved;
	s->repairs += repair->trees > 0;
	s->told(s->arg, repair);
	return 0;
}

/**
 * supervise_repair() - go around a failure
 * @s: the plan
 * @f: what has failed
 *
 * A repair that is refused, or finds a node gone, is tried again with what is
 * found until then. A report of what is known does not hasten it, and is not
 * counted.
 *
 * Return: 0, or -1 with an error line printed.
 */
int supervise_repair(struct supervise *s, const struct aggnet_finding *f)
{
	struct repair r = {
		.heard_ms = f->heard_ms, .judged_ms = supervise_now(),
	};

	snprintf(r.text, sizeof(r.text), "%s", f->text);
	if (!s->heard_ms)
		s->heard_ms = f->heard_ms;
	if (!take_finding(s, f) && s->retry_ms)
		return 0;
	return repair(s, &r);
}

/**
 * supervise_retry() - do what could not be done before
 * @s: the plan
 *
 * Return: 0, or -1 with an error line printed.
 */
int supervise_retry(struct supervise *s)
{
	struct repair r = {
		.heard_ms = s->retry_ms, .judged_ms = supervise_now(),
		.text = "a repair is tried again",
	};

	return repair(s, &r);
}
