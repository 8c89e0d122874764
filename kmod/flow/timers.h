/* SPDX-License-Identifier: GPL-2.0 */
/* The timers of a tree; functions are named after what the timer is for. */
#ifndef _AGGNET_TIMERS_H
#define _AGGNET_TIMERS_H

#include <linux/types.h>

struct aggnet_tree;

/*
 * An armed timer holds a reference on its tree. Arming needs the tree's lock
 * and does nothing on a dead tree, so that aggnet_timers_stop() is final.
 */
void aggnet_timers_init(struct aggnet_tree *tree);
void aggnet_timers_stop(struct aggnet_tree *tree);	/* process context */

/* Run the uplink's timer in @us microseconds at the latest. */
void aggnet_timers_uplink(struct aggnet_tree *tree, u32 us);
/* Repeat packets to children in @us microseconds at the latest. */
void aggnet_timers_branches(struct aggnet_tree *tree, u32 us);
/* Check hold and give_up in @delay jiffies at the latest. */
void aggnet_timers_tree(struct aggnet_tree *tree, unsigned long delay);

#endif /* _AGGNET_TIMERS_H */
