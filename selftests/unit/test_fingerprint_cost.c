// SPDX-License-Identifier: GPL-2.0
/* Counts the instructions that the fingerprint of a record with a key of 8 bytes
 * takes: the hash and the sum alone, and with reading the records of a source or
 * the entries of a result.
 */
#include <linux/kernel.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/accum.h"
#include "../../tools/libaggnet/record.c"
#include "../../tools/libaggnet/fingerprint.c"
#include "count.h"

#define RECORDS	(66 * FP_BATCH)

/**
 * struct section - what is counted
 * @what: its name
 * @goal: instructions a record
 * @run: does it for so many records
 */
struct section {
	const char *what;
	unsigned long goal;
	void (*run)(const void *records);
};

/* Not static, so that the compiler keeps what computes it. */
uint64_t value;

static struct fingerprint begin(void)
{
	return (struct fingerprint){
		.shape = { .function = AGGNET_FN_SUM },
		.kind = AGGNET_FP_SUM, .integers = true, .key = { 3, 5 },
	};
}

static void add_batches(const void *of)
{
	struct batch b = { .n = FP_BATCH };
	struct fingerprint f = begin();
	const unsigned int *n = of;
	unsigned int i;

	for (i = 0; i < FP_BATCH; i++) {
		b.key[i] = i * MIX_1;
		b.value[i] = 1000 + i;
	}
	mark();
	for (i = 0; i < *n; i += FP_BATCH)
		fp_add_batch(&f, &b);
	value = f.value;
	mark();
}

static void send_records(const void *of)
{
	static uint8_t data[RECORDS * 32];
	struct fingerprint f = begin();
	const unsigned int *n = of;
	unsigned int i;
	size_t len = 0;
	uint64_t key;

	for (i = 0; i < *n; i++) {
		key = i * MIX_1;
		len += record_put(data + len, &key, sizeof(key), 1000 + i);
	}
	mark();
	fingerprint_records(&f, data, len);
	value = f.value;
	mark();
}

static void read_results(const void *of)
{
	static struct merge_entry entry[RECORDS];
	static uint64_t key[RECORDS];
	struct fingerprint f = begin();
	const unsigned int *n = of;
	struct merge m = { .entry = entry, .n = *n };
	unsigned int i;

	for (i = 0; i < *n; i++) {
		key[i] = i * MIX_1;
		entry[i] = (struct merge_entry){
			.value = aggnet_value_s64(1000 + i),
			.key = (const uint8_t *)&key[i], .klen = 8,
		};
	}
	mark();
	fingerprint_result(&f, &m);
	value = f.value;
	mark();
}

/* Return: instructions of a record, 0: they cannot be counted */
static unsigned long per_record(const struct section *s)
{
	const unsigned int none = 0, all = RECORDS;
	unsigned long few = count(s->run, &none), many = count(s->run, &all);

	return few && many > few ? (many - few + RECORDS / 2) / RECORDS : 0;
}

int main(void)
{
	static const struct section section[] = {
		{ "alone", 20, add_batches },
		{ "with reading a source's record", 60, send_records },
		{ "with reading a result's entry", 60, read_results },
	};
	unsigned long n;
	bool failed = false;
	unsigned int i;

	printf("1..%zu\n", ARRAY_SIZE(section));
	for (i = 0; i < ARRAY_SIZE(section); i++) {
		n = per_record(&section[i]);
		failed |= !n || n > section[i].goal;
		printf("%sok %u - fingerprint of a record, %s: %lu instructions\n",
		       n && n <= section[i].goal ? "" : "not ", i + 1, section[i].what, n);
	}
	return failed;
}
