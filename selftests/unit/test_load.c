// SPDX-License-Identifier: GPL-2.0
/* Unit tests of loads: the aggregation ratio of the lines is exactly the one that
 * is asked for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/aggctl/cmd/load.c"
#include "../../tools/aggctl/cmd/text_record.c"
#include "../lib/random.h"
#include "../uapi/harness.h"

#define KEYS_MAX	(12 * 300)

static const struct text_form integer = { .vtype = AGGNET_VTYPE_INT64 };
/* The keys of some sources, each with a NUL at its end. */
static char keys[KEYS_MAX][AGGNET_KEY_MAX + 1];
static unsigned long long state;

static void seed_draws(struct __test_metadata *_metadata)
{
	const char *seed = getenv("SEED");

	state = seed ? strtoull(seed, NULL, 0) : 1;
	TH_LOG("seed %llu", state);
}

static uint32_t below(uint32_t bound)
{
	return (uint32_t)(splitmix64(&state) % bound);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Sort @n keys; Return: how many are different */
static uint32_t different(uint32_t n)
{
	uint32_t i, found = n > 0;

	qsort(keys, n, sizeof(*keys), by_text);
	for (i = 1; i < n; i++)
		found += !!strcmp(keys[i - 1], keys[i]);
	return found;
}

/* Put a source's keys at @at; Return: whether each line is a record as it should */
static bool put_keys(const struct load *load, uint32_t source, uint32_t at)
{
	char line[LOAD_LINE_MAX], why[TEXT_RECORD_WHY];
	struct text_record record;
	uint32_t i;
	size_t len;

	for (i = 0; i < load->records; i++) {
		len = load_line(load, source, i, line);
		if (strlen(line) != len || line[len - 1] != '\n' ||
		    !text_record_parse(line, len, &integer, &record, why) ||
		    record.klen != load->klen)
			return false;
		memcpy(keys[at + i], record.key, record.klen);
		keys[at + i][record.klen] = '\0';
	}
	return true;
}

static struct load drawn_load(double delta)
{
	struct load load = {
		.seed = splitmix64(&state), .senders = 1 + below(12),
		.records = 1 + below(below(2) ? 300 : 5), .sorted = below(2),
	};

	load.own = load_own(load.records, delta);
	load.klen = load_key_least(&load) + below(3) * below(100);
	return load;
}

/* Any sources' keys together are max + delta (sum - max), and nothing is lost. */
static void check_ratio(struct __test_metadata *_metadata,
			const struct load *load, double delta)
{
	uint32_t members = 0, s;
	double ratio = (double)load->own / load->records;

	for (s = 0; s < load->senders; s++) {
		ASSERT_TRUE(put_keys(load, s, 0));
		ASSERT_EQ(load->records, different(load->records));
	}
	for (s = 0; s < load->senders; s++)
		if (below(3))
			put_keys(load, s, load->records * members++);
	if (!members)
		return;
	EXPECT_EQ((uint64_t)load->records + (uint64_t)load->own * (members - 1),
		  different(members * load->records));
	EXPECT_LE(fabs(ratio - delta) * load->records, 0.5 + 1e-9);
}

TEST(line__any_sources_have_exactly_the_ratio)
{
	struct load load;
	double delta;
	int i;

	seed_draws(_metadata);
	for (i = 0; i < 200; i++) {
		delta = below(1001) / 1000.;
		load = drawn_load(delta);
		check_ratio(_metadata, &load, delta);
	}
}

TEST(line__ratios_of_0_and_1)
{
	struct load load;
	int i;

	seed_draws(_metadata);
	for (i = 0; i < 50; i++) {
		load = drawn_load(i % 2);
		EXPECT_EQ(i % 2 ? load.records : 0, load.own);
		check_ratio(_metadata, &load, i % 2);
	}
}

TEST(own__nearest_number_of_records)
{
	EXPECT_EQ(0, load_own(10, 0));
	EXPECT_EQ(0, load_own(10, 0.0499));
	EXPECT_EQ(1, load_own(10, 0.0501));
	EXPECT_EQ(29, load_own(100, 0.29));
	EXPECT_EQ(10, load_own(10, 1));
	EXPECT_EQ(UINT32_MAX, load_own(UINT32_MAX, 1));
}

/* Every key is in use, so none has a byte too many. */
TEST(key_least__shortest_keys_that_differ)
{
	struct load load = { .records = 62, .senders = 62 };

	EXPECT_EQ(2, load_key_least(&load));
	load.records = 63;
	EXPECT_EQ(3, load_key_least(&load));
	load.senders = 63;
	EXPECT_EQ(4, load_key_least(&load));
	load.words = 62 * 62;
	EXPECT_EQ(2, load_key_least(&load));
	load.words++;
	EXPECT_EQ(3, load_key_least(&load));
}

static int lines_differ(const struct load *a, const struct load *b)
{
	char one[LOAD_LINE_MAX], other[LOAD_LINE_MAX];
	int differ = 0;
	uint32_t i;

	for (i = 0; i < a->records; i++) {
		load_line(a, 1, i, one);
		load_line(b, 1, i, other);
		differ += !!strcmp(one, other);
	}
	return differ;
}

TEST(line__seed_decides_every_byte)
{
	const struct load load = { .seed = 7, .senders = 2, .records = 100,
				   .own = 30, .klen = 8 };
	struct load other = load;
	char line[LOAD_LINE_MAX];

	EXPECT_EQ(0, lines_differ(&load, &other));
	other.seed++;
	EXPECT_GT(lines_differ(&load, &other), 90);
	/* On every machine, and in later releases. */
	load_line(&load, 1, 0, line);
	EXPECT_STREQ("1Q______\t35303\n", line);
	load_line(&load, 1, 99, line);
	EXPECT_STREQ("0e______\t74836\n", line);
}

static int by_line(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The lines of a source, in the order of their bytes. */
static void put_lines(const struct load *load, char lines[][LOAD_LINE_MAX])
{
	char *order[300], *copy = malloc(300 * LOAD_LINE_MAX);
	uint32_t i;

	for (i = 0; i < load->records; i++) {
		order[i] = copy + i * LOAD_LINE_MAX;
		load_line(load, 2, i, order[i]);
	}
	qsort(order, load->records, sizeof(*order), by_line);
	for (i = 0; i < load->records; i++)
		strcpy(lines[i], order[i]);
	free(copy);
}

TEST(line__sorted_has_the_same_records_in_order)
{
	static char plain[300][LOAD_LINE_MAX], sorted[300][LOAD_LINE_MAX];
	struct load load = { .seed = 3, .senders = 70, .records = 300,
			     .own = 120, .klen = 9 };
	char line[LOAD_LINE_MAX];
	uint32_t i, moved = 0;

	put_lines(&load, plain);
	for (i = 0; i < load.records; i++) {
		load_line(&load, 2, i, line);
		moved += !!strcmp(line, plain[i]);
	}
	EXPECT_GT(moved, 250);
	load.sorted = true;
	put_lines(&load, sorted);
	for (i = 0; i < load.records; i++) {
		load_line(&load, 2, i, line);
		ASSERT_STREQ(line, plain[i]);
		ASSERT_STREQ(line, sorted[i]);
	}
}

/* A value and a sum of values take 3 bytes, with a sign. */
TEST(line__sums_are_as_long_as_values)
{
	static const uint32_t senders[] = { 1, 2, 84, 85, 100, 254, 255 };
	char line[LOAD_LINE_MAX];
	uint32_t i, r, value;

	for (i = 0; i < sizeof(senders) / sizeof(*senders); i++) {
		struct load load = { .seed = i, .senders = senders[i],
				     .records = 2000, .klen = 5 };

		for (r = 0; r < load.records; r++) {
			EXPECT_EQ(12, load_line(&load, 0, r, line));
			value = (uint32_t)atoi(line + 6);
			ASSERT_GE(value, 1U << 15);
			ASSERT_LT(value * senders[i], 1U << 23);
		}
	}
}

TEST(line__more_senders_than_values_allow)
{
	struct load load = { .senders = 100000, .records = 10, .klen = 5 };
	char line[LOAD_LINE_MAX];

	EXPECT_EQ(12, load_line(&load, 99999, 9, line));
}

TEST(permute__every_number_once)
{
	uint32_t n, i, to;
	uint8_t seen[300];

	for (n = 1; n <= 300; n++) {
		memset(seen, 0, sizeof(seen));
		for (i = 0; i < n; i++) {
			to = permute(n * 77, i, n);
			ASSERT_LT(to, n);
			ASSERT_EQ(0, seen[to]++);
		}
	}
	EXPECT_LT(permute(1, UINT32_MAX - 1, UINT32_MAX), UINT32_MAX);
}

TEST(measure__words_as_the_lines_have_them)
{
	struct load load;
	struct load_size size;
	uint64_t sum, max, n;
	uint32_t i, s;

	seed_draws(_metadata);
	for (i = 0; i < 50; i++) {
		load = drawn_load(0);
		load.words = 1 + below(200);
		load.klen = load_key_least(&load) + 1;
		sum = max = 0;
		for (s = 0; s < load.senders; s++) {
			ASSERT_TRUE(put_keys(&load, s, 0));
			n = different(load.records);
			sum += n;
			max = n > max ? n : max;
		}
		for (s = 0; s < load.senders; s++)
			put_keys(&load, s, s * load.records);
		ASSERT_EQ(0, load_measure(&load, &size));
		EXPECT_EQ(sum, size.sum);
		EXPECT_EQ(max, size.max);
		EXPECT_EQ(different(load.senders * load.records), size.all);
	}
}

/* So many draws miss no word, and the rule of trees.rst gives the ratio. */
TEST(measure__ratio)
{
	struct load load = { .seed = 1, .senders = 5, .records = 2000,
			     .own = 500, .klen = 8 };
	struct load_size size;

	ASSERT_EQ(0, load_measure(&load, &size));
	EXPECT_EQ(4000, size.all);
	EXPECT_EQ(0.25, load_delta(&size));
	load.words = 50;
	ASSERT_EQ(0, load_measure(&load, &size));
	EXPECT_EQ(50, size.all);
	EXPECT_EQ(0, load_delta(&size));
}

TEST_HARNESS_MAIN
