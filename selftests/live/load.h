/* SPDX-License-Identifier: GPL-2.0 */
/* The records of a job: which ones a source has, and what must come out. */
#ifndef LIVE_LOAD_H
#define LIVE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

/* Bytes of a source's records in packets. */
size_t load_bytes(const struct load *load);

/* Give all records of a source. Return: 0 or a negative errno */
int load_send(const struct load *load, uint32_t source,
	      struct aggnet_source *s);

/* Is the result, which has been read completely, exactly what was sent? */
bool load_is_result(const struct load *load, struct aggnet_sink *k);

#endif
