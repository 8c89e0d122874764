// SPDX-License-Identifier: GPL-2.0
/* Unit tests of "aggctl probe": the rate of a link is that of the kernel's time stamps,
 * whatever the reader does, and of whole trains of packets only.
 */
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* A train of full packets: 16 of 1514 bytes; 12112 ns apart at 1 Gbit/s. */
#define PACKETS		16
#define GAP_NS		12112

/**
 * struct host - the host at the other end, and this host's clock
 * @now: CLOCK_MONOTONIC, ns; it proceeds while poll() waits
 * @sent: full packets
 * @gap: time between two answers of the train, ns, for each train
 * @lost: this answer of each train is lost, from 1 on; 0: none
 * @swapped: each train's last two answers have changed places
 * @silent: the kernel gives no time stamps
 * @queue: sequence numbers of the answers that have come
 * @stamp: when
 * @n: how many came
 * @next: the next one that is read
 */
static struct host {
	uint64_t now;
	unsigned int sent;
	unsigned int gap[8];
	unsigned int lost;
	bool swapped;
	bool silent;
	uint16_t queue[512];
	uint64_t stamp[512];
	unsigned int n;
	unsigned int next;
} host;

static ssize_t host_send(const void *buf, size_t len);
static ssize_t host_recv(struct msghdr *msg);
static int host_poll(int timeout);
static int host_clock(struct timespec *t);

#define sendto(fd, buf, len, flags, to, tolen)	((void)(to), host_send(buf, len))
#define recvmsg(fd, msg, flags)			host_recv(msg)
#define poll(p, n, timeout)			((void)(p), host_poll(timeout))
#define clock_gettime(clock, t)			host_clock(t)

#include "../../tools/aggctl/cmd/ping.c"
#include "../uapi/harness.h"

/* All answers come before the first one is read. */
static ssize_t host_send(const void *buf, size_t len)
{
	const struct request *r = buf;
	unsigned int i = host.sent % PACKETS, train = host.sent / PACKETS;
	uint16_t seq = ntohs(r->icmp.un.echo.sequence);

	if (len < FULL) {
		host.queue[host.n++] = seq;
		return len;
	}
	host.sent++;
	if (i + 1 == host.lost)
		return len;
	host.stamp[host.n] = 1000000000 + i * host.gap[train];
	host.queue[host.n++] = seq;
	if (host.swapped && i == PACKETS - 1) {
		host.queue[host.n - 1]--;
		host.queue[host.n - 2]++;
	}
	return len;
}

static ssize_t host_recv(struct msghdr *msg)
{
	const struct iphdr ip = { .ihl = 5, .saddr = htonl(0x0a000002) };
	struct icmphdr icmp = { .type = ICMP_ECHOREPLY };
	uint64_t ns = host.stamp[host.next];
	const struct timespec t = { ns / 1000000000, ns % 1000000000 };
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);

	icmp.un.echo.id = htons(getpid());
	icmp.un.echo.sequence = htons(host.queue[host.next++]);
	memcpy(msg->msg_iov->iov_base, &ip, sizeof(ip));
	memcpy((char *)msg->msg_iov->iov_base + sizeof(ip), &icmp, sizeof(icmp));
	*c = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(t)),
			       .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_TIMESTAMPNS };
	memcpy(CMSG_DATA(c), &t, sizeof(t));
	msg->msg_controllen = host.silent ? 0 : c->cmsg_len;
	return sizeof(ip) + sizeof(icmp);
}

static int host_poll(int timeout)
{
	host.now += host.next < host.n ? 1000 : timeout * 1000000;
	return host.next < host.n;
}

static int host_clock(struct timespec *t)
{
	t->tv_sec = host.now / 1000000000;
	t->tv_nsec = host.now % 1000000000;
	return 0;
}

FIXTURE(ping) {
	struct in_addr to;
	struct ping result;
};

FIXTURE_SETUP(ping)
{
	self->to.s_addr = htonl(0x0a000002);
	host = (struct host){ .now = 5 };
}

FIXTURE_TEARDOWN(ping)
{
}

/* The reader needs 1 us for an answer, which is 12 Gbit/s. */
TEST_F(ping, rate__is_not_the_readers)
{
	host.gap[0] = GAP_NS;
	ASSERT_EQ(0, ping(-1, self->to, 1, &self->result));
	EXPECT_EQ(1000000000, self->result.rate);
	EXPECT_EQ(1000, self->result.rtt);
}

/* One train met other traffic, and one came from a queue in a burst. */
TEST_F(ping, rate__is_the_median)
{
	const unsigned int gap[] = { 2 * GAP_NS, GAP_NS, 1, GAP_NS, GAP_NS };

	memcpy(host.gap, gap, sizeof(gap));
	ASSERT_EQ(0, ping(-1, self->to, 5, &self->result));
	EXPECT_EQ(1000000000, self->result.rate);
}

TEST_F(ping, rate__of_whole_trains)
{
	host.gap[0] = GAP_NS;
	host.lost = 3;
	ASSERT_EQ(0, ping(-1, self->to, 1, &self->result));
	EXPECT_EQ(0, self->result.rate);
	host.lost = 0;
	host.next = host.n;
	host.swapped = true;
	host.sent = 0;
	ASSERT_EQ(0, ping(-1, self->to, 1, &self->result));
	EXPECT_EQ(0, self->result.rate);
}

TEST_F(ping, rate__without_time_stamps)
{
	host.gap[0] = GAP_NS;
	host.silent = true;
	ASSERT_EQ(0, ping(-1, self->to, 1, &self->result));
	EXPECT_EQ(0, self->result.rate);
}

TEST_HARNESS_MAIN
