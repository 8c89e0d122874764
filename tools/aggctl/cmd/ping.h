/* SPDX-License-Identifier: GPL-2.0 */
/* Round trip and rate to another host, which answers ICMP echo requests. */
#ifndef AGGCTL_PING_H
#define AGGCTL_PING_H

#include <netinet/in.h>
#include <stdint.h>

/**
 * struct ping - what was measured
 * @rtt: shortest round trip of a small packet, ns
 * @rate: bit/s of a train of full packets, there and back, the median of several; 0: no
 *	train came back whole
 */
struct ping {
	uint64_t rtt;
	uint64_t rate;
};

/* Return: a socket, or -1 with an error line printed. */
int ping_open(void);

/*
 * Send @count small packets and then as many trains. Return: 0, or -1 with an error
 * line printed, also if no answer comes.
 */
int ping(int fd, struct in_addr to, unsigned int count, struct ping *result);

#endif
