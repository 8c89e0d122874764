/* SPDX-License-Identifier: GPL-2.0 */
/* Blocked Bloom table, which the benchmark compares with the module's: all
 * positions of an ID lie in one cache line, so a look-up reads only that line.
 */
#ifndef PERF_BLOCKED_H
#define PERF_BLOCKED_H

#include <linux/types.h>
#include <math.h>
#include <stdlib.h>

#define BLOCK_BITS	512u
#define BLOCK_WORDS	(BLOCK_BITS / 64)
#define BLOCKED_MUL	0x9e3779b97f4a7c15ULL

/**
 * struct blocked - the table
 * @seed: random
 * @blocks: a power of two
 * @hashes: positions of an ID
 * @block: the blocks, each a cache line
 */
struct blocked {
	u64 seed;
	u32 blocks;
	u8 hashes;
	u64 (*block)[BLOCK_WORDS];
};

static inline u64 blocked_hash(const struct blocked *b, u64 id)
{
	u64 h = id ^ b->seed;

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93ULL;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93ULL;
	return h ^ h >> 32;
}

/*
 * The low half of the hash selects the block, a sequence of the hash the
 * positions.
 */
static inline u32 blocked_next(u64 *state, u64 h)
{
	*state = *state * BLOCKED_MUL + h;
	return *state >> 55;
}

static inline void blocked_insert(struct blocked *b, u64 id)
{
	u64 h = blocked_hash(b, id), state = h;
	u64 *word = b->block[(u32)h & (b->blocks - 1)];
	u32 i, bit;

	for (i = 0; i < b->hashes; i++) {
		bit = blocked_next(&state, h);
		word[bit / 64] |= 1ULL << bit % 64;
	}
}

static inline bool blocked_test(const struct blocked *b, u64 id)
{
	u64 h = blocked_hash(b, id), state = h;
	const u64 *word = b->block[(u32)h & (b->blocks - 1)];
	u32 i, bit;

	for (i = 0; i < b->hashes; i++) {
		bit = blocked_next(&state, h);
		if (!(word[bit / 64] >> bit % 64 & 1))
			return false;
	}
	return true;
}

/*
 * IDs are distributed over blocks as by Poisson; each block is a small Bloom
 * filter.
 */
static inline double blocked_rate(double bits, double trees, u32 hashes)
{
	double mean = BLOCK_BITS * trees / bits, p = exp(-mean), rate = 0;
	u32 i, most = (u32)(mean + 20 * sqrt(mean) + 20);

	for (i = 0; i < most; p *= mean / ++i)
		rate += p * pow(1 - pow(1 - 1. / BLOCK_BITS, hashes * i),
				hashes);
	return rate;
}

#endif /* PERF_BLOCKED_H */
