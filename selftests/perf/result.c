// SPDX-License-Identifier: GPL-2.0
/* Reads the result of a transfer at its receiver and prints its sums as JSON,
 * after a line that says that it reads.
 * Usage: result SELF JOB LOAD
 */
#include <string.h>
#include <sys/socket.h>

#include <linux/aggnet.h>

#include "wire.h"
#include "workload.h"

static u8 buf[1 << 16];

static int open_receiver(__be32 self, u32 job)
{
	struct sockaddr_aggnet a = {
		.sag_family = AF_INET,
		.sag_receiver = self,
		.sag_job = job,
	};
	int fd = socket(AF_INET, SOCK_RDM, IPPROTO_AGGNET);

	if (fd < 0 || bind(fd, (void *)&a, sizeof(a)))
		perf_die("aggnet socket");
	return fd;
}

int main(int argc, char **argv)
{
	const struct aggnet_msg *msg = (const void *)buf;
	const struct aggnet_end *end = (const void *)(msg + 1);
	struct perf_result result = {};
	struct perf_load load;
	int fd;

	if (argc != 4) {
		fprintf(stderr, "usage: result SELF JOB LOAD\n");
		return 2;
	}
	load = perf_load(argv[3]);
	fd = open_receiver(perf_addr(argv[1]), strtoul(argv[2], NULL, 0));
	printf("ready\n");
	fflush(stdout);
	for (;;) {
		if (recv(fd, buf, sizeof(buf), 0) < 0)
			perf_die("recv");
		if (msg->type == AGGNET_MSG_END)
			break;
		perf_result_add(&load, &result, (const u8 *)(msg + 1),
				msg->records);
	}
	result.records = end->records;
	printf("{");
	perf_result_print(&result);
	printf("}\n");
	return 0;
}
