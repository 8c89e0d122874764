// SPDX-License-Identifier: GPL-2.0
/* Geometry of a Bloom table: bits and hash functions for a rate. */
#include <math.h>
#include <stddef.h>

#include "cmd/geometry.h"

/* What the kernel takes. */
#define BITS_MIN	8u
#define BITS_MAX	(1u << 26)
#define HASHES_MAX	16

/**
 * geometry_rate() - false positives of a Bloom table, paper 000, 4.2
 * @g: the table
 * @trees: incast IDs in it
 *
 * Return: how often it matches an ID that it does not have, 0..1
 */
double geometry_rate(const struct geometry *g, double trees)
{
	return pow(1 - exp(-g->hashes * trees / g->bits), g->hashes);
}

/**
 * geometry_choose() - the smallest table with a rate of false positives
 * @rate: of false positives with @trees IDs in it, above 0 and below 1
 * @trees: incast IDs that leave by the link, 1 at least
 * @g: the result
 *
 * A rate is least with h = (m/n) ln 2 functions. m is a power of two, so it is
 * mostly larger than the rate needs, and fewer functions do as well: each of
 * them is a place in memory that a look-up reads.
 *
 * Return: 0, or -1 if no table of 2^26 bits and 16 functions has that rate
 */
int geometry_choose(double rate, uint32_t trees, struct geometry *g)
{
	for (g->bits = BITS_MIN; g->bits <= BITS_MAX; g->bits *= 2)
		for (g->hashes = 1; g->hashes <= HASHES_MAX; g->hashes++)
			if (geometry_rate(g, trees) <= rate)
				return 0;
	return -1;
}

/**
 * geometry_set() - the same for values that a user gave
 * @rate: of false positives
 * @trees: incast IDs
 * @g: the result
 *
 * Return: NULL, or why there is none
 */
const char *geometry_set(double rate, uint32_t trees, struct geometry *g)
{
	if (!(rate > 0 && rate < 1))
		return "a rate of false positives is above 0 and below 1";
	if (!trees)
		return "a table is for one tree at least";
	if (geometry_choose(rate, trees, g))
		return "no table of 2^26 bits and 16 hash functions has that rate";
	return NULL;
}
