/* SPDX-License-Identifier: GPL-2.0 */
/* Host: what a tree needs of the node that it is on. The module has it in net/ and
 * ctl/, the simulated world of the tests has its own. Memory accounts are in
 * netns.h.
 */
#ifndef _AGGNET_HOST_H
#define _AGGNET_HOST_H

#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/types.h>

#include <linux/aggnet.h>

struct aggnet_net;
struct aggnet_pkt;
struct aggnet_run;
struct aggnet_tree;

/**
 * enum aggnet_way - path by which a packet leaves
 * @AGGNET_WAY_UP: along the tree's planned link, IP destination the receiver
 * @AGGNET_WAY_ROUND: plain IP to the acceptor in the header, which is not on the
 *	planned path; as if no link of the tree could be used
 * @AGGNET_WAY_DIRECT: plain IP to the identity in the header
 */
enum aggnet_way { AGGNET_WAY_UP, AGGNET_WAY_ROUND, AGGNET_WAY_DIRECT };

/**
 * aggnet_host_make() - build one packet
 * @tree: its tree (identity, key)
 * @run: the packet is put on its list, which aggnet_host_transmit() sends
 * @pkt: header fields; src, incast ID, epoch, length, F_TAG are filled in, and
 *	the tree's filter, if it goes up and the tree has one
 * @body: what follows the header, @pkt->length bytes
 * @digest: aggnet_digest() of @body, or NULL to have it computed
 * @way: path by which the packet leaves
 *
 * Under the tree's lock, BH. Without memory nothing is queued and the loss is
 * counted; the packet is retransmitted later, as if the network had lost it.
 */
void aggnet_host_make(struct aggnet_tree *tree, struct aggnet_run *run,
		      struct aggnet_pkt *pkt, const void *body,
		      const u64 *digest, enum aggnet_way way);

/**
 * aggnet_host_transmit() - send the packets of a run
 * @tree: the tree of all packets on the list; referenced or under RCU
 * @run: its list is emptied
 *
 * BH disabled, no aggnet lock held.
 */
void aggnet_host_transmit(struct aggnet_tree *tree, struct aggnet_run *run);

/* Wake all local members of a tree; its lock is held. */
void aggnet_host_wake(struct aggnet_tree *tree);

/* Raise an event of a tree; its lock is held, so this does not sleep. */
void aggnet_host_notify(struct aggnet_tree *tree, enum aggnet_event kind);

/**
 * aggnet_host_payload() - bytes of records that fit a packet
 * @an: namespace
 * @ifindex: port of the planned link, whose MTU limits the packet
 * @receiver: the MTU of the first link of the route there limits it, too
 * @filter: bytes of the filter that packets carry
 *
 * Process context.
 */
u32 aggnet_host_payload(struct aggnet_net *an, u32 ifindex, __be32 receiver,
			u32 filter);
/* Bytes of records in the longest packet that any port may receive. */
u32 aggnet_host_payload_max(struct aggnet_net *an);

static inline u32 aggnet_clock_us(void)
{
	return (u32)div_u64(ktime_get_ns(), NSEC_PER_USEC);
}

#endif /* _AGGNET_HOST_H */
