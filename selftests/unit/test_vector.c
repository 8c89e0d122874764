// SPDX-License-Identifier: GPL-2.0
/* Unit tests of vectors: over a chain of tables a block leaves once, when all
 * contributors have given it.
 */
#include <linux/errno.h>
#include <math.h>

#include "chain.h"
#include "core/float_sum.h"
#include "core/record.h"
#include "core/reduce.h"
#include "core/vector.h"

#define ELEMENTS	(KEYS * AGGNET_BLOCK_ELEMENTS - 5)

/*
 * A block of elements in any width of the type; float blocks have one element.
 */
static void draw_block(struct input *in, u8 vtype)
{
	struct aggnet_value v;
	u32 width, i;

	width = aggnet_vtype_float(vtype) ? aggnet_float_bytes(vtype) :
		get_random_u32() % (aggnet_source_bytes(vtype) + 1);
	in->key = get_random_u32() % KEYS;
	in->vlen = AGGNET_BLOCK_ELEMENTS * width;
	for (i = 0; i < in->vlen; i++)
		in->value[i] = get_random_u32();
	/* Extreme values, far more often than by chance. */
	v = aggnet_value_s64(get_random_u32() % 2 ? S64_MIN : S64_MAX);
	if (width == 8 && get_random_u32() % 2)
		put_unaligned_le64(v.lo, in->value);
}

static bool is_nan(u64 bits, u32 width)
{
	u32 low = (u32)bits;
	double wide;
	float narrow;

	memcpy(&wide, &bits, sizeof(wide));
	memcpy(&narrow, &low, sizeof(narrow));
	return width == 4 ? isnan(narrow) : isnan(wide);
}

/* The element as an integer that sorts like it, computed independently. */
static s128 element(const struct input *in, u8 vtype, u32 i)
{
	u32 width = in->vlen / AGGNET_BLOCK_ELEMENTS;
	u8 byte[8] = { 0 };
	s64 bits;

	memcpy(byte, in->value + i * width, width);
	bits = get_unaligned_le64(byte);
	if (width && width < 8)
		bits = (s64)((u64)bits << (64 - 8 * width)) >>
		       (64 - 8 * width);
	if (!aggnet_vtype_float(vtype))
		return bits;
	if (is_nan(bits, width))
		return width == 4 ? 0x7fc00000 : 0x7ff8LL << 48;
	return bits >= 0 ? (s128)bits :
	       -1 - (s128)(bits & (width == 4 ? 0x7fffffff : S64_MAX));
}

static void merge_element(u8 function, bool first, s128 *to, s128 v)
{
	if (first)
		*to = v;
	else if (function == AGGNET_FN_SUM)
		*to += v;
	else if (function == AGGNET_FN_MIN ? v < *to : v > *to)
		*to = v;
}

static void check_blocks(struct __test_metadata *_metadata, u8 function,
			 u8 vtype, u32 records)
{
	const struct aggnet_shape shape = {
		.function = function, .vtype = vtype,
		.layout = AGGNET_LAYOUT_DENSE, .elements = ELEMENTS,
	};
	static s128 want[KEYS][AGGNET_BLOCK_ELEMENTS];
	struct input *in = malloc(records * sizeof(*in));
	const struct aggnet_value *v;
	bool seen[KEYS] = { false };
	void *state[KEYS];
	struct chain c;
	u32 i, e;

	for (i = 0; i < records; i++) {
		draw_block(&in[i], vtype);
		for (e = 0; e < AGGNET_BLOCK_ELEMENTS; e++)
			merge_element(function, !seen[in[i].key],
				      &want[in[i].key][e],
				      element(&in[i], vtype, e));
		seen[in[i].key] = true;
	}
	chain_start(&c, &shape);
	chain_run(&c, in, records);
	EXPECT_EQ(records, chain_result(&c, state));
	for (i = 0; i < KEYS; i++) {
		v = state[i];
		for (e = 0; seen[i] && e < AGGNET_BLOCK_ELEMENTS; e++)
			EXPECT_TRUE(wide(&v[e]) == want[i][e])
				TH_LOG("function %u, type %u, block %u, element %u",
				       function, vtype, i, e);
		free(state[i]);
	}
	chain_free(&c);
	free(in);
}

TEST(vector__any_split_and_order)
{
	static const u8 functions[] = { AGGNET_FN_SUM, AGGNET_FN_MIN,
					AGGNET_FN_MAX };
	u32 f, vtype, round;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (f = 0; f < ARRAY_SIZE(functions); f++)
		for (vtype = 0; vtype < __AGGNET_VTYPE_MAX; vtype++)
			for (round = 1; round < 2000; round *= 3)
				if (functions[f] != AGGNET_FN_SUM ||
				    !aggnet_vtype_float(vtype))
					check_blocks(_metadata, functions[f],
						     vtype, round);
	EXPECT_EQ(0, shim_alloc_live);
}

#define BLOCKS	300
#define AHEAD	20

/* Send one source's block as a packet. */
static void give_block(struct aggnet_table *t, u32 block, u32 value)
{
	u8 buf[AGGNET_RECORD_MAX];
	u32 klen = aggnet_vector_key_put(&t->shape, block, buf + 2);
	u32 i;

	buf[0] = klen;
	buf[1] = 4 * AGGNET_BLOCK_ELEMENTS;
	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++)
		put_unaligned_le32(value, buf + 2 + klen + 4 * i);
	take(t, buf, 2 + klen + buf[1], 1, 1, true);
}

/*
 * Take the finished blocks: has every source given each, and does it leave
 * once?
 */
static u32 take_ripe(struct __test_metadata *_metadata, struct aggnet_table *t,
		     const u32 *given, const u64 *sum, u32 *out)
{
	u64 represents;
	u8 buf[PAYLOAD], *at;
	u32 len, n, block, width;

	len = aggnet_table_pack_ripe(t, buf, sizeof(buf),
				     1 + get_random_u32() % 8, &n, &represents);
	EXPECT_EQ(n * (u64)SOURCES, represents);
	for (at = buf; at < buf + len; at += 2 + at[0] + at[1]) {
		struct aggnet_value v;

		block = aggnet_vector_key_get(at + 2, at[0]);
		EXPECT_EQ(SOURCES, given[block]);
		EXPECT_EQ(1, ++out[block]);
		width = at[1] / AGGNET_BLOCK_ELEMENTS;
		v = aggnet_value_get(at, at + 2 + at[0] + width, width);
		EXPECT_EQ(sum[block], v.lo);
	}
	return n;
}

/* Sources of different speed, with neighbouring blocks out of order. */
TEST(vector__a_block_leaves_once_when_all_have_given_it)
{
	const struct aggnet_shape shape = {
		.layout = AGGNET_LAYOUT_DENSE,
		.elements = BLOCKS * AGGNET_BLOCK_ELEMENTS,
	};
	u32 at[SOURCES] = { 0 }, given[BLOCKS] = { 0 }, out[BLOCKS] = { 0 };
	u32 i, least, left = BLOCKS, most = 0;
	u64 sum[BLOCKS] = { 0 };
	struct aggnet_table t;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	start(&t, &shape);
	t.expected = SOURCES;
	while (left) {
		for (i = 0, least = BLOCKS; i < SOURCES; i++)
			least = min(least, at[i]);
		i = get_random_u32() % SOURCES;
		if (at[i] < BLOCKS && at[i] < least + AHEAD) {
			/* Pairs of blocks are swapped. */
			u32 block = at[i]++ ^ (i & 1);
			u32 value = get_random_u32() % 1000;

			given[block]++;
			sum[block] += value;
			give_block(&t, block, value);
		}
		most = max(most, t.keys);
		if (aggnet_table_ripe(&t))
			left -= take_ripe(_metadata, &t, given, sum, out);
	}
	EXPECT_EQ(0, t.keys);
	EXPECT_EQ(0, t.units);
	EXPECT_LT(most, 3 * AHEAD);
	aggnet_table_free(&t);
}

/*
 * A contributor that was not expected comes late: its block waits for the
 * flow's end.
 */
TEST(vector__what_comes_late_is_not_lost)
{
	const struct aggnet_shape shape = {
		.layout = AGGNET_LAYOUT_DENSE, .elements = 5,
	};
	struct aggnet_table t;
	u64 represents;
	u8 buf[PAYLOAD];
	u32 n;

	start(&t, &shape);
	t.expected = 2;
	give_block(&t, 0, 1);
	EXPECT_FALSE(aggnet_table_ripe(&t));
	EXPECT_EQ(0, aggnet_table_pack_ripe(&t, buf, sizeof(buf), 9, &n,
					    &represents));
	give_block(&t, 0, 1);
	EXPECT_TRUE(aggnet_table_ripe(&t));
	EXPECT_NE(0, aggnet_table_pack_ripe(&t, buf, sizeof(buf), 9, &n,
					    &represents));
	give_block(&t, 0, 1);
	EXPECT_FALSE(aggnet_table_ripe(&t));
	EXPECT_NE(0, aggnet_table_pack(&t, buf, sizeof(buf), 9, &n,
				       &represents));
	EXPECT_EQ(1, n);
	EXPECT_EQ(1, represents);
	aggnet_table_free(&t);
}

/* A sum in several parts counts as one contribution. */
TEST(vector__parts_count_once)
{
	const struct aggnet_shape shape = {
		.vtype = AGGNET_VTYPE_FLOAT64,
		.layout = AGGNET_LAYOUT_DENSE, .elements = 1,
	};
	/* 0x1p1000 and 0x1p-1000 */
	static const u64 value[] = { 0x7e7ULL << 52, 0x017ULL << 52 };
	struct aggnet_table from, to;
	u8 buf[PAYLOAD] = { 1, 8, 0 };
	u64 represents;
	u32 i, len, n;

	start(&from, &shape);
	start(&to, &shape);
	from.expected = 2;
	to.expected = 2;
	for (i = 0; i < 2; i++) {
		put_unaligned_le64(value[i], buf + 3);
		take(&from, buf, 11, 1, 1, true);
	}
	len = aggnet_table_pack_ripe(&from, buf, sizeof(buf), 9, &n,
				     &represents);
	EXPECT_LT(1, n);
	take(&to, buf, len, n, represents, false);
	EXPECT_FALSE(aggnet_table_ripe(&to));
	aggnet_table_free(&from);
	aggnet_table_free(&to);
}

TEST(vector__keys_are_blocks_of_it)
{
	static const struct {
		u64 elements;
		u32 klen;
	} row[] = {
		{ 1, 1 }, { 13, 1 }, { 256 * 13, 1 }, { 256 * 13 + 1, 2 },
		{ 65536 * 13, 2 }, { 65536 * 13 + 1, 3 }, { 0xffffffff, 4 },
	};
	u8 key[4];
	u32 i, last;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		const struct aggnet_shape shape = {
			.layout = AGGNET_LAYOUT_DENSE,
			.elements = row[i].elements,
		};

		last = aggnet_vector_blocks(&shape) - 1;
		EXPECT_EQ((row[i].elements - 1) / 13, last);
		EXPECT_EQ(row[i].klen, aggnet_vector_key_put(&shape, last, key));
		EXPECT_EQ(last, aggnet_vector_key_get(key, row[i].klen));
		EXPECT_TRUE(aggnet_vector_key_ok(&shape, key, row[i].klen));
		EXPECT_FALSE(aggnet_vector_key_ok(&shape, key,
						  row[i].klen - 1));
		aggnet_vector_key_put(&shape, last + 1, key);
		EXPECT_FALSE(aggnet_vector_key_ok(&shape, key, row[i].klen) &&
			     aggnet_vector_key_get(key, row[i].klen));
	}
}

TEST(vector__records_that_are_no_blocks)
{
	struct aggnet_shape shape = {
		.layout = AGGNET_LAYOUT_DENSE, .elements = 30,
	};
	u8 buf[AGGNET_RECORD_MAX] = { 1, 0, 2 };
	u32 vlen;

	for (vlen = 0; vlen <= 255; vlen++) {
		buf[1] = vlen;
		EXPECT_EQ(vlen % 13 ? -ERANGE : vlen <= 8 * 13 ? 1 : -ERANGE,
			  aggnet_parse_records(&shape, true, buf, 3 + vlen, 1));
		EXPECT_EQ(vlen % 13 || vlen > 208 ? -EBADMSG : 1,
			  aggnet_parse_records(&shape, false, buf, 3 + vlen, 1));
	}
	buf[1] = 0;
	buf[2] = 3;
	EXPECT_EQ(-ERANGE, aggnet_parse_records(&shape, true, buf, 3, 1));
	EXPECT_EQ(-EBADMSG, aggnet_parse_records(&shape, false, buf, 3, 1));
	shape.vtype = AGGNET_VTYPE_FLOAT64;
	shape.function = AGGNET_FN_MIN;
	buf[2] = 0;
	for (vlen = 0; vlen <= 208; vlen += 13) {
		buf[1] = vlen;
		EXPECT_EQ(vlen == 8 * 13 ? 1 : -ERANGE,
			  aggnet_parse_records(&shape, true, buf, 3 + vlen, 1));
	}
}

TEST_HARNESS_MAIN
