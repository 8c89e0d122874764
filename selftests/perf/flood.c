// SPDX-License-Identifier: GPL-2.0
/* Bystanders: UDP datagrams that are not ours, as fast as they leave.
 * Prints the seconds. Usage: flood TO PORT BYTES PACKETS
 */
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "wire.h"

#define BYTES_MAX	8192

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* IPv6 if the address has a colon. */
static int open_to(const char *address, int port)
{
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	bool six = strchr(address, ':');
	int fd;

	v4.sin_port = htons(port);
	v6.sin6_port = htons(port);
	if (!six)
		v4.sin_addr.s_addr = perf_addr(address);
	else if (inet_pton(AF_INET6, address, &v6.sin6_addr) != 1)
		perf_die(address);
	fd = socket(six ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || connect(fd, six ? (void *)&v6 : (void *)&v4,
			      six ? sizeof(v6) : sizeof(v4)))
		perf_die("socket");
	return fd;
}

int main(int argc, char **argv)
{
	struct mmsghdr msg[PERF_BATCH] = {};
	static u8 data[BYTES_MAX];
	struct iovec iov = { .iov_base = data };
	u32 packets, sent = 0;
	double start;
	int fd, i, n;

	if (argc != 5 || strtoul(argv[3], NULL, 0) > BYTES_MAX) {
		fprintf(stderr, "usage: flood TO PORT BYTES PACKETS\n");
		return 2;
	}
	iov.iov_len = strtoul(argv[3], NULL, 0);
	packets = strtoul(argv[4], NULL, 0);
	for (i = 0; i < PERF_BATCH; i++) {
		msg[i].msg_hdr.msg_iov = &iov;
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	fd = open_to(argv[1], atoi(argv[2]));
	start = now();
	while (sent < packets) {
		n = sendmmsg(fd, msg, PERF_BATCH, 0);
		if (n < 0)
			perf_die("sendmmsg");
		sent += n;
	}
	printf("%.9f\n", now() - start);
	return 0;
}
