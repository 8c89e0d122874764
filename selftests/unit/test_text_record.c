// SPDX-License-Identifier: GPL-2.0
/* Unit tests of records as lines of text: which lines are records, and the
 * errors of the others.
 */
#include <stdlib.h>
#include <string.h>

#include "../../tools/aggctl/cmd/text_record.c"
#include "../uapi/harness.h"

static const struct text_form integer = { .vtype = AGGNET_VTYPE_INT64 };
/* The format used by REFUSED() and the tests below. */
static struct text_form form;

/* Return: why the line is refused; NULL: it is a record */
static const char *refused(const char *line, size_t len)
{
	static char why[TEXT_RECORD_WHY];
	struct text_record record;

	return text_record_parse(line, len, &form, &record, why) ? NULL : why;
}

#define REFUSED(line)	refused(line, sizeof(line) - 1)

TEST(line_parse__record)
{
	char why[TEXT_RECORD_WHY];
	struct text_record r;

	ASSERT_TRUE(text_record_parse("key\t-17\n", 8, &integer, &r, why));
	EXPECT_EQ(3, r.klen);
	EXPECT_EQ(0, memcmp(r.key, "key", 3));
	EXPECT_EQ(-17, r.value);
	ASSERT_TRUE(text_record_parse("k\t5", 3, &integer, &r, why));
	EXPECT_EQ(5, r.value);
}

TEST(line_parse__escapes)
{
	static const char line[] = "a\\tb\\nc\\\\d\\x00\\xFf\t1\n";
	char why[TEXT_RECORD_WHY];
	struct text_record r;

	ASSERT_TRUE(text_record_parse(line, sizeof(line) - 1, &integer, &r,
				      why));
	ASSERT_EQ(9, r.klen);
	EXPECT_EQ(0, memcmp(r.key, "a\tb\nc\\d\0\xff", 9));
}

TEST(line_parse__bad_escapes)
{
	EXPECT_NE(NULL, REFUSED("a\\\t1\n"));
	EXPECT_NE(NULL, REFUSED("a\\q\t1\n"));
	EXPECT_NE(NULL, REFUSED("a\\x1\t1\n"));
	EXPECT_NE(NULL, REFUSED("a\\xg0\t1\n"));
	EXPECT_STREQ("column 2: only \\t, \\n, \\\\ and \\xHH are escapes",
		     REFUSED("a\\x\t1\n"));
}

TEST(line_parse__no_record)
{
	EXPECT_STREQ("there is no TAB between key and value", REFUSED("\n"));
	EXPECT_STREQ("there is no TAB between key and value", REFUSED("k 1\n"));
	EXPECT_STREQ("key is empty", REFUSED("\t1\n"));
	EXPECT_STREQ("value is missing", REFUSED("k\t\n"));
	EXPECT_STREQ("value is missing", REFUSED("k\t-\n"));
	EXPECT_STREQ("value is not a whole number", REFUSED("k\t1.5\n"));
	EXPECT_STREQ("value is not a whole number", REFUSED("k\t 1\n"));
	EXPECT_STREQ("value is not a whole number", REFUSED("k\t1\t2\n"));
	EXPECT_STREQ("value is not a whole number", REFUSED("k\t1\0002\n"));
}

TEST(line_parse__value_limits)
{
	char why[TEXT_RECORD_WHY];
	struct text_record r;

	ASSERT_TRUE(text_record_parse("k\t9223372036854775807", 21, &integer,
				      &r, why));
	EXPECT_EQ(INT64_MAX, r.value);
	ASSERT_TRUE(text_record_parse("k\t-9223372036854775808", 22, &integer,
				      &r, why));
	EXPECT_EQ(INT64_MIN, r.value);
	EXPECT_STREQ("value does not fit 64 bits with sign",
		     REFUSED("k\t9223372036854775808\n"));
	EXPECT_STREQ("value does not fit 64 bits with sign",
		     REFUSED("k\t-9223372036854775809\n"));
	EXPECT_STREQ("value does not fit 64 bits with sign",
		     REFUSED("k\t99999999999999999999999999\n"));
}

TEST(line_parse__reals)
{
	char why[TEXT_RECORD_WHY];
	struct text_record r;

	form = (struct text_form){ .vtype = AGGNET_VTYPE_FLOAT64 };
	ASSERT_TRUE(text_record_parse("k\t-1.5e-300", 11, &form, &r, why));
	EXPECT_EQ(-1.5e-300, r.real);
	ASSERT_TRUE(text_record_parse("k\tinf", 5, &form, &r, why));
	EXPECT_TRUE(isinf(r.real));
	EXPECT_STREQ("value is not a number", REFUSED("k\t1.5x\n"));
	EXPECT_STREQ("value is not a number", REFUSED("k\t0x10\n"));
	EXPECT_STREQ("value is not a number", REFUSED("k\t0X10\n"));
	EXPECT_STREQ("value is not a number", REFUSED("k\t\r1\n"));
	EXPECT_STREQ("value is not a number", REFUSED("k\t\v1\n"));
	EXPECT_STREQ("value is not a number", REFUSED("k\t 1\n"));
	EXPECT_STREQ("value is missing", REFUSED("k\t\n"));
	EXPECT_STREQ("value does not fit its type", REFUSED("k\t1e309\n"));
	EXPECT_STREQ("value does not fit its type", REFUSED("k\t-1e5000\n"));
	EXPECT_EQ(NULL, REFUSED("k\t1e-400\n"));
	EXPECT_EQ(NULL, REFUSED("k\t-infinity\n"));
	form.vtype = AGGNET_VTYPE_FLOAT32;
	EXPECT_STREQ("value does not fit its type", REFUSED("k\t1e39\n"));
	/*
	 * 1 + 2^-24 + 2^-60: rounding twice gives another number than rounding
	 * to nearest.
	 */
	ASSERT_TRUE(text_record_parse("k\t1.0000000596046447754", 23, &form, &r,
				      why));
	EXPECT_EQ(1.00000011920928955078125, r.real);
	form = integer;
}

TEST(line_parse__fixed_and_narrow)
{
	char why[TEXT_RECORD_WHY];
	struct text_record r;

	form = (struct text_form){ .vtype = AGGNET_VTYPE_FIXED, .scale = 8 };
	ASSERT_TRUE(text_record_parse("k\t-1.5", 6, &form, &r, why));
	EXPECT_EQ(-384, r.value);
	ASSERT_TRUE(text_record_parse("k\t36028797018963967.99609375", 28,
				      &form, &r, why));
	EXPECT_EQ(INT64_MAX, r.value);
	EXPECT_STREQ("value does not fit 64 bits",
		     REFUSED("k\t36028797018963968\n"));
	form = (struct text_form){ .vtype = AGGNET_VTYPE_INT32 };
	ASSERT_TRUE(text_record_parse("k\t-2147483648", 13, &form, &r, why));
	EXPECT_STREQ("value does not fit 32 bits with sign",
		     REFUSED("k\t2147483648\n"));
	form = integer;
}

TEST(line_parse__pairs)
{
	char why[TEXT_RECORD_WHY];
	struct text_record r;

	form = (struct text_form){ .pairs = true };
	ASSERT_TRUE(text_record_parse("q\t-5\t18446744073709551615\n", 26,
				      &form, &r, why));
	EXPECT_EQ(-5, r.value);
	EXPECT_EQ(UINT64_MAX, r.id);
	EXPECT_STREQ("there is no TAB between value and id",
		     REFUSED("q\t5\n"));
	EXPECT_STREQ("id is not a number below 2^64", REFUSED("q\t5\t\n"));
	EXPECT_STREQ("id is not a number below 2^64", REFUSED("q\t5\t-1\n"));
	EXPECT_STREQ("value is missing", REFUSED("q\t\t1\n"));
	form = integer;
}

/* All digits are printed: reading them gives the same value. */
TEST(line_print_value__round_trip)
{
	static const double reals[] = { 0.1, -1e300, 5e-324, 1.0 / 3, 1e22 };
	static const int64_t fixed[] = { 1, -1, INT64_MAX, INT64_MIN, 12345 };
	struct text_form forms[] = {
		{ .vtype = AGGNET_VTYPE_FLOAT64 },
		{ .vtype = AGGNET_VTYPE_FIXED, .scale = 40 },
	};
	char why[TEXT_RECORD_WHY], line[128];
	struct text_record r;
	size_t i;
	FILE *f;

	for (i = 0; i < 5; i++) {
		f = fmemopen(line, sizeof(line), "w");
		text_record_print_value(f, &forms[0], 0, reals[i]);
		fclose(f);
		ASSERT_TRUE(parse_value(line, strlen(line), &forms[0], &r,
					why));
		EXPECT_EQ(reals[i], r.real);
		f = fmemopen(line, sizeof(line), "w");
		text_record_print_value(f, &forms[1], fixed[i], 0);
		fclose(f);
		ASSERT_TRUE(parse_value(line, strlen(line), &forms[1], &r,
					why));
		EXPECT_EQ(fixed[i], r.value);
	}
}

/* By bytes, not by letters; the shorter key first. */
TEST(line_key_sorts__order)
{
	static const char * const line[] = {
		"a\\x00", "a\\x00\\x00", "a", "a", "aa", "a\\x7f", "a\\xff", "b",
	};
	struct text_record last = { .klen = 0 }, r;
	char text[32], why[TEXT_RECORD_WHY];
	size_t i;

	for (i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
		sprintf(text, "%s\t1", line[i]);
		ASSERT_TRUE(text_record_parse(text, strlen(text), &integer, &r,
					      why));
		/* "a" is a prefix of the keys with zeros. */
		EXPECT_EQ(i != 2, text_record_sorts(&r, last.key, last.klen))
			TH_LOG("%s", line[i]);
		last = r;
	}
}

TEST(line_parse__key_length)
{
	char line[AGGNET_KEY_MAX + 4], why[TEXT_RECORD_WHY];
	struct text_record r;

	memset(line, 'k', sizeof(line));
	memcpy(line + AGGNET_KEY_MAX, "\t1", 2);
	ASSERT_TRUE(text_record_parse(line, AGGNET_KEY_MAX + 2, &integer, &r,
				      why));
	EXPECT_EQ(AGGNET_KEY_MAX, r.klen);
	memcpy(line + AGGNET_KEY_MAX, "k\t1", 3);
	ASSERT_FALSE(text_record_parse(line, AGGNET_KEY_MAX + 3, &integer, &r,
				       why));
	EXPECT_STREQ("key is longer than 255 bytes", why);
}

/* Any bytes: reading the printed key gives the same key. */
static void round_trip(struct __test_metadata *_metadata, bool ascii)
{
	uint8_t key[AGGNET_KEY_MAX];
	char *text = NULL, why[TEXT_RECORD_WHY];
	struct text_record r;
	size_t len, i;
	FILE *f;

	for (i = 0; i < sizeof(key); i++)
		key[i] = (uint8_t)(i + ascii);
	f = open_memstream(&text, &len);
	ASSERT_NE(NULL, f);
	text_record_print_key(f, key, sizeof(key), ascii);
	fputs("\t7\n", f);
	fclose(f);
	for (i = 0; ascii && i < len; i++)
		EXPECT_LE(0, (signed char)text[i]);
	ASSERT_TRUE(text_record_parse(text, len, &integer, &r, why));
	EXPECT_EQ(sizeof(key), r.klen);
	EXPECT_EQ(0, memcmp(key, r.key, sizeof(key)));
	free(text);
}

TEST(line_print_key__round_trip)
{
	round_trip(_metadata, false);
	round_trip(_metadata, true);
}

TEST_HARNESS_MAIN
