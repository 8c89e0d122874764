// SPDX-License-Identifier: GPL-2.0
/* Counters over netlink. */
#include <net/genetlink.h>

#include "ctl/netlink_gen.h"
#include "netns.h"
#include "stats.h"

static int stats_put(struct sk_buff *skb, const struct aggnet_net *an,
		     unsigned int stat)
{
	struct nlattr *nest = nla_nest_start(skb, AGGNET_A_STATS_ENTRY);

	if (!nest ||
	    nla_put_string(skb, AGGNET_A_STATS_NAME, aggnet_stat_name(stat)) ||
	    nla_put_u64_64bit(skb, AGGNET_A_STATS_VALUE,
			      aggnet_stat_sum(an->stats, stat),
			      AGGNET_A_STATS_PAD))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int stats_fill(struct sk_buff *skb, struct aggnet_net *an,
		      const void *unused)
{
	unsigned int stat;
	int err = 0;

	for (stat = 0; stat < AGGNET_STAT_MAX && !err; stat++)
		err = stats_put(skb, an, stat);
	return err;
}

static size_t stats_entry_size(unsigned int stat)
{
	size_t name = strlen(aggnet_stat_name(stat)) + 1;

	return nla_total_size(nla_total_size_64bit(sizeof(u64)) +
			      nla_total_size(name));
}

static size_t stats_size(void)
{
	size_t size = 0;
	unsigned int stat;

	for (stat = 0; stat < AGGNET_STAT_MAX; stat++)
		size += stats_entry_size(stat);
	return size;
}

int aggnet_nl_stats_get(struct aggnet_net *an, struct genl_info *info)
{
	return aggnet_nl_reply(an, info, stats_size(), stats_fill, NULL);
}
