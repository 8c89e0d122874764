// SPDX-License-Identifier: GPL-2.0
/* ICMP echo over a raw socket that is bound to a device. */
#include <errno.h>
#include <linux/icmp.h>
#include <linux/ip.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "echo.h"
#include "monotonic.h"

#define ECHO_MAX	65535

static uint16_t checksum(const uint8_t *data, size_t len)
{
	uint32_t sum = 0;
	size_t i;

	for (i = 0; i < len; i++)
		sum += (uint32_t)data[i] << (i % 2 ? 0 : 8);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return htons((uint16_t)~sum);
}

static int echo_socket(const char *device)
{
	const int whole = IP_PMTUDISC_PROBE, on = 1;
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);

	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device,
			(socklen_t)strlen(device) + 1) &&
	    !setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &whole,
			sizeof(whole)) &&
	    !setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)) &&
	    !setsockopt(fd, IPPROTO_IP, IP_RECVFRAGSIZE, &on, sizeof(on)))
		return fd;
	close(fd);
	return -errno;
}

static int send_request(int fd, struct in_addr to, uint16_t id, size_t bytes)
{
	struct sockaddr_in sa = { .sin_family = AF_INET, .sin_addr = to };
	size_t len = bytes - sizeof(struct iphdr);
	uint8_t *packet = calloc(1, len);
	struct icmphdr head = { .type = ICMP_ECHO };
	int err = 0;

	if (!packet)
		return -ENOMEM;
	head.un.echo.id = id;
	memcpy(packet, &head, sizeof(head));
	head.checksum = checksum(packet, len);
	memcpy(packet, &head, sizeof(head));
	if (sendto(fd, packet, len, 0, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		err = -errno;
	free(packet);
	return err;
}

/* Is what was received the answer? A raw socket gets the ICMP of all. */
static bool is_answer(const uint8_t *packet, ssize_t n, struct in_addr from,
		      uint16_t id)
{
	struct icmphdr head;
	struct iphdr ip;

	if (n < (ssize_t)(sizeof(ip) + sizeof(head)))
		return false;
	memcpy(&ip, packet, sizeof(ip));
	if (ip.saddr != from.s_addr ||
	    n < (ssize_t)(ip.ihl * 4u + sizeof(head)))
		return false;
	memcpy(&head, packet + ip.ihl * 4u, sizeof(head));
	return head.type == ICMP_ECHOREPLY && head.un.echo.id == id;
}

static void start(struct echo *e, uint16_t id, size_t bytes)
{
	int err;

	e->fd = echo_socket(e->device);
	err = e->fd < 0 ? e->fd : send_request(e->fd, e->to, id, bytes);
	if (err)
		e->result = err;
}

/* The kernel joins fragments, and tells the length of the largest one. */
static bool was_fragmented(struct msghdr *msg)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
		if (c->cmsg_level == IPPROTO_IP &&
		    c->cmsg_type == IP_RECVFRAGSIZE)
			return true;
	return false;
}

static void take(struct echo *e, uint16_t id)
{
	uint8_t packet[128];
	char control[64];
	struct iovec part = { packet, sizeof(packet) };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(e->fd, &msg, MSG_DONTWAIT);

	if (n >= 0 && is_answer(packet, n, e->to, id))
		e->result = was_fragmented(&msg) ? -EMSGSIZE : 0;
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		e->result = -errno;
}

/* Return: does one still wait for its answer? */
static bool wait_answers(struct echo *list, size_t n, struct pollfd *fds,
			 uint16_t id, int64_t end)
{
	const int left = monotonic_left(end);
	bool waits = false;
	size_t i;

	for (i = 0; i < n; i++) {
		fds[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
		if (list[i].result != -ETIMEDOUT)
			continue;
		fds[i].fd = list[i].fd;
		waits = true;
	}
	if (!waits || !left)
		return false;
	if (poll(fds, n, left) > 0)
		for (i = 0; i < n; i++)
			if (fds[i].revents)
				take(&list[i], id);
	return true;
}

void echo_ask_all(struct echo *list, size_t n, size_t bytes, int ms)
{
	struct pollfd *fds = calloc(n + 1, sizeof(*fds));
	const int64_t end = monotonic_ms() + ms;
	uint16_t id = htons((uint16_t)getpid());
	size_t i;

	for (i = 0; i < n; i++) {
		list[i].fd = -1;
		if (list[i].result != -ETIMEDOUT)
			continue;
		if (!fds)
			list[i].result = -ENOMEM;
		else if (bytes < sizeof(struct iphdr) + sizeof(struct icmphdr) ||
			 bytes > ECHO_MAX)
			list[i].result = -EINVAL;
		else
			start(&list[i], id, bytes);
	}
	while (fds && wait_answers(list, n, fds, id, end))
		;
	for (i = 0; i < n; i++)
		if (list[i].fd >= 0)
			close(list[i].fd);
	free(fds);
}

int echo_ask(const char *device, struct in_addr to, size_t bytes, int ms)
{
	struct echo one = { .device = device, .to = to, .result = -ETIMEDOUT };

	echo_ask_all(&one, 1, bytes, ms);
	return one.result;
}
