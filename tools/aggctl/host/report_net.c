// SPDX-License-Identifier: GPL-2.0
/* Reads routes by gateways, and neighbours, of this host. */
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <string.h>

#include "aggctl.h"
#include "host/report.h"
#include "info.h"

#define KNOWN	(NUD_PERMANENT | NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE)

/**
 * struct listing - what is reported
 * @devices: only of these: objects with a name
 * @list: filled
 */
struct listing {
	const json_t *devices;
	json_t *list;
};

/* The name of a device as it is reported, else NULL. */
static json_t *reported(const struct listing *l, uint32_t index)
{
	char device[IF_NAMESIZE];
	const json_t *object;
	json_t *name;
	size_t i;

	if (!if_indextoname(index, device))
		return NULL;
	name = info_text(device);
	json_array_foreach(l->devices, i, object)
		if (json_equal(json_object_get(object, "name"), name))
			return name;
	json_decref(name);
	return NULL;
}

static struct in_addr addr_attr(struct nlmsghdr *h, size_t head, int type)
{
	const struct nlattr *attr = nlmsg_find_attr(h, (int)head, type);
	struct in_addr addr = {};

	if (attr)
		nla_memcpy(&addr, attr, sizeof(addr));
	return addr;
}

/* Routes that the kernel has cloned for a destination are none of the table. */
static int take_route(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	const struct rtmsg *rtm = nlmsg_data(h);
	const struct nlattr *oif = nlmsg_find_attr(h, sizeof(*rtm), RTA_OIF);
	struct in_addr via = addr_attr(h, sizeof(*rtm), RTA_GATEWAY);
	const struct listing *l = arg;
	json_t *route, *device;

	if (h->nlmsg_type != RTM_NEWROUTE || rtm->rtm_type != RTN_UNICAST ||
	    rtm->rtm_table != RT_TABLE_MAIN || rtm->rtm_flags & RTM_F_CLONED ||
	    !via.s_addr || !oif)
		return NL_OK;
	device = reported(l, nla_get_u32(oif));
	if (!device)
		return NL_OK;
	route = json_pack("{s:o, s:i}", "device", device, "prefixlen",
			  rtm->rtm_dst_len);
	json_object_set_new(route, "to", addr_json(addr_attr(h, sizeof(*rtm),
							     RTA_DST)));
	json_object_set_new(route, "via", addr_json(via));
	json_array_append_new(l->list, route);
	return NL_OK;
}

static int take_neighbour(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	const struct ndmsg *nd = nlmsg_data(h);
	const struct nlattr *mac = nlmsg_find_attr(h, sizeof(*nd), NDA_LLADDR);
	const struct listing *l = arg;
	const unsigned char *b;
	json_t *row, *device;

	if (h->nlmsg_type != RTM_NEWNEIGH || !(nd->ndm_state & KNOWN) || !mac ||
	    nla_len(mac) != 6)
		return NL_OK;
	device = reported(l, (uint32_t)nd->ndm_ifindex);
	if (!device)
		return NL_OK;
	b = nla_data(mac);
	row = json_pack("{s:o, s:o}", "device", device, "mac",
			json_sprintf("%02x:%02x:%02x:%02x:%02x:%02x", b[0],
				     b[1], b[2], b[3], b[4], b[5]));
	json_object_set_new(row, "address", addr_json(addr_attr(h, sizeof(*nd),
								NDA_DST)));
	json_array_append_new(l->list, row);
	return NL_OK;
}

static json_t *dump(int type, const void *head, size_t size,
		    nl_recvmsg_msg_cb_t take, const json_t *devices)
{
	struct listing listing = { .devices = devices, .list = json_array() };
	struct nl_sock *sk = nl_socket_alloc();
	int err = sk ? nl_connect(sk, NETLINK_ROUTE) : -NLE_NOMEM;

	if (!err)
		err = nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, take,
					  &listing);
	if (!err)
		err = nl_send_simple(sk, type, NLM_F_DUMP, (void *)head, size);
	if (err >= 0)
		err = nl_recvmsgs_default(sk);
	nl_socket_free(sk);
	if (err >= 0)
		return listing.list;
	json_decref(listing.list);
	return NULL;
}

void report_net(json_t *report, const json_t *devices)
{
	const struct rtmsg rtm = { .rtm_family = AF_INET };
	const struct ndmsg nd = { .ndm_family = AF_INET };

	json_object_set_new(report, "routes", dump(RTM_GETROUTE, &rtm,
			    sizeof(rtm), take_route, devices));
	json_object_set_new(report, "neighbours", dump(RTM_GETNEIGH, &nd,
			    sizeof(nd), take_neighbour, devices));
}
