/* SPDX-License-Identifier: GPL-2.0 */
/* A neighbour of this host, and the device that leads to it. */
#ifndef AGGCTL_NEIGHBOUR_H
#define AGGCTL_NEIGHBOUR_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>

#include "echo.h"

/**
 * device_up() - is a device up, with a carrier?
 * @device: its name
 */
bool device_up(const char *device);

#define MTU_EXPECTED	1500	/* bytes; a smaller one on one host drops packets of others */

/* Return: bytes or -errno */
int device_mtu(const char *device);

struct ifaddrs;

/**
 * addr_is_own() - is it an address of this host?
 * @list: of getifaddrs(). Where ip_nonlocal_bind is set, bind() takes any address, and a
 *	route may lead other addresses to this host, too
 * @addr: the address
 */
bool addr_is_own(const struct ifaddrs *list, struct in_addr addr);

#define DEVICE_MAC_LEN	18	/* of its text */

/**
 * device_mac() - hardware address of a device
 * @device: its name
 * @text: filled with "02:00:00:00:00:01", or with "" if there is none
 */
void device_mac(const char *device, char text[DEVICE_MAC_LEN]);

/**
 * neighbour_ask_all() - send echo requests at the same time, twice to those that do not
 * answer the first one
 * @list: all but the results is filled in
 * @n: how many; each takes a descriptor
 *
 * The first one may have waited for ARP. Needs CAP_NET_RAW; takes two seconds at most.
 */
void neighbour_ask_all(struct echo *list, size_t n);

/**
 * neighbour_silent() - does a neighbour not even answer ARP?
 * @device: it was asked on this device
 * @to: the neighbour
 *
 * Return: true if the kernel has asked for its hardware address in vain; false if it
 * knows the address, or never asked.
 */
bool neighbour_silent(const char *device, struct in_addr to);

#endif
