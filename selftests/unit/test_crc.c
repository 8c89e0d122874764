// SPDX-License-Identifier: GPL-2.0
/* Unit tests of CRC32C: both implementations agree with the definition. */
#include <asm/cpufeature.h>
#include <linux/compiler.h>
#include <linux/crc32.h>
#include <linux/random.h>
#include "core/crc.h"

/* Include the file again, for a CPU without the instruction. */
#undef static_cpu_has
#define static_cpu_has(feature) false
#define aggnet_crc32c plain_crc32c
#include "../../kmod/core/crc.c"
#undef aggnet_crc32c

#include "../uapi/harness.h"

#define SEED 0x63726333

static u32 by_definition(const u8 *p, size_t len)
{
	u32 crc = ~0u;
	int bit;

	for (; len; len--, p++)
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^
			      ((crc ^ *p >> bit) & 1 ? 0x82f63b78 : 0);
	return ~crc;
}

TEST(crc32c__known_values)
{
	u8 ones[32], zeros[32] = { 0 }, rising[32];
	int i;

	memset(ones, 0xff, sizeof(ones));
	for (i = 0; i < 32; i++)
		rising[i] = i;
	EXPECT_EQ(0, aggnet_crc32c("", 0));
	EXPECT_EQ(0xe3069283, aggnet_crc32c("123456789", 9));
	/* RFC 3720, B.4 */
	EXPECT_EQ(0x8a9136aa, aggnet_crc32c(zeros, 32));
	EXPECT_EQ(0x62a8ab43, aggnet_crc32c(ones, 32));
	EXPECT_EQ(0x46dd794e, aggnet_crc32c(rising, 32));
}

TEST(crc32c__every_length_and_alignment)
{
	u8 buf[8 + 300];
	size_t at, len;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	get_random_bytes(buf, sizeof(buf));
	for (at = 0; at < 8; at++)
		for (len = 0; len <= 300; len++) {
			u32 want = by_definition(buf + at, len);

			ASSERT_EQ(want, aggnet_crc32c(buf + at, len));
			ASSERT_EQ(want, plain_crc32c(buf + at, len));
		}
}

TEST(crc32c__reads_nothing_beyond)
{
	size_t len;

	/* The sanitizer reports reads behind the allocation. */
	for (len = 1; len < 140; len++) {
		u8 *exact = malloc(len);

		memset(exact, 0x5a, len);
		EXPECT_EQ(by_definition(exact, len), aggnet_crc32c(exact, len));
		free(exact);
	}
}

TEST_HARNESS_MAIN
