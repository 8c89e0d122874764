/* SPDX-License-Identifier: GPL-2.0 */
/* The structs that the kernel builds a socket of. */
#ifndef _SHIM_NET_INET_SOCK_H
#define _SHIM_NET_INET_SOCK_H

struct net;

struct sock {
	struct net *net;
	bool dead;
};

#define sock_net(sk)	((sk)->net)

struct inet_sock {
	struct sock sk;
};

#endif /* _SHIM_NET_INET_SOCK_H */
