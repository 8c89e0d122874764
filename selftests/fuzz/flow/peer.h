/* SPDX-License-Identifier: GPL-2.0 */
/* Peer: the other end of a channel. The test makes its packets, valid ones and
 * ones that no node would send.
 */
#ifndef _FLOW_PEER_H
#define _FLOW_PEER_H

#include <linux/types.h>

#include "core/packet.h"
#include "flow/tree.h"

#define PEER_BODY_MAX	128

/**
 * struct peer - a peer of a node
 * @tree: of the node
 * @id: its identity
 * @nonce: its nonce, never 0
 * @node_nonce: the node's nonce
 * @stamp: its clock
 * @echo: stamp of the last packet from the node
 * @round: of a persistent tree
 * @fallback: what a node on the way writes into its packets
 * @last: its last packet
 */
struct peer {
	struct aggnet_tree *tree;
	__be32 id;
	u64 nonce;
	u64 node_nonce;
	u32 stamp;
	u32 echo;
	u32 round;
	u8 fallback;
	struct {
		struct aggnet_hdr hdr;
		u8 body[PEER_BODY_MAX];
	} last;
};

/* A peer that has sent nothing; @id: identity */
struct peer peer_of(struct aggnet_tree *tree, u32 id, u64 nonce);
/* One with the identity of a node, @node */
struct peer peer_as(struct aggnet_tree *tree, u32 node, u64 nonce);
/* The acceptor of a node that has sent an OPEN */
struct peer peer_acceptor(struct aggnet_tree *tree);

/* Send a packet to the node, which serves it at once. */
void peer_say(struct peer *p, u8 type, u16 flags, const void *body, u16 length);

/* Send the peer's last packet again, like a replayed copy. */
void peer_replay(struct peer *p);

/* The packets of a child, from its OPEN to its FIN. */
void peer_ask(struct peer *p, u16 flags);	/* an OPEN alone */
void peer_bind(struct peer *p);	/* after the ACCEPT that has come */
void peer_open(struct peer *p);	/* both */
void peer_data(struct peer *p, u32 seq);
void peer_fin(struct peer *p, u32 final);

/* The packets of an acceptor. */
void peer_accept(struct peer *p, u8 hop);
void peer_ack(struct peer *p, u16 flags, u32 cum, u32 credit);
void peer_done(struct peer *p);
void peer_rst(struct peer *p, u32 reason);

/**
 * peer_hears() - take the oldest packet under way
 * @p: the peer that it is for
 * @pkt: its header; the packet and its body are then freed
 *
 * Return: false if there is none
 */
bool peer_hears(struct peer *p, struct aggnet_pkt *pkt);

#define EXPECT_ABORTED(why, tree) do {					\
	EXPECT_EQ(AGGNET_TREE_ABORTED, (tree)->state);			\
	EXPECT_EQ(why, (tree)->outcome.reason);				\
} while (0)

#endif /* _FLOW_PEER_H */
