/* SPDX-License-Identifier: GPL-2.0 */
/* Pairs: the k least (rank, id) of a key; of each id only the least rank. */
#ifndef _AGGNET_PAIRS_H
#define _AGGNET_PAIRS_H

#include <linux/types.h>

#include <linux/aggnet_packet.h>

#define AGGNET_K_MAX	64	/* pairs of a key, at most */

/**
 * struct aggnet_pair - a candidate
 * @rank: a lower one is better
 * @id: of equal ranks the lower id is better
 */
struct aggnet_pair {
	s64 rank;
	u64 id;
};

/**
 * struct aggnet_pairs - accumulator of AGGNET_KIND_PAIRS
 * @n: number of pairs
 * @reserved: 0
 * @pair: the pairs, the best first; room for k
 */
struct aggnet_pairs {
	u32 n;
	u32 reserved;
	struct aggnet_pair pair[];
};

/**
 * aggnet_pairs_add() - add a candidate if it is among the best
 * @pairs: changed in place
 * @k: most pairs
 * @pair: the candidate
 *
 * To merge, add all pairs of the other accumulator, in any order: a pair that is
 * left out has k better ones of other ids before it, and each of these stays or is
 * replaced by a better one of its id.
 */
void aggnet_pairs_add(struct aggnet_pairs *pairs, u32 k,
		      const struct aggnet_pair *pair);

/* Bytes of a pair in a value: rank and id, little endian. */
#define AGGNET_PAIR_BYTES	16
/* Most pairs of one value. */
#define AGGNET_PAIRS_PART	(AGGNET_VALUE_MAX / AGGNET_PAIR_BYTES)

struct aggnet_pair aggnet_pair_get(const u8 *buf);
void aggnet_pair_put(u8 *buf, const struct aggnet_pair *pair);

#endif /* _AGGNET_PAIRS_H */
