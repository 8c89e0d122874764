/* SPDX-License-Identifier: GPL-2.0 */
/* Socket of a source or of the receiver. */
#ifndef _AGGNET_SOCKET_H
#define _AGGNET_SOCKET_H

#include <linux/aggnet.h>
#include <net/inet_sock.h>

struct aggnet_tree;

enum aggnet_sock_role {
	AGGNET_SOCK_NEW,
	AGGNET_SOCK_WRITER,
	AGGNET_SOCK_READER,
};

/**
 * struct aggnet_sock - a socket of an aggregated transfer
 * @inet: must be first
 * @tree: referenced from connect()/bind() to close, then constant
 * @role: enum aggnet_sock_role; under the socket lock
 * @shut: writer has shut down; under the tree's lock
 * @run: how many writers of the tree joined before it; so its run, if sorted
 * @epoch: of the only entry that it may join; under the socket lock
 * @has_epoch: there is one
 * @list: in tree->socks, under the tree's lock
 */
struct aggnet_sock {
	struct inet_sock inet;
	struct aggnet_tree *tree;
	u8 role;
	bool shut;
	u32 run;
	struct aggnet_epoch epoch;
	bool has_epoch;
	struct list_head list;
};

static inline struct aggnet_sock *aggnet_sk(const struct sock *sk)
{
	return (struct aggnet_sock *)sk;
}

/* Wake all sockets of a tree; its lock is held. */
void aggnet_socket_wake(struct aggnet_tree *tree);

int aggnet_socket_init(void);
void aggnet_socket_exit(void);

#endif /* _AGGNET_SOCKET_H */
