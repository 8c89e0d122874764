// SPDX-License-Identifier: GPL-2.0
/* A link's Bloom table with 10^2 .. 10^6 incast IDs: time of a look-up, memory,
 * and false positives beside theory. Usage: bench_bloom [SEED]
 */
#include <linux/types.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../random.h"
#include "bloom.h"

#define LOOKUPS	(1u << 21)
#define ROUNDS	5	/* of which the fastest counts */

static unsigned long long state;

static u64 draw(void)
{
	return splitmix64(&state);
}

/* IDs of those that are in a table are even, all others odd. */
static u64 member(u64 i)
{
	return (i * 0x9e3779b97f4a7c15ULL) & ~1ULL;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* Nanoseconds of a look-up; @hits: how many said yes. */
static double look(const struct aggnet_bloom *b, const u64 *id, u32 *hits)
{
	double best = INFINITY, start, took;
	u32 round, i;

	for (round = 0; round < ROUNDS; round++) {
		*hits = 0;
		start = now();
		for (i = 0; i < LOOKUPS; i++)
			*hits += aggnet_bloom_test(b, id[i]);
		took = now() - start;
		best = took < best ? took : best;
	}
	return best * 1e9 / LOOKUPS;
}

/* For trees and a rate: bits, a power of two, and h = (m/n) ln 2 functions. */
static struct aggnet_bloom *table_for(u32 trees, double rate)
{
	double least = trees * -log(rate) / (M_LN2 * M_LN2);
	u32 bits = AGGNET_BLOOM_BITS_MIN;
	double hashes;

	while (bits < least)
		bits *= 2;
	hashes = fmin(round((double)bits / trees * M_LN2),
		      ceil(-log2(rate)));
	return aggnet_bloom_alloc(bits, (u8)hashes, draw());
}

static void row(u32 trees, double rate, u64 *id)
{
	struct aggnet_bloom *b = table_for(trees, rate);
	u32 hits, bits, i;
	double in, out, theory;

	if (!b)
		exit(1);
	for (i = 0; i < trees; i++) {
		if (aggnet_bloom_insert(b, member(i)))
			exit(1);
	}
	for (i = 0; i < LOOKUPS; i++)
		id[i] = member(draw() % trees);
	in = look(b, id, &hits);
	if (hits != LOOKUPS) {
		fprintf(stderr, "bench_bloom: a member was not found\n");
		exit(1);
	}
	for (i = 0; i < LOOKUPS; i++)
		id[i] = draw() | 1;
	out = look(b, id, &hits);
	bits = b->mask + 1;
	theory = pow(1 - exp(-(double)b->hashes * trees / bits), b->hashes);
	printf("%8u %7g %9u %6u %10.2f %9.1f %8.1f %11.2e %9.2e\n", trees, rate,
	       bits, b->hashes, bits / 8. / trees, in, out,
	       (double)hits / LOOKUPS, theory);
	aggnet_bloom_free(b);
}

int main(int argc, char **argv)
{
	static const double rates[] = { 1e-2, 1e-4 };
	u64 *id = calloc(LOOKUPS, sizeof(*id));
	u32 trees, i;

	state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	if (!id)
		return 1;
	printf("Look-up in a link's Bloom table, seed %llu\n",
	       state);
	printf("%8s %7s %9s %6s %10s %9s %8s %11s %9s\n", "trees", "target",
	       "bits", "hashes", "bytes/tree", "ns member", "ns other",
	       "false pos.", "theory");
	for (i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		for (trees = 100; trees <= 1000000; trees *= 10)
			row(trees, rates[i], id);
	free(id);
	return 0;
}
