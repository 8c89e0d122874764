// SPDX-License-Identifier: GPL-2.0
/* Asks the kernel for its route to an address. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "host/host.h"

static int take_route(struct nl_msg *msg, void *arg)
{
	const struct rtmsg *rtm = nlmsg_data(nlmsg_hdr(msg));
	struct host_route *route = arg;

	if (nlmsg_hdr(msg)->nlmsg_type != RTM_NEWROUTE)
		return NL_SKIP;
	route->found = rtm->rtm_type == RTN_UNICAST ||
		       rtm->rtm_type == RTN_LOCAL;
	route->prefix = rtm->rtm_dst_len;
	return NL_OK;
}

/* The answer has the prefix of the route, not that of the address. */
static int ask(struct nl_sock *sk, struct in_addr to)
{
	struct rtmsg rtm = {
		.rtm_family = AF_INET,
		.rtm_dst_len = 32,
		.rtm_flags = RTM_F_FIB_MATCH,
	};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETROUTE, 0);
	int err = -NLE_NOMEM;

	if (msg && !nlmsg_append(msg, &rtm, sizeof(rtm), NLMSG_ALIGNTO) &&
	    !nla_put(msg, RTA_DST, sizeof(to), &to))
		err = nl_send_auto(sk, msg);
	nlmsg_free(msg);
	return err < 0 ? err : 0;
}

int host_route(struct in_addr to, struct host_route *route)
{
	struct nl_sock *sk = nl_socket_alloc();
	int err = -NLE_NOMEM;

	*route = (struct host_route){};
	if (sk) {
		nl_socket_disable_auto_ack(sk);
		nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, take_route,
				    route);
		err = nl_connect(sk, NETLINK_ROUTE);
	}
	if (!err)
		err = ask(sk, to);
	if (!err)
		err = nl_recvmsgs_default(sk);
	nl_socket_free(sk);
	/* No route is an answer, too. */
	return !err || err == -NLE_OBJ_NOTFOUND || err == -NLE_FAILURE ? 0 : -EIO;
}
