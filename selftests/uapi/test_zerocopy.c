// SPDX-License-Identifier: GPL-2.0
/* A sender on the same host may write to a packet while it is read: what is read
 * twice may differ. Needs root and the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/aggnet_packet.h>

#include "harness.h"
#include "member.h"

#define PACKETS	20000
#define BYTES	1200

FIXTURE(zerocopy) {
	struct aggnet_ctl *ctl;
	int fd;			/* of a sender that is no node */
	uint8_t *page;		/* whose packet this is */
	bool stop;
	pthread_t thread;
};

#define SELF	FIXTURE_DATA(zerocopy)

/* The caller is at the sender afterwards, whose only neighbour is the node. */
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

/* A DATA to the entry of the node, but for its tag. */
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
 * The header says it has a filter, of more bytes than the packet, and has none:
 * by turns as fast as may be, and also where there is one CPU only.
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

/* Were the pages of any of those that have been sent not copied? */
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
	unsigned int sent = 0;
	bool any = false;

	ASSERT_EQ(0, pthread_create(&self->thread, NULL, flip, self));
	while (sent < PACKETS) {
		if (send(self->fd, self->page, BYTES, MSG_ZEROCOPY) == BYTES)
			sent++;
		else
			ASSERT_TRUE(errno == ENOBUFS || errno == EAGAIN);
		any |= lent(self->fd);
	}
	__atomic_store_n(&self->stop, true, __ATOMIC_RELAXED);
	pthread_join(self->thread, NULL);
	EXPECT_TRUE(any);
	/* Some had the filter, some had not; who had it in between is among them. */
	EXPECT_LT(0, counter(self->ctl, "drop_filter"));
	EXPECT_LT(0, counter(self->ctl, "drop_tag"));
}

TEST_HARNESS_MAIN
