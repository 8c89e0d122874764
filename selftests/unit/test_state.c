// SPDX-License-Identifier: GPL-2.0
/* Unit tests of states: each function over a chain of tables that split and
 * order what they hold at random, against what this file computes by itself.
 */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <math.h>
#include <stdlib.h>

#include "aggtable.h"
#include "pairs.h"
#include "real.h"
#include "reduce.h"
#include "state.h"
#include "vector.h"

#include "kselftest_harness.h"

#define SEED	0x73746174
#define LIMIT	(8u << 20)
#define PAYLOAD	1392
#define KEYS	40
#define SOURCES	6
#define INNER	2

#define s128 __int128
#define u128 unsigned __int128

static s128 wide(const struct aggnet_value *v)
{
	return (s128)((u128)v->hi << 64 | v->lo);
}

/* --- what sources say ------------------------------------------------------ */

/**
 * struct input - one source's record
 * @key: number of the key
 * @value: in its type
 * @vlen: bytes of it
 */
struct input {
	u8 key;
	u8 value[AGGNET_VALUE_MAX];
	u8 vlen;
};

static void put_number(struct input *in, s64 v)
{
	struct aggnet_value value = aggnet_value_s64(v);

	in->vlen = aggnet_plain_put(in->value, &value);
}

static s64 number(const struct input *in)
{
	struct aggnet_value v = aggnet_plain_get(in->value, in->vlen);

	return (s64)v.lo;
}

/* Key k: with larger k the larger values, so that products pass all bounds. */
static void draw_number(struct input *in)
{
	in->key = get_random_u32() % KEYS;
	if (in->key % 8 == 7 && get_random_u32() % 4 == 0)
		put_number(in, 0);
	else
		put_number(in, (s64)get_random_u64() >> (63 - in->key));
}

/* --- a chain of tables ----------------------------------------------------- */

static void start(struct aggnet_table *t, const struct aggnet_shape *shape)
{
	u8 seed[sizeof(t->seed)];

	memset(t, 0, sizeof(*t));
	get_random_bytes(seed, sizeof(seed));
	if (aggnet_table_init(t, shape, LIMIT, seed))
		abort();
}

static void take(struct aggnet_table *t, const u8 *data, u32 len, u32 n,
		 u64 represents, bool source)
{
	u8 *copy = memcpy(malloc(len), data, len);

	while (t->free < aggnet_table_worst(&t->shape, PAYLOAD))
		if (!aggnet_table_grow(t, aggnet_chunk_alloc()))
			abort();
	if (aggnet_parse_records(&t->shape, source, copy, len, n) != (int)n)
		abort();
	aggnet_table_merge(t, copy, n, represents, source, AGGNET_FAULT_NONE);
	free(copy);
}

/* A packet from one to the other, sometimes a small one. */
static u32 emit(struct aggnet_table *from, struct aggnet_table *to)
{
	u32 max = aggnet_max_records(&from->shape, PAYLOAD);
	u32 room = get_random_u32() % 3 ? PAYLOAD : AGGNET_RECORD_MAX;
	u8 *buf = malloc(room);
	u64 represents;
	u32 len, n;

	if (get_random_u32() % 3 == 0)
		max = 1 + get_random_u32() % max;
	len = aggnet_table_pack(from, buf, room, max, &n, &represents);
	if (len > room || n > max)
		abort();
	if (n)
		take(to, buf, len, n, represents, false);
	free(buf);
	return n;
}

static void contribute(struct aggnet_table *t, const struct input *in)
{
	u8 buf[AGGNET_RECORD_MAX] = { 1, in->vlen, in->key };

	memcpy(buf + 3, in->value, in->vlen);
	take(t, buf, 3 + in->vlen, 1, 1, true);
}

/**
 * struct chain - sources, tables on the way and the receiver's
 */
struct chain {
	struct aggnet_table leaf[SOURCES];
	struct aggnet_table inner[INNER];
	struct aggnet_table root;
};

static void chain_start(struct chain *c, const struct aggnet_shape *shape)
{
	int i;

	start(&c->root, shape);
	for (i = 0; i < INNER; i++)
		start(&c->inner[i], shape);
	for (i = 0; i < SOURCES; i++)
		start(&c->leaf[i], shape);
}

/* Inputs at random sources, and parts that leave at random moments. */
static void chain_run(struct chain *c, const struct input *in, u32 n)
{
	int i;

	for (; n; n--, in++) {
		i = get_random_u32() % SOURCES;
		contribute(&c->leaf[i], in);
		if (get_random_u32() % 16 == 0)
			emit(&c->leaf[i], &c->inner[i % INNER]);
		if (get_random_u32() % 16 == 0)
			emit(&c->inner[i % INNER], &c->root);
	}
	for (i = 0; i < SOURCES; i++)
		while (emit(&c->leaf[i], &c->inner[i % INNER]))
			;
	for (i = 0; i < INNER; i++)
		while (emit(&c->inner[i], &c->root))
			;
}

static void chain_free(struct chain *c)
{
	int i;

	aggnet_table_free(&c->root);
	for (i = 0; i < INNER; i++)
		aggnet_table_free(&c->inner[i]);
	for (i = 0; i < SOURCES; i++)
		aggnet_table_free(&c->leaf[i]);
}

/* What the receiver's table has, merged as the library does. */
static u64 chain_result(struct chain *c, void *state[KEYS])
{
	const struct aggnet_shape *shape = &c->root.shape;
	u64 represents, units = 0;
	u8 buf[PAYLOAD], *at;
	u32 len, n;

	for (n = 0; n < KEYS; n++) {
		state[n] = malloc(aggnet_state_size(shape));
		aggnet_state_init(shape, state[n]);
	}
	for (;;) {
		len = aggnet_table_pack(&c->root, buf, sizeof(buf), 9, &n,
					&represents);
		if (!len)
			return units;
		units += represents;
		for (at = buf; at < buf + len; at += 2 + at[0] + at[1])
			aggnet_state_merge(shape, state[at[2]], at + 3, at[1],
					   false);
	}
}

/* --- functions of integers ------------------------------------------------- */

/**
 * struct oracle - what a key should come to, worked out in one pass
 * @count: values
 * @sum: of them
 * @zero: there is a 0 among them
 * @negative: the product is, if it is not 0
 * @log2: of the product's magnitude, at least
 * @product: modulo 2^128
 * @and: and so on
 */
struct oracle {
	u64 count;
	s128 sum;
	s128 min;
	s128 max;
	bool zero;
	bool beyond;
	s128 product;
	s64 and, or, xor;
	bool land, lor, lxor;
};

static void oracle_add(struct oracle *o, s64 v)
{
	if (!o->count++)
		*o = (struct oracle){ .count = 1, .min = v, .max = v,
				      .product = 1, .and = -1, .land = true };
	o->sum += v;
	o->min = v < o->min ? v : o->min;
	o->max = v > o->max ? v : o->max;
	if (!v)
		o->zero = true;
	else if (!o->beyond)
		o->beyond = __builtin_mul_overflow(o->product, (s128)v,
						   &o->product);
	o->and &= v;
	o->or |= v;
	o->xor ^= v;
	o->land &= !!v;
	o->lor |= !!v;
	o->lxor ^= !!v;
}

static bool product_is(const struct oracle *o, const struct aggnet_value *v)
{
	s128 least = (s128)((u128)1 << 127);

	if (o->zero)
		return !wide(v);
	/* -2^127 itself is in the compiler's range and not in ours. */
	if (o->beyond || o->product == least)
		return aggnet_value_beyond(v);
	return wide(v) == o->product;
}

static bool oracle_is(const struct oracle *o, u8 function, const void *state)
{
	const struct aggnet_mean *mean = state;
	const struct aggnet_value *v = state;

	switch (function) {
	case AGGNET_FN_SUM:
		return wide(v) == o->sum;
	case AGGNET_FN_MIN:
		return wide(v) == o->min;
	case AGGNET_FN_MAX:
		return wide(v) == o->max;
	case AGGNET_FN_COUNT:
		return wide(v) == o->count;
	case AGGNET_FN_AVERAGE:
		return mean->count == o->count && wide(&mean->sum) == o->sum;
	case AGGNET_FN_PRODUCT:
		return product_is(o, v);
	case AGGNET_FN_BAND:
		return wide(v) == o->and;
	case AGGNET_FN_BOR:
		return wide(v) == o->or;
	case AGGNET_FN_BXOR:
		return wide(v) == o->xor;
	case AGGNET_FN_LAND:
		return wide(v) == o->land;
	case AGGNET_FN_LOR:
		return wide(v) == o->lor;
	case AGGNET_FN_LXOR:
		return wide(v) == o->lxor;
	}
	return false;
}

/* Functions of single integers; the others have oracles of their own. */
static bool of_numbers(u8 function)
{
	return function != AGGNET_FN_TOPK && function != AGGNET_FN_NEAREST;
}

static void check_numbers(struct __test_metadata *_metadata, u8 function,
			  u32 records)
{
	const struct aggnet_shape shape = { .function = function };
	struct input *in = malloc(records * sizeof(*in));
	struct oracle want[KEYS] = { 0 };
	void *state[KEYS];
	struct chain c;
	u32 i;

	for (i = 0; i < records; i++) {
		draw_number(&in[i]);
		oracle_add(&want[in[i].key], number(&in[i]));
	}
	chain_start(&c, &shape);
	chain_run(&c, in, records);
	EXPECT_EQ(records, chain_result(&c, state));
	for (i = 0; i < KEYS; i++) {
		EXPECT_TRUE(!want[i].count ||
			    oracle_is(&want[i], function, state[i]))
			TH_LOG("function %u, key %u", function, i);
		free(state[i]);
	}
	chain_free(&c);
	free(in);
}

TEST(state__every_function_in_any_split_and_order)
{
	static const u32 records[] = { 1, 30, 300, 3000 };
	u32 function, i, round;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (function = 0; function < __AGGNET_FN_MAX; function++)
		for (i = 0; i < ARRAY_SIZE(records); i++)
			for (round = 0; round < 4 && of_numbers(function);
			     round++)
				check_numbers(_metadata, function, records[i]);
	EXPECT_EQ(0, shim_alloc_live);
}

/* --- the best pairs -------------------------------------------------------- */

#define IDS	150

/* Ranks of few values, so that ties and repeats are frequent. */
static void draw_pairs(struct input *in)
{
	u32 n = 1 + get_random_u32() % AGGNET_PAIRS_PART;
	struct aggnet_pair pair;
	u32 i;

	in->key = get_random_u32() % 3;
	in->vlen = n * AGGNET_PAIR_BYTES;
	for (i = 0; i < n; i++) {
		pair.rank = (s64)(get_random_u32() % 500) - 250;
		if (get_random_u32() % 50 == 0)
			pair.rank = get_random_u32() % 2 ? S64_MAX : S64_MIN;
		pair.id = get_random_u32() % IDS;
		aggnet_pair_put(in->value + i * AGGNET_PAIR_BYTES, &pair);
	}
}

/* An id's best rank, if it has any. */
struct best {
	bool any;
	s64 rank;
};

static void best_add(struct best best[IDS], bool top, const struct input *in)
{
	u32 at;

	for (at = 0; at < in->vlen; at += AGGNET_PAIR_BYTES) {
		struct aggnet_pair pair = aggnet_pair_get(in->value + at);
		struct best *b = &best[pair.id];
		s64 rank = top ? ~pair.rank : pair.rank;

		if (!b->any || rank < b->rank)
			*b = (struct best){ true, rank };
	}
}

/* Selection by looking through all ids for each place. */
static bool best_is(struct best best[IDS], u32 k, const struct aggnet_pairs *got)
{
	u32 place, id, take;

	for (place = 0; place < k; place++) {
		for (id = 0, take = IDS; id < IDS; id++)
			if (best[id].any && (take == IDS ||
					     best[id].rank < best[take].rank))
				take = id;
		if (take == IDS)
			break;
		if (place >= got->n || got->pair[place].id != take ||
		    got->pair[place].rank != best[take].rank)
			return false;
		best[take].any = false;
	}
	return place == got->n;
}

static void check_pairs(struct __test_metadata *_metadata, u8 function, u16 k,
			u32 records)
{
	const struct aggnet_shape shape = { .function = function, .k = k };
	struct input *in = malloc(records * sizeof(*in));
	static struct best want[3][IDS];
	void *state[KEYS];
	struct chain c;
	u32 i;

	memset(want, 0, sizeof(want));
	for (i = 0; i < records; i++) {
		draw_pairs(&in[i]);
		best_add(want[in[i].key], function == AGGNET_FN_TOPK, &in[i]);
	}
	chain_start(&c, &shape);
	chain_run(&c, in, records);
	EXPECT_EQ(records, chain_result(&c, state));
	for (i = 0; i < KEYS; i++) {
		EXPECT_TRUE(i > 2 || best_is(want[i], k, state[i]))
			TH_LOG("function %u, k %u, key %u", function, k, i);
		free(state[i]);
	}
	chain_free(&c);
	free(in);
}

TEST(pairs__any_split_and_order)
{
	static const u16 k[] = { 1, 2, 13, 14, 40, 64 };
	u32 i, round;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (i = 0; i < ARRAY_SIZE(k); i++)
		for (round = 1; round < 500; round *= 2) {
			check_pairs(_metadata, AGGNET_FN_TOPK, k[i], round);
			check_pairs(_metadata, AGGNET_FN_NEAREST, k[i], round);
		}
}

/* --- sums of reals --------------------------------------------------------- */

/* Any bits: all exponents, subnormals, now and then no number. */
static void draw_real(struct input *in, u8 vtype)
{
	u64 bits = get_random_u64();
	u32 i;

	if (get_random_u32() % 4 == 0)
		bits &= vtype == AGGNET_VTYPE_FLOAT64 ? ~(0x7ffULL << 52) :
							~(0xffULL << 23);
	in->key = get_random_u32() % KEYS;
	in->vlen = aggnet_real_bytes(vtype);
	for (i = 0; i < in->vlen; i++)
		in->value[i] = bits >> (8 * i);
}

/* In the order of the input into one state: no chain gives other bits. */
static void check_reals(struct __test_metadata *_metadata, u8 function,
			u8 vtype, u32 records, bool dense)
{
	const struct aggnet_shape shape = {
		.function = function,
		.vtype = vtype,
		.layout = dense ? AGGNET_LAYOUT_DENSE : AGGNET_LAYOUT_KEYED,
		.elements = dense ? KEYS : 0,
	};
	struct input *in = malloc(records * sizeof(*in));
	u32 size = aggnet_state_size(&shape);
	void *state[KEYS], *want[KEYS];
	struct chain c;
	u32 i;

	for (i = 0; i < KEYS; i++) {
		want[i] = malloc(size);
		aggnet_state_init(&shape, want[i]);
	}
	for (i = 0; i < records; i++) {
		draw_real(&in[i], vtype);
		aggnet_state_merge(&shape, want[in[i].key], in[i].value,
				   in[i].vlen, true);
	}
	chain_start(&c, &shape);
	chain_run(&c, in, records);
	EXPECT_EQ(records, chain_result(&c, state));
	for (i = 0; i < KEYS; i++) {
		EXPECT_EQ(0, memcmp(want[i], state[i], size))
			TH_LOG("function %u, type %u, key %u", function, vtype,
			       i);
		free(state[i]);
		free(want[i]);
	}
	chain_free(&c);
	free(in);
}

TEST(real__any_split_and_order)
{
	static const u8 functions[] = { AGGNET_FN_SUM, AGGNET_FN_AVERAGE,
					AGGNET_FN_MIN, AGGNET_FN_MAX,
					AGGNET_FN_COUNT };
	u32 f, round;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (f = 0; f < ARRAY_SIZE(functions); f++)
		for (round = 1; round < 2000; round *= 3) {
			check_reals(_metadata, functions[f],
				    AGGNET_VTYPE_FLOAT32, round, false);
			check_reals(_metadata, functions[f],
				    AGGNET_VTYPE_FLOAT64, round, false);
		}
	for (round = 1; round < 2000; round *= 3)
		check_reals(_metadata, AGGNET_FN_SUM, AGGNET_VTYPE_FLOAT64,
			    round, true);
	EXPECT_EQ(0, shim_alloc_live);
}

/* --- vectors --------------------------------------------------------------- */

#define ELEMENTS	(KEYS * AGGNET_BLOCK_ELEMENTS - 5)

/* A block of elements of any width that the type has; of reals there is one. */
static void draw_block(struct input *in, u8 vtype)
{
	struct aggnet_value v;
	u32 width, i;

	width = aggnet_vtype_real(vtype) ? aggnet_real_bytes(vtype) :
		get_random_u32() % (aggnet_source_bytes(vtype) + 1);
	in->key = get_random_u32() % KEYS;
	in->vlen = AGGNET_BLOCK_ELEMENTS * width;
	for (i = 0; i < in->vlen; i++)
		in->value[i] = get_random_u32();
	/* The extremes, too, and far more often than by chance. */
	v = aggnet_value_s64(get_random_u32() % 2 ? S64_MIN : S64_MAX);
	if (width == 8 && get_random_u32() % 2)
		memcpy(in->value, &v.lo, 8);
}

static bool is_nan(s64 bits, u32 width)
{
	double wide;
	float narrow;

	memcpy(&wide, &bits, sizeof(wide));
	memcpy(&narrow, &bits, sizeof(narrow));
	return width == 4 ? isnan(narrow) : isnan(wide);
}

/* An element as an integer that compares as it does: worked out by itself. */
static s128 element(const struct input *in, u8 vtype, u32 i)
{
	u32 width = in->vlen / AGGNET_BLOCK_ELEMENTS;
	s64 bits = 0;

	memcpy(&bits, in->value + i * width, width);
	if (width && width < 8)
		bits = (s64)((u64)bits << (64 - 8 * width)) >>
		       (64 - 8 * width);
	if (!aggnet_vtype_real(vtype))
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
				    !aggnet_vtype_real(vtype))
					check_blocks(_metadata, functions[f],
						     vtype, round);
	EXPECT_EQ(0, shim_alloc_live);
}

#define BLOCKS	300
#define AHEAD	20

/* One source's number of a block, as a packet. */
static void give_block(struct aggnet_table *t, u32 block, u32 value)
{
	u8 buf[AGGNET_RECORD_MAX];
	u32 klen = aggnet_vector_key_put(&t->shape, block, buf + 2);
	u32 i;

	buf[0] = klen;
	buf[1] = 4 * AGGNET_BLOCK_ELEMENTS;
	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++)
		memcpy(buf + 2 + klen + 4 * i, &value, 4);
	take(t, buf, 2 + klen + buf[1], 1, 1, true);
}

/* What is ripe leaves: has each block been given by all, and only once? */
static u32 take_ripe(struct __test_metadata *_metadata, struct aggnet_table *t,
		     const u32 *given, const u64 *sum, u32 *out)
{
	u64 represents;
	u8 buf[PAYLOAD], *at;
	u32 len, n, block;

	len = aggnet_table_pack_ripe(t, buf, sizeof(buf),
				     1 + get_random_u32() % 8, &n, &represents);
	EXPECT_EQ(n * (u64)SOURCES, represents);
	for (at = buf; at < buf + len; at += 2 + at[0] + at[1]) {
		struct aggnet_value v;

		block = aggnet_vector_key_get(at + 2, at[0]);
		EXPECT_EQ(SOURCES, given[block]);
		EXPECT_EQ(1, ++out[block]);
		v = aggnet_plain_get(at + 2 + at[0],
				     at[1] / AGGNET_BLOCK_ELEMENTS);
		EXPECT_EQ(sum[block], v.lo);
	}
	return n;
}

/* Sources at different speeds, neighbouring blocks out of order. */
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
			/* Pairs of blocks change places. */
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

/* One who was not expected comes too late: it waits for the flow's end. */
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

/* A sum in several parts is one contribution. */
TEST(vector__parts_count_once)
{
	const struct aggnet_shape shape = {
		.vtype = AGGNET_VTYPE_FLOAT64,
		.layout = AGGNET_LAYOUT_DENSE, .elements = 1,
	};
	static const double value[] = { 0x1p1000, 0x1p-1000 };
	struct aggnet_table from, to;
	u8 buf[PAYLOAD] = { 1, 8, 0 };
	u64 represents;
	u32 i, len, n;

	start(&from, &shape);
	start(&to, &shape);
	from.expected = 2;
	to.expected = 2;
	for (i = 0; i < 2; i++) {
		memcpy(buf + 3, &value[i], 8);
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

/* --- product --------------------------------------------------------------- */

TEST(value_mul__against_the_compiler)
{
	int i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (i = 0; i < 100000; i++) {
		s128 a = (s128)((u128)get_random_u64() << 64 |
				get_random_u64()) >> (get_random_u32() % 128);
		s128 b = (s128)((u128)get_random_u64() << 64 |
				get_random_u64()) >> (get_random_u32() % 128);
		struct aggnet_value x = { (u64)a, (u64)((u128)a >> 64) };
		struct aggnet_value y = { (u64)b, (u64)((u128)b >> 64) };
		struct oracle o = { .count = 1, .product = a, .zero = !a || !b };

		if (aggnet_value_beyond(&x) || aggnet_value_beyond(&y))
			continue;
		o.beyond = __builtin_mul_overflow(a, b, &o.product);
		aggnet_value_mul(&x, &y);
		ASSERT_TRUE(product_is(&o, &x))
			TH_LOG("round %d", i);
	}
}

/* The bound itself, from both sides, and what no factor brings back. */
TEST(value_mul__at_the_bound)
{
	const struct aggnet_value half = { 0, 1ULL << 62 };
	const struct aggnet_value minus = aggnet_value_s64(-1);
	const struct aggnet_value two = aggnet_value_s64(2);
	const struct aggnet_value nil = aggnet_value_s64(0);
	struct aggnet_value v = half;

	aggnet_value_mul(&v, &minus);
	EXPECT_TRUE(wide(&v) == -((s128)1 << 126));
	aggnet_value_mul(&v, &two);
	EXPECT_TRUE(aggnet_value_beyond(&v));
	aggnet_value_mul(&v, &minus);
	EXPECT_TRUE(aggnet_value_beyond(&v));
	aggnet_value_mul(&v, &nil);
	EXPECT_TRUE(!wide(&v));
	aggnet_value_mul(&v, &half);
	EXPECT_TRUE(!wide(&v));
}

/* --- form ------------------------------------------------------------------ */

TEST(plain_put__every_length_comes_back)
{
	struct aggnet_value v, got;
	u8 buf[AGGNET_PLAIN_MAX];
	u32 len, bits;
	s128 x;

	for (bits = 0; bits < 127; bits++)
		for (x = ((s128)1 << bits) - 2; x <= ((s128)1 << bits) + 1; x++) {
			s128 y = bits & 1 ? x : -x;

			v = (struct aggnet_value){ (u64)y,
						   (u64)((u128)y >> 64) };
			len = aggnet_plain_put(buf, &v);
			EXPECT_EQ(aggnet_value_len(&v), len);
			got = aggnet_plain_get(buf, len);
			EXPECT_TRUE(wide(&got) == y);
		}
}

TEST(state_check__means)
{
	const struct aggnet_shape shape = { .function = AGGNET_FN_AVERAGE };
	u8 value[64] = { 0 };
	u32 vlen, count;

	for (count = 0; count < 12; count++)
		for (vlen = 0; vlen < 40; vlen++) {
			value[0] = count;
			EXPECT_EQ(count >= 1 && count <= 8 && vlen > count &&
				  vlen <= 17 + count,
				  aggnet_state_check(&shape, value, vlen,
						     false));
			EXPECT_EQ(vlen <= 8, aggnet_state_check(&shape, value,
								vlen, true));
		}
}

TEST(shape_fault__names_the_attribute)
{
	static const struct {
		struct aggnet_shape shape;
		int attr;
	} row[] = {
		{ { .function = AGGNET_FN_LXOR }, 0 },
		{ { .function = __AGGNET_FN_MAX }, AGGNET_A_TREE_FUNCTION },
		{ { .vtype = __AGGNET_VTYPE_MAX }, AGGNET_A_TREE_VTYPE },
		{ { .layout = __AGGNET_LAYOUT_MAX }, AGGNET_A_TREE_LAYOUT },
		{ { .scale = 1 }, AGGNET_A_TREE_SCALE },
		{ { .k = 1 }, AGGNET_A_TREE_K },
		{ { .function = AGGNET_FN_TOPK, .k = 64 }, 0 },
		{ { .function = AGGNET_FN_TOPK }, AGGNET_A_TREE_K },
		{ { .function = AGGNET_FN_NEAREST, .k = 65 }, AGGNET_A_TREE_K },
		{ { .vtype = AGGNET_VTYPE_FIXED, .scale = 62 }, 0 },
		{ { .vtype = AGGNET_VTYPE_FIXED }, AGGNET_A_TREE_SCALE },
		{ { .vtype = AGGNET_VTYPE_FIXED, .scale = 63 },
		  AGGNET_A_TREE_SCALE },
		{ { .function = AGGNET_FN_PRODUCT,
		    .vtype = AGGNET_VTYPE_FLOAT64 }, AGGNET_A_TREE_FUNCTION },
		{ { .function = AGGNET_FN_TOPK, .k = 1,
		    .vtype = AGGNET_VTYPE_FLOAT32 }, AGGNET_A_TREE_FUNCTION },
		{ { .elements = 1 }, AGGNET_A_TREE_ELEMENTS },
		{ { .layout = AGGNET_LAYOUT_DENSE, .elements = 1 }, 0 },
		{ { .layout = AGGNET_LAYOUT_DENSE, .elements = 0xffffffff,
		    .vtype = AGGNET_VTYPE_FLOAT32 }, 0 },
		{ { .layout = AGGNET_LAYOUT_DENSE }, AGGNET_A_TREE_ELEMENTS },
		{ { .layout = AGGNET_LAYOUT_DENSE, .elements = 1ULL << 32 },
		  AGGNET_A_TREE_ELEMENTS },
		{ { .layout = AGGNET_LAYOUT_DENSE, .elements = 1,
		    .function = AGGNET_FN_AVERAGE }, AGGNET_A_TREE_FUNCTION },
	};
	const char *text;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		text = NULL;
		EXPECT_EQ(row[i].attr, aggnet_shape_fault(&row[i].shape, &text));
		EXPECT_EQ(!row[i].attr, !text);
	}
}

TEST_HARNESS_MAIN
