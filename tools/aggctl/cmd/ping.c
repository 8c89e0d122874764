// SPDX-License-Identifier: GPL-2.0
/* Round trip and rate, by ICMP echo: the other host needs no program. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/ip.h>
#include <netinet/ip_icmp.h>
#include <poll.h>
#include <stdlib.h>
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

static uint64_t time_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return time_ns(&t);
}

int ping_open(void)
{
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
	const int on = 1;

	if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on,
				   sizeof(on)))
		return fd;
	err("probe: socket for ICMP: %s%s", strerror(errno),
	    errno == EPERM ? " (needs CAP_NET_RAW)" : "");
	if (fd >= 0)
		close(fd);
	return -1;
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

/* When the kernel got a packet, ns since the epoch; 0: it does not say. */
static uint64_t stamp_of(struct msghdr *msg)
{
	struct cmsghdr *c;
	struct timespec t;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET ||
		    c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&t, CMSG_DATA(c), sizeof(t));
		return time_ns(&t);
	}
	return 0;
}

/* Read a packet. Return: it is an answer, number @seq, that came at @stamp */
static bool read_answer(int fd, struct in_addr from, uint16_t *seq,
			uint64_t *stamp)
{
	char packet[2048], control[CMSG_SPACE(sizeof(struct timespec))];
	struct iovec part = { packet, sizeof(packet) };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	ssize_t len = recvmsg(fd, &msg, 0);

	*stamp = len > 0 ? stamp_of(&msg) : 0;
	return is_answer(packet, len, from, seq);
}

/*
 * Wait for answer @seq or a later one, which @seq is set to. Return: when it was read,
 * 0: none came
 */
static uint64_t answer(int fd, struct in_addr from, uint16_t *seq,
		       uint64_t *stamp)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t end = clock_ns() + WAIT_MS * UINT64_C(1000000);
	uint64_t now;
	uint16_t got;

	while ((now = clock_ns()) < end) {
		if (poll(&p, 1, (int)((end - now) / 1000000) + 1) <= 0 ||
		    !read_answer(fd, from, &got, stamp) ||
		    (int16_t)(got - *seq) < 0)
			continue;
		*seq = got;
		return clock_ns();
	}
	return 0;
}

/*
 * The answers are read after they have come, at the reader's speed; so the time
 * between them is the kernel's. Return: bit/s of a train from its first answer to its
 * last; 0: an answer is lost or late, or the rate is not known
 */
static uint64_t train(int fd, struct in_addr to, uint16_t seq)
{
	uint64_t first = 0, last = 0;
	uint16_t i, got;

	for (i = 0; i < TRAIN; i++)
		if (send_one(fd, to, (uint16_t)(seq + i), FULL))
			return 0;
	for (i = 0; i < TRAIN; i++) {
		got = (uint16_t)(seq + i);
		if (!answer(fd, to, &got, &last) || got != (uint16_t)(seq + i))
			return 0;
		if (!i)
			first = last;
	}
	if (!first || last <= first)
		return 0;
	return (TRAIN - 1) * FULL_WIRE * 8 * UINT64_C(1000000000) /
	       (last - first);
}

static int compare_rates(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * Other traffic makes a train slower, and a queue that was held up for a moment makes it
 * faster. Return: the median of the trains whose answers all came, 0: none
 */
static int measure_rate(int fd, struct in_addr to, uint16_t seq,
			unsigned int count, uint64_t *median)
{
	uint64_t *rate = calloc(count, sizeof(*rate));
	unsigned int i, n = 0;

	if (!rate) {
		err("probe: out of memory");
		return -1;
	}
	for (i = 0; i < count; i++, seq += TRAIN) {
		rate[n] = train(fd, to, seq);
		n += rate[n] > 0;
	}
	qsort(rate, n, sizeof(*rate), compare_rates);
	*median = n ? rate[n / 2] : 0;
	free(rate);
	return 0;
}

int ping(int fd, struct in_addr to, unsigned int count, struct ping *result)
{
	uint64_t sent, came, stamp;
	uint16_t seq = 0, got;
	unsigned int i;

	*result = (struct ping){ .rtt = UINT64_MAX };
	for (i = 0; i < count; i++) {
		sent = clock_ns();
		if (send_one(fd, to, ++seq, SMALL))
			return -1;
		got = seq;
		came = answer(fd, to, &got, &stamp);
		if (came && came - sent < result->rtt)
			result->rtt = came - sent;
	}
	if (result->rtt == UINT64_MAX) {
		err("probe: %s: no answer", addr_text(to));
		return -1;
	}
	return measure_rate(fd, to, (uint16_t)(seq + 1), count, &result->rate);
}
