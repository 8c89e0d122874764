/* SPDX-License-Identifier: GPL-2.0 */
/* Messages, allocated with exactly the requested size. */
#ifndef _NETLINK_LINUX_SKBUFF_H
#define _NETLINK_LINUX_SKBUFF_H

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

#include_next <linux/skbuff.h>

#endif /* _NETLINK_LINUX_SKBUFF_H */
