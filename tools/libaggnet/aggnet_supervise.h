/* SPDX-License-Identifier: GPL-2.0 */
/*
 * libaggnet, supervision: what is heard of a running plan's nodes goes in, what
 * has failed comes out. It does no I/O of its own: the caller listens,
 * recomputes the trees and installs them, as "aggctl supervise" does.
 *
 *	struct aggnet_watch *w = aggnet_watch_new(false);
 *	struct aggnet_finding f;
 *
 *	aggnet_watch_server(w, "v5", identity, AGGNET_WATCH_SOURCE);
 *	aggnet_watch_tree(w, incast_id, instance, attempt, "v0");
 *	...
 *	for (;;) {
 *		switch (aggnet_watch_judge(w, now_ms(), &f)) {
 *		case AGGNET_WATCH_WAIT:		// f.wait_ms, or until an event
 *			aggnet_watch_event(w, "v5", &event, now_ms());
 *			break;
 *		case AGGNET_WATCH_REPAIR:	// f.change[], f.renew[]
 *			...
 *			aggnet_watch_tree(w, incast_id, instance, attempt + 1,
 *					  "v0");
 *			break;
 *		case AGGNET_WATCH_DONE:
 *		case AGGNET_WATCH_FAILED:	// f.text
 *			return;
 *		}
 *	}
 *
 * Two supervisors that hear the same aborts find the same, so each host may
 * supervise itself: an abort reaches all members of its tree unchanged.
 */
#ifndef AGGNET_SUPERVISE_H
#define AGGNET_SUPERVISE_H

#include "aggnet.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Bytes of a node's name, of a change (it may have two names), of a sentence. */
#define AGGNET_WATCH_NAME	32
#define AGGNET_WATCH_CHANGE	(8 + 2 * AGGNET_WATCH_NAME)
#define AGGNET_WATCH_TEXT	256
/* Signs of one failure come from many nodes; so long they are waited for. */
#define AGGNET_WATCH_SETTLE_MS	50

/* Parts that a server has in the plan. */
#define AGGNET_WATCH_SOURCE	0x0001
#define AGGNET_WATCH_RECEIVER	0x0002

/** enum aggnet_verdict - what aggnet_watch_judge() has found */
enum aggnet_verdict {
	AGGNET_WATCH_WAIT,	/* nothing to be done now */
	AGGNET_WATCH_REPAIR,	/* recompute and begin new attempts */
	AGGNET_WATCH_DONE,	/* every receiver has its result */
	AGGNET_WATCH_FAILED,	/* no new attempt will mend it, or no memory */
};

/**
 * struct aggnet_finding - what has been found out
 * @wait_ms: WAIT: judge again after so long, -1: when something is heard
 * @heard_ms: REPAIR: when the first sign was heard
 * @text: REPAIR, FAILED: what happened, for people
 * @change: REPAIR: changes of the plan, as "aggctl plan --update" takes them:
 *	failed:v3, failed:w6, failed:v14-w6, leave:v5
 * @n_changes: how many
 * @renew: REPAIR: trees that begin a new attempt whether they change or not
 * @n_renew: how many
 *
 * The lists are the handle's and last until the next call.
 */
struct aggnet_finding {
	int wait_ms;
	int64_t heard_ms;
	char text[AGGNET_WATCH_TEXT];
	const char (*change)[AGGNET_WATCH_CHANGE];
	size_t n_changes;
	const uint64_t *renew;
	size_t n_renew;
};

/** struct aggnet_watch - a plan that is supervised; the library allocates it. */
struct aggnet_watch;

/**
 * aggnet_watch_new() - begin to supervise a plan
 * @allow_missing: the plan allows sources to leave
 *
 * Return: the handle, NULL without memory
 */
struct aggnet_watch *aggnet_watch_new(bool allow_missing);
void aggnet_watch_free(struct aggnet_watch *w);

/**
 * aggnet_watch_give_up() - how long the nodes of the plan bear silence
 * @w: the handle
 * @give_up: of the plan's entries, milliseconds; AGGNET_GIVE_UP_DEFAULT if this
 *	is not called
 *
 * A node that never found its acceptor aborts its tree without the name of a
 * node. The node whose word counts may name one later, and is waited for 2.25
 * give_up and 2 s at most; no failure is judged before.
 */
void aggnet_watch_give_up(struct aggnet_watch *w, uint32_t give_up);

/* --- what there is -------------------------------------------------------- */

/*
 * Servers, with their AGGNET_WATCH_* parts, and switches of the plan. Return: 0,
 * -ENOMEM, or -ENAMETOOLONG of a name without room in AGGNET_WATCH_NAME (a
 * port's: AGGNET_IFNAME_LEN)
 */
int aggnet_watch_server(struct aggnet_watch *w, const char *name,
			struct in_addr identity, unsigned int parts);
int aggnet_watch_switch(struct aggnet_watch *w, const char *name);
/* Between a server and a switch that are known; -ENOENT: one of them is not. */
int aggnet_watch_link(struct aggnet_watch *w, const char *server,
		      const char *server_port, const char *sw,
		      const char *sw_port);

/**
 * aggnet_watch_tree() - a tree is in force in this epoch
 * @w: the handle
 * @incast_id: the tree; known already: it has begun a new attempt
 * @instance: epoch
 * @attempt: epoch
 * @at: the node whose word on its end counts, NULL: any
 *
 * What is heard of other epochs of it is ignored from now on. A tree that is done
 * stays done in a new attempt, not in a new instance.
 *
 * Return: 0, -ENOMEM, or -ENOENT: there is no node @at
 */
int aggnet_watch_tree(struct aggnet_watch *w, uint64_t incast_id,
		      uint32_t instance, uint32_t attempt, const char *at);

/* The tree is watched no longer; the handle need not have it. */
void aggnet_watch_drop(struct aggnet_watch *w, uint64_t incast_id);

/* --- what is heard -------------------------------------------------------- */

/* The node does not exist any more. */
void aggnet_watch_gone(struct aggnet_watch *w, const char *node, int64_t now);
/* A port came up, or went down or away. */
void aggnet_watch_port(struct aggnet_watch *w, const char *node,
		       const char *port, bool up, int64_t now);
void aggnet_watch_event(struct aggnet_watch *w, const char *node,
			const struct aggnet_event_info *event, int64_t now);
/* What a dump says; for the beginning, and when events were lost. */
void aggnet_watch_state(struct aggnet_watch *w, const char *node,
			const struct aggnet_tree_info *tree, int64_t now);

/* --- what it means -------------------------------------------------------- */

/* Whether a tree has ended well. */
bool aggnet_watch_is_done(const struct aggnet_watch *w, uint64_t incast_id);

/**
 * aggnet_watch_judge() - what is to be done
 * @w: the handle
 * @now: milliseconds of the clock that was used throughout
 * @f: filled in
 *
 * A failure is found once. A receiver that has the result of all its trees may go
 * as any other node on the way may. A source that has died without leave to do so ends
 * the transfer when its tree says so, because all of it may have been taken
 * over already.
 */
enum aggnet_verdict aggnet_watch_judge(struct aggnet_watch *w, int64_t now,
				       struct aggnet_finding *f);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif /* AGGNET_SUPERVISE_H */
