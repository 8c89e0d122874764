// SPDX-License-Identifier: GPL-2.0
/* A vector on its way up a chain of ends whose links have a rate: how many packets
 * leave, and when the transfer ends. Nothing is lost.
 */
#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "core/packet.h"
#include "world.h"

#include "../../uapi/harness.h"

#define SEED	0x6c696e6b
#define LOWER	42	/* bytes of Ethernet, IP and UDP */
#define PAUSE	10	/* us between two writes of a source */

/**
 * struct links - the packets under way
 * @rate: bits in a microsecond
 * @due: when each of the world's packets arrives
 * @n: packets of which that is known
 * @idle: when the link of a node is idle again: up, down
 * @bytes: that a node has sent up
 * @data: DATA that a node has sent
 * @again: those that it has sent again
 */
struct links {
	u32 rate;
	u64 due[WORLD_PACKETS];
	u32 n;
	u64 idle[WORLD_NODES][2];
	u64 bytes[WORLD_NODES];
	u32 data[WORLD_NODES];
	u32 again[WORLD_NODES];
};

static void enter(struct links *l, const struct packet *p)
{
	u32 from = p->from, to = world.node[from].parent;
	u32 len = p->len + LOWER, up;
	struct aggnet_pkt pkt;
	u64 *idle;

	INSIST(aggnet_parse_header(p->bytes, p->len, &pkt) == AGGNET_PARSE_OK,
	       "a packet without a header");
	up = !pkt.dst || pkt.dst == world.node[to].an.identity;
	idle = &l->idle[from][up];
	*idle = max(*idle, world.us) + len * 8 / l->rate;
	l->due[l->n++] = *idle;
	l->bytes[from] += up * len;
	l->data[from] += pkt.type == AGGNET_DATA;
	l->again[from] += !!(pkt.flags & AGGNET_F_REXMIT);
}

/* The world appends packets, and would lose the first one if there were more. */
static void enter_all(struct links *l)
{
	INSIST(world.packets < WORLD_PACKETS, "too many packets under way");
	while (l->n < world.packets)
		enter(l, world.packet[l->n]);
}

/* Return: the packet that arrives first, or @n */
static u32 first(const struct links *l)
{
	u32 best = 0, i;

	for (i = 1; i < l->n; i++)
		if (l->due[i] < l->due[best])
			best = i;
	return best;
}

static void arrive(struct links *l, u32 i)
{
	l->n--;
	memmove(&l->due[i], &l->due[i + 1], (l->n - i) * sizeof(l->due[0]));
	world_deliver(i);
}

/* Applications do what they can. Return: will one of them write more soon? */
static bool apply(bool *done)
{
	bool more = false;
	u32 i;

	*done = true;
	for (i = 0; i < WORLD_NODES; i++) {
		struct node *n = &world.node[i];

		if (!n->writer_waits)
			world_write(i, 16);
		world_shutdown(i);
		world_look(i);
		more |= n->writes && !n->writer_waits &&
			n->written < world.conf.records;
		*done &= n->tree->state >= AGGNET_TREE_DONE;
	}
	world_work();
	if (!world.node[RECEIVER].reader_waits)
		world_read(16);
	return more;
}

/* Until the next packet, timer or write. */
static void go_on(struct links *l, bool more)
{
	u64 us = more ? PAUSE : WORLD_GIVE_UP * 1000, timer;
	u32 i = first(l);
	bool packet;

	packet = i < l->n && l->due[i] <= world.us + us;
	if (packet)
		us = max(l->due[i], world.us) - world.us;
	if (world_next_timer(&timer) && timer < us) {
		us = timer ?: 1;
		packet = false;
	}
	if (us)
		world_wait(us);
	enter_all(l);
	if (packet)
		arrive(l, i);
}

/* Return: microseconds from the first record to the last DONE */
static u64 transfer(struct links *l, const struct world_conf *conf)
{
	bool done = false, more;
	u64 began;
	u32 i;

	world_start(conf, SEED);
	world.settling = true;
	for (i = 0; i < WORLD_NODES; i++)
		world_add(i);
	began = world.us;
	for (;;) {
		more = apply(&done);
		enter_all(l);
		if (done)
			return world.us - began;
		go_on(l, more);
	}
}

/* Five ends, four of them in a row; each has the whole vector. */
static const struct world_conf chain = {
	.payload = AGGNET_PAYLOAD_USUAL, .memory = 8, .chain = true, .lists = true, .acceptor_writes = true,
	.function = AGGNET_FN_SUM, .vtype = AGGNET_VTYPE_INT64,
	.dense = true, .in_order = true, .records = WORLD_KEYS,
	.keys = WORLD_KEYS,
};

/* Return: bytes of the busiest link */
static u64 check(struct __test_metadata *_metadata, const struct links *l)
{
	u64 most = 0;
	u32 i;

	for (i = 0; i < WORLD_NODES; i++) {
		EXPECT_EQ(0, l->again[i]);
		most = max(most, l->bytes[i]);
		if (i == RECEIVER)
			continue;
		/* Each block leaves once, and in full packets. */
		EXPECT_EQ(WORLD_KEYS, world.node[i].tree->count.records_out);
		EXPECT_GE(world.node[i].tree->count.bytes_out,
			  (l->data[i] - 1) * world.conf.payload * 9 / 10);
	}
	return most;
}

/* A link of 1, 10 or 100 Mbit/s. */
TEST(links__are_busy_until_the_end)
{
	u32 rate;

	for (rate = 1; rate <= 100; rate *= 10) {
		struct links l = { .rate = rate };
		u64 us = transfer(&l, &chain);
		u64 most = check(_metadata, &l) * 8 / rate;

		TH_LOG("%u Mbit/s: %llu us, the busiest link needs %llu", rate,
		       (unsigned long long)us, (unsigned long long)most);
		EXPECT_LE(us, most * 5 / 4);
		world_end();
	}
}

TEST_HARNESS_MAIN
