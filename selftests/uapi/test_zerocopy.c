// SPDX-License-Identifier: GPL-2.0
/* A sender on the same host writes to a packet while the module reads it: the
 * module validates and uses one copy. Needs root and the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <linux/aggnet_packet.h>

#include "harness.h"
#include "member.h"
#include "slow_kernel.h"

#define PACKETS	20000	/* a tenth of it where each takes 15 ms */
#define BYTES	1200

FIXTURE(zerocopy) {
	struct aggnet_ctl *ctl;
	int fd;			/* of a sender that is not a node */
	uint8_t *page;		/* the packet, which it writes to */
	bool stop;
	pthread_t thread;
};

#define SELF	FIXTURE_DATA(zerocopy)

/* Enter the sender's namespace; its only neighbour is the node. */
static int apart(int ns)
{
	char commands[512];

	snprintf(commands, sizeof(commands),
		 "ip link add name va type veth peer name vb netns /proc/%d/fd/%d && "
		 "ip address add 10.16.0.1/24 dev va && ip link set va up && "
		 "ip route add " NODE_B " via 10.16.0.2", getpid(), ns);
	return unshare(CLONE_NEWNET) || system(commands) ? -1 : 0;
}

static int sender(void)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(AGGNET_UDP_PORT),
		.sin_addr = ip(NODE_B),
	};
	int fd = socket(AF_INET, SOCK_DGRAM, 0), one = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &one, sizeof(one)) ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return -1;
	return fd;
}

/* A DATA for the node's entry; only its tag is wrong. */
static void fill(uint8_t *page)
{
	struct aggnet_hdr *hdr = (struct aggnet_hdr *)page;
	struct aggnet_data *data = (struct aggnet_data *)(hdr + 1);

	*hdr = (struct aggnet_hdr){
		.version = AGGNET_VERSION,
		.type = AGGNET_DATA,
		.hop = 1,
		.length = htons(BYTES - sizeof(*hdr)),
		.incast_id = htobe64(aggnet_incast_id(JOB, ip(NODE_A))),
		.instance = htonl(1),
		.src = ip("10.16.0.1").s_addr,
		.dst = ip(NODE_B).s_addr,
	};
	data->records = htons(1);
	data->represents = htobe64(1);
}

FIXTURE_SETUP(zerocopy)
{
	int ns_b, ns;

	self->ctl = make_node(NODE_B);
	ASSERT_NE(NULL, self->ctl);
	ASSERT_EQ(0, add_writers(self->ctl, 1));
	ns_b = open("/proc/self/ns/net", O_RDONLY);
	ASSERT_EQ(0, apart(ns_b));
	ns = open("/proc/self/ns/net", O_RDONLY);
	ASSERT_EQ(0, setns(ns_b, CLONE_NEWNET));
	ASSERT_EQ(0, system("ip address add 10.16.0.2/24 dev vb && ip link set vb up"));
	ASSERT_EQ(0, attach(self->ctl, "vb", true));
	ASSERT_EQ(0, setns(ns, CLONE_NEWNET));
	close(ns_b);
	close(ns);
	self->fd = sender();
	ASSERT_LE(0, self->fd);
	self->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->page);
	fill(self->page);
}

FIXTURE_TEARDOWN(zerocopy)
{
	close(self->fd);
	aggnet_ctl_close(self->ctl);
}

/*
 * Toggle the header's filter length as fast as possible, between 0 and more
 * bytes than the packet has. Yield, as there may be only one CPU.
 */
static void *flip(void *arg)
{
	SELF *self = arg;
	uint8_t *filter = &self->page[offsetof(struct aggnet_hdr, filter)];
	unsigned int i;

	while (!__atomic_load_n(&self->stop, __ATOMIC_RELAXED)) {
		for (i = 0; i < 1001; i++)
			__atomic_xor_fetch(filter, 255, __ATOMIC_RELAXED);
		sched_yield();
	}
	return NULL;
}

/* Was a sent packet's page not copied? */
static bool lent(int fd)
{
	struct sock_extended_err *err;
	char control[128];
	bool any = false;
	struct msghdr msg;
	struct cmsghdr *c;

	for (;;) {
		msg = (struct msghdr){
			.msg_control = control,
			.msg_controllen = sizeof(control),
		};
		if (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
			return any;
		c = CMSG_FIRSTHDR(&msg);
		err = c ? (struct sock_extended_err *)CMSG_DATA(c) : NULL;
		if (err && err->ee_origin == SO_EE_ORIGIN_ZEROCOPY)
			any |= !(err->ee_code & SO_EE_CODE_ZEROCOPY_COPIED);
	}
}

TEST_F(zerocopy, header__changes_while_it_is_read)
{
	unsigned int sent = 0, all = slow_kernel() ? PACKETS / 10 : PACKETS;
	bool any = false;

	ASSERT_EQ(0, pthread_create(&self->thread, NULL, flip, self));
	while (sent < all) {
		if (send(self->fd, self->page, BYTES, MSG_ZEROCOPY) == BYTES)
			sent++;
		else
			ASSERT_TRUE(errno == ENOBUFS || errno == EAGAIN);
		any |= lent(self->fd);
	}
	__atomic_store_n(&self->stop, true, __ATOMIC_RELAXED);
	pthread_join(self->thread, NULL);
	EXPECT_TRUE(any);
	/*
	 * Some packets had the filter when they were copied, some did not. A
	 * packet that changed between two reads would be among them.
	 */
	EXPECT_LT(0, counter(self->ctl, "drop_filter"));
	EXPECT_LT(0, counter(self->ctl, "drop_tag"));
}

/*
 * --- datagrams from a process of the node
 * --------------------------------------
 */

#define PEER	"10.16.0.2"	/* behind va, silent */
#define WHOLE	1000		/* bytes that fit into a frame, */
#define PARTS	4000		/* and bytes that need a list of buffers, */
#define COPIED	2000		/* of which so many are copied first */

FIXTURE(guard) {
	struct aggnet_ctl *ctl;
	int tap;		/* captures what arrives at the peer */
	uint8_t *pages;		/* a process sends them, and writes to them */
};

#define GUARD	FIXTURE_DATA(guard)

static int tap_of(const char *device)
{
	const struct timeval limit = { .tv_sec = 60 };
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = (int)if_nametoindex(device),
	};
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_IP));

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return bind(fd, (struct sockaddr *)&at, sizeof(at)) ? -1 : fd;
}

FIXTURE_SETUP(guard)
{
	self->ctl = make_node(NODE_A);
	ASSERT_NE(NULL, self->ctl);
	/*
	 * The neighbour is unknown: ARP takes long enough for the test to
	 * answer it.
	 */
	ASSERT_EQ(0, system("ip link add va type veth peer name vb && "
			    "ip link set vb up && ip link set va up && "
			    "ip address add 10.16.0.1/24 dev va && "
			    "echo 1000 > /proc/sys/net/ipv4/neigh/va/mcast_solicit"));
	self->tap = tap_of("vb");
	ASSERT_LE(0, self->tap);
	self->pages = mmap(NULL, PARTS, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, (void *)self->pages);
}

FIXTURE_TEARDOWN(guard)
{
	munmap(self->pages, PARTS);
	close(self->tap);
	aggnet_ctl_close(self->ctl);
}

/* Send a datagram of pages that are not copied, except for the first bytes. */
static bool send_pages(uint8_t *pages, size_t size, size_t copied,
		       uint16_t port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr = ip(PEER),
	};
	ssize_t lent = (ssize_t)(size - copied);
	struct iovec iov = { .iov_base = pages + copied, .iov_len = lent };
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	bool sent;
	int p[2];

	if (pipe(p))
		return false;
	sent = !connect(fd, (struct sockaddr *)&to, sizeof(to)) &&
	       (!copied || send(fd, pages, copied, MSG_MORE) > 0) &&
	       vmsplice(p[1], &iov, 1, 0) == lent &&
	       splice(p[0], NULL, fd, NULL, lent, 0) == lent;
	close(p[0]);
	close(p[1]);
	close(fd);
	return sent;
}

/*
 * Count the bytes @what in the datagram's payload. Return: -1: it does not come
 */
static int arrived(int tap, uint8_t what)
{
	uint8_t frame[2048];
	const struct iphdr *ip = (void *)(frame + ETH_HLEN);
	ssize_t i, len;
	int n = 0;

	do {
		len = recv(tap, frame, sizeof(frame), 0);
		if (len < 0)
			return -1;
		i = ETH_HLEN + sizeof(*ip);
		if (!(ntohs(ip->frag_off) & 0x1fff))
			i += sizeof(struct udphdr);
		for (; i < len; i++)
			n += frame[i] == what;
	} while (ntohs(ip->frag_off) & 0x2000);
	return n;
}

/*
 * The sender writes to a datagram that the guard has passed and that waits for
 * the neighbour. Return: how many bytes leave with the new value
 */
static int rewritten(const GUARD *self, size_t size,
		     size_t copied, uint16_t port)
{
	int n;

	memset(self->pages, 'a', size);
	if (!send_pages(self->pages, size, copied, port))
		return -1;
	memset(self->pages, 'b', size);
	if (system("ip neighbour replace " PEER " dev va lladdr 02:00:00:00:00:02"))
		return -1;
	n = arrived(self->tap, 'b');
	return system("ip neighbour del " PEER " dev va") ? -1 : n;
}

TEST_F(guard, datagram__leaves_as_it_was_read)
{
	/*
	 * A datagram to another port, without the guard, shows whether this is
	 * possible.
	 */
	if (!rewritten(self, WHOLE, 0, 9))
		SKIP(return, "this kernel copies what is spliced");
	EXPECT_EQ(0, rewritten(self, WHOLE, 0, AGGNET_UDP_PORT));
}

TEST_F(guard, datagram__of_many_buffers)
{
	if (!rewritten(self, PARTS, COPIED, 9))
		SKIP(return, "this kernel copies what is spliced");
	EXPECT_EQ(0, rewritten(self, PARTS, COPIED, AGGNET_UDP_PORT));
}

TEST_HARNESS_MAIN
