// SPDX-License-Identifier: GPL-2.0
/* Unit tests of accumulators: each function of integers over a chain of tables,
 * compared with this file's own implementation.
 */
#include "chain.h"
#include "core/reduce.h"

static void put_number(struct input *in, s64 v)
{
	struct aggnet_value value = aggnet_value_s64(v);

	in->vlen = aggnet_value_put(in->value, &value);
}

static s64 number(const struct input *in)
{
	struct aggnet_value v = aggnet_value_get(in->value, in->value + in->vlen,
						 in->vlen);

	return (s64)v.lo;
}

/*
 * Keys with larger numbers get larger values, so that products exceed every
 * bound.
 */
static void draw_number(struct input *in)
{
	in->key = get_random_u32() % KEYS;
	if (in->key % 8 == 7 && get_random_u32() % 4 == 0)
		put_number(in, 0);
	else
		put_number(in, (s64)get_random_u64() >> (63 - in->key));
}

/* --- functions of integers ------------------------------------------------- */

/**
 * struct oracle - the expected result of a key, computed in one pass
 * @count: values
 * @sum: of them
 * @zero: a value is 0
 * @negative: the product is negative, if it is not 0
 * @log2: lower bound of the product's magnitude
 * @product: modulo 2^128
 * @and: bitwise AND; the others likewise
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
	/* -2^127 fits the compiler's type but not the accumulator. */
	if (o->beyond || o->product == least)
		return aggnet_value_beyond(v);
	return wide(v) == o->product;
}

static bool oracle_is(const struct oracle *o, u8 function, const void *accum)
{
	const struct aggnet_mean *mean = accum;
	const struct aggnet_value *v = accum;

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

/* Functions of single integers; other functions have their own tests. */
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
	void *accum[KEYS];
	struct chain c;
	u32 i;

	for (i = 0; i < records; i++) {
		draw_number(&in[i]);
		oracle_add(&want[in[i].key], number(&in[i]));
	}
	chain_start(&c, &shape);
	chain_run(&c, in, records);
	EXPECT_EQ(records, chain_result(&c, accum));
	for (i = 0; i < KEYS; i++) {
		EXPECT_TRUE(!want[i].count ||
			    oracle_is(&want[i], function, accum[i]))
			TH_LOG("function %u, key %u", function, i);
		free(accum[i]);
	}
	chain_free(&c);
	free(in);
}

TEST(accum__every_function_in_any_split_and_order)
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

/* At the bound, from both sides; no factor brings a product back into range. */
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

TEST(value_put__every_length_comes_back)
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
			len = aggnet_value_put(buf, &v);
			EXPECT_EQ(aggnet_value_len(&v), len);
			got = aggnet_value_get(buf, buf + len, len);
			EXPECT_TRUE(wide(&got) == y);
		}
}

TEST(accum_check__means)
{
	const struct aggnet_shape shape = { .function = AGGNET_FN_AVERAGE };
	u8 value[64] = { 0 };
	u32 vlen, count;

	for (count = 0; count < 12; count++)
		for (vlen = 0; vlen < 40; vlen++) {
			memset(value, 0, sizeof(value));
			value[0] = count;
			/* A mean of no values would divide by 0. */
			EXPECT_FALSE(aggnet_accum_check(&shape, value, vlen,
							false));
			value[count] = count ? 1 : 0;
			EXPECT_EQ(count >= 1 && count <= 8 && vlen > count &&
				  vlen <= 17 + count,
				  aggnet_accum_check(&shape, value, vlen,
						     false));
			EXPECT_EQ(vlen <= 8, aggnet_accum_check(&shape, value,
								vlen, true));
		}
}

TEST_HARNESS_MAIN
