// SPDX-License-Identifier: GPL-2.0
/* From a received packet to the entry, link or route that serves it. */
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/udp.h>
#include <net/xfrm.h>

#include "core/filter.h"
#include "core/packet.h"
#include "flow/tree.h"
#include "flow/tree_table.h"
#include "net/drop.h"
#include "net/forward.h"
#include "net/link.h"
#include "net/port.h"
#include "net/rx.h"
#include "mem.h"
#include "netns.h"
#include "trace.h"

/**
 * struct rx - a received packet that has not been changed yet
 * @an: namespace
 * @port: port by which it came, NULL: through the UDP socket
 * @skb: the packet, at its IP header
 * @saddr: IP source
 * @daddr: IP destination
 * @head: bytes before the aggnet header
 * @total: bytes of the datagram; padding may follow
 * @csum: the UDP header carries a checksum
 * @peek: AGGNET_PARSE_BYTES bytes, for a header that is not linear
 * @pkt: parsed header; @pkt.body is set once the bytes are linear, @pkt.filter is
 *	valid until then
 */
struct rx {
	struct aggnet_net *an;
	struct aggnet_port *port;
	struct sk_buff *skb;
	__be32 saddr;
	__be32 daddr;
	unsigned int head;
	unsigned int total;
	bool csum;
	u8 *peek;
	struct aggnet_pkt pkt;
};

static enum aggnet_verdict rx_drop(struct rx *rx, enum aggnet_stat why)
{
	aggnet_drop(rx->an, rx->skb, why);
	return AGGNET_STOLEN;
}

/* The checks of ip_rcv(). A packet that fails is left to IP, which drops it. */
static bool rx_read_ip(struct rx *rx)
{
	const struct iphdr *iph;
	unsigned int ihl;
	u8 buf[60] __uninitialized;

	iph = skb_header_pointer(rx->skb, 0, sizeof(*iph), buf);
	if (!iph || iph->version != 4 || iph->ihl < 5)
		return false;
	ihl = iph->ihl * 4;
	iph = skb_header_pointer(rx->skb, 0, ihl, buf);
	if (!iph || ip_fast_csum((u8 *)iph, iph->ihl))
		return false;
	rx->total = ntohs(iph->tot_len);
	if (rx->total < ihl + sizeof(struct udphdr) ||
	    rx->total > rx->skb->len)
		return false;
	rx->saddr = iph->saddr;
	rx->daddr = iph->daddr;
	rx->head = ihl + sizeof(struct udphdr);
	return true;
}

/* Parse the UDP and the aggnet header. Return: 0, or the counter of the drop */
static enum aggnet_stat rx_read_headers(struct rx *rx)
{
	static const u8 why[] = {
		[AGGNET_PARSE_TRUNCATED] = AGGNET_STAT_drop_truncated,
		[AGGNET_PARSE_LENGTH] = AGGNET_STAT_drop_length,
		[AGGNET_PARSE_VERSION] = AGGNET_STAT_drop_version,
		[AGGNET_PARSE_TYPE] = AGGNET_STAT_drop_type,
		[AGGNET_PARSE_FLAGS] = AGGNET_STAT_drop_flags,
		[AGGNET_PARSE_BODY] = AGGNET_STAT_drop_body,
		[AGGNET_PARSE_FILTER] = AGGNET_STAT_drop_filter,
	};
	unsigned int len = rx->total - rx->head;
	const struct udphdr *uh;
	enum aggnet_parse parse;
	struct udphdr _uh;
	const void *data;

	uh = skb_header_pointer(rx->skb, rx->head - sizeof(_uh), sizeof(_uh),
				&_uh);
	if (!uh || ntohs(uh->len) != len + sizeof(_uh))
		return AGGNET_STAT_drop_length;
	rx->csum = uh->check || rx->skb->ip_summed == CHECKSUM_PARTIAL;
	data = skb_header_pointer(rx->skb, rx->head,
				  min_t(unsigned int, len, AGGNET_PARSE_BYTES),
				  rx->peek);
	if (!data)
		return AGGNET_STAT_drop_truncated;
	parse = aggnet_parse_header(data, len, &rx->pkt);
	if (parse != AGGNET_PARSE_OK)
		return why[parse];
	/*
	 * The identity in the header must be the IP source: NAT between members is
	 * refused.
	 */
	if (rx->pkt.src != rx->saddr)
		return AGGNET_STAT_drop_identity;
	return rx->csum ? 0 : AGGNET_STAT_drop_udp_csum;
}

static enum aggnet_verdict rx_pass(struct rx *rx)
{
	aggnet_stat_inc(rx->an, passed);
	return AGGNET_NOT_OURS;
}

/*
 * Check IPsec policies for packets that are taken before IP would check them. UDP
 * has checked the packets of its socket, and policies do not apply to frames on a
 * switch.
 */
static bool rx_permitted(const struct rx *rx)
{
	bool mine = rx->daddr == READ_ONCE(rx->an->identity);
	struct in_device *in_dev;

	if (!rx->port || READ_ONCE(rx->an->role) == AGGNET_ROLE_SWITCH)
		return true;
	memset(IPCB(rx->skb), 0, sizeof(*IPCB(rx->skb)));
	in_dev = __in_dev_get_rcu(rx->skb->dev);
	if (in_dev && IN_DEV_ORCONF(in_dev, NOPOLICY))
		return true;
	return xfrm4_policy_check(NULL, mine ? XFRM_POLICY_IN : XFRM_POLICY_FWD,
				  rx->skb);
}

/*
 * Make the packet private: unshared, without padding, @len bytes linear. Return:
 * false: it was dropped and counted
 */
static bool rx_steal(struct rx *rx, unsigned int len)
{
	enum aggnet_stat why = AGGNET_STAT_drop_memory;

	rx->skb = aggnet_skb_own(rx->skb);
	if (!rx->skb) {
		aggnet_stat_inc(rx->an, drop_memory);
		return false;
	}
	if (!aggnet_mem_fails() && !pskb_trim_rcsum(rx->skb, rx->total) &&
	    pskb_may_pull(rx->skb, len)) {
		if (likely(rx_permitted(rx)))
			return true;
		why = AGGNET_STAT_drop_policy;
	}
	aggnet_drop(rx->an, rx->skb, why);
	return false;
}

/* UDP has verified the checksums of the socket's packets. */
static bool rx_csum_ok(struct rx *rx)
{
	if (!rx->port || skb_csum_unnecessary(rx->skb))
		return true;
	return !nf_ip_checksum(rx->skb, NF_INET_PRE_ROUTING,
			       rx->head - sizeof(struct udphdr), IPPROTO_UDP);
}

static enum aggnet_verdict rx_forward(struct rx *rx, struct aggnet_tree *tree)
{
	if (!rx_steal(rx, rx->head + sizeof(struct aggnet_hdr)))
		return AGGNET_STOLEN;
	this_cpu_inc(rx->port->stats->forwarded);
	aggnet_forward(tree, rx->port->ifindex, rx->skb);
	return AGGNET_STOLEN;
}

/*
 * Forward the packet by the filter that it carries; @tree, the entry, may be NULL.
 * Return: false: it has no usable filter, or no link of this node has a name
 */
static bool rx_follow(struct rx *rx, struct aggnet_tree *tree)
{
	struct aggnet_link *links[AGGNET_COPIES_MAX];
	int n;

	if (!rx->pkt.filter || aggnet_filter_spent(rx->pkt.filter))
		return false;
	n = aggnet_link_on_way(rx->an, &rx->pkt, rx->port->ifindex, links);
	if (n < 0)
		return false;
	if (!rx_steal(rx, rx->head + sizeof(struct aggnet_hdr)))
		return true;
	this_cpu_inc(rx->port->stats->forwarded);
	aggnet_forward_filter(rx->an, rx->skb, links, n, tree);
	return true;
}

/*
 * Are the bytes private and linear already? Then rx_steal() copies none, nothing else
 * writes to them, and what was parsed stays valid.
 */
static bool rx_private(const struct rx *rx)
{
	return skb_headlen(rx->skb) >= rx->total && !skb_cloned(rx->skb) &&
	       !skb_shared(rx->skb);
}

/*
 * Check the private bytes; @parsed: they are those that were parsed. Else parse the
 * copy. A sender on this host may have changed pages that were not linear
 * (MSG_ZEROCOPY, sendfile()), so the header must be the same as when it was read
 * before.
 */
static enum aggnet_stat rx_reread(struct rx *rx, bool parsed)
{
	u64 incast_id = rx->pkt.incast_id;
	enum aggnet_stat why;
	__be32 dst = rx->pkt.dst;
	u8 type = rx->pkt.type;

	if (!rx_csum_ok(rx))
		return AGGNET_STAT_drop_udp_csum;
	if (likely(parsed))
		return 0;
	why = rx_read_headers(rx);
	if (why)
		return why;
	return rx->pkt.incast_id == incast_id && rx->pkt.dst == dst &&
	       rx->pkt.type == type ? 0 : AGGNET_STAT_drop_identity;
}

/* Give the packet to the entry. Return: true: it was consumed */
static bool rx_consumed(struct rx *rx, struct aggnet_tree *tree)
{
	bool parsed = rx_private(rx);
	const struct aggnet_hdr *hdr;
	enum aggnet_stat why;

	if (!rx_steal(rx, rx->total))
		return true;
	why = rx_reread(rx, parsed);
	if (why) {
		aggnet_drop(rx->an, rx->skb, why);
		return true;
	}
	hdr = (const struct aggnet_hdr *)(rx->skb->data + rx->head);
	rx->pkt.body = aggnet_body(hdr);
	trace_aggnet_rx(rx->an, &rx->pkt);
	if (!aggnet_tree_rx(tree, &rx->pkt, hdr))
		return false;
	aggnet_stat_inc(rx->an, rx_local);
	consume_skb(rx->skb);
	return true;
}

static enum aggnet_verdict rx_serve(struct rx *rx, struct aggnet_tree *tree)
{
	if (rx_consumed(rx, tree))
		return AGGNET_STOLEN;
	return rx_drop(rx, AGGNET_STAT_drop_child);
}

/* An OPEN for any end: forward it if this node may not accept the child. */
static enum aggnet_verdict rx_open(struct rx *rx, struct aggnet_tree *tree)
{
	struct sk_buff *whole;

	if (rx->port->transit)
		return rx_consumed(rx, tree) || rx_follow(rx, tree) ?
		       AGGNET_STOLEN : rx_forward(rx, tree);
	/*
	 * If not consumed, IP must get the packet unchanged: give the entry a
	 * clone.
	 */
	whole = skb_get(rx->skb);
	if (rx_consumed(rx, tree)) {
		consume_skb(whole);
		return AGGNET_STOLEN;
	}
	consume_skb(rx->skb);
	rx->skb = whole;
	return rx_pass(rx);
}

/* The packet is addressed to this node, which does not serve it. */
static enum aggnet_stat rx_stray(const struct rx *rx, __be32 me)
{
	if (!rx->pkt.dst)
		return AGGNET_STAT_drop_no_tree;
	/*
	 * A false positive of a filter, or a changed route, led it past its
	 * acceptor.
	 */
	if (me && htonl((u32)rx->pkt.incast_id) == me)
		return AGGNET_STAT_misforwarded;
	return AGGNET_STAT_drop_identity;
}

/* Forward an upward packet. @tree: its entry here, NULL: there is none */
static enum aggnet_verdict rx_onward(struct rx *rx, struct aggnet_tree *tree)
{
	if (!rx->port->transit)
		return rx_pass(rx);
	if (rx_follow(rx, tree))
		return AGGNET_STOLEN;
	if (!tree || tree->conf.scheme == AGGNET_SCHEME_ROUTE)
		return rx_pass(rx);
	return rx_forward(rx, tree);
}

static enum aggnet_verdict rx_server(struct rx *rx)
{
	__be32 me = READ_ONCE(rx->an->identity);
	bool local = !rx->port || rx->daddr == me;
	struct aggnet_tree *tree;
	enum aggnet_stat why;

	why = rx_read_headers(rx);
	if (why) {
		/*
		 * Leave malformed packets for others to IP: the addressee counts
		 * them.
		 */
		if (local || why == AGGNET_STAT_drop_identity)
			return rx_drop(rx, why);
		return rx_pass(rx);
	}
	if (me && rx->pkt.src == me)
		return rx_drop(rx, AGGNET_STAT_misforwarded);

	tree = aggnet_tree_table_find(rx->an, rx->pkt.incast_id);
	if (me && rx->pkt.dst == me) {
		if (!tree || tree->conf.forward_only)
			return rx_drop(rx, AGGNET_STAT_drop_no_tree);
		return rx_serve(rx, tree);
	}
	if (local) {
		if (rx->pkt.type == AGGNET_OPEN && !rx->pkt.dst && tree &&
		    !tree->conf.forward_only)
			return rx_serve(rx, tree);
		return rx_drop(rx, rx_stray(rx, me));
	}
	/* A downward packet, or one around a broken link: plain IP routes it. */
	if (rx->daddr != htonl((u32)rx->pkt.incast_id))
		return rx_pass(rx);
	if (rx->pkt.type == AGGNET_OPEN && tree && !tree->conf.forward_only)
		return rx_open(rx, tree);
	return rx_onward(rx, tree);
}

/*
 * Find links by the packet's filter, else by Bloom tables. Return: number of links
 */
static unsigned int rx_links(struct rx *rx,
			     struct aggnet_link *links[AGGNET_COPIES_MAX])
{
	u32 ingress = rx->port->ifindex;

	if (!rx->pkt.filter)
		return aggnet_link_match(rx->an, rx->pkt.incast_id, ingress,
					 links);
	return max(aggnet_link_on_way(rx->an, &rx->pkt, ingress, links), 0);
}

/* Frames to the group are never flooded: they leave by links or are dropped. */
static enum aggnet_verdict rx_switch(struct rx *rx)
{
	struct aggnet_link *links[AGGNET_COPIES_MAX];
	enum aggnet_stat why;
	unsigned int n;

	if (!rx->port)
		return rx_drop(rx, AGGNET_STAT_drop_role);
	why = rx_read_headers(rx);
	if (why)
		return rx_drop(rx, why);
	if (rx->daddr != htonl((u32)rx->pkt.incast_id))
		return rx_drop(rx, AGGNET_STAT_drop_role);
	n = rx_links(rx, links);
	if (!n)
		return rx_drop(rx, AGGNET_STAT_drop_bloom_miss);
	if (!rx_steal(rx, rx->head + sizeof(struct aggnet_hdr)))
		return AGGNET_STOLEN;
	this_cpu_inc(rx->port->stats->forwarded);
	aggnet_forward_links(rx->an, rx->skb, links, n);
	return AGGNET_STOLEN;
}

enum aggnet_verdict aggnet_rx(struct aggnet_net *an, struct aggnet_port *port,
			      struct sk_buff *skb)
{
	/* Read only where a header was copied to; clearing it takes long. */
	u8 peek[AGGNET_PARSE_BYTES] __aligned(8) __uninitialized;
	struct rx rx = { .an = an, .port = port, .skb = skb, .peek = peek };

	if (!rx_read_ip(&rx))
		return AGGNET_NOT_OURS;
	aggnet_stat_inc(an, rx_packets);
	if (port)
		this_cpu_inc(port->stats->rx);
	if (READ_ONCE(an->role) == AGGNET_ROLE_SWITCH)
		return rx_switch(&rx);
	return rx_server(&rx);
}
