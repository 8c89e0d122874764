/* SPDX-License-Identifier: GPL-2.0 */
/* Socket of a source or of the receiver. */
#ifndef _AGGNET_SOCKET_H
#define _AGGNET_SOCKET_H

#include <linux/aggnet.h>
#include <net/inet_sock.h>

#include "flow/local.h"

struct aggnet_tree;

enum aggnet_sock_role {
	AGGNET_SOCK_NEW,
	AGGNET_SOCK_WRITER,
	AGGNET_SOCK_READER,
};

/**
 * struct aggnet_sock - a socket of an aggregated transfer
 * @inet: must be first
 * @tree: referenced and constant from connect() or bind() to close
 * @role: enum aggnet_sock_role; under the socket lock
 * @epoch: if @has_epoch, the only one that it may join; under the socket lock
 * @has_epoch: @epoch is set
 * @local: under the tree's lock
 */
struct aggnet_sock {
	struct inet_sock inet;
	struct aggnet_tree *tree;
	u8 role;
	struct aggnet_epoch epoch;
	bool has_epoch;
	struct aggnet_local local;
};

static inline struct aggnet_sock *aggnet_sk(const struct sock *sk)
{
	return (struct aggnet_sock *)sk;
}

int aggnet_socket_init(void);
void aggnet_socket_exit(void);

#endif /* _AGGNET_SOCKET_H */
