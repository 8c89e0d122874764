// SPDX-License-Identifier: GPL-2.0
/* Functions that the module's files need from its other files and the kernel:
 * memory accounts, events, and sending packets, which enter the world.
 */
#include <linux/skbuff.h>

#include "core/accum.h"
#include "core/packet.h"
#include "core/tag.h"
#include "flow/channel.h"
#include "flow/host.h"
#include "world.h"

unsigned long jiffies;

u64 ktime_get_ns(void)
{
	return world.us * 1000;
}

bool aggnet_memory_charge(struct aggnet_net *an, u64 bytes)
{
	if (world.full)
		return false;
	atomic64_add(bytes, &an->memory_used);
	return true;
}

enum aggnet_room aggnet_memory_room(struct aggnet_net *an, u64 bytes)
{
	return AGGNET_ROOM;
}

void aggnet_memory_uncharge(struct aggnet_net *an, u64 bytes)
{
	atomic64_sub(bytes, &an->memory_used);
	INSIST(atomic64_read(&an->memory_used) >= 0,
	       "more memory given back than taken");
}

void aggnet_host_wake(struct aggnet_tree *tree)
{
	struct node *node = container_of(tree->an, struct node, an);

	INSIST(tree->lock.held, "sockets are woken without the lock");
	world.wakes++;
	node->wakes++;
	node->writer_waits = false;
	node->reader_waits = false;
}

void aggnet_host_notify(struct aggnet_tree *tree, enum aggnet_event kind)
{
	world.epochs += kind == AGGNET_EVENT_EPOCH;
}

u32 aggnet_host_payload(struct aggnet_net *an, u32 ifindex, __be32 receiver,
			u32 filter)
{
	return world.conf.payload;
}

u32 aggnet_host_payload_max(struct aggnet_net *an)
{
	return AGGNET_PAYLOAD_USUAL;
}

/* Add the cost of packing new packets, by the module's own estimate. */
static void count_cost(struct aggnet_tree *tree, struct aggnet_run *run,
		       const struct aggnet_pkt *pkt, const void *body)
{
	const struct aggnet_data *data = body;
	u32 cost;

	if (pkt->type != AGGNET_DATA || pkt->flags & AGGNET_F_REXMIT)
		return;
	cost = be16_to_cpu(data->records) *
	       aggnet_accum_cost(&tree->conf.shape) +
	       2 * (pkt->length - sizeof(*data));
	run->packets.cost += cost;
	run->packets.dearest = max(run->packets.dearest, cost);
}

void aggnet_host_make(struct aggnet_tree *tree, struct aggnet_run *run,
		      struct aggnet_pkt *pkt, const void *body,
		      const u64 *digest, enum aggnet_way way)
{
	struct node *node = container_of(tree->an, struct node, an);
	const struct aggnet_secret *key = pkt->key ?: &tree->conf.key;
	struct aggnet_hdr *hdr;
	struct packet *p;

	INSIST(tree->lock.held, "a packet is made without the lock");
	if (node->mute || world.no_packet) {
		world.no_packet = false;
		return;
	}
	if (world.packets == WORLD_PACKETS)
		world_lose(0);
	p = world.packet[world.packets++];
	pkt->src = tree->an->identity;
	pkt->incast_id = tree->conf.incast_id;
	pkt->instance = tree->conf.instance;
	pkt->attempt = tree->conf.attempt;
	if (key->keyed)
		pkt->flags |= AGGNET_F_TAG;
	p->from = node - world.node;
	p->way = way;
	p->len = sizeof(*hdr) + pkt->length;
	INSIST(p->len <= sizeof(p->bytes), "a packet is too long");
	hdr = (struct aggnet_hdr *)p->bytes;
	aggnet_put_header(hdr, pkt);
	if (pkt->length)
		memcpy(hdr + 1, body, pkt->length);
	hdr->tag = cpu_to_be64(aggnet_tag(key, hdr, digest ? *digest :
					  aggnet_digest(key, hdr + 1,
							pkt->length)));
	if (world.made)
		world.made(pkt);
	run->packets.qlen++;
	run->packets.data += pkt->type == AGGNET_DATA;
	count_cost(tree, run, pkt, body);
}

void aggnet_host_transmit(struct aggnet_tree *tree, struct aggnet_run *run)
{
	INSIST(!tree->lock.held, "packets are sent under the lock");
	INSIST(run->packets.data <= AGGNET_BURST,
	       "a run of the lock makes too many DATA");
	INSIST(run->packets.cost < AGGNET_COST_MAX + run->packets.dearest,
	       "a run of the lock packs for too long");
	/*
	 * Besides the packets that are limited it may send an answer, PROBE,
	 * FIN or ABORT.
	 */
	INSIST(run->packets.qlen <= AGGNET_PACKETS + 4,
	       "a run of the lock makes too many packets");
	world_ran(tree);
	if (world.ran)
		world.ran(tree);
}
