/* SPDX-License-Identifier: GPL-2.0 */
/*
 * This host in a described network: what of the description it lacks, as the
 * commands that provide it.
 */
#ifndef AGGCTL_HOST_H
#define AGGCTL_HOST_H

#include <jansson.h>

#include "plan/plan.h"

/**
 * struct host - a server of a network, and the settings of this host
 * @plan: its topology; the rest is empty
 * @server: which server of the topology this host is
 * @ifaddrs: addresses of this host
 * @missing: commands that are still to be typed, in their order: strings
 * @advice: what the user has to decide: objects with finding and command
 * @checked: number of settings
 */
struct host {
	struct plan plan;
	aggt_node server;
	struct ifaddrs *ifaddrs;
	json_t *missing;
	json_t *advice;
	size_t checked;
};

/**
 * host_open() - find this host in a network
 * @host: filled
 * @network: --topology's argument
 * @name: its name there, or NULL: the server with an address, else the name, of
 *	this host
 *
 * Return: an exit status, ST_DONE or with an error line printed; host_close() in all
 * cases
 */
int host_open(struct host *host, const char *network, const char *name);

/**
 * host_look() - compare this host with the network
 * @host: opened; @missing and @checked are filled
 *
 * Changes nothing. Return: 0, or -1 with an error line printed if a port of the
 * network is none of this host's
 */
int host_look(struct host *host);

void host_close(struct host *host);

/* Commands are for a shell, and a device may have almost any name. */
bool host_device_is_plain(const char *device);

/* host_route.c */

/**
 * struct host_route - the route that the kernel takes to an address
 * @found: there is one
 * @prefix: length of its destination, 0: the default route
 * @kept: its next hops are chosen by a routing daemon, or there are several: a route of
 *	one next hop must not take its place
 * @ifindex: the device by which packets leave
 * @source: the address that programs which bind none send from
 */
struct host_route {
	bool found;
	unsigned int prefix;
	bool kept;
	unsigned int ifindex;
	struct in_addr source;
};

/* Return: 0 or -errno */
int host_route(struct in_addr to, struct host_route *route);

/**
 * host_route_hides() - do programs send by a route from another address than the identity?
 * @route: it leaves by a port
 * @identity: of this host
 *
 * The others have routes to the identity only, so what they answer would be lost.
 */
bool host_route_hides(const struct host_route *route, struct in_addr identity);

#endif
