// SPDX-License-Identifier: GPL-2.0
/* Bystanders: UDP datagrams that are not ours, as fast as they leave.
 * Prints the seconds. Usage: flood TO PORT BYTES PACKETS
 */
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "wire.h"

#define BYTES_MAX	1472

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
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
	a.sin_addr.s_addr = perf_addr(argv[1]);
	a.sin_port = htons(atoi(argv[2]));
	iov.iov_len = strtoul(argv[3], NULL, 0);
	packets = strtoul(argv[4], NULL, 0);
	for (i = 0; i < PERF_BATCH; i++) {
		msg[i].msg_hdr.msg_iov = &iov;
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (fd < 0 || connect(fd, (void *)&a, sizeof(a)))
		perf_die("socket");
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
