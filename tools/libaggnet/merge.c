// SPDX-License-Identifier: GPL-2.0
/* The receiver's last merge. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <linux/aggnet.h>

#include "merge.h"

#define MERGE_ENTRIES_MIN	1024		/* power of two */
#define MERGE_ENTRIES_MAX	(1u << 31)
#define MERGE_BLOCK		(256u << 10)

/**
 * struct merge_block - memory for keys
 * @next: the one that was filled before
 * @used: bytes of @bytes
 * @bytes: keys, back to back
 */
struct merge_block {
	struct merge_block *next;
	size_t used;
	uint8_t bytes[MERGE_BLOCK];
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Seeded, so that whoever chooses the keys cannot choose the collisions. */
static uint32_t merge_hash(const struct merge *m, const uint8_t *key,
			   size_t klen)
{
	uint64_t h = m->seed ^ klen, word;

	while (klen) {
		size_t n = klen < sizeof(word) ? klen : sizeof(word);

		word = 0;
		memcpy(&word, key, n);
		h = mix(h ^ word, m->seed | 1) + 0x9e3779b97f4a7c15;
		key += n;
		klen -= n;
	}
	return mix(h, 0xd6e8feb86659fd93);
}

/* Where a key is, or would be. */
static uint32_t *merge_slot(const struct merge *m, const uint8_t *key,
			    size_t klen, uint32_t hash)
{
	size_t i;

	for (i = hash & m->mask; m->slot[i]; i = (i + 1) & m->mask) {
		const struct merge_entry *e = &m->entry[m->slot[i] - 1];

		if (e->hash == hash && e->klen == klen &&
		    !memcmp(e->key, key, klen))
			break;
	}
	return &m->slot[i];
}

/* Twice the entries; twice as many slots as entries. */
static int merge_grow(struct merge *m)
{
	size_t room = m->room ? 2 * m->room : MERGE_ENTRIES_MIN;
	struct merge_entry *entry;
	uint32_t *slot;
	size_t i;

	if (room > MERGE_ENTRIES_MAX)
		return -ENOMEM;
	entry = reallocarray(m->entry, room, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	m->entry = entry;
	slot = calloc(2 * room, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	free(m->slot);
	m->slot = slot;
	m->room = room;
	m->mask = 2 * room - 1;
	for (i = 0; i < m->n; i++)
		*merge_slot(m, entry[i].key, entry[i].klen, entry[i].hash) =
			i + 1;
	return 0;
}

static const uint8_t *merge_keep(struct merge *m, const void *key, size_t klen)
{
	struct merge_block *block = m->block;
	uint8_t *copy;

	if (!block || MERGE_BLOCK - block->used < klen) {
		block = malloc(sizeof(*block));
		if (!block)
			return NULL;
		block->next = m->block;
		block->used = 0;
		m->block = block;
	}
	copy = block->bytes + block->used;
	memcpy(copy, key, klen);
	block->used += klen;
	return copy;
}

static int merge_insert(struct merge *m, const void *key, size_t klen,
			uint32_t hash, __int128 value)
{
	const uint8_t *copy;

	if (m->n == m->room && merge_grow(m))
		return -ENOMEM;
	copy = merge_keep(m, key, klen);
	if (!copy)
		return -ENOMEM;
	m->entry[m->n] = (struct merge_entry){
		.value = value, .key = copy, .hash = hash, .klen = klen,
	};
	*merge_slot(m, key, klen, hash) = ++m->n;
	return 0;
}

static int merge_start(struct merge *m)
{
	if (getrandom(&m->seed, sizeof(m->seed), GRND_INSECURE) !=
	    sizeof(m->seed))
		return -ENOMEM;
	return merge_grow(m);
}

int merge_add(struct merge *m, unsigned int function, const void *key,
	      size_t klen, __int128 value)
{
	struct merge_entry *e;
	uint32_t hash, *slot;

	if (!m->room && merge_start(m))
		return -ENOMEM;
	hash = merge_hash(m, key, klen);
	slot = merge_slot(m, key, klen, hash);
	if (!*slot)
		return merge_insert(m, key, klen, hash, value);
	e = &m->entry[*slot - 1];
	switch (function) {
	case AGGNET_FN_MIN:
		if (value < e->value)
			e->value = value;
		break;
	case AGGNET_FN_MAX:
		if (value > e->value)
			e->value = value;
		break;
	default: /* sum, and count as a sum of what nodes have counted */
		e->value = (__int128)((unsigned __int128)e->value +
				      (unsigned __int128)value);
	}
	return 0;
}

const struct merge_entry *merge_overflow(const struct merge *m)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (m->entry[i].value != (int64_t)m->entry[i].value)
			return &m->entry[i];
	return NULL;
}

static int merge_compare(const void *a, const void *b)
{
	const struct merge_entry *x = a, *y = b;
	size_t common = x->klen < y->klen ? x->klen : y->klen;
	int diff = memcmp(x->key, y->key, common);

	return diff ? diff : (int)x->klen - (int)y->klen;
}

void merge_sort(struct merge *m)
{
	if (m->n)
		qsort(m->entry, m->n, sizeof(*m->entry), merge_compare);
}

void merge_free(struct merge *m)
{
	struct merge_block *next;

	for (; m->block; m->block = next) {
		next = m->block->next;
		free(m->block);
	}
	free(m->entry);
	free(m->slot);
	memset(m, 0, sizeof(*m));
}
