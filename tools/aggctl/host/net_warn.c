// SPDX-License-Identifier: GPL-2.0
/* Warnings about a network that is described as its hosts report it. */
#include <arpa/inet.h>
#include <string.h>

#include "aggctl.h"
#include "host/net.h"
#include "info.h"

#define FAR_SLOWER	10	/* times */

#define FOR_EACH_PORT(p, net) \
	for ((p) = (net)->port; (p) < (net)->port + (net)->n_ports; (p)++)

void net_warn_gateways(const struct net *net)
{
	const struct port *p;

	FOR_EACH_PORT(p, net)
		if (p->gateway.s_addr && !net_has_gateway(p))
			err("describe: warning: %s, the gateway of %s of %s, is not in %s: it is not used",
			    addr_text(p->gateway), p->device, net_name(net, p),
			    net_text(p));
}

static void warn_down(const struct net *net)
{
	const struct port *p;

	FOR_EACH_PORT(p, net)
		if (p->down && net_is_described(net, p))
			err("describe: warning: %s of %s is down, and has a link in the description",
			    p->device, net_name(net, p));
}

/* In one subnet it is the same. */
static void warn_mtu(const struct net *net)
{
	const struct port *first = NULL, *p;
	char text[INET_ADDRSTRLEN + 4];

	FOR_EACH_PORT(p, net) {
		if (!net->subnet[p->subnet].routed)
			continue;
		if (!first)
			first = p;
		if (p->mtu == first->mtu)
			continue;
		strcpy(text, net_text(first));
		err("describe: warning: routers join %s, with an MTU of %lld, and %s, with %lld: use one MTU, or see to it that routers answer packets that are too long with an ICMP error",
		    text, first->mtu, net_text(p), p->mtu);
		return;
	}
}

static const struct port *fastest(const struct net *net, size_t host)
{
	const struct port *p, *best = NULL;

	FOR_EACH_PORT(p, net)
		if (p->host == host && net_is_described(net, p) &&
		    (!best || p->rate > best->rate))
			best = p;
	return best;
}

/* One warning names an option, which is for all hosts. */
static bool was_named(const struct net *net, const struct port *port)
{
	const struct port *p;

	for (p = net->port; p < port; p++)
		if (!strcmp(p->device, port->device))
			return true;
	return false;
}

static bool is_far_slower(const struct net *net, const struct port *p)
{
	const struct port *best = fastest(net, p->host);

	return best && p->rate && best->rate / p->rate >= FAR_SLOWER;
}

static void warn_rate(const struct net *net, const struct port *p)
{
	const struct port *best = fastest(net, p->host);

	if (!p->rate || !best || !best->rate)
		return;
	if (!net_is_described(net, p) && p->rate > best->rate)
		err("describe: warning: %s of %s, which is faster than %s, is not in the description: no other host is in %s, and no gateway of it is known",
		    p->device, net_name(net, p), best->device, net_text(p));
	else if (net_is_described(net, p) && is_far_slower(net, p) &&
		 !was_named(net, p))
		err("describe: warning: %s of %s is %lld times slower than %s: '--not %s' leaves it out",
		    p->device, net_name(net, p), best->rate / p->rate,
		    best->device, p->device);
}

static bool is_shared(const struct net *net, const struct subnet *s)
{
	return s->hosts == net->n_hosts;
}

/* Is there a subnet in the description without some of the hosts? */
static bool has_smaller(const struct net *net)
{
	size_t i;

	for (i = 0; i < net->n_subnets; i++)
		if (!is_shared(net, &net->subnet[i]) &&
		    net_is_described(net, net->subnet[i].first))
			return true;
	return false;
}

/* A subnet of all hosts, such as that for management, leaves nothing to merge on the way. */
static void warn_shared(const struct net *net)
{
	const struct port *p;
	size_t i;

	if (net->n_hosts <= 2)
		return;
	if (!has_smaller(net)) {
		err("describe: warning: all hosts are in each subnet, and are neighbours there: no server is on the way to merge");
		return;
	}
	for (i = 0; i < net->n_subnets; i++) {
		p = net->subnet[i].first;
		if (is_shared(net, &net->subnet[i]) && !is_far_slower(net, p))
			err("describe: warning: all hosts are in %s, the subnet of %s of %s, and are neighbours there: no server is on the way to merge; if it is for management, '--not %s' leaves it out",
			    net_text(p), p->device, net_name(net, p), p->device);
	}
}

void net_warn(const struct net *net)
{
	const struct port *p;

	warn_down(net);
	warn_mtu(net);
	warn_shared(net);
	FOR_EACH_PORT(p, net)
		warn_rate(net, p);
}
