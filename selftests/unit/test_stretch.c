// SPDX-License-Identifier: GPL-2.0
/* Counts the instructions of the longest sections under a tree's lock, by
 * single-stepping a child process: the work of the pure cores in one section
 * with the worst records must be at most 200000. It prints each section and the
 * longest one; then what it takes to merge one record into an existing entry.
 */
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/accum.h"
#include "core/aggtable.h"
#include "core/pairs.h"
#include "core/runs.h"
#include "count.h"

#define GOAL		200000
#define PAYLOAD		8192	/* of a packet on links with an MTU of 9000 */
#define BURST		16	/* packets that one event makes at most */
#define READ_MAX	(16u << 10)	/* buffer of a read() */
#define MEMORY		(16u << 20)
#define RUNS		64

/* --- the worst records of a shape ------------------------------------------ */

/**
 * struct packet - a packet that is full of records
 */
struct packet {
	u8 data[PAYLOAD];
	u32 len;
	u32 n;
};

static u32 put_value(const struct aggnet_shape *shape, u8 *value, u32 i)
{
	double number = i % 2 ? 0x1p1000 : 0x1p-1000;
	struct aggnet_pair pair;
	u32 k;

	switch (aggnet_shape_kind(shape)) {
	case AGGNET_KIND_PAIRS:
		for (k = 0; k < AGGNET_PAIRS_PART; k++) {
			pair.rank = (int)(i * 31 % 97);
			pair.id = i * AGGNET_PAIRS_PART + k;
			aggnet_pair_put(value + k * AGGNET_PAIR_BYTES, &pair);
		}
		return k * AGGNET_PAIR_BYTES;
	case AGGNET_KIND_FLOAT_SUM:
		memcpy(value, &number, sizeof(number));
		return sizeof(number);
	case AGGNET_KIND_BLOCK:
		memset(value, 1, AGGNET_BLOCK_ELEMENTS);
		return AGGNET_BLOCK_ELEMENTS;
	default:
		memset(value, 1, 8);
		return shape->function == AGGNET_FN_PRODUCT ? 8 : 1;
	}
}

/*
 * Make a packet of a source with keys of @klen bytes and as many records as
 * fit.
 */
static void packet_make(struct packet *p, const struct aggnet_shape *shape,
			u32 klen, u32 first, bool distinct)
{
	u32 max = aggnet_max_records(shape, PAYLOAD), i, vlen;
	u8 value[AGGNET_VALUE_MAX], *at;

	memset(p, 0, sizeof(*p));
	for (; p->n < max; p->n++, p->len += 2 + klen + vlen) {
		vlen = put_value(shape, value, p->n);
		if (p->len + 2 + klen + vlen > PAYLOAD)
			break;
		at = p->data + p->len;
		at[0] = klen;
		at[1] = vlen;
		memset(at + 2, 'k', klen);
		for (i = 0; distinct && i < 4 && i < klen; i++)
			at[2 + klen - 1 - i] = (first + p->n) >> (8 * i);
		memcpy(at + 2 + klen, value, vlen);
	}
}

/*
 * --- sections ---------------------------------------------------------------
 */

struct stretch {
	const char *what;
	void (*run)(const void *of);
	struct aggnet_shape shape;
	u32 klen;
};

static void table_fill(struct aggnet_table *t, const struct stretch *s)
{
	u64 seed[AGGNET_SEED_WORDS];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(seed); i++)
		seed[i] = 0x9e3779b97f4a7c15 * (i + 1);
	if (aggnet_table_init(t, &s->shape, MEMORY, seed))
		abort();
	while (aggnet_table_grow(t, aggnet_chunk_alloc()))
		;
}

/*
 * A packet arrives, and uplink_make() makes as many packets as one section may.
 */
static void merge_and_make(const void *of)
{
	const struct stretch *s = of;
	struct aggnet_table t = { 0 };
	static struct packet p;
	u32 i, n, len, cost = 0;
	u64 represents;

	table_fill(&t, s);
	for (i = 0; i < BURST * 2; i++) {
		packet_make(&p, &s->shape, s->klen, i * 1024, true);
		aggnet_table_merge(&t, p.data, p.n, p.n, true);
		aggnet_table_merge(&t, p.data, p.n, p.n, true);
	}
	packet_make(&p, &s->shape, s->klen, i * 1024, true);
	mark();
	aggnet_table_merge(&t, p.data, p.n, p.n, true);
	for (i = 0; i < BURST && cost < AGGNET_COST_MAX; i++) {
		len = aggnet_table_pack(&t, p.data, PAYLOAD,
					aggnet_max_records(&s->shape, PAYLOAD),
					&n, &represents);
		cost += n * aggnet_accum_cost(&s->shape) + 2 * len;
	}
	mark();
}

/* All other runs are full and have waited for this packet. */
static void store_packet(const void *of)
{
	const struct stretch *s = of;
	struct aggnet_runs r = { 0 };
	static struct packet p;
	u32 run, i;

	packet_make(&p, &s->shape, s->klen, 0, false);
	if (aggnet_runs_init(&r, &s->shape, RUNS, RUNS * 4, PAYLOAD))
		abort();
	for (run = 0; run < RUNS; run++)
		aggnet_runs_begin(&r, 4, AGGNET_SEQ_FIRST, true);
	aggnet_runs_close(&r);
	for (run = 1; run < RUNS; run++)
		for (i = 0; i < 4; i++)
			if (aggnet_runs_store(&r, run, AGGNET_SEQ_FIRST + i,
					      p.data, p.len, p.n))
				abort();
	mark();
	if (aggnet_runs_store(&r, 0, AGGNET_SEQ_FIRST, p.data, p.len, p.n))
		abort();
	mark();
}

/* The application reads a result; no packet is merged in the same section. */
static void read_result(const void *of)
{
	const struct stretch *s = of;
	static u8 buf[READ_MAX];
	struct aggnet_table t = { 0 };
	static struct packet p;
	u64 represents;
	u32 i, n;

	table_fill(&t, s);
	for (i = 0; i < BURST * 2; i++) {
		packet_make(&p, &s->shape, s->klen, i * 1024, true);
		aggnet_table_merge(&t, p.data, p.n, p.n, true);
		aggnet_table_merge(&t, p.data, p.n, p.n, true);
	}
	mark();
	aggnet_table_pack(&t, buf, sizeof(buf), aggnet_accum_reads(&s->shape),
			  &n, &represents);
	mark();
	if (!n)
		abort();
}

/* How often a packet is merged whose keys the table has. */
static u32 merges;

static void merge_again(const void *of)
{
	const struct stretch *s = of;
	struct aggnet_table t = { 0 };
	static struct packet p;
	u32 i;

	table_fill(&t, s);
	packet_make(&p, &s->shape, s->klen, 0, true);
	aggnet_table_merge(&t, p.data, p.n, p.n, true);
	mark();
	for (i = 0; i < merges; i++)
		aggnet_table_merge(&t, p.data, p.n, p.n, true);
	mark();
}

/* Blocks leave: as many as were merged from @merges packets. */
static void pack_blocks(const void *of)
{
	const struct stretch *s = of;
	struct aggnet_table t = { 0 };
	static struct packet p;
	static u8 out[3 * PAYLOAD];
	u64 represents;
	u32 i, n;

	table_fill(&t, s);
	for (i = 0; i < 2; i++) {
		packet_make(&p, &s->shape, s->klen, i * 1024, true);
		aggnet_table_merge(&t, p.data, p.n, p.n, true);
	}
	mark();
	aggnet_table_pack(&t, out, sizeof(out), merges * p.n, &n, &represents);
	mark();
	if (n != merges * p.n)
		abort();
}

/* Return: instructions of a record, 0: they cannot be counted */
static unsigned long per_record(const struct stretch *s)
{
	static struct packet p;
	unsigned long once, twice;

	packet_make(&p, &s->shape, s->klen, 0, true);
	merges = 1;
	once = count(s->run, s);
	merges = 2;
	twice = count(s->run, s);
	return once && twice > once ? (twice - once + p.n / 2) / p.n : 0;
}

#define KEYED(f, t)	{ .function = AGGNET_FN_##f, .vtype = AGGNET_VTYPE_##t }
#define SORTED(f, t)	{ .function = AGGNET_FN_##f, .vtype = AGGNET_VTYPE_##t,\
			  .layout = AGGNET_LAYOUT_SORTED }
#define VECTOR(f, t)	{ .function = AGGNET_FN_##f, .vtype = AGGNET_VTYPE_##t,\
			  .layout = AGGNET_LAYOUT_DENSE, \
			  .elements = 1 << 20 }
#define BEST(l)		{ .function = AGGNET_FN_TOPK, .k = AGGNET_K_MAX, \
			  .layout = AGGNET_LAYOUT_##l }

static const struct stretch stretches[] = {
	{ "sums come and leave", merge_and_make, KEYED(SUM, INT64), 5 },
	{ "products come and leave", merge_and_make, KEYED(PRODUCT, INT64), 5 },
	{ "averages come and leave", merge_and_make, KEYED(AVERAGE, INT64), 5 },
	{ "sums of reals come and leave", merge_and_make,
	  KEYED(SUM, FLOAT64), 5 },
	{ "pairs come and leave", merge_and_make, BEST(KEYED), 5 },
	{ "blocks come and leave", merge_and_make, VECTOR(SUM, INT64), 3 },
	{ "sums are read", read_result, KEYED(SUM, INT64), 3 },
	{ "products are read", read_result, KEYED(PRODUCT, INT64), 3 },
	{ "averages are read", read_result, KEYED(AVERAGE, INT64), 3 },
	{ "sums of reals are read", read_result, KEYED(SUM, FLOAT64), 3 },
	{ "pairs are read", read_result, BEST(KEYED), 3 },
	{ "a vector is read", read_result, VECTOR(SUM, INT64), 3 },
	{ "sorted sums are merged", store_packet, SORTED(SUM, INT64), 1 },
	{ "sorted sums with long keys are merged", store_packet,
	  SORTED(SUM, INT64), AGGNET_KEY_MAX },
	{ "sorted sums of reals are merged", store_packet,
	  SORTED(SUM, FLOAT64), 5 },
	{ "sorted pairs are merged", store_packet, BEST(SORTED), 5 },
};

/* The figures of Documentation/sizing.rst, and a bound for each. */
static const struct {
	struct stretch stretch;
	unsigned long goal;
} records[] = {
	{ { "sum, key of 4 bytes", merge_again, KEYED(SUM, INT64), 4 }, 100 },
	{ { "sum, key of 8 bytes", merge_again, KEYED(SUM, INT64), 8 }, 80 },
	{ { "sum, key of 16 bytes", merge_again, KEYED(SUM, INT64), 16 }, 140 },
	{ { "sum, key of 64 bytes", merge_again, KEYED(SUM, INT64), 64 }, 340 },
	{ { "max, key of 8 bytes", merge_again, KEYED(MAX, INT64), 8 }, 90 },
	{ { "product, key of 8 bytes", merge_again, KEYED(PRODUCT, INT64), 8 },
	  320 },
	{ { "average, key of 8 bytes", merge_again, KEYED(AVERAGE, INT64), 8 },
	  240 },
	{ { "sum of float64, key of 8 bytes", merge_again,
	    KEYED(SUM, FLOAT64), 8 }, 400 },
	{ { "topk, 64 pairs, key of 8 bytes", merge_again, BEST(KEYED), 8 },
	  4600 },
	{ { "dense vector, block of 13 elements", merge_again,
	    VECTOR(SUM, INT64), 3 }, 250 },
	{ { "dense vector, block of 13 elements, packed", pack_blocks,
	    VECTOR(SUM, INT64), 3 }, 400 },
};

static u32 check_records(void)
{
	unsigned long n;
	u32 i, failed = 0;

	for (i = 0; i < ARRAY_SIZE(records); i++) {
		fflush(stdout);
		n = per_record(&records[i].stretch);
		failed += !n || n > records[i].goal;
		printf("%sok %zu - a record is merged, %s: %lu instructions\n",
		       n && n <= records[i].goal ? "" : "not ",
		       ARRAY_SIZE(stretches) + i + 1, records[i].stretch.what,
		       n);
	}
	return failed;
}

int main(void)
{
	unsigned long n, most = 0;
	u32 i, failed = 0;

	printf("TAP version 13\n1..%zu\n",
	       ARRAY_SIZE(stretches) + ARRAY_SIZE(records));
	for (i = 0; i < ARRAY_SIZE(stretches); i++) {
		fflush(stdout);
		n = count(stretches[i].run, &stretches[i]);
		failed += !n || n > GOAL;
		most = n > most ? n : most;
		printf("%sok %u - %s: %lu instructions\n",
		       n && n <= GOAL ? "" : "not ", i + 1, stretches[i].what,
		       n);
	}
	failed += check_records();
	printf("# longest stretch under a tree's lock: %lu instructions of %u\n",
	       most, GOAL);
	return failed != 0;
}
