// SPDX-License-Identifier: GPL-2.0
/* Asks the kernel for its route to an address. */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "route.h"

/* The answer to RTM_F_FIB_MATCH is the route as it was set. */
static int take_route(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	const struct rtmsg *rtm = nlmsg_data(h);
	const struct nlattr *metrics, *mtu = NULL;
	struct route *route = arg;

	if (h->nlmsg_type != RTM_NEWROUTE)
		return NL_SKIP;
	metrics = nlmsg_find_attr(h, sizeof(*rtm), RTA_METRICS);
	if (metrics)
		mtu = nla_find(nla_data(metrics), nla_len(metrics), RTAX_MTU);
	if (mtu)
		route->mtu = nla_get_u32(mtu);
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
	const struct nlattr *oif, *gateway, *source;
	struct route *route = arg;

	if (h->nlmsg_type != RTM_NEWROUTE)
		return NL_SKIP;
	oif = nlmsg_find_attr(h, sizeof(struct rtmsg), RTA_OIF);
	gateway = nlmsg_find_attr(h, sizeof(struct rtmsg), RTA_GATEWAY);
	source = nlmsg_find_attr(h, sizeof(struct rtmsg), RTA_PREFSRC);
	route->over_ipv6 = nlmsg_find_attr(h, sizeof(struct rtmsg), RTA_VIA);
	if (oif)
		route->ifindex = nla_get_u32(oif);
	if (gateway)
		nla_memcpy(&route->gateway, gateway, sizeof(route->gateway));
	if (source)
		nla_memcpy(&route->source, source, sizeof(route->source));
	return NL_OK;
}

/**
 * struct question - the route that is asked for
 * @to: the address
 * @ifindex: of the device, 0: any
 * @route: the answer
 */
struct question {
	struct in_addr to;
	unsigned int ifindex;
	struct route *route;
};

static int ask(struct nl_sock *sk, const struct question *question,
	       unsigned int flags)
{
	struct rtmsg rtm = {
		.rtm_family = AF_INET,
		.rtm_dst_len = 32,
		.rtm_flags = flags,
	};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETROUTE, 0);
	int err = -NLE_NOMEM;

	if (msg && !nlmsg_append(msg, &rtm, sizeof(rtm), NLMSG_ALIGNTO) &&
	    !nla_put(msg, RTA_DST, sizeof(question->to), &question->to) &&
	    (!question->ifindex ||
	     !nla_put_u32(msg, RTA_OIF, question->ifindex)))
		err = nl_send_auto(sk, msg);
	nlmsg_free(msg);
	return err < 0 ? err : nl_recvmsgs_default(sk);
}

static int ask_for(struct nl_sock *sk, const struct question *question,
		   unsigned int flags, nl_recvmsg_msg_cb_t take)
{
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, take,
			    question->route);
	return ask(sk, question, flags);
}

int route_to(struct in_addr to, unsigned int ifindex, struct route *route)
{
	const struct question question = { to, ifindex, route };
	struct nl_sock *sk = nl_socket_alloc();
	int err = -NLE_NOMEM;

	*route = (struct route){};
	if (sk) {
		nl_socket_disable_auto_ack(sk);
		err = nl_connect(sk, NETLINK_ROUTE);
	}
	if (!err)
		err = ask_for(sk, &question, RTM_F_FIB_MATCH, take_route);
	if (!err)
		err = ask_for(sk, &question, 0, take_way);
	nl_socket_free(sk);
	/* No route is an answer, too. */
	return !err || err == -NLE_OBJ_NOTFOUND || err == -NLE_FAILURE ? 0 : -EIO;
}

bool route_on_link(struct in_addr to, unsigned int ifindex,
		   struct in_addr *gateway)
{
	struct route route;

	*gateway = (struct in_addr){};
	if (route_to(to, ifindex, &route))
		return true;
	/* "onlink" routes may name the address itself, which the module takes. */
	if (route.gateway.s_addr != to.s_addr)
		*gateway = route.gateway;
	return route.found && !route.over_ipv6 && !gateway->s_addr;
}

bool route_hides(const struct route *route, struct in_addr identity)
{
	return route->found && !route->kept &&
	       route->source.s_addr != identity.s_addr;
}
