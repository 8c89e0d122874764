/* SPDX-License-Identifier: GPL-2.0 */
/* Every timer of a tree; entry points are named for what they wait for. */
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

/* Look at the uplink not later than in @us microseconds. */
void aggnet_timers_uplink(struct aggnet_tree *tree, u32 us);
/* Look at hold and give_up not later than in @delay jiffies. */
void aggnet_timers_tree(struct aggnet_tree *tree, unsigned long delay);

#endif /* _AGGNET_TIMERS_H */
