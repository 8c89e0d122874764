// SPDX-License-Identifier: GPL-2.0
/* Workload: the records that the benchmark's children send, and their sum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/random.h"
#include "core/accum.h"
#include "core/aggtable.h"
#include "core/record.h"
#include "core/vector.h"
#include "workload.h"

#define ACCUM_WORDS	64	/* more than any accumulator has here */

static const char *const layouts[__AGGNET_LAYOUT_MAX] = {
	[AGGNET_LAYOUT_KEYED] = "keyed",
	[AGGNET_LAYOUT_DENSE] = "dense",
	[AGGNET_LAYOUT_SORTED] = "sorted",
};

static const char *const vtypes[__AGGNET_VTYPE_MAX] = {
	[AGGNET_VTYPE_INT64] = "int64",
	[AGGNET_VTYPE_INT32] = "int32",
	[AGGNET_VTYPE_FLOAT64] = "float64",
};

static int find(const char *const *names, int n, const char *name)
{
	while (n--)
		if (names[n] && !strcmp(names[n], name))
			return n;
	fprintf(stderr, "unknown layout or value type '%s'\n", name);
	exit(2);
}

struct perf_load perf_load(const char *text)
{
	char layout[16], vtype[16];
	struct perf_load load = {};

	if (sscanf(text, "%15[^:]:%15[^:]:%u:%u", layout, vtype, &load.klen,
		   &load.keys) != 4) {
		fprintf(stderr, "'%s' is not a workload\n", text);
		exit(2);
	}
	load.shape.function = AGGNET_FN_SUM;
	load.shape.layout = find(layouts, __AGGNET_LAYOUT_MAX, layout);
	load.shape.vtype = find(vtypes, __AGGNET_VTYPE_MAX, vtype);
	if (load.shape.layout == AGGNET_LAYOUT_DENSE) {
		load.shape.elements = load.keys;
		load.keys = aggnet_vector_blocks(&load.shape);
		load.klen = aggnet_vector_klen(&load.shape);
	}
	return load;
}

u32 perf_elements(const struct perf_load *load)
{
	return aggnet_shape_kind(&load->shape) == AGGNET_KIND_BLOCK ?
	       AGGNET_BLOCK_ELEMENTS : 1;
}

/* --- result --------------------------------------------------------------- */

static u64 mix(u64 number)
{
	unsigned long long state = number;

	return splitmix64(&state);
}

static u64 key_hash(const u8 *key, u32 klen)
{
	u64 hash = klen, word;
	u32 i;

	for (i = 0; i < klen; i += 8) {
		word = 0;
		memcpy(&word, key + i, klen - i < 8 ? klen - i : 8);
		hash = mix(hash ^ word);
	}
	return hash;
}

void perf_result_add_key(struct perf_result *result, u64 key, u64 value)
{
	result->keys++;
	result->sum += key_hash((const u8 *)&key, sizeof(key)) * value;
}

void perf_result_add_element(struct perf_result *result, u32 element, u64 value)
{
	result->sum += mix(element) * value;
}

/* The sum of one key, modulo 2^64; the real numbers of a workload are integers. */
static u64 low_word(const struct aggnet_shape *shape, const u64 *accum)
{
	const struct aggnet_float_sum *sum = (const void *)accum;

	if (aggnet_shape_kind(shape) != AGGNET_KIND_FLOAT_SUM)
		return accum[0];
	/* The integer is the sum times 2^1074. */
	return sum->word[1074 / 64] >> 1074 % 64 |
	       sum->word[1074 / 64 + 1] << (64 - 1074 % 64);
}

static void add_record(const struct perf_load *load,
		       struct perf_result *result, const u8 *record)
{
	const u8 *key = record + 2, *value = key + record[0];
	const struct aggnet_shape *shape = &load->shape;
	u64 accum[ACCUM_WORDS];
	u32 i, block;

	aggnet_accum_init(shape, accum);
	aggnet_accum_merge(shape, accum, value, record[1], false);
	if (aggnet_shape_kind(shape) != AGGNET_KIND_BLOCK) {
		result->sum += key_hash(key, record[0]) *
			       low_word(shape, accum);
		return;
	}
	block = aggnet_vector_key_get(key, record[0]);
	for (i = 0; i < AGGNET_BLOCK_ELEMENTS; i++)
		perf_result_add_element(result,
					block * AGGNET_BLOCK_ELEMENTS + i,
					accum[2 * i]);
}

void perf_result_add(const struct perf_load *load, struct perf_result *result,
		     const u8 *data, u32 n)
{
	result->keys += n;
	for (; n--; data += 2 + data[0] + data[1])
		add_record(load, result, data);
}

void perf_result_print(const struct perf_result *result)
{
	if (result->records)
		printf("\"records\": %llu, ", result->records);
	printf("\"keys\": %llu, \"sum\": \"%016llx\"", result->keys,
	       result->sum);
}

/* --- records -------------------------------------------------------------- */

static u32 next_number(struct perf_feed *feed)
{
	const struct perf_load *load = feed->load;

	if (load->shape.layout == AGGNET_LAYOUT_KEYED)
		return splitmix64(&feed->random) % load->keys;
	return load->keys ? feed->next++ % load->keys : feed->next++;
}

static void put_key(const struct perf_load *load, u32 number, u8 *key)
{
	u64 word = number;
	u32 i;

	switch (load->shape.layout) {
	case AGGNET_LAYOUT_DENSE:
		aggnet_vector_key_put(&load->shape, number, key);
		return;
	case AGGNET_LAYOUT_SORTED:
		for (i = load->klen; i--; word >>= 8)
			key[i] = word;
		return;
	default:
		for (i = 0; i < load->klen; i += 8, word = mix(word))
			memcpy(key + i, &word,
			       load->klen - i < 8 ? load->klen - i : 8);
	}
}

/* Write one number of a source. Every one takes all its bytes. */
static u32 put_number(unsigned int vtype, u64 random, u8 *buf)
{
	u64 bits = random >> 2 | 1ULL << 61;
	double real = random >> 33 | 1ULL << 31;

	if (vtype == AGGNET_VTYPE_INT32)
		bits = random >> 34 | 1ULL << 29;
	if (vtype == AGGNET_VTYPE_FLOAT64)
		memcpy(&bits, &real, sizeof(bits));
	memcpy(buf, &bits, aggnet_source_bytes(vtype));
	return aggnet_source_bytes(vtype);
}

static void make_record(struct perf_feed *feed)
{
	const struct aggnet_shape *shape = &feed->load->shape;
	u8 key[AGGNET_KEY_MAX], value[AGGNET_VALUE_MAX];
	u32 n = perf_elements(feed->load);
	u64 accum[ACCUM_WORDS];
	u32 vlen = 0, part = 0;

	feed->number = next_number(feed);
	put_key(feed->load, feed->number, key);
	while (n--)
		vlen += put_number(shape->vtype, splitmix64(&feed->random),
				   value + vlen);
	aggnet_accum_init(shape, accum);
	aggnet_accum_merge(shape, accum, value, vlen, true);
	feed->len = aggnet_accum_record(shape, accum, key, feed->load->klen,
					&part, feed->record,
					sizeof(feed->record));
}

static void count_record(struct perf_feed *feed)
{
	u64 *word = &feed->seen[feed->number / 64];
	u64 bit = 1ULL << feed->number % 64;

	feed->result->records++;
	feed->result->keys += !(*word & bit);
	*word |= bit;
	add_record(feed->load, feed->result, feed->record);
}

u32 perf_fill(struct perf_feed *feed, u8 *buf, u32 room, u32 *records)
{
	u32 max = aggnet_max_records(&feed->load->shape, room);
	u32 used = 0;

	for (*records = 0; *records < max; ++*records) {
		if (!feed->len)
			make_record(feed);
		if (used + feed->len > room)
			break;
		memcpy(buf + used, feed->record, feed->len);
		used += feed->len;
		count_record(feed);
		feed->len = 0;
	}
	return used;
}
