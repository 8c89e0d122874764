// SPDX-License-Identifier: GPL-2.0
/* Forwarding of packets that this node does not consume. */
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/ip.h>

#include <linux/aggnet_packet.h>
#include "net/drop.h"
#include "core/filter.h"
#include "net/forward.h"
#include "mem.h"
#include "netns.h"
#include "flow/tree.h"
#include "net/egress.h"

static struct udphdr *forward_udp(const struct sk_buff *skb)
{
	return (struct udphdr *)(skb->data + ip_hdrlen(skb));
}

static struct aggnet_hdr *forward_hdr(const struct sk_buff *skb)
{
	return (struct aggnet_hdr *)(forward_udp(skb) + 1);
}

/* Zero would mean that there is no checksum. */
static void forward_csum_done(struct sk_buff *skb)
{
	struct udphdr *uh = forward_udp(skb);

	if (!uh->check && skb->ip_summed != CHECKSUM_PARTIAL)
		uh->check = CSUM_MANGLED_0;
}

/* A 16-bit word behind the UDP header was changed from @old: update the checksum. */
static void forward_changed(struct sk_buff *skb, const __be16 *word, __be16 old)
{
	inet_proto_csum_replace2(&forward_udp(skb)->check, skb, old, *word,
				 false);
	forward_csum_done(skb);
}

/*
 * Decrement the hop field and the TTL, and update the checksums. Copies made by the
 * filter in a packet share the remaining hops: otherwise a forged filter would make
 * a packet for each path through the network.
 */
static void forward_age(struct sk_buff *skb, unsigned int shares)
{
	struct aggnet_hdr *hdr = forward_hdr(skb);
	/* The byte and its neighbour form a 16-bit word of the checksum. */
	__be16 *word = (__be16 *)&hdr->hop;
	__be16 old = *word;

	BUILD_BUG_ON(offsetof(struct aggnet_hdr, hop) % sizeof(*word));
	/* A larger hop field counts as AGGNET_HOP_MAX. */
	hdr->hop = (min_t(u8, hdr->hop, AGGNET_HOP_MAX) - 1) / shares;
	forward_changed(skb, word, old);
	ip_decrease_ttl(ip_hdr(skb));
}

static void forward_redirect(struct sk_buff *skb, __be32 daddr)
{
	struct iphdr *iph = ip_hdr(skb);

	inet_proto_csum_replace4(&forward_udp(skb)->check, skb, iph->daddr,
				 daddr, true);
	forward_csum_done(skb);
	csum_replace4(&iph->check, iph->daddr, daddr);
	iph->daddr = daddr;
}

/* Mark the packet's filter as spent: from here on plain IP carries the packet. */
static void forward_spend(struct aggnet_net *an, struct sk_buff *skb)
{
	struct aggnet_filter *f = (struct aggnet_filter *)(forward_hdr(skb) + 1);
	__be16 *word = (__be16 *)&f->hashes_digits;
	__be16 old;

	BUILD_BUG_ON(offsetof(struct aggnet_filter, hashes_digits) %
		     sizeof(*word));
	/* Without a filter there may be no bytes behind the header. */
	if (!forward_hdr(skb)->filter || aggnet_filter_spent(f))
		return;
	old = *word;
	aggnet_filter_spend(f);
	forward_changed(skb, word, old);
	aggnet_stat_inc(an, filter_spent);
}

/* Tell the acceptor that the packet missed its planned link here; the first node does. */
static void forward_mark(struct sk_buff *skb, enum aggnet_fallback why)
{
	struct aggnet_hdr *hdr = forward_hdr(skb);
	__be16 *word = (__be16 *)&hdr->fallback;
	__be16 old = *word;

	BUILD_BUG_ON(offsetof(struct aggnet_hdr, fallback) % sizeof(*word));
	if (hdr->fallback)
		return;
	hdr->fallback = why;
	forward_changed(skb, word, old);
}

/*
 * Make the headers writable; may reallocate the data. Return: false: @skb was
 * dropped
 */
static bool forward_prepare(struct aggnet_net *an, struct sk_buff *skb,
			    unsigned int shares)
{
	unsigned int head = ip_hdrlen(skb) + sizeof(struct udphdr) +
			    sizeof(struct aggnet_hdr);
	enum aggnet_stat why;

	if (forward_hdr(skb)->filter)
		head += sizeof(struct aggnet_filter);

	why = AGGNET_STAT_drop_ttl;
	if (ip_hdr(skb)->ttl <= 1)
		goto drop;
	why = AGGNET_STAT_drop_hop;
	if (!forward_hdr(skb)->hop)
		goto drop;
	why = AGGNET_STAT_drop_memory;
	if (aggnet_mem_fails() || skb_ensure_writable(skb, head))
		goto drop;
	skb_orphan(skb);
	nf_reset_ct(skb);
	skb_forward_csum(skb);
	/*
	 * The checksum was verified for the bytes as they came: it must be checked
	 * again.
	 */
	skb->csum_valid = 0;
	skb_clear_tstamp(skb);
	forward_age(skb, shares);
	return true;
drop:
	aggnet_drop(an, skb, why);
	return false;
}

static struct aggnet_flow forward_flow(const struct sk_buff *skb)
{
	return (struct aggnet_flow) {
		.saddr = ip_hdr(skb)->saddr,
		.daddr = ip_hdr(skb)->daddr,
		.sport = forward_udp(skb)->source,
		.mark = skb->mark,
	};
}

/*
 * No link can be used: send by plain IP, to the acceptor if the packet has one.
 * @tree: the entry of the packet, or NULL. Without an entry only the packet gives the
 * destination, so it may leave by a port only.
 */
static void forward_route(struct aggnet_net *an, struct aggnet_tree *tree,
			  struct sk_buff *skb, struct aggnet_flow *flow)
{
	enum aggnet_fallback tells = flow->miss;
	struct aggnet_egress way;
	enum aggnet_stat why;
	unsigned int n;

	if (forward_hdr(skb)->dst && flow->miss != AGGNET_FALLBACK_POLICY)
		flow->daddr = forward_hdr(skb)->dst;
	why = aggnet_egress_peer(an, flow, !tree, &way);
	if (why) {
		aggnet_drop(an, skb, why);
		return;
	}
	if (tree)
		tells = aggnet_tree_fell_back(tree, flow->miss);
	forward_mark(skb, tells);
	forward_spend(an, skb);
	if (flow->daddr != ip_hdr(skb)->daddr)
		forward_redirect(skb, flow->daddr);
	n = aggnet_egress_send(an, skb, &way, 1, false);
	aggnet_stat_add(an, passed, n);
}

void aggnet_forward(struct aggnet_tree *tree, u32 ingress, struct sk_buff *skb)
{
	struct aggnet_egress ways[AGGNET_COPIES_MAX];
	struct aggnet_net *an = tree->an;
	struct aggnet_flow flow;
	unsigned int n;

	if (!forward_prepare(an, skb, 1))
		return;
	flow = forward_flow(skb);
	n = aggnet_egress_tree(tree, ingress, &flow, ways);
	if (n) {
		n = aggnet_egress_send(an, skb, ways, n, false);
		aggnet_stat_add(an, forwarded, n);
		if (tree->conf.scheme == AGGNET_SCHEME_BLOOM)
			aggnet_stat_add(an, forwarded_bloom, n);
		return;
	}
	forward_route(an, tree, skb, &flow);
}

/* Find links by the packet's filter, if it has one, else by Bloom tables. */
static void forward_copies(struct aggnet_net *an, struct sk_buff *skb,
			   struct aggnet_egress *ways, unsigned int n)
{
	bool filter = forward_hdr(skb)->filter;

	n = aggnet_egress_send(an, skb, ways, n, false);
	aggnet_stat_add(an, forwarded, n);
	if (filter)
		aggnet_stat_add(an, forwarded_filter, n);
	else
		aggnet_stat_add(an, forwarded_bloom, n);
}

void aggnet_forward_links(struct aggnet_net *an, struct sk_buff *skb,
			  struct aggnet_link *links[AGGNET_COPIES_MAX],
			  unsigned int n)
{
	struct aggnet_egress ways[AGGNET_COPIES_MAX];
	bool filter = forward_hdr(skb)->filter;
	struct aggnet_flow flow;

	if (!forward_prepare(an, skb,
			     filter ? min_t(u32, n, AGGNET_COPIES_MAX) : 1))
		return;
	flow = forward_flow(skb);
	n = aggnet_egress_links(an, links, n, &flow, ways);
	if (n)
		forward_copies(an, skb, ways, n);
	else
		kfree_skb(skb);
}

void aggnet_forward_filter(struct aggnet_net *an, struct sk_buff *skb,
			   struct aggnet_link *links[AGGNET_COPIES_MAX],
			   unsigned int n, struct aggnet_tree *tree)
{
	struct aggnet_egress ways[AGGNET_COPIES_MAX];
	struct aggnet_flow flow;
	unsigned int used;

	/* The right link may be among those beyond the limit of copies. */
	if (n > AGGNET_COPIES_MAX)
		n = 0;
	if (!forward_prepare(an, skb, n ? n : 1))
		return;
	flow = forward_flow(skb);
	if (!n)
		aggnet_flow_miss(&flow, AGGNET_FALLBACK_BLOOM);
	used = aggnet_egress_links(an, links, n, &flow, ways);
	if (used && used == n) {
		forward_copies(an, skb, ways, n);
		return;
	}
	aggnet_egress_cancel(ways, used);
	forward_route(an, tree, skb, &flow);
}
