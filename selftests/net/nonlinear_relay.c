// SPDX-License-Identifier: GPL-2.0
/* Carries frames between two devices and puts all their bytes into separate
 * pages: the skb that a node receives has nothing in its linear part.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ether.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frame.h"

#define SLOT	2048
#define SLOTS	256

struct side {
	int fd;
	uint8_t mac[ETH_ALEN];
	uint8_t peer[ETH_ALEN];
	uint8_t *ring;
	unsigned int next;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void side_open(struct side *s, const char *name, const char *peer)
{
	struct tpacket_req req = {
		.tp_block_size = SLOT * 2, .tp_block_nr = SLOTS / 2,
		.tp_frame_size = SLOT, .tp_frame_nr = SLOTS,
	};
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = (int)if_nametoindex(name),
	};
	struct ether_addr *mac = ether_aton(peer);
	int one = 1, version = TPACKET_V2;
	socklen_t len = sizeof(at);

	s->fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_IP));
	if (!mac || s->fd < 0 ||
	    setsockopt(s->fd, SOL_PACKET, PACKET_VERSION, &version,
		       sizeof(version)) ||
	    setsockopt(s->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one,
		       sizeof(one)) ||
	    setsockopt(s->fd, SOL_PACKET, PACKET_TX_RING, &req, sizeof(req)) ||
	    bind(s->fd, (struct sockaddr *)&at, sizeof(at)) ||
	    getsockname(s->fd, (struct sockaddr *)&at, &len))
		die(name);
	memcpy(s->peer, mac, ETH_ALEN);
	memcpy(s->mac, at.sll_addr, ETH_ALEN);
	s->ring = mmap(NULL, SLOT * SLOTS, PROT_READ | PROT_WRITE, MAP_SHARED,
		       s->fd, 0);
	if (s->ring == MAP_FAILED)
		die("ring");
}

static void side_send(struct side *s, struct frame *f)
{
	struct tpacket2_hdr *hdr = (void *)(s->ring + SLOT * s->next);

	memcpy(f->bytes, s->peer, ETH_ALEN);
	memcpy(f->bytes + ETH_ALEN, s->mac, ETH_ALEN);
	/* The slot is still being sent: drop the frame, as a link may. */
	if (hdr->tp_status != TP_STATUS_AVAILABLE ||
	    f->len > SLOT - TPACKET2_HDRLEN)
		return;
	memcpy((uint8_t *)hdr + TPACKET2_HDRLEN - sizeof(struct sockaddr_ll),
	       f->bytes, f->len);
	hdr->tp_len = (uint32_t)f->len;
	hdr->tp_status = TP_STATUS_SEND_REQUEST;
	s->next = (s->next + 1) % SLOTS;
	if (send(s->fd, NULL, 0, MSG_DONTWAIT) < 0 && errno != EAGAIN &&
	    errno != ENOBUFS)
		die("send");
}

static void carry(struct side *from, struct side *to)
{
	struct frame f;
	ssize_t len;

	while ((len = recv(from->fd, f.bytes, sizeof(f.bytes),
			   MSG_DONTWAIT)) > 0) {
		f.len = (size_t)len;
		if (!frame_ours(&f))
			continue;
		/* Fill in a checksum that was left to the device. */
		frame_settle(&f);
		side_send(to, &f);
	}
}

/* nonlinear_relay DEVICE PEER-MAC DEVICE PEER-MAC: runs until it is killed */
int main(int argc, char **argv)
{
	struct side a = {}, b = {};

	if (argc != 5) {
		fputs("usage: nonlinear_relay DEVICE PEER-MAC DEVICE PEER-MAC\n", stderr);
		return 2;
	}
	side_open(&a, argv[1], argv[2]);
	side_open(&b, argv[3], argv[4]);
	puts("ready");
	fflush(stdout);
	for (;;) {
		struct pollfd fds[] = {
			{ a.fd, POLLIN, 0 }, { b.fd, POLLIN, 0 },
		};

		if (poll(fds, 2, -1) < 0)
			die("poll");
		carry(&a, &b);
		carry(&b, &a);
	}
}
