/* SPDX-License-Identifier: GPL-2.0 */
/* Link: (port, neighbour) and the Bloom table of what leaves by it. */
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
#define AGGNET_LINKS_MAX	4096	/* of a node: a packet may look at all */

/* Where servers send when an aggnet switch is behind the port. */
#define AGGNET_GROUP_MAC	{ 0x03, 0xa6, 0x60, 0x00, 0x00, 0x01 }

/**
 * struct aggnet_link - a link and its Bloom table
 * @list: in an->links, RCU
 * @hash: in an->link_hash
 * @an: namespace, which what the link takes is charged to until it is free
 * @ifindex: port
 * @neighbour: address of the neighbour's port; 0: aggnet switch behind it
 * @lladdr: neighbour's MAC (switch role), else zero
 * @bloom: incast IDs that leave here; replaced by a larger one as it fills
 * @larger: what is to replace it, while it is filled; under an->lock
 * @old: what was replaced and still has readers; under an->lock
 * @capacity: members with which it is replaced, 0: never; under an->lock
 * @name: by which filters of packets know it, 0: by none
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
 * All under an->lock, process context. A link that is added or deleted by itself
 * is a step of a plan, which knows that it may be.
 */
int aggnet_link_add(struct aggnet_net *an, const struct aggnet_link_conf *conf,
		    struct netlink_ext_ack *extack);
void aggnet_link_del(struct aggnet_net *an, u32 ifindex, __be32 neighbour);
struct aggnet_link *aggnet_link_find(struct aggnet_net *an, u32 ifindex,
				     __be32 neighbour);
/* Bucket of a link in a hash of links, by a secret of the namespace. */
u32 aggnet_link_bucket(const struct aggnet_net *an, u32 ifindex,
		       __be32 neighbour);
void aggnet_link_del_port(struct aggnet_net *an, u32 ifindex);
void aggnet_link_del_all(struct aggnet_net *an);
u64 aggnet_link_memory(u32 bits);	/* what a link with such a table takes */
/* Its table; an->lock is held. */
struct aggnet_bloom *aggnet_link_bloom(const struct aggnet_net *an,
				       const struct aggnet_link *link);

/**
 * aggnet_link_match() - links whose table has an incast ID
 * @an: namespace
 * @incast_id: job . receiver
 * @ingress: port that it must not leave by, 0: none
 * @links: filled with up to AGGNET_COPIES_MAX links
 *
 * RCU read side. Return: how many match (may be more than were filled in)
 */
unsigned int aggnet_link_match(struct aggnet_net *an, u64 incast_id,
			       u32 ingress,
			       struct aggnet_link *links[AGGNET_COPIES_MAX]);

/**
 * aggnet_link_on_way() - links that a packet's own filter names
 * @an: namespace
 * @pkt: it, with a filter
 * @ingress: port that it must not leave by
 * @links: filled with up to AGGNET_COPIES_MAX links
 *
 * RCU read side. Return: how many match (may be more than were filled in);
 * -ENOENT: no link of this node has a name
 */
int aggnet_link_on_way(struct aggnet_net *an, const struct aggnet_pkt *pkt,
		       u32 ingress,
		       struct aggnet_link *links[AGGNET_COPIES_MAX]);

#endif /* _AGGNET_LINK_H */
