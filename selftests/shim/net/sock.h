/* SPDX-License-Identifier: GPL-2.0 */
/* A netlink socket: open, or closed. */
#ifndef _SHIM_NET_SOCK_H
#define _SHIM_NET_SOCK_H

#include <net/inet_sock.h>

#define SOCK_DEAD	0

/* All sockets are of the initial user namespace. */
#define sk_user_ns(sk)		((void)(sk), (struct user_namespace *)NULL)

#define sock_flag(sk, flag)	((void)(flag), (sk)->dead)

#endif /* _SHIM_NET_SOCK_H */
