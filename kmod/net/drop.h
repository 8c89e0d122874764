/* SPDX-License-Identifier: GPL-2.0 */
/* The end of a packet that is not served: counted, traced, freed. */
#ifndef _AGGNET_DROP_H
#define _AGGNET_DROP_H

#include <linux/skbuff.h>

#include "netns.h"
#include "trace.h"

/* Count and trace a drop; the caller frees the skb. Any context. */
static inline void aggnet_drop_count(struct aggnet_net *an,
				     const struct sk_buff *skb,
				     enum aggnet_stat why)
{
	this_cpu_inc(an->stats->value[why]);
	trace_aggnet_drop(an, skb, why);
}

/* The kernel's name of a cause, if it has one, for those that watch its drops. */
static inline enum skb_drop_reason aggnet_drop_reason(enum aggnet_stat why)
{
	switch (why) {
	case AGGNET_STAT_drop_truncated:
		return SKB_DROP_REASON_HDR_TRUNC;
	case AGGNET_STAT_drop_udp_csum:
		return SKB_DROP_REASON_UDP_CSUM;
	case AGGNET_STAT_drop_memory:
		return SKB_DROP_REASON_NOMEM;
	case AGGNET_STAT_drop_mtu:
		return SKB_DROP_REASON_PKT_TOO_BIG;
	case AGGNET_STAT_drop_policy:
		return SKB_DROP_REASON_XFRM_POLICY;
	default:
		return SKB_DROP_REASON_NOT_SPECIFIED;
	}
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
	kfree_skb_reason(skb, aggnet_drop_reason(why));
}

#endif /* _AGGNET_DROP_H */
