/* SPDX-License-Identifier: GPL-2.0 */
/* The end of a packet that is not served: counted, traced, freed. */
#ifndef _AGGNET_DROP_H
#define _AGGNET_DROP_H

#include <linux/skbuff.h>

#include "netns.h"
#include "trace.h"

/* Counts and traces, for who leaves it to the caller to free. Any context. */
static inline void aggnet_drop_count(struct aggnet_net *an,
				     const struct sk_buff *skb,
				     enum aggnet_stat why)
{
	this_cpu_inc(an->stats->value[why]);
	trace_aggnet_drop(an, skb, why);
}

/**
 * aggnet_drop() - drop a packet
 * @an: namespace
 * @skb: consumed
 * @why: AGGNET_STAT_drop_* or AGGNET_STAT_misforwarded
 */
static inline void aggnet_drop(struct aggnet_net *an, struct sk_buff *skb,
			       enum aggnet_stat why)
{
	aggnet_drop_count(an, skb, why);
	kfree_skb(skb);
}

#endif /* _AGGNET_DROP_H */
