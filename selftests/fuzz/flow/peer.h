/* SPDX-License-Identifier: GPL-2.0 */
/* Peer: the other end of a channel, played by a test that makes its packets,
 * right ones and such as no node of ours would send.
 */
#ifndef _FLOW_PEER_H
#define _FLOW_PEER_H

#include <linux/types.h>

#include "core/codec.h"
#include "flow/tree.h"

#define PEER_BODY_MAX	128

/**
 * struct peer - one
 * @tree: of the node that it talks to
 * @id: its identity
 * @nonce: its nonce, never 0
 * @node_nonce: that of the node
 * @stamp: its clock
 * @echo: stamp of what it has heard last
 * @last: its last packet
 */
struct peer {
	struct aggnet_tree *tree;
	__be32 id;
	u64 nonce;
	u64 node_nonce;
	u32 stamp;
	u32 echo;
	struct {
		struct aggnet_hdr hdr;
		u8 body[PEER_BODY_MAX];
	} last;
};

/* The node serves a packet of the peer at once. */
void peer_say(struct peer *p, u8 type, u16 flags, const void *body, u16 length);

/* The node gets the peer's last packet again, as a copy of it on the wire. */
void peer_replay(struct peer *p);

/* What a child says, from its OPEN to its FIN. */
void peer_ask(struct peer *p, u16 flags);	/* an OPEN alone */
void peer_bind(struct peer *p);	/* after the ACCEPT that has come */
void peer_open(struct peer *p);	/* both */
void peer_data(struct peer *p, u32 seq);
void peer_fin(struct peer *p, u32 final);

/* What an acceptor does. */
void peer_ack(struct peer *p, u16 flags, u32 cum, u32 credit);
void peer_done(struct peer *p);
void peer_rst(struct peer *p, u32 reason);

/**
 * peer_hears() - the oldest packet under way
 * @p: whose it is
 * @pkt: its header; it is gone then, and so is its body
 *
 * Return: false if there is none
 */
bool peer_hears(struct peer *p, struct aggnet_pkt *pkt);

#endif /* _FLOW_PEER_H */
