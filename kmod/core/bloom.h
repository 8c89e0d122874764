/* SPDX-License-Identifier: GPL-2.0 */
/* Bloom table of incast IDs (paper 000, 4.2): plain bits to read, counts to
 * delete. Pure.
 */
#ifndef _AGGNET_BLOOM_H
#define _AGGNET_BLOOM_H

#include <linux/types.h>

/**
 * struct aggnet_bloom - filter of the incast IDs that leave by a link
 * @seed: random, per filter
 * @mask: bits - 1
 * @hashes: hash functions, 1..16
 * @members: IDs inserted
 * @count: control path: how many members set each bit
 * @bits: data path: read without a lock, changed with set_bit/clear_bit
 *
 * Writers are serialised by the caller; readers need nothing but a lifetime.
 */
struct aggnet_bloom {
	u64 seed;
	u32 mask;
	u8 hashes;
	u32 members;
	u16 *count;
	unsigned long bits[];
};

#define AGGNET_BLOOM_BITS_MIN	8u
#define AGGNET_BLOOM_BITS_MAX	67108864u
#define AGGNET_BLOOM_HASHES_MAX	16

/* @bits: a power of two. May sleep. NULL: no memory. */
struct aggnet_bloom *aggnet_bloom_alloc(u32 bits, u8 hashes, u64 seed);
void aggnet_bloom_free(struct aggnet_bloom *b);
/* Return: 0, -ENOSPC: a count is full, nothing changed. Insert each ID once only. */
int aggnet_bloom_insert(struct aggnet_bloom *b, u64 incast_id);
/* Delete only an ID that was inserted: the counts of others would be wrong. */
void aggnet_bloom_delete(struct aggnet_bloom *b, u64 incast_id);
bool aggnet_bloom_test(const struct aggnet_bloom *b, u64 incast_id);
u32 aggnet_bloom_bits_set(const struct aggnet_bloom *b);

#endif /* _AGGNET_BLOOM_H */
