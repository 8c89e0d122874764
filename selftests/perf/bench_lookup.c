// SPDX-License-Identifier: GPL-2.0
/* Where does a packet of this incast ID go? Time of a look-up, bytes that it
 * reads from, and false positives beside theory, with 10^2 .. 10^6 trees: by
 * exact entries, by a link's Bloom table, and by a blocked one, its peer. And
 * of a link's name in the filter of a packet, which knows no number of trees.
 * Usage: bench_lookup [SEED]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../lib/random.h"
#include "core/bloom.h"
#include "blocked.h"
#include "core/filter.h"
#include "cmd/geometry.h"
#include "flow/tree.h"
#include "flow/tree_table.h"

#define LOOKUPS	(1u << 21)
#define ROUNDS	5	/* the fastest one counts */
#define CACHE_LINE	64	/* of an entry, the one that a look-up reads */

static unsigned long long state;

static u64 draw(void)
{
	return splitmix64(&state);
}

/* IDs in a table are even, all others odd. */
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

/**
 * struct row - a row of the printed table
 * @scheme: the kind of look-up
 * @trees: in the table
 * @target: requested rate of false positives
 * @bits: of the table, 0: it has none
 * @hashes: positions of an ID
 * @bytes: memory that look-ups read, per tree
 * @member: ns of a look-up of an ID that is in the table
 * @other: ns of one that is not
 * @hits: false positives
 * @theory: their expected number
 */
struct row {
	const char *scheme;
	u32 trees;
	double target;
	u32 bits;
	u32 hashes;
	double bytes;
	double member;
	double other;
	u32 hits;
	double theory;
};

/* Nanoseconds of a look-up in the fastest of ROUNDS rounds. */
#define LOOK(found, id, hits) ({					\
	double best = INFINITY, start, took;				\
	u32 round, i;							\
									\
	for (round = 0; round < ROUNDS; round++) {			\
		*(hits) = 0;						\
		start = now();						\
		for (i = 0; i < LOOKUPS; i++)				\
			*(hits) += !!(found);				\
		took = now() - start;					\
		best = fmin(best, took);				\
	}								\
	best * 1e9 / LOOKUPS;						\
})

#define MEASURE(row, id, found) do {					\
	u32 hits, n;							\
									\
	for (n = 0; n < LOOKUPS; n++)					\
		id[n] = member(draw() % (row)->trees);			\
	(row)->member = LOOK(found, id, &hits);				\
	if (hits != LOOKUPS)						\
		die("a member was not found");				\
	for (n = 0; n < LOOKUPS; n++)					\
		id[n] = draw() | 1;					\
	(row)->other = LOOK(found, id, &(row)->hits);			\
} while (0)

static void __attribute__((noreturn)) die(const char *why)
{
	fprintf(stderr, "bench_lookup: %s\n", why);
	exit(1);
}

static void print(const struct row *r)
{
	printf("%-8s %8u ", r->scheme, r->trees);
	if (r->bits)
		printf("%7g %9u %6u ", r->target, r->bits, r->hashes);
	else
		printf("%7s %9s %6s ", "-", "-", "-");
	printf("%10.2f %9.1f %8.1f ", r->bytes, r->member, r->other);
	if (r->bits)
		printf("%11.2e %9.2e\n", (double)r->hits / LOOKUPS, r->theory);
	else
		printf("%11u %9s\n", r->hits, "-");
}

/* Entries like the module's, at random places in memory. */
static void exact(u32 trees, u64 *id)
{
	struct row row = { .scheme = "exact", .trees = trees };
	struct aggnet_tree *tree = calloc(trees, sizeof(*tree));
	struct aggnet_tree_table *table = aggnet_tree_table_copy(NULL);
	u32 i, at;
	u64 swap;

	if (!tree || !table)
		die("no memory");
	for (i = 0; i < trees; i++)
		tree[i].conf.incast_id = member(i);
	for (i = trees - 1; i; i--) {
		at = draw() % (i + 1);
		swap = tree[at].conf.incast_id;
		tree[at].conf.incast_id = tree[i].conf.incast_id;
		tree[i].conf.incast_id = swap;
	}
	for (i = 0; i < trees; i++) {
		if (aggnet_tree_table_reserve(&table))
			die("no memory");
		aggnet_tree_table_insert(table, &tree[i]);
	}
	row.bytes = (table->mask + 1.) * sizeof(*table->slot) / trees +
		    CACHE_LINE;
	MEASURE(&row, id, aggnet_tree_table_first(table, id[i]));
	print(&row);
	aggnet_tree_table_free(table);
	free(tree);
}

static void bloom(u32 trees, double target, u64 *id)
{
	struct row row = {
		.scheme = "bloom", .trees = trees, .target = target,
	};
	struct aggnet_bloom *b;
	struct geometry g;
	u32 i;

	if (geometry_choose(target, trees, &g))
		die("no such table");
	b = aggnet_bloom_alloc(g.bits, g.hashes, draw());
	if (!b)
		die("no memory");
	for (i = 0; i < trees; i++)
		if (aggnet_bloom_insert(b, member(i)))
			die("a count is full");
	row.bits = g.bits;
	row.hashes = g.hashes;
	row.bytes = g.bits / 8. / trees;
	row.theory = geometry_rate(&g, trees);
	MEASURE(&row, id, aggnet_bloom_test(b, id[i]));
	print(&row);
	aggnet_bloom_free(b);
}

/*
 * Choose the smallest table with at least one bit per tree, and the fewest
 * hashes.
 */
static void blocked_choose(u32 trees, struct row *row)
{
	u32 least = BLOCK_BITS;

	while (least < trees)
		least *= 2;
	for (row->bits = least; row->bits; row->bits *= 2)
		for (row->hashes = 1; row->hashes <= 16; row->hashes++) {
			row->theory = blocked_rate(row->bits, trees,
						   row->hashes);
			if (row->theory <= row->target)
				return;
		}
	die("no such blocked table");
}

static void blocked(u32 trees, double target, u64 *id)
{
	struct row row = {
		.scheme = "blocked", .trees = trees, .target = target,
	};
	struct blocked b = { .seed = draw() };
	u32 i;

	blocked_choose(trees, &row);
	b.blocks = row.bits / BLOCK_BITS;
	b.hashes = row.hashes;
	b.block = aligned_alloc(BLOCK_BITS / 8, row.bits / 8);
	if (!b.block)
		die("no memory");
	memset(b.block, 0, row.bits / 8);
	for (i = 0; i < trees; i++)
		blocked_insert(&b, member(i));
	row.bytes = row.bits / 8. / trees;
	MEASURE(&row, id, blocked_test(&b, id[i]));
	print(&row);
	free(b.block);
}

/*
 * Half of its bits are set, as in a filter of the best size, for links beside
 * the path. A link of the path has all of its bits set, which costs as much as
 * in a full filter. test_filter measures the rate of false positives.
 */
static void packet(u32 bits, u32 hashes, u64 *id)
{
	u8 bytes[AGGNET_FILTER_MAX] = { bits >> 8, bits, hashes };
	const struct aggnet_filter *f = (const void *)bytes;
	double member, other;
	u32 hits, n;
	u64 key;

	for (n = 0; n < LOOKUPS; n++)
		id[n] = draw();
	memset(bytes + sizeof(*f), 0xff, bits / 8);
	member = LOOK((key = aggnet_filter_key(id[i], 0),
		       aggnet_filter_test(f, key, i)), id, &hits);
	if (hits != LOOKUPS)
		die("a link of the way was not found");
	for (n = 0; n < bits / 8; n++)
		bytes[sizeof(*f) + n] = draw();
	other = LOOK((key = aggnet_filter_key(id[i], 0),
		      aggnet_filter_test(f, key, i)), id, &hits);
	printf("%-8s %8s %7s %9u %6u %10u %9.1f %8.1f %11s %9s\n", "packet",
	       "any", "-", bits, hashes, 0, member, other, "-", "-");
}

int main(int argc, char **argv)
{
	static const double rates[] = { 1e-2, 1e-4 };
	u64 *id = calloc(LOOKUPS, sizeof(*id));
	u32 trees, i;

	state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	if (!id)
		return 1;
	printf("Look-up of an incast ID, seed %llu\n", state);
	printf("%-8s %8s %7s %9s %6s %10s %9s %8s %11s %9s\n", "scheme",
	       "trees", "target", "bits", "hashes", "bytes/tree", "ns member",
	       "ns other", "false pos.", "theory");
	for (trees = 100; trees <= 1000000; trees *= 10)
		exact(trees, id);
	for (i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		for (trees = 100; trees <= 1000000; trees *= 10) {
			bloom(trees, rates[i], id);
			blocked(trees, rates[i], id);
		}
	/*
	 * For paths of eight links: from a rate of 1/2 to the best that the
	 * header allows.
	 */
	packet(16, 1, id);
	packet(64, 6, id);
	packet(256, AGGNET_FILTER_HASHES_MAX, id);
	free(id);
	return 0;
}
