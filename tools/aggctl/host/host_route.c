// SPDX-License-Identifier: GPL-2.0
/* Asks the kernel for its route to an address. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "host/host.h"

/* The answer to RTM_F_FIB_MATCH is the route as it was set. */
static int take_route(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	const struct rtmsg *rtm = nlmsg_data(h);
	struct host_route *route = arg;

	if (h->nlmsg_type != RTM_NEWROUTE)
		return NL_SKIP;
	route->found = rtm->rtm_type == RTN_UNICAST ||
		       rtm->rtm_type == RTN_LOCAL;
	route->prefix = rtm->rtm_dst_len;
	route->kept = route->prefix &&
		      (rtm->rtm_protocol > RTPROT_STATIC ||
		       nlmsg_find_attr(h, sizeof(*rtm), RTA_MULTIPATH));
	return NL_OK;
}

/* Without it, the answer is what a packet gets. */
static int take_way(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	const struct nlattr *oif, *source;
	struct host_route *route = arg;

	if (h->nlmsg_type != RTM_NEWROUTE)
		return NL_SKIP;
	oif = nlmsg_find_attr(h, sizeof(struct rtmsg), RTA_OIF);
	source = nlmsg_find_attr(h, sizeof(struct rtmsg), RTA_PREFSRC);
	if (oif)
		route->ifindex = nla_get_u32(oif);
	if (source)
		nla_memcpy(&route->source, source, sizeof(route->source));
	return NL_OK;
}

static int ask(struct nl_sock *sk, struct in_addr to, unsigned int flags)
{
	struct rtmsg rtm = {
		.rtm_family = AF_INET,
		.rtm_dst_len = 32,
		.rtm_flags = flags,
	};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETROUTE, 0);
	int err = -NLE_NOMEM;

	if (msg && !nlmsg_append(msg, &rtm, sizeof(rtm), NLMSG_ALIGNTO) &&
	    !nla_put(msg, RTA_DST, sizeof(to), &to))
		err = nl_send_auto(sk, msg);
	nlmsg_free(msg);
	return err < 0 ? err : nl_recvmsgs_default(sk);
}

static int ask_for(struct nl_sock *sk, struct in_addr to, unsigned int flags,
		   nl_recvmsg_msg_cb_t take, struct host_route *route)
{
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, take, route);
	return ask(sk, to, flags);
}

int host_route(struct in_addr to, struct host_route *route)
{
	struct nl_sock *sk = nl_socket_alloc();
	int err = -NLE_NOMEM;

	*route = (struct host_route){};
	if (sk) {
		nl_socket_disable_auto_ack(sk);
		err = nl_connect(sk, NETLINK_ROUTE);
	}
	if (!err)
		err = ask_for(sk, to, RTM_F_FIB_MATCH, take_route, route);
	if (!err)
		err = ask_for(sk, to, 0, take_way, route);
	nl_socket_free(sk);
	/* No route is an answer, too. */
	return !err || err == -NLE_OBJ_NOTFOUND || err == -NLE_FAILURE ? 0 : -EIO;
}

bool host_route_hides(const struct host_route *route, struct in_addr identity)
{
	return route->found && !route->kept &&
	       route->source.s_addr != identity.s_addr;
}
