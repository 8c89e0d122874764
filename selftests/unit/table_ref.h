/* SPDX-License-Identifier: GPL-2.0 */
/* A plain list as the reference for the aggregation table, and packets to merge
 * into both.
 */
#ifndef TABLE_REF_H
#define TABLE_REF_H

#include <linux/kernel.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <stdlib.h>

#include "core/aggtable.h"
#include "core/record.h"

#include "../uapi/harness.h"

#define SEED	0x61676774
#define LIMIT	(1u << 20)
#define PAYLOAD	1384

static const struct aggnet_shape plain = { .function = AGGNET_FN_SUM };

#define s128 __int128
#define u128 unsigned __int128

/*
 * --- a plain list, the reference for the table
 * --------------------------------
 */

struct plain_key {
	u8 klen;
	u8 key[AGGNET_KEY_MAX];
	u128 value;
	u64 units;
};

struct plain {
	struct plain_key *of;
	u32 n;
};

static inline struct plain_key *plain_find(struct plain *p, const u8 *key, u8 klen)
{
	u32 i;

	for (i = 0; i < p->n; i++)
		if (p->of[i].klen == klen && !memcmp(p->of[i].key, key, klen))
			return &p->of[i];
	return NULL;
}

static inline void plain_merge(struct plain *p, u8 function, const u8 *key, u8 klen,
			s128 x, u64 units)
{
	struct plain_key *at = plain_find(p, key, klen);

	if (!at) {
		p->of = realloc(p->of, (p->n + 1) * sizeof(*p->of));
		at = &p->of[p->n++];
		memcpy(at->key, key, klen);
		at->klen = klen;
		at->value = x;
		at->units = units;
		return;
	}
	at->units += units;
	if (function == AGGNET_FN_MIN)
		at->value = x < (s128)at->value ? x : (s128)at->value;
	else if (function == AGGNET_FN_MAX)
		at->value = x > (s128)at->value ? x : (s128)at->value;
	else if (function == AGGNET_FN_BAND || function == AGGNET_FN_LAND)
		at->value &= x;
	else if (function == AGGNET_FN_BOR || function == AGGNET_FN_LOR)
		at->value |= x;
	else if (function == AGGNET_FN_BXOR || function == AGGNET_FN_LXOR)
		at->value ^= x;
	else
		at->value += x;
}

static inline s128 wide(struct aggnet_value v)
{
	return (s128)((u128)v.hi << 64 | v.lo);
}

/* Merge packed records into the list; of units it keeps the total only. */
static inline u32 plain_take(struct plain *p, u8 function, const u8 *buf, u32 len)
{
	const u8 *end = buf + len;
	struct aggnet_record rec;
	u32 n = 0;

	for (; buf < end; n++) {
		buf += aggnet_record_get(buf, &rec);
		plain_merge(p, function, rec.key, rec.klen, wide(rec.value), 0);
	}
	return n;
}

static inline bool plain_equal(struct plain *a, struct plain *b)
{
	u32 i;

	if (a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++) {
		struct plain_key *other;

		other = plain_find(b, a->of[i].key, a->of[i].klen);
		if (!other || other->value != a->of[i].value)
			return false;
	}
	return true;
}

static inline void plain_free(struct plain *p)
{
	free(p->of);
	memset(p, 0, sizeof(*p));
}

/* --- tables and packets -------------------------------------------------- */

static inline void table_start(struct aggnet_table *t, u8 function, u64 limit,
			u32 chunks)
{
	const struct aggnet_shape shape = { .function = function };
	u8 seed[sizeof(t->seed)];

	memset(t, 0, sizeof(*t));
	get_random_bytes(seed, sizeof(seed));
	if (aggnet_table_init(t, &shape, limit, seed))
		abort();
	while (chunks--)
		if (!aggnet_table_grow(t, aggnet_chunk_alloc()))
			abort();
}

/* It holds nothing, all chunks are free, and every bucket is empty. */
static inline bool table_is_empty(const struct aggnet_table *t)
{
	u32 i, n = 0;

	for (i = 0; i <= t->bucket_mask; i++)
		if (t->bucket[i])
			return false;
	for (i = t->free_head; i; i = t->next[i])
		n++;
	return n == t->free && t->free == t->chunks && !t->keys && !t->units &&
	       !aggnet_table_used(t);
}

struct packet {
	u8 *data;	/* allocated with the records' exact size */
	u32 len;
	u32 n;
	u64 represents;
};

static inline void packet_add(struct packet *p, const u8 *key, u8 klen,
		       const u8 *value, u8 vlen)
{
	u8 *at;

	p->data = realloc(p->data, p->len + 2 + klen + vlen);
	at = p->data + p->len;
	at[0] = klen;
	at[1] = vlen;
	memcpy(at + 2, key, klen);
	if (vlen)
		memcpy(at + 2 + klen, value, vlen);
	p->len += 2 + klen + vlen;
	p->represents += 1;
	p->n++;
}

static inline void packet_free(struct packet *p)
{
	free(p->data);
	memset(p, 0, sizeof(*p));
}

/* Keys of every length; many are prefixes of others or have many zero bytes. */
static inline u8 random_key(u8 *key, u32 variety)
{
	u32 pick = get_random_u32() % variety;
	u8 klen = 1 + pick % (pick % 7 ? 20 : 255);
	u8 i;

	for (i = 0; i < klen; i++)
		key[i] = i % 8 == pick % 8 ? pick : i % 16 == 3 ? pick >> 8 : 0;
	return klen;
}

static inline void random_packet(struct packet *p, u32 payload, u32 variety)
{
	u8 key[AGGNET_KEY_MAX], value[AGGNET_PLAIN_MAX];
	u32 max = aggnet_max_records(&plain, payload);
	u8 klen, vlen;

	while (p->n < max) {
		klen = random_key(key, variety);
		vlen = get_random_u32() % 4 ? get_random_u32() % 17 : 8;
		get_random_bytes(value, sizeof(value));
		if (p->len + 2 + klen + vlen > payload)
			break;
		packet_add(p, key, klen, value, vlen);
	}
}

static inline void merge(struct aggnet_table *t, const struct packet *p)
{
	u32 lengths;

	if (aggnet_parse_lengths(&t->shape, false, p->data, p->len, p->n,
				 &lengths) != (int)p->n)
		abort();
	aggnet_table_merge_equal(t, p->data, p->n, p->represents, lengths);
}

/* Pack all that a table holds; every packet must be well formed. */
static inline bool drain(struct aggnet_table *t, struct plain *to, u64 *units)
{
	u32 len, n;
	u64 represents;
	u8 *buf;

	while (t->keys) {
		buf = malloc(PAYLOAD);
		len = aggnet_table_pack(t, buf, PAYLOAD, PAYLOAD / 8, &n,
					&represents);
		if (!len || len > PAYLOAD || n > PAYLOAD / 8 ||
		    aggnet_parse_records(&plain, false, buf, len, n) !=
		    (int)n ||
		    plain_take(to, t->shape.function, buf, len) != n ||
		    represents < n)
			return false;
		*units += represents;
		free(buf);
	}
	return table_is_empty(t);
}

#endif /* TABLE_REF_H */
