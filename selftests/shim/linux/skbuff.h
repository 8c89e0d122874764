/* SPDX-License-Identifier: GPL-2.0 */
/* Packets and messages. The pure cores only name the type, the simulation of a
 * transfer counts packets, and the simulation of netlink has messages, each
 * allocated with exactly the requested size.
 */
#ifndef _SHIM_LINUX_SKBUFF_H
#define _SHIM_LINUX_SKBUFF_H

#include <linux/types.h>
#include <net/inet_sock.h>

/**
 * struct sk_buff - a message
 * @data: its bytes
 * @len: how many there are
 * @size: space
 * @portid: socket that a request came from
 * @sk: the kernel's end of it
 */
struct sk_buff {
	u8 *data;
	u32 len;
	u32 size;
	u32 portid;
	struct sock *sk;
};

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

#endif /* _SHIM_LINUX_SKBUFF_H */
