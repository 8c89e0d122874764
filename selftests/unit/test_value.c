// SPDX-License-Identifier: GPL-2.0
/* Unit tests of option values: units and limits, and values that are refused.
 */
#include "../../tools/aggctl/value.c"
#include "../uapi/harness.h"

static uint64_t number(enum opt_type type, const char *text)
{
	uint64_t v = 0;

	return value_parse(type, text, &v) ? v : UINT64_MAX;
}

TEST(value_parse__u32)
{
	uint32_t v;

	ASSERT_TRUE(value_parse(OPT_U32, "4294967295", &v));
	EXPECT_EQ(UINT32_MAX, v);
	ASSERT_TRUE(value_parse(OPT_U32, "0x10", &v));
	EXPECT_EQ(16, v);
	EXPECT_FALSE(value_parse(OPT_U32, "4294967296", &v));
	EXPECT_FALSE(value_parse(OPT_U32, "-1", &v));
	EXPECT_FALSE(value_parse(OPT_U32, "", &v));
	EXPECT_FALSE(value_parse(OPT_U32, " 1", &v));
	EXPECT_FALSE(value_parse(OPT_U32, "1x", &v));
}

TEST(value_parse__size)
{
	EXPECT_EQ(65536, number(OPT_SIZE, "64K"));
	EXPECT_EQ(65536, number(OPT_SIZE, "64k"));
	EXPECT_EQ(1 << 20, number(OPT_SIZE, "1M"));
	EXPECT_EQ(3ULL << 29, number(OPT_SIZE, "1.5G"));
	EXPECT_EQ(17, number(OPT_SIZE, "17"));
	/* A double cannot represent these. */
	EXPECT_EQ((1ULL << 53) + 1, number(OPT_SIZE, "9007199254740993"));
	EXPECT_EQ((1ULL << 63) - 1, number(OPT_SIZE, "9223372036854775807"));
	EXPECT_EQ(UINT64_MAX, number(OPT_SIZE, "9223372036854775808"));
	EXPECT_EQ(UINT64_MAX, number(OPT_SIZE, "1T"));
	EXPECT_EQ(UINT64_MAX, number(OPT_SIZE, "-1K"));
	EXPECT_EQ(UINT64_MAX, number(OPT_SIZE, "99999999999G"));
}

TEST(value_parse__rate)
{
	EXPECT_EQ(10000000, number(OPT_RATE, "10mbit"));
	EXPECT_EQ(1000000000, number(OPT_RATE, "1Gbit"));
	EXPECT_EQ(500, number(OPT_RATE, "0.5kbit"));
	EXPECT_EQ(UINT64_MAX, number(OPT_RATE, "10mb"));
}

TEST(value_parse__time)
{
	EXPECT_EQ(2000000000, number(OPT_TIME, "2"));
	EXPECT_EQ(1500000000, number(OPT_TIME, "1.5s"));
	EXPECT_EQ(10000000, number(OPT_TIME, "10ms"));
	EXPECT_EQ(50000, number(OPT_TIME, "50us"));
	EXPECT_EQ(7, number(OPT_TIME, "7ns"));
	EXPECT_EQ(UINT64_MAX, number(OPT_TIME, "1h"));
	EXPECT_EQ(UINT64_MAX, number(OPT_TIME, "s"));
	EXPECT_EQ(UINT64_MAX, number(OPT_TIME, "inf"));
}

/* A wait is rounded up, so that a short one does not become 0. */
TEST(value_parse__wait)
{
	uint32_t v;

	ASSERT_TRUE(value_parse(OPT_WAIT, "2", &v));
	EXPECT_EQ(2000, v);
	ASSERT_TRUE(value_parse(OPT_WAIT, "1ns", &v));
	EXPECT_EQ(1, v);
	ASSERT_TRUE(value_parse(OPT_WAIT, "1.0001ms", &v));
	EXPECT_EQ(2, v);
	ASSERT_TRUE(value_parse(OPT_WAIT, "0", &v));
	EXPECT_EQ(0, v);
	ASSERT_TRUE(value_parse(OPT_WAIT, "4294967.295", &v));
	EXPECT_EQ(UINT32_MAX, v);
	EXPECT_FALSE(value_parse(OPT_WAIT, "4294967.296", &v));
	EXPECT_FALSE(value_parse(OPT_WAIT, "1e30", &v));
	EXPECT_FALSE(value_parse(OPT_WAIT, "soon", &v));
}

TEST(value_parse__switches)
{
	bool v = false;

	ASSERT_TRUE(value_parse(OPT_SWITCHES, "aggnet", &v));
	EXPECT_TRUE(v);
	ASSERT_TRUE(value_parse(OPT_SWITCHES, "dumb", &v));
	EXPECT_FALSE(v);
	EXPECT_FALSE(value_parse(OPT_SWITCHES, "aggnets", &v));
	EXPECT_FALSE(value_parse(OPT_SWITCHES, "", &v));
}

TEST(value_parse__percent)
{
	double v;

	ASSERT_TRUE(value_parse(OPT_PERCENT, "5%", &v));
	EXPECT_EQ(5, v);
	ASSERT_TRUE(value_parse(OPT_PERCENT, "0.5", &v));
	EXPECT_EQ(0.5, v);
	EXPECT_FALSE(value_parse(OPT_PERCENT, "101", &v));
	EXPECT_FALSE(value_parse(OPT_PERCENT, "5%%", &v));
	EXPECT_FALSE(value_parse(OPT_PERCENT, "nan", &v));
}

TEST(value_parse__string)
{
	const char *v = NULL;

	ASSERT_TRUE(value_parse(OPT_STRING, "x", &v));
	EXPECT_STREQ("x", v);
	EXPECT_FALSE(value_parse(OPT_STRING, "", &v));
}

/* The error text has a phrase for every kind of value. */
TEST(value_kind__all)
{
	int type;

	for (type = OPT_FLAG; type <= OPT_SWITCHES; type++)
		EXPECT_NE(NULL, value_kind(type));
}

TEST_HARNESS_MAIN
