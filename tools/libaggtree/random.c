// SPDX-License-Identifier: GPL-2.0
/* The random generator: splitmix64, so that a seed gives the same plan. */
#include "internal.h"

void aggt_rng_seed(struct aggt_rng *rng, uint64_t seed)
{
	rng->state = seed;
}

uint64_t aggt_rng_next(struct aggt_rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint32_t aggt_rng_below(struct aggt_rng *rng, uint32_t bound)
{
	uint32_t reject = -bound % bound;
	uint64_t product;

	do {
		product = (aggt_rng_next(rng) >> 32) * bound;
	} while ((uint32_t)product < reject);
	return product >> 32;
}
