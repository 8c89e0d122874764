// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the data part of libaggnet: records, the last merge, reasons.
 */
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kselftest_harness.h>

#include "core/accum.h"
#include "core/record.h"

#include "../../tools/libaggnet/merge.c"
#include "../../tools/libaggnet/reason.c"
#include "../../tools/libaggnet/record.c"
#include "../../tools/libaggnet/result.c"
#include "../../tools/libaggnet/round.c"

static const struct aggnet_shape plain = { .function = AGGNET_FN_SUM };

/* --- records -------------------------------------------------------------- */

static const int64_t values[] = {
	0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, 32768, -32768, -32769,
	1LL << 40, -(1LL << 40), INT64_MAX, INT64_MIN, INT64_MIN + 1,
};

TEST(record_put__is_what_the_module_parses)
{
	uint8_t buf[AGGNET_RECORD_MAX], key[AGGNET_KEY_MAX];
	struct aggnet_value expected;
	struct aggnet_record rec;
	size_t i, klen, len;

	memset(key, 'k', sizeof(key));
	for (i = 0; i < ARRAY_SIZE(values); i++) {
		for (klen = 1; klen <= AGGNET_KEY_MAX; klen += 127) {
			len = record_put(buf, key, klen, values[i]);
			ASSERT_EQ(1, aggnet_parse_records(&plain, true, buf,
							  len, 1));
			expected = aggnet_value_s64(values[i]);
			EXPECT_EQ(aggnet_record_size(klen, &expected), len);
			ASSERT_EQ(len, aggnet_record_get(buf, &rec));
			EXPECT_EQ(klen, rec.klen);
			EXPECT_EQ(0, memcmp(key, rec.key, klen));
			EXPECT_EQ(expected.lo, rec.value.lo);
			EXPECT_EQ(expected.hi, rec.value.hi);
		}
	}
}

TEST(record_get__reads_what_the_module_writes)
{
	const struct aggnet_value wide[] = {
		{ 0, 1 }, { ~0ULL, 0 }, { 0, ~0ULL }, { 1, 1ULL << 63 },
		{ ~0ULL, ~0ULL >> 1 }, { 5, 0 }, { 0x8000, 0 }, { 0, 0 },
	};
	uint8_t buf[AGGNET_RECORD_MAX];
	struct record rec;
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(wide); i++) {
		len = aggnet_record_put(buf, (const u8 *)"ab", 2, &wide[i]);
		ASSERT_EQ(len, record_get(buf, len, &rec));
		EXPECT_EQ(0, memcmp(rec.key, "ab", 2));
		EXPECT_EQ(2, rec.klen);
		EXPECT_EQ(buf + 4, rec.value);
		EXPECT_EQ(len - 4, rec.vlen);
	}
}

TEST(record_get__refuses)
{
	const uint8_t short_head[] = { 1 };
	const uint8_t no_key[] = { 0, 1, 1 };
	const uint8_t long_value[300] = { 1, AGGNET_VALUE_MAX + 1, 'k' };
	const uint8_t cut[] = { 3, 1, 'a', 'b', 'c' };
	struct record rec;

	EXPECT_EQ(0, record_get(short_head, 0, &rec));
	EXPECT_EQ(0, record_get(short_head, sizeof(short_head), &rec));
	EXPECT_EQ(0, record_get(no_key, sizeof(no_key), &rec));
	EXPECT_EQ(0, record_get(long_value, sizeof(long_value), &rec));
	EXPECT_EQ(0, record_get(cut, sizeof(cut), &rec));
}

/* --- merge ---------------------------------------------------------------- */

static const struct merge_entry *find(const struct merge *m, const char *key)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->entry[i].klen == strlen(key) &&
		    !memcmp(m->entry[i].key, key, strlen(key)))
			return &m->entry[i];
	return NULL;
}

static int add(struct merge *m, unsigned int function, const char *key,
	       __int128 value)
{
	const struct aggnet_value v = {
		.lo = (uint64_t)value, .hi = (uint64_t)(value >> 64),
	};
	uint8_t bytes[AGGNET_PLAIN_MAX];

	m->shape.function = function;
	return merge_add(m, key, strlen(key), bytes,
			 aggnet_value_put(bytes, &v));
}

TEST(merge_add__functions)
{
	const struct {
		unsigned int function;
		int64_t expected;
	} cases[] = {
		{ AGGNET_FN_SUM, 4 }, { AGGNET_FN_COUNT, 4 },
		{ AGGNET_FN_MIN, -5 }, { AGGNET_FN_MAX, 7 },
	};
	struct merge m = {};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ASSERT_EQ(0, add(&m, cases[i].function, "a", 2));
		ASSERT_EQ(0, add(&m, cases[i].function, "a", -5));
		ASSERT_EQ(0, add(&m, cases[i].function, "a", 7));
		ASSERT_EQ(0, add(&m, cases[i].function, "b", -1));
		ASSERT_EQ(2, m.n);
		EXPECT_EQ(cases[i].expected, (int64_t)find(&m, "a")->value.lo);
		EXPECT_EQ(-1, (int64_t)find(&m, "b")->value.lo);
		merge_free(&m);
	}
}

TEST(merge_add__agrees_with_an_array)
{
	enum { KEYS = 5000, ROUNDS = 60000 };
	static int64_t expected[KEYS];
	unsigned int seed = 20, i, at;
	struct merge m = {};
	char key[16];

	TH_LOG("seed %u", seed);
	srand(seed);
	for (i = 0; i < ROUNDS; i++) {
		int64_t value = rand() - RAND_MAX / 2;

		at = rand() % KEYS;
		snprintf(key, sizeof(key), "key %u", at);
		expected[at] += value;
		ASSERT_EQ(0, add(&m, AGGNET_FN_SUM, key, value));
	}
	merge_sort(&m);
	for (i = 1; i < m.n; i++)
		ASSERT_LT(merge_compare(&m.entry[i - 1], &m.entry[i]), 0);
	for (i = 0; i < m.n; i++) {
		ASSERT_EQ(1, sscanf((const char *)m.entry[i].key, "key %u",
				    &at));
		ASSERT_EQ(expected[at], (int64_t)m.entry[i].value.lo);
		expected[at] = 0;
	}
	for (i = 0; i < KEYS; i++)
		ASSERT_EQ(0, expected[i]);
	merge_free(&m);
}

TEST(merge_add__refuses_what_is_no_value)
{
	uint8_t bytes[AGGNET_VALUE_MAX] = { 9 };
	struct merge m = {};

	EXPECT_EQ(-EBADMSG, merge_add(&m, "k", 1, bytes, 17));
	m.shape.function = AGGNET_FN_AVERAGE;
	EXPECT_EQ(-EBADMSG, merge_add(&m, "k", 1, bytes, 0));
	EXPECT_EQ(-EBADMSG, merge_add(&m, "k", 1, bytes, 12));
	EXPECT_EQ(0, m.n);
	merge_free(&m);
}

TEST(merge_add__keys_may_hold_any_byte)
{
	const uint8_t one[] = { 1 };
	struct merge m = {};

	ASSERT_EQ(0, merge_add(&m, "a\0b", 3, one, 1));
	ASSERT_EQ(0, merge_add(&m, "a\0c", 3, one, 1));
	ASSERT_EQ(0, merge_add(&m, "a", 1, one, 1));
	ASSERT_EQ(0, merge_add(&m, "a\0", 2, one, 1));
	ASSERT_EQ(0, merge_add(&m, "a\0b", 3, one, 1));
	EXPECT_EQ(4, m.n);
	EXPECT_EQ(2, (int64_t)m.entry[0].value.lo);
	merge_free(&m);
}

TEST(result_overflow__in_any_order)
{
	struct merge m = {};

	EXPECT_EQ(NULL, result_overflow(&m));
	ASSERT_EQ(0, add(&m, AGGNET_FN_SUM, "fine", INT64_MIN));
	ASSERT_EQ(0, add(&m, AGGNET_FN_SUM, "big", INT64_MAX));
	ASSERT_EQ(0, add(&m, AGGNET_FN_SUM, "big", INT64_MAX));
	ASSERT_NE(NULL, result_overflow(&m));
	EXPECT_EQ(0, memcmp("big", result_overflow(&m)->key, 3));
	ASSERT_EQ(0, add(&m, AGGNET_FN_SUM, "big", INT64_MIN));
	EXPECT_EQ(NULL, result_overflow(&m));
	ASSERT_EQ(0, add(&m, AGGNET_FN_SUM, "fine", -1));
	ASSERT_NE(NULL, result_overflow(&m));
	EXPECT_EQ(0, memcmp("fine", result_overflow(&m)->key, 4));
	merge_free(&m);
}

/* --- ranks ----------------------------------------------------------------- */

static int add_bytes(struct merge *m, const char *key, const void *value,
		     size_t len)
{
	return merge_add(m, key, strlen(key), value, len);
}

/* The keys, one letter each, in their order. */
static const char *keys(const struct merge *m)
{
	static char text[32];
	size_t i;

	for (i = 0; i < m->n; i++)
		text[i] = m->entry[i].key[0];
	text[m->n] = '\0';
	return text;
}

TEST(result_rank__reals)
{
	const struct {
		const char *key;
		double value;
	} lines[] = {
		{ "a", 1 }, { "b", NAN }, { "c", 5 }, { "d", -INFINITY },
		{ "e", NAN }, { "f", 3 }, { "g", -0.0 }, { "h", 0 },
		{ "i", INFINITY }, { "j", NAN }, { "k", 5 }, { "l", -3 },
	};
	struct merge m = {
		.shape = {
			.function = AGGNET_FN_MAX,
			.vtype = AGGNET_VTYPE_FLOAT64,
		},
	};
	size_t first, i, at;
	uint64_t bits, order;

	/* Begin at each line in turn: the order of arrival does not matter. */
	for (first = 0; first < ARRAY_SIZE(lines); first++) {
		for (i = 0; i < ARRAY_SIZE(lines); i++) {
			at = (first + 5 * i) % ARRAY_SIZE(lines);
			memcpy(&bits, &lines[at].value, sizeof(bits));
			order = htole64(aggnet_float_order(AGGNET_VTYPE_FLOAT64,
							   bits));
			ASSERT_EQ(0, add_bytes(&m, lines[at].key, &order,
					       sizeof(order)));
		}
		result_rank(&m);
		EXPECT_STREQ("bejickfahgld", keys(&m));
		merge_free(&m);
	}
}

/* A line of pairs is ranked by its best pair: the greatest, or the nearest. */
TEST(result_rank__pairs)
{
	const struct {
		const char *key;
		int64_t value;
	} lines[] = {
		{ "a", 3 }, { "b", 9 }, { "c", -4 }, { "a", 7 }, { "b", 1 },
		{ "d", 9 }, { "e", 0 },
	};
	struct merge m = { .shape = { .vtype = AGGNET_VTYPE_INT64, .k = 2 } };
	unsigned int function;
	uint64_t pair[2];
	size_t i;

	for (function = AGGNET_FN_TOPK; function <= AGGNET_FN_NEAREST;
	     function++) {
		m.shape.function = function;
		for (i = 0; i < ARRAY_SIZE(lines); i++) {
			pair[0] = htole64(function == AGGNET_FN_TOPK ?
					  ~lines[i].value : lines[i].value);
			pair[1] = htole64(i);
			ASSERT_EQ(0, add_bytes(&m, lines[i].key, pair,
					       sizeof(pair)));
		}
		result_rank(&m);
		EXPECT_STREQ(function == AGGNET_FN_TOPK ? "bdaec" : "cebad",
			     keys(&m));
		merge_free(&m);
	}
}

/* 2^64 values wrap the count to 0, which nothing may divide by. */
TEST(result_get__average_of_a_count_that_wraps)
{
	struct merge m = { .shape = { .function = AGGNET_FN_AVERAGE } };
	struct aggnet_float_sum *sum;
	struct aggnet_entry line;

	ASSERT_EQ(0, add_bytes(&m, "a", "\1\2\6", 3));
	ASSERT_TRUE(result_get(&m, m.entry, 0, NULL, &line));
	EXPECT_EQ(3, line.real);
	((struct aggnet_mean *)m.entry[0].accum)->count = 0;
	EXPECT_EQ(m.entry, result_overflow(&m));
	merge_free(&m);
	m.shape.vtype = AGGNET_VTYPE_FLOAT64;
	sum = calloc(1, aggnet_accum_size(&m.shape));
	m.entry = calloc(1, sizeof(*m.entry));
	m.entry[0].accum = sum;
	m.n = 1;
	EXPECT_EQ(m.entry, result_overflow(&m));
	free(sum);
	merge_free(&m);
}

/* --- reasons -------------------------------------------------------------- */

TEST(status_text__names_the_node)
{
	struct aggnet_status st = {
		.reason = AGGNET_R_TIMEOUT,
		.origin = htonl(0x0a000003),
		.about = htonl(0x0a000003),
		.missing = 2,
	};
	char buf[AGGNET_TEXT_MAX], tiny[10];

	EXPECT_STREQ("timed out at 10.0.0.3: 2 sources missing",
		     aggnet_status_text(&st, buf, sizeof(buf)));
	st.missing = 1;
	st.about = htonl(0x0a000104);
	EXPECT_STREQ("timed out at 10.0.0.3, because of 10.0.1.4: "
		     "1 source missing",
		     aggnet_status_text(&st, buf, sizeof(buf)));
	st.names = 2;
	st.name[0] = st.about;
	st.name[1] = htonl(0x0a000105);
	EXPECT_STREQ("timed out at 10.0.0.3, because of 10.0.1.4: "
		     "1 source missing, not here: 10.0.1.4, 10.0.1.5",
		     aggnet_status_text(&st, buf, sizeof(buf)));
	EXPECT_STREQ("timed out", aggnet_status_text(&st, tiny, sizeof(tiny)));
	st = (struct aggnet_status){
		.reason = AGGNET_R_TIMEOUT,
		.origin = htonl(0x0a000003),
		.about = htonl(0x0a000003),
	};
	EXPECT_STREQ("timed out at 10.0.0.3, where a local process never joined",
		     aggnet_status_text(&st, buf, sizeof(buf)));
	st.about = 0;
	EXPECT_STREQ("timed out at 10.0.0.3, which no node on the way to the receiver has answered",
		     aggnet_status_text(&st, buf, sizeof(buf)));
	st = (struct aggnet_status){ .reason = 200 };
	EXPECT_STREQ("unknown reason",
		     aggnet_status_text(&st, buf, sizeof(buf)));
}

/*
 * Where a 64-bit number is aligned to 4 bytes, explicit padding fills the
 * struct.
 */
TEST(status__has_one_size_everywhere)
{
	EXPECT_EQ(sizeof(struct aggnet_status),
		  offsetof(struct aggnet_status, below) +
		  __AGGNET_FALLBACK_MAX * sizeof(__u32));
	/*
	 * Older programs know the struct up to one of these places, and its size there
	 * is unchanged.
	 */
	EXPECT_EQ(offsetof(struct aggnet_status, plan),
		  offsetof(struct aggnet_status, pad) + sizeof(__u32));
	EXPECT_EQ(offsetof(struct aggnet_status, persist),
		  offsetof(struct aggnet_status, plan) + AGGNET_PLAN_ID_LEN);
	EXPECT_EQ(offsetof(struct aggnet_status, stripe),
		  offsetof(struct aggnet_status, round) + sizeof(__u32));
	EXPECT_EQ(offsetof(struct aggnet_status, direction),
		  offsetof(struct aggnet_status, stripes) + sizeof(__u32));
	EXPECT_EQ(offsetof(struct aggnet_status, records_in),
		  offsetof(struct aggnet_status, pad2) + sizeof(__u32));
	EXPECT_EQ(offsetof(struct aggnet_status, below),
		  offsetof(struct aggnet_status, unbound) +
		  AGGNET_NAMES_MAX * sizeof(__be32));
	EXPECT_EQ(0, offsetof(struct aggnet_status, elements) % 8);
	EXPECT_EQ(0, offsetof(struct aggnet_status, records_in) % 8);
	EXPECT_EQ(0, offsetof(struct aggnet_lookup, status) % 8);
	EXPECT_EQ(0, sizeof(struct aggnet_status) % 8);
}

TEST(reason__each_has_an_errno_and_a_text)
{
	unsigned int r;

	EXPECT_EQ(0, aggnet_reason_errno(AGGNET_R_NONE));
	for (r = 1; r < __AGGNET_R_MAX; r++) {
		EXPECT_LT(aggnet_reason_errno(r), 0);
		EXPECT_NE(NULL, aggnet_reason_text(r));
	}
	EXPECT_EQ(-EOVERFLOW, aggnet_reason_errno(AGGNET_R_OVERFLOW));
	EXPECT_EQ(-EPROTO, aggnet_reason_errno(__AGGNET_R_MAX));
}

TEST_HARNESS_MAIN
