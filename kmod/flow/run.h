/* SPDX-License-Identifier: GPL-2.0 */
/* Run: one hold of a tree's lock, and its effects, which follow the unlock. */
#ifndef _AGGNET_RUN_H
#define _AGGNET_RUN_H

#include <linux/skbuff.h>

struct aggnet_tree;

/**
 * struct aggnet_run - effects of a run of a tree's lock
 * @packets: made in the run, transmitted after it
 * @wake: wake the local members, once, at its end
 */
struct aggnet_run {
	struct sk_buff_head packets;
	bool wake;
};

/**
 * aggnet_run_begin() - take a tree's lock
 * @tree: referenced, or under RCU
 * @run: initialised here
 *
 * Any context; BH are off until aggnet_run_end().
 */
void aggnet_run_begin(struct aggnet_tree *tree, struct aggnet_run *run)
	__acquires(&tree->lock);
/* Release the lock, then transmit: no packet is transmitted under the lock. */
void aggnet_run_end(struct aggnet_tree *tree, struct aggnet_run *run)
	__releases(&tree->lock);

#endif /* _AGGNET_RUN_H */
