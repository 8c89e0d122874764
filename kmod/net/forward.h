/* SPDX-License-Identifier: GPL-2.0 */
/* Packets of others, sent on by a node that does not consume them. */
#ifndef _AGGNET_FORWARD_H
#define _AGGNET_FORWARD_H

#include <linux/types.h>

#include "net/link.h"

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
 * @links: what aggnet_link_match() found, or aggnet_link_on_way()
 * @n: what it returned, at least 1
 */
void aggnet_forward_links(struct aggnet_net *an, struct sk_buff *skb,
			  struct aggnet_link *links[AGGNET_COPIES_MAX],
			  unsigned int n);

/**
 * aggnet_forward_filter() - send a packet on as its own filter says
 * @an: namespace
 * @skb: as above, of a server
 * @links: what aggnet_link_on_way() found
 * @n: what it returned, not negative
 * @entry: does this node have an entry for the packet?
 *
 * Plain IP carries it on, as above, if there is no link, if there are more than
 * copies may be made, or if one of them cannot be used: it may be the right one.
 */
void aggnet_forward_filter(struct aggnet_net *an, struct sk_buff *skb,
			   struct aggnet_link *links[AGGNET_COPIES_MAX],
			   unsigned int n, bool entry);

#endif /* _AGGNET_FORWARD_H */
