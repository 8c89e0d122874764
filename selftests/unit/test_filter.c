// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the filter that packets carry, compared with a slow one that
 * computes positions in another way: it has no false negatives, its false
 * positives are as computed, and every malformed filter is refused.
 */
#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/unaligned.h>
#include <math.h>
#include "core/filter.h"

#include "../uapi/harness.h"

#define SEED	0x66696c74

union filter {
	struct aggnet_filter head;
	u8 bytes[AGGNET_FILTER_MAX];
};

static void start(union filter *f, u32 bits, u8 hashes, u8 salt)
{
	memset(f, 0, sizeof(*f));
	f->head.bits = cpu_to_be16(bits);
	f->head.hashes_digits = hashes;
	f->head.salt = salt;
}

/* Position number @n of a name, in closed form. */
static u32 position(u64 key, u64 name, u32 n, u32 bits)
{
	struct aggnet_filter_walk w = aggnet_filter_start(key, name);
	u32 growth = n ? (u64)(n - 1) * n * (n + 1) / 6 : 0;
	u32 at = w.at + n * w.step + growth * 0x9e3779b9u;

	return (u64)at * bits / (1ULL << 32);
}

static void put(union filter *f, u64 key, u64 name)
{
	u32 bits = be16_to_cpu(f->head.bits), n, bit;

	for (n = 0; n < (f->head.hashes_digits & 15u); n++) {
		bit = position(key, name, n, bits);
		f->bytes[sizeof(f->head) + bit / 8] |= 1 << bit % 8;
	}
}

static bool slow_test(const union filter *f, u64 key, u64 name)
{
	u32 bits = be16_to_cpu(f->head.bits), n, bit;

	for (n = 0; n < (f->head.hashes_digits & 15u); n++) {
		bit = position(key, name, n, bits);
		if (!(f->bytes[sizeof(f->head) + bit / 8] & 1 << bit % 8))
			return false;
	}
	return true;
}

/* The sizes of the largest and of the smallest filter. */
TEST(size__of_every_filter)
{
	u32 bits, digits;

	EXPECT_EQ(4, sizeof(struct aggnet_filter));
	EXPECT_EQ(8, aggnet_filter_size(AGGNET_FILTER_BITS_MIN, 0));
	EXPECT_EQ(AGGNET_FILTER_MAX,
		  aggnet_filter_size(AGGNET_FILTER_BITS_MAX, 0));
	for (bits = 8; bits <= AGGNET_FILTER_BITS_MAX; bits++)
		for (digits = 0; digits <= 15; digits++) {
			size_t size = aggnet_filter_size(bits, digits);
			size_t used = 4 + DIV_ROUND_UP(bits, 8) + digits;

			ASSERT_EQ(0, size % 8);
			ASSERT_LE(used, size);
			ASSERT_LT(size, used + 8);
		}
}

TEST(ok__the_size_that_it_has_and_no_other)
{
	union filter f;
	u32 bits, digits;
	size_t size;

	for (bits = 8; bits <= AGGNET_FILTER_BITS_MAX; bits += 3)
		for (digits = 0; digits <= 15; digits++) {
			start(&f, bits, 3, 0);
			f.head.hashes_digits |= digits << 4;
			for (size = 8; size <= sizeof(f); size += 8)
				ASSERT_EQ(size == aggnet_filter_size(bits,
								     digits),
					  aggnet_filter_ok(&f.head, size));
		}
}

TEST(ok__at_least_eight_bits)
{
	union filter f;
	u32 bits;

	for (bits = 0; bits <= 8; bits++) {
		start(&f, bits, 1, 0);
		EXPECT_EQ(bits == 8, aggnet_filter_ok(&f.head, 8));
	}
}

/* Every bit of a filter may be set; the bits behind it must be 0. */
TEST(ok__what_is_not_used_is_zero)
{
	u32 bits, bit, digits, used;
	union filter f;
	size_t size;

	for (bits = 8; bits <= 200; bits += 7)
		for (digits = 0; digits <= 2; digits++) {
			start(&f, bits, 3, 7);
			f.head.hashes_digits |= digits << 4;
			size = aggnet_filter_size(bits, digits);
			used = DIV_ROUND_UP(bits, 8) * 8 + digits * 8;
			for (bit = 0; bit < (size - 4) * 8; bit++) {
				bool is_used = bit < bits ||
					(bit >= DIV_ROUND_UP(bits, 8) * 8 &&
					 bit < used);

				f.bytes[4 + bit / 8] ^= 1 << bit % 8;
				ASSERT_EQ(is_used,
					  aggnet_filter_ok(&f.head, size))
					TH_LOG("bit %u of %u, %u digits", bit,
					       bits, digits);
				f.bytes[4 + bit / 8] ^= 1 << bit % 8;
			}
		}
}

TEST(test__every_position_is_one_of_its_bits)
{
	struct aggnet_filter_walk w;
	u32 bits, n;
	u64 name;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (bits = 8; bits <= AGGNET_FILTER_BITS_MAX; bits++) {
		u64 key = get_random_u64();

		name = get_random_u64();
		w = aggnet_filter_start(key, name);
		for (n = 0; n < 15; n++) {
			u32 bit = aggnet_filter_next(&w, bits);

			ASSERT_LT(bit, bits);
			ASSERT_EQ(position(key, name, n, bits), bit);
		}
	}
}

/* Random paths and random filters: each link of each path is found. */
TEST(test__no_false_negative_on_a_million_ways)
{
	enum { WAYS = 1000000, LINKS = 12 };
	u64 key, name[LINKS];
	u32 way, n, i, bits;
	union filter f;
	u8 salt;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (way = 0; way < WAYS; way++) {
		bits = 8 + get_random_u32() % 128;
		salt = get_random_u32();
		start(&f, bits, 1 + get_random_u32() % 15, salt);
		key = aggnet_filter_key(get_random_u64(), salt);
		n = 1 + get_random_u32() % LINKS;
		for (i = 0; i < n; i++) {
			name[i] = get_random_u64() >> 12;
			put(&f, key, name[i]);
		}
		for (i = 0; i < n; i++)
			ASSERT_TRUE(aggnet_filter_test(&f.head, key, name[i]));
		name[0] = get_random_u64() >> 12;
		ASSERT_EQ(slow_test(&f, key, name[0]),
			  aggnet_filter_test(&f.head, key, name[0]));
	}
}

/*
 * (1 - (1 - 1/m)^(hn))^h, within five standard deviations and 15 % for what the
 * formula of independent bits leaves out in small filters.
 */
static void check_rate(struct __test_metadata *_metadata, u32 bits, u8 hashes,
		       u32 links)
{
	enum { FILTERS = 4000, PROBES = 100 };
	u64 hits = 0, tries = 0, key;
	double rate, slack;
	union filter f;
	u32 n, i;

	for (n = 0; n < FILTERS; n++) {
		start(&f, bits, hashes, n);
		key = aggnet_filter_key(get_random_u32(), n);
		for (i = 0; i < links; i++)
			put(&f, key, i * 4096 + n);
		for (i = links; i < links + PROBES; i++, tries++)
			hits += aggnet_filter_test(&f.head, key, i * 4096 + n);
	}
	rate = pow(1 - pow(1 - 1.0 / bits, hashes * links), hashes);
	slack = 5 * sqrt(rate * (1 - rate) * tries) + 0.15 * rate * tries + 5;
	TH_LOG("%u bits, %u hashes, %u links: %.6f, theory %.6f", bits, hashes,
	       links, (double)hits / tries, rate);
	EXPECT_TRUE(fabs(hits - rate * tries) <= slack);
}

TEST(test__false_positives_as_in_theory)
{
	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	check_rate(_metadata, 38, 3, 10);
	check_rate(_metadata, 58, 3, 12);
	check_rate(_metadata, 102, 4, 16);
	check_rate(_metadata, 200, 1, 16);
	check_rate(_metadata, 200, 9, 16);
	check_rate(_metadata, 992, 6, 100);
}

TEST(test__another_salt_or_tree_other_positives)
{
	enum { NAMES = 20000 };
	u64 key[3] = { aggnet_filter_key(1, 1), aggnet_filter_key(1, 2),
		       aggnet_filter_key(2, 1) };
	u32 either = 0, both[3] = { 0, 0, 0 };
	union filter f[3];
	u64 name;
	int i;

	for (i = 0; i < 3; i++) {
		start(&f[i], 64, 4, 0);
		for (name = 0; name < 10; name++)
			put(&f[i], key[i], name);
	}
	for (name = 10; name < NAMES; name++) {
		bool in[3];

		for (i = 0; i < 3; i++)
			in[i] = aggnet_filter_test(&f[i].head, key[i], name);
		either += in[0] || in[1] || in[2];
		for (i = 0; i < 3; i++)
			both[i] += in[i] && in[(i + 1) % 3];
	}
	EXPECT_LT(0, either);
	for (i = 0; i < 3; i++)
		EXPECT_LT(both[i], either / 4);
}

TEST(spend__nothing_is_found_any_more)
{
	union filter f;

	start(&f, 8, 2, 0);
	f.head.hashes_digits |= 2 << 4;
	memset(f.bytes + 4, 0xff, 1);
	EXPECT_FALSE(aggnet_filter_spent(&f.head));
	EXPECT_TRUE(aggnet_filter_test(&f.head, 1, 2));
	aggnet_filter_spend(&f.head);
	EXPECT_TRUE(aggnet_filter_spent(&f.head));
	EXPECT_FALSE(aggnet_filter_test(&f.head, 1, 2));
	EXPECT_TRUE(aggnet_filter_ok(&f.head, 8));
	EXPECT_EQ(2, aggnet_filter_digits(&f.head));
}

TEST(digit__of_each_level)
{
	union filter f;
	int level;

	start(&f, 17, 2, 0);
	EXPECT_EQ(-1, aggnet_filter_digit(&f.head, 0));
	f.head.hashes_digits |= 15 << 4;
	for (level = 0; level < 15; level++)
		f.bytes[4 + 3 + level] = 255 - level;
	for (level = 0; level < 15; level++)
		EXPECT_EQ(255 - level, aggnet_filter_digit(&f.head, level));
	EXPECT_EQ(-1, aggnet_filter_digit(&f.head, 15));
	EXPECT_EQ(-1, aggnet_filter_digit(&f.head, 255));
}

TEST_HARNESS_MAIN
