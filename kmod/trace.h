/* SPDX-License-Identifier: GPL-2.0 */
/* Tracepoints of packets and trees: events/aggnet/ in tracefs. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM aggnet

#if !defined(_AGGNET_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _AGGNET_TRACE_H

#include <linux/skbuff.h>
#include <linux/tracepoint.h>

#include "core/packet.h"
#include "flow/tree.h"
#include "netns.h"
#include "stats.h"

#ifndef _AGGNET_TRACE_NAMES
#define _AGGNET_TRACE_NAMES

#define AGGNET_TRACE_TYPES						\
	{ AGGNET_OPEN, "OPEN" }, { AGGNET_ACCEPT, "ACCEPT" },		\
	{ AGGNET_DATA, "DATA" }, { AGGNET_ACK, "ACK" },			\
	{ AGGNET_FIN, "FIN" }, { AGGNET_DONE, "DONE" },			\
	{ AGGNET_ABORT, "ABORT" }, { AGGNET_RST, "RST" },		\
	{ AGGNET_PROBE, "PROBE" }

#define AGGNET_TRACE_STATES						\
	{ AGGNET_TREE_IDLE, "idle" }, { AGGNET_TREE_OPEN, "open" },	\
	{ AGGNET_TREE_CLOSING, "closing" },				\
	{ AGGNET_TREE_WAITING, "waiting" },				\
	{ AGGNET_TREE_DONE, "done" }, { AGGNET_TREE_ABORTED, "aborted" }

#endif

/* This node handles a packet whose header has been checked. */
TRACE_EVENT(aggnet_rx,
	TP_PROTO(const struct aggnet_net *an, const struct aggnet_pkt *pkt),
	TP_ARGS(an, pkt),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__field(u64, incast_id)
		__field(u32, instance)
		__field(u32, attempt)
		__field(u32, src)
		__field(u32, dst)
		__field(u16, flags)
		__field(u16, length)
		__field(u8, type)
		__field(u8, hop)
	),
	TP_fast_assign(
		__entry->netns = an->net->ns.inum;
		__entry->incast_id = pkt->incast_id;
		__entry->instance = pkt->instance;
		__entry->attempt = pkt->attempt;
		__entry->src = (__force u32)pkt->src;
		__entry->dst = (__force u32)pkt->dst;
		__entry->flags = pkt->flags;
		__entry->length = pkt->length;
		__entry->type = pkt->type;
		__entry->hop = pkt->hop;
	),
	TP_printk("netns=%u incast=%016llx epoch=%u.%u %s %pI4 > %pI4 flags=%04x length=%u hop=%u",
		  __entry->netns, __entry->incast_id, __entry->instance,
		  __entry->attempt,
		  __print_symbolic(__entry->type, AGGNET_TRACE_TYPES),
		  &__entry->src, &__entry->dst, __entry->flags,
		  __entry->length, __entry->hop)
);

/* A packet is not served; @why is the counter of the cause. */
TRACE_EVENT(aggnet_drop,
	TP_PROTO(const struct aggnet_net *an, const struct sk_buff *skb,
		 enum aggnet_stat why),
	TP_ARGS(an, skb, why),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__field(const void *, skbaddr)
		__array(char, why, 24)
	),
	TP_fast_assign(
		__entry->netns = an->net->ns.inum;
		__entry->skbaddr = skb;
		strscpy(__entry->why, aggnet_stat_name(why), 24);
	),
	TP_printk("netns=%u skbaddr=%p %s", __entry->netns, __entry->skbaddr,
		  __entry->why)
);

/* The state of an entry's flow is about to change. */
TRACE_EVENT(aggnet_tree_state,
	TP_PROTO(const struct aggnet_tree *tree, u8 state),
	TP_ARGS(tree, state),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__field(u64, incast_id)
		__field(u32, instance)
		__field(u32, attempt)
		__field(u8, from)
		__field(u8, to)
	),
	TP_fast_assign(
		__entry->netns = tree->an->net->ns.inum;
		__entry->incast_id = tree->conf.incast_id;
		__entry->instance = tree->conf.instance;
		__entry->attempt = tree->conf.attempt;
		__entry->from = tree->state;
		__entry->to = state;
	),
	TP_printk("netns=%u incast=%016llx epoch=%u.%u %s > %s",
		  __entry->netns, __entry->incast_id, __entry->instance,
		  __entry->attempt,
		  __print_symbolic(__entry->from, AGGNET_TRACE_STATES),
		  __print_symbolic(__entry->to, AGGNET_TRACE_STATES))
);

/* Records that enter or leave an entry's buffer. */
DECLARE_EVENT_CLASS(aggnet_records,
	TP_PROTO(const struct aggnet_tree *tree, u32 records, u64 represents),
	TP_ARGS(tree, records, represents),
	TP_STRUCT__entry(
		__field(unsigned int, netns)
		__field(u64, incast_id)
		__field(u64, represents)
		__field(u32, records)
		__field(u32, keys)
	),
	TP_fast_assign(
		__entry->netns = tree->an->net->ns.inum;
		__entry->incast_id = tree->conf.incast_id;
		__entry->represents = represents;
		__entry->records = records;
		__entry->keys = aggnet_tree_keys(tree);
	),
	TP_printk("netns=%u incast=%016llx records=%u represents=%llu keys=%u",
		  __entry->netns, __entry->incast_id, __entry->records,
		  __entry->represents, __entry->keys)
);

/* Records have been merged into the buffer. */
DEFINE_EVENT(aggnet_records, aggnet_merge,
	TP_PROTO(const struct aggnet_tree *tree, u32 records, u64 represents),
	TP_ARGS(tree, records, represents)
);

/* Records have left the buffer in a DATA packet for the parent. */
DEFINE_EVENT(aggnet_records, aggnet_emit,
	TP_PROTO(const struct aggnet_tree *tree, u32 records, u64 represents),
	TP_ARGS(tree, records, represents)
);

#endif /* _AGGNET_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
