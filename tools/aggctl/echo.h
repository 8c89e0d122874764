/* SPDX-License-Identifier: GPL-2.0 */
/* Asks hosts for an answer: ICMP echo requests, each by a device or by the route. */
#ifndef AGGCTL_ECHO_H
#define AGGCTL_ECHO_H

#include <netinet/in.h>
#include <stddef.h>

/**
 * struct echo - a host that is asked
 * @device: the request leaves, and the answer arrives, by this device; NULL: by any
 * @from: address of this host, which is asked by the route to it; 0: any
 * @to: the host
 * @bytes: length of the IP packet, which is never fragmented
 * @result: 0; -ETIMEDOUT: no answer, or it is to be asked; -EMSGSIZE: the packet is
 *	larger than the MTU of the device or of the path, or its answer came in
 *	fragments; -EHOSTUNREACH: it does not answer ARP, or a router has no way to it; or
 *	another -errno
 * @router: it has sent the ICMP error that is the result; 0: none has
 * @mtu: with -EMSGSIZE: of the link that the router would have used, or the length of
 *	the fragments; 0: not known
 * @fd: while it is asked
 */
struct echo {
	const char *device;
	struct in_addr from;
	struct in_addr to;
	size_t bytes;
	int result;
	struct in_addr router;
	unsigned int mtu;
	int fd;
};

/**
 * echo_ask_all() - send echo requests and wait for their answers, at the same time
 * @list: hosts; those that have a @result are left out
 * @n: how many; each takes a descriptor
 * @ms: how long to wait for all of them
 *
 * Needs CAP_NET_RAW.
 */
void echo_ask_all(struct echo *list, size_t n, int ms);

#endif
