// SPDX-License-Identifier: GPL-2.0
/* rtnetlink requests for links, addresses, neighbours and routes. */
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>

#include "testbed/rtnl.h"

#define CREATE		(NLM_F_CREATE | NLM_F_EXCL)
#define MSG_BYTES	512

static struct nl_msg *start(int type, int flags, const void *head, size_t len)
{
	struct nl_msg *msg = nlmsg_alloc_size(MSG_BYTES);

	if (!msg)
		return NULL;
	/* The buffer is larger than any of these requests. */
	nlmsg_put(msg, 0, 0, type, 0, flags);
	nlmsg_append(msg, (void *)head, len, NLMSG_ALIGNTO);
	return msg;
}

static void put_addr(struct nl_msg *msg, int type, struct in_addr addr)
{
	nla_put(msg, type, sizeof(addr), &addr);
}

/**
 * rtnl_msg_up() - request that sets a link up
 * @index: the link
 */
struct nl_msg *rtnl_msg_up(int index)
{
	struct ifinfomsg info = {
		.ifi_index = index,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP,
	};

	return start(RTM_NEWLINK, 0, &info, sizeof(info));
}

/**
 * rtnl_msg_bridge() - request that makes a bridge, up at once
 * @name: its name
 * @index: its index
 *
 * The bridge sends no multicast queries, which would add to the traffic that is
 * measured on the links.
 */
struct nl_msg *rtnl_msg_bridge(const char *name, int index)
{
	struct ifinfomsg info = {
		.ifi_index = index,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP,
	};
	struct nl_msg *msg = start(RTM_NEWLINK, CREATE, &info, sizeof(info));
	struct nlattr *linkinfo, *data;

	if (!msg)
		return NULL;
	nla_put_string(msg, IFLA_IFNAME, name);
	linkinfo = nla_nest_start(msg, IFLA_LINKINFO);
	nla_put_string(msg, IFLA_INFO_KIND, "bridge");
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	nla_put_u8(msg, IFLA_BR_MCAST_SNOOPING, 0);
	nla_nest_end(msg, data);
	nla_nest_end(msg, linkinfo);
	return msg;
}

/**
 * rtnl_msg_enslave() - request that makes a link a port of a bridge
 * @index: the link
 * @master: the bridge
 */
struct nl_msg *rtnl_msg_enslave(int index, int master)
{
	struct ifinfomsg info = { .ifi_index = index };
	struct nl_msg *msg = start(RTM_NEWLINK, 0, &info, sizeof(info));

	if (msg)
		nla_put_u32(msg, IFLA_MASTER, (uint32_t)master);
	return msg;
}

/**
 * rtnl_msg_fixed_port() - request that lets a bridge forward by fixed entries only
 * @index: the port, of a bridge
 *
 * Frames without an entry do not leave by the port, and those that come in by it
 * make none.
 */
struct nl_msg *rtnl_msg_fixed_port(int index)
{
	static const int off[] = {
		IFLA_BRPORT_LEARNING, IFLA_BRPORT_UNICAST_FLOOD,
		IFLA_BRPORT_MCAST_FLOOD, IFLA_BRPORT_BCAST_FLOOD,
	};
	struct ifinfomsg info = { .ifi_index = index };
	struct nl_msg *msg = start(RTM_NEWLINK, 0, &info, sizeof(info));
	struct nlattr *linkinfo, *data;
	size_t i;

	if (!msg)
		return NULL;
	linkinfo = nla_nest_start(msg, IFLA_LINKINFO);
	nla_put_string(msg, IFLA_INFO_SLAVE_KIND, "bridge");
	data = nla_nest_start(msg, IFLA_INFO_SLAVE_DATA);
	for (i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		nla_put_u8(msg, off[i], 0);
	nla_nest_end(msg, data);
	nla_nest_end(msg, linkinfo);
	return msg;
}

/**
 * rtnl_msg_fdb() - request that adds a forwarding entry to a bridge
 * @index: the port
 * @mac: hardware address behind the port
 *
 * Sticky: a frame with a corrupted source address must not move a server to
 * another port. A server that only receives would stay there.
 */
struct nl_msg *rtnl_msg_fdb(int index, const uint8_t *mac)
{
	struct ndmsg nd = {
		.ndm_family = AF_BRIDGE,
		.ndm_ifindex = index,
		.ndm_state = NUD_NOARP,
		.ndm_flags = NTF_MASTER | NTF_STICKY,
	};
	struct nl_msg *msg = start(RTM_NEWNEIGH, CREATE, &nd, sizeof(nd));

	if (msg)
		nla_put(msg, NDA_LLADDR, 6, mac);
	return msg;
}

static void put_link(struct nl_msg *msg, const struct rtnl_link_req *link)
{
	nla_put_string(msg, IFLA_IFNAME, link->name);
	nla_put(msg, IFLA_ADDRESS, sizeof(link->mac), link->mac);
	nla_put_u32(msg, IFLA_MTU, link->mtu);
}

/**
 * rtnl_msg_veth() - request that makes a veth pair
 * @link: the end in this namespace, is set up
 * @peer: the other end; the kernel cannot set it up before the pair is one
 * @peer_ns: descriptor of the namespace where the other end goes
 */
struct nl_msg *rtnl_msg_veth(const struct rtnl_link_req *link,
			     const struct rtnl_link_req *peer, int peer_ns)
{
	struct ifinfomsg info = {
		.ifi_index = link->index,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP,
	};
	struct nl_msg *msg = start(RTM_NEWLINK, CREATE, &info, sizeof(info));
	struct nlattr *linkinfo, *data, *other;

	if (!msg)
		return NULL;
	put_link(msg, link);
	linkinfo = nla_nest_start(msg, IFLA_LINKINFO);
	nla_put_string(msg, IFLA_INFO_KIND, "veth");
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	other = nla_nest_start(msg, VETH_INFO_PEER);
	info = (struct ifinfomsg){ .ifi_index = peer->index };
	nlmsg_append(msg, &info, sizeof(info), NLMSG_ALIGNTO);
	put_link(msg, peer);
	nla_put_u32(msg, IFLA_NET_NS_FD, (uint32_t)peer_ns);
	nla_nest_end(msg, other);
	nla_nest_end(msg, data);
	nla_nest_end(msg, linkinfo);
	return msg;
}

/**
 * rtnl_msg_addr() - request that adds an address to a link
 * @index: the link
 * @addr: the address
 * @prefixlen: length of its network prefix
 */
struct nl_msg *rtnl_msg_addr(int index, struct in_addr addr, int prefixlen)
{
	struct ifaddrmsg ifa = {
		.ifa_family = AF_INET,
		.ifa_prefixlen = (uint8_t)prefixlen,
		.ifa_index = (uint32_t)index,
	};
	struct nl_msg *msg = start(RTM_NEWADDR, CREATE, &ifa, sizeof(ifa));

	if (!msg)
		return NULL;
	put_addr(msg, IFA_LOCAL, addr);
	put_addr(msg, IFA_ADDRESS, addr);
	return msg;
}

/**
 * rtnl_msg_neigh() - request that adds a permanent neighbour
 * @index: the link that leads to it
 * @addr: its address
 * @mac: its hardware address
 */
struct nl_msg *rtnl_msg_neigh(int index, struct in_addr addr,
			      const uint8_t *mac)
{
	struct ndmsg nd = {
		.ndm_family = AF_INET,
		.ndm_ifindex = index,
		.ndm_state = NUD_PERMANENT,
	};
	struct nl_msg *msg = start(RTM_NEWNEIGH, CREATE, &nd, sizeof(nd));

	if (!msg)
		return NULL;
	put_addr(msg, NDA_DST, addr);
	nla_put(msg, NDA_LLADDR, 6, mac);
	return msg;
}

/**
 * rtnl_msg_route() - request for a host route, in the place of any other
 * @dst: where to
 * @via: the next hop
 * @index: the link
 * @src: the source address that local senders get
 * @onlink: take the next hop for a neighbour, whatever its network is
 */
struct nl_msg *rtnl_msg_route(struct in_addr dst, struct in_addr via,
			      int index, struct in_addr src, bool onlink)
{
	struct rtmsg rt = {
		.rtm_family = AF_INET,
		.rtm_dst_len = 32,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_UNIVERSE,
		.rtm_type = RTN_UNICAST,
		.rtm_flags = onlink ? RTNH_F_ONLINK : 0,
	};
	struct nl_msg *msg = start(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, &rt,
				   sizeof(rt));

	if (!msg)
		return NULL;
	put_addr(msg, RTA_DST, dst);
	put_addr(msg, RTA_GATEWAY, via);
	nla_put_u32(msg, RTA_OIF, (uint32_t)index);
	put_addr(msg, RTA_PREFSRC, src);
	return msg;
}
