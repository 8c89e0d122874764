// SPDX-License-Identifier: GPL-2.0
/* One channel compared with TCP: sends records with distinct keys, or reads, counts
 * and discards them. Prints the seconds from connect to the end.
 * Usage: goodput tcp-send|aggnet-send SELF TO JOB RECORDS [TASKS STEP]
 *        goodput tcp-recv|aggnet-recv SELF -  JOB RECORDS [TASKS STEP]
 * TASKS do it at the same time, each with a job STEP above the previous one.
 */
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/aggnet.h>

#include "wire.h"

#define TCP_PORT	5001

static u8 buf[AGGNET_SEND_MAX];

static int open_aggnet(bool sends, __be32 addr, u32 job)
{
	struct sockaddr_aggnet a = {
		.sag_family = AF_INET,
		.sag_receiver = addr,
		.sag_job = job,
	};
	int fd = socket(AF_INET, SOCK_RDM, IPPROTO_AGGNET);

	if (fd < 0 || (sends ? connect(fd, (void *)&a, sizeof(a)) :
			       bind(fd, (void *)&a, sizeof(a))))
		perf_die("aggnet socket");
	if (!sends) {
		printf("ready\n");
		fflush(stdout);
	}
	return fd;
}

static int open_tcp(bool sends, __be32 addr)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons(TCP_PORT),
		.sin_addr.s_addr = addr,
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int one = 1;

	if (fd < 0)
		perf_die("socket");
	if (sends) {
		if (connect(fd, (void *)&a, sizeof(a)))
			perf_die("connect");
		return fd;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (void *)&a, sizeof(a)) || listen(fd, 1))
		perf_die("listen");
	printf("ready\n");
	fflush(stdout);
	return accept(fd, NULL, NULL);
}

/* Fill the buffer of one send() with whole records. Return: bytes */
static size_t fill(u64 *next, u64 records)
{
	u64 value = 1ULL << 55;	/* sums of 80 are not longer */
	__be64 key;
	u8 *p = buf;

	while (*next < records && p + PERF_RECORD <= buf + sizeof(buf)) {
		/* They ascend, as a sorted tree needs it. */
		key = cpu_to_be64(*next);
		p[0] = PERF_KEY;
		p[1] = PERF_VALUE;
		memcpy(p + 2, &key, PERF_KEY);
		memcpy(p + 2 + PERF_KEY, &value, PERF_VALUE);
		p += PERF_RECORD;
		++*next;
	}
	return p - buf;
}

static void send_all(int fd, u64 records)
{
	u64 next = 0;
	size_t len, off;
	ssize_t n;

	while ((len = fill(&next, records))) {
		for (off = 0; off < len; off += n) {
			n = send(fd, buf + off, len - off, 0);
			if (n < 0)
				perf_die("send");
		}
	}
	shutdown(fd, SHUT_WR);
	if (recv(fd, buf, sizeof(buf), 0))
		perf_die("the end");
}

/* Return: records */
static u64 recv_tcp(int fd)
{
	u64 bytes = 0;
	ssize_t n;

	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
		bytes += n;
	close(fd);
	return bytes / PERF_RECORD;
}

/* Return: records, that is keys */
static u64 recv_aggnet(int fd)
{
	const struct aggnet_msg *msg = (const void *)buf;
	u64 records = 0;

	for (;;) {
		if (recv(fd, buf, sizeof(buf), 0) < 0)
			perf_die("recv");
		if (msg->type == AGGNET_MSG_END)
			return records;
		records += msg->records;
	}
}

static void receive(int fd, bool tcp, u64 records)
{
	u64 got = tcp ? recv_tcp(fd) : recv_aggnet(fd);

	if (got != records) {
		fprintf(stderr, "goodput: %llu records of %llu\n", got, records);
		exit(1);
	}
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void run(const char *mode, __be32 addr, u32 job, u64 records)
{
	bool tcp = !strncmp(mode, "tcp", 3);
	bool sends = strstr(mode, "send");
	int fd;

	fd = tcp ? open_tcp(sends, addr) : open_aggnet(sends, addr, job);
	if (sends)
		send_all(fd, records);
	else
		receive(fd, tcp, records);
}

/* Return: true if all of them ended without an error */
static bool run_tasks(char **argv, __be32 addr, u32 job, u64 records)
{
	u32 tasks = strtoul(argv[6], NULL, 0), i;
	u32 step = strtoul(argv[7], NULL, 0);
	bool good = true;
	int status;

	for (i = 0; i < tasks; i++) {
		pid_t pid = fork();

		if (pid < 0)
			perf_die("fork");
		if (!pid) {
			run(argv[1], addr, job + i * step, records);
			_exit(0);
		}
	}
	while (i--)
		good &= wait(&status) > 0 && !status;
	return good;
}

int main(int argc, char **argv)
{
	bool good = true;
	double start;
	u64 records;
	__be32 addr;
	u32 job;

	if (argc != 6 && argc != 8) {
		fprintf(stderr,
			"usage: goodput MODE SELF TO JOB RECORDS [TASKS STEP]\n");
		return 2;
	}
	addr = perf_addr(argv[strstr(argv[1], "send") ? 3 : 2]);
	job = strtoul(argv[4], NULL, 0);
	records = strtoull(argv[5], NULL, 0);
	start = now();
	if (argc == 8)
		good = run_tasks(argv, addr, job, records);
	else
		run(argv[1], addr, job, records);
	printf("%.9f\n", now() - start);
	return !good;
}
