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
#include <time.h>
#include <unistd.h>

#include "echo.h"

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
	    !setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof(on)))
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

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int wait_answer(int fd, struct in_addr from, uint16_t id, int ms)
{
	const int64_t end = now_ms() + ms;
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	uint8_t packet[128];
	int64_t left;
	ssize_t n;

	while ((left = end - now_ms()) > 0) {
		if (poll(&pfd, 1, (int)left) < 0 && errno != EINTR)
			return -errno;
		n = recv(fd, packet, sizeof(packet), MSG_DONTWAIT);
		if (n >= 0 && is_answer(packet, n, from, id))
			return 0;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -ETIMEDOUT;
}

int echo_ask(const char *device, struct in_addr to, size_t bytes, int ms)
{
	uint16_t id = htons((uint16_t)getpid());
	int fd, err;

	if (bytes < sizeof(struct iphdr) + sizeof(struct icmphdr) ||
	    bytes > ECHO_MAX)
		return -EINVAL;
	fd = echo_socket(device);
	if (fd < 0)
		return fd;
	err = send_request(fd, to, id, bytes);
	if (!err)
		err = wait_answer(fd, to, id, ms);
	close(fd);
	return err;
}
