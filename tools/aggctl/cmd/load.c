// SPDX-License-Identifier: GPL-2.0
/* Records of a load: each is a function of the seed, the source and its number. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/load.h"

#define DIGITS		62
#define FILLER		'_'
#define ROUNDS		4

/*
 * A value takes 3 bytes in a record, and so does the sum of up to 255 values,
 * the most for which there are such values.
 */
#define VALUE_LEAST	32768
#define VALUE_MOST	99999
#define SUM_MOST	8388607
#define SUMMED_MOST	255

#define FRAME_BYTES	2
#define VALUE_BYTES	3

/* What a hash is for; the sources' orders and values follow. */
enum use {
	USE_OWN,
	USE_SOURCE,
};

/* The finaliser of splitmix64. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

static uint64_t own_seed(const struct load *load)
{
	return mix(mix(load->seed) + USE_OWN);
}

static uint64_t source_seed(const struct load *load, uint32_t source)
{
	return mix(mix(load->seed) + USE_SOURCE + source);
}

/* A number below @bound. */
static uint32_t draw(uint64_t seed, uint32_t i, uint32_t bound)
{
	return (uint32_t)((mix(seed + i) >> 32) * bound >> 32);
}

/*
 * Permute 0 .. @n - 1: a Feistel network permutes a power of four, and is
 * repeated until its result is below @n.
 */
static uint32_t permute(uint64_t seed, uint32_t i, uint32_t n)
{
	uint32_t half = 1, mask, left, right, next, r;

	while (half < 16 && (uint64_t)1 << 2 * half < n)
		half++;
	mask = ((uint32_t)1 << half) - 1;
	do {
		left = i >> half;
		right = i & mask;
		for (r = 0; r < ROUNDS; r++) {
			next = left ^ ((uint32_t)mix(seed + ((uint64_t)r << 32) +
						     right) & mask);
			left = right;
			right = next;
		}
		i = left << half | right;
	} while (i >= n);
	return i;
}

/* Digits of the numbers up to @most. */
static uint32_t width(uint32_t most)
{
	uint32_t n = 1;

	while (most /= DIGITS)
		n++;
	return n;
}

/* Numbers of the same width sort as their digits do. */
static void put_number(char *text, uint32_t number, uint32_t digits)
{
	static const char digit[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz";

	while (digits--) {
		text[digits] = digit[number % DIGITS];
		number /= DIGITS;
	}
}

/**
 * load_own() - the records with keys of a source's own, for a ratio
 * @records: of a source
 * @delta: the ratio, 0 to 1
 *
 * Return: their number, of which a @records'th is nearest to @delta.
 */
uint32_t load_own(uint32_t records, double delta)
{
	return (uint32_t)floor(delta * records + 0.5);
}

/**
 * load_key_least() - bytes that keys need to be different
 * @load: its number of sources and of records or words
 */
uint32_t load_key_least(const struct load *load)
{
	if (load->words)
		return width(load->words - 1);
	return width(load->records - 1) + width(load->senders - 1);
}

/**
 * load_record_bytes() - bytes of a record in a packet
 * @load: length of its keys
 */
uint32_t load_record_bytes(const struct load *load)
{
	return FRAME_BYTES + load->klen + (load->words ? 1 : VALUE_BYTES);
}

static uint32_t value_of(const struct load *load, uint64_t seed, uint32_t i)
{
	uint32_t summed = load->senders < SUMMED_MOST ? load->senders :
			  SUMMED_MOST;
	uint32_t most = SUM_MOST / summed;

	if (most > VALUE_MOST)
		most = VALUE_MOST;
	return VALUE_LEAST + draw(~seed, i, most - VALUE_LEAST + 1);
}

static size_t put_line(const struct load *load, uint32_t value, char *line)
{
	char *c = line + load->klen;
	char digits[10];
	size_t n = 0;

	do
		digits[n++] = (char)('0' + value % 10);
	while (value /= 10);
	*c++ = '\t';
	while (n)
		*c++ = digits[--n];
	*c++ = '\n';
	*c = '\0';
	return (size_t)(c - line);
}

static uint32_t word_of(const struct load *load, uint64_t seed, uint32_t i)
{
	return draw(seed, i, load->words);
}

/**
 * load_line() - make a record, as a line for aggctl send
 * @load: the load
 * @source: number of the source, from 0
 * @i: number of the record, from 0
 * @line: gets it, with a newline and a NUL
 *
 * Return: its length, without the NUL.
 */
size_t load_line(const struct load *load, uint32_t source, uint32_t i,
		 char line[LOAD_LINE_MAX])
{
	uint64_t seed = source_seed(load, source);
	uint32_t digits;

	memset(line, FILLER, load->klen);
	if (load->words) {
		put_number(line, word_of(load, seed, i),
			   width(load->words - 1));
		return put_line(load, 1, line);
	}
	if (!load->sorted)
		i = permute(seed, i, load->records);
	digits = width(load->records - 1);
	put_number(line, i, digits);
	/* No digit is a filler, so no own key is a common one. */
	if (permute(own_seed(load), i, load->records) < load->own)
		put_number(line + digits, source, width(load->senders - 1));
	return put_line(load, value_of(load, seed, i), line);
}

/* Return: was the bit clear? */
static bool set_bit(uint8_t *bits, uint32_t i)
{
	uint8_t bit = (uint8_t)(1 << i % 8);
	bool clear = !(bits[i / 8] & bit);

	bits[i / 8] |= bit;
	return clear;
}

static int count_words(const struct load *load, struct load_size *size)
{
	size_t bytes = load->words / 8 + 1;
	uint8_t *all = calloc(2, bytes), *own = all + bytes;
	uint32_t source, i, word;
	uint64_t seed, keys;

	if (!all)
		return -ENOMEM;
	for (source = 0; source < load->senders; source++) {
		seed = source_seed(load, source);
		memset(own, 0, bytes);
		keys = 0;
		for (i = 0; i < load->records; i++) {
			word = word_of(load, seed, i);
			keys += set_bit(own, word);
			size->all += set_bit(all, word);
		}
		size->sum += keys;
		if (keys > size->max)
			size->max = keys;
	}
	free(all);
	return 0;
}

/**
 * load_measure() - count the keys that merging leaves
 * @load: the load; words are drawn for it
 * @size: the result
 *
 * Return: 0 or -ENOMEM.
 */
int load_measure(const struct load *load, struct load_size *size)
{
	memset(size, 0, sizeof(*size));
	if (load->words)
		return count_words(load, size);
	size->sum = (uint64_t)load->senders * load->records;
	size->max = load->records;
	size->all = load->records + (uint64_t)(load->senders - 1) * load->own;
	return 0;
}

/**
 * load_delta() - the aggregation ratio of all sources
 * @size: their keys
 *
 * Return: the ratio, or NaN of a single source.
 */
double load_delta(const struct load_size *size)
{
	return (double)(size->all - size->max) /
	       (double)(size->sum - size->max);
}
