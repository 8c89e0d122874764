/* SPDX-License-Identifier: GPL-2.0 */
/* Per-CPU counters of a namespace: one list names them all. */
#ifndef _AGGNET_STATS_H
#define _AGGNET_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

/*
 * A counter is named once, here. Those that begin with "drop_" are the reasons
 * for which a packet of ours is not served; each cause has its own.
 */
#define AGGNET_STATS(X)							\
	X(rx_packets)		/* packets of ours seen by the hook */	\
	X(rx_local)		/* of them, handled on this node */	\
	X(tx_packets)		/* packets made by this node */		\
	X(tx_retransmits)	/* DATA sent again */			\
	X(forwarded)		/* sent on along a planned link */	\
	X(forwarded_bloom)	/* sent on by a Bloom table */		\
	X(bloom_grown)		/* Bloom tables made anew, larger */	\
	X(bloom_crowded)	/* of them, those that could not be */	\
	X(forwarded_filter)	/* sent on by the packet's own filter */ \
	X(filter_spent)		/* its filter named no usable link here */ \
	X(passed)		/* left to plain IP routing */		\
	X(merged_packets)	/* DATA merged */			\
	X(merged_records)	/* records merged */			\
	X(duplicates)		/* DATA that had been merged before */	\
	X(misforwarded)		/* copies that a false positive made */	\
	X(drop_truncated)	/* shorter than it says, or than a header */ \
	X(drop_length)		/* length fields disagree */		\
	X(drop_version)		/* other wire version */		\
	X(drop_type)		/* unknown packet type */		\
	X(drop_flags)		/* unknown flag of the refuse kind */	\
	X(drop_udp_csum)	/* UDP checksum absent or wrong */	\
	X(drop_fragment)	/* IP fragment */			\
	X(drop_identity)	/* header identity is not the IP source */ \
	X(drop_no_tree)		/* for this node, but there is no entry */ \
	X(drop_tag)		/* CRC or keyed tag is wrong or missing */ \
	X(drop_epoch_old)	/* older epoch (answered with RST) */	\
	X(drop_epoch_new)	/* newer epoch (entry not here yet) */	\
	X(drop_child)		/* child is not on the list */		\
	X(drop_nonce)		/* nonce of another incarnation */	\
	X(drop_peer)		/* not from the bound acceptor */	\
	X(drop_function)	/* function or value type differs */	\
	X(drop_body)		/* body or records malformed */		\
	X(drop_filter)		/* filter malformed, or where none may be */ \
	X(drop_window)		/* sequence outside window or credit */	\
	X(drop_memory)		/* no room although credited, or no skb */ \
	X(drop_state)		/* type does not fit the state */	\
	X(drop_hop)		/* hop field used up */			\
	X(drop_ttl)		/* IP TTL used up */			\
	X(drop_link)		/* planned link unusable */		\
	X(drop_bloom_miss)	/* no Bloom table matches */		\
	X(drop_copies)		/* more copies than allowed */		\
	X(drop_mtu)		/* larger than the next link's MTU */	\
	X(drop_local_out)	/* not made by the module, but forged */	\
	X(drop_role)		/* not for a node of this role */	\
	X(drop_route)		/* plain IP: not to one other host */	\
	X(drop_policy)		/* an IPsec policy refuses it */	\
	X(passed_policy)	/* an IPsec policy applies: left to IP */

enum aggnet_stat {
#define X(name) AGGNET_STAT_##name,
	AGGNET_STATS(X)
#undef X
	AGGNET_STAT_MAX
};

struct aggnet_stats {
	u64 value[AGGNET_STAT_MAX];
};

/* Any context. On 32 bit a reader may see half of one; counters are advisory. */
#define aggnet_stat_add(an, name, n) \
	this_cpu_add((an)->stats->value[AGGNET_STAT_##name], (n))
#define aggnet_stat_inc(an, name)	aggnet_stat_add(an, name, 1)

const char *aggnet_stat_name(unsigned int stat);
u64 aggnet_stat_sum(const struct aggnet_stats __percpu *stats,
		    unsigned int stat);

#endif /* _AGGNET_STATS_H */
