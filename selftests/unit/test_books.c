// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the books: each record in a packet, including each part of a
 * state, carries a unit. If a merge is skipped or done twice, the sum of units
 * is wrong, for every function, value type and layout.
 */
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <math.h>
#include <stdlib.h>

#include "core/accum.h"
#include "core/aggtable.h"
#include "core/fault.h"
#include "core/pairs.h"
#include "core/record.h"
#include "core/runs.h"
#include "core/vector.h"

#include "../uapi/harness.h"

#define SEED	0x626f6f6b
#define LIMIT	(1u << 20)
#define PAYLOAD	1384
#define INPUTS	5

/* --- packets --------------------------------------------------------------- */

struct packet {
	u8 data[PAYLOAD];
	u32 len;
	u32 n;
	u64 represents;
};

static void packet_add(struct packet *p, const struct aggnet_shape *shape,
		       u32 key, const u8 *value, u32 vlen)
{
	u8 *at = p->data + p->len;

	at[0] = shape->layout == AGGNET_LAYOUT_DENSE ?
		aggnet_vector_key_put(shape, key, at + 2) : 1;
	if (shape->layout != AGGNET_LAYOUT_DENSE)
		at[2] = 'a' + key;
	at[1] = vlen;
	memcpy(at + 2 + at[0], value, vlen);
	p->len += 2 + at[0] + vlen;
	p->n++;
	p->represents++;
}

/* Numbers so far apart that the sum of two of them has two parts. */
static u32 put_real(const struct aggnet_shape *shape, u8 *value, u32 i)
{
	double wide = i % 2 ? 0x1p1000 : 0x1p-1000;
	float narrow = i % 2 ? 0x1p100f : 0x1p-100f;
	u32 width = aggnet_float_bytes(shape->vtype);
	u64 bits64;
	u32 bits32;

	memcpy(&bits64, &wide, sizeof(bits64));
	memcpy(&bits32, &narrow, sizeof(bits32));
	if (width == 8)
		put_unaligned_le64(bits64, value);
	else
		put_unaligned_le32(bits32, value);
	return width;
}

/* As many pairs as a record takes, each time with other IDs. */
static u32 put_pairs(u8 *value, u32 i)
{
	struct aggnet_pair pair;
	u32 k;

	for (k = 0; k < AGGNET_PAIRS_PART; k++) {
		pair.rank = 1;
		pair.id = i * AGGNET_PAIRS_PART + k;
		aggnet_pair_put(value + k * AGGNET_PAIR_BYTES, &pair);
	}
	return k * AGGNET_PAIR_BYTES;
}

/* Record @i of a source. */
static void packet_source(struct packet *p, const struct aggnet_shape *shape,
			  u32 key, u32 i)
{
	enum aggnet_kind kind = aggnet_shape_kind(shape);
	u8 value[AGGNET_VALUE_MAX] = { 1 + i };
	u32 vlen = 1, k;

	if (kind == AGGNET_KIND_PAIRS)
		vlen = put_pairs(value, i);
	else if (aggnet_vtype_float(shape->vtype))
		vlen = put_real(shape, value, i);
	if (kind == AGGNET_KIND_BLOCK) {
		for (k = 1; k < AGGNET_BLOCK_ELEMENTS; k++)
			memcpy(value + k * vlen, value, vlen);
		vlen *= AGGNET_BLOCK_ELEMENTS;
	}
	packet_add(p, shape, key, value, vlen);
}

/*
 * --- a common interface of tables and runs -----------------------------------
 */

/**
 * struct buffer - what a node holds of a tree
 * @sorted: @r is used, else @t
 * @seq: runs: sequence of the next packet
 * @fault: enum aggnet_fault, of the next merge
 */
struct buffer {
	bool sorted;
	struct aggnet_table t;
	struct aggnet_runs r;
	u32 seq;
	u32 fault;
};

static void buffer_start(struct buffer *b, const struct aggnet_shape *shape,
			 bool source)
{
	u8 seed[sizeof(b->t.seed)];
	u32 i;

	memset(b, 0, sizeof(*b));
	b->sorted = shape->layout == AGGNET_LAYOUT_SORTED;
	b->seq = AGGNET_SEQ_FIRST;
	if (b->sorted) {
		if (aggnet_runs_init(&b->r, shape, 1, 64, PAYLOAD))
			abort();
		b->r.budget = S32_MAX;
		b->r.fault = &b->fault;
		aggnet_runs_begin(&b->r, 64, AGGNET_SEQ_FIRST, source);
		aggnet_runs_close(&b->r);
		return;
	}
	get_random_bytes(seed, sizeof(seed));
	if (aggnet_table_init(&b->t, shape, LIMIT, seed))
		abort();
	b->t.fault = &b->fault;
	for (i = 0; i < 64; i++)
		if (!aggnet_table_grow(&b->t, aggnet_chunk_alloc()))
			abort();
}

static void buffer_merge(struct buffer *b, const struct packet *p, bool source,
			 u32 fault)
{
	const struct aggnet_shape *shape = b->sorted ? &b->r.shape : &b->t.shape;
	u8 *copy = memcpy(malloc(p->len), p->data, p->len);
	u32 lengths;

	b->fault = fault;
	if (aggnet_parse_lengths(shape, source, copy, p->len, p->n, &lengths) !=
	    (int)p->n || p->represents < p->n)
		abort();
	if (b->sorted) {
		if (aggnet_runs_store(&b->r, 0, b->seq++, copy, p->len,
				      p->represents))
			abort();
	} else if (source) {
		aggnet_table_merge(&b->t, copy, p->n, p->represents, true);
	} else {
		aggnet_table_merge_equal(&b->t, copy, p->n, p->represents,
					 lengths);
	}
	free(copy);
}

/*
 * Pack the next packet, of up to @max records. Return: false if there is none
 */
static bool buffer_pack(struct buffer *b, struct packet *p, u32 max)
{
	memset(p, 0, sizeof(*p));
	if (b->sorted)
		p->len = aggnet_runs_pack(&b->r, p->data, PAYLOAD, max, &p->n,
					  &p->represents);
	else
		p->len = aggnet_table_pack(&b->t, p->data, PAYLOAD, max, &p->n,
					   &p->represents);
	return p->n;
}

static void buffer_finish(struct buffer *b)
{
	if (b->sorted)
		aggnet_runs_finish(&b->r, 0);
}

static void buffer_free(struct buffer *b)
{
	aggnet_table_free(&b->t);
	aggnet_runs_free(&b->r);
}

/* --- every shape ----------------------------------------------------------- */

/* Go to the next valid shape. Return: false after the last one */
static bool shape_next(struct aggnet_shape *shape, u32 *number)
{
	const char *text;
	u32 i;

	for (;;) {
		i = (*number)++;
		if (i >= __AGGNET_FN_MAX * __AGGNET_VTYPE_MAX *
			 __AGGNET_LAYOUT_MAX)
			return false;
		*shape = (struct aggnet_shape){
			.function = i % __AGGNET_FN_MAX,
			.vtype = i / __AGGNET_FN_MAX % __AGGNET_VTYPE_MAX,
			.layout = i / __AGGNET_FN_MAX / __AGGNET_VTYPE_MAX,
		};
		shape->scale = shape->vtype == AGGNET_VTYPE_FIXED;
		if (shape->layout == AGGNET_LAYOUT_DENSE)
			shape->elements = 3 * AGGNET_BLOCK_ELEMENTS;
		if (aggnet_shape_kind(shape) == AGGNET_KIND_PAIRS)
			shape->k = AGGNET_K_MAX;
		if (!aggnet_shape_fault(shape, &text))
			return true;
	}
}

#define SAY(shape, what)						\
	TH_LOG("%s: function %u, type %u, layout %u", what,		\
	       (shape)->function, (shape)->vtype, (shape)->layout)

/* Pack what INPUTS records of a source merge into, all under one key. */
static void source_packet(const struct aggnet_shape *shape, struct packet *p)
{
	u32 i;

	memset(p, 0, sizeof(*p));
	for (i = 0; i < INPUTS; i++)
		packet_source(p, shape, 0, i);
}

/* The sum of units of all records that leave a buffer. */
static u64 units_out(struct buffer *b)
{
	struct packet p;
	u64 units = 0;

	buffer_finish(b);
	while (buffer_pack(b, &p, 1 + get_random_u32() % 3))
		units += p.represents;
	return units;
}

/* Do the books differ, or agree, as expected of this fault? */
static bool books_show(u32 fault, u64 units)
{
	bool seen = fault == AGGNET_FAULT_DROP || fault == AGGNET_FAULT_DOUBLE;

	return (units == INPUTS) != seen;
}

/*
 * How many records the state leaves in: 64 pairs, or two numbers that are far
 * apart.
 */
static u32 parts_due(const struct aggnet_shape *shape)
{
	enum aggnet_kind kind = aggnet_shape_kind(shape);

	if (kind == AGGNET_KIND_FLOAT_SUM)
		return 1 + (shape->vtype == AGGNET_VTYPE_FLOAT64);
	return kind == AGGNET_KIND_PAIRS ? 5 : 1;
}

/* --- tests ----------------------------------------------------------------- */

/* Each record of a state that is split carries at least one unit. */
TEST(books__each_part_carries_a_unit)
{
	struct aggnet_shape shape;
	u32 number = 0, parts;
	struct packet in, out;
	struct buffer b;
	u64 units;

	shim_random_seed(SEED);
	while (shape_next(&shape, &number)) {
		source_packet(&shape, &in);
		buffer_start(&b, &shape, true);
		buffer_merge(&b, &in, true, AGGNET_FAULT_NONE);
		buffer_finish(&b);
		for (units = parts = 0; buffer_pack(&b, &out, 1); parts++) {
			EXPECT_EQ(1, out.n);
			EXPECT_LE(1, out.represents)
				SAY(&shape, "a record without a unit");
			units += out.represents;
		}
		EXPECT_EQ(INPUTS, units)
			SAY(&shape, "units");
		EXPECT_EQ(parts_due(&shape), parts)
			SAY(&shape, "parts");
		buffer_free(&b);
	}
	EXPECT_EQ(0, shim_alloc_live);
}

/* The fault hits the last of a source's records. */
TEST(books__a_fault_at_a_source_shows)
{
	struct aggnet_shape shape;
	u32 number = 0, fault;
	struct packet in;
	struct buffer b;

	shim_random_seed(SEED);
	while (shape_next(&shape, &number)) {
		source_packet(&shape, &in);
		for (fault = 0; fault < __AGGNET_FAULT_MAX; fault++) {
			buffer_start(&b, &shape, true);
			buffer_merge(&b, &in, true, fault);
			EXPECT_TRUE(books_show(fault, units_out(&b)))
				SAY(&shape, "at a source");
			buffer_free(&b);
		}
	}
	EXPECT_EQ(0, shim_alloc_live);
}

/*
 * The merged state leaves in packets of @max records, so that the fault at the
 * next node hits each record and each part of a state in turn.
 */
static void check_way(struct __test_metadata *_metadata,
		      const struct aggnet_shape *shape, u32 max, u32 fault)
{
	u32 struck, packets, i;
	struct packet in, p;
	struct buffer a, b;

	source_packet(shape, &in);
	for (struck = 0, packets = 1; struck < packets; struck++) {
		buffer_start(&a, shape, true);
		buffer_start(&b, shape, false);
		buffer_merge(&a, &in, true, AGGNET_FAULT_NONE);
		buffer_finish(&a);
		for (i = 0; buffer_pack(&a, &p, max); i++)
			buffer_merge(&b, &p, false,
				     i == struck ? fault : AGGNET_FAULT_NONE);
		packets = i;
		EXPECT_TRUE(books_show(fault, units_out(&b)))
			SAY(shape, "on the way");
		buffer_free(&a);
		buffer_free(&b);
	}
}

TEST(books__a_fault_on_the_way_shows)
{
	struct aggnet_shape shape;
	u32 number = 0, fault, max;

	shim_random_seed(SEED);
	while (shape_next(&shape, &number))
		for (max = 1; max <= 3; max++)
			for (fault = 0; fault < __AGGNET_FAULT_MAX; fault++)
				check_way(_metadata, &shape, max, fault);
	EXPECT_EQ(0, shim_alloc_live);
}

/* Merge the packet @in @times times, with @fault, and pack the result. */
static void merge_in(const struct aggnet_shape *shape, const struct packet *in,
		     u32 times, u32 fault, struct packet *out)
{
	struct buffer b;

	buffer_start(&b, shape, true);
	while (times--)
		buffer_merge(&b, in, true, fault);
	buffer_finish(&b);
	buffer_pack(&b, out, 9);
	buffer_free(&b);
}

/*
 * A fault changes the merge itself and not only its accounting: values are
 * wrong.
 */
TEST(books__a_fault_is_in_the_value)
{
	struct packet in, once, twice, dropped, doubled, flipped;
	struct aggnet_shape shape;
	u32 number = 0;

	shim_random_seed(SEED);
	while (shape_next(&shape, &number)) {
		memset(&in, 0, sizeof(in));
		packet_source(&in, &shape, 0, 1);
		merge_in(&shape, &in, 1, AGGNET_FAULT_NONE, &once);
		merge_in(&shape, &in, 2, AGGNET_FAULT_NONE, &twice);
		merge_in(&shape, &in, 1, AGGNET_FAULT_DROP, &dropped);
		merge_in(&shape, &in, 1, AGGNET_FAULT_DOUBLE, &doubled);
		merge_in(&shape, &in, 1, AGGNET_FAULT_FLIP, &flipped);
		EXPECT_EQ(0, dropped.n);
		EXPECT_EQ(0, memcmp(&twice, &doubled, sizeof(twice)))
			SAY(&shape, "not what two merges give");
		EXPECT_NE(0, memcmp(&once, &flipped, sizeof(once)))
			SAY(&shape, "no bit is inverted");
	}
	EXPECT_EQ(0, shim_alloc_live);
}

/* Take all that a buffer holds under one key into one state. */
static u64 drain(struct buffer *b, const struct aggnet_shape *shape,
		 void *state)
{
	struct packet p;
	u64 units = 0;
	const u8 *at;

	aggnet_accum_init(shape, state);
	for (; buffer_pack(b, &p, 9); units += p.represents)
		for (at = p.data; at < p.data + p.len; at += 2 + at[0] + at[1])
			aggnet_accum_merge(shape, state, at + 2 + at[0], at[1],
					   false);
	return units;
}

/*
 * While an entry leaves in parts, more records of its key arrive: they make a
 * new entry, and all parts arrive.
 */
TEST(books__a_key_that_comes_while_it_leaves_in_parts)
{
	u64 got[256], want[256];
	struct packet in, more, p;
	struct aggnet_shape shape;
	struct buffer b, to, all;
	u32 number = 0, parts;

	shim_random_seed(SEED);
	while (shape_next(&shape, &number)) {
		if (shape.layout == AGGNET_LAYOUT_SORTED)
			continue;
		ASSERT_GE(sizeof(got), aggnet_accum_size(&shape));
		source_packet(&shape, &in);
		memset(&more, 0, sizeof(more));
		packet_source(&more, &shape, 0, INPUTS);
		buffer_start(&b, &shape, true);
		buffer_start(&to, &shape, false);
		buffer_start(&all, &shape, true);
		buffer_merge(&all, &in, true, AGGNET_FAULT_NONE);
		buffer_merge(&all, &more, true, AGGNET_FAULT_NONE);
		EXPECT_EQ(INPUTS + 1, drain(&all, &shape, want));
		buffer_merge(&b, &in, true, AGGNET_FAULT_NONE);
		for (parts = 0; buffer_pack(&b, &p, 1); parts++) {
			buffer_merge(&to, &p, false, AGGNET_FAULT_NONE);
			if (!parts)
				buffer_merge(&b, &more, true,
					     AGGNET_FAULT_NONE);
		}
		EXPECT_LE(2, parts);
		EXPECT_EQ(0, b.t.units);
		EXPECT_EQ(INPUTS + 1, drain(&to, &shape, got));
		EXPECT_EQ(0, memcmp(got, want, aggnet_accum_size(&shape)))
			SAY(&shape, "what came meanwhile");
		buffer_free(&b);
		buffer_free(&to);
		buffer_free(&all);
	}
	EXPECT_EQ(0, shim_alloc_live);
}

TEST_HARNESS_MAIN
