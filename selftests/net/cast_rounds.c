// SPDX-License-Identifier: GPL-2.0
/* The processes of a broadcast with rounds. Usage:
 *
 *	cast_rounds send|hold JOB FILE...	each file is a round; hold: then go on
 *						as if others followed
 *	cast_rounds recv JOB ROOT PREFIX	write round N to PREFIX.N
 *
 * The root prints a line for each round that is done. An error is printed; exit status
 * 1 then. $TIMEOUT: seconds after which the process is killed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/aggnet.h>

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void must(bool ok, const char *what)
{
	if (!ok)
		die(what);
}

/* --- the root ------------------------------------------------------------------ */

/* Send a part of a round; @flags: MSG_EOR with the last one. */
static void send_part(int fd, const char *bytes, size_t len, int flags)
{
	ssize_t n;

	do {
		n = send(fd, bytes, len, MSG_NOSIGNAL | flags);
		must(n >= 0, "send");
		bytes += n;
		len -= n;
	} while (len);
}

static void send_round(int fd, const char *path)
{
	static char buf[AGGNET_SEND_MAX];
	int in = open(path, O_RDONLY);
	ssize_t n;

	must(in >= 0, path);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		send_part(fd, buf, n, 0);
	must(!n, path);
	close(in);
	send_part(fd, NULL, 0, MSG_EOR);
}

static void get_outcome(int fd)
{
	char byte;

	must(!recv(fd, &byte, 1, 0), "outcome");
}

static void send_all(int fd, bool hold, char **path)
{
	struct pollfd until_error = { .fd = fd };
	char byte;

	for (; *path; path++) {
		send_round(fd, *path);
		get_outcome(fd);
		puts(*path);
		fflush(stdout);
	}
	while (hold) {
		must(recv(fd, &byte, 1, 0) < 0 && errno == ENOMSG, "outcome");
		poll(&until_error, 1, -1);
	}
	must(!shutdown(fd, SHUT_WR), "shutdown");
	get_outcome(fd);
}

/* --- a member ------------------------------------------------------------------- */

static int create(const char *prefix, unsigned int round)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.%u", prefix, round);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	must(fd >= 0, path);
	return fd;
}

/* Write a round out. Return: does another one follow? */
static bool recv_round(int fd, int out, unsigned int round)
{
	static struct {
		struct aggnet_msg head;
		union {
			struct aggnet_end end;
			char bytes[30000];
		};
	} m;
	unsigned long long total = 0;
	ssize_t n;

	for (;;) {
		n = recv(fd, &m, sizeof(m), 0);
		must(n > 0, "recv");
		if (m.head.type == AGGNET_MSG_END)
			break;
		n -= sizeof(m.head);
		must(write(out, m.bytes, n) == n, "write");
		total += n;
	}
	errno = EBADMSG;
	must(m.end.round == round && m.end.records == total, "end mark");
	return !m.end.last;
}

static void recv_all(int fd, const char *prefix)
{
	unsigned int round = 0;
	bool more;
	int out;

	do {
		out = create(prefix, round);
		more = recv_round(fd, out, round++);
		close(out);
	} while (more);
}

int main(int argc, char **argv)
{
	struct sockaddr_aggnet sag = { .sag_family = AF_INET };
	const struct sockaddr *addr = (const struct sockaddr *)&sag;
	const char *timeout = getenv("TIMEOUT");
	int fd = socket(AF_INET, SOCK_RDM, IPPROTO_AGGNET);

	if (argc < 4)
		return 2;
	must(fd >= 0, "socket");
	if (timeout)
		alarm(strtoul(timeout, NULL, 10));
	sag.sag_job = strtoul(argv[2], NULL, 10);
	if (!strcmp(argv[1], "recv")) {
		sag.sag_receiver = inet_addr(argv[3]);
		must(argc == 5 && !connect(fd, addr, sizeof(sag)), "connect");
		recv_all(fd, argv[4]);
	} else {
		must(!bind(fd, addr, sizeof(sag)), "bind");
		send_all(fd, !strcmp(argv[1], "hold"), argv + 3);
	}
	return 0;
}
