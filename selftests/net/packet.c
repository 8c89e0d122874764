// SPDX-License-Identifier: GPL-2.0
/* Sends hand-made aggnet packets from a device, and prints those that arrive at
 * one.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../lib/inet_sum.h"
#include "linux/aggnet_packet.h"

#define FRAME_MAX	2048
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* The fields of a packet; "key=value" words of the command line set them. */
struct spec {
	const char *dmac, *smac, *src, *dst, *id, *to, *receiver, *ipsum, *udpsum;
	const char *filter;
	long job, type, hop, ttl, version, flags, frag, vlan, pad, body, count;
	long port, lie, glue;
};

static const struct field {
	const char *name;
	size_t offset;
	bool text;
} fields[] = {
#define TEXT(name)	{ #name, offsetof(struct spec, name), true }
#define NUMBER(name)	{ #name, offsetof(struct spec, name), false }
	TEXT(dmac),	/* where the frame goes */
	TEXT(smac),	/* source MAC; the device's if not given */
	TEXT(src),	/* IP source */
	TEXT(dst),	/* IP destination; the receiver's if not given */
	TEXT(id),	/* header's source; the IP source's if not given */
	TEXT(to),	/* header's destination */
	TEXT(receiver),	/* of the incast ID */
	TEXT(ipsum),	/* good, bad */
	TEXT(udpsum),	/* good, bad, none */
	TEXT(filter),	/* its bytes in hex, as print_filter prints them */
	NUMBER(job), NUMBER(type), NUMBER(hop), NUMBER(ttl), NUMBER(version),
	NUMBER(flags),
	NUMBER(frag),	/* flags and offset field of IP */
	NUMBER(vlan),	/* VLAN tag of the frame */
	NUMBER(pad),	/* bytes behind the datagram */
	NUMBER(body),	/* bytes of body */
	NUMBER(count),
	NUMBER(port),	/* UDP destination */
	NUMBER(lie),	/* added to the header's length field */
	NUMBER(glue),	/* local: send all with one system call */
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void bad_usage(void)
{
	fputs("usage: send DEVICE KEY=VALUE...\n"
	      "       local KEY=VALUE...\n"
	      "       watch DEVICE SECONDS [COUNT]\n", stderr);
	exit(2);
}

static void set(struct spec *s, const char *word)
{
	size_t i, len = strcspn(word, "=");

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		char *at = (char *)s + fields[i].offset;

		if (strlen(fields[i].name) != len || word[len] != '=' ||
		    strncmp(fields[i].name, word, len))
			continue;
		if (fields[i].text)
			*(const char **)at = word + len + 1;
		else
			*(long *)at = strtol(word + len + 1, NULL, 0);
		return;
	}
	fprintf(stderr, "packet: '%s' is no KEY=VALUE\n", word);
	exit(2);
}

static int device(const char *name, struct sockaddr_ll *to)
{
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	int one = 1;

	*to = (struct sockaddr_ll) {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(name),
	};
	if (!to->sll_ifindex)
		die(name);
	if (fd < 0 || bind(fd, (struct sockaddr *)to, sizeof(*to)) ||
	    setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &one, sizeof(one)))
		die("packet socket");
	return fd;
}

static void mac_of(int fd, struct sockaddr_ll *ll)
{
	socklen_t len = sizeof(*ll);

	if (getsockname(fd, (struct sockaddr *)ll, &len))
		die("getsockname");
}

static in_addr_t addr(const char *text)
{
	return text ? inet_addr(text) : 0;
}

static uint64_t be64(uint64_t v)
{
	return __builtin_bswap64(v);
}

static size_t put_ethernet(uint8_t *at, int fd, const struct spec *s)
{
	struct ether_addr *dmac = ether_aton(s->dmac);
	struct sockaddr_ll ll;
	size_t len = 12;

	if (!dmac)
		die("dmac");
	memcpy(at, dmac, 6);
	mac_of(fd, &ll);
	memcpy(at + 6, ll.sll_addr, 6);
	if (s->smac) {
		struct ether_addr *smac = ether_aton(s->smac);

		if (!smac)
			die("smac");
		memcpy(at + 6, smac, 6);
	}
	if (s->vlan) {
		*(uint16_t *)(at + len) = htons(ETH_P_8021Q);
		*(uint16_t *)(at + len + 2) = htons((uint16_t)s->vlan);
		len += 4;
	}
	*(uint16_t *)(at + len) = htons(ETH_P_IP);
	return len + 2;
}

static size_t filter_size(const struct spec *s)
{
	return s->filter ? strlen(s->filter) / 2 : 0;
}

static void put_filter(uint8_t *at, const struct spec *s)
{
	size_t i;

	for (i = 0; i < filter_size(s); i++)
		if (sscanf(s->filter + 2 * i, "%2hhx", &at[i]) != 1)
			die("filter");
}

static void put_header(struct aggnet_hdr *h, const struct spec *s)
{
	*h = (struct aggnet_hdr) {
		.version = (uint8_t)s->version,
		.type = (uint8_t)s->type,
		.hop = (uint8_t)s->hop,
		.filter = (uint8_t)(filter_size(s) / AGGNET_FILTER_UNIT),
		.flags = htons((uint16_t)s->flags),
		.length = htons((uint16_t)(filter_size(s) + s->body + s->lie)),
		.incast_id = be64((uint64_t)s->job << 32 |
				  ntohl(addr(s->receiver))),
		.src = addr(s->id ? s->id : s->src),
		.dst = addr(s->to),
		.src_nonce = be64(1),
	};
}

static size_t put_packet(uint8_t *at, const struct spec *s)
{
	struct iphdr *ip = (struct iphdr *)at;
	struct udphdr *uh = (struct udphdr *)(ip + 1);
	struct aggnet_hdr *h = (struct aggnet_hdr *)(uh + 1);
	uint8_t *body = (uint8_t *)(h + 1) + filter_size(s);
	size_t len = (size_t)(body - at) + (size_t)s->body;

	put_header(h, s);
	put_filter((uint8_t *)(h + 1), s);
	memset(body, 0, (size_t)s->body);
	/* The body of a DATA states one record. */
	if (s->type == AGGNET_DATA && s->body >= 16) {
		body[5] = 1;
		body[15] = 1;
	}
	*ip = (struct iphdr) {
		.version = 4,
		.ihl = 5,
		.tot_len = htons((uint16_t)len),
		.frag_off = htons((uint16_t)s->frag),
		.ttl = (uint8_t)s->ttl,
		.protocol = IPPROTO_UDP,
		.saddr = addr(s->src),
		.daddr = addr(s->dst ? s->dst : s->receiver),
	};
	ip->check = inet_sum(ip);
	if (!strcmp(s->ipsum, "bad"))
		ip->check ^= 1;
	*uh = (struct udphdr) {
		.source = htons(50000),
		.dest = htons((uint16_t)s->port),
		.len = htons((uint16_t)(len - sizeof(*ip))),
	};
	uh->check = inet_udp_sum(ip, uh, ntohs(uh->len));
	if (!uh->check)
		uh->check = 0xffff;
	if (!strcmp(s->udpsum, "bad"))
		uh->check ^= 0x0100;
	if (!strcmp(s->udpsum, "none"))
		uh->check = 0;
	return len;
}

static const struct spec defaults = {
	.dmac = "ff:ff:ff:ff:ff:ff", .src = "0.0.0.0", .receiver = "0.0.0.0",
	.ipsum = "good", .udpsum = "good", .job = 1, .type = AGGNET_DATA,
	.hop = 10, .ttl = 64, .version = AGGNET_VERSION, .frag = 0x4000,
	.body = 20, .count = 1, .port = AGGNET_UDP_PORT,
};

static int send_packets(int argc, char **argv)
{
	struct spec s = defaults;
	uint8_t frame[FRAME_MAX] = {};
	struct sockaddr_ll to;
	size_t len;
	int fd, i;

	fd = device(argv[0], &to);
	for (i = 1; i < argc; i++)
		set(&s, argv[i]);
	if (s.body < 0 || s.body + s.pad > 1500 ||
	    filter_size(&s) > AGGNET_FILTER_MAX)
		bad_usage();
	len = put_ethernet(frame, fd, &s);
	len += put_packet(frame + len, &s) + (size_t)s.pad;
	for (; s.count > 0; s.count--)
		if (send(fd, frame, len, 0) != (ssize_t)len)
			die("send");
	return 0;
}

/*
 * Send from a UDP socket: the device fills in the checksum, and with "glue" GSO
 * splits the datagrams. KEY=VALUE as above, except for MACs and "lie".
 */
static int send_local(int argc, char **argv)
{
	struct spec s = defaults;
	const size_t skip = sizeof(struct iphdr) + sizeof(struct udphdr);
	struct sockaddr_in at = { .sin_family = AF_INET };
	uint8_t packet[FRAME_MAX], all[8 * FRAME_MAX];
	size_t len, n = 0;
	int fd, i, size;

	for (i = 0; i < argc; i++)
		set(&s, argv[i]);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	at.sin_addr.s_addr = addr(s.src);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		die("UDP socket");
	at.sin_addr.s_addr = addr(s.dst ? s.dst : s.receiver);
	at.sin_port = htons((uint16_t)s.port);
	len = put_packet(packet, &s) - skip;
	size = (int)len;
	if (s.glue &&
	    setsockopt(fd, SOL_UDP, UDP_SEGMENT, &size, sizeof(size)))
		die("UDP_SEGMENT");
	for (i = 0; i < s.count && n + len <= sizeof(all); i++, n += len)
		memcpy(all + n, packet + skip, len);
	if (!s.glue)
		n = len;
	for (i = 0; i < (s.glue ? 1 : s.count); i++)
		if (sendto(fd, all, n, 0, (struct sockaddr *)&at,
			   sizeof(at)) != (ssize_t)n)
			die("sendto");
	return 0;
}

/* Is the device to fill in the checksum? */
static bool partial(struct msghdr *msg)
{
	struct cmsghdr *c;

	for (c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c))
		if (c->cmsg_level == SOL_PACKET &&
		    c->cmsg_type == PACKET_AUXDATA)
			return ((struct tpacket_auxdata *)CMSG_DATA(c))->
				tp_status & TP_STATUS_CSUMNOTREADY;
	return false;
}

static const char *judge(const struct iphdr *ip, const struct udphdr *uh,
			 bool left)
{
	if (left)
		return "partial";
	if (!uh->check)
		return "none";
	return inet_udp_sum(ip, uh, ntohs(uh->len)) ? "bad" : "good";
}

static void tell_mac(const uint8_t *mac)
{
	printf("%02x:%02x:%02x:%02x:%02x:%02x ", mac[0], mac[1], mac[2],
	       mac[3], mac[4], mac[5]);
}

/* Tests only need to know whether a filter is spent. */
static void tell_filter(const struct aggnet_hdr *h)
{
	const struct aggnet_filter *f = (const void *)(h + 1);

	if (h->filter)
		printf(" filter=%s",
		       f->hashes_digits & 0x0f ? "alive" : "spent");
}

/* Why a node on the way has sent the packet by plain IP; most packets do not tell. */
static void tell_fallback(const struct aggnet_hdr *h)
{
	static const char *const names[] = {
		[AGGNET_FALLBACK_LINK] = "link",
		[AGGNET_FALLBACK_BLOOM] = "bloom",
		[AGGNET_FALLBACK_POLICY] = "policy",
		[AGGNET_FALLBACK_ROUND] = "round",
	};

	if (h->fallback)
		printf(" fallback=%s", h->fallback < ARRAY_SIZE(names) ?
		       names[h->fallback] : "unknown");
}

/*
 * Print one line for each packet: its addresses, and the fields that may
 * change.
 */
static bool tell(const uint8_t *frame, size_t len, bool left)
{
	const struct iphdr *ip = (const void *)(frame + ETH_HLEN);
	const struct udphdr *uh = (const void *)(ip + 1);
	const struct aggnet_hdr *h = (const void *)(uh + 1);
	char src[INET_ADDRSTRLEN], dst[INET_ADDRSTRLEN];

	if (len < ETH_HLEN + sizeof(*ip) + sizeof(*uh) + sizeof(*h) ||
	    ((const struct ethhdr *)frame)->h_proto != htons(ETH_P_IP) ||
	    ip->protocol != IPPROTO_UDP ||
	    uh->dest != htons(AGGNET_UDP_PORT) ||
	    len < ETH_HLEN + sizeof(*ip) + ntohs(uh->len) ||
	    len < ETH_HLEN + (size_t)ntohs(ip->tot_len))
		return false;
	inet_ntop(AF_INET, &ip->saddr, src, sizeof(src));
	inet_ntop(AF_INET, &ip->daddr, dst, sizeof(dst));
	tell_mac(frame + ETH_ALEN);
	tell_mac(frame);
	printf("%s %s ttl=%u hop=%u type=%u job=%u udp=%s ip=%s pad=%zu", src,
	       dst, ip->ttl, h->hop, h->type,
	       (unsigned int)(be64(h->incast_id) >> 32), judge(ip, uh, left),
	       inet_sum(ip) ? "bad" : "good",
	       len - ETH_HLEN - ntohs(ip->tot_len));
	tell_filter(h);
	tell_fallback(h);
	putchar('\n');
	return true;
}

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Exits with 0 if COUNT packets (default 1) were seen within SECONDS. */
static int watch(int argc, char **argv)
{
	long want = argc > 2 ? atol(argv[2]) : 1;
	long end = now_ms() + 1000 * atol(argv[1]);
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
	} control;
	uint8_t frame[FRAME_MAX];
	struct sockaddr_ll at;
	struct pollfd pfd = { .events = POLLIN };

	pfd.fd = device(argv[0], &at);
	puts("ready");
	fflush(stdout);
	while (want > 0) {
		struct iovec iov = { frame, sizeof(frame) };
		struct msghdr msg = {
			.msg_name = &at, .msg_namelen = sizeof(at),
			.msg_iov = &iov, .msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof(control),
		};
		long left = end - now_ms();
		ssize_t len;

		if (left <= 0 || poll(&pfd, 1, (int)left) <= 0)
			return 1;
		len = recvmsg(pfd.fd, &msg, 0);
		if (len < 0)
			die("recvmsg");
		if (at.sll_pkttype == PACKET_OUTGOING ||
		    !tell(frame, (size_t)len, partial(&msg)))
			continue;
		fflush(stdout);
		want--;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 3 && !strcmp(argv[1], "send"))
		return send_packets(argc - 2, argv + 2);
	if (argc >= 3 && !strcmp(argv[1], "local"))
		return send_local(argc - 2, argv + 2);
	if (argc >= 4 && !strcmp(argv[1], "watch"))
		return watch(argc - 2, argv + 2);
	bad_usage();
}
