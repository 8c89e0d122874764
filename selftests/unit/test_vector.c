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

/* --- loops of each function and width --------------------------------------- */

/* A number of these bytes, by the definition. */
static s128 plain(const u8 *at, u32 width)
{
	u128 v = width && at[width - 1] & 0x80 ? ~(u128)0 : 0;

	while (width--)
		v = v << 8 | at[width];
	return (s128)v;
}

/* A number of up to @bits bits, at the ends of its range more often than by chance. */
static s128 draw_number(u32 bits)
{
	u128 v = (u128)get_random_u64() << 64 | get_random_u64();
	u32 cut = 128 - get_random_u32() % (bits + 1);

	switch (get_random_u32() % 4) {
	case 0:
		v = (u128)1 << 127;
		break;
	case 1:
		v = ~(u128)0 >> 1;
		break;
	}
	return cut == 128 ? 0 : (s128)v >> cut;
}

static struct aggnet_value value_of(s128 v)
{
	return (struct aggnet_value){
		.lo = (u64)v, .hi = (u64)((u128)v >> 64),
	};
}

static s128 reduced(u8 function, s128 a, s128 b)
{
	if (function == AGGNET_FN_SUM)
		return (s128)((u128)a + (u128)b);
	return function == AGGNET_FN_MIN ? (a < b ? a : b) : (a > b ? a : b);
}

/* The block ends where its memory ends, and at @shift 0 it begins there. */
static void check_width(struct __test_metadata *_metadata, u8 function,
			u32 width, u32 shift)
{
	const struct aggnet_shape shape = {
		.function = function, .layout = AGGNET_LAYOUT_DENSE,
		.elements = 1000,
	};
	struct aggnet_value accum[AGGNET_BLOCK_ELEMENTS], v;
	u8 *memory = malloc(shift + AGGNET_BLOCK_ELEMENTS * width + !width);
	bool source = width <= 8 && get_random_u32() % 2;
	s128 want[AGGNET_BLOCK_ELEMENTS];
	u8 *block = memory + shift;
	u32 i, e;

	for (e = 0; e < AGGNET_BLOCK_ELEMENTS; e++) {
		v = value_of(draw_number(8 * width));
		for (i = 0; i < width; i++)
			block[e * width + i] = (i < 8 ? v.lo : v.hi) >> i % 8 * 8;
		want[e] = draw_number(get_random_u32() % 2 ? 64 : 128);
		accum[e] = value_of(want[e]);
		want[e] = reduced(function, want[e],
				  plain(block + e * width, width));
	}
	aggnet_vector_merge(&shape, accum, block,
			    AGGNET_BLOCK_ELEMENTS * width, source);
	for (e = 0; e < AGGNET_BLOCK_ELEMENTS; e++)
		EXPECT_TRUE(wide(&accum[e]) == want[e])
			TH_LOG("function %u, width %u, shift %u, element %u",
			       function, width, shift, e);
	free(memory);
}

TEST(vector__each_width_is_merged_at_each_alignment)
{
	static const u8 functions[] = { AGGNET_FN_SUM, AGGNET_FN_MIN,
					AGGNET_FN_MAX };
	u32 f, width, shift, round;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (f = 0; f < ARRAY_SIZE(functions); f++)
		for (width = 0; width <= AGGNET_PLAIN_MAX; width++)
			for (shift = 0; shift < 8; shift++)
				for (round = 0; round < 50; round++)
					check_width(_metadata, functions[f],
						    width, shift);
}

/* A block is as wide as its longest element needs, and each of them is exact. */
TEST(vector__a_block_is_written_in_the_least_width)
{
	struct aggnet_value accum[AGGNET_BLOCK_ELEMENTS];
	u8 *buf = malloc(AGGNET_VALUE_MAX);
	u32 round, bits, width, e, len;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (round = 0; round < 20000; round++) {
		bits = get_random_u32() % 129;
		for (e = 0, width = 0; e < AGGNET_BLOCK_ELEMENTS; e++) {
			accum[e] = value_of(draw_number(bits));
			len = aggnet_value_len(&accum[e]);
			width = max(width, len);
		}
		EXPECT_EQ(AGGNET_BLOCK_ELEMENTS * width,
			  aggnet_vector_put(accum, buf));
		for (e = 0; e < AGGNET_BLOCK_ELEMENTS; e++)
			EXPECT_TRUE(plain(buf + e * width, width) ==
				    wide(&accum[e]))
				TH_LOG("width %u, element %u", width, e);
	}
	free(buf);
}

/* --- which blocks leave, and when ------------------------------------------- */

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

enum { FEW = 100, MANY = 3000 };

/* Merge some blocks of a long vector in a table of so many bytes. */
static void check_blocks_of(struct __test_metadata *_metadata, u32 limit)
{
	const struct aggnet_shape shape = {
		.layout = AGGNET_LAYOUT_DENSE,
		.elements = MANY * AGGNET_BLOCK_ELEMENTS,
	};
	u64 seed[AGGNET_SEED_WORDS], represents, sum[MANY] = { 0 };
	u32 given[FEW], i, n, len, value, out[MANY] = { 0 };
	struct aggnet_table t = { 0 };
	u8 buf[PAYLOAD], *at;

	get_random_bytes(seed, sizeof(seed));
	EXPECT_EQ(0, aggnet_table_init(&t, &shape, limit, seed));
	for (i = 0; i < FEW; i++)
		given[i] = i < 2 ? i * (MANY - 1) : get_random_u32() % MANY;
	for (i = 0; i < 10 * FEW; i++) {
		value = get_random_u32() % 1000;
		sum[given[i % FEW]] += value;
		give_block(&t, given[i % FEW], value);
	}
	while ((len = aggnet_table_pack(&t, buf, sizeof(buf), 9, &n,
					&represents))) {
		for (at = buf; at < buf + len; at += 2 + at[0] + at[1]) {
			u32 block = aggnet_vector_key_get(at + 2, at[0]);
			u32 width = at[1] / AGGNET_BLOCK_ELEMENTS;

			EXPECT_EQ(0, out[block]++);
			EXPECT_TRUE(sum[block] ==
				    (u64)plain(at + 2 + at[0], width));
			sum[block] = 0;
		}
	}
	for (i = 0; i < MANY; i++)
		EXPECT_EQ(0, sum[i]);
	aggnet_table_free(&t);
}

/* The number of a block is that of its bucket only if there are enough of them. */
TEST(vector__more_blocks_than_buckets)
{
	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	check_blocks_of(_metadata, 64 << 10);
	check_blocks_of(_metadata, LIMIT);
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
		if (aggnet_table_ripe(&t, 1))
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
	EXPECT_FALSE(aggnet_table_ripe(&t, 1));
	EXPECT_EQ(0, aggnet_table_pack_ripe(&t, buf, sizeof(buf), 9, &n,
					    &represents));
	give_block(&t, 0, 1);
	EXPECT_TRUE(aggnet_table_ripe(&t, 1));
	EXPECT_NE(0, aggnet_table_pack_ripe(&t, buf, sizeof(buf), 9, &n,
					    &represents));
	give_block(&t, 0, 1);
	EXPECT_FALSE(aggnet_table_ripe(&t, 1));
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
	EXPECT_FALSE(aggnet_table_ripe(&to, 1));
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
