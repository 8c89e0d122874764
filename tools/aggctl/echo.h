/* SPDX-License-Identifier: GPL-2.0 */
/* Asks a neighbour for an answer: an ICMP echo request on one device. */
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
 * larger than the MTU of the device or of the path, -EHOSTUNREACH: the neighbour does
 * not answer ARP, or another -errno
 */
int echo_ask(const char *device, struct in_addr to, size_t bytes, int ms);

#endif
