/* SPDX-License-Identifier: GPL-2.0 */
/* Four nodes in a line, any of which may be destroyed and made anew:
 *
 *	C r---l T r---l A r---l R	identities 10.0.0.4 ... 10.0.0.1
 */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stdint.h>

#include <aggnet.h>

#define MTU	1500	/* of its links */

enum { NODE_C, NODE_T, NODE_AGG, NODE_R, NODES };

struct line {
	int ns[NODES];
	struct aggnet_ctl *ctl[NODES];
	int home;
};

const char *line_identity(int node);

/* Monotonic clock, in milliseconds. */
int64_t line_now(void);

/* Make the line; remove it. Return: 0, or -1 */
int line_up(struct line *line);
void line_down(struct line *line);

/* Enter a node's namespace. */
void line_enter(const struct line *line, int node);

/* Set device r of @left up again, and wait until its link works. */
int line_reconnect(struct line *line, int left);

/*
 * Cut the node off. Its namespace stays as long as a socket or process uses it.
 */
void line_cut(struct line *line, int node);
/* Cut the node off and delete it. */
void line_destroy(struct line *line, int node);
/* Make a destroyed node again, without entries. Return: 0, or -1 */
int line_restore(struct line *line, int node);

#endif /* LINE_H */
