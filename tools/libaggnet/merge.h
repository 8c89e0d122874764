/* SPDX-License-Identifier: GPL-2.0 */
/* The receiver's last merge: key -> accumulator in the caller's memory. */
#ifndef AGGNET_MERGE_H
#define AGGNET_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "core/accum.h"

struct merge_block;

/**
 * struct merge_entry - a key and its merged values
 * @value: for plain shapes
 * @accum: for all others
 * @key: its bytes
 * @hash: of the key
 * @klen: bytes of the key
 */
struct merge_entry {
	union {
		struct aggnet_value value;
		void *accum;
	};
	const uint8_t *key;
	uint32_t hash;
	uint8_t klen;
};

/**
 * struct merge - a hash table; empty if all is zero but the shape
 * @shape: of the values; set by the owner
 * @entry: the entries, in the order of their first arrival
 * @n: how many
 * @room: size of @entry
 * @slot: open addressing: entry number + 1, 0: empty
 * @mask: slots - 1
 * @block: memory of the keys
 * @seed: random, drawn with the first entry
 */
struct merge {
	struct aggnet_shape shape;
	struct merge_entry *entry;
	size_t n;
	size_t room;
	uint32_t *slot;
	size_t mask;
	struct merge_block *block;
	uint64_t seed;
};

/**
 * merge_add() - merge one value
 * @m: the table
 * @key: its bytes
 * @klen: 1..AGGNET_KEY_MAX
 * @value: in the wire format
 * @vlen: its bytes
 *
 * Return: 0, -EBADMSG: not a value of the shape, or -ENOMEM; after an error
 * nothing has changed
 */
int merge_add(struct merge *m, const void *key, size_t klen,
	      const uint8_t *value, size_t vlen);

static inline bool merge_plain(const struct merge *m)
{
	return aggnet_shape_kind(&m->shape) == AGGNET_KIND_PLAIN;
}

static inline bool merge_dense(const struct merge *m)
{
	return m->shape.layout == AGGNET_LAYOUT_DENSE;
}

/**
 * merge_gather() - add the entries of one stripe of a result
 * @m: the whole result, with its shape; only this function has added to it
 * @part: the stripe; its keys and accumulators stay where they are
 * @stripe: its number; blocks of a vector get the numbers that they have in the whole
 * @stripes: how many there are
 *
 * Return: 0 or -ENOMEM
 */
int merge_gather(struct merge *m, const struct merge *part, uint32_t stripe,
		 uint32_t stripes);

/* Compare two entries by the bytes of their keys. */
int merge_compare(const void *a, const void *b);

/* Sort the entries by key. Nothing may be added until merge_free(). */
void merge_sort(struct merge *m);

/* Empty the table; the shape stays. */
void merge_free(struct merge *m);

#endif /* AGGNET_MERGE_H */
