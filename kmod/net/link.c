// SPDX-License-Identifier: GPL-2.0
/* Link: (port, neighbour) and the Bloom table of the incast IDs that leave by it. */
#include <linux/etherdevice.h>
#include <linux/log2.h>
#include <linux/netlink.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/siphash.h>

#include "core/bloom.h"
#include "core/filter.h"
#include "core/packet.h"
#include "net/link.h"
#include "net/port.h"
#include "mem.h"
#include "netns.h"

/* Bytes of a Bloom table: its bits, and a count for each bit. */
u64 aggnet_link_memory(u32 bits)
{
	return sizeof(struct aggnet_link) + bits / 8 + bits * sizeof(u16);
}

struct aggnet_bloom *aggnet_link_bloom(const struct aggnet_net *an,
				       const struct aggnet_link *link)
{
	return rcu_dereference_protected(link->bloom,
					 lockdep_is_held(&an->lock));
}

static void link_free_rcu(struct rcu_head *rcu)
{
	struct aggnet_link *link = container_of(rcu, struct aggnet_link, rcu);
	struct aggnet_net *an = link->an;
	struct aggnet_bloom *bloom;
	u64 bytes;

	/* Free a link that no reader can reach any more. */
	bloom = rcu_dereference_protected(link->bloom, true);
	bytes = aggnet_link_memory(bloom->mask + 1);
	aggnet_bloom_free(bloom);
	dst_cache_destroy(&link->dst);
	aggnet_free(link);
	/*
	 * Uncharge after the memory is freed, or will be as soon as a work item
	 * of vfree() has run. The exit of @an waits for this.
	 */
	aggnet_memory_uncharge(an, bytes);
}

static void link_remove(struct aggnet_net *an, struct aggnet_link *link)
{
	lockdep_assert_held(&an->lock);
	list_del_rcu(&link->list);
	hlist_del(&link->hash);
	call_rcu(&link->rcu, link_free_rcu);
}

static bool link_room(const struct aggnet_net *an)
{
	const struct list_head *pos;
	u32 n = 0;

	list_for_each(pos, &an->links)
		n++;
	return n < AGGNET_LINKS_MAX;
}

static int link_memory_check(struct aggnet_net *an,
			     const struct aggnet_link_conf *conf,
			     struct netlink_ext_ack *extack)
{
	switch (aggnet_memory_room(an, aggnet_link_memory(conf->bits))) {
	case AGGNET_ROOM:
		return 0;
	case AGGNET_ROOM_NODE:
		NL_SET_ERR_MSG(extack,
			       "Bloom table does not fit the node's memory limit");
		return -ENOSPC;
	case AGGNET_ROOM_TENANT:
		NL_SET_ERR_MSG(extack,
			       "the host lets one namespace have no more memory: no room for this Bloom table");
		return -ENOSPC;
	default:
		NL_SET_ERR_MSG(extack,
			       "Bloom table does not fit the host's ceiling, the memory limit of the initial namespace");
		return -ENOSPC;
	}
}

static struct aggnet_link *link_alloc(struct aggnet_net *an,
				      const struct aggnet_link_conf *conf)
{
	struct aggnet_bloom *bloom;
	struct aggnet_link *link;

	link = aggnet_zalloc(sizeof(*link), GFP_KERNEL_ACCOUNT);
	if (!link)
		return NULL;
	if (aggnet_mem_fails() ||
	    dst_cache_init(&link->dst, GFP_KERNEL_ACCOUNT))
		goto free;
	bloom = aggnet_bloom_alloc(conf->bits, conf->hashes, get_random_u64());
	if (!bloom)
		goto free_dst;
	/* Another namespace may have used the room meanwhile. */
	if (!aggnet_memory_charge(an, aggnet_link_memory(conf->bits)))
		goto free_bloom;
	link->an = an;
	RCU_INIT_POINTER(link->bloom, bloom);
	return link;

free_bloom:
	aggnet_bloom_free(bloom);
free_dst:
	dst_cache_destroy(&link->dst);
free:
	aggnet_free(link);
	return NULL;
}

int aggnet_link_add(struct aggnet_net *an, const struct aggnet_link_conf *conf,
		    struct netlink_ext_ack *extack)
{
	u32 bucket = aggnet_link_bucket(an, conf->ifindex, conf->neighbour);
	int level = aggnet_port_level(an, conf->ifindex);
	struct aggnet_link *link;
	int err;

	lockdep_assert_held(&an->lock);
	if (level < 0) {
		NL_SET_ERR_MSG(extack, "port is not attached");
		return level;
	}
	if (!link_room(an)) {
		NL_SET_ERR_MSG(extack, "a node has 4096 links at most");
		return -ENOSPC;
	}
	err = link_memory_check(an, conf, extack);
	if (err)
		return err;
	link = link_alloc(an, conf);
	if (!link) {
		NL_SET_ERR_MSG(extack, "no memory for the Bloom table");
		return -ENOMEM;
	}
	link->capacity = conf->capacity;
	link->ifindex = conf->ifindex;
	link->neighbour = conf->neighbour;
	ether_addr_copy(link->lladdr, conf->lladdr);
	link->name = conf->name;
	link->digit = conf->digit;
	link->level = level;
	list_add_tail_rcu(&link->list, &an->links);
	hlist_add_head(&link->hash, &an->link_hash[bucket]);
	return 0;
}

void aggnet_link_del(struct aggnet_net *an, u32 ifindex, __be32 neighbour)
{
	struct aggnet_link *link = aggnet_link_find(an, ifindex, neighbour);

	if (!WARN_ON_ONCE(!link || aggnet_link_bloom(an, link)->members))
		link_remove(an, link);
}

u32 aggnet_link_bucket(const struct aggnet_net *an, u32 ifindex,
		       __be32 neighbour)
{
	return siphash_1u64((u64)ifindex << 32 | (__force u32)neighbour,
			    &an->secret) % AGGNET_LINK_BUCKETS;
}

struct aggnet_link *aggnet_link_find(struct aggnet_net *an, u32 ifindex,
				     __be32 neighbour)
{
	u32 bucket = aggnet_link_bucket(an, ifindex, neighbour);
	struct aggnet_link *link;

	lockdep_assert_held(&an->lock);
	hlist_for_each_entry(link, &an->link_hash[bucket], hash)
		if (link->ifindex == ifindex && link->neighbour == neighbour)
			return link;
	return NULL;
}

void aggnet_link_del_port(struct aggnet_net *an, u32 ifindex)
{
	struct aggnet_link *link, *tmp;

	lockdep_assert_held(&an->lock);
	list_for_each_entry_safe(link, tmp, &an->links, list) {
		cond_resched();
		if (link->ifindex == ifindex)
			link_remove(an, link);
	}
}

void aggnet_link_del_all(struct aggnet_net *an)
{
	struct aggnet_link *link, *tmp;

	lockdep_assert_held(&an->lock);
	list_for_each_entry_safe(link, tmp, &an->links, list) {
		cond_resched();
		link_remove(an, link);
	}
}

unsigned int aggnet_link_match(struct aggnet_net *an, u64 incast_id,
			       u32 ingress,
			       struct aggnet_link *links[AGGNET_COPIES_MAX])
{
	struct aggnet_link *link;
	unsigned int n = 0;

	list_for_each_entry_rcu(link, &an->links, list) {
		if (link->ifindex == ingress ||
		    !aggnet_bloom_test(rcu_dereference(link->bloom),
				       incast_id))
			continue;
		if (n < AGGNET_COPIES_MAX)
			links[n] = link;
		n++;
	}
	return n;
}

/*
 * If the filter has the receiver's digits, test only links that lead to the digit of
 * their level. An aggnet switch leads to all digits but this server's own.
 */
static bool link_leads(const struct aggnet_link *link,
		       const struct aggnet_filter *filter)
{
	int digit = aggnet_filter_digit(filter, link->level);

	if (digit < 0 || link->digit < 0)
		return true;
	return (link->digit == digit) == !!link->neighbour;
}

int aggnet_link_on_way(struct aggnet_net *an, const struct aggnet_pkt *pkt,
		       u32 ingress,
		       struct aggnet_link *links[AGGNET_COPIES_MAX])
{
	u64 key = aggnet_filter_key(pkt->incast_id, pkt->filter->salt);
	struct aggnet_link *link;
	bool named = false;
	int n = 0;

	list_for_each_entry_rcu(link, &an->links, list) {
		named |= link->name;
		if (!link->name || link->ifindex == ingress ||
		    !link_leads(link, pkt->filter) ||
		    !aggnet_filter_test(pkt->filter, key, link->name))
			continue;
		if (n < AGGNET_COPIES_MAX)
			links[n] = link;
		n++;
	}
	return named ? n : -ENOENT;
}
