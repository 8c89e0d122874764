/* SPDX-License-Identifier: GPL-2.0 */
/* Egress: by which links, or by which route, a packet leaves this node. */
#ifndef _AGGNET_EGRESS_H
#define _AGGNET_EGRESS_H

#include <linux/if_ether.h>
#include <linux/types.h>

#include "net/link.h"
#include "stats.h"

struct aggnet_net;
struct aggnet_tree;
struct net_device;
struct rtable;
struct sk_buff;

/**
 * struct aggnet_flow - what is routed, and what IPsec's policies are asked of
 * @saddr: IP source, of this node or not
 * @daddr: IP destination
 * @sport: UDP source port
 * @mark: skb->mark
 * @policed: set by aggnet_egress_tree() and aggnet_egress_links(): a policy
 *	applies on a link, so IP gets the packet, and with this destination
 */
struct aggnet_flow {
	__be32 saddr;
	__be32 daddr;
	__be16 sport;
	u32 mark;
	bool policed;
};

/**
 * struct aggnet_egress - one way out; used up by aggnet_egress_send()
 * @rt: route with the neighbour as next hop, a reference; or NULL, and
 * @dev: port that the frame leaves by, under RCU
 * @lladdr: destination of the frame
 */
struct aggnet_egress {
	struct rtable *rt;
	struct net_device *dev;
	u8 lladdr[ETH_ALEN];
};

/**
 * aggnet_egress_tree() - ways of a tree's upward packets
 * @tree: the entry
 * @ingress: port that they must not leave by, 0: none
 * @flow: the packet's
 * @ways: filled
 *
 * EXACT, PACKET: the planned link. BLOOM: links whose table has the incast ID, the
 * planned one among them. ROUTE: none. A link that cannot be used is counted, and
 * one on which an IPsec policy applies to the flow is not used.
 * BH disabled, RCU.
 *
 * Return: how many ways; none: plain IP is left
 */
unsigned int aggnet_egress_tree(struct aggnet_tree *tree, u32 ingress,
				struct aggnet_flow *flow,
				struct aggnet_egress ways[AGGNET_COPIES_MAX]);

/**
 * aggnet_egress_links() - ways by links
 * @an: namespace
 * @links: what aggnet_link_match() or aggnet_link_on_way() found
 * @n: what it returned
 * @flow: the packet's
 * @ways: filled
 *
 * BH disabled, RCU. Return: how many ways
 */
unsigned int aggnet_egress_links(struct aggnet_net *an,
				 struct aggnet_link *links[AGGNET_COPIES_MAX],
				 unsigned int n, struct aggnet_flow *flow,
				 struct aggnet_egress ways[AGGNET_COPIES_MAX]);

/**
 * aggnet_egress_route() - plain IP's way
 * @an: namespace
 * @flow: what is routed
 * @way: filled
 *
 * IPsec's policies apply. BH disabled, RCU. Return: false if there is no route
 */
bool aggnet_egress_route(struct aggnet_net *an, const struct aggnet_flow *flow,
			 struct aggnet_egress *way);

/**
 * aggnet_egress_peer() - plain IP's way to one other host
 * @an: namespace
 * @flow: what is routed; its destination may be what a packet says
 * @by_port: it must also leave by a port
 * @way: filled
 *
 * As aggnet_egress_route(), but no way leads to a broadcast, multicast or local
 * address.
 *
 * Return: 0, or why the packet is to be dropped
 */
enum aggnet_stat aggnet_egress_peer(struct aggnet_net *an,
				    const struct aggnet_flow *flow,
				    bool by_port, struct aggnet_egress *way);

/* Ways that are not taken after all; @ways: used up, @n: how many */
void aggnet_egress_cancel(struct aggnet_egress *ways, unsigned int n);

/**
 * aggnet_egress_send() - send a packet and copies of it
 * @an: namespace
 * @skb: at its complete IP header, consumed
 * @ways: used up
 * @n: how many, at least 1
 * @local: it was made here
 *
 * BH disabled, RCU, no aggnet lock. Return: how many were handed to IP or to
 * a device; the others are counted
 */
unsigned int aggnet_egress_send(struct aggnet_net *an, struct sk_buff *skb,
				struct aggnet_egress *ways, unsigned int n,
			     bool local);

#endif /* _AGGNET_EGRESS_H */
