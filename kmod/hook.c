// SPDX-License-Identifier: GPL-2.0
/* Hooks of the receive path and of local output. */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/sock.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

#include <linux/aggnet_packet.h>
#include "compat_net.h"
#include "drop.h"
#include "hook.h"
#include "link.h"
#include "mem.h"
#include "netns.h"
#include "port.h"
#include "rx.h"

/* Words of an IP header without options, as all of ours are. */
#define HOOK_IHL	5
/* Where such a header has the port behind it. */
#define HOOK_DPORT	(HOOK_IHL * 4 + offsetof(struct udphdr, dest))

/* --- receive path ---------------------------------------------------------- */

/*
 * Is @skb, at its IP header, a whole datagram to our port? Return: the words of
 * that header, or 0 if it is not.
 */
static unsigned int hook_ours(const struct sk_buff *skb)
{
	const struct iphdr *iph;
	const __be16 *dport;
	struct iphdr _iph;
	__be16 _dport;

	iph = skb_header_pointer(skb, 0, sizeof(_iph), &_iph);
	if (!iph || iph->protocol != IPPROTO_UDP || ip_is_fragment(iph) ||
	    iph->ihl < HOOK_IHL)
		return 0;
	dport = skb_header_pointer(skb, iph->ihl * 4 +
				   offsetof(struct udphdr, dest),
				   sizeof(_dport), &_dport);
	return dport && *dport == htons(AGGNET_UDP_PORT) ? iph->ihl : 0;
}

/* A server takes what is sent to its MAC, a switch what is sent to the group. */
static bool hook_addressed(const struct aggnet_net *an,
			   const struct sk_buff *skb)
{
	static const u8 group[ETH_ALEN] __aligned(2) = AGGNET_GROUP_MAC;

	if (likely(READ_ONCE(an->role) == AGGNET_ROLE_SERVER))
		return skb->pkt_type == PACKET_HOST;
	return skb->pkt_type == PACKET_MULTICAST &&
	       ether_addr_equal(eth_hdr(skb)->h_dest, group);
}

/*
 * UDP GRO, where it is switched on, glues datagrams together; each has its own
 * header, so they are taken apart again. What is not ours after all is received
 * once more, alone: it is then a datagram like any other.
 */
static void hook_gso(struct aggnet_port *port, struct sk_buff *skb)
{
	struct sk_buff *segs, *seg, *next;

	skb = aggnet_skb_own(skb);
	if (!skb) {
		aggnet_stat_inc(port->an, drop_memory);
		return;
	}
	/* Segments begin where @skb->data is: keep the Ethernet header. */
	__skb_push(skb, skb->mac_len);
	segs = aggnet_mem_fails() ? NULL : __skb_gso_segment(skb, 0, false);
	if (IS_ERR_OR_NULL(segs)) {
		aggnet_drop(port->an, skb, AGGNET_STAT_drop_memory);
		return;
	}
	consume_skb(skb);
	skb_list_walk_safe(segs, seg, next) {
		skb_mark_not_on_list(seg);
		__skb_pull(seg, seg->mac_len);
		if (aggnet_rx(port->an, port, seg) == AGGNET_NOT_OURS)
			netif_rx(seg);
	}
}

/*
 * May it be ours? No, at the price of a few instructions, if that is plain: what
 * has other bytes there is no datagram to our port, whatever else it may be, or
 * has IP options, and those are left to IP.
 */
static __always_inline bool hook_maybe(const struct sk_buff *skb)
{
	/* A VLAN device, if it is attached, has a hook of its own. */
	if (skb_vlan_tag_present(skb))
		return false;
	if (unlikely(skb_headlen(skb) < HOOK_DPORT + sizeof(__be16)))
		return true;
	return *(const __be16 *)(skb->data + HOOK_DPORT) ==
	       htons(AGGNET_UDP_PORT);
}

/* Not inlined: its registers are not to be saved for every bystander. */
static noinline unsigned int hook_take(struct aggnet_port *port,
				       struct sk_buff *skb)
{
	if (skb->protocol != htons(ETH_P_IP) || hook_ours(skb) != HOOK_IHL ||
	    !hook_addressed(port->an, skb))
		return NF_ACCEPT;
	if (unlikely(skb_is_gso(skb))) {
		/* What would leave as fragments is left to IP, as those are. */
		if (!(skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4))
			return NF_ACCEPT;
		hook_gso(port, skb);
		return NF_STOLEN;
	}
	if (aggnet_rx(port->an, port, skb) == AGGNET_NOT_OURS)
		return NF_ACCEPT;
	return NF_STOLEN;
}

/* Softirq, RCU. This is what a bystander pays for. */
static unsigned int hook_ingress(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	return hook_maybe(skb) ? hook_take(priv, skb) : NF_ACCEPT;
}

int aggnet_hook_attach(struct aggnet_net *an, struct aggnet_port *port)
{
	port->ops = (struct nf_hook_ops) {
		.hook = hook_ingress,
		.dev = port->dev,
		.priv = port,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		/* What the operator filters at ingress never gets here. */
		.priority = NF_IP_PRI_LAST,
	};
	return nf_register_net_hook(an->net, &port->ops);
}

void aggnet_hook_detach(struct aggnet_net *an, struct aggnet_port *port)
{
	nf_unregister_net_hook(an->net, &port->ops);
}

/* --- kernel UDP socket: what came in through other devices ------------------ */

/* Consumes all: nothing to our port ever reaches a user of UDP. */
static int hook_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct aggnet_net *an = rcu_dereference_sk_user_data(sk);

	if (!an) {
		kfree_skb(skb);
		return 0;
	}
	if (IPCB(skb)->frag_max_size) {
		aggnet_drop(an, skb, AGGNET_STAT_drop_fragment);
		return 0;
	}
	skb_push(skb, skb_transport_offset(skb) - skb_network_offset(skb));
	if (aggnet_rx(an, NULL, skb) == AGGNET_NOT_OURS)
		aggnet_drop(an, skb, AGGNET_STAT_drop_length);
	return 0;
}

static int hook_sock_open(struct aggnet_net *an, struct netlink_ext_ack *extack)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = htons(AGGNET_UDP_PORT),
	};
	struct socket *sock;
	struct udp_sock *up;
	int err;

	err = sock_create_kern(an->net, AF_INET, SOCK_DGRAM, IPPROTO_UDP,
			       &sock);
	if (err) {
		NL_SET_ERR_MSG(extack, "cannot make the kernel's UDP socket");
		return err;
	}
	err = kernel_bind(sock, (struct sockaddr *)&addr, sizeof(addr));
	if (err) {
		NL_SET_ERR_MSG(extack, "UDP port 42592 is in use on this host");
		sock_release(sock);
		return err;
	}
	up = udp_sk(sock->sk);
	/* Anybody may forge an ICMP error; no packet gets shorter for it. */
	ip_sock_set_mtu_discover(sock->sk, IP_PMTUDISC_OMIT);
	rcu_assign_sk_user_data(sock->sk, an);
	WRITE_ONCE(up->encap_rcv, hook_encap_rcv);
	WRITE_ONCE(up->encap_type, 1);
	udp_tunnel_encap_enable(sock->sk);
	WRITE_ONCE(an->sock, sock);
	return 0;
}

/* --- local output ------------------------------------------------------------ */

/* Only the module sends to our port; it shows its socket. */
static unsigned int hook_local_out(void *priv, struct sk_buff *skb,
				   const struct nf_hook_state *state)
{
	const struct socket *sock;
	struct aggnet_net *an;

	if (likely(!hook_ours(skb)))
		return NF_ACCEPT;
	an = aggnet_net(state->net);
	sock = READ_ONCE(an->sock);
	if (sock && state->sk == sock->sk)
		return NF_ACCEPT;
	aggnet_drop_count(an, skb, AGGNET_STAT_drop_local_out);
	return NF_DROP;
}

/* Last: a datagram that a rule redirects to our port is caught, too. */
static const struct nf_hook_ops hook_guard = {
	.hook = hook_local_out,
	.pf = NFPROTO_IPV4,
	.hooknum = NF_INET_LOCAL_OUT,
	.priority = NF_IP_PRI_LAST,
};

int aggnet_hook_start(struct aggnet_net *an, struct netlink_ext_ack *extack)
{
	int err;

	lockdep_assert_held(&an->lock);
	if (an->sock)
		return 0;
	err = nf_register_net_hook(an->net, &hook_guard);
	if (err) {
		NL_SET_ERR_MSG(extack, "cannot hook local output");
		return err;
	}
	err = hook_sock_open(an, extack);
	if (err)
		nf_unregister_net_hook(an->net, &hook_guard);
	return err;
}

void aggnet_hook_stop(struct aggnet_net *an)
{
	struct socket *sock = an->sock;

	lockdep_assert_held(&an->lock);
	if (!sock)
		return;
	WRITE_ONCE(an->sock, NULL);
	rcu_assign_sk_user_data(sock->sk, NULL);
	nf_unregister_net_hook(an->net, &hook_guard);
	/* Receivers have read @an from the socket, senders the socket from @an. */
	synchronize_net();
	kernel_sock_shutdown(sock, SHUT_RDWR);
	sock_release(sock);
}
