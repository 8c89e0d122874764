/* SPDX-License-Identifier: GPL-2.0 */
/* Routes of this host. */
#ifndef AGGCTL_ROUTE_H
#define AGGCTL_ROUTE_H

#include <netinet/in.h>
#include <stdbool.h>

/**
 * struct route - the route that the kernel takes to an address
 * @found: there is one
 * @prefix: length of its destination, 0: the default route
 * @kept: its next hops are chosen by a routing daemon, or there are several: a route of
 *	one next hop must not take its place
 * @ifindex: the device by which packets leave
 * @gateway: the next hop, 0: the address itself, which is on-link
 * @source: the address that programs which bind none send from
 */
struct route {
	bool found;
	unsigned int prefix;
	bool kept;
	unsigned int ifindex;
	struct in_addr gateway;
	struct in_addr source;
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
 * route_gateway() - the gateway that an address is behind
 * @to: the address
 * @ifindex: of the device
 *
 * The module sends only to neighbours that are on-link.
 *
 * Return: 0: there is none, or it is not known
 */
struct in_addr route_gateway(struct in_addr to, unsigned int ifindex);

/**
 * route_hides() - do programs send by a route from another address than the identity?
 * @route: it leaves by a port
 * @identity: of this host
 *
 * The others have routes to the identity only, so what they answer would be lost.
 */
bool route_hides(const struct route *route, struct in_addr identity);

#endif
