/* SPDX-License-Identifier: GPL-2.0 */
/* Routes of this host. */
#ifndef AGGCTL_ROUTE_H
#define AGGCTL_ROUTE_H

#include <netinet/in.h>
#include <stdbool.h>

/* What is said of a neighbour that no route leads to. */
#define ROUTE_NONE	"it is on no network that is connected to the device"

/**
 * struct route - the route that the kernel takes to an address
 * @found: there is one
 * @prefix: length of its destination, 0: the default route
 * @kept: its next hops are chosen by a routing daemon, or there are several: a route of
 *	one next hop must not take its place
 * @ifindex: the device by which packets leave
 * @gateway: the next hop, 0: the address itself, which is on-link
 * @over_ipv6: the next hop has an IPv6 address
 * @source: the address that programs which bind none send from
 * @mtu: longest packets by it, as its administrator has set it, 0: those of the device
 */
struct route {
	bool found;
	unsigned int prefix;
	bool kept;
	unsigned int ifindex;
	struct in_addr gateway;
	bool over_ipv6;
	struct in_addr source;
	unsigned int mtu;
};

/**
 * route_to() - ask for the route to an address
 * @to: the address
 * @ifindex: of packets that leave by this device, 0: by any
 * @route: filled
 *
 * Return: 0 or -errno
 */
int route_to(struct in_addr to, unsigned int ifindex, struct route *route);

/**
 * route_on_link() - does the module send to this neighbour?
 * @to: the neighbour
 * @ifindex: of the device
 * @gateway: filled: what the neighbour is behind, 0: no route by the device leads to it
 *
 * An echo request is sent, and may be answered, in these cases, too.
 *
 * Return: it is on a connected network, or that is not known
 */
bool route_on_link(struct in_addr to, unsigned int ifindex,
		   struct in_addr *gateway);

/**
 * route_hides() - do programs send by a route from another address than the identity?
 * @route: it leaves by a port
 * @identity: of this host
 *
 * The others have routes to the identity only, so what they answer would be lost.
 */
bool route_hides(const struct route *route, struct in_addr identity);

#endif
