/* SPDX-License-Identifier: GPL-2.0 */
/* Growth: chunks that are added to the buffer of a tree, up to its limit. */
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
 * Add up to @n chunks. Process context, lock not held. Each is allocated before
 * it is charged. Return: how many; @err is why not all: -ENOMEM, or -ENOSPC at
 * a limit.
 */
u32 aggnet_growth_add(struct aggnet_tree *tree, u32 n, int *err);

/*
 * Ask for chunks; the tree's lock is held. Return: may growth bring some soon?
 * Growth that waits for memory, or behind other trees that do, may not.
 */
bool aggnet_growth_ask(struct aggnet_tree *tree);

/* Of a dead tree: growth that has begun adds nothing and is not waited for. */
void aggnet_growth_cancel(struct aggnet_tree *tree);

#endif /* _AGGNET_GROWTH_H */
