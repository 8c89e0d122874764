// SPDX-License-Identifier: GPL-2.0
/* Supervision: signs of failure of a running plan, and what they mean. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggnet_data.h"
#include "aggnet_supervise.h"

#define NONE	SIZE_MAX
#define NOTICE_MS	2000	/* a retransmission timer, at most */

/**
 * struct watch_node - a server or a switch
 * @name: its name
 * @identity: of a server, 0 of a switch
 * @parts: what a server is in the plan
 * @gone: it has failed
 * @judged: that has been found
 * @left: this judgement has named it as a source that is lost
 * @next: node of the same hash
 * @link: its links, from their ends: number of a link times 2, and the end
 * @links: how many there are, while links are judged
 * @down: how many of those are down, and not because of their other end
 */
struct watch_node {
	char name[AGGNET_WATCH_NAME];
	struct in_addr identity;
	unsigned int parts;
	bool gone;
	bool judged;
	bool left;
	size_t next;
	size_t link;
	size_t links;
	size_t down;
};

/**
 * struct watch_link - between a server and a switch
 * @node: both ends
 * @port: of each end
 * @down: as each end says
 * @judged: that has been found
 * @next: of each end the next of its node's links, as @link of the node
 */
struct watch_link {
	size_t node[2];
	char port[2][AGGNET_IFNAME_LEN];
	bool down[2];
	bool judged;
	size_t next[2];
};

/**
 * struct watch_tree - a tree in force
 * @incast_id: name
 * @instance: epoch
 * @attempt: epoch
 * @at: node whose word on the end counts, NONE: any
 * @done: the receiver has the result
 * @end: how it was aborted; no reason: it was not
 * @name_by: @end names no node: until then @at may name one; 0: it will not
 */
struct watch_tree {
	uint64_t incast_id;
	uint32_t instance;
	uint32_t attempt;
	size_t at;
	bool done;
	struct aggnet_status end;
	int64_t name_by;
};

struct aggnet_watch {
	bool allow_missing;
	uint32_t give_up;
	int64_t heard;		/* -1: nothing since the last judgement */
	int64_t settle;		/* what was heard settles from here on */
	struct watch_node *node;
	size_t n_nodes;
	size_t *hash;		/* of names: first node, @mask + 1 of them */
	size_t mask;
	struct watch_link *link;
	size_t n_links;
	struct watch_tree *tree;
	size_t n_trees;
	char (*change)[AGGNET_WATCH_CHANGE];
	size_t n_changes;
	uint64_t *renew;
	size_t n_renew;
	bool incomplete;	/* there was no memory for one of these */
};

struct aggnet_watch *aggnet_watch_new(bool allow_missing)
{
	struct aggnet_watch *w = calloc(1, sizeof(*w));

	if (w) {
		w->allow_missing = allow_missing;
		w->give_up = AGGNET_GIVE_UP_DEFAULT;
		w->heard = -1;
	}
	return w;
}

void aggnet_watch_give_up(struct aggnet_watch *w, uint32_t give_up)
{
	w->give_up = give_up;
}

void aggnet_watch_free(struct aggnet_watch *w)
{
	if (!w)
		return;
	free(w->node);
	free(w->hash);
	free(w->link);
	free(w->tree);
	free(w->change);
	free(w->renew);
	free(w);
}

/* --- what there is -------------------------------------------------------- */

static size_t *bucket(const struct aggnet_watch *w, const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return &w->hash[h & w->mask];
}

static size_t find_node(const struct aggnet_watch *w, const char *name)
{
	size_t i;

	if (!name || !w->hash)
		return NONE;
	for (i = *bucket(w, name); i != NONE; i = w->node[i].next)
		if (!strcmp(w->node[i].name, name))
			return i;
	return NONE;
}

static void enter(struct aggnet_watch *w, size_t node)
{
	size_t *first = bucket(w, w->node[node].name);

	w->node[node].next = *first;
	*first = node;
}

/* At least as many lists as nodes. */
static int grow_hash(struct aggnet_watch *w)
{
	size_t i, n = w->hash ? 2 * (w->mask + 1) : 64;
	size_t *hash;

	if (w->hash && w->n_nodes <= w->mask)
		return 0;
	hash = malloc(n * sizeof(*hash));
	if (!hash)
		return -ENOMEM;
	free(w->hash);
	w->hash = hash;
	w->mask = n - 1;
	for (i = 0; i < n; i++)
		hash[i] = NONE;
	for (i = 0; i < w->n_nodes; i++)
		enter(w, i);
	return 0;
}

static struct watch_node *find_identity(const struct aggnet_watch *w,
					__be32 identity)
{
	size_t i;

	for (i = 0; identity && i < w->n_nodes; i++)
		if (w->node[i].identity.s_addr == identity)
			return &w->node[i];
	return NULL;
}

static struct watch_tree *find_tree(const struct aggnet_watch *w,
				    uint64_t incast_id)
{
	size_t i;

	for (i = 0; i < w->n_trees; i++)
		if (w->tree[i].incast_id == incast_id)
			return &w->tree[i];
	return NULL;
}

/*
 * A list of @n of @size bytes with room for one more, cleared; there is room for
 * a power of two. NULL: it is as it was.
 */
static void *more(void *list, size_t n, size_t size)
{
	char *grown = list;

	if (!(n & (n - 1)))
		grown = realloc(list, (n ? 2 * n : 1) * size);
	if (grown)
		memset(grown + n * size, 0, size);
	return grown;
}

int aggnet_watch_server(struct aggnet_watch *w, const char *name,
			struct in_addr identity, unsigned int parts)
{
	struct watch_node *node;

	if (strlen(name) >= sizeof(node->name))
		return -ENAMETOOLONG;
	node = more(w->node, w->n_nodes, sizeof(*node));
	if (!node)
		return -ENOMEM;
	w->node = node;
	if (grow_hash(w))
		return -ENOMEM;
	node += w->n_nodes;
	snprintf(node->name, sizeof(node->name), "%s", name);
	node->identity = identity;
	node->parts = parts;
	node->link = NONE;
	enter(w, w->n_nodes++);
	return 0;
}

int aggnet_watch_switch(struct aggnet_watch *w, const char *name)
{
	return aggnet_watch_server(w, name, (struct in_addr){}, 0);
}

/* Have a node know of its link. */
static void tie(struct aggnet_watch *w, size_t number, int end)
{
	struct watch_link *link = &w->link[number];
	size_t node = link->node[end];

	link->next[end] = w->node[node].link;
	w->node[node].link = 2 * number + (size_t)end;
}

int aggnet_watch_link(struct aggnet_watch *w, const char *server,
		      const char *server_port, const char *sw,
		      const char *sw_port)
{
	size_t ends[] = { find_node(w, server), find_node(w, sw) };
	struct watch_link *link;

	if (ends[0] == NONE || ends[1] == NONE)
		return -ENOENT;
	if (strlen(server_port) >= sizeof(link->port[0]) ||
	    strlen(sw_port) >= sizeof(link->port[1]))
		return -ENAMETOOLONG;
	link = more(w->link, w->n_links, sizeof(*link));
	if (!link)
		return -ENOMEM;
	w->link = link;
	link += w->n_links++;
	memcpy(link->node, ends, sizeof(ends));
	snprintf(link->port[0], sizeof(link->port[0]), "%s", server_port);
	snprintf(link->port[1], sizeof(link->port[1]), "%s", sw_port);
	tie(w, w->n_links - 1, 0);
	tie(w, w->n_links - 1, 1);
	return 0;
}

int aggnet_watch_tree(struct aggnet_watch *w, uint64_t incast_id,
		      uint32_t instance, uint32_t attempt, const char *at)
{
	struct watch_tree *tree = find_tree(w, incast_id);
	size_t node = find_node(w, at);

	if (at && node == NONE)
		return -ENOENT;
	if (!tree) {
		tree = more(w->tree, w->n_trees, sizeof(*tree));
		if (!tree)
			return -ENOMEM;
		w->tree = tree;
		tree += w->n_trees++;
	}
	*tree = (struct watch_tree){
		.incast_id = incast_id, .instance = instance,
		.attempt = attempt, .at = node,
		.done = tree->done && tree->instance == instance,
	};
	return 0;
}

void aggnet_watch_drop(struct aggnet_watch *w, uint64_t incast_id)
{
	struct watch_tree *tree = find_tree(w, incast_id);

	if (tree)
		*tree = w->tree[--w->n_trees];
}

/* --- what is heard -------------------------------------------------------- */

static void hear(struct aggnet_watch *w, int64_t now)
{
	if (w->heard < 0) {
		w->heard = now;
		w->settle = now;
	}
}

void aggnet_watch_gone(struct aggnet_watch *w, const char *node, int64_t now)
{
	size_t i = find_node(w, node);

	if (i == NONE || w->node[i].gone)
		return;
	w->node[i].gone = true;
	hear(w, now);
}

void aggnet_watch_port(struct aggnet_watch *w, const char *node,
		       const char *port, bool up, int64_t now)
{
	size_t at, i = find_node(w, node);
	struct watch_link *link;
	unsigned int end;

	for (at = i == NONE ? NONE : w->node[i].link; at != NONE;
	     at = link->next[end]) {
		link = &w->link[at / 2];
		end = at % 2;
		if (strcmp(link->port[end], port) || link->down[end] == !up)
			continue;
		link->down[end] = !up;
		if (!up)
			hear(w, now);
	}
}

/*
 * Until its trees are done: from then on it is a node on the way of others. A
 * receiver of which no tree is watched counts as one.
 */
static bool receives(const struct aggnet_watch *w,
		     const struct watch_node *node)
{
	bool done = false;
	struct in_addr to;
	size_t i;

	if (!(node->parts & AGGNET_WATCH_RECEIVER))
		return false;
	for (i = 0; i < w->n_trees; i++) {
		to = aggnet_incast_receiver(w->tree[i].incast_id);
		if (to.s_addr != node->identity.s_addr)
			continue;
		if (!w->tree[i].done)
			return true;
		done = true;
	}
	return !done;
}

/* An end that never found an acceptor cannot say which node is to blame. */
static bool names_no_node(const struct aggnet_status *end)
{
	return end->reason == AGGNET_R_TIMEOUT && !end->about;
}

/*
 * A plan is withdrawn from the sources on: until the receiver's entry goes, it
 * looks as if some nodes left it.
 */
static bool withdraws_all(const struct aggnet_watch *w,
			  const struct aggnet_status *end)
{
	const struct watch_node *origin = find_identity(w, end->origin);

	return end->reason == AGGNET_R_WITHDRAWN && origin &&
	       receives(w, origin);
}

/*
 * The receiver gives up later than the node that named none: its time begins anew
 * with each child that binds, which may be one give_up later, and it looks eight
 * times in a give_up, as does the child that tells it what is missing.
 */
static int64_t name_within(const struct aggnet_watch *w)
{
	return 2 * (int64_t)w->give_up + w->give_up / 4 + NOTICE_MS;
}

static void tree_aborted(struct aggnet_watch *w, struct watch_tree *tree,
			 size_t node, const struct aggnet_status *end,
			 int64_t now)
{
	if (!tree->end.reason && names_no_node(end)) {
		w->settle = now;
		tree->name_by = now + name_within(w);
	}
	if (!tree->end.reason || names_no_node(&tree->end) ||
	    withdraws_all(w, end))
		tree->end = *end;
	if (tree->at == NONE || tree->at == node || !names_no_node(&tree->end))
		tree->name_by = 0;
}

static void tree_ended(struct aggnet_watch *w, struct watch_tree *tree,
		       size_t node, const struct aggnet_status *end,
		       int64_t now)
{
	if (tree->at != NONE && tree->at != node && !end->reason)
		return;
	hear(w, now);
	if (!end->reason)
		tree->done = true;
	else if (end->reason != AGGNET_R_STALE)
		tree_aborted(w, tree, node, end, now);
}

/*
 * Is it about what we wait for? The receiver may have got its result in the
 * attempt before, while a new one was put in force: that is as good.
 */
static bool is_about(const struct watch_tree *tree, uint32_t instance,
		     uint32_t attempt, bool done)
{
	if (!tree || instance != tree->instance)
		return false;
	return attempt == tree->attempt ||
	       (done && (int32_t)(attempt - tree->attempt) < 0);
}

static void take_names(struct aggnet_status *st,
		       const struct aggnet_addrs *names)
{
	size_t i;

	for (i = 0; i < names->n && i < AGGNET_NAMES_MAX; i++)
		st->name[st->names++] = names->addr[i].s_addr;
}

static void withdrawn_at(const struct aggnet_watch *w, const char *name,
			 struct aggnet_status *end)
{
	size_t node = find_node(w, name);

	end->reason = AGGNET_R_WITHDRAWN;
	if (node != NONE)
		end->origin = w->node[node].identity.s_addr;
}

void aggnet_watch_event(struct aggnet_watch *w, const char *node,
			const struct aggnet_event_info *event, int64_t now)
{
	struct watch_tree *tree = find_tree(w, event->incast_id);
	struct aggnet_status end = {
		.reason = event->reason, .origin = event->origin.s_addr,
		.about = event->about.s_addr, .missing = event->missing,
	};

	if (!is_about(tree, event->instance, event->attempt,
		      event->kind == AGGNET_EVENT_TREE_DONE))
		return;
	take_names(&end, &event->missing_names);
	if (event->kind == AGGNET_EVENT_TREE_DELETED)
		withdrawn_at(w, node, &end);
	else if (event->kind != AGGNET_EVENT_TREE_DONE &&
		 event->kind != AGGNET_EVENT_TREE_ABORTED)
		return;
	tree_ended(w, tree, find_node(w, node), &end, now);
}

void aggnet_watch_state(struct aggnet_watch *w, const char *node,
			const struct aggnet_tree_info *info, int64_t now)
{
	struct watch_tree *tree = find_tree(w, info->incast_id);
	struct aggnet_status end = {
		.reason = info->reason, .origin = info->origin.s_addr,
		.about = info->about.s_addr, .missing = info->missing,
	};

	if (!is_about(tree, info->instance, info->attempt,
		      info->state == AGGNET_TREE_DONE) ||
	    (info->state != AGGNET_TREE_DONE &&
	     info->state != AGGNET_TREE_ABORTED))
		return;
	take_names(&end, &info->missing_names);
	tree_ended(w, tree, find_node(w, node), &end, now);
}

/* --- what it means -------------------------------------------------------- */

bool aggnet_watch_is_done(const struct aggnet_watch *w, uint64_t incast_id)
{
	const struct watch_tree *tree = find_tree(w, incast_id);

	return tree && tree->done;
}

static void __attribute__((format(printf, 2, 3)))
say(struct aggnet_finding *f, const char *fmt, ...)
{
	size_t len = strlen(f->text);
	va_list ap;

	if (len && len + 2 < sizeof(f->text))
		len += (size_t)sprintf(f->text + len, "; ");
	va_start(ap, fmt);
	vsnprintf(f->text + len, sizeof(f->text) - len, fmt, ap);
	va_end(ap);
}

static void __attribute__((format(printf, 2, 3)))
change(struct aggnet_watch *w, const char *fmt, ...)
{
	char text[AGGNET_WATCH_CHANGE], (*list)[AGGNET_WATCH_CHANGE];
	va_list ap;
	size_t i;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (i = 0; i < w->n_changes; i++)
		if (!strcmp(w->change[i], text))
			return;
	list = more(w->change, w->n_changes, sizeof(*list));
	if (!list) {
		w->incomplete = true;
		return;
	}
	w->change = list;
	strcpy(list[w->n_changes++], text);
}

static void renew(struct aggnet_watch *w, uint64_t incast_id)
{
	uint64_t *list = more(w->renew, w->n_renew, sizeof(*list));

	if (!list) {
		w->incomplete = true;
		return;
	}
	w->renew = list;
	list[w->n_renew++] = incast_id;
}

static bool link_down(const struct watch_link *link)
{
	return link->down[0] || link->down[1];
}

/* A node all of whose links are down is down itself. */
static void find_cut_off(struct aggnet_watch *w, int end)
{
	struct watch_node *node, *other;
	size_t i;

	for (i = 0; i < w->n_nodes; i++) {
		w->node[i].links = 0;
		w->node[i].down = 0;
	}
	for (i = 0; i < w->n_links; i++) {
		node = &w->node[w->link[i].node[end]];
		other = &w->node[w->link[i].node[!end]];
		node->links++;
		node->down += link_down(&w->link[i]) && !other->gone;
	}
	for (i = 0; i < w->n_nodes; i++)
		if (w->node[i].links > 1 && w->node[i].down == w->node[i].links)
			w->node[i].gone = true;
}

/* Return: false: no new attempt will mend it */
static bool judge_source(struct aggnet_watch *w, struct watch_node *node,
			 struct aggnet_finding *f, const char *what)
{
	/* Each of its trees ends because of it. */
	if (node->left)
		return w->allow_missing;
	node->left = true;
	say(f, "source %s %s", node->name, what);
	if (!w->allow_missing)
		return false;
	change(w, node->gone ? "failed:%s" : "leave:%s", node->name);
	node->parts &= ~AGGNET_WATCH_SOURCE;
	return true;
}

static bool judge_node(struct aggnet_watch *w, struct watch_node *node,
		       struct aggnet_finding *f)
{
	if (!node->gone || node->judged)
		return true;
	if (receives(w, node)) {
		say(f, "receiver %s is gone", node->name);
		return false;
	}
	/* What it had may be with others already: its tree will say. */
	if (node->parts & AGGNET_WATCH_SOURCE && !w->allow_missing)
		return true;
	node->judged = true;
	if (node->parts & AGGNET_WATCH_SOURCE)
		return judge_source(w, node, f, "is gone");
	say(f, "%s is gone", node->name);
	change(w, "failed:%s", node->name);
	return true;
}

static void judge_link(struct aggnet_watch *w, struct watch_link *link,
		       struct aggnet_finding *f)
{
	const struct watch_node *server = &w->node[link->node[0]];
	const struct watch_node *sw = &w->node[link->node[1]];

	if (!link_down(link)) {
		link->judged = false;
		return;
	}
	if (link->judged || server->gone || sw->gone)
		return;
	link->judged = true;
	say(f, "link %s-%s is down", server->name, sw->name);
	change(w, "failed:%s-%s", server->name, sw->name);
}

/*
 * Is it known that the node itself works? A node that names itself has lost a process
 * only. Of a node that others have not heard, or that has withdrawn its entry, nothing
 * comes that takes its way through it either.
 */
static bool is_heard(const struct watch_tree *tree)
{
	return tree->end.reason == AGGNET_R_TIMEOUT &&
	       tree->end.about == tree->end.origin;
}

/* The tree ended because of a node that was silent, or left. */
static bool judge_loss(struct aggnet_watch *w, const struct watch_tree *tree,
		       struct watch_node *node, struct aggnet_finding *f,
		       const char *what)
{
	char text[AGGNET_TEXT_MAX];

	if (!node || receives(w, node)) {
		say(f, "%s", aggnet_status_text(&tree->end, text,
						sizeof(text)));
		return false;
	}
	if (node->judged || node->left)
		return true;
	node->gone = !is_heard(tree) || !(node->parts & AGGNET_WATCH_SOURCE);
	node->judged = node->gone;
	if (node->parts & AGGNET_WATCH_SOURCE)
		return judge_source(w, node, f, what);
	say(f, "%s %s", node->name, what);
	change(w, "failed:%s", node->name);
	return true;
}

static bool judge_tree(struct aggnet_watch *w, struct watch_tree *tree,
		       struct aggnet_finding *f)
{
	struct watch_node *origin = find_identity(w, tree->end.origin);
	char text[AGGNET_TEXT_MAX];

	if (tree->done || !tree->end.reason)
		return true;
	renew(w, tree->incast_id);
	if (tree->end.reason == AGGNET_R_TIMEOUT)
		return judge_loss(w, tree, find_identity(w, tree->end.about),
				  f, "timed out");
	/* So does a host that goes down in good order. */
	if (tree->end.reason == AGGNET_R_WITHDRAWN)
		return judge_loss(w, tree, origin, f, "withdrew its entry");
	if (tree->end.reason == AGGNET_R_SENDER && origin)
		return judge_source(w, origin, f,
				    "closed before it was finished");
	say(f, "%s", aggnet_status_text(&tree->end, text, sizeof(text)));
	return tree->end.reason == AGGNET_R_RESET;
}

static bool judge_all(struct aggnet_watch *w, struct aggnet_finding *f)
{
	bool mends = true;
	size_t i;

	find_cut_off(w, 1);
	find_cut_off(w, 0);
	for (i = 0; i < w->n_nodes; i++) {
		w->node[i].left = false;
		mends &= judge_node(w, &w->node[i], f);
	}
	for (i = 0; i < w->n_links; i++)
		judge_link(w, &w->link[i], f);
	for (i = 0; i < w->n_trees; i++)
		mends &= judge_tree(w, &w->tree[i], f);
	return mends;
}

static bool all_done(const struct aggnet_watch *w)
{
	size_t i;

	for (i = 0; i < w->n_trees; i++)
		if (!w->tree[i].done)
			return false;
	return true;
}

/* When all is known that will be. */
static int64_t judge_at(const struct aggnet_watch *w)
{
	int64_t at = w->settle + AGGNET_WATCH_SETTLE_MS;
	const struct watch_tree *tree;
	size_t i;

	for (i = 0; i < w->n_trees; i++) {
		tree = &w->tree[i];
		if (tree->name_by > at && !tree->done &&
		    !w->node[tree->at].gone)
			at = tree->name_by;
	}
	return at;
}

enum aggnet_verdict aggnet_watch_judge(struct aggnet_watch *w, int64_t now,
				       struct aggnet_finding *f)
{
	bool mends;
	int64_t at;

	*f = (struct aggnet_finding){ .wait_ms = -1, .heard_ms = w->heard };
	if (all_done(w))
		return AGGNET_WATCH_DONE;
	if (w->heard < 0)
		return AGGNET_WATCH_WAIT;
	at = judge_at(w);
	if (now < at) {
		f->wait_ms = at - now < INT_MAX ? (int)(at - now) : INT_MAX;
		return AGGNET_WATCH_WAIT;
	}
	w->n_changes = 0;
	w->n_renew = 0;
	w->incomplete = false;
	mends = judge_all(w, f);
	if (w->incomplete) {
		say(f, "out of memory");
		mends = false;
	}
	w->heard = -1;
	f->change = (const char (*)[AGGNET_WATCH_CHANGE])w->change;
	f->n_changes = w->n_changes;
	f->renew = w->renew;
	f->n_renew = w->n_renew;
	if (!mends)
		return AGGNET_WATCH_FAILED;
	return w->n_changes || w->n_renew ? AGGNET_WATCH_REPAIR :
					    AGGNET_WATCH_WAIT;
}
