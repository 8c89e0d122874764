/* SPDX-License-Identifier: GPL-2.0 */
/* Forwarding of packets that this node does not consume. */
#ifndef _AGGNET_FORWARD_H
#define _AGGNET_FORWARD_H

#include <linux/types.h>

#include "net/link.h"

struct aggnet_net;
struct aggnet_tree;
struct sk_buff;

/**
 * aggnet_forward() - forward a packet along an entry's link
 * @tree: the entry
 * @ingress: port by which it came, and by which it must not leave
 * @skb: at its IP header, not shared, trimmed, headers linear; consumed
 *
 * If the link cannot be used, plain IP carries the packet to the acceptor in its
 * header, or to the receiver. Softirq, RCU.
 */
void aggnet_forward(struct aggnet_tree *tree, u32 ingress, struct sk_buff *skb);

/**
 * aggnet_forward_links() - forward a packet as a switch
 * @an: namespace
 * @skb: as above
 * @links: result of aggnet_link_match() or aggnet_link_on_way()
 * @n: its return value, at least 1
 */
void aggnet_forward_links(struct aggnet_net *an, struct sk_buff *skb,
			  struct aggnet_link *links[AGGNET_COPIES_MAX],
			  unsigned int n);

/**
 * aggnet_forward_filter() - forward a packet by the filter that it carries
 * @an: namespace
 * @skb: as above; this node is a server
 * @links: result of aggnet_link_on_way()
 * @n: its return value, not negative
 * @tree: the entry of the packet, or NULL
 *
 * Plain IP carries the packet, as above, if there is no link, if there are more
 * links than copies allowed, or if one of them cannot be used: it may be the right
 * one.
 */
void aggnet_forward_filter(struct aggnet_net *an, struct sk_buff *skb,
			   struct aggnet_link *links[AGGNET_COPIES_MAX],
			   unsigned int n, struct aggnet_tree *tree);

#endif /* _AGGNET_FORWARD_H */
