// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the rows of "aggctl top": rates between two samples of a node whose
 * entries come, go and begin again.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/top.h"
#include "names.h"
#include "kselftest_harness.h"

#define SECOND	1000000000LL

static struct aggnet_tree_info entry(uint32_t job, uint64_t records,
				     uint64_t bytes)
{
	const struct in_addr receiver = { htonl(0x0a000001) };

	return (struct aggnet_tree_info){
		.has = AGGNET_HAS(AGGNET_A_TREE_STATE),
		.incast_id = aggnet_incast_id(job, receiver),
		.instance = 1, .contributors = 3, .channels = 2,
		.records_in = records, .records_out = records / 4,
		.bytes_in = bytes, .bytes_out = bytes / 4,
		.fallback_link = 1, .fallback_bloom = 2,
		.fallback_policy = 3, .fallback_round = 4,
	};
}

static double real(const json_t *row, const char *name)
{
	return json_real_value(json_object_get(row, name));
}

static json_int_t integer(const json_t *row, const char *name)
{
	return json_integer_value(json_object_get(row, name));
}

TEST(rates)
{
	struct aggnet_tree_info was[] = { entry(7, 1000, 1000000) };
	struct aggnet_tree_info is[] = { entry(7, 5000, 3000000) };
	const struct top_sample before = { was, 1, 5 * SECOND };
	const struct top_sample now = { is, 1, 7 * SECOND };
	json_t *rows = top_rows(&now, &before);
	const json_t *row = json_array_get(rows, 0);

	ASSERT_EQ(1, json_array_size(rows));
	EXPECT_EQ(7, integer(row, "job"));
	EXPECT_STREQ("10.0.0.1",
		     json_string_value(json_object_get(row, "receiver")));
	EXPECT_STREQ("2/3", json_string_value(json_object_get(row, "bound")));
	EXPECT_EQ(2000, real(row, "records_in_s"));
	EXPECT_EQ(500, real(row, "records_out_s"));
	EXPECT_EQ(8, real(row, "mbit_in_s"));
	EXPECT_EQ(2, real(row, "mbit_out_s"));
	EXPECT_EQ(75, real(row, "merged_percent"));
	EXPECT_EQ(10, integer(row, "fallbacks"));
	json_decref(rows);
}

/* The node's own processes are a contributor that never binds. */
TEST(bound)
{
	struct aggnet_tree_info tree = entry(7, 0, 0);
	json_t *bound;

	tree.writers = 2;
	bound = top_bound(&tree);
	EXPECT_STREQ("2/2", json_string_value(bound));
	json_decref(bound);
}

/* Counters of another epoch, or of an entry that was not there, say nothing. */
TEST(no_rates)
{
	struct aggnet_tree_info was[] = { entry(7, 1000, 1000000) };
	struct aggnet_tree_info is[] = { entry(7, 10, 100), entry(8, 10, 100),
					 entry(9, 0, 0) };
	const struct top_sample before = { was, 1, SECOND };
	const struct top_sample now = { is, 3, 2 * SECOND };
	json_t *rows, *row;
	size_t i;

	is[0].attempt = 1;
	is[2].records_out = 1;
	rows = top_rows(&now, &before);
	ASSERT_EQ(3, json_array_size(rows));
	json_array_foreach(rows, i, row)
		EXPECT_EQ(NULL, json_object_get(row, "records_in_s"));
	EXPECT_TRUE(json_is_null(json_object_get(json_array_get(rows, 2),
						 "merged_percent")));
	json_decref(rows);
}

TEST(most_traffic_first)
{
	struct aggnet_tree_info was[4], is[4];
	const uint64_t bytes[] = { 1000, 9000, 1000, 5000 };
	const json_int_t order[] = { 1, 3, 0, 2 };
	const struct top_sample before = { was, 4, SECOND };
	const struct top_sample now = { is, 4, 2 * SECOND };
	json_t *rows;
	uint32_t i;

	for (i = 0; i < 4; i++) {
		was[i] = entry(i, 0, 0);
		is[i] = entry(i, 10, bytes[i] * 1000);
	}
	rows = top_rows(&now, &before);
	for (i = 0; i < 4; i++)
		EXPECT_EQ(order[i], integer(json_array_get(rows, i), "job"));
	json_decref(rows);
}

/* A node that has lost its counters, and a clock that stands still. */
TEST(backwards)
{
	struct aggnet_tree_info was[] = { entry(7, 1000, 1000000) };
	struct aggnet_tree_info is[] = { entry(7, 10, 100) };
	const struct top_sample before = { was, 1, SECOND };
	struct top_sample now = { is, 1, 2 * SECOND };
	json_t *rows = top_rows(&now, &before);

	EXPECT_EQ(0, real(json_array_get(rows, 0), "records_in_s"));
	json_decref(rows);
	now.ns = SECOND;
	rows = top_rows(&now, &before);
	EXPECT_EQ(NULL, json_object_get(json_array_get(rows, 0),
					"records_in_s"));
	json_decref(rows);
}

/* The text names a node that only forwards as "tree show" does; programs read the state. */
TEST(forwards)
{
	struct aggnet_tree_info is[] = { entry(7, 0, 0), entry(8, 0, 0) };
	const struct top_sample before = { is, 2, SECOND }, now = { is, 2, 2 * SECOND };
	static const char *const state[] = { "idle", "forwards" };
	json_t *rows, *row;
	size_t i;

	setenv("AGGNET_NETWORK", "", 1);
	is[1].has = 0;
	rows = top_rows(&now, &before);
	json_array_foreach(rows, i, row) {
		EXPECT_STREQ("idle", json_string_value(json_object_get(row, "state")));
		EXPECT_EQ(i == 1, json_is_true(json_object_get(row, "forwards")));
		top_text(row);
		EXPECT_STREQ(state[i], json_string_value(json_object_get(row, "state")));
	}
	json_decref(rows);
}

/* Names are read once in each process, as each test is. */
static void describe(void)
{
	char path[] = "/tmp/aggnet-top.XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");

	fputs("topology graph\nhost one\nhost exactly.15.long\nhost sixteen.letters.\n"
	      "switch s\nlink one s\nlink exactly.15.long s\nlink sixteen.letters. s\n"
	      "address one 10.0.0.1\naddress exactly.15.long 10.0.0.2\n"
	      "address sixteen.letters. 10.0.0.3\n", f);
	fclose(f);
	setenv("AGGNET_NETWORK", path, 1);
	free(names_add(""));
	unlink(path);
}

/* A column is as wide as an address may be. */
TEST(names)
{
	static const char *const row[][2] = {
		{ "10.0.0.1", "one" }, { "10.0.0.2", "exactly.15.long" },
		{ "10.0.0.3", "10.0.0.3" }, { "10.0.0.4", "10.0.0.4" },
		{ "words", "words" },
	};
	json_t *object;
	size_t i;

	describe();
	for (i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		object = json_pack("{s:s}", "receiver", row[i][0]);
		top_name(object);
		EXPECT_STREQ(row[i][1], json_string_value(
			     json_object_get(object, "receiver")));
		json_decref(object);
	}
}

TEST(names_behind_addresses)
{
	json_t *list = json_pack("[s, s]", "10.0.0.1", "10.0.0.9"), *named;

	describe();
	named = names_json(list);
	EXPECT_STREQ("10.0.0.1 (one)",
		     json_string_value(json_array_get(named, 0)));
	EXPECT_STREQ("10.0.0.9", json_string_value(json_array_get(named, 1)));
	json_decref(named);
	json_decref(list);
}

TEST_HARNESS_MAIN
