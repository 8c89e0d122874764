// SPDX-License-Identifier: GPL-2.0
/* Outgoing packets: made under the tree's lock, sent after the unlock. */
#include <linux/hash.h>
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/route.h>
#include <net/udp.h>

#include "core/aggtable.h"
#include "core/filter.h"
#include "core/packet.h"
#include "core/tag.h"
#include "flow/channel.h"
#include "flow/host.h"
#include "flow/tree.h"
#include "net/drop.h"
#include "net/egress.h"
#include "net/port.h"
#include "mem.h"
#include "netns.h"

#define TX_TTL		64
#define TX_HEADERS	(sizeof(struct iphdr) + sizeof(struct udphdr) + \
			 sizeof(struct aggnet_hdr))

/**
 * struct tx_cb - destination of a packet on a list; in skb->cb
 * @src: identity with which it was made
 * @dst: identity that its header names, 0 in OPEN
 * @sport: UDP source port
 * @way: enum aggnet_way
 */
struct tx_cb {
	__be32 src;
	__be32 dst;
	__be16 sport;
	u8 way;
};

static struct tx_cb *tx_cb(struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct tx_cb) > sizeof(skb->cb));
	return (struct tx_cb *)skb->cb;
}

/*
 * The same port for all packets of a channel, so that one receive queue gets them.
 */
static __be16 tx_sport(u64 incast_id, __be32 child)
{
	u64 key = incast_id ^ ((u64)(__force u32)child << 32);

	return htons(49152 + hash_64(key, 14));
}

void aggnet_host_make(struct aggnet_tree *tree, struct aggnet_run *run,
		      struct aggnet_pkt *pkt, const void *body,
		      const u64 *digest, enum aggnet_way way)
{
	const struct aggnet_secret *key = pkt->key ?: &tree->conf.key;
	struct aggnet_net *an = tree->an;
	struct aggnet_hdr *hdr;
	struct sk_buff *skb;

	if (way != AGGNET_WAY_DIRECT) {
		pkt->filter = tree->conf.filter;
		pkt->filter_size = tree->conf.filter_size;
	}
	skb = aggnet_skb_alloc(LL_MAX_HEADER + TX_HEADERS + pkt->filter_size +
			       pkt->length);
	if (!skb) {
		aggnet_stat_inc(an, drop_memory);
		return;
	}
	pkt->src = READ_ONCE(an->identity);
	pkt->incast_id = tree->conf.incast_id;
	pkt->instance = tree->conf.instance;
	pkt->attempt = tree->conf.attempt;
	if (key->keyed)
		pkt->flags |= AGGNET_F_TAG;

	skb_reserve(skb, LL_MAX_HEADER + TX_HEADERS - sizeof(*hdr));
	hdr = skb_put(skb, sizeof(*hdr));
	aggnet_put_header(hdr, pkt);
	skb_put_data(skb, pkt->filter, pkt->filter_size);
	skb_put_data(skb, body, pkt->length);
	hdr->tag = cpu_to_be64(aggnet_tag(key, hdr, digest ? *digest :
					  aggnet_digest(key, aggnet_body(hdr),
							pkt->length)));
	*tx_cb(skb) = (struct tx_cb) {
		.src = pkt->src,
		.dst = pkt->dst,
		.sport = tx_sport(pkt->incast_id, way == AGGNET_WAY_DIRECT ?
				  pkt->dst : pkt->src),
		.way = way,
	};
	__skb_queue_tail(&run->packets, skb);
}

/* Write IP and UDP header; the device computes the checksum if it can. */
static void tx_push_headers(const struct aggnet_net *an, struct sk_buff *skb,
			    const struct tx_cb *cb, __be32 daddr)
{
	struct udphdr *uh;
	struct iphdr *iph;

	uh = skb_push(skb, sizeof(*uh));
	skb_reset_transport_header(skb);
	uh->source = cb->sport;
	uh->dest = READ_ONCE(an->udp_port);
	uh->len = htons(skb->len);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	uh->check = ~udp_v4_check(skb->len, cb->src, daddr, 0);

	iph = skb_push(skb, sizeof(*iph));
	skb_reset_network_header(skb);
	*iph = (struct iphdr) {
		.version = 4,
		.ihl = sizeof(*iph) / 4,
		.tot_len = htons(skb->len),
		.frag_off = htons(IP_DF),
		.ttl = TX_TTL,
		.protocol = IPPROTO_UDP,
		.saddr = cb->src,
		.daddr = daddr,
	};
}

/* Around a broken link the path is not that of the filter: leave it out. */
static void tx_spend(struct sk_buff *skb)
{
	struct aggnet_hdr *hdr = (struct aggnet_hdr *)skb->data;

	if (hdr->filter)
		aggnet_filter_spend((struct aggnet_filter *)(hdr + 1));
}

/* Route to a peer, whose address comes from a packet and may be forged. */
static void tx_send(struct aggnet_tree *tree, struct sk_buff *skb)
{
	struct aggnet_egress ways[AGGNET_COPIES_MAX];
	struct aggnet_net *an = tree->an;
	struct tx_cb cb = *tx_cb(skb);
	struct aggnet_flow flow = {
		.saddr = cb.src,
		.daddr = cb.dst,
		.sport = cb.sport,
	};
	enum aggnet_stat why;
	unsigned int n = 0;

	if (cb.way != AGGNET_WAY_DIRECT) {
		flow.daddr = aggnet_tree_receiver(tree);
		n = aggnet_egress_tree(tree, 0, &flow, ways);
		if (cb.way == AGGNET_WAY_ROUND &&
		    tree->conf.scheme != AGGNET_SCHEME_ROUTE) {
			aggnet_egress_cancel(ways, n);
			aggnet_flow_miss(&flow, AGGNET_FALLBACK_ROUND);
			n = 0;
		}
		/*
		 * Around a broken link address the acceptor, so that no node
		 * intercepts.
		 */
		if (!n && cb.dst && flow.miss != AGGNET_FALLBACK_POLICY &&
		    tree->conf.scheme != AGGNET_SCHEME_ROUTE)
			flow.daddr = cb.dst;
	}
	if (!n) {
		why = aggnet_egress_peer(an, &flow, false, ways);
		if (why) {
			aggnet_drop(an, skb, why);
			return;
		}
		aggnet_tree_fell_back(tree, flow.miss);
		tx_spend(skb);
		n = 1;
	}
	tx_push_headers(an, skb, &cb, flow.daddr);
	if (aggnet_egress_send(an, skb, ways, n, true))
		aggnet_stat_inc(an, tx_packets);
}

void aggnet_host_transmit(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct sk_buff *skb;

	rcu_read_lock();
	while ((skb = __skb_dequeue(&run->packets)))
		tx_send(tree, skb);
	rcu_read_unlock();
}

/*
 * The lesser MTU of the port and of the first link of the route to the receiver.
 * Path MTUs of ICMP errors are ignored, as they may be forged.
 */
static u32 tx_mtu(struct aggnet_net *an, u32 ifindex, __be32 receiver)
{
	struct aggnet_flow flow = {
		.saddr = READ_ONCE(an->identity),
		.daddr = receiver,
	};
	struct net_device *dev;
	struct aggnet_egress way;
	u32 mtu = IP_MAX_MTU;

	local_bh_disable();
	rcu_read_lock();
	dev = dev_get_by_index_rcu(an->net, ifindex);
	if (dev)
		mtu = READ_ONCE(dev->mtu);
	if (aggnet_egress_route(an, &flow, &way)) {
		mtu = min(mtu, ip_dst_mtu_maybe_forward(&way.rt->dst, true));
		ip_rt_put(way.rt);
	}
	rcu_read_unlock();
	local_bh_enable();
	return mtu;
}

static u32 tx_payload(u32 mtu, u32 filter)
{
	u32 head = TX_HEADERS + filter + sizeof(struct aggnet_data);

	return clamp_t(u32, mtu > head ? mtu - head : 0, AGGNET_PAYLOAD_MIN,
		       AGGNET_PAYLOAD_MAX);
}

u32 aggnet_host_payload(struct aggnet_net *an, u32 ifindex, __be32 receiver,
			u32 filter)
{
	return tx_payload(tx_mtu(an, ifindex, receiver), filter);
}

u32 aggnet_host_payload_max(struct aggnet_net *an)
{
	const struct aggnet_port *port;
	u32 mtu = 0;

	rcu_read_lock();
	list_for_each_entry_rcu(port, &an->ports, list)
		mtu = max(mtu, READ_ONCE(port->dev->mtu));
	rcu_read_unlock();
	return max_t(u32, AGGNET_PAYLOAD_USUAL, tx_payload(mtu, 0));
}
