/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A running plan under supervision: what is heard of its nodes goes to
 * libaggnet, which says what has failed; the plan is then recomputed around
 * that and installed as a new attempt.
 */
#ifndef AGGCTL_SUPERVISE_H
#define AGGCTL_SUPERVISE_H

#include <jansson.h>

#include "aggnet_supervise.h"
#include "aggtree.h"
#include "plan/plan_store.h"
#include "supervise/link_watch.h"

struct plan;

/**
 * struct post - where one node is listened to
 * @name: the node
 * @ctl: handle there that has joined the events; NULL: the node is not there
 * @found: of each tree: an entry was found there
 * @links: its devices, listened to in a testbed
 */
struct post {
	char name[AGGNET_WATCH_NAME];
	struct aggnet_ctl *ctl;
	bool *found;
	struct link_watch links;
};

/**
 * struct supervised_tree - a tree of the plan, as it was found at the nodes
 * @incast_id: name
 * @text: the same, for a message
 * @at: its receiver
 * @used: last attempt that was begun or tried
 * @undone: @used was, and the attempt in force was interrupted by it
 * @seen: there is an entry of this plan at some node
 * @newest: latest attempt of those
 * @plan: identity of the plan in the latest attempt
 * @placed: there is one at a node of the plan
 * @oldest: earliest attempt of those
 * @split: there are entries of the latest attempt that differ in @plan
 * @ended: an entry of the latest attempt has ended because one of it was withdrawn
 *	or replaced
 * @moved: that attempt was taken over, instead of the one that the file told
 */
struct supervised_tree {
	uint64_t incast_id;
	char text[sizeof("255.255.255.255 (job 4294967295)")];
	char at[AGGNET_WATCH_NAME];
	uint32_t used;
	bool undone;
	bool seen;
	uint32_t newest;
	uint8_t plan[AGGNET_PLAN_LEN];
	bool placed;
	uint32_t oldest;
	bool split;
	bool ended;
	bool moved;
};

/**
 * struct repair - how long one took
 * @text: what had happened
 * @heard_ms: when the first sign was heard
 * @judged_ms: when it was known what it means
 * @planned_ms: when the new plan was there
 * @installed_ms: when it was in force
 * @trees: trees that began a new attempt
 * @bytes: what the nodes that are left had sent in the lost attempts
 * @unsaved: the file of the plan could not be written
 */
struct repair {
	char text[AGGNET_WATCH_TEXT];
	int64_t heard_ms;
	int64_t judged_ms;
	int64_t planned_ms;
	int64_t installed_ms;
	size_t trees;
	uint64_t bytes;
	bool unsaved;
};

/**
 * struct supervise - a plan under supervision
 * @path: where the plan came from, for error lines; NULL: standard input
 * @store: file of the plan, kept up to date; NULL: none
 * @unsaved: it could not be: tried again at the next repair, and at the end
 * @json: the plan in force
 * @only: the one node that is listened to and installed, NULL: all
 * @in_testbed: nodes are namespaces of the testbed
 * @watch: what is known
 * @post: where is listened
 * @n_posts: how many
 * @names: inotify, of namespaces that go; -1: none
 * @changes: found and not yet in force, an array of texts
 * @renew: trees to begin anew, likewise; their names in messages
 * @over: receivers that have failed with their results, likewise, but in each
 *	repair: the file tells nothing of them
 * @tree: trees of the plan, in its order
 * @n_trees: how many
 * @retry_ms: when what was refused is tried again, 0: nothing was
 * @refusals: of it, in a row
 * @repairs: that are in force
 * @heard_ms: when the first failure was heard, 0: there was none
 * @ready: called when all nodes are listened to, for @arg
 * @told: called after each repair, for @arg
 * @stalled: called when a node stops to wait, for @arg
 */
struct supervise {
	const char *path;
	struct plan_store *store;
	bool unsaved;
	json_t *json;
	const char *only;
	bool in_testbed;
	struct aggnet_watch *watch;
	struct post *post;
	size_t n_posts;
	int names;
	json_t *changes;
	json_t *renew;
	json_t *over;
	struct supervised_tree *tree;
	size_t n_trees;
	int64_t retry_ms;
	unsigned int refusals;
	unsigned int repairs;
	int64_t heard_ms;
	void (*ready)(void *arg, size_t nodes);
	void (*told)(void *arg, const struct repair *repair);
	void (*stalled)(void *arg, const char *node, uint32_t missing);
	void *arg;
};

/* supervise.c */
int supervise_run(struct supervise *s, char *why, size_t size);
int64_t supervise_now(void);

/* supervise_post.c */
int supervise_listen(struct supervise *s);
int supervise_look(struct supervise *s);
int supervise_hear(struct supervise *s, int wait_ms);
int supervise_gone(struct supervise *s, const char *name);
void supervise_close(struct supervise *s);

/* supervise_repair.c */
int supervise_repair(struct supervise *s, const struct aggnet_finding *f);
int supervise_retry(struct supervise *s);
int supervise_install(struct supervise *s, json_t *json, const json_t *old);
void supervise_save(struct supervise *s, const json_t *json);

/* supervise_resume.c */
int supervise_trees(struct supervise *s, const struct plan *plan);
struct supervised_tree *supervise_tree(const struct supervise *s,
				       uint64_t incast_id);
uint64_t supervise_incast(const json_t *plan, const json_t *named);
uint32_t supervise_instance(const struct supervise *s);
bool supervise_has_entry(const struct supervise *s, const json_t *json,
			 const char *node, size_t i);
int supervise_watch(struct supervise *s, const json_t *json, size_t i,
		    uint32_t attempt);
uint32_t supervise_attempt(const struct supervise *s, size_t i);
void supervise_found(struct supervise *s, const char *node,
		     const struct aggnet_tree_info *info);
int supervise_stands(const struct supervise *s,
		     const struct aggnet_tree_info *info);
int supervise_heard(const struct supervise *s,
		    const struct aggnet_event_info *event);
int supervise_overtaken(struct supervise *s, const json_t *tried);
void supervise_skip(struct supervise *s, size_t tree);
int supervise_resume(struct supervise *s);

#endif
