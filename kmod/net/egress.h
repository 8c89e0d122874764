/* SPDX-License-Identifier: GPL-2.0 */
/* Egress: the links, or the route, by which a packet leaves this node. */
#ifndef _AGGNET_EGRESS_H
#define _AGGNET_EGRESS_H

#include <linux/if_ether.h>
#include <linux/types.h>

#include "flow/tree.h"
#include "net/link.h"
#include "stats.h"

struct aggnet_net;
struct net_device;
struct rtable;
struct sk_buff;

/**
 * struct aggnet_flow - keys of the lookups of routes and IPsec policies
 * @saddr: IP source, of this node or not
 * @daddr: IP destination
 * @sport: UDP source port
 * @mark: skb->mark
 * @miss: set by aggnet_egress_tree() and aggnet_egress_links(): why a link was not
 *	used, see aggnet_flow_miss()
 */
struct aggnet_flow {
	__be32 saddr;
	__be32 daddr;
	__be16 sport;
	u32 mark;
	enum aggnet_fallback miss;
};

/*
 * Note why a link was not used: the last reason, but a policy before all. A policy
 * applies to the packet's own addresses, so plain IP must get the packet with its
 * destination unchanged, also if another link failed for another reason.
 */
static inline void aggnet_flow_miss(struct aggnet_flow *flow,
				    enum aggnet_fallback why)
{
	if (flow->miss != AGGNET_FALLBACK_POLICY)
		flow->miss = why;
}

/**
 * struct aggnet_egress - one egress; aggnet_egress_send() consumes it
 * @rt: route with the neighbour as next hop, a reference; NULL: use @dev and @lladdr
 * @dev: port by which the frame leaves, under RCU
 * @lladdr: destination of the frame
 */
struct aggnet_egress {
	struct rtable *rt;
	struct net_device *dev;
	u8 lladdr[ETH_ALEN];
};

/**
 * aggnet_egress_tree() - find the egresses of a tree's upward packet
 * @tree: the entry
 * @ingress: port by which the packet must not leave, 0: none
 * @flow: keys of the packet
 * @ways: filled
 *
 * EXACT, PACKET: the planned link. BLOOM: links whose table has the incast ID, the
 * planned one among them. ROUTE: none. A link that cannot be used is counted. A
 * link on which an IPsec policy applies to the flow is not used. BH disabled, RCU.
 *
 * Return: number of egresses; 0: use plain IP
 */
unsigned int aggnet_egress_tree(struct aggnet_tree *tree, u32 ingress,
				struct aggnet_flow *flow,
				struct aggnet_egress ways[AGGNET_COPIES_MAX]);

/**
 * aggnet_egress_links() - find egresses by links
 * @an: namespace
 * @links: result of aggnet_link_match() or aggnet_link_on_way()
 * @n: its return value
 * @flow: keys of the packet
 * @ways: filled
 *
 * BH disabled, RCU. Return: number of egresses
 */
unsigned int aggnet_egress_links(struct aggnet_net *an,
				 struct aggnet_link *links[AGGNET_COPIES_MAX],
				 unsigned int n, struct aggnet_flow *flow,
				 struct aggnet_egress ways[AGGNET_COPIES_MAX]);

/**
 * aggnet_egress_route() - find the egress by plain IP
 * @an: namespace
 * @flow: keys of the packet
 * @way: filled
 *
 * IPsec's policies apply. BH disabled, RCU. Return: false if there is no route
 */
bool aggnet_egress_route(struct aggnet_net *an, const struct aggnet_flow *flow,
			 struct aggnet_egress *way);

/**
 * aggnet_egress_peer() - find the egress by plain IP to one other host
 * @an: namespace
 * @flow: keys of the packet; the destination may come from a packet
 * @by_port: the egress must be a port
 * @way: filled
 *
 * As aggnet_egress_route(), but refuses broadcast, multicast and local addresses.
 *
 * Return: 0, or the counter of the drop
 */
enum aggnet_stat aggnet_egress_peer(struct aggnet_net *an,
				    const struct aggnet_flow *flow,
				    bool by_port, struct aggnet_egress *way);

/* Release @n egresses that are not used. */
void aggnet_egress_cancel(struct aggnet_egress *ways, unsigned int n);

/**
 * aggnet_egress_send() - send a packet and copies of it
 * @an: namespace
 * @skb: at its complete IP header, consumed
 * @ways: egresses, consumed
 * @n: number of egresses, at least 1
 * @local: this node has made the packet
 *
 * BH disabled, RCU, no aggnet lock. Return: number of copies handed to IP or to a
 * device; the others are counted
 */
unsigned int aggnet_egress_send(struct aggnet_net *an, struct sk_buff *skb,
				struct aggnet_egress *ways, unsigned int n,
			     bool local);

#endif /* _AGGNET_EGRESS_H */
