// SPDX-License-Identifier: GPL-2.0
/* The hooks of received and of outgoing packets, and the kernel's UDP socket. */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/rculist.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/route.h>
#include <net/sock.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>

#include <linux/aggnet_packet.h>
#include "core/packet.h"
#include "flow/tree_table.h"
#include "net/drop.h"
#include "net/hook.h"
#include "net/link.h"
#include "net/port.h"
#include "net/rx.h"
#include "compat_net.h"
#include "mem.h"
#include "netns.h"

/* Words of an IP header without options; the module's packets have none. */
#define HOOK_IHL	5
/* Offset of the UDP port behind such a header. */
#define HOOK_DPORT	(HOOK_IHL * 4 + offsetof(struct udphdr, dest))

/* --- receive path ---------------------------------------------------------- */

/*
 * Is @skb, at its IP header, a complete datagram to this UDP port? Return: words of
 * its IP header, 0: it is not.
 */
static unsigned int hook_ours(const struct sk_buff *skb, __be16 udp_port)
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
	return dport && *dport == udp_port ? iph->ihl : 0;
}

/* A server takes frames to its MAC address, a switch frames to the group address. */
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
 * UDP GRO, where it is switched on, joins datagrams. Each has a header of the
 * protocol, so split them again. A segment that is not of the protocol is received
 * once more, as a datagram of its own: by netif_rx(), as this runs inside the
 * receive path of the device, and a direct call would recurse.
 */
static void hook_gso(struct aggnet_port *port, struct sk_buff *skb)
{
	struct sk_buff *segs, *seg, *next;

	skb = aggnet_skb_own(skb);
	if (!skb) {
		aggnet_stat_inc(port->an, drop_memory);
		return;
	}
	/* Segments begin at @skb->data: keep the Ethernet header. */
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
 * May the packet be one of the protocol? This quick check excludes nearly all other
 * packets: with other bytes at these offsets it is no datagram to the port, or it
 * has IP options, and plain IP gets it.
 */
static __always_inline bool hook_maybe(const struct aggnet_port *port,
				       const struct sk_buff *skb)
{
	/* An attached VLAN device has a hook of its own. */
	if (skb_vlan_tag_present(skb))
		return false;
	if (unlikely(skb_headlen(skb) < HOOK_DPORT + sizeof(__be16)))
		return true;
	return *(const __be16 *)(skb->data + HOOK_DPORT) ==
	       READ_ONCE(port->udp_port);
}

/* Not inlined, so that other packets do not pay for saving its registers. */
static noinline unsigned int hook_take(struct aggnet_port *port,
				       struct sk_buff *skb)
{
	if (skb->protocol != htons(ETH_P_IP) ||
	    hook_ours(skb, READ_ONCE(port->udp_port)) != HOOK_IHL ||
	    !hook_addressed(port->an, skb))
		return NF_ACCEPT;
	if (unlikely(skb_is_gso(skb))) {
		/*
		 * A packet that would leave as fragments is left to IP, as
		 * fragments are.
		 */
		if (!(skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4))
			return NF_ACCEPT;
		hook_gso(port, skb);
		return NF_STOLEN;
	}
	if (aggnet_rx(port->an, port, skb) == AGGNET_NOT_OURS)
		return NF_ACCEPT;
	return NF_STOLEN;
}

/* Softirq, RCU. Packets of other protocols pay for this function only. */
static unsigned int hook_ingress(void *priv, struct sk_buff *skb,
				 const struct nf_hook_state *state)
{
	return hook_maybe(priv, skb) ? hook_take(priv, skb) : NF_ACCEPT;
}

int aggnet_hook_attach(struct aggnet_net *an, struct aggnet_port *port)
{
	port->ops = (struct nf_hook_ops) {
		.hook = hook_ingress,
		.dev = port->dev,
		.priv = port,
		.pf = NFPROTO_NETDEV,
		.hooknum = NF_NETDEV_INGRESS,
		/* After all filters that the operator may have at ingress. */
		.priority = NF_IP_PRI_LAST,
	};
	return nf_register_net_hook(an->net, &port->ops);
}

void aggnet_hook_detach(struct aggnet_net *an, struct aggnet_port *port)
{
	nf_unregister_net_hook(an->net, &port->ops);
}

/* --- kernel UDP socket: packets from devices that are not ports -------------- */

/* Consume all packets: none to the port ever reaches the socket's queue. */
static int hook_encap_rcv(struct sock *sk, struct sk_buff *skb)
{
	struct aggnet_net *an = rcu_dereference_sk_user_data(sk);

	/* The socket is being closed. */
	if (!an) {
		kfree_skb_reason(skb, SKB_DROP_REASON_NO_SOCKET);
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

static int hook_sock_bind(struct socket *sock, __be16 udp_port,
			  struct netlink_ext_ack *extack)
{
	struct sockaddr_in addr = {
		.sin_family = AF_INET,
		.sin_port = udp_port,
	};
	int err = kernel_bind(sock, (struct sockaddr *)&addr, sizeof(addr));

	if (err == -EADDRINUSE)
		NL_SET_ERR_MSG(extack,
			       "the node's UDP port is in use on this host: set another or stop its user");
	else if (err)
		NL_SET_ERR_MSG(extack, "cannot bind the kernel's UDP socket");
	return err;
}

static struct socket *hook_sock_open(struct aggnet_net *an, __be16 udp_port,
				     struct netlink_ext_ack *extack)
{
	struct socket *sock;
	struct udp_sock *up;
	int err;

	err = sock_create_kern(an->net, AF_INET, SOCK_DGRAM, IPPROTO_UDP,
			       &sock);
	if (err) {
		NL_SET_ERR_MSG(extack, "cannot make the kernel's UDP socket");
		return ERR_PTR(err);
	}
	up = udp_sk(sock->sk);
	/* Ignore path MTUs of ICMP errors, which can be forged. */
	ip_sock_set_mtu_discover(sock->sk, IP_PMTUDISC_OMIT);
	/* Before it is bound: its queue is never read. */
	rcu_assign_sk_user_data(sock->sk, an);
	WRITE_ONCE(up->encap_rcv, hook_encap_rcv);
	WRITE_ONCE(up->encap_type, 1);
	udp_tunnel_encap_enable(sock->sk);
	err = hook_sock_bind(sock, udp_port, extack);
	if (err) {
		sock_release(sock);
		return ERR_PTR(err);
	}
	return sock;
}

/* Release a socket that has been removed from its struct aggnet_net. */
static void hook_sock_close(struct socket *sock)
{
	rcu_assign_sk_user_data(sock->sk, NULL);
	/*
	 * Receivers may have read @an from the socket, and senders the socket from
	 * @an.
	 */
	synchronize_net();
	kernel_sock_shutdown(sock, SHUT_RDWR);
	sock_release(sock);
}

/* --- outgoing packets --------------------------------------------------------- */

/*
 * Could a peer mistake a datagram of @skb for a packet of the node with this IP
 * source?
 * @at: offset of the UDP payload. Checks each datagram that GSO would make.
 */
static bool guard_forged(const struct sk_buff *skb, unsigned int at,
			 __be32 saddr)
{
	unsigned int size = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
					      skb->len;
	u8 buf[AGGNET_PARSE_BYTES] __aligned(8);
	struct aggnet_pkt pkt;

	for (; at < skb->len; at += size) {
		unsigned int len = min(size, skb->len - at);
		const void *data;

		data = skb_header_pointer(skb, at,
					  min_t(unsigned int, len, sizeof(buf)),
					  buf);
		if (data &&
		    aggnet_parse_header(data, len, &pkt) == AGGNET_PARSE_OK &&
		    pkt.src == saddr)
			return true;
	}
	return false;
}

/* May peers know this address as one of this host? */
static bool guard_ours(const struct aggnet_net *an, __be32 saddr)
{
	return saddr == READ_ONCE(an->identity) ||
	       inet_addr_type(an->net, saddr) == RTN_LOCAL;
}

/*
 * Copy pages to which a process may still write (MSG_ZEROCOPY, splice()), so that
 * the packet leaves with the bytes that were checked. Not every kernel sets
 * SKBFL_SHARED_FRAG for pages that are spliced to UDP, so take all pages for such
 * ones, unless GRO made a frag list of received packets.
 */
static bool guard_settle(struct sk_buff *skb)
{
	if (!skb_is_nonlinear(skb))
		return true;
	if (skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST)
		return true;
	return !aggnet_mem_fails() && !skb_linearize(skb);
}

static noinline unsigned int guard_datagram(struct aggnet_net *an,
					    struct sk_buff *skb,
					    const struct nf_hook_state *state)
{
	unsigned int ihl = hook_ours(skb, READ_ONCE(an->udp_port));
	__be32 saddr = ip_hdr(skb)->saddr;
	const struct socket *sock;

	if (likely(!ihl))
		return NF_ACCEPT;
	sock = READ_ONCE(an->sock);
	if (sock && state->sk == sock->sk)
		return NF_ACCEPT;
	if (!guard_ours(an, saddr))
		return NF_ACCEPT;
	if (!guard_settle(skb)) {
		aggnet_drop_count(an, skb, AGGNET_STAT_drop_memory);
		return NF_DROP;
	}
	if (!guard_forged(skb, ihl * 4 + sizeof(struct udphdr), saddr))
		return NF_ACCEPT;
	aggnet_drop_count(an, skb, AGGNET_STAT_drop_local_out);
	return NF_DROP;
}

/*
 * Only the module may send packets of this node; these have the module's socket.
 * The hook is behind NAT: it sees the final address and port of each datagram, of
 * processes and of containers whose packets this host forwards.
 */
static unsigned int hook_post_routing(void *priv, struct sk_buff *skb,
				      const struct nf_hook_state *state)
{
	if (likely(ip_hdr(skb)->protocol != IPPROTO_UDP))
		return NF_ACCEPT;
	return guard_datagram(priv, skb, state);
}

/*
 * --- life cycle -----------------------------------------------------------------
 */

static void guard_stop(struct aggnet_net *an)
{
	if (an->guarded)
		nf_unregister_net_hook(an->net, &an->guard);
	an->guarded = false;
}

static int guard_start(struct aggnet_net *an, struct netlink_ext_ack *extack)
{
	int err = nf_register_net_hook(an->net, &an->guard);

	if (err)
		NL_SET_ERR_MSG(extack, "cannot hook what leaves this host");
	an->guarded = !err;
	return err;
}

/* From here on packets to the old port are not of the protocol. */
static void hook_set_port(struct aggnet_net *an, __be16 udp_port)
{
	struct aggnet_port *port;

	WRITE_ONCE(an->udp_port, udp_port);
	rcu_read_lock();
	list_for_each_entry_rcu(port, &an->ports, list)
		WRITE_ONCE(port->udp_port, udp_port);
	rcu_read_unlock();
}

int aggnet_hook_start(struct aggnet_net *an, __be16 udp_port, bool guard,
		      struct netlink_ext_ack *extack)
{
	bool begin = guard && !an->guarded;
	struct socket *sock, *old = an->sock;
	int err;

	lockdep_assert_held(&an->lock);
	err = begin ? guard_start(an, extack) : 0;
	if (err || (old && udp_port == an->udp_port))
		return err;
	sock = hook_sock_open(an, udp_port, extack);
	if (IS_ERR(sock)) {
		if (begin)
			guard_stop(an);
		return PTR_ERR(sock);
	}
	WRITE_ONCE(an->sock, sock);
	hook_set_port(an, udp_port);
	if (old)
		hook_sock_close(old);
	return 0;
}

void aggnet_hook_stop(struct aggnet_net *an)
{
	struct socket *sock = an->sock;

	lockdep_assert_held(&an->lock);
	guard_stop(an);
	WRITE_ONCE(an->sock, NULL);
	if (sock)
		hook_sock_close(sock);
}

static bool hook_needed(struct aggnet_net *an)
{
	const struct aggnet_tree_table *trees = aggnet_tree_table_in_force(an);

	return an->identity || !list_empty(&an->ports) ||
	       (trees && trees->count);
}

void aggnet_hook_settle(struct aggnet_net *an)
{
	lockdep_assert_held(&an->lock);
	if (!an->identity)
		guard_stop(an);
	if (!hook_needed(an))
		aggnet_hook_stop(an);
}

bool aggnet_hook_idle(struct aggnet_net *an)
{
	lockdep_assert_held(&an->lock);
	return (an->guarded && !an->identity) ||
	       (an->sock && !hook_needed(an));
}

void aggnet_hook_init(struct aggnet_net *an)
{
	an->udp_port = htons(AGGNET_UDP_PORT);
	/* The last hook: behind NAT. */
	an->guard = (struct nf_hook_ops) {
		.hook = hook_post_routing,
		.priv = an,
		.pf = NFPROTO_IPV4,
		.hooknum = NF_INET_POST_ROUTING,
		.priority = NF_IP_PRI_LAST,
	};
}
