// SPDX-License-Identifier: GPL-2.0
/* Keeps what the devices of a namespace see, as seeds of the fuzzers: the first
 * packet of each type and direction, and requests to the netlink family (from an nlmon
 * device). It exits at the end of its standard input.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "frame.h"

#ifndef ARPHRD_NETLINK
#define ARPHRD_NETLINK	824
#endif

static const char * const type_name[] = {
	[AGGNET_OPEN] = "open", [AGGNET_ACCEPT] = "accept",
	[AGGNET_DATA] = "data", [AGGNET_ACK] = "ack", [AGGNET_FIN] = "fin",
	[AGGNET_DONE] = "done", [AGGNET_ABORT] = "abort",
	[AGGNET_RST] = "rst", [AGGNET_PROBE] = "probe",
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void keep(const char *name, int flags, const void *bytes, size_t len)
{
	int fd = open(name, O_WRONLY | O_CREAT | flags, 0644);

	if (fd < 0 && errno == EEXIST)
		return;
	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len || close(fd))
		die(name);
}

static void keep_packet(const struct frame *f)
{
	const struct aggnet_hdr *hdr = (void *)(f->bytes + FRAME_HEAD);
	char name[32];

	if (!frame_ours(f) || hdr->type >= __AGGNET_TYPE_MAX ||
	    !type_name[hdr->type])
		return;
	snprintf(name, sizeof(name), "%s%s",
		 ntohs(hdr->flags) & AGGNET_F_DOWN ? "down." : "",
		 type_name[hdr->type]);
	keep(name, O_EXCL, hdr, f->len - FRAME_HEAD);
}

/* A request to the control family asks for the number of aggnet's family. */
static void keep_request(const struct frame *f)
{
	const struct nlmsghdr *nlh = (const struct nlmsghdr *)f->bytes;

	if (f->len >= NLMSG_HDRLEN && nlh->nlmsg_len <= f->len &&
	    nlh->nlmsg_flags & NLM_F_REQUEST && nlh->nlmsg_type > GENL_ID_CTRL)
		keep("requests", O_APPEND, nlh, NLMSG_ALIGN(nlh->nlmsg_len));
}

/* Return: false if there is nothing more to read */
static bool take(int fd)
{
	struct frame f __attribute__((aligned(8))) = { 0 };
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	ssize_t len = recvfrom(fd, f.bytes, sizeof(f.bytes),
			       MSG_DONTWAIT | MSG_TRUNC,
			       (struct sockaddr *)&from, &size);

	if (len < 0 && errno == EAGAIN)
		return false;
	if (len < 0)
		die("recvfrom");
	f.len = (size_t)len;
	if (f.len > sizeof(f.bytes))
		return true;
	if (from.sll_hatype != ARPHRD_NETLINK)
		keep_packet(&f);
	else if (ntohs(from.sll_protocol) == NETLINK_GENERIC)
		keep_request(&f);
	return true;
}

int main(int argc, char **argv)
{
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	struct pollfd at[] = { { .events = POLLIN }, { .events = POLLIN } };

	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	if (fd < 0 || chdir(argv[1]))
		die(argv[1]);
	at[1].fd = fd;
	puts("ready");
	fflush(stdout);
	while (!at[0].revents && poll(at, 2, -1) > 0)
		while (take(fd))
			;
	return 0;
}
