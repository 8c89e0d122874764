// SPDX-License-Identifier: GPL-2.0
/* The receiver's last merge. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <linux/aggnet.h>

#include "core/vector.h"
#include "merge.h"
#include "record.h"

#define MERGE_ENTRIES_MIN	1024		/* power of two */
#define MERGE_ENTRIES_MAX	(1u << 31)
#define MERGE_BLOCK		(256u << 10)

/**
 * struct merge_block - memory for keys and accumulators
 * @next: the one that was filled before
 * @used: bytes of @bytes
 * @bytes: keys and accumulators, back to back
 */
struct merge_block {
	struct merge_block *next;
	size_t used;
	uint8_t bytes[MERGE_BLOCK] __attribute__((aligned(8)));
};

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Seeded, so that keys cannot be chosen to collide. */
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

static void *merge_keep(struct merge *m, size_t size)
{
	struct merge_block *block = m->block;
	void *room;

	size = (size + 7) & ~(size_t)7;
	if (!block || MERGE_BLOCK - block->used < size) {
		block = malloc(sizeof(*block));
		if (!block)
			return NULL;
		block->next = m->block;
		block->used = 0;
		m->block = block;
	}
	room = block->bytes + block->used;
	block->used += size;
	return room;
}

static struct merge_entry *merge_insert(struct merge *m, const void *key,
					size_t klen, uint32_t hash)
{
	struct merge_entry *e;
	uint8_t *copy;

	if (m->n == m->room && merge_grow(m))
		return NULL;
	copy = merge_keep(m, klen);
	if (!copy)
		return NULL;
	e = &m->entry[m->n];
	*e = (struct merge_entry){ .key = copy, .hash = hash, .klen = klen };
	if (!merge_plain(m)) {
		e->accum = merge_keep(m, aggnet_accum_size(&m->shape));
		if (!e->accum)
			return NULL;
	}
	aggnet_accum_init(&m->shape, merge_plain(m) ? &e->value : e->accum);
	memcpy(copy, key, klen);
	*merge_slot(m, key, klen, hash) = ++m->n;
	return e;
}

static int merge_start(struct merge *m)
{
	if (getrandom(&m->seed, sizeof(m->seed), GRND_INSECURE) !=
	    sizeof(m->seed))
		return -errno;
	return merge_grow(m);
}

int merge_add(struct merge *m, const void *key, size_t klen,
	      const uint8_t *value, size_t vlen)
{
	struct merge_entry *e;
	uint32_t hash, *slot;
	int err;

	if (!aggnet_accum_check(&m->shape, value, vlen, false) ||
	    (merge_dense(m) && !aggnet_vector_key_ok(&m->shape, key, klen)))
		return -EBADMSG;
	err = m->room ? 0 : merge_start(m);
	if (err)
		return err;
	hash = merge_hash(m, key, klen);
	slot = merge_slot(m, key, klen, hash);
	e = *slot ? &m->entry[*slot - 1] : merge_insert(m, key, klen, hash);
	if (!e)
		return -ENOMEM;
	aggnet_accum_merge(&m->shape, merge_plain(m) ? &e->value : e->accum,
			   value, vlen, false);
	return 0;
}

/* The number of a block in the whole vector becomes its key. */
static int merge_renumber(struct merge *m, struct merge_entry *e,
			  uint32_t stripe, uint32_t stripes)
{
	uint32_t block = aggnet_vector_key_get(e->key, e->klen);
	uint8_t *key = merge_keep(m, sizeof(block));

	if (!key)
		return -ENOMEM;
	e->klen = aggnet_vector_key_put(&m->shape, block * stripes + stripe,
					key);
	e->key = key;
	return 0;
}

int merge_gather(struct merge *m, const struct merge *part, uint32_t stripe,
		 uint32_t stripes)
{
	struct merge_entry *entry;
	size_t i;
	int err = 0;

	if (!part->n)
		return 0;
	entry = reallocarray(m->entry, m->n + part->n, sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	m->entry = entry;
	memcpy(entry + m->n, part->entry, part->n * sizeof(*entry));
	for (i = 0; !err && merge_dense(m) && i < part->n; i++)
		err = merge_renumber(m, &entry[m->n + i], stripe, stripes);
	m->n += part->n;
	return err;
}

int merge_compare(const void *a, const void *b)
{
	const struct merge_entry *x = a, *y = b;

	return record_compare(x->key, x->klen, y->key, y->klen);
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
	*m = (struct merge){ .shape = m->shape };
}
