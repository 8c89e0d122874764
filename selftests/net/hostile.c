// SPDX-License-Identifier: GPL-2.0
/* An attacker: a neighbour that changes and replays packets of a real transfer,
 * a local user that forges them, and OPENs from children that do not exist.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/packet.h"
#include "frame.h"

#define BATCH		32	/* frames of one system call */
#define CORPUS		64	/* frames that are kept, for each direction */
#define WARM		16	/* frames seen before the first is sent */
#define WAIT_MS		60000
#define FIRST		3	/* 1/FIRST of the input precedes the attack */
#define NOBODY		65534

struct side {
	int fd;
	uint8_t mac[ETH_ALEN];		/* of the device */
	uint8_t peer[ETH_ALEN];		/* of the other end of its link */
	struct frame seen[CORPUS];	/* frames that came in here */
	unsigned int n;
	struct frame queue[BATCH];	/* frames that are to be sent here */
	unsigned int queued;
};

static struct side sides[2];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void side_open(struct side *s, const char *name, const char *peer)
{
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = (int)if_nametoindex(name),
	};
	struct ether_addr *mac = ether_aton(peer);
	socklen_t len = sizeof(at);
	int one = 1;

	if (!at.sll_ifindex || !mac)
		die(name);
	memcpy(s->peer, mac, ETH_ALEN);
	s->fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_IP));
	if (s->fd < 0 || bind(s->fd, (struct sockaddr *)&at, sizeof(at)) ||
	    setsockopt(s->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one,
		       sizeof(one)) ||
	    getsockname(s->fd, (struct sockaddr *)&at, &len))
		die(name);
	memcpy(s->mac, at.sll_addr, ETH_ALEN);
}

/* Keep the frames that came in; the newest replaces the oldest. */
static void side_look(struct side *s)
{
	struct frame f;
	ssize_t len;

	while ((len = recv(s->fd, f.bytes, sizeof(f.bytes), MSG_DONTWAIT)) > 0) {
		f.len = (size_t)len;
		if (frame_ours(&f))
			s->seen[s->n++ % CORPUS] = f;
	}
}

static void side_flush(struct side *s)
{
	struct mmsghdr msg[BATCH] = {};
	struct iovec iov[BATCH];
	unsigned int i, done = 0;
	int n;

	for (i = 0; i < s->queued; i++) {
		iov[i].iov_base = s->queue[i].bytes;
		iov[i].iov_len = s->queue[i].len;
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	while (done < s->queued) {
		n = sendmmsg(s->fd, msg + done, s->queued - done, 0);
		if (n < 0 && errno != ENOBUFS)
			die("send");
		done += n > 0 ? (unsigned int)n : 0;
	}
	s->queued = 0;
}

/* Queue a frame. Frames leave in order, when the queue is full or flushed. */
static void side_send(struct side *s, const struct frame *f)
{
	struct frame *last = &s->queue[s->queued++];

	last->len = f->len;
	memcpy(last->bytes, s->peer, ETH_ALEN);
	memcpy(last->bytes + ETH_ALEN, s->mac, ETH_ALEN);
	memcpy(last->bytes + 2 * ETH_ALEN, f->bytes + 2 * ETH_ALEN,
	       f->len - 2 * ETH_ALEN);
	if (s->queued == BATCH)
		side_flush(s);
}

static void flush(void)
{
	side_flush(&sides[0]);
	side_flush(&sides[1]);
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Wait until enough frames were seen in both directions. */
static void warm_up(void)
{
	long end = now_ms() + WAIT_MS;

	while (sides[0].n < WARM || sides[1].n < WARM) {
		struct pollfd fds[] = {
			{ sides[0].fd, POLLIN, 0 }, { sides[1].fd, POLLIN, 0 },
		};

		if (now_ms() > end || poll(fds, 2, WAIT_MS) <= 0) {
			fprintf(stderr, "seen: %u and %u packets only\n",
				sides[0].n, sides[1].n);
			exit(1);
		}
		side_look(&sides[0]);
		side_look(&sides[1]);
	}
}

static void save(const char *name)
{
	FILE *file = fopen(name, "w");
	int i;

	if (!file)
		die(name);
	for (i = 0; i < 2; i++)
		if (fwrite(&sides[i].n, sizeof(sides[i].n), 1, file) != 1 ||
		    fwrite(sides[i].seen, sizeof(sides[i].seen), 1, file) != 1)
			die(name);
	if (fclose(file))
		die(name);
}

static void load(const char *name)
{
	FILE *file = fopen(name, "r");
	int i;

	if (!file)
		die(name);
	for (i = 0; i < 2; i++)
		if (fread(&sides[i].n, sizeof(sides[i].n), 1, file) != 1 ||
		    fread(sides[i].seen, sizeof(sides[i].seen), 1, file) != 1)
			die(name);
	fclose(file);
}

/*
 * Let the transfer progress with the attack: copy its input from standard input
 * to standard output, up to the fraction @part / @of.
 */
static void feed(unsigned long part, unsigned long of)
{
	static uint8_t data[1 << 16];
	static size_t size, done, have, at;
	struct stat st;
	ssize_t n;

	if (!size) {
		if (fstat(0, &st) || fcntl(1, F_SETFL, O_NONBLOCK))
			die("standard input and output");
		size = (size_t)st.st_size;
	}
	while (done < size * (double)part / of) {
		if (at == have) {
			n = read(0, data, sizeof(data));
			if (n <= 0)
				die("standard input");
			have = (size_t)n;
			at = 0;
		}
		n = write(1, data + at, have - at);
		if (n < 0 && errno == EAGAIN && part < of)
			return;
		if (n < 0 && errno != EAGAIN)
			die("standard output");
		if (n > 0) {
			at += (size_t)n;
			done += (size_t)n;
		}
	}
}

static struct side *draw_frame(struct frame *f)
{
	unsigned int i = (unsigned int)draw() % 2;
	struct side *from = &sides[i];
	unsigned int have = from->n < CORPUS ? from->n : CORPUS;
	const struct frame *one = &from->seen[draw() % have];

	f->len = one->len;
	memcpy(f->bytes, one->bytes, one->len);
	return &sides[!i];
}

static void open_sides(char **argv)
{
	side_open(&sides[0], argv[0], argv[1]);
	side_open(&sides[1], argv[2], argv[3]);
}

/*
 * inject SEED COUNT keyed|unkeyed FILE SENT DEVICE PEER-MAC DEVICE PEER-MAC:
 * FILE gets the frames that were seen, SENT "COUNT REFUSED HARMLESS BAD_IP".
 */
static int inject(char **argv)
{
	unsigned long count = strtoul(argv[1], NULL, 0);
	unsigned long sum[VERDICTS] = {};
	unsigned long i;
	FILE *sent;

	seed(strtoull(argv[0], NULL, 0));
	open_sides(argv + 5);
	feed(1, FIRST);
	warm_up();
	for (i = 0; i < count;) {
		struct frame f, second = {};
		struct side *to = draw_frame(&f);
		enum verdict v = mutate(&f, &second, !strcmp(argv[2], "keyed"));

		if (v == AGAIN)
			continue;
		sum[v]++;
		side_send(to, &f);
		if (second.len)
			side_send(to, &second);
		if (++i % BATCH)
			continue;
		flush();
		feed(i, count);
		side_look(&sides[0]);
		side_look(&sides[1]);
	}
	flush();
	feed(1, 1);
	save(argv[3]);
	sent = fopen(argv[4], "w");
	if (!sent || fprintf(sent, "%lu %lu %lu %lu\n", count, sum[REFUSED],
			     sum[HARMLESS], sum[BAD_IP]) < 0 || fclose(sent))
		die(argv[4]);
	return 0;
}

/* replay SEED FILE DEVICE PEER-MAC DEVICE PEER-MAC: runs until it is killed */
static int replay_all(char **argv)
{
	seed(strtoull(argv[0], NULL, 0));
	open_sides(argv + 2);
	load(argv[1]);
	do {
		struct frame f;
		struct side *to = draw_frame(&f);

		frame_settle(&f);
		side_send(to, &f);
		flush();
	} while (poll(NULL, 0, 1) >= 0);
	return 1;
}

/* --- a local user ----------------------------------------------------------- */

#define USER_SEGMENT	200	/* bytes: GSO splits one send into datagrams */

/* An IPv4 address, or its IPv4-mapped form for an IPv6 socket. */
static socklen_t user_address(struct sockaddr_storage *at, in_addr_t address,
			      uint16_t port, bool mapped)
{
	struct sockaddr_in6 *at6 = (struct sockaddr_in6 *)at;
	struct sockaddr_in *at4 = (struct sockaddr_in *)at;

	memset(at, 0, sizeof(*at));
	if (!mapped) {
		at4->sin_family = AF_INET;
		at4->sin_port = htons(port);
		at4->sin_addr.s_addr = address;
		return sizeof(*at4);
	}
	at6->sin6_family = AF_INET6;
	at6->sin6_port = htons(port);
	at6->sin6_addr.s6_addr[10] = 0xff;
	at6->sin6_addr.s6_addr[11] = 0xff;
	memcpy(&at6->sin6_addr.s6_addr[12], &address, sizeof(address));
	return sizeof(*at6);
}

static int user_socket(int i, in_addr_t source)
{
	int fd = socket(i & 1 ? AF_INET6 : AF_INET, SOCK_DGRAM, 0);
	int one = 1, off = 0, size = USER_SEGMENT;
	struct sockaddr_storage at;
	socklen_t len;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &one,
				 sizeof(one)))
		die("socket");
	if (i & 1 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off,
				sizeof(off)))
		die("mapped addresses");
	if (i & 2 && setsockopt(fd, SOL_UDP, UDP_SEGMENT, &size, sizeof(size)))
		die("UDP_SEGMENT");
	len = user_address(&at, source, 0, i & 1);
	if (bind(fd, (struct sockaddr *)&at, len))
		die("bind");
	return fd;
}

static int user_send(int fd, const char *address, bool mapped,
		     const uint8_t *data, size_t len)
{
	struct sockaddr_storage to;
	socklen_t size = user_address(&to, inet_addr(address), AGGNET_UDP_PORT,
				      mapped);

	return (int)sendto(fd, data, len, 0, (struct sockaddr *)&to, size);
}

/* Would a peer accept one of these datagrams as a packet of @source? */
static bool user_forges(const uint8_t *data, size_t len, size_t segment,
			in_addr_t source)
{
	struct aggnet_pkt pkt;
	size_t at, n;

	for (at = 0; at < len; at += segment) {
		n = len - at < segment ? len - at : segment;
		if (aggnet_parse_header(data + at, n, &pkt) ==
		    AGGNET_PARSE_OK && pkt.src == source)
			return true;
	}
	return false;
}

/* Draw a changed packet; half of them name @source. */
static size_t user_packet(uint8_t *data, in_addr_t source)
{
	struct frame f, second;
	size_t len;

	draw_frame(&f);
	mutate(&f, &second, true);
	len = f.len > FRAME_HEAD ? f.len - FRAME_HEAD : 0;
	memcpy(data, f.bytes + FRAME_HEAD, len);
	if (draw() & 1 && len >= sizeof(struct aggnet_hdr))
		memcpy(data + offsetof(struct aggnet_hdr, src), &source,
		       sizeof(source));
	/* Some are larger than any MTU. */
	if (!(draw() % 16))
		len += 2000 + draw() % 2000;
	return len;
}

/*
 * local SEED COUNT FILE SOURCE ADDRESS...: prints how many datagrams would pass
 * for packets of SOURCE; status 0 if exactly these were refused
 */
static int local(int argc, char **argv)
{
	unsigned long count = strtoul(argv[1], NULL, 0);
	in_addr_t source = inet_addr(argv[3]);
	static uint8_t data[8 * FRAME_MAX];
	unsigned long i, forged = 0, wrong = 0;
	int fds[4], k;

	seed(strtoull(argv[0], NULL, 0));
	load(argv[2]);
	if (setresuid(NOBODY, NOBODY, NOBODY))
		die("setresuid");
	for (k = 0; k < 4; k++)
		fds[k] = user_socket(k, source);
	for (i = 0; i < count; i++) {
		size_t len = user_packet(data, source);
		bool forges, refused;

		k = (int)(draw() % 4);
		forges = user_forges(data, len, k & 2 ? USER_SEGMENT : len,
				     source);
		refused = user_send(fds[k],
				    argv[4 + draw() % (unsigned int)(argc - 4)],
				    k & 1, data, len) < 0;
		if (refused && errno != EPERM)
			die("sendto");
		forged += forges;
		wrong += forges != refused;
	}
	printf("%lu\n", forged);
	return wrong != 0;
}

/* --- children that do not exist --------------------------------------------- */

/* open COUNT DEVICE PEER-MAC RECEIVER JOB INSTANCE none|random [CHILD] */
static int open_flood(char **argv)
{
	uint32_t first = argv[7] ? ntohl(inet_addr(argv[7])) : 11u << 24;
	uint32_t count = (uint32_t)strtoul(argv[0], NULL, 0), i;
	uint32_t instance = (uint32_t)strtoul(argv[5], NULL, 0);
	uint32_t job = (uint32_t)strtoul(argv[4], NULL, 0);
	bool keyed = !strcmp(argv[6], "random");
	struct frame f;

	seed(count);
	side_open(&sides[0], argv[1], argv[2]);
	for (i = 0; i < count; i++) {
		/* 2^20 identities in turn. */
		frame_open(&f, htonl(first + (i & 0xfffff)),
			   inet_addr(argv[3]), job, instance, keyed);
		side_send(&sides[0], &f);
	}
	side_flush(&sides[0]);
	printf("%u\n", count);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 11 && !strcmp(argv[1], "inject"))
		return inject(argv + 2);
	if (argc == 8 && !strcmp(argv[1], "replay"))
		return replay_all(argv + 2);
	if (argc >= 7 && !strcmp(argv[1], "local"))
		return local(argc - 2, argv + 2);
	if ((argc == 9 || argc == 10) && !strcmp(argv[1], "open"))
		return open_flood(argv + 2);
	fputs("usage: inject SEED COUNT keyed|unkeyed FILE SENT DEV MAC DEV MAC\n"
	      "       replay SEED FILE DEV MAC DEV MAC\n"
	      "       local SEED COUNT FILE SOURCE ADDRESS...\n"
	      "       open COUNT DEV MAC RECEIVER JOB INSTANCE none|random [CHILD]\n",
	      stderr);
	return 2;
}
