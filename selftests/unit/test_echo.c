// SPDX-License-Identifier: GPL-2.0
/* Unit tests of echo requests to several neighbours, in a namespace with two devices that
 * are joined: the other end answers when all neighbours have been asked, or never.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>	/* before those of the kernel */
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/icmp.h>
#include <linux/ip.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "echo.h"
#include "kselftest_harness.h"

#define NEIGHBOURS	8
#define LONG_MS		60000

static const char setup[] =
	"ip link add near type veth peer name far &&"
	"ip link set near address 02:00:00:00:00:01 up &&"
	"ip link set far up && ip address add 10.9.0.1/24 dev near &&"
	"for i in 2 3 4 5 6 7 8 9; do ip neigh add 10.9.0.$i dev near"
	" lladdr 02:00:00:00:00:02; done";

/* A request has left; sockets that were opened later. */
static bool sent;
static unsigned int late;

ssize_t __wrap_send(int fd, const void *data, size_t len, int flags)
{
	sent = true;
	return sendto(fd, data, len, flags, NULL, 0);
}

int __wrap_connect(int fd, const struct sockaddr *to, socklen_t len)
{
	late += sent;
	return (int)syscall(SYS_connect, fd, to, len);
}

FIXTURE(echo) {
	struct echo list[NEIGHBOURS];
	int far;
};

FIXTURE_SETUP(echo)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_IP) };
	size_t i;

	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET))
		SKIP(return, "no namespace: %s", strerror(errno));
	ASSERT_EQ(0, system(setup));
	self->far = socket(AF_PACKET, SOCK_RAW, 0);
	at.sll_ifindex = (int)if_nametoindex("far");
	ASSERT_EQ(0, bind(self->far, (struct sockaddr *)&at, sizeof(at)));
	for (i = 0; i < NEIGHBOURS; i++)
		self->list[i] = (struct echo){
			.device = "near", .result = -ETIMEDOUT, .bytes = 64,
			.to = { htonl(0x0a090002 + (uint32_t)i) },
		};
}

FIXTURE_TEARDOWN(echo)
{
	close(self->far);
}

static void swap(void *a, void *b, size_t len)
{
	uint8_t old[16];

	memcpy(old, a, len);
	memcpy(a, b, len);
	memcpy(b, old, len);
}

/* The requests of all neighbours, then their answers. */
static void *answer(void *arg)
{
	const int far = *(int *)arg;
	uint8_t frame[NEIGHBOURS][256];
	ssize_t len[NEIGHBOURS];
	size_t i;

	for (i = 0; i < NEIGHBOURS; ) {
		uint8_t *ip = frame[i] + sizeof(struct ethhdr);

		len[i] = recv(far, frame[i], sizeof(frame[i]), 0);
		i += len[i] > (ssize_t)(sizeof(struct ethhdr) +
					sizeof(struct iphdr)) &&
		     ip[9] == IPPROTO_ICMP &&
		     ip[sizeof(struct iphdr)] == ICMP_ECHO;
	}
	for (i = 0; i < NEIGHBOURS; i++) {
		uint8_t *ip = frame[i] + sizeof(struct ethhdr);

		swap(frame[i], frame[i] + ETH_ALEN, ETH_ALEN);
		swap(ip + 12, ip + 16, 4);
		ip[sizeof(struct iphdr)] = ICMP_ECHOREPLY;
		if (send(far, frame[i], (size_t)len[i], 0) != len[i])
			perror("far");
	}
	return NULL;
}

TEST_F(echo, all_are_asked_before_one_answers)
{
	pthread_t thread;
	size_t i;

	ASSERT_EQ(0, pthread_create(&thread, NULL, answer, &self->far));
	echo_ask_all(self->list, NEIGHBOURS, LONG_MS);
	pthread_join(thread, NULL);
	for (i = 0; i < NEIGHBOURS; i++)
		EXPECT_EQ(0, self->list[i].result);
}

TEST_F(echo, no_answer)
{
	size_t i;

	self->list[3].result = -EPERM;
	self->list[5].device = "none";
	self->list[6].bytes = 1501;
	self->list[7].bytes = 8;
	echo_ask_all(self->list, NEIGHBOURS, 100);
	for (i = 0; i < NEIGHBOURS; i++)
		EXPECT_EQ(i == 3 ? -EPERM : i == 5 ? -ENODEV :
			  i == 6 ? -EMSGSIZE : i == 7 ? -EINVAL : -ETIMEDOUT,
			  self->list[i].result);
}

/* A socket that is not connected yet would get the ICMP errors of other requests. */
TEST_F(echo, all_are_open_before_one_asks)
{
	echo_ask_all(self->list, NEIGHBOURS, 1);
	EXPECT_TRUE(sent);
	EXPECT_EQ(0, late);
}

TEST_HARNESS_MAIN
