/* SPDX-License-Identifier: GPL-2.0 */
/* A netlink socket: open, or closed. */
#ifndef _NETLINK_NET_SOCK_H
#define _NETLINK_NET_SOCK_H

#include <net/inet_sock.h>

#define SOCK_DEAD	0

#define sock_flag(sk, flag)	((void)(flag), (sk)->dead)

#endif /* _NETLINK_NET_SOCK_H */
