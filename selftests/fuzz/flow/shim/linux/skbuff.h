/* SPDX-License-Identifier: GPL-2.0 */
/* Packets: the simulation defines struct sk_buff. */
#ifndef _FLOW_LINUX_SKBUFF_H
#define _FLOW_LINUX_SKBUFF_H

#include <linux/types.h>

struct sk_buff;

/**
 * struct sk_buff_head - packets of a section under a tree's lock
 * @qlen: how many
 * @data: how many of them are DATA
 * @cost: estimated instructions for packing new DATA
 * @dearest: the same for the most expensive packet
 */
struct sk_buff_head {
	u32 qlen;
	u32 data;
	u32 cost;
	u32 dearest;
};

static inline void __skb_queue_head_init(struct sk_buff_head *list)
{
	*list = (struct sk_buff_head) {};
}

static inline u32 skb_queue_len(const struct sk_buff_head *list)
{
	return list->qlen;
}

#endif /* _FLOW_LINUX_SKBUFF_H */
