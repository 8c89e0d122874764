/* SPDX-License-Identifier: GPL-2.0 */
/* Per-CPU counters of a namespace: one list names them all. */
#ifndef _AGGNET_STATS_H
#define _AGGNET_STATS_H

#include <linux/percpu.h>
#include <linux/types.h>

/*
 * Each counter is named once, here. Each cause for which a packet of the protocol is
 * not served has a counter of its own, which begins with "drop_".
 */
#define AGGNET_STATS(X)							\
	X(rx_packets)		/* the protocol's, seen by the hook */	\
	X(rx_local)		/* of these, handled on this node */	\
	X(tx_packets)		/* packets made by this node */		\
	X(tx_retransmits)	/* DATA sent again */			\
	X(forwarded)		/* sent on along a planned link */	\
	X(forwarded_bloom)	/* sent on by a Bloom table */		\
	X(bloom_grown)		/* Bloom tables that were enlarged */	\
	X(bloom_crowded)	/* Bloom tables that could not be */	\
	X(forwarded_filter)	/* sent on by the packet's own filter */ \
	X(filter_spent)		/* the packet's filter has no usable link */ \
	X(passed)		/* left to plain IP routing */		\
	X(merged_packets)	/* DATA merged */			\
	X(merged_records)	/* records merged */			\
	X(duplicates)		/* DATA that had been merged before */	\
	X(misforwarded)		/* copies that a false positive made */	\
	X(drop_truncated)	/* shorter than a header, or than its length */ \
	X(drop_length)		/* length fields disagree */		\
	X(drop_version)		/* other wire version */		\
	X(drop_type)		/* unknown packet type */		\
	X(drop_flags)		/* unknown flag of the refuse kind */	\
	X(drop_udp_csum)	/* UDP checksum absent or wrong */	\
	X(drop_fragment)	/* IP fragment */			\
	X(drop_identity)	/* header identity is not the IP source */ \
	X(drop_no_tree)		/* addressed to this node, without an entry */ \
	X(drop_tag)		/* CRC or keyed tag is wrong or missing */ \
	X(drop_epoch_old)	/* older epoch (answered with RST) */	\
	X(drop_epoch_new)	/* newer epoch than the entry's */	\
	X(drop_child)		/* child is not on the list */		\
	X(drop_nonce)		/* nonce of another incarnation */	\
	X(drop_peer)		/* not from the bound acceptor */	\
	X(drop_function)	/* function or value type differs */	\
	X(drop_body)		/* body or records malformed */		\
	X(drop_filter)		/* filter malformed or not allowed */	\
	X(drop_window)		/* sequence outside window or credit */	\
	X(drop_memory)		/* no room in spite of credit, or no skb */ \
	X(drop_state)		/* type does not fit the state */	\
	X(drop_round)		/* of another round of a persistent tree */ \
	X(drop_hop)		/* hop field used up */			\
	X(drop_ttl)		/* IP TTL used up */			\
	X(drop_link)		/* planned link unusable */		\
	X(drop_bloom_miss)	/* no Bloom table matches */		\
	X(drop_copies)		/* more copies than allowed */		\
	X(drop_mtu)		/* larger than the next link's MTU */	\
	X(drop_local_out)	/* forged by a process of this host */	\
	X(drop_role)		/* not for a node of this role */	\
	X(drop_route)		/* by plain IP it would reach no one host */ \
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

/* Any context. A 32-bit reader may see a torn value; counters are advisory. */
#define aggnet_stat_add(an, name, n) \
	this_cpu_add((an)->stats->value[AGGNET_STAT_##name], (n))
#define aggnet_stat_inc(an, name)	aggnet_stat_add(an, name, 1)

const char *aggnet_stat_name(unsigned int stat);
u64 aggnet_stat_sum(const struct aggnet_stats __percpu *stats,
		    unsigned int stat);

#endif /* _AGGNET_STATS_H */
