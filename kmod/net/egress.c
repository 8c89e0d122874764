// SPDX-License-Identifier: GPL-2.0
/* Egress: the links, or the route, by which a packet leaves this node. */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <net/arp.h>
#include <net/dst_cache.h>
#include <net/ip.h>
#include <net/route.h>
#include <net/xfrm.h>

#include "net/drop.h"
#include "mem.h"
#include "netns.h"
#include "net/port.h"
#include "flow/tree.h"
#include "net/egress.h"

static struct flowi4 egress_fl4(const struct aggnet_net *an,
				const struct aggnet_flow *flow, u32 ifindex)
{
	return (struct flowi4) {
		.flowi4_oif = ifindex,
		.flowi4_mark = flow->mark,
		.flowi4_proto = IPPROTO_UDP,
		.flowi4_flags = FLOWI_FLAG_ANYSRC,
		.saddr = flow->saddr,
		.daddr = flow->daddr,
		.fl4_sport = flow->sport,
		.fl4_dport = READ_ONCE(an->udp_port),
	};
}

/* Are there IPsec policies for output at all? */
static bool egress_ipsec(const struct net *net)
{
#ifdef CONFIG_XFRM
	return READ_ONCE(net->xfrm.policy_count[XFRM_POLICY_OUT]) ||
	       READ_ONCE(net->xfrm.policy_default[XFRM_POLICY_OUT]) !=
	       XFRM_USERPOLICY_ACCEPT;
#else
	return false;
#endif
}

/*
 * Does an IPsec policy apply to the packet on this device? Look it up by the
 * packet's own addresses: the route to the next hop has other ones.
 */
static bool egress_policed(struct aggnet_net *an, u32 ifindex,
			   const struct aggnet_flow *flow)
{
	struct flowi4 fl4 = egress_fl4(an, flow, ifindex);
	struct dst_entry *dst;
	struct rtable *rt;

	if (likely(!egress_ipsec(an->net)))
		return false;
	rt = __ip_route_output_key(an->net, &fl4);
	if (IS_ERR(rt))
		return true;
	/* This consumes the reference, or returns it. */
	dst = xfrm_lookup(an->net, &rt->dst, flowi4_to_flowi(&fl4), NULL, 0);
	if (IS_ERR(dst))
		return true;
	dst_release(dst);
	return dst != &rt->dst;
}

static bool egress_dev_up(const struct net_device *dev)
{
	return netif_running(dev) && netif_carrier_ok(dev);
}

/*
 * Does the route lead to the neighbour? Without a connected route the next hop
 * would be the destination of the packet itself, or a gateway.
 */
static bool egress_rt_ok(const struct rtable *rt, u32 ifindex, __be32 neighbour)
{
	const struct net_device *dev = rt->dst.dev;
	const struct neighbour *neigh;

	if (dev->ifindex != ifindex || rt->rt_gw_family != AF_INET ||
	    rt->rt_gw4 != neighbour || !egress_dev_up(dev))
		return false;
	neigh = __ipv4_neigh_lookup_noref((struct net_device *)dev,
					  (__force u32)neighbour);
	return !neigh || !(READ_ONCE(neigh->nud_state) & NUD_FAILED);
}

/* Route to the neighbour, which is then the next hop of packets to any address. */
static struct rtable *egress_lookup(struct aggnet_net *an, u32 ifindex,
				    __be32 neighbour, __be32 *saddr)
{
	struct flowi4 fl4 = {
		.flowi4_oif = ifindex,
		.flowi4_proto = IPPROTO_UDP,
		.flowi4_flags = FLOWI_FLAG_KNOWN_NH | FLOWI_FLAG_ANYSRC,
		.saddr = READ_ONCE(an->identity),
		.daddr = neighbour,
	};
	struct rtable *rt;

	/* Without IPsec policies: these apply to the packet's own addresses. */
	rt = __ip_route_output_key(an->net, &fl4);
	if (IS_ERR(rt))
		return NULL;
	*saddr = fl4.saddr;
	return rt;
}

/* Is the device still a port? Packets leave by ports only. */
static bool egress_port(struct aggnet_net *an, u32 ifindex)
{
	return aggnet_port_level(an, ifindex) >= 0;
}

static bool egress_neighbour(struct aggnet_net *an, u32 ifindex,
			     __be32 neighbour, struct dst_cache *cache,
			     struct aggnet_egress *way)
{
	struct rtable *rt;
	__be32 saddr;

	if (!egress_port(an, ifindex))
		return false;
	rt = dst_cache_get_ip4(cache, &saddr);
	if (!rt) {
		rt = egress_lookup(an, ifindex, neighbour, &saddr);
		if (!rt)
			return false;
		dst_cache_set_ip4(cache, &rt->dst, saddr);
	}
	if (!egress_rt_ok(rt, ifindex, neighbour)) {
		ip_rt_put(rt);
		return false;
	}
	way->rt = rt;
	return true;
}

static bool egress_frame(struct aggnet_net *an, u32 ifindex, const u8 *lladdr,
			 struct aggnet_egress *way)
{
	way->rt = NULL;
	way->dev = egress_port(an, ifindex) ?
		   dev_get_by_index_rcu(an->net, ifindex) : NULL;
	if (!way->dev || !egress_dev_up(way->dev))
		return false;
	ether_addr_copy(way->lladdr, lladdr);
	return true;
}

/*
 * Egress of a server. A link without a neighbour address leads to an aggnet switch.
 * A link that cannot be used is counted.
 */
static bool egress_hop(struct aggnet_net *an, u32 ifindex, __be32 neighbour,
		       struct dst_cache *cache, struct aggnet_flow *flow,
		       struct aggnet_egress *way)
{
	static const u8 group[ETH_ALEN] __aligned(2) = AGGNET_GROUP_MAC;

	if (neighbour ? !egress_neighbour(an, ifindex, neighbour, cache, way) :
			!egress_frame(an, ifindex, group, way)) {
		aggnet_flow_miss(flow, AGGNET_FALLBACK_LINK);
		aggnet_stat_inc(an, drop_link);
		return false;
	}
	/* After the route: a device that is down has none to ask a policy for. */
	if (egress_policed(an, ifindex, flow)) {
		aggnet_egress_cancel(way, 1);
		aggnet_flow_miss(flow, AGGNET_FALLBACK_POLICY);
		aggnet_stat_inc(an, passed_policy);
		return false;
	}
	return true;
}

/* Egress of a switch, which forwards frames: IPsec does not apply. */
static bool egress_link(struct aggnet_net *an, struct aggnet_link *link,
			struct aggnet_flow *flow, struct aggnet_egress *way)
{
	if (READ_ONCE(an->role) == AGGNET_ROLE_SERVER)
		return egress_hop(an, link->ifindex, link->neighbour,
				  &link->dst, flow, way);
	if (egress_frame(an, link->ifindex, link->lladdr, way))
		return true;
	aggnet_stat_inc(an, drop_link);
	return false;
}

static bool egress_planned(const struct aggnet_tree *tree,
			   const struct aggnet_link *link)
{
	return link->ifindex == tree->conf.link_ifindex &&
	       link->neighbour == tree->conf.link_neighbour;
}

/* If too many tables match, keep the planned link. */
static void egress_keep_planned(struct aggnet_tree *tree,
				struct aggnet_link *links[AGGNET_COPIES_MAX])
{
	struct aggnet_link *link;
	unsigned int i;

	for (i = 0; i < AGGNET_COPIES_MAX; i++)
		if (egress_planned(tree, links[i]))
			return;
	list_for_each_entry_rcu(link, &tree->an->links, list)
		if (egress_planned(tree, link))
			links[AGGNET_COPIES_MAX - 1] = link;
}

static unsigned int egress_bloom(struct aggnet_tree *tree, u32 ingress,
				 struct aggnet_flow *flow,
				 struct aggnet_egress ways[AGGNET_COPIES_MAX])
{
	struct aggnet_link *links[AGGNET_COPIES_MAX];
	struct aggnet_net *an = tree->an;
	unsigned int i, n, used = 0;

	n = aggnet_link_match(an, tree->conf.incast_id, ingress, links);
	if (!n) {
		aggnet_flow_miss(flow, AGGNET_FALLBACK_BLOOM);
		aggnet_stat_inc(an, drop_bloom_miss);
		return 0;
	}
	if (n > AGGNET_COPIES_MAX) {
		aggnet_stat_add(an, drop_copies, n - AGGNET_COPIES_MAX);
		n = AGGNET_COPIES_MAX;
		if (tree->conf.link_ifindex != ingress)
			egress_keep_planned(tree, links);
	}
	for (i = 0; i < n; i++)
		used += egress_link(an, links[i], flow, &ways[used]);
	return used;
}

unsigned int aggnet_egress_tree(struct aggnet_tree *tree, u32 ingress,
				struct aggnet_flow *flow,
				struct aggnet_egress ways[AGGNET_COPIES_MAX])
{
	const struct aggnet_tree_conf *conf = &tree->conf;

	switch (conf->scheme) {
	case AGGNET_SCHEME_EXACT:
	case AGGNET_SCHEME_PACKET:
		if (conf->link_ifindex != ingress)
			return egress_hop(tree->an, conf->link_ifindex,
					  conf->link_neighbour, &tree->up_dst,
					  flow, ways);
		aggnet_flow_miss(flow, AGGNET_FALLBACK_LINK);
		aggnet_stat_inc(tree->an, drop_link);
		return 0;
	case AGGNET_SCHEME_BLOOM:
		return egress_bloom(tree, ingress, flow, ways);
	default:
		return 0;
	}
}

unsigned int aggnet_egress_links(struct aggnet_net *an,
				 struct aggnet_link *links[AGGNET_COPIES_MAX],
				 unsigned int n, struct aggnet_flow *flow,
				 struct aggnet_egress ways[AGGNET_COPIES_MAX])
{
	unsigned int i, used = 0;

	if (n > AGGNET_COPIES_MAX) {
		aggnet_stat_add(an, drop_copies, n - AGGNET_COPIES_MAX);
		n = AGGNET_COPIES_MAX;
	}
	for (i = 0; i < n; i++)
		used += egress_link(an, links[i], flow, &ways[used]);
	return used;
}

bool aggnet_egress_route(struct aggnet_net *an, const struct aggnet_flow *flow,
			 struct aggnet_egress *way)
{
	struct flowi4 fl4 = egress_fl4(an, flow, 0);
	struct rtable *rt = ip_route_output_key(an->net, &fl4);

	way->rt = IS_ERR(rt) ? NULL : rt;
	return way->rt;
}

enum aggnet_stat aggnet_egress_peer(struct aggnet_net *an,
				    const struct aggnet_flow *flow,
				    bool by_port, struct aggnet_egress *way)
{
	if (!aggnet_egress_route(an, flow, way))
		return AGGNET_STAT_drop_link;
	if (way->rt->rt_type == RTN_UNICAST &&
	    (!by_port || egress_port(an, way->rt->dst.dev->ifindex)))
		return 0;
	aggnet_egress_cancel(way, 1);
	return AGGNET_STAT_drop_route;
}

void aggnet_egress_cancel(struct aggnet_egress *ways, unsigned int n)
{
	while (n--)
		if (ways[n].rt)
			ip_rt_put(ways[n].rt);
}

/* Build the frame of a packet whose next hop is given by its MAC address. */
static bool egress_send_frame(struct aggnet_net *an, struct sk_buff *skb,
			      const struct aggnet_egress *way, bool local)
{
	struct net_device *dev = way->dev;

	if (skb->len > READ_ONCE(dev->mtu)) {
		aggnet_drop(an, skb, AGGNET_STAT_drop_mtu);
		return false;
	}
	if (aggnet_mem_fails() || skb_cow_head(skb, LL_RESERVED_SPACE(dev))) {
		aggnet_drop(an, skb, AGGNET_STAT_drop_memory);
		return false;
	}
	if (local)
		ip_send_check(ip_hdr(skb));
	skb->dev = dev;
	skb->protocol = htons(ETH_P_IP);
	if (dev_hard_header(skb, dev, ETH_P_IP, way->lladdr, NULL,
			    skb->len) < 0) {
		aggnet_drop(an, skb, AGGNET_STAT_drop_link);
		return false;
	}
	skb_reset_mac_header(skb);
	dev_queue_xmit(skb);
	return true;
}

static bool egress_send_route(struct aggnet_net *an, struct sk_buff *skb,
			      const struct aggnet_egress *way, bool local)
{
	struct dst_entry *dst = &way->rt->dst;
	struct socket *sock;

	skb_dst_set(skb, dst);
	/*
	 * Ignore path MTUs that ICMP errors have reported, here and behind
	 * ip_local_out() and dst_output(): an attacker only needs to guess the
	 * ports of a datagram to the destination to forge them.
	 */
	if (skb->len > ip_dst_mtu_maybe_forward(dst, true)) {
		aggnet_drop(an, skb, AGGNET_STAT_drop_mtu);
		return false;
	}
	if (!local) {
		IPCB(skb)->flags |= IPSKB_FORWARDED;
		dst_output(an->net, NULL, skb);
		return true;
	}
	/* The guard recognises the module's packets by this socket. */
	sock = READ_ONCE(an->sock);
	if (!sock) {
		aggnet_drop(an, skb, AGGNET_STAT_drop_link);
		return false;
	}
	ip_local_out(an->net, sock->sk, skb);
	return true;
}

static bool egress_send(struct aggnet_net *an, struct sk_buff *skb,
			const struct aggnet_egress *way, bool local)
{
	if (!skb) {
		if (way->rt)
			ip_rt_put(way->rt);
		aggnet_stat_inc(an, drop_memory);
		return false;
	}
	if (way->rt)
		return egress_send_route(an, skb, way, local);
	return egress_send_frame(an, skb, way, local);
}

unsigned int aggnet_egress_send(struct aggnet_net *an, struct sk_buff *skb,
				struct aggnet_egress *ways, unsigned int n,
			     bool local)
{
	unsigned int i, sent = 0;

	skb_dst_drop(skb);
	memset(IPCB(skb), 0, sizeof(*IPCB(skb)));
	for (i = 0; i + 1 < n; i++)
		sent += egress_send(an, aggnet_skb_copy(skb), &ways[i],
				 local);
	sent += egress_send(an, skb, &ways[i], local);
	return sent;
}
