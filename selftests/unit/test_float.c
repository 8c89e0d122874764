// SPDX-License-Identifier: GPL-2.0
/* Unit tests of reals: their order, and exact sums compared with integers. */
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/string.h>
#include <math.h>
#include <stdlib.h>

#include <linux/aggnet_packet.h>

#include "../../tools/libaggnet/round.c"
#include "../uapi/harness.h"

#define SEED	0x7265616c

#define s128 __int128

static u64 bits_of(double d)
{
	u64 bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

static u64 bits32_of(float f)
{
	u32 bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static struct aggnet_float_sum *new_sum(unsigned int vtype)
{
	return calloc(1, sizeof(struct aggnet_float_sum) +
			 8 * aggnet_float_sum_words(vtype));
}

static double total(const double *v, size_t n)
{
	struct aggnet_float_sum *sum = new_sum(AGGNET_VTYPE_FLOAT64);
	double out = -1;

	while (n--)
		aggnet_float_sum_add(sum, AGGNET_VTYPE_FLOAT64, bits_of(*v++));
	if (!sum_round(sum, AGGNET_VTYPE_FLOAT64, 1, &out))
		out = -77;
	free(sum);
	return out;
}

#define TOTAL(...) ({							\
	const double v_[] = { __VA_ARGS__ };				\
									\
	total(v_, ARRAY_SIZE(v_)); })

TEST(real_order__is_that_of_the_numbers)
{
	static const double v[] = {
		-INFINITY, -1.7976931348623157e308, -1, -2.2250738585072014e-308,
		-5e-324, -0.0, 0.0, 5e-324, 1, 1.0000000000000002, INFINITY, NAN,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(v); i++) {
		s64 order = aggnet_float_order(AGGNET_VTYPE_FLOAT64,
					       bits_of(v[i]));
		s64 order32 = aggnet_float_order(AGGNET_VTYPE_FLOAT32,
						 bits32_of((float)v[i]));

		EXPECT_TRUE(isnan(v[i]) ||
			    order_real(AGGNET_VTYPE_FLOAT64, order) == v[i]);
		EXPECT_TRUE(isnan(v[i]) ||
			    order_real(AGGNET_VTYPE_FLOAT32, order32) ==
			    (float)v[i]);
		if (!i)
			continue;
		EXPECT_LT(aggnet_float_order(AGGNET_VTYPE_FLOAT64,
					     bits_of(v[i - 1])), order);
		EXPECT_LE(aggnet_float_order(AGGNET_VTYPE_FLOAT32,
					     bits32_of((float)v[i - 1])),
			  order32);
	}
	EXPECT_EQ(aggnet_float_order(AGGNET_VTYPE_FLOAT64, bits_of(NAN)),
		  aggnet_float_order(AGGNET_VTYPE_FLOAT64, bits_of(-NAN) | 5));
}

TEST(sum_round__known_sums)
{
	EXPECT_EQ(0, TOTAL(0.0));
	EXPECT_EQ(1e-300, TOTAL(1e300, 1e-300, -1e300));
	EXPECT_EQ(2, TOTAL(1, 1e100, 1, -1e100));
	EXPECT_EQ(5e-324, TOTAL(5e-324));
	EXPECT_EQ(-5e-324, TOTAL(-5e-324));
	EXPECT_EQ(1.7976931348623157e308,
		  TOTAL(1.7976931348623157e308, 1e291, -1e291));
	/* Half way rounds to even; any larger number rounds up. */
	EXPECT_EQ(1, TOTAL(1, 0x1p-53));
	EXPECT_EQ(1 + 0x1p-52, TOTAL(1, 0x1p-53, 5e-324));
	EXPECT_EQ(1 + 0x1p-51, TOTAL(1 + 0x1p-52, 0x1p-53));
	EXPECT_EQ(-1 - 0x1p-51, TOTAL(-1 - 0x1p-52, -0x1p-53));
	/* A partial sum exceeds the range, and the result is within it. */
	EXPECT_EQ(1e308, TOTAL(1e308, 1e308, 1e308, -1e308, -1e308));
	EXPECT_EQ(-77, TOTAL(1.7976931348623157e308, 1.7976931348623157e308));
	EXPECT_EQ(INFINITY, TOTAL(1, INFINITY, -1e308));
	EXPECT_EQ(-INFINITY, TOTAL(-INFINITY, -INFINITY));
	EXPECT_TRUE(isnan(TOTAL(INFINITY, -INFINITY)));
	EXPECT_TRUE(isnan(TOTAL(1, NAN)));
}

/* On a grid where 128-bit integers are exact, they give the expected sum. */
TEST(sum_round__against_integers)
{
	double v[200];
	s128 sum;
	int i, n, round;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (round = 0; round < 2000; round++) {
		sum = 0;
		n = 1 + get_random_u32() % 200;
		for (i = 0; i < n; i++) {
			s64 mantissa = (s64)get_random_u64() >>
				       (11 + get_random_u32() % 50);
			int up = get_random_u32() % 60;

			v[i] = ldexp((double)mantissa, up - 40);
			sum += (s128)mantissa * ((s128)1 << up);
		}
		ASSERT_EQ(ldexp((double)sum, -40), total(v, n))
			TH_LOG("round %d", round);
	}
}

TEST(sum_round__binary32)
{
	struct aggnet_float_sum *sum;
	double out;
	s128 want;
	int i, n, round;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (round = 0; round < 2000; round++) {
		sum = new_sum(AGGNET_VTYPE_FLOAT32);
		want = 0;
		n = 1 + get_random_u32() % 50;
		for (i = 0; i < n; i++) {
			s32 mantissa = (s32)get_random_u32() >> 8;
			int up = get_random_u32() % 60;
			float f = ldexpf((float)mantissa, up - 30);

			aggnet_float_sum_add(sum, AGGNET_VTYPE_FLOAT32,
					     bits32_of(f));
			want += (s128)mantissa * ((s128)1 << up);
		}
		ASSERT_TRUE(sum_round(sum, AGGNET_VTYPE_FLOAT32, 1, &out));
		ASSERT_EQ(ldexpf((float)want, -30), (float)out)
			TH_LOG("round %d", round);
		free(sum);
	}
}

/* Return: the average of @v, rounded once; -77: the sum is refused */
static double average(unsigned int vtype, const double *v, size_t n)
{
	struct aggnet_float_sum *sum = new_sum(vtype);
	double out = -1;
	size_t i;

	for (i = 0; i < n; i++)
		aggnet_float_sum_add(sum, vtype, vtype == AGGNET_VTYPE_FLOAT64 ?
				     bits_of(v[i]) : bits32_of((float)v[i]));
	if (!sum_round(sum, vtype, n, &out))
		out = -77;
	free(sum);
	return out;
}

#define AVERAGE(type, ...) ({						\
	const double v_[] = { __VA_ARGS__ };				\
									\
	average(AGGNET_VTYPE_##type, v_, ARRAY_SIZE(v_)); })

/* Rounded once, to the type: the sum itself may not fit the type. */
TEST(average__known_ones)
{
	EXPECT_EQ(3e38f, AVERAGE(FLOAT32, 3e38, 3e38));
	EXPECT_EQ(1.7e308, AVERAGE(FLOAT64, 1.7e308, 1.7e308, 1.7e308));
	EXPECT_EQ(-1.7e308, AVERAGE(FLOAT64, -1.7e308, -1.7e308));
	EXPECT_EQ(5592405.5, AVERAGE(FLOAT32, 0x1p24, 1, 0));
	EXPECT_EQ(3002399751580331, AVERAGE(FLOAT64, 0x1p53, 1, 0));
	EXPECT_EQ(-3002399751580331, AVERAGE(FLOAT64, -0x1p53, -1, 0));
	/* Half of the least number rounds to even. */
	EXPECT_EQ(0, AVERAGE(FLOAT64, 5e-324, 0));
	EXPECT_EQ(5e-324, AVERAGE(FLOAT64, 5e-324, 5e-324, 0));
	EXPECT_EQ(1e-323, AVERAGE(FLOAT64, 1e-323, 5e-324));
	EXPECT_EQ(0x1p-149, AVERAGE(FLOAT32, 0x1p-149, 0x1p-149, 0));
	EXPECT_EQ(INFINITY, AVERAGE(FLOAT64, INFINITY, 1));
	EXPECT_TRUE(isnan(AVERAGE(FLOAT32, INFINITY, -INFINITY)));
}

/*
 * The result is the nearest number: its neighbours are not nearer to the
 * quotient.
 */
TEST(mean_round__no_other_is_nearer)
{
	u64 count;
	double mean;
	s128 error;
	int round;
	s64 sum;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (round = 0; round < 20000; round++) {
		sum = (s64)get_random_u64() >> (get_random_u32() % 60);
		count = 1 + (get_random_u64() >> (34 + get_random_u32() % 30));
		mean = mean_round((s128)sum * 5, count, 0);
		if (fabs(mean) < 1 || fabs(mean) >= 0x1p62)
			continue;
		/* A mean of at least 1 is a multiple of 2^-52. */
		error = (s128)ldexp(mean - trunc(mean), 52) * count +
			(((s128)trunc(mean) * count - (s128)sum * 5) *
			 ((s128)1 << 52));
		if (error < 0)
			error = -error;
		ASSERT_LE(2 * error, (s128)ldexp(nextafter(fabs(mean), INFINITY) -
						 fabs(mean), 52) * count)
			TH_LOG("round %d: %lld / %llu", round, (long long)sum,
			       (unsigned long long)count);
	}
	EXPECT_EQ(0.5, mean_round(2, 1, 2));
	EXPECT_EQ(-0.5, mean_round(-3, 3, 1));
	EXPECT_EQ(0, mean_round(0, 3, 0));
	EXPECT_EQ(0x1p-64, mean_round(1, ~0ULL, 0));
	EXPECT_EQ(-0x1p63, mean_round((s128)INT64_MIN * INT32_MAX, INT32_MAX, 0));
}

TEST(real_check__bounds)
{
	u8 buf[AGGNET_VALUE_MAX] = { 0 };
	u32 bytes = 8 * AGGNET_SUM_WORDS32, len, place;

	for (len = 0; len < 80; len++)
		for (place = 0; place < 80; place++) {
			buf[2] = place;
			EXPECT_EQ(len >= 4 && len - 4 + place <= bytes,
				  aggnet_float_sum_check(AGGNET_VTYPE_FLOAT32,
							 buf, len));
		}
	buf[2] = 0;
	buf[0] = 0x08;
	EXPECT_FALSE(aggnet_float_sum_check(AGGNET_VTYPE_FLOAT32, buf, 9));
	buf[0] = 0x87;
	EXPECT_TRUE(aggnet_float_sum_check(AGGNET_VTYPE_FLOAT32, buf, 9));
	buf[1] = 9;
	EXPECT_FALSE(aggnet_float_sum_check(AGGNET_VTYPE_FLOAT32, buf, 40));
	buf[1] = 8;
	EXPECT_FALSE(aggnet_float_sum_check(AGGNET_VTYPE_FLOAT32, buf, 11));
	EXPECT_TRUE(aggnet_float_sum_check(AGGNET_VTYPE_FLOAT32, buf, 12));
}

/* Storing one part gives one part, though its sign may take another byte. */
TEST(real_put__parts_of_parts)
{
	u32 size = sizeof(struct aggnet_float_sum) + 8 * AGGNET_SUM_WORDS64;
	u32 round, part, parts, len, two = 0;
	struct aggnet_float_sum *sum, *of;
	u8 buf[AGGNET_VALUE_MAX];
	int i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (round = 0; round < 2000; round++) {
		sum = new_sum(AGGNET_VTYPE_FLOAT64);
		of = new_sum(AGGNET_VTYPE_FLOAT64);
		for (i = 0; i < 3; i++)
			aggnet_float_sum_add(sum, AGGNET_VTYPE_FLOAT64,
					     get_random_u64());
		part = parts = 0;
		do {
			len = aggnet_float_sum_put(sum, AGGNET_VTYPE_FLOAT64,
						   &part, buf);
			ASSERT_TRUE(aggnet_float_sum_check(AGGNET_VTYPE_FLOAT64,
							   buf, len));
			memset(of, 0, size);
			aggnet_float_sum_merge(of, AGGNET_VTYPE_FLOAT64, buf,
					       len);
			ASSERT_EQ(1, aggnet_float_sum_parts(of, AGGNET_VTYPE_FLOAT64))
				TH_LOG("round %u", round);
			parts++;
		} while (part);
		ASSERT_EQ(parts, aggnet_float_sum_parts(sum,
							AGGNET_VTYPE_FLOAT64));
		two += parts == 2;
		free(sum);
		free(of);
	}
	EXPECT_NE(0, two);
}

TEST_HARNESS_MAIN
