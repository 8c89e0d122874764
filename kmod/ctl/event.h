/* SPDX-License-Identifier: GPL-2.0 */
/* Notifications to the multicast group "events". */
#ifndef _AGGNET_EVENT_H
#define _AGGNET_EVENT_H

#include <linux/types.h>

#include <linux/aggnet.h>

struct aggnet_net;
struct aggnet_tree;

/* The family is there, and is about to go: events are sent between these only. */
void aggnet_event_start(void);
void aggnet_event_stop(void);

/* Any context, also under a tree's lock: GFP_ATOMIC, without a wait. */
void aggnet_event_tree(struct aggnet_tree *tree, enum aggnet_event kind);
void aggnet_event_port(struct aggnet_net *an, u32 ifindex);

#endif /* _AGGNET_EVENT_H */
