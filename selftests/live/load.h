/* SPDX-License-Identifier: GPL-2.0 */
/* The records of a job: which ones a source has, and what must come out. */
#ifndef LIVE_LOAD_H
#define LIVE_LOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <aggnet_data.h>

#define LOAD_RECORD	18	/* bytes in a packet: lengths, key, value */

/**
 * struct load - records of all sources
 * @dense: elements of a vector, without keys
 * @sources: how many, numbered from 0
 * @records: of each source
 * @common: of these, records whose keys all sources have; the others have keys
 *	of that source alone. So the aggregation ratio (delta) of any subset of
 *	the sources is 1 - @common / @records
 */
struct load {
	bool dense;
	uint32_t sources;
	uint32_t records;
	uint32_t common;
};

/**
 * struct load_record - a record; those of a source have ascending keys
 * @key: its key, or the number of the element
 * @value: its value
 */
struct load_record {
	uint64_t key;
	int64_t value;
};

/**
 * struct load_check - compares a result with what was sent
 * @load: what was sent
 * @seen: by key: has it come?
 * @n: how many have come
 * @good: was each of them expected?
 */
struct load_check {
	const struct load *load;
	bool *seen;
	uint64_t n;
	bool good;
};

/* Bytes of a source's records in packets. */
size_t load_bytes(const struct load *load);

/* Record number @i of a source. */
struct load_record load_record(const struct load *load, uint32_t source,
			       uint32_t i);

/* Give all records of a source. Return: 0 or a negative errno */
int load_send(const struct load *load, uint32_t source,
	      struct aggnet_source *s);

struct load_check load_check(const struct load *load);

/* A record of the result. */
void load_came(struct load_check *check, struct load_record record);

/* Return: is the result exactly what was sent? */
bool load_checked(struct load_check *check);

/* Is the result, which has been read completely, exactly what was sent? */
bool load_is_result(const struct load *load, struct aggnet_sink *k);

#endif
