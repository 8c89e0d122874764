/* SPDX-License-Identifier: GPL-2.0 */
/* Growth of the buffer of a tree by chunks, up to the limit of the entry. */
#ifndef _AGGNET_GROWTH_H
#define _AGGNET_GROWTH_H

#include <linux/types.h>

struct aggnet_net;
struct aggnet_tree;

int aggnet_growth_init(void);	/* module: the work queue */
void aggnet_growth_exit(void);	/* after every namespace has gone */
void aggnet_growth_start(struct aggnet_net *an);	/* namespace: its work item */
void aggnet_growth_stop(struct aggnet_net *an);	/* after its last tree is freed */

/*
 * Add up to @n chunks; each is allocated, then charged. Process context, the tree's
 * lock not held. Return: chunks added; if fewer than @n, @err is -ENOMEM, or -ENOSPC
 * at a limit.
 */
u32 aggnet_growth_add(struct aggnet_tree *tree, u32 n, int *err);

/*
 * Ask for chunks; the tree's lock is held. Return: true: growth may add some soon;
 * false: it waits for memory, or behind other trees that do.
 */
bool aggnet_growth_ask(struct aggnet_tree *tree);

/* Cancel the request of a dead tree; growth that has begun adds nothing to it. */
void aggnet_growth_cancel(struct aggnet_tree *tree);

#endif /* _AGGNET_GROWTH_H */
