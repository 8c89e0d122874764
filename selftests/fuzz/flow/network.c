// SPDX-License-Identifier: GPL-2.0
/* The network and the clock of the world: a packet arrives at its destination
 * or at another node, or is corrupted or lost.
 */
#include <linux/skbuff.h>

#include "core/packet.h"
#include "world.h"

static struct packet *packet_at(u32 i)
{
	INSIST(i < world.packets, "no such packet");
	return world.packet[i];
}

void world_lose(u32 packet)
{
	struct packet *p = packet_at(packet);

	world.packets--;
	memmove(&world.packet[packet], &world.packet[packet + 1],
		(world.packets - packet) * sizeof(p));
	world.packet[world.packets] = p;
}

/* Index of the node with this identity; identities are consecutive. */
static u32 node_of(__be32 identity)
{
	return ntohl(identity) - ntohl(world.node[0].an.identity);
}

/* Does the node serve it? Decides like the module's receive path. */
static bool arrives(struct node *node, struct aggnet_pkt *pkt,
		    const struct aggnet_hdr *hdr)
{
	world.deliveries++;
	if (!node->tree || pkt->src == node->an.identity)
		return pkt->dst == node->an.identity;
	if (pkt->dst != node->an.identity && pkt->type != AGGNET_OPEN)
		return false;
	return aggnet_tree_rx(node->tree, pkt, hdr);
}

/* Go on from node @at: to the destination, or with an OPEN up the tree. */
static void travels(const struct packet *p, u32 at)
{
	struct aggnet_hdr *hdr = (struct aggnet_hdr *)p->bytes;
	struct aggnet_pkt pkt;
	u32 to;

	if (aggnet_parse_header(p->bytes, p->len, &pkt) != AGGNET_PARSE_OK)
		return;
	pkt.body = p->bytes + sizeof(*hdr);
	if (pkt.dst) {
		to = node_of(pkt.dst);
		if (to < WORLD_NODES)
			arrives(&world.node[to], &pkt, hdr);
		return;
	}
	while (at != RECEIVER && hdr->hop > 1) {
		at = world.node[at].parent;
		pkt.hop = --hdr->hop;
		if (arrives(&world.node[at], &pkt, hdr))
			return;
	}
}

void world_copy(u32 packet)
{
	struct packet copy = *packet_at(packet);

	travels(&copy, copy.from);
}

void world_deliver(u32 packet)
{
	struct packet copy = *packet_at(packet);

	world_lose(packet);
	travels(&copy, copy.from);
}

void world_stray(u32 packet, u32 node)
{
	struct packet copy = *packet_at(packet);
	struct aggnet_pkt pkt;

	if (aggnet_parse_header(copy.bytes, copy.len, &pkt) != AGGNET_PARSE_OK)
		return;
	pkt.body = copy.bytes + sizeof(struct aggnet_hdr);
	arrives(&world.node[node], &pkt, (struct aggnet_hdr *)copy.bytes);
}

/* Flip two bits at the distance that a CRC over so few bytes must detect. */
void world_corrupt(u32 packet, u32 bit)
{
	struct packet *p = packet_at(packet);
	u32 bits = p->len * 8;

	p->bytes[bit % bits / 8] ^= 1 << bit % 8;
	bit = bit * 7 + 13;
	p->bytes[bit % bits / 8] ^= 1 << bit % 8;
	world_deliver(packet);
}

#define TIMERS	3	/* of a node */

static struct timer_list *timer_of(u32 i)
{
	struct aggnet_tree *tree = world.node[i / TIMERS].tree;

	if (!tree)
		return NULL;
	switch (i % TIMERS) {
	case 0:
		return &tree->up.timer;
	case 1:
		return &tree->timer;
	default:
		return &tree->store.cast.timer;
	}
}

bool world_next_timer(u64 *us)
{
	struct timer_list *timer;
	bool found = false;
	u64 left;
	u32 i;

	for (i = 0; i < TIMERS * WORLD_NODES; i++) {
		timer = timer_of(i);
		if (!timer || !timer->pending)
			continue;
		left = time_after(timer->expires, jiffies) ?
		       (timer->expires - jiffies) * (1000000 / HZ) : 0;
		if (!found || left < *us)
			*us = left;
		found = true;
	}
	return found;
}

void world_wait(u32 us)
{
	unsigned long before = world.us / (1000000 / HZ);
	struct timer_list *timer;
	u32 i;

	world.us += us;
	jiffies += world.us / (1000000 / HZ) - before;
	/*
	 * The script may keep a node silent as long as allowed. When the run
	 * settles, each node does all it can at once, and a timeout is an
	 * error.
	 */
	if (!world.settling &&
	    world.us - world.start > WORLD_GIVE_UP * 1000 / 3)
		world.harm = true;
	for (i = 0; i < TIMERS * WORLD_NODES; i++) {
		timer = timer_of(i);
		if (!timer || !timer->pending ||
		    time_after(timer->expires, jiffies))
			continue;
		timer->pending = false;
		timer->function(timer);
	}
}

void world_pass(void)
{
	u64 us;

	if (world.packets)
		world_wait(200);
	else if (world_next_timer(&us))
		world_wait(us);
}
