// SPDX-License-Identifier: GPL-2.0
/* Unit tests of records in packets: every length of key and value, and records
 * that are cut at any byte.
 */
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/random.h>
#include <stdlib.h>

#include "core/record.h"

#include "../uapi/harness.h"

#define SEED	0x636f6463

static const struct aggnet_shape plain = { .function = AGGNET_FN_SUM };

#define s128 __int128
#define u128 unsigned __int128

static s128 wide(struct aggnet_value v)
{
	return (s128)((u128)v.hi << 64 | v.lo);
}

static struct aggnet_value value(s128 x)
{
	return (struct aggnet_value){ .lo = (u64)x, .hi = (u64)((u128)x >> 64) };
}

TEST(value_get__every_length_and_key)
{
	unsigned int klen, vlen, i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (klen = 1; klen <= AGGNET_KEY_MAX; klen++)
		for (vlen = 0; vlen <= AGGNET_PLAIN_MAX; vlen++) {
			u8 *rec = malloc(2 + klen + vlen);
			struct aggnet_record got;
			u128 want = 0;

			get_random_bytes(rec, 2 + klen + vlen);
			rec[0] = klen;
			rec[1] = vlen;
			for (i = 0; i < vlen; i++)
				want |= (u128)rec[2 + klen + i] << (8 * i);
			if (vlen && vlen < 16 && want >> (8 * vlen - 1))
				want |= (u128)-1 << (8 * vlen);
			ASSERT_EQ(2 + klen + vlen, aggnet_record_get(rec, &got));
			ASSERT_EQ(klen, got.klen);
			ASSERT_TRUE(got.key == rec + 2);
			ASSERT_TRUE(wide(got.value) == (s128)want)
				TH_LOG("key %u, value %u bytes", klen, vlen);
			free(rec);
		}
}

/* Each length of value at its limits: 2^b - 1, 2^b, -2^b, -2^b - 1. */
TEST(value_len__is_minimal)
{
	s128 at[4];
	int bit, i;

	EXPECT_EQ(0, aggnet_value_len(&(struct aggnet_value){ 0, 0 }));
	for (bit = 0; bit < 127; bit++) {
		at[0] = ((s128)1 << bit) - 1;
		at[1] = (s128)1 << bit;
		at[2] = -((s128)1 << bit);
		at[3] = -((s128)1 << bit) - 1;
		for (i = 0; i < 4; i++) {
			struct aggnet_value v = value(at[i]);
			u32 len = aggnet_value_len(&v);
			s128 short_of = len < 2 ? 0 :
				(s128)((u128)at[i] << (136 - 8 * len)) >>
				(136 - 8 * len);

			ASSERT_LE(len, 16);
			ASSERT_EQ(at[i] == 0, len == 0);
			if (len < 16)
				ASSERT_TRUE((at[i] >> (8 * len - !!len)) ==
					    (at[i] < 0 ? -1 : 0));
			if (len)
				ASSERT_TRUE(short_of != at[i]);
		}
	}
}

TEST(parse_records__every_pair_of_lengths)
{
	u8 buf[2 + 255 + 255] = { 0 };
	unsigned int klen, vlen;

	for (klen = 0; klen < 256; klen++)
		for (vlen = 0; vlen < 256; vlen++) {
			int want = klen && vlen <= 16 ? 1 : -EBADMSG;
			int own = want == 1 && vlen > 8 ? -ERANGE : want;

			buf[0] = klen;
			buf[1] = vlen;
			ASSERT_EQ(want, aggnet_parse_records(&plain, false, buf,
							     2 + klen + vlen, 9))
				TH_LOG("key %u, value %u bytes", klen, vlen);
			ASSERT_EQ(own, aggnet_parse_records(&plain, true, buf,
							    2 + klen + vlen, 9))
				TH_LOG("key %u, value %u bytes", klen, vlen);
		}
}

/* Records of equal lengths are followed by one of another length, right or wrong. */
TEST(parse_records__lengths_that_change)
{
	static const u8 wrong[][2] = { { 0, 4 }, { 4, 17 }, { 0, 0 } };
	unsigned int run, i, klen;
	u8 buf[256];

	for (run = 0; run < 20; run++)
		for (klen = 1; klen < 9; klen++) {
			size_t at = run * 8;

			memset(buf, 0, sizeof(buf));
			for (i = 0; i < run; i++) {
				buf[i * 8] = 4;
				buf[i * 8 + 1] = 2;
			}
			buf[at] = klen;
			buf[at + 1] = 3;
			EXPECT_EQ(run + 1, aggnet_parse_records(&plain, false, buf,
								at + 5 + klen, 99));
			EXPECT_EQ(-EBADMSG,
				  aggnet_parse_records(&plain, false, buf,
						       at + 4 + klen, 99));
			for (i = 0; i < 3; i++) {
				memcpy(buf + at, wrong[i], 2);
				EXPECT_EQ(-EBADMSG,
					  aggnet_parse_records(&plain, false, buf,
							       at + 30, 99));
			}
		}
}

TEST(parse_lengths__only_if_all_are_equal)
{
	u8 buf[9 * 20] = { 0 };
	unsigned int n, i;
	u32 all;

	for (i = 0; i < 20; i++) {
		buf[9 * i] = 4;
		buf[9 * i + 1] = 3;
	}
	EXPECT_EQ(0, aggnet_parse_lengths(&plain, false, buf, 0, 99, &all));
	EXPECT_EQ(0, all);
	for (n = 1; n <= 20; n++) {
		EXPECT_EQ(n, aggnet_parse_lengths(&plain, false, buf, 9 * n, 99,
						  &all));
		EXPECT_EQ(AGGNET_LENGTHS(4, 3), all);
		if (n == 1)
			continue;
		for (i = 0; i < n; i++) {
			buf[9 * i] = 3;		/* together as long as the others */
			buf[9 * i + 1] = 4;
			EXPECT_EQ(n, aggnet_parse_lengths(&plain, false, buf,
							  9 * n, 99, &all));
			EXPECT_EQ(0, all);
			buf[9 * i] = 4;
			buf[9 * i + 1] = 3;
		}
	}
}

TEST(parse_records__every_cut)
{
	struct aggnet_value v = aggnet_value_s64(-300);
	size_t starts[8], len = 0, cut;
	u8 buf[128], *part;
	int i, want;

	for (i = 0; i < 8; i++) {
		starts[i] = len;
		len += aggnet_record_put(buf + len, (u8 *)"abcdefgh", i + 1, &v);
	}
	for (cut = 0; cut <= len; cut++) {
		want = cut == len ? 8 : -EBADMSG;
		for (i = 0; i < 8; i++)
			if (cut == starts[i])
				want = i;
		part = malloc(cut ? cut : 1);
		memcpy(part, buf, cut);
		EXPECT_EQ(want, aggnet_parse_records(&plain, false, part, cut,
						     100))
			TH_LOG("cut at %zu", cut);
		free(part);
	}
}

TEST(parse_records__no_more_than_max)
{
	u8 buf[30];
	int i;

	for (i = 0; i < 30; i += 3)
		memcpy(buf + i, (u8 []){ 1, 0, 'k' }, 3);
	EXPECT_EQ(10, aggnet_parse_records(&plain, false, buf, 30, 10));
	EXPECT_EQ(-EBADMSG, aggnet_parse_records(&plain, false, buf, 30, 9));
	EXPECT_EQ(-EBADMSG, aggnet_parse_records(&plain, false, buf, 30, 0));
	EXPECT_EQ(0, aggnet_parse_records(&plain, false, buf, 0, 0));
}

TEST(record_put__comes_back)
{
	u8 key[AGGNET_KEY_MAX];
	int i, round;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (round = 0; round < 4000; round++) {
		s128 x = (s128)((u128)get_random_u64() << 64 |
				get_random_u64()) >> (round % 128);
		struct aggnet_value v = value(x);
		u8 klen = 1 + get_random_u32() % 255;
		struct aggnet_record rec;
		size_t len = aggnet_record_size(klen, &v);
		u8 *buf = malloc(len);

		for (i = 0; i < klen; i++)
			key[i] = get_random_u32();
		ASSERT_EQ(len, aggnet_record_put(buf, key, klen, &v));
		ASSERT_EQ(1, aggnet_parse_records(&plain, false, buf, len, 1));
		ASSERT_EQ(len, aggnet_record_get(buf, &rec));
		ASSERT_EQ(klen, rec.klen);
		ASSERT_EQ(0, memcmp(key, rec.key, klen));
		ASSERT_TRUE(wide(rec.value) == x);
		free(buf);
	}
}

TEST_HARNESS_MAIN
