// SPDX-License-Identifier: GPL-2.0
/* Round trip and rate, by ICMP echo: the other host needs no program. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "info.h"
#include "aggctl.h"
#include "cmd/ping.h"

#define SMALL		64
#define FULL		1472
/* Ethernet, IP and ICMP headers of a full packet. */
#define FULL_WIRE	(FULL + 8 + 20 + 14)
/* A queue of 64 KiB holds a train. */
#define TRAIN		16
#define WAIT_MS		1000

struct request {
	struct icmphdr icmp;
	char payload[FULL];
};

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int ping_open(void)
{
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);

	if (fd < 0)
		err("probe: socket for ICMP: %s%s", strerror(errno),
		    errno == EPERM ? " (needs CAP_NET_RAW)" : "");
	return fd;
}

static uint16_t checksum(const struct request *r, size_t len)
{
	uint32_t sum = 0;
	uint16_t word;
	size_t i;

	for (i = 0; i < len; i += sizeof(word)) {
		memcpy(&word, (const char *)r + i, sizeof(word));
		sum += word;
	}
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

static int send_one(int fd, struct in_addr to, uint16_t seq, size_t payload)
{
	const struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr = to };
	struct request r = { .icmp = { .type = ICMP_ECHO } };
	size_t len = sizeof(r.icmp) + payload;

	r.icmp.un.echo.id = htons((uint16_t)getpid());
	r.icmp.un.echo.sequence = htons(seq);
	r.icmp.checksum = checksum(&r, len);
	if (sendto(fd, &r, len, 0, (const struct sockaddr *)&a,
		   sizeof(a)) == (ssize_t)len)
		return 0;
	err("probe: %s: %s", addr_text(to), strerror(errno));
	return -1;
}

/* Is it the answer to one of our requests? @seq is set to its number. */
static bool is_answer(const char *packet, ssize_t len, struct in_addr from,
		      uint16_t *seq)
{
	struct icmphdr icmp;
	struct iphdr ip;
	size_t header;

	if (len < (ssize_t)sizeof(ip))
		return false;
	memcpy(&ip, packet, sizeof(ip));
	header = ip.ihl * 4U;
	if (ip.saddr != from.s_addr ||
	    len < (ssize_t)(header + sizeof(icmp)))
		return false;
	memcpy(&icmp, packet + header, sizeof(icmp));
	*seq = ntohs(icmp.un.echo.sequence);
	return icmp.type == ICMP_ECHOREPLY &&
	       ntohs(icmp.un.echo.id) == (uint16_t)getpid();
}

/* Wait for answer @seq or a later one. Return: when it came, 0: none did */
static uint64_t answer(int fd, struct in_addr from, uint16_t seq)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end = clock_ns() + WAIT_MS * UINT64_C(1000000);
	char packet[2048];
	uint64_t now;
	uint16_t got;
	ssize_t len;

	while ((now = clock_ns()) < end) {
		if (poll(&p, 1, (int)((end - now) / 1000000) + 1) <= 0)
			continue;
		len = recv(fd, packet, sizeof(packet), 0);
		if (is_answer(packet, len, from, &got) &&
		    (int16_t)(got - seq) >= 0)
			return clock_ns();
	}
	return 0;
}

/* Return: bit/s of a train from its first answer to its last; 0: not known */
static uint64_t train(int fd, struct in_addr to, uint16_t seq)
{
	uint64_t first, last;
	unsigned int i;

	for (i = 0; i < TRAIN; i++)
		if (send_one(fd, to, (uint16_t)(seq + i), FULL))
			return 0;
	first = answer(fd, to, seq);
	last = first ? answer(fd, to, (uint16_t)(seq + TRAIN - 1)) : 0;
	if (last <= first)
		return 0;
	return (TRAIN - 1) * FULL_WIRE * 8 * UINT64_C(1000000000) /
	       (last - first);
}

int ping(int fd, struct in_addr to, unsigned int count, struct ping *result)
{
	uint64_t sent, came, rate;
	uint16_t seq = 0;
	unsigned int i;

	*result = (struct ping){ .rtt = UINT64_MAX };
	for (i = 0; i < count; i++) {
		sent = clock_ns();
		if (send_one(fd, to, ++seq, SMALL))
			return -1;
		came = answer(fd, to, seq);
		if (came && came - sent < result->rtt)
			result->rtt = came - sent;
	}
	if (result->rtt == UINT64_MAX) {
		err("probe: %s: no answer", addr_text(to));
		return -1;
	}
	/* The fastest train met the least other traffic. */
	for (i = 0; i < count; i++) {
		rate = train(fd, to, ++seq);
		seq += TRAIN - 1;
		if (rate > result->rate)
			result->rate = rate;
	}
	return 0;
}
