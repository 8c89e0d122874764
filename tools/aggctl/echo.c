// SPDX-License-Identifier: GPL-2.0
/* ICMP echo over a raw socket, which is bound to a device or takes the route. */
#include <errno.h>
#include <time.h>	/* before those of the kernel */
#include <linux/errqueue.h>
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
#define IP_DF		0x4000	/* not with linux/ip.h */

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

static bool set_up(int fd, const struct echo *e)
{
	const struct sockaddr_in from = { .sin_family = AF_INET,
					  .sin_addr = e->from };
	const struct sockaddr_in to = { .sin_family = AF_INET,
					.sin_addr = e->to };
	const int omit = IP_PMTUDISC_OMIT, on = 1;

	if (e->device &&
	    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, e->device,
		       (socklen_t)strlen(e->device) + 1))
		return false;
	/* What is asked must not change what the kernel knows of the path. */
	return !setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &omit,
			   sizeof(omit)) &&
	       !setsockopt(fd, IPPROTO_IP, IP_HDRINCL, &on, sizeof(on)) &&
	       !setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)) &&
	       !setsockopt(fd, IPPROTO_IP, IP_RECVFRAGSIZE, &on, sizeof(on)) &&
	       !bind(fd, (const struct sockaddr *)&from, sizeof(from)) &&
	       !connect(fd, (const struct sockaddr *)&to, sizeof(to));
}

static int echo_socket(const struct echo *e)
{
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP), err;

	if (fd >= 0 && set_up(fd, e))
		return fd;
	err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* How often this process has asked: an answer may be late. */
static uint16_t asked;

/* The kernel fills in the rest of the header of IP. */
static int send_request(const struct echo *e)
{
	const struct iphdr ip = {
		.version = 4, .ihl = sizeof(ip) / 4,
		.frag_off = htons(IP_DF), .ttl = 64,
		.protocol = IPPROTO_ICMP, .daddr = e->to.s_addr,
	};
	struct icmphdr head = { .type = ICMP_ECHO };
	uint8_t *packet = calloc(1, e->bytes);
	int err = 0;

	if (!packet)
		return -ENOMEM;
	head.un.echo.id = htons((uint16_t)getpid());
	head.un.echo.sequence = htons(asked);
	head.checksum = checksum((uint8_t *)&head, sizeof(head));
	memcpy(packet, &ip, sizeof(ip));
	memcpy(packet + sizeof(ip), &head, sizeof(head));
	if (send(e->fd, packet, e->bytes, 0) < 0)
		err = -errno;
	free(packet);
	return err;
}

/* Is what was received the answer? A raw socket gets the ICMP of all. */
static bool is_answer(const uint8_t *packet, ssize_t n, struct in_addr from)
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
	return head.type == ICMP_ECHOREPLY &&
	       head.un.echo.id == htons((uint16_t)getpid()) &&
	       head.un.echo.sequence == htons(asked);
}

static void open_socket(struct echo *e)
{
	e->fd = -1;
	if (e->result != -ETIMEDOUT)
		return;
	if (e->bytes < sizeof(struct iphdr) + sizeof(struct icmphdr) ||
	    e->bytes > ECHO_MAX) {
		e->result = -EINVAL;
		return;
	}
	e->fd = echo_socket(e);
	if (e->fd < 0)
		e->result = e->fd;
}

/*
 * All sockets are ready before the first request leaves: one that is not connected yet
 * gets the ICMP errors of the others, and the kernel keeps the path MTU for it.
 */
static void send_all(struct echo *list, size_t n)
{
	size_t i;
	int err;

	for (i = 0; i < n; i++)
		open_socket(&list[i]);
	for (i = 0; i < n; i++) {
		err = list[i].fd < 0 ? 0 : send_request(&list[i]);
		if (err)
			list[i].result = err;
	}
}

static const void *find_control(struct msghdr *msg, int type)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == type)
			return CMSG_DATA(c);
	return NULL;
}

static void take_answer(struct echo *e, struct msghdr *msg)
{
	/* The kernel joins fragments, and tells the length of the largest one. */
	const void *fragment = find_control(msg, IP_RECVFRAGSIZE);
	int bytes;

	e->result = fragment ? -EMSGSIZE : 0;
	if (!fragment)
		return;
	memcpy(&bytes, fragment, sizeof(bytes));
	e->mtu = (unsigned int)bytes;
}

static void take_error(struct echo *e, struct msghdr *msg)
{
	const struct sock_extended_err *error = find_control(msg, IP_RECVERR);
	const struct sockaddr_in *router;

	if (!error)
		return;
	e->result = -(int)error->ee_errno;
	if (error->ee_origin != SO_EE_ORIGIN_ICMP)
		return;
	router = (const void *)SO_EE_OFFENDER(error);
	e->router = router->sin_addr;
	if (error->ee_errno == EMSGSIZE)
		e->mtu = error->ee_info;
}

static void take(struct echo *e, int flags)
{
	uint8_t packet[128];
	union {
		struct cmsghdr align;
		char room[256];
	} control;
	struct iovec part = { packet, sizeof(packet) };
	struct msghdr msg = {
		.msg_iov = &part, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(e->fd, &msg, MSG_DONTWAIT | flags);

	if (n >= 0 && flags)
		take_error(e, &msg);
	else if (n >= 0 && is_answer(packet, n, e->to))
		take_answer(e, &msg);
	else if (n < 0 && errno != EAGAIN && errno != EINTR)
		e->result = -errno;
}

/* Return: does one still wait for its answer? */
static bool wait_answers(struct echo *list, size_t n, struct pollfd *fds,
			 int64_t end)
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
	if (poll(fds, n, left) <= 0)
		return true;
	for (i = 0; i < n; i++) {
		if (fds[i].revents & POLLERR)
			take(&list[i], MSG_ERRQUEUE);
		if (fds[i].revents && list[i].result == -ETIMEDOUT)
			take(&list[i], 0);
	}
	return true;
}

void echo_ask_all(struct echo *list, size_t n, int ms)
{
	struct pollfd *fds = calloc(n + 1, sizeof(*fds));
	const int64_t end = monotonic_ms() + ms;
	size_t i;

	if (!fds) {
		for (i = 0; i < n; i++)
			if (list[i].result == -ETIMEDOUT)
				list[i].result = -ENOMEM;
		return;
	}
	asked++;
	send_all(list, n);
	while (wait_answers(list, n, fds, end))
		;
	for (i = 0; i < n; i++)
		if (list[i].fd >= 0)
			close(list[i].fd);
	free(fds);
}
