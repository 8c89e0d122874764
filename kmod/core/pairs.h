/* SPDX-License-Identifier: GPL-2.0 */
/* Pairs: the k least (rank, id) of a key, an id once, by its least rank. */
#ifndef _AGGNET_PAIRS_H
#define _AGGNET_PAIRS_H

#include <linux/types.h>

#include <linux/aggnet_packet.h>

#define AGGNET_K_MAX	64	/* pairs of a key, at most */

/**
 * struct aggnet_pair - a candidate
 * @rank: the less the better
 * @id: whose it is; of equal ranks the less is the better
 */
struct aggnet_pair {
	s64 rank;
	u64 id;
};

/**
 * struct aggnet_pairs - accumulator of AGGNET_KIND_PAIRS
 * @n: how many there are
 * @reserved: 0
 * @pair: the best first; room for k
 */
struct aggnet_pairs {
	u32 n;
	u32 reserved;
	struct aggnet_pair pair[];
};

/**
 * aggnet_pairs_add() - let a candidate in, if it is among the best
 * @pairs: changed in place
 * @k: how many are kept
 * @pair: the candidate
 *
 * Merging is adding all pairs of the other accumulator. The order does not
 * matter: what is left out has k better ones of other ids before it, each of
 * which stays, or makes room for one still better of the same id.
 */
void aggnet_pairs_add(struct aggnet_pairs *pairs, u32 k,
		      const struct aggnet_pair *pair);

/* Bytes of a pair in a value: rank and id, little endian. */
#define AGGNET_PAIR_BYTES	16
/* Pairs that one value has room for. */
#define AGGNET_PAIRS_PART	(AGGNET_VALUE_MAX / AGGNET_PAIR_BYTES)

struct aggnet_pair aggnet_pair_get(const u8 *buf);
void aggnet_pair_put(u8 *buf, const struct aggnet_pair *pair);

#endif /* _AGGNET_PAIRS_H */
