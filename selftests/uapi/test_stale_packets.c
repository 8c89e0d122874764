// SPDX-License-Identifier: GPL-2.0
/* An incast ID is used again, and packets of the older instance arrive in every
 * state of the new one: the result is exact. Needs root and the module. SEED=n
 * repeats an order.
 */
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"

#include "../lib/clock.h"
#include "../lib/inet_sum.h"
#include "../lib/random.h"
#include "../lib/stall.h"
#include "line_transfer.h"

#define FRAMES_MAX	256

FIXTURE(line) {
	struct line_transfer t;
	unsigned long long rng;
};

FIXTURE_SETUP(line)
{
	const char *seed = getenv("SEED");

	self->rng = seed ? strtoull(seed, NULL, 0) : 1;
	TH_LOG("seed %llu", self->rng);
	stall_watch();
	ASSERT_EQ(0, transfer_up(&self->t));
}

FIXTURE_TEARDOWN(line)
{
	line_down(&self->t.line);
}

struct frames {
	int fd;
	size_t n;
	struct {
		size_t len;
		bool right;	/* it left by the port on the right */
		uint8_t bytes[2048];
	} frame[FRAMES_MAX];
};

static bool is_ours(const uint8_t *frame, size_t len)
{
	const struct iphdr *iph = (const void *)(frame + sizeof(struct ethhdr));
	const struct udphdr *udp = (const void *)(iph + 1);

	return len >= sizeof(struct ethhdr) + sizeof(*iph) + sizeof(*udp) &&
	       iph->protocol == IPPROTO_UDP &&
	       udp->dest == htons(AGGNET_UDP_PORT);
}

/* Fill in the checksum, which was left to the device. */
static void put_checksum(uint8_t *frame, size_t len)
{
	struct iphdr *iph = (void *)(frame + sizeof(struct ethhdr));
	struct udphdr *udp = (void *)(iph + 1);

	udp->check = 0;
	udp->check = inet_udp_sum(iph, udp, len - sizeof(struct ethhdr) -
				  sizeof(*iph));
}

/* Capture what T has forwarded, in both directions. */
static void capture(struct frames *f)
{
	struct sockaddr_ll from;
	socklen_t size = sizeof(from);
	ssize_t len;

	while (f->n < FRAMES_MAX) {
		len = recvfrom(f->fd, f->frame[f->n].bytes,
			       sizeof(f->frame[0].bytes), MSG_DONTWAIT,
			       (struct sockaddr *)&from, &size);
		if (len < 0)
			break;
		if (from.sll_pkttype != PACKET_OUTGOING ||
		    !is_ours(f->frame[f->n].bytes, len))
			continue;
		put_checksum(f->frame[f->n].bytes, len);
		f->frame[f->n].len = len;
		f->frame[f->n].right = from.sll_ifindex ==
				       (int)if_nametoindex("r");
		f->n++;
	}
}

/*
 * Send all frames again, in random order. Return: how many were sent; -1 on an
 * error other than a narrow link's
 */
static ssize_t replay(struct line_transfer *t, const struct frames *f,
		      unsigned long long *rng)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET };
	ssize_t sent = 0;
	size_t i, k;

	line_enter(&t->line, NODE_T);
	for (i = 0; i < f->n; i++) {
		k = splitmix64(rng) % f->n;
		to.sll_ifindex = (int)if_nametoindex(f->frame[k].right ? "r" :
						     "l");
		if (sendto(f->fd, f->frame[k].bytes, f->frame[k].len, 0,
			   (struct sockaddr *)&to, sizeof(to)) >= 0)
			sent++;
		else if (errno != EMSGSIZE && errno != ENOBUFS)
			return -1;	/* not because of an MTU */
	}
	return sent;
}

static uint64_t refused(struct line_transfer *t)
{
	return transfer_counter(t, NODE_AGG, "drop_epoch_old");
}

/*
 * Wait until the aggregator refuses more than @before. Return: false: it did
 * not
 */
static bool refuses_more(struct line_transfer *t, uint64_t before)
{
	int64_t until = now_ms() + PATIENT;

	while (refused(t) == before && now_ms() < until)
		poll(NULL, 0, 4);
	return refused(t) > before;
}

/*
 * Use the same incast ID again and again, and replay the first transfer's
 * packets.
 */
TEST_F_TIMEOUT(line, late_packets__of_an_older_instance, LONG)
{
	static struct frames f;
	unsigned int i, k;
	uint64_t before;

	self->t.give_up = PATIENT;
	line_enter(&self->t.line, NODE_T);
	f.fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	ASSERT_LE(0, f.fd);
	ASSERT_EQ(NULL, transfer_bring(&self->t, &transfer_states[DONE]));
	ASSERT_TRUE(transfer_reach(&self->t, &transfer_rest, transfer_over));
	line_enter(&self->t.line, NODE_T);
	capture(&f);
	transfer_end(&self->t);
	ASSERT_LT(10, f.n);
	for (i = 0; i < ABORTED; i++) {
		ASSERT_EQ(NULL, transfer_bring(&self->t, &transfer_states[i]));
		before = refused(&self->t);
		ASSERT_LE(0, replay(&self->t, &f, &self->rng));
		if (transfer_states[i].later)
			ASSERT_EQ(0, transfer_join(&self->t, 0));
		transfer_narrow(&self->t, &transfer_states[i], LINE_MTU);
		ASSERT_EQ(f.n, replay(&self->t, &f, &self->rng));
		EXPECT_TRUE(refuses_more(&self->t, before))
			TH_LOG("state %s: nothing was refused",
			       transfer_states[i].name);
		transfer_reach(&self->t, &transfer_rest, transfer_over);
		for (k = 0; k < APPS; k++)
			EXPECT_TRUE(self->t.app[k].over && !self->t.app[k].error)
				TH_LOG("state %s: %s has error %d",
				       transfer_states[i].name, app_name[k],
				       self->t.app[k].error);
		EXPECT_TRUE(transfer_exact(&self->t));
		transfer_end(&self->t);
	}
	TH_LOG("%u tries repeated because the host was slow, %u of them without a stall",
	       self->t.repeated, self->t.unexplained);
	close(f.fd);
}

TEST_HARNESS_MAIN
