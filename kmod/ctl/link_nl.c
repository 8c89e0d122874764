// SPDX-License-Identifier: GPL-2.0
/* Links over netlink. */
#include <linux/etherdevice.h>
#include <linux/log2.h>

#include "core/bloom.h"
#include "ctl/netlink_gen.h"
#include "ctl/plan.h"
#include "net/link.h"
#include "netns.h"

static int link_fill(struct sk_buff *skb, struct aggnet_net *an,
		     const void *object)
{
	const struct aggnet_link *link = object;
	const struct aggnet_bloom *bloom = aggnet_link_bloom(an, link);

	if (nla_put_u32(skb, AGGNET_A_LINK_IFINDEX, link->ifindex) ||
	    nla_put_u32(skb, AGGNET_A_LINK_BITS, bloom->mask + 1) ||
	    nla_put_u8(skb, AGGNET_A_LINK_HASHES, bloom->hashes) ||
	    nla_put_u32(skb, AGGNET_A_LINK_CAPACITY, link->capacity) ||
	    nla_put_u32(skb, AGGNET_A_LINK_TREES, bloom->members) ||
	    nla_put_u32(skb, AGGNET_A_LINK_BITS_SET,
			aggnet_bloom_bits_set(bloom)))
		return -EMSGSIZE;
	if (link->name &&
	    nla_put_u64_64bit(skb, AGGNET_A_LINK_NAME, link->name,
			      AGGNET_A_LINK_PAD))
		return -EMSGSIZE;
	if (link->digit >= 0 &&
	    nla_put_u8(skb, AGGNET_A_LINK_DIGIT, link->digit))
		return -EMSGSIZE;
	if (link->neighbour &&
	    nla_put_in_addr(skb, AGGNET_A_LINK_NEIGHBOUR, link->neighbour))
		return -EMSGSIZE;
	if (!is_zero_ether_addr(link->lladdr) &&
	    nla_put(skb, AGGNET_A_LINK_LLADDR, ETH_ALEN, link->lladdr))
		return -EMSGSIZE;
	return 0;
}

static int link_read_key(struct genl_info *info, struct aggnet_link_conf *conf)
{
	struct nlattr *neigh = info->attrs[AGGNET_A_LINK_NEIGHBOUR];
	int err = aggnet_nl_required(info, AGGNET_A_LINK_IFINDEX);

	if (err)
		return err;
	conf->ifindex = nla_get_u32(info->attrs[AGGNET_A_LINK_IFINDEX]);
	conf->neighbour = neigh ? nla_get_in_addr(neigh) : 0;
	return 0;
}

static int link_read_filter(struct genl_info *info,
			    struct aggnet_link_conf *conf)
{
	struct nlattr *bits = info->attrs[AGGNET_A_LINK_BITS];
	struct nlattr *hashes = info->attrs[AGGNET_A_LINK_HASHES];
	struct nlattr *capacity = info->attrs[AGGNET_A_LINK_CAPACITY];

	/* A table of a given size does not grow, unless a capacity is given, too. */
	if (capacity)
		conf->capacity = nla_get_u32(capacity);
	else if (!bits)
		conf->capacity = AGGNET_LINK_CAPACITY_DEFAULT;
	conf->bits = bits ? nla_get_u32(bits) : AGGNET_LINK_BITS_DEFAULT;
	conf->hashes = hashes ? nla_get_u8(hashes) : AGGNET_LINK_HASHES_DEFAULT;
	if (!is_power_of_2(conf->bits) || conf->bits < AGGNET_BLOOM_BITS_MIN ||
	    conf->bits > AGGNET_BLOOM_BITS_MAX)
		return AGGNET_REFUSE(info, AGGNET_A_LINK_BITS, -EINVAL,
				     "bits must be a power of 2 from 8 to 67108864");
	return 0;
}

/* The link's number in the filters of packets. */
static int link_read_name(struct genl_info *info, struct aggnet_link_conf *conf)
{
	struct nlattr *name = info->attrs[AGGNET_A_LINK_NAME];
	struct nlattr *digit = info->attrs[AGGNET_A_LINK_DIGIT];

	conf->name = name ? nla_get_u64(name) : 0;
	conf->digit = digit ? nla_get_u8(digit) : -1;
	if (digit && !name)
		return AGGNET_REFUSE(info, AGGNET_A_LINK_DIGIT, -EINVAL,
				     "a digit is for links that have a name");
	return 0;
}

static int link_read_lladdr(struct aggnet_net *an, struct genl_info *info,
			    struct aggnet_link_conf *conf)
{
	struct nlattr *lladdr = info->attrs[AGGNET_A_LINK_LLADDR];

	if (an->role == AGGNET_ROLE_SERVER)
		return !lladdr ? 0 :
		       AGGNET_REFUSE(info, AGGNET_A_LINK_LLADDR, -EINVAL,
				     "lladdr is for switches: a server asks its neighbour table");
	if (!lladdr)
		return aggnet_nl_required(info, AGGNET_A_LINK_LLADDR);
	nla_memcpy(conf->lladdr, lladdr, ETH_ALEN);
	if (!is_valid_ether_addr(conf->lladdr))
		return AGGNET_REFUSE(info, AGGNET_A_LINK_LLADDR, -EINVAL,
				     "lladdr is not a unicast address");
	return 0;
}

static int link_step(struct aggnet_net *an, struct genl_info *info,
		     enum aggnet_step_kind kind,
		     const struct aggnet_link_conf *conf)
{
	struct aggnet_step *step = aggnet_step_alloc(kind, info->attrs);

	if (!step)
		return -ENOMEM;
	step->link = *conf;
	return aggnet_plan_step(an, info, step);
}

int aggnet_nl_link_add(struct aggnet_net *an, struct genl_info *info)
{
	struct aggnet_link_conf conf = { };

	return link_read_key(info, &conf) ?: link_read_filter(info, &conf) ?:
	       link_read_name(info, &conf) ?:
	       link_read_lladdr(an, info, &conf) ?:
	       link_step(an, info, AGGNET_STEP_LINK_ADD, &conf);
}

int aggnet_nl_link_del(struct aggnet_net *an, struct genl_info *info)
{
	struct aggnet_link_conf conf = { };

	return link_read_key(info, &conf) ?:
	       link_step(an, info, AGGNET_STEP_LINK_DEL, &conf);
}

int aggnet_nl_link_walk(struct sk_buff *skb, struct netlink_callback *cb,
			struct aggnet_net *an)
{
	const struct aggnet_link *link;
	long pos = 0;
	int err;

	list_for_each_entry(link, &an->links, list) {
		if (pos++ < cb->args[0])
			continue;
		err = aggnet_nl_dump_one(skb, cb, an, link_fill, link);
		if (err)
			return err;
		cb->args[0] = pos;
	}
	return 0;
}
