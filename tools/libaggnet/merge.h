/* SPDX-License-Identifier: GPL-2.0 */
/* The receiver's last merge: key -> 128-bit value in the caller's memory. */
#ifndef AGGNET_MERGE_H
#define AGGNET_MERGE_H

#include <stddef.h>
#include <stdint.h>

struct merge_block;

struct merge_entry {
	__int128 value;
	const uint8_t *key;
	uint32_t hash;
	uint8_t klen;
};

/**
 * struct merge - a hash table; all zero is an empty one
 * @entry: the entries, in the order of their first sight
 * @n: how many
 * @room: size of @entry
 * @slot: open addressing: entry number + 1, 0: empty
 * @mask: slots - 1
 * @block: where the keys are
 * @seed: random, drawn with the first entry
 */
struct merge {
	struct merge_entry *entry;
	size_t n;
	size_t room;
	uint32_t *slot;
	size_t mask;
	struct merge_block *block;
	uint64_t seed;
};

/* Merge one value. Return: 0, or -ENOMEM and nothing has changed */
int merge_add(struct merge *m, unsigned int function, const void *key,
	      size_t klen, __int128 value);

/* The first entry that does not fit int64, NULL if all do. */
const struct merge_entry *merge_overflow(const struct merge *m);

/* Order the entries by key. Nothing may be added until merge_free(). */
void merge_sort(struct merge *m);

/* Back to empty. */
void merge_free(struct merge *m);

#endif /* AGGNET_MERGE_H */
