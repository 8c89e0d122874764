// SPDX-License-Identifier: GPL-2.0
/* Bloom table of incast IDs: bits for the data path, counts for deletion. */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/overflow.h>

#include "core/bloom.h"
#include "mem.h"

/**
 * struct probe - walks the positions of an ID
 * @at: next position, before the mask
 * @step: to the one after it
 * @turn: how many have been taken
 *
 * Enhanced double hashing: the step grows, too. With a constant step the positions
 * of two IDs that share two of them may share the others, and sparse filters have
 * several times the false positives of the theory.
 */
struct probe {
	u32 at;
	u32 step;
	u32 turn;
};

static inline struct probe probe_start(const struct aggnet_bloom *b, u64 id)
{
	u64 h = id ^ b->seed;

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93ULL;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93ULL;
	h ^= h >> 32;
	return (struct probe){ .at = (u32)h, .step = (u32)(h >> 32) };
}

static inline u32 probe_next(struct probe *p, const struct aggnet_bloom *b)
{
	u32 bit = p->at & b->mask;

	p->at += p->step;
	p->step += ++p->turn;
	return bit;
}

struct aggnet_bloom *aggnet_bloom_alloc(u32 bits, u8 hashes, u64 seed)
{
	struct aggnet_bloom *b;

	b = aggnet_zalloc(struct_size(b, bits, BITS_TO_LONGS(bits)),
			  GFP_KERNEL_ACCOUNT);
	if (!b)
		return NULL;
	b->count = aggnet_zalloc(array_size(bits, sizeof(*b->count)),
				 GFP_KERNEL_ACCOUNT);
	if (!b->count) {
		aggnet_free(b);
		return NULL;
	}
	b->seed = seed;
	b->mask = bits - 1;
	b->hashes = hashes;
	return b;
}

void aggnet_bloom_free(struct aggnet_bloom *b)
{
	if (!b)
		return;
	aggnet_free(b->count);
	aggnet_free(b);
}

int aggnet_bloom_insert(struct aggnet_bloom *b, u64 incast_id)
{
	struct probe p = probe_start(b, incast_id);
	unsigned int i;
	u32 bit;

	/*
	 * Positions of one ID may coincide: a count must have room for all of them.
	 */
	for (i = 0; i < b->hashes; i++)
		if (b->count[probe_next(&p, b)] > U16_MAX - b->hashes)
			return -ENOSPC;

	p = probe_start(b, incast_id);
	for (i = 0; i < b->hashes; i++) {
		bit = probe_next(&p, b);
		if (!b->count[bit]++)
			set_bit(bit, b->bits);
	}
	b->members++;
	return 0;
}

void aggnet_bloom_delete(struct aggnet_bloom *b, u64 incast_id)
{
	struct probe p = probe_start(b, incast_id);
	unsigned int i;
	u32 bit;

	for (i = 0; i < b->hashes; i++) {
		bit = probe_next(&p, b);
		if (!--b->count[bit])
			clear_bit(bit, b->bits);
	}
	b->members--;
}

bool aggnet_bloom_test(const struct aggnet_bloom *b, u64 incast_id)
{
	struct probe p = probe_start(b, incast_id);
	unsigned int i;

	for (i = 0; i < b->hashes; i++)
		if (!test_bit(probe_next(&p, b), b->bits))
			return false;
	return true;
}

u32 aggnet_bloom_bits_set(const struct aggnet_bloom *b)
{
	return bitmap_weight(b->bits, b->mask + 1);
}
