/* SPDX-License-Identifier: GPL-2.0 */
/* Load: the records of a number of sources, with an exact aggregation ratio.
 *
 * An input with the ratio delta has a record at each of R positions. The keys at
 * R - own of the positions are common to all sources; those at the other own
 * positions have the source's number in them. The keys of any m inputs together
 * are R + own (m - 1), and own / R is the delta of Documentation/trees.rst.
 */
#ifndef AGGCTL_LOAD_H
#define AGGCTL_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "aggnet.h"

#define LOAD_KEY_BYTES	16	/* if no other length is asked for */
/* Key, TAB, 5 digits, newline and NUL. */
#define LOAD_LINE_MAX	(AGGNET_KEY_MAX + 8)

/**
 * struct load - the records of a number of sources
 * @seed: of the order, of the values and of the choice of common keys
 * @senders: number of sources, at least 1
 * @records: of each source, at least 1
 * @own: of these, those with keys of no other source; see load_own()
 * @words: if not 0, each record is one of so many words, drawn at random, and
 *	@own and @sorted do not count
 * @klen: bytes of each key, load_key_least() at least
 * @sorted: records are in the order of their keys
 */
struct load {
	uint64_t seed;
	uint32_t senders;
	uint32_t records;
	uint32_t own;
	uint32_t words;
	uint32_t klen;
	bool sorted;
};

/**
 * struct load_size - what is left of a load
 * @sum: keys of all sources, each counted by itself
 * @max: keys of the source that has the most
 * @all: different keys
 */
struct load_size {
	uint64_t sum;
	uint64_t max;
	uint64_t all;
};

uint32_t load_own(uint32_t records, double delta);
uint32_t load_key_least(const struct load *load);
uint32_t load_record_bytes(const struct load *load);
size_t load_line(const struct load *load, uint32_t source, uint32_t i,
		 char line[LOAD_LINE_MAX]);
int load_measure(const struct load *load, struct load_size *size);
double load_delta(const struct load_size *size);

#endif
