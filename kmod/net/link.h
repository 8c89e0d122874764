/* SPDX-License-Identifier: GPL-2.0 */
/* Link: (port, neighbour) and the Bloom table of the incast IDs that leave by it. */
#ifndef _AGGNET_LINK_H
#define _AGGNET_LINK_H

#include <linux/if_ether.h>
#include <linux/list.h>
#include <linux/rcupdate.h>
#include <linux/types.h>
#include <net/dst_cache.h>

struct aggnet_bloom;
struct aggnet_net;
struct aggnet_pkt;
struct netlink_ext_ack;

#define AGGNET_COPIES_MAX	4	/* copies of one packet made at a node */
#define AGGNET_LINKS_MAX	4096	/* of a node: a packet may test all */

/* Destination of frames to an aggnet switch. */
#define AGGNET_GROUP_MAC	{ 0x03, 0xa6, 0x60, 0x00, 0x00, 0x01 }

/**
 * struct aggnet_link - a link and its Bloom table
 * @list: in an->links, RCU
 * @hash: in an->link_hash
 * @an: namespace to which the memory of the link is charged until it is freed
 * @ifindex: port
 * @neighbour: address of the neighbour's port; 0: aggnet switch behind it
 * @lladdr: neighbour's MAC (switch role), else zero
 * @bloom: table of the incast IDs that leave by the link; replaced as it fills
 * @larger: its replacement, while that is filled; under an->lock
 * @old: the replaced table, which may still have readers; under an->lock
 * @capacity: number of members at which it is replaced, 0: never; under an->lock
 * @name: its number in the filters of packets, 0: none
 * @digit: see AGGNET_A_LINK_DIGIT, -1: not known
 * @level: of the port
 * @dst: cached route to the neighbour
 * @rcu: frees it
 */
struct aggnet_link {
	struct list_head list;
	struct hlist_node hash;
	struct aggnet_net *an;
	u32 ifindex;
	__be32 neighbour;
	u8 lladdr[ETH_ALEN];
	struct aggnet_bloom __rcu *bloom;
	struct aggnet_bloom *larger;
	struct aggnet_bloom *old;
	u32 capacity;
	u64 name;
	s16 digit;
	u8 level;
	struct dst_cache dst;
	struct rcu_head rcu;
};

struct aggnet_link_conf {
	u32 ifindex;
	__be32 neighbour;
	u8 lladdr[ETH_ALEN];
	u32 bits;
	u8 hashes;
	u32 capacity;
	u64 name;
	s16 digit;
};

/*
 * All under an->lock, process context. The caller, a plan, has checked that the link
 * may be added or deleted.
 */
int aggnet_link_add(struct aggnet_net *an, const struct aggnet_link_conf *conf,
		    struct netlink_ext_ack *extack);
void aggnet_link_del(struct aggnet_net *an, u32 ifindex, __be32 neighbour);
struct aggnet_link *aggnet_link_find(struct aggnet_net *an, u32 ifindex,
				     __be32 neighbour);
/* Bucket of a link in a hash of links, keyed by a secret of the namespace. */
u32 aggnet_link_bucket(const struct aggnet_net *an, u32 ifindex,
		       __be32 neighbour);
void aggnet_link_del_port(struct aggnet_net *an, u32 ifindex);
void aggnet_link_del_all(struct aggnet_net *an);
u64 aggnet_link_memory(u32 bits);	/* bytes of a link with such a table */
/* The link's table; an->lock is held. */
struct aggnet_bloom *aggnet_link_bloom(const struct aggnet_net *an,
				       const struct aggnet_link *link);

/**
 * aggnet_link_match() - find links whose table has an incast ID
 * @an: namespace
 * @incast_id: job . receiver
 * @ingress: port by which the packet must not leave, 0: none
 * @links: filled with up to AGGNET_COPIES_MAX links
 *
 * RCU read side. Return: number of matches, which may be more than were filled in
 */
unsigned int aggnet_link_match(struct aggnet_net *an, u64 incast_id,
			       u32 ingress,
			       struct aggnet_link *links[AGGNET_COPIES_MAX]);

/**
 * aggnet_link_on_way() - find links by the filter that a packet carries
 * @an: namespace
 * @pkt: the packet, with a filter
 * @ingress: port by which it must not leave
 * @links: filled with up to AGGNET_COPIES_MAX links
 *
 * RCU read side. Return: number of matches, which may be more than were filled in;
 * -ENOENT: no link of this node has a name
 */
int aggnet_link_on_way(struct aggnet_net *an, const struct aggnet_pkt *pkt,
		       u32 ingress,
		       struct aggnet_link *links[AGGNET_COPIES_MAX]);

#endif /* _AGGNET_LINK_H */
