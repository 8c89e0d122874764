/* SPDX-License-Identifier: GPL-2.0 */
/* Packets: whoever drives the simulation says what they are. */
#ifndef _FLOW_LINUX_SKBUFF_H
#define _FLOW_LINUX_SKBUFF_H

#include <linux/types.h>

struct sk_buff;

struct sk_buff_head {
	u32 qlen;
};

static inline void __skb_queue_head_init(struct sk_buff_head *list)
{
	list->qlen = 0;
}

#endif /* _FLOW_LINUX_SKBUFF_H */
