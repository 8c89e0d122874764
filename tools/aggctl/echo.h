/* SPDX-License-Identifier: GPL-2.0 */
/* Asks neighbours for an answer: ICMP echo requests on one device each. */
#ifndef AGGCTL_ECHO_H
#define AGGCTL_ECHO_H

#include <netinet/in.h>
#include <stddef.h>

/**
 * echo_ask() - send an echo request and wait for its answer
 * @device: it leaves, and the answer arrives, by this device
 * @to: the neighbour
 * @bytes: length of the IP packet, which is never fragmented
 * @ms: how long to wait
 *
 * Needs CAP_NET_RAW. Return: 0, -ETIMEDOUT: no answer, -EMSGSIZE: the packet is
 * larger than the MTU of the device or of the path, or its answer came in fragments, -EHOSTUNREACH: the neighbour does
 * not answer ARP, or another -errno
 */
int echo_ask(const char *device, struct in_addr to, size_t bytes, int ms);

/**
 * struct echo - a neighbour that is asked
 * @device: the request leaves, and the answer arrives, by this device
 * @to: the neighbour
 * @result: of echo_ask(); -ETIMEDOUT: it is to be asked
 * @fd: while it is asked
 */
struct echo {
	const char *device;
	struct in_addr to;
	int result;
	int fd;
};

/**
 * echo_ask_all() - send echo requests and wait for their answers, at the same time
 * @list: neighbours; those that have a @result are left out
 * @n: how many; each takes a descriptor
 * @bytes: as for echo_ask()
 * @ms: how long to wait for all of them
 */
void echo_ask_all(struct echo *list, size_t n, size_t bytes, int ms);

#endif
