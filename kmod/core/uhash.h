/* SPDX-License-Identifier: GPL-2.0 */
/* Universal hash: the digest of a body under a secret key. Pure. */
#ifndef _AGGNET_UHASH_H
#define _AGGNET_UHASH_H

#include <linux/siphash.h>
#include <linux/types.h>

#define AGGNET_UHASH_BLOCK	512u	/* bytes of one NH */

/**
 * struct aggnet_uhash_key - key of the hash
 * @nh: added to the words of each block
 * @poly: multiplies once a block; below 2^125, low word first
 * @last: folds the result to 64 bits; each below 2^64 - 257
 */
struct aggnet_uhash_key {
	u64 nh[AGGNET_UHASH_BLOCK / sizeof(u64)];
	u64 poly[2];
	u64 last[2];
};

/**
 * aggnet_uhash_init() - derive the key
 * @hash: set; the caller zeroes it after use
 * @key: of SipHash; its outputs for the inputs of this function are used for nothing
 *	else
 *
 * About 10000 instructions.
 */
void aggnet_uhash_init(struct aggnet_uhash_key *hash, const siphash_key_t *key);

/**
 * aggnet_uhash() - hash a body
 * @hash: the key
 * @data: any alignment
 * @len: bytes, below 2^32
 *
 * For two different bodies the hashes are equal with a probability below 2^-61, over
 * all keys; but the key can be computed from hashes, so a hash is never sent: it is an
 * input of SipHash (Documentation/security.rst). Any context; uses no FPU state.
 */
u64 aggnet_uhash(const struct aggnet_uhash_key *hash, const void *data, size_t len);

#endif /* _AGGNET_UHASH_H */
