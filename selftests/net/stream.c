// SPDX-License-Identifier: GPL-2.0
/* Traffic of other protocols between two namespaces: TCP and UDP, small,
 * fragmented and GSO datagrams. Every byte must arrive unchanged and in order.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT		4711
#define TCP_BYTES	(512 << 10)
#define DATAGRAMS	360
#define AHEAD		16	/* datagrams that are on the way at once */
#define CHUNK		65000
#define WAIT_S		120

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/*
 * @size: of a datagram, 0: TCP; @segment: GSO splits it into pieces of this
 *	size
 */
struct test {
	const char *name;
	size_t size, segment;
} tests[] = {
	{ "TCP", 0, 0 }, { "UDP", 100, 0 }, { "UDP, full packets", 1400, 0 },
	{ "UDP, fragments", 4500, 0 }, { "UDP, glued", 12000, 1000 },
};

static int netns[2];
static atomic_uint arrived;
static uint64_t start;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void enter(int i)
{
	if (setns(netns[i], CLONE_NEWNET))
		die("setns");
}

/* The bytes of the stream from @offset on. */
static void fill(uint8_t *at, size_t len, uint64_t offset)
{
	size_t i;

	for (i = 0; i < len; i++) {
		uint64_t z = (start + offset + i) * 0x9e3779b97f4a7c15ULL;

		at[i] = (uint8_t)(z >> 56);
	}
}

static bool same(const uint8_t *got, size_t len, uint64_t offset)
{
	static uint8_t want[CHUNK];

	fill(want, len, offset);
	return !memcmp(got, want, len);
}

static void compare(const uint8_t *got, size_t len, uint64_t offset)
{
	uint64_t other;

	if (same(got, len, offset))
		return;
	for (other = 0; other < DATAGRAMS * len; other += len)
		if (same(got, len, other))
			break;
	if (other < DATAGRAMS * len)
		fprintf(stderr, "byte %llu and what follows in place of %llu\n",
			(unsigned long long)other, (unsigned long long)offset);
	else
		fprintf(stderr, "changed from byte %llu on\n",
			(unsigned long long)offset);
	exit(1);
}

/* Packets sent from one CPU are received on it in order. A sender that moves to
 * another CPU may overtake itself, with any kernel.
 */
static void stay(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("affinity");
}

static socklen_t set_address(union address *a, const char *text)
{
	memset(a, 0, sizeof(*a));
	if (inet_pton(AF_INET, text, &a->v4.sin_addr) == 1) {
		a->v4.sin_family = AF_INET;
		a->v4.sin_port = htons(PORT);
		return sizeof(a->v4);
	}
	if (inet_pton(AF_INET6, text, &a->v6.sin6_addr) != 1)
		die(text);
	a->v6.sin6_family = AF_INET6;
	a->v6.sin6_port = htons(PORT);
	return sizeof(a->v6);
}

static void *send_tcp(void *arg)
{
	const char *to = arg;
	static uint8_t data[CHUNK];
	union address a;
	socklen_t len = set_address(&a, to);
	uint64_t done = 0;
	int fd;

	enter(0);
	fd = socket(a.any.sa_family, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, &a.any, len))
		die("connect");
	while (done < TCP_BYTES) {
		size_t want = TCP_BYTES - done < CHUNK ? TCP_BYTES - done : CHUNK;
		ssize_t n;

		fill(data, want, done);
		n = send(fd, data, want, 0);
		if (n <= 0)
			die("send");
		done += (size_t)n;
	}
	close(fd);
	return NULL;
}

static void receive_tcp(int listener)
{
	static uint8_t data[CHUNK];
	uint64_t done = 0;
	ssize_t n;
	int fd = accept(listener, NULL, NULL);

	if (fd < 0)
		die("accept");
	while ((n = recv(fd, data, sizeof(data), 0)) > 0) {
		compare(data, (size_t)n, done);
		done += (size_t)n;
	}
	if (n || done != TCP_BYTES)
		die("the end of TCP");
	close(fd);
}

struct datagrams {
	const char *to;
	const struct test *test;
};

static void *send_udp(void *arg)
{
	const struct datagrams *d = arg;
	static uint8_t data[CHUNK];
	int segment = (int)d->test->segment;
	size_t size = d->test->size, pieces = segment ? size / segment : 1;
	union address a;
	socklen_t len = set_address(&a, d->to);
	unsigned int i;
	int fd;

	enter(0);
	stay();
	fd = socket(a.any.sa_family, SOCK_DGRAM, 0);
	if (fd < 0 || (segment && setsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment,
					     sizeof(segment))))
		die("UDP");
	for (i = 0; i < DATAGRAMS / pieces; i++) {
		while (arrived + AHEAD < i * pieces)
			sched_yield();
		fill(data, size, (uint64_t)i * size);
		if (sendto(fd, data, size, 0, &a.any, len) != (ssize_t)size)
			die("sendto");
	}
	close(fd);
	return NULL;
}

static void receive_udp(int fd, const struct test *test)
{
	size_t piece = test->segment ? test->segment : test->size;
	static uint8_t data[CHUNK];
	unsigned int all = test->segment ? DATAGRAMS / (test->size / piece) *
					   (test->size / piece) : DATAGRAMS;

	for (arrived = 0; arrived < all; arrived++) {
		if (recv(fd, data, sizeof(data), 0) != (ssize_t)piece)
			die("a datagram is missing, or has another length");
		compare(data, piece, (uint64_t)arrived * piece);
	}
}

static void run(const struct test *test, const char *to)
{
	struct timeval wait = { .tv_sec = WAIT_S };
	struct datagrams d = { to, test };
	int one = 1, room = 8 << 20;
	pthread_t thread;
	union address a;
	socklen_t len = set_address(&a, to);
	int fd;

	enter(1);
	arrived = 0;
	fd = socket(a.any.sa_family, test->size ? SOCK_DGRAM : SOCK_STREAM, 0);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room)) ||
	    bind(fd, &a.any, len) || (!test->size && listen(fd, 1)))
		die(to);
	if (pthread_create(&thread, NULL, test->size ? send_udp : send_tcp,
			   test->size ? (void *)&d : (void *)to))
		die("thread");
	if (test->size)
		receive_udp(fd, test);
	else
		receive_tcp(fd);
	pthread_join(thread, NULL);
	close(fd);
}

/* stream SEED NETNS NETNS ADDRESS...: addresses are of the second namespace */
int main(int argc, char **argv)
{
	size_t t;
	int i;

	if (argc < 5) {
		fputs("usage: stream SEED NETNS NETNS ADDRESS...\n", stderr);
		return 2;
	}
	start = strtoull(argv[1], NULL, 0);
	for (i = 0; i < 2; i++) {
		char path[128];

		snprintf(path, sizeof(path), "/run/netns/%s", argv[2 + i]);
		netns[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (netns[i] < 0)
			die(path);
	}
	for (i = 4; i < argc; i++)
		for (t = 0; t < sizeof(tests) / sizeof(tests[0]); t++) {
			fprintf(stderr, "%s to %s\n", tests[t].name, argv[i]);
			run(&tests[t], argv[i]);
		}
	return 0;
}
