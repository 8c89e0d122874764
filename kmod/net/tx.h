/* SPDX-License-Identifier: GPL-2.0 */
/* Packets out: made under the tree's lock, sent after it. */
#ifndef _AGGNET_TX_H
#define _AGGNET_TX_H

#include <linux/math64.h>
#include <linux/skbuff.h>

#include "core/codec.h"

struct aggnet_tree;
struct aggnet_net;

/**
 * enum aggnet_way - by which way a packet leaves
 * @AGGNET_WAY_UP: along the tree's planned link, IP destination the receiver
 * @AGGNET_WAY_ROUND: as if no link of the tree could be used: plain IP to the
 *	acceptor that the header names, which is not on the planned way
 * @AGGNET_WAY_DIRECT: plain IP to the identity in the header
 */
enum aggnet_way { AGGNET_WAY_UP, AGGNET_WAY_ROUND, AGGNET_WAY_DIRECT };

/**
 * aggnet_tx_make() - build one packet and put it on a list
 * @tree: its tree (identity, key)
 * @out: list that aggnet_tx_flush() will send
 * @pkt: header fields; src, incast ID, epoch, length, F_TAG are filled in, and
 *	the tree's filter, if it goes up and the tree has one
 * @body: what follows the header, @pkt->length bytes
 * @digest: aggnet_digest() of it (0 is computed for you: pass NULL)
 * @way: where to
 *
 * Under the tree's lock, BH. No memory: nothing is queued and the loss is
 * counted; retransmission mends it.
 */
void aggnet_tx_make(struct aggnet_tree *tree, struct sk_buff_head *out,
		    struct aggnet_pkt *pkt, const void *body,
		    const u64 *digest, enum aggnet_way way);

/**
 * aggnet_tx_flush() - send what was made
 * @tree: the tree of all packets on the list; referenced or under RCU
 * @out: emptied
 *
 * BH disabled, no aggnet lock held.
 */
void aggnet_tx_flush(struct aggnet_tree *tree, struct sk_buff_head *out);

/**
 * aggnet_tx_payload() - bytes of records that fit a packet
 * @an: namespace
 * @ifindex: port of the planned link, whose MTU it is to fit
 * @receiver: likewise the first link of the route there
 * @filter: bytes of the filter that packets carry
 */
u32 aggnet_tx_payload(struct aggnet_net *an, u32 ifindex, __be32 receiver,
		      u32 filter);
/* Bytes of records in the longest packet that any port may bring. */
u32 aggnet_rx_payload(struct aggnet_net *an);

static inline u32 aggnet_clock_us(void)
{
	return (u32)div_u64(ktime_get_ns(), NSEC_PER_USEC);
}

#endif /* _AGGNET_TX_H */
