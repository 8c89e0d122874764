// SPDX-License-Identifier: GPL-2.0
/*
 * What the nodes have of a plan may differ from what its file tells: a supervisor
 * was killed while it installed a repair, or another one repaired the plan.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "info.h"
#include "plan/plan.h"
#include "supervise/supervise.h"

#define ID_LEN	8	/* of the identity the part that is random */

static bool is_newer(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) > 0;
}

/**
 * supervise_instance() - instance of the plan
 * @s: the supervision
 */
uint32_t supervise_instance(const struct supervise *s)
{
	json_t *instance = json_object_get(s->json, "instance");

	return (uint32_t)json_integer_value(instance);
}

static json_t *tree_json(const struct supervise *s, size_t i)
{
	return json_array_get(json_object_get(s->json, "trees"), i);
}

/**
 * supervise_attempt() - attempt of a tree that is in force
 * @s: the supervision
 * @i: number of the tree
 */
uint32_t supervise_attempt(const struct supervise *s, size_t i)
{
	json_t *attempt = json_object_get(tree_json(s, i), "attempt");

	return (uint32_t)json_integer_value(attempt);
}

/**
 * supervise_incast() - name of a tree in a plan
 * @plan: the plan; of its trees only those of stripes have job IDs of their own
 * @named: the tree, or an entry of it
 *
 * Return: the incast ID, or 0.
 */
uint64_t supervise_incast(const json_t *plan, const json_t *named)
{
	const json_t *to = json_object_get(named, "identity");
	const json_t *job = json_object_get(named, "job");
	struct in_addr addr;

	if (!to)
		to = json_object_get(named, "receiver");
	if (!job)
		job = json_object_get(plan, "job");
	if (!json_is_string(to) || !addr_parse(json_string_value(to), &addr))
		return 0;
	return aggnet_incast_id((uint32_t)json_integer_value(job), addr);
}

static bool is_entry_of(const json_t *plan, const json_t *entry,
			const struct supervised_tree *tree)
{
	return supervise_incast(plan, entry) == tree->incast_id;
}

static void plan_text_of(const uint8_t *plan, char *text)
{
	size_t i;

	for (i = 0; i < AGGNET_PLAN_LEN; i++)
		sprintf(text + 2 * i, "%02x", plan[i]);
}

static void name_tree(struct supervised_tree *tree, const struct plan *plan,
		      size_t i, struct in_addr to)
{
	uint32_t job = plan_job(plan, i);
	int len;

	tree->incast_id = aggnet_incast_id(job, to);
	len = snprintf(tree->text, sizeof(tree->text), "%s", addr_text(to));
	if (aggt_plan_stripes(plan->trees))
		snprintf(tree->text + len, sizeof(tree->text) - (size_t)len,
			 " (job %u)", job);
}

/**
 * supervise_trees() - begin to keep account of the trees of a plan
 * @s: the supervision
 * @plan: its plan
 *
 * Return: 0, or -1 without memory.
 */
int supervise_trees(struct supervise *s, const struct plan *plan)
{
	struct in_addr to;
	aggt_node receiver;
	size_t i;

	s->n_trees = aggt_plan_trees(plan->trees);
	s->tree = calloc(s->n_trees + 1, sizeof(*s->tree));
	for (i = 0; s->tree && i < s->n_trees; i++) {
		receiver = aggt_tree_receiver(aggt_plan_tree(plan->trees, i));
		to = plan_identity(plan, receiver);
		name_tree(&s->tree[i], plan, i, to);
		snprintf(s->tree[i].at, sizeof(s->tree[i].at), "%s",
			 plan_server_name(plan, receiver));
		s->tree[i].used = plan->used[i];
	}
	return s->tree ? 0 : -1;
}

/**
 * supervise_tree() - find a tree of the plan
 * @s: the supervision
 * @incast_id: name
 *
 * Return: the tree, or NULL.
 */
struct supervised_tree *supervise_tree(const struct supervise *s,
				       uint64_t incast_id)
{
	size_t i;

	for (i = 0; i < s->n_trees; i++)
		if (s->tree[i].incast_id == incast_id)
			return &s->tree[i];
	return NULL;
}

/**
 * supervise_has_entry() - look whether a node has an entry in a plan
 * @s: the supervision
 * @json: the plan
 * @node: the node
 * @i: number of the tree that the entry is of
 */
bool supervise_has_entry(const struct supervise *s, const json_t *json,
			 const char *node, size_t i)
{
	json_t *part = json_object_get(json_object_get(json, "nodes"), node);
	json_t *entry;
	size_t k;

	json_array_foreach(json_object_get(part, "trees"), k, entry)
		if (is_entry_of(json, entry, &s->tree[i]))
			return true;
	return false;
}

/**
 * supervise_watch() - listen to an attempt of a tree
 * @s: the supervision
 * @json: the plan that it is of
 * @i: number of the tree
 * @attempt: its attempt
 *
 * One node alone hears of the end of trees only in which it has an entry.
 *
 * Return: 0, or -1 with an error line printed.
 */
int supervise_watch(struct supervise *s, const json_t *json, size_t i,
		    uint32_t attempt)
{
	const struct supervised_tree *tree = &s->tree[i];

	if (s->only && !supervise_has_entry(s, json, s->only, i)) {
		aggnet_watch_drop(s->watch, tree->incast_id);
		return 0;
	}
	if (!aggnet_watch_tree(s->watch, tree->incast_id,
			       supervise_instance(s), attempt,
			       s->only ? s->only : tree->at))
		return 0;
	err("out of memory");
	return -1;
}

/* Is an entry of this plan, in whatever attempt? */
static bool is_ours(const struct supervise *s,
		    const struct aggnet_tree_info *info)
{
	bool has = info->has & AGGNET_HAS(AGGNET_A_TREE_PLAN);
	const char *id = json_string_value(json_object_get(s->json, "id"));
	char text[2 * AGGNET_PLAN_LEN + 1];

	if (info->instance != supervise_instance(s) || has != !!id)
		return false;
	plan_text_of(info->plan, text);
	return !id || !strncmp(text, id, 2 * ID_LEN);
}

/*
 * Is the entry at a node of the plan? Those that were left elsewhere, by an attempt
 * that went another way, get no packets.
 */
static bool is_placed(const struct supervise *s, const char *node,
		      const struct aggnet_tree_info *info)
{
	size_t i = (size_t)(supervise_tree(s, info->incast_id) - s->tree);

	return info->attempt == supervise_attempt(s, i) ||
	       supervise_has_entry(s, s->json, node, i);
}

/* By the end of another entry of the attempt, at this node or at another one. */
static bool was_taken_back(const struct aggnet_tree_info *info)
{
	return info->state == AGGNET_TREE_ABORTED &&
	       (info->reason == AGGNET_R_STALE ||
		info->reason == AGGNET_R_WITHDRAWN);
}

/**
 * supervise_found() - an entry was found at a node
 * @s: the supervision
 * @node: the node
 * @info: the entry
 */
void supervise_found(struct supervise *s, const char *node,
		     const struct aggnet_tree_info *info)
{
	struct supervised_tree *tree = supervise_tree(s, info->incast_id);

	if (!tree || !is_ours(s, info))
		return;
	if (is_placed(s, node, info) &&
	    (!tree->placed || is_newer(tree->oldest, info->attempt))) {
		tree->placed = true;
		tree->oldest = info->attempt;
	}
	if (tree->seen && info->attempt == tree->newest) {
		tree->split |= memcmp(tree->plan, info->plan,
				      sizeof(tree->plan)) != 0;
		tree->ended |= was_taken_back(info);
		return;
	}
	if (tree->seen && !is_newer(info->attempt, tree->newest))
		return;
	tree->seen = true;
	tree->split = false;
	tree->ended = was_taken_back(info);
	tree->newest = info->attempt;
	memcpy(tree->plan, info->plan, sizeof(tree->plan));
}

static int overtaken(const struct supervised_tree *tree, uint32_t instance,
		     uint32_t attempt)
{
	err("tree to %s: another supervisor, or apply, has put epoch %u.%u in force: this supervisor ends",
	    tree->text, instance, attempt);
	return -1;
}

/* An epoch that no supervisor of this plan has begun here. */
static bool is_later(const struct supervise *s,
		     const struct supervised_tree *tree, uint32_t instance,
		     uint32_t attempt)
{
	return instance == supervise_instance(s) ?
	       is_newer(attempt, tree->used) :
	       is_newer(instance, supervise_instance(s));
}

/* Has a node of a later epoch ended an entry of this plan? */
static bool is_replaced(const struct supervise *s,
			const struct supervised_tree *tree,
			const struct aggnet_tree_info *info)
{
	return !tree->undone && info->state == AGGNET_TREE_ABORTED &&
	       info->reason == AGGNET_R_STALE &&
	       info->instance == supervise_instance(s) &&
	       info->attempt == tree->used &&
	       !aggnet_watch_is_done(s->watch, tree->incast_id);
}

/**
 * supervise_stands() - look whether the plan is still this supervisor's
 * @s: the supervision
 * @info: an entry at a node
 *
 * It is not, if the entry is of a later epoch or was ended by a node of one. The
 * end of an attempt that a repair here has replaced, or has interrupted before it
 * was undone, means nothing.
 *
 * Return: 0, or -1 with an error line printed if it is not.
 */
int supervise_stands(const struct supervise *s,
		     const struct aggnet_tree_info *info)
{
	const struct supervised_tree *tree = supervise_tree(s, info->incast_id);
	char by[INET_ADDRSTRLEN];

	if (!tree)
		return 0;
	if (is_later(s, tree, info->instance, info->attempt))
		return overtaken(tree, info->instance, info->attempt);
	if (!is_replaced(s, tree, info))
		return 0;
	strcpy(by, addr_text(info->origin));
	err("tree to %s: another supervisor, or apply, has put a later epoch than %u.%u in force at %s: this supervisor ends",
	    tree->text, info->instance, info->attempt, by);
	return -1;
}

/**
 * supervise_heard() - a node tells of an entry: is it of another supervisor?
 * @s: the supervision
 * @event: what the node tells
 *
 * Return: 0, or -1 with an error line printed if it is.
 */
int supervise_heard(const struct supervise *s,
		    const struct aggnet_event_info *event)
{
	const struct supervised_tree *tree = supervise_tree(s,
							    event->incast_id);
	const struct aggnet_tree_info ended = {
		.state = AGGNET_TREE_ABORTED, .incast_id = event->incast_id,
		.instance = event->instance, .attempt = event->attempt,
		.reason = event->reason, .origin = event->origin,
	};

	if (event->kind == AGGNET_EVENT_TREE_ABORTED)
		return supervise_stands(s, &ended);
	if (event->kind != AGGNET_EVENT_TREE_ADDED || !tree ||
	    !is_later(s, tree, event->instance, event->attempt))
		return 0;
	return overtaken(tree, event->instance, event->attempt);
}

/* The identity that a plan gives a tree is what was found at the nodes. */
static bool is_told(const json_t *json, const struct supervised_tree *tree)
{
	char text[2 * AGGNET_PLAN_LEN + 1];
	const char *name, *plan;
	json_t *node, *entry;
	size_t k;

	plan_text_of(tree->plan, text);
	json_object_foreach(json_object_get(json, "nodes"), name, node) {
		json_array_foreach(json_object_get(node, "trees"), k, entry) {
			plan = json_string_value(json_object_get(entry,
								 "plan"));
			if (is_entry_of(json, entry, tree))
				return !plan || !strcmp(plan, text);
		}
	}
	return true;
}

/**
 * supervise_overtaken() - look whether another supervisor has repaired the plan
 * @s: the supervision
 * @tried: the plan that was not installed; a node may have kept a part of it
 *
 * Return: 0, or -1 with an error line printed.
 */
int supervise_overtaken(struct supervise *s, const json_t *tried)
{
	const struct supervised_tree *tree;
	size_t i;

	for (i = 0; i < s->n_trees; i++) {
		s->tree[i].seen = false;
		s->tree[i].placed = false;
		s->tree[i].split = false;
		s->tree[i].ended = false;
	}
	if (supervise_look(s))
		return -1;
	for (i = 0; i < s->n_trees; i++) {
		tree = &s->tree[i];
		/* What is left of an attempt that could not be undone. */
		if (!tree->seen ||
		    !is_newer(tree->newest, supervise_attempt(s, i)) ||
		    is_newer(tree->used, tree->newest))
			continue;
		if (tree->newest != tree->used || tree->split ||
		    !is_told(tried, tree))
			return overtaken(tree, supervise_instance(s),
					 tree->newest);
	}
	return 0;
}

/**
 * supervise_skip() - listen to the next attempt of a tree only
 * @s: the supervision
 * @tree: its number
 *
 * Nodes that install an attempt, and delete it because another node refuses it,
 * send events of both, and of the attempt that it replaced for a moment. None of
 * these events is a failure; only the result still counts.
 */
void supervise_skip(struct supervise *s, size_t tree)
{
	s->tree[tree].undone = true;
	/* It cannot fail: the watch has the tree already, if it is to. */
	supervise_watch(s, s->json, tree, s->tree[tree].used + 1);
}

/* The attempt and the identity that the nodes have of a tree. */
static void adopt(struct supervise *s, size_t i)
{
	struct supervised_tree *tree = &s->tree[i];
	char text[2 * AGGNET_PLAN_LEN + 1];
	json_t *node, *entry;
	const char *name;
	size_t k;

	plan_text_of(tree->plan, text);
	json_object_set_new(tree_json(s, i), "attempt",
			    json_integer(tree->newest));
	if (!is_newer(tree->used, tree->newest)) {
		tree->used = tree->newest;
		json_object_del(tree_json(s, i), "used");
	}
	json_object_foreach(json_object_get(s->json, "nodes"), name, node) {
		json_array_foreach(json_object_get(node, "trees"), k, entry) {
			if (!is_entry_of(s->json, entry, tree))
				continue;
			json_object_set_new(entry, "attempt",
					    json_integer(tree->newest));
			if (json_object_get(entry, "plan"))
				json_object_set_new(entry, "plan",
						    json_string(text));
		}
	}
}

static void begin_anew(struct supervise *s, size_t i, const char *why)
{
	const char *to = s->tree[i].text;

	if (!list_add(s->renew, to))
		return;
	err("tree to %s: %s: it begins a new attempt", to, why);
	supervise_skip(s, i);
	s->retry_ms = supervise_now();
}

/* Why nodes cannot go on with the newest attempt that they have, or NULL. */
static const char *torn(const struct supervise *s,
			const struct supervised_tree *tree, bool installing)
{
	if (tree->split || !is_told(s->json, tree))
		return "nodes have different trees of one attempt";
	/* The supervisor of before was taking it back. */
	if (installing && tree->ended && !s->only)
		return "its last repair was refused";
	/* What is being installed comes to all of them. */
	if (!installing && tree->placed && is_newer(tree->newest, tree->oldest))
		return "nodes have it in several attempts";
	return NULL;
}

/* Return: 1 if another attempt is to be listened to, 0, or -1. */
static int resume_tree(struct supervise *s, size_t i, bool installing)
{
	struct supervised_tree *tree = &s->tree[i];
	bool done = aggnet_watch_is_done(s->watch, tree->incast_id);
	uint32_t told = supervise_attempt(s, i);
	bool newer = is_newer(tree->newest, told);
	bool moved = tree->newest != told;
	const char *why;

	/* A result is not asked for again, whatever was to be installed. */
	if (!tree->seen || (moved && !newer && !done))
		return 0;
	if (moved) {
		err("tree to %s: epoch %u.%u is in force, not the plan's %u.%u: it goes on from there",
		    tree->text, supervise_instance(s), tree->newest,
		    supervise_instance(s), told);
		adopt(s, i);
		tree->moved = true;
		if (supervise_watch(s, s->json, i, tree->newest))
			return -1;
	}
	why = torn(s, tree, installing && !newer);
	/* Nodes that met the attempt that was undone have ended their entries. */
	if (!why && !done && !s->only &&
	    is_newer(tree->used, supervise_attempt(s, i)))
		why = "its last repair was refused";
	/* What was installed after it is another tree, which the file lacks. */
	if (!why && installing && newer && !done)
		why = "the file tells of an earlier repair";
	if (why && (newer || !done))
		begin_anew(s, i, why);
	return moved;
}

/*
 * Nodes have a later attempt of the entry's tree, or the receiver its result, or the
 * tree begins another attempt.
 */
static bool is_settled(const struct supervise *s, const json_t *entry)
{
	const struct supervised_tree *tree;
	size_t i;

	for (i = 0; i < s->n_trees; i++) {
		tree = &s->tree[i];
		if (is_entry_of(s->json, entry, tree))
			return tree->moved || tree->undone ||
			       aggnet_watch_is_done(s->watch, tree->incast_id);
	}
	return false;
}

static void leave_out_settled(const struct supervise *s, json_t *entries)
{
	size_t i;

	for (i = json_array_size(entries); i--; )
		if (is_settled(s, json_array_get(entries, i)))
			json_array_remove(entries, i);
}

/*
 * Complete what the file says was being installed. No plan comes back if it is
 * refused: what nodes had before, the file does not tell.
 */
static int complete(struct supervise *s)
{
	json_t *json = json_deep_copy(s->json), *node;
	const char *name;
	int ret;

	json_object_foreach(json_object_get(json, "nodes"), name, node) {
		leave_out_settled(s, json_object_get(node, "trees"));
		leave_out_settled(s, json_object_get(node, "remove"));
	}
	ret = supervise_install(s, json, NULL);
	json_decref(json);
	return ret;
}

/* Do all nodes of the tree have what the file tells was being installed? */
static bool is_whole(const struct supervise *s, size_t i)
{
	const struct supervised_tree *tree = &s->tree[i];
	uint32_t told = supervise_attempt(s, i);

	return tree->placed && !tree->split && tree->newest == told &&
	       tree->oldest == told;
}

/* It was refused: trees of which nodes lack it, without a result, go on anew. */
static void begin_lacking(struct supervise *s)
{
	size_t i;

	for (i = 0; i < s->n_trees; i++)
		if (!is_whole(s, i) &&
		    !aggnet_watch_is_done(s->watch, s->tree[i].incast_id))
			begin_anew(s, i, "its attempt was not installed");
}

/*
 * No node has an entry of the plan: it was withdrawn, by a copy of the file. One node
 * alone may have had none before.
 */
static bool is_withdrawn(const struct supervise *s)
{
	size_t i;

	for (i = 0; i < s->n_trees; i++)
		if (s->tree[i].seen)
			return false;
	return !s->only;
}

/* What the file says was being installed. */
static bool resume_installation(struct supervise *s)
{
	bool installing = json_is_true(json_object_get(s->json, "installing"));

	if (!installing || !is_withdrawn(s))
		return installing;
	err("no node has an entry of the plan: what was being installed is not installed");
	json_object_del(s->json, "installing");
	supervise_save(s, s->json);
	return false;
}

/**
 * supervise_resume() - go on from what was found at the nodes
 * @s: the supervision, listening
 *
 * A later attempt than the file tells is taken over. What the file says was
 * being installed is installed now, unless the plan has been withdrawn since.
 *
 * Return: 0, or -1 with an error line printed.
 */
int supervise_resume(struct supervise *s)
{
	bool installing = resume_installation(s);
	int ret, moved = 0;
	size_t i;

	for (i = 0; i < s->n_trees; i++) {
		ret = resume_tree(s, i, installing);
		if (ret < 0)
			return -1;
		moved |= ret;
	}
	/* Now it is known which attempt is in force. */
	if ((moved || !installing) && supervise_look(s))
		return -1;
	if (installing) {
		json_object_del(s->json, "installing");
		if (complete(s)) {
			begin_lacking(s);
			return 0;
		}
	}
	if (moved || installing)
		supervise_save(s, s->json);
	return 0;
}
