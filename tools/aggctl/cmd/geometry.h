/* SPDX-License-Identifier: GPL-2.0 */
/* Geometry of a Bloom table: bits and hash functions for a rate. */
#ifndef AGGCTL_GEOMETRY_H
#define AGGCTL_GEOMETRY_H

#include <stdint.h>

/**
 * struct geometry - of a Bloom table
 * @bits: its size, a power of two
 * @hashes: hash functions
 */
struct geometry {
	uint32_t bits;
	uint8_t hashes;
};

#define GEOMETRY_RATE	0.01	/* if none is asked for */

double geometry_rate(const struct geometry *g, double trees);
int geometry_choose(double rate, uint32_t trees, struct geometry *g);
const char *geometry_set(double rate, uint32_t trees, struct geometry *g);

#endif
