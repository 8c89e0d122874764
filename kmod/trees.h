/* SPDX-License-Identifier: GPL-2.0 */
/* Table of a namespace's entries, replaced as a whole: never half a plan. */
#ifndef _AGGNET_TREES_H
#define _AGGNET_TREES_H

#include <linux/types.h>

struct aggnet_net;
struct aggnet_tree;

/**
 * aggnet_trees_find() - the entry of an incast ID
 * @an: namespace
 * @incast_id: job . receiver
 *
 * Under rcu_read_lock() (any context) or an->lock. Return: it or NULL.
 */
struct aggnet_tree *aggnet_trees_find(struct aggnet_net *an, u64 incast_id);

/* The same with a reference taken, for sockets. */
struct aggnet_tree *aggnet_trees_get(struct aggnet_net *an, u64 incast_id);

/* Is any entry in force? Cheap; softirq. */
bool aggnet_trees_any(const struct aggnet_net *an);

#endif /* _AGGNET_TREES_H */
