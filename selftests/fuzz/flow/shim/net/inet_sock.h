/* SPDX-License-Identifier: GPL-2.0 */
/* What a socket is made of in the kernel. */
#ifndef _FLOW_NET_INET_SOCK_H
#define _FLOW_NET_INET_SOCK_H

struct sock {
	char nothing;
};

struct inet_sock {
	struct sock sk;
};

#endif /* _FLOW_NET_INET_SOCK_H */
