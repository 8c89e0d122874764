// SPDX-License-Identifier: GPL-2.0
/* Packets of others, sent on by a node that does not consume them. */
#include <linux/ip.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/ip.h>

#include <linux/aggnet_packet.h>
#include "drop.h"
#include "forward.h"
#include "mem.h"
#include "netns.h"
#include "tree.h"
#include "egress.h"

static struct udphdr *forward_udp(const struct sk_buff *skb)
{
	return (struct udphdr *)(skb->data + ip_hdrlen(skb));
}

static struct aggnet_hdr *forward_hdr(const struct sk_buff *skb)
{
	return (struct aggnet_hdr *)(forward_udp(skb) + 1);
}

/* Zero on the wire would say that there is no checksum. */
static void forward_csum_done(struct sk_buff *skb)
{
	struct udphdr *uh = forward_udp(skb);

	if (!uh->check && skb->ip_summed != CHECKSUM_PARTIAL)
		uh->check = CSUM_MANGLED_0;
}

/* One hop and one second of life less, checksums kept up incrementally. */
static void forward_age(struct sk_buff *skb)
{
	struct aggnet_hdr *hdr = forward_hdr(skb);
	/* The byte and its neighbour are an aligned word of the checksum. */
	__be16 *word = (__be16 *)&hdr->hop;
	__be16 old = *word;

	BUILD_BUG_ON(offsetof(struct aggnet_hdr, hop) % sizeof(*word));
	hdr->hop--;
	inet_proto_csum_replace2(&forward_udp(skb)->check, skb, old, *word,
				 false);
	forward_csum_done(skb);
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

/* May reallocate @skb's data. false: it was dropped. */
static bool forward_prepare(struct aggnet_net *an, struct sk_buff *skb)
{
	unsigned int head = ip_hdrlen(skb) + sizeof(struct udphdr) +
			    sizeof(struct aggnet_hdr);
	enum aggnet_stat why;

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
	/* Said of the bytes as they came; who takes them next looks again. */
	skb->csum_valid = 0;
	skb_clear_tstamp(skb);
	forward_age(skb);
	return true;
drop:
	aggnet_drop(an, skb, why);
	return false;
}

void aggnet_forward(struct aggnet_tree *tree, u32 ingress, struct sk_buff *skb)
{
	struct aggnet_egress ways[AGGNET_COPIES_MAX];
	struct aggnet_net *an = tree->an;
	unsigned int n;
	__be32 acceptor;

	if (!forward_prepare(an, skb))
		return;
	n = aggnet_egress_tree(tree, ingress, ways);
	if (n) {
		n = aggnet_egress_send(an, skb, ways, n, false);
		aggnet_stat_add(an, forwarded, n);
		if (tree->conf.scheme == AGGNET_SCHEME_BLOOM)
			aggnet_stat_add(an, forwarded_bloom, n);
		return;
	}
	acceptor = forward_hdr(skb)->dst;
	if (acceptor && acceptor != ip_hdr(skb)->daddr)
		forward_redirect(skb, acceptor);
	if (!aggnet_egress_route(an, ip_hdr(skb)->daddr, ip_hdr(skb)->saddr,
				 forward_udp(skb)->source, ways)) {
		aggnet_drop(an, skb, AGGNET_STAT_drop_link);
		return;
	}
	n = aggnet_egress_send(an, skb, ways, 1, false);
	aggnet_stat_add(an, passed, n);
}

void aggnet_forward_links(struct aggnet_net *an, struct sk_buff *skb,
			  struct aggnet_link *links[AGGNET_COPIES_MAX],
			  unsigned int n)
{
	struct aggnet_egress ways[AGGNET_COPIES_MAX];

	if (!forward_prepare(an, skb))
		return;
	n = aggnet_egress_links(an, links, n, ways);
	if (!n) {
		kfree_skb(skb);
		return;
	}
	n = aggnet_egress_send(an, skb, ways, n, false);
	aggnet_stat_add(an, forwarded, n);
	aggnet_stat_add(an, forwarded_bloom, n);
}
