/* SPDX-License-Identifier: GPL-2.0 */
/* Workload: the records that the benchmark's children send, and a sum by which the
 * result of merging them is compared.
 */
#ifndef PERF_WORKLOAD_H
#define PERF_WORKLOAD_H

#include <linux/types.h>

#include "core/shape.h"

/**
 * struct perf_load - what is sent
 * @shape: of the values
 * @klen: bytes of each key
 * @keys: number of distinct keys; 0: each record of a child has its own key
 */
struct perf_load {
	struct aggnet_shape shape;
	u32 klen;
	u32 keys;
};

/**
 * struct perf_result - sums over records; merging the records does not change them
 * @records: records of sources
 * @keys: distinct keys
 * @sum: of each value, or element, times a hash of its key, modulo 2^64
 */
struct perf_result {
	u64 records;
	u64 keys;
	u64 sum;
};

/**
 * struct perf_feed - the records of one child
 * @load: what is sent
 * @result: of all records so far, of all feeds that share it
 * @seen: bitmap of the keys so far, shared likewise
 * @random: state of the generator
 * @next: number of the next key, where they ascend
 * @number: of the key of @record
 * @len: bytes of @record, 0: none waits
 * @record: did not fit into the last packet
 */
struct perf_feed {
	const struct perf_load *load;
	struct perf_result *result;
	u64 *seen;
	unsigned long long random;
	u32 next;
	u32 number;
	u32 len;
	u8 record[512];
};

/* Read LAYOUT:VTYPE:KEY-BYTES:KEYS (of dense vectors elements); exit if it is wrong. */
struct perf_load perf_load(const char *text);

/* Elements in one record: of a block all of them. */
u32 perf_elements(const struct perf_load *load);

/* Write the records of one packet. Return: their bytes */
u32 perf_fill(struct perf_feed *feed, u8 *buf, u32 room, u32 *records);

/* Add @n merged records, in the format of DATA, to keys and sum. */
void perf_result_add(const struct perf_load *load, struct perf_result *result,
		     const u8 *data, u32 n);

/* The same for one key of 8 bytes, and for one element. */
void perf_result_add_key(struct perf_result *result, u64 key, u64 value);
void perf_result_add_element(struct perf_result *result, u32 element, u64 value);

/*
 * Print it as members of a JSON object, without brackets; records only if they were
 * counted.
 */
void perf_result_print(const struct perf_result *result);

#endif
