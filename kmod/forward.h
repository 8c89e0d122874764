/* SPDX-License-Identifier: GPL-2.0 */
/* Packets of others, sent on by a node that does not consume them. */
#ifndef _AGGNET_FORWARD_H
#define _AGGNET_FORWARD_H

#include <linux/types.h>

#include "link.h"

struct aggnet_net;
struct aggnet_tree;
struct sk_buff;

/**
 * aggnet_forward() - send a packet on along an entry's link
 * @tree: the entry
 * @ingress: port that it came in by and must not leave by
 * @skb: at its IP header, not shared, trimmed, headers linear; consumed
 *
 * If the link cannot be used, plain IP carries it on to the acceptor that its
 * header names, or to the receiver. Softirq, RCU.
 */
void aggnet_forward(struct aggnet_tree *tree, u32 ingress, struct sk_buff *skb);

/**
 * aggnet_forward_links() - send a packet on as a switch does
 * @an: namespace
 * @skb: as above
 * @links: what aggnet_link_match() found
 * @n: what it returned
 */
void aggnet_forward_links(struct aggnet_net *an, struct sk_buff *skb,
			  struct aggnet_link *links[AGGNET_COPIES_MAX],
			  unsigned int n);

#endif /* _AGGNET_FORWARD_H */
