// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the universal hash: equal to a slow reference that follows the
 * definition in Documentation/wire.rst step by step, and to known values.
 */
#include <linux/kernel.h>
#include <linux/random.h>

#include "core/uhash.h"

/* The same for machines without a type of 128 bits. */
#undef __SIZEOF_INT128__
#define aggnet_uhash		narrow_uhash
#define aggnet_uhash_init	narrow_uhash_init
#include "core/uhash.c"
#undef aggnet_uhash
#undef aggnet_uhash_init

#include "../uapi/harness.h"

#define SEED	0x75686173
#define BODY	8500

typedef unsigned __int128 wide_int;

static u8 body[BODY];

static struct aggnet_uhash_key known_key(void)
{
	const siphash_key_t sip = { {
		0x0706050403020100, 0x0f0e0d0c0b0a0908,
	} };
	struct aggnet_uhash_key key;

	aggnet_uhash_init(&key, &sip);
	return key;
}

/* --- the reference --------------------------------------------------------- */

/* a * b modulo m, which is below 2^127: by doubling. */
static wide_int times(wide_int a, wide_int b, wide_int m)
{
	wide_int product = 0;
	int bit;

	for (bit = 127; bit >= 0; bit--) {
		product = (product + product) % m;
		if (b >> bit & 1)
			product = (product + a % m) % m;
	}
	return product;
}

/* Word @i of a block of @len bytes, which zeros follow. */
static u64 word(const u8 *p, size_t len, size_t i)
{
	u64 bits = 0;
	int at;

	for (at = 7; at >= 0; at--)
		bits = bits << 8 | (8 * i + at < len ? p[8 * i + at] : 0);
	return bits;
}

static u64 reference(const struct aggnet_uhash_key *key, const u8 *p, size_t len)
{
	const wide_int p127 = ((wide_int)1 << 127) - 1;
	const wide_int p64 = ((wide_int)1 << 64) - 257;
	const wide_int digit = ((wide_int)1 << 64) - ((wide_int)1 << 32);
	wide_int k = (wide_int)key->poly[1] << 64 | key->poly[0], y = 1, sum;
	size_t at, i, n;

	for (at = 0; at < len; at += 512) {
		n = min_t(size_t, 512, len - at);
		for (i = 0, sum = 0; i < (n + 15) / 16 * 2; i += 2)
			sum += (wide_int)(key->nh[i] + word(p + at, n, i)) *
			       (key->nh[i + 1] + word(p + at, n, i + 1));
		y = (times(y, k, p127) + (sum << 2 >> 2)) % p127;
	}
	y = (y + ((wide_int)(len % 512 * 8) << 64)) % p127;
	return times((y / digit + key->last[0]) % p64,
		     (y % digit + key->last[1]) % p64, p64);
}

/* --- tests ----------------------------------------------------------------- */

/* Computed from the definition by a program in another language. */
TEST(hash__known_values)
{
	static const struct {
		size_t len;
		u64 hash;
	} known[] = {
		{ 0, 0x7301f1b4f42b89f7 },
		{ 1, 0x933ecf97733d1b90 },
		{ 15, 0x5a62e4547abb2e89 },
		{ 16, 0xcb425821bd819e0a },
		{ 17, 0x17235bda141e48d2 },
		{ 48, 0x15600d4fe393e1cd },
		{ 511, 0x46a299a766dec9c9 },
		{ 512, 0x1e6d14827ffc82a8 },
		{ 513, 0xad09b98bcc75c093 },
		{ 1402, 0x765e4e1771552ace },
		{ 8208, 0x72d4942f7d8ee365 },
	};
	struct aggnet_uhash_key key = known_key();
	size_t i;

	for (i = 0; i < BODY; i++)
		body[i] = i % 251;
	for (i = 0; i < ARRAY_SIZE(known); i++) {
		EXPECT_EQ(known[i].hash, aggnet_uhash(&key, body, known[i].len));
		EXPECT_EQ(known[i].hash, narrow_uhash(&key, body, known[i].len));
		EXPECT_EQ(known[i].hash, reference(&key, body, known[i].len));
	}
}

TEST(hash__equals_the_reference)
{
	struct aggnet_uhash_key key = known_key();
	size_t len, at;
	u64 hash;
	int i;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (i = 0; i < 1500; i++) {
		get_random_bytes(body, BODY);
		get_random_bytes(&key, sizeof(key));
		key.poly[0] &= 0x1fffffff1fffffff;
		key.poly[1] &= 0x1fffffff1fffffff;
		len = i < 1100 ? i : get_random_u32() % (BODY - 8);
		at = get_random_u32() % 8;
		hash = reference(&key, body + at, len);
		EXPECT_EQ(hash, aggnet_uhash(&key, body + at, len));
		EXPECT_EQ(hash, narrow_uhash(&key, body + at, len));
	}
}

/* Keys and words that are all ones or zero: each carry, each last reduction. */
TEST(hash__equals_the_reference_at_the_limits)
{
	static const u64 words[] = { 0, 1, ~0ull, 1ull << 63, U32_MAX, -257ull };
	static const u64 last[] = { 0, 1, -258ull, 1ull << 63 };
	struct aggnet_uhash_key key;
	size_t i, n, len;
	u64 hash;

	shim_random_seed(SEED);
	for (n = 0; n < 20000; n++) {
		len = get_random_u32() % 1100;
		memset(body, n % 2 ? 0xff : 0, len);
		for (i = 0; i < ARRAY_SIZE(key.nh); i++)
			key.nh[i] = words[get_random_u32() % 6];
		for (i = 0; i < 2; i++) {
			key.poly[i] = words[get_random_u32() % 6] &
				      0x1fffffff1fffffff;
			key.last[i] = last[get_random_u32() % 4];
		}
		hash = reference(&key, body, len);
		ASSERT_EQ(hash, aggnet_uhash(&key, body, len));
		ASSERT_EQ(hash, narrow_uhash(&key, body, len));
	}
}

/* Quotients and remainders at their limits; the copy for narrow machines is called. */
TEST(fold__divides_as_the_compiler_does)
{
	const wide_int p64 = ((wide_int)1 << 64) - 257;
	const wide_int digit = ((wide_int)1 << 64) - ((wide_int)1 << 32);
	static const u64 key[2] = { 12345, -1000ull };
	wide_int y;
	int i, at;

	for (i = 0; i < 63; i++)
		for (at = -2; at <= 2; at++) {
			y = (((wide_int)1 << i) + 7) * digit + at;
			EXPECT_EQ((u64)times((y / digit + key[0]) % p64,
					     (y % digit + key[1]) % p64, p64),
				  fold(key, wide(y >> 64, y)));
		}
}

/* Zeros at the end count, and so does the length of an empty body. */
TEST(hash__every_other_length)
{
	struct aggnet_uhash_key key = known_key();
	u64 hash[1100];
	size_t i, k;

	memset(body, 0, BODY);
	for (i = 0; i < ARRAY_SIZE(hash); i++) {
		hash[i] = aggnet_uhash(&key, body, i);
		for (k = 0; k < i; k++)
			EXPECT_NE(hash[k], hash[i]);
	}
}

TEST(hash__every_flipped_bit)
{
	struct aggnet_uhash_key key = known_key();
	size_t bit, len = 1402;
	u64 hash;

	shim_random_seed(SEED);
	get_random_bytes(body, len);
	hash = aggnet_uhash(&key, body, len);
	for (bit = 0; bit < 8 * len; bit++) {
		body[bit / 8] ^= 1 << bit % 8;
		EXPECT_NE(hash, aggnet_uhash(&key, body, len));
		body[bit / 8] ^= 1 << bit % 8;
	}
}

TEST(init__key_is_in_range_and_follows_the_secret)
{
	struct aggnet_uhash_key a, b;
	siphash_key_t sip = {};
	size_t i, n;

	for (n = 0; n < 500; n++) {
		sip.key[0] = n;
		aggnet_uhash_init(&a, &sip);
		narrow_uhash_init(&b, &sip);
		EXPECT_EQ(0, memcmp(&a, &b, sizeof(a)));
		for (i = 0; i < 2; i++) {
			EXPECT_EQ(0, a.poly[i] & ~0x1fffffff1fffffffull);
			EXPECT_LT(a.last[i], -257ull);
		}
		sip.key[1] = 1;
		aggnet_uhash_init(&b, &sip);
		sip.key[1] = 0;
		for (i = 0; i < ARRAY_SIZE(a.nh); i++)
			EXPECT_NE(a.nh[i], b.nh[i]);
	}
}

TEST_HARNESS_MAIN
