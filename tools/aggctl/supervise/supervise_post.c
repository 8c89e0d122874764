// SPDX-License-Identifier: GPL-2.0
/* Listening to the nodes of a plan that is under supervision. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "aggctl.h"
#include "files.h"
#include "info.h"
#include "netns.h"
#include "supervise/supervise.h"
#include "testbed/testbed.h"

/* A socket keeps its namespace: without it the namespace really goes. */
static void post_close(struct post *post)
{
	if (!post->ctl)
		return;
	aggnet_ctl_close(post->ctl);
	post->ctl = NULL;
	if (post->links.fd >= 0)
		link_watch_close(&post->links);
}

static void post_gone(struct supervise *s, struct post *post)
{
	post_close(post);
	aggnet_watch_gone(s->watch, post->name, supervise_now());
}

/**
 * supervise_gone() - a node was found gone by other means than events
 * @s: the plan
 * @name: the node
 *
 * Return: 0, or -1 with an error line printed if there is no other node to hear of.
 */
int supervise_gone(struct supervise *s, const char *name)
{
	size_t i;

	if (s->only) {
		err("%s is gone", name);
		return -1;
	}
	for (i = 0; i < s->n_posts; i++)
		if (!strcmp(s->post[i].name, name))
			post_gone(s, &s->post[i]);
	return 0;
}

static bool is_entry(const struct aggnet_tree_info *tree, const json_t *entry)
{
	json_t *to = json_object_get(entry, "receiver");
	uint32_t instance, attempt;
	struct in_addr receiver;
	json_int_t job;

	job = json_integer_value(json_object_get(entry, "job"));
	instance = (uint32_t)json_integer_value(json_object_get(entry,
								"instance"));
	attempt = (uint32_t)json_integer_value(json_object_get(entry,
							       "attempt"));
	return json_is_string(to) &&
	       addr_parse(json_string_value(to), &receiver) &&
	       tree->incast_id == aggnet_incast_id((uint32_t)job, receiver) &&
	       tree->instance == instance && tree->attempt == attempt;
}

/* What is not in force may yet come; what never does would be waited for. */
static void warn_missing(const struct supervise *s, const struct post *post,
			 const struct aggnet_tree_info *list, size_t n)
{
	json_t *node = json_object_get(json_object_get(s->json, "nodes"),
				       post->name);
	json_t *entries = json_object_get(node, "trees"), *entry;
	size_t i, k, missing = 0;

	/* It is about to be. */
	if (json_object_get(s->json, "installing"))
		return;
	json_array_foreach(entries, i, entry) {
		for (k = 0; k < n && !is_entry(&list[k], entry); k++)
			;
		missing += k == n;
	}
	if (missing)
		err("warning: %s: of the plan's %zu entries %zu are not in force",
		    post->name, json_array_size(entries), missing);
}

/* Return: NULL if it is of another plan */
static const struct supervised_tree *our_tree(const struct supervise *s,
					      uint64_t incast_id,
					      uint32_t instance)
{
	return instance == supervise_instance(s) ?
	       supervise_tree(s, incast_id) : NULL;
}

static void note_found(const struct supervise *s, struct post *post,
		       const struct supervised_tree *tree)
{
	if (tree)
		post->found[tree - s->tree] = true;
}

static bool has_entry(const struct aggnet_tree_info *list, size_t n,
		      uint64_t incast_id)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (list[i].incast_id == incast_id)
			return true;
	return false;
}

/* Entries that were there and are not any more: no event told of their end. */
static void find_deleted(struct supervise *s, struct post *post,
			 const struct aggnet_tree_info *list, size_t n)
{
	struct aggnet_event_info deleted = {
		.kind = AGGNET_EVENT_TREE_DELETED,
		.instance = supervise_instance(s),
	};
	size_t i;

	for (i = 0; i < s->n_trees; i++) {
		if (!post->found[i] || has_entry(list, n, s->tree[i].incast_id))
			continue;
		post->found[i] = false;
		/* A repair has gone around the node. */
		if (!supervise_has_entry(s, s->json, post->name, i))
			continue;
		deleted.incast_id = s->tree[i].incast_id;
		deleted.attempt = supervise_attempt(s, i);
		aggnet_watch_event(s->watch, post->name, &deleted,
				   supervise_now());
	}
}

/*
 * How the node's trees stand, @first or again: events told it before, or were
 * lost.
 */
static int post_scan(struct supervise *s, struct post *post, bool first)
{
	struct aggnet_tree_info *list;
	size_t i, n;
	int ret = 0;

	if (aggnet_tree_list(post->ctl, &list, &n)) {
		err("%s: %s", post->name, aggnet_ctl_error(post->ctl));
		return -1;
	}
	if (first)
		warn_missing(s, post, list, n);
	else
		find_deleted(s, post, list, n);
	for (i = 0; !ret && i < n; i++) {
		supervise_found(s, post->name, &list[i]);
		note_found(s, post, our_tree(s, list[i].incast_id,
					     list[i].instance));
		aggnet_watch_state(s->watch, post->name, &list[i],
				   supervise_now());
		/* At first it is not known which attempt is in force. */
		if (!first)
			ret = supervise_stands(s, &list[i]);
	}
	aggnet_tree_list_free(list, n);
	return ret;
}

static int post_open(struct supervise *s, struct post *post)
{
	int ret = 0;

	post->links.fd = -1;
	post->found = calloc(s->n_trees + 1, sizeof(*post->found));
	if (!post->found) {
		err("out of memory");
		return -1;
	}
	if (s->in_testbed && !netns_exists(post->name))
		return supervise_gone(s, post->name);
	if (s->in_testbed && netns_enter(post->name))
		return -1;
	if (aggnet_ctl_open(&post->ctl) || aggnet_events_join(post->ctl)) {
		err("%s: %s", post->name, aggnet_ctl_error(post->ctl));
		return -1;
	}
	/* It waits for all nodes, never for one. */
	if (fcntl(aggnet_events_fd(post->ctl), F_SETFL, O_NONBLOCK)) {
		err("%s: events: %s", post->name, strerror(errno));
		return -1;
	}
	if (s->in_testbed && !s->only)
		ret = link_watch_open(&post->links);
	return ret ? ret : post_scan(s, post, true);
}

/**
 * supervise_listen() - begin to listen at all posts
 * @s: the plan, its posts have names
 *
 * Return: 0, or -1 with an error line printed.
 */
int supervise_listen(struct supervise *s)
{
	size_t i;

	raise_files();
	if (s->in_testbed && !s->only) {
		s->names = netns_watch();
		if (s->names < 0)
			return -1;
	}
	for (i = 0; i < s->n_posts; i++)
		if (post_open(s, &s->post[i]))
			return -1;
	return 0;
}

/**
 * supervise_look() - look again at the trees of all nodes that are there
 * @s: the plan
 *
 * Return: 0, or -1 with an error line printed.
 */
int supervise_look(struct supervise *s)
{
	size_t i;

	for (i = 0; i < s->n_posts; i++)
		if (s->post[i].ctl && post_scan(s, &s->post[i], false))
			return -1;
	return 0;
}

/**
 * supervise_close() - stop to listen
 * @s: the plan
 */
void supervise_close(struct supervise *s)
{
	size_t i;

	for (i = 0; i < s->n_posts; i++) {
		post_close(&s->post[i]);
		free(s->post[i].found);
	}
	if (s->names >= 0)
		close(s->names);
	free(s->post);
}

struct heard {
	struct supervise *s;
	struct post *post;
};

static void hear_link(void *arg, const char *name, bool up)
{
	struct heard *h = arg;

	/* Without its bridge a switch is none. */
	if (!up && !strcmp(name, TB_BRIDGE))
		aggnet_watch_gone(h->s->watch, h->post->name, supervise_now());
	else
		aggnet_watch_port(h->s->watch, h->post->name, name, up,
				  supervise_now());
}

static int hear_one(struct supervise *s, struct post *post,
		    const struct aggnet_event_info *event)
{
	const struct supervised_tree *tree;
	const char *port = NULL;

	tree = our_tree(s, event->incast_id, event->instance);
	if (event->kind == AGGNET_EVENT_TREE_ADDED)
		note_found(s, post, tree);
	if (event->kind == AGGNET_EVENT_TREE_STALLED && tree)
		s->stalled(s->arg, post->name, event->missing);
	if (event->kind == AGGNET_EVENT_PORT_GONE && post->links.fd >= 0)
		port = link_watch_name(&post->links, (int)event->ifindex);
	if (port)
		aggnet_watch_port(s->watch, post->name, port, false,
				  supervise_now());
	aggnet_watch_event(s->watch, post->name, event, supervise_now());
	return supervise_heard(s, event);
}

static int hear_event(struct supervise *s, struct post *post)
{
	struct aggnet_event_info event;
	int error = aggnet_events_next(post->ctl, &event);

	/* What made it readable may have been for others. */
	if (error == -EINTR || error == -EAGAIN)
		return 0;
	if (error == -ENOBUFS)
		return post_scan(s, post, false);
	if (error) {
		err("%s: %s", post->name, aggnet_ctl_error(post->ctl));
		return -1;
	}
	error = hear_one(s, post, &event);
	aggnet_event_clear(&event);
	return error;
}

/*
 * Names have gone. Look for all of them, whatever the events say: if the queue of
 * events was full, some are missing (IN_Q_OVERFLOW).
 */
static void hear_names(struct supervise *s)
{
	char events[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)];
	size_t i;

	if (read(s->names, events, sizeof(events)) <= 0)
		return;
	for (i = 0; i < s->n_posts; i++)
		if (s->post[i].ctl && !netns_exists(s->post[i].name))
			post_gone(s, &s->post[i]);
}

static int hear_post(struct supervise *s, struct post *post,
		     const struct pollfd *pfd)
{
	struct heard h = { s, post };

	/* It may have gone while others were heard. */
	if (post->ctl && pfd[0].revents && hear_event(s, post))
		return -1;
	if (post->ctl && pfd[1].revents &&
	    link_watch_read(&post->links, hear_link, &h))
		return -1;
	return 0;
}

/**
 * supervise_hear() - wait for news, and take them
 * @s: the plan
 * @wait_ms: for so long at most, -1: as long as it takes
 *
 * Return: 0, or -1 with an error line printed.
 */
int supervise_hear(struct supervise *s, int wait_ms)
{
	struct pollfd *pfd = calloc(2 * s->n_posts + 1, sizeof(*pfd));
	size_t i;
	int ret;

	if (!pfd) {
		err("out of memory");
		return -1;
	}
	pfd[2 * s->n_posts] = (struct pollfd){ s->names, POLLIN, 0 };
	for (i = 0; i < s->n_posts; i++) {
		const struct post *post = &s->post[i];

		pfd[2 * i] = (struct pollfd){
			post->ctl ? aggnet_events_fd(post->ctl) : -1, POLLIN, 0
		};
		pfd[2 * i + 1] = (struct pollfd){
			post->ctl ? post->links.fd : -1, POLLIN, 0
		};
	}
	ret = poll(pfd, 2 * s->n_posts + 1, wait_ms);
	if (ret < 0 && errno != EINTR)
		err("poll: %s", strerror(errno));
	else
		ret = ret < 0 ? 0 : ret;
	if (ret > 0 && pfd[2 * s->n_posts].revents)
		hear_names(s);
	for (i = 0; ret > 0 && i < s->n_posts; i++)
		ret = hear_post(s, &s->post[i], &pfd[2 * i]) ? -1 : ret;
	free(pfd);
	return ret < 0 ? -1 : 0;
}
