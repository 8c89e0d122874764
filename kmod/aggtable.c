// SPDX-License-Identifier: GPL-2.0
/* Aggregation buffer: a chained hash over entries in a log of chunks. */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/string.h>

#include "aggtable.h"
#include "mem.h"
#include "reduce.h"

/*
 * A reference names an entry in 32 bits: chunk number and offset in it, in
 * units of 8 bytes. Chunk numbers start at 1, so 0 refers to nothing.
 */
#define REF_BITS	ilog2(AGGNET_CHUNK / 8)
#define REF_MASK	((1u << REF_BITS) - 1)
#define CHUNKS_MAX	((1u << (32 - REF_BITS)) - 1)

#define HASH_BITS	24	/* of a tag; the key's length is above them */
#define BUCKET_BYTES	32	/* of the limit; the smallest entry takes 40 */

/**
 * struct entry - a key and what has been merged under it
 * @next: reference of the next in the bucket, 0: none
 * @tag: key length << HASH_BITS | hash; 0: the chunk ends here
 * @units: original records merged
 * @value: their aggregate
 * @key: in little endian words, the last one padded with zeros
 */
struct entry {
	u32 next;
	u32 tag;
	u64 units;
	struct aggnet_value value;
	__le64 key[];
};

static __always_inline u32 entry_size(u32 klen)
{
	return sizeof(struct entry) + round_up(klen, 8);
}

static __always_inline struct entry *entry_at(u8 *const *chunk, u32 ref)
{
	return (struct entry *)(chunk[ref >> REF_BITS] + (ref & REF_MASK) * 8);
}

/* The last 1..7 bytes of a key as a word, nothing read but the record. */
static __always_inline u64 key_tail(const u8 *key, u32 klen)
{
	const u8 *end = key + klen;
	u32 n = klen & 7;

	/* The two lengths before the key belong to the record as well. */
	if (likely(klen >= 6))
		return get_unaligned_le64(end - 8) >> (64 - 8 * n);
	if (klen >= 4)
		return get_unaligned_le32(key) |
		       (u64)get_unaligned_le32(end - 4) << (8 * n - 32);
	if (klen >= 2)
		return get_unaligned_le16(key) |
		       (u32)get_unaligned_le16(end - 2) << (8 * n - 16);
	return *key;
}

/*
 * Multilinear hashing in its half-multiplication form: a key is a string of
 * 32-bit characters, two to a word, and
 *
 *	h = s0 + s1 * length + sum (c[2i] + s[2i+2]) * (c[2i+1] + s[2i+3])
 *
 * modulo 2^64 with 64-bit secrets s. For two keys that differ in a character
 * (or in length), h1 - h2 holds that secret which the difference d of this
 * character multiplies, 0 < |d| < 2^32, added to terms without it. So every
 * value of the top 32 bits of h1 - h2 is equally probable: any two keys fall
 * into the same bucket with a probability of 1 / buckets, whoever chose them,
 * as long as he does not know the secrets. No mixing step is needed, but only
 * the top bits may be used.
 */
static __always_inline u64 hash_start(const u64 *seed, u32 klen)
{
	return seed[0] + seed[1] * klen;
}

static __always_inline u64 hash_word(u64 h, const u64 *seed, u64 word)
{
	return h + ((u32)word + seed[0]) * ((word >> 32) + seed[1]);
}

static __always_inline u32 hash_tag(u64 h, u32 klen)
{
	return klen << HASH_BITS | (u32)(h >> (64 - HASH_BITS));
}

static __always_inline u32 key_tag(const u64 *seed, const u8 *key, u32 klen)
{
	const u64 *s = seed + 2;
	u64 h = hash_start(seed, klen);
	u32 i;

	for (i = 0; i < klen / 8; i++, s += 2)
		h = hash_word(h, s, get_unaligned_le64(key + 8 * i));
	if (klen & 7)
		h = hash_word(h, s, key_tail(key, klen));
	return hash_tag(h, klen);
}

static __always_inline bool key_equal(const struct entry *e, const u8 *key,
				      u32 klen)
{
	u32 i;

	for (i = 0; i < klen / 8; i++)
		if (le64_to_cpu(e->key[i]) != get_unaligned_le64(key + 8 * i))
			return false;
	return !(klen & 7) || le64_to_cpu(e->key[i]) == key_tail(key, klen);
}

static u64 chunks_of(u64 limit)
{
	return min_t(u64, limit / AGGNET_CHUNK, CHUNKS_MAX);
}

static u64 buckets_of(u64 limit)
{
	return rounddown_pow_of_two(clamp_t(u64, limit / BUCKET_BYTES, 1,
					    1u << HASH_BITS));
}

size_t aggnet_table_overhead(u64 limit)
{
	const struct aggnet_table *t;

	return buckets_of(limit) * sizeof(*t->bucket) +
	       (chunks_of(limit) + 1) * (sizeof(*t->chunk) + sizeof(*t->next));
}

int aggnet_table_init(struct aggnet_table *t, u8 function, u64 limit,
		      const void *seed)
{
	u64 buckets = buckets_of(limit);
	u64 chunks = chunks_of(limit);

	t->bucket = aggnet_zalloc(buckets * sizeof(*t->bucket),
				  GFP_KERNEL_ACCOUNT);
	t->chunk = aggnet_zalloc((chunks + 1) * sizeof(*t->chunk),
				 GFP_KERNEL_ACCOUNT);
	t->next = aggnet_zalloc((chunks + 1) * sizeof(*t->next),
				GFP_KERNEL_ACCOUNT);
	if (!t->bucket || !t->chunk || !t->next) {
		aggnet_table_free(t);
		return -ENOMEM;
	}
	t->bucket_mask = buckets - 1;
	t->chunks_max = chunks;
	t->function = function;
	memcpy(t->seed, seed, sizeof(t->seed));
	return 0;
}

void aggnet_table_free(struct aggnet_table *t)
{
	u32 i;

	for (i = 1; i <= t->chunks; i++)
		aggnet_chunk_free(t->chunk[i]);
	aggnet_free(t->next);
	aggnet_free(t->chunk);
	aggnet_free(t->bucket);
	memset(t, 0, sizeof(*t));
}

void *aggnet_chunk_alloc(void)
{
	return aggnet_zalloc(AGGNET_CHUNK, GFP_KERNEL_ACCOUNT);
}

void aggnet_chunk_free(void *chunk)
{
	aggnet_free(chunk);
}

static void chunk_release(struct aggnet_table *t, u32 number)
{
	t->next[number] = t->free_head;
	t->free_head = number;
	t->free++;
}

bool aggnet_table_grow(struct aggnet_table *t, void *chunk)
{
	if (t->chunks == t->chunks_max)
		return false;
	t->chunk[++t->chunks] = chunk;
	chunk_release(t, t->chunks);
	return true;
}

/* Close the newest chunk, if there is one, and begin another. */
static bool chunk_begin(struct aggnet_table *t)
{
	u32 number = t->free_head;

	if (WARN_ON_ONCE(!number))
		return false;
	t->free_head = t->next[number];
	t->free--;
	if (!t->newest) {
		t->oldest = number;
		t->read = 0;
	} else {
		t->next[t->newest] = number;
		if (t->write < AGGNET_CHUNK)
			((struct entry *)(t->chunk[t->newest] +
					  t->write))->tag = 0;
	}
	t->newest = number;
	t->write = 0;
	return true;
}

/* Append a key that is not held yet; its value and units are the caller's. */
static noinline struct entry *append(struct aggnet_table *t, const u8 *key,
				     u32 tag)
{
	u32 klen = tag >> HASH_BITS;
	u32 size = entry_size(klen);
	struct entry *e;
	u32 *bucket;
	u32 i;

	if (unlikely(!t->newest || t->write + size > AGGNET_CHUNK))
		if (!chunk_begin(t))
			return NULL;
	e = (struct entry *)(t->chunk[t->newest] + t->write);
	bucket = &t->bucket[tag & t->bucket_mask];
	e->next = *bucket;
	e->tag = tag;
	for (i = 0; i < klen / 8; i++)
		e->key[i] = cpu_to_le64(get_unaligned_le64(key + 8 * i));
	if (klen & 7)
		e->key[i] = cpu_to_le64(key_tail(key, klen));
	*bucket = t->newest << REF_BITS | t->write / 8;
	t->write += size;
	t->keys++;
	return e;
}

/**
 * struct view - what a look-up needs of a table, kept in registers
 * @bucket: of the table
 * @chunk: of the table
 * @mask: of the table
 */
struct view {
	const u32 *bucket;
	u8 *const *chunk;
	u32 mask;
};

static __always_inline struct entry *find(const struct view *view,
					  const u8 *key, u32 klen, u32 tag)
{
	struct entry *e;
	u32 ref;

	for (ref = view->bucket[tag & view->mask]; ref; ref = e->next) {
		e = entry_at(view->chunk, ref);
		if (likely(e->tag == tag && key_equal(e, key, klen)))
			return e;
	}
	return NULL;
}

/*
 * The hot loop. @function and @ones are constants wherever it is inlined, and
 * so is the key's length on the path for keys of one word.
 */
static __always_inline void merge_run(struct aggnet_table *t, const u8 *data,
				      u32 n, u64 represents, u8 function,
				      bool ones)
{
	const struct view view = { t->bucket, t->chunk, t->bucket_mask };
	const u64 start8 = hash_start(t->seed, 8);
	struct aggnet_value v = aggnet_value_s64(1);
	u64 extra = represents - n;
	struct entry *e = NULL;

	for (; n; n--) {
		const u8 *key = data + 2;
		u32 klen = data[0];
		u32 vlen = data[1];
		u32 tag;

		if (likely(klen == 8)) {
			tag = hash_tag(hash_word(start8, t->seed + 2,
						 get_unaligned_le64(key)), 8);
			e = find(&view, key, 8, tag);
			if (!ones)
				v = aggnet_value_get(data, 10 + vlen, vlen);
		} else {
			tag = key_tag(t->seed, key, klen);
			e = find(&view, key, klen, tag);
			if (!ones)
				v = aggnet_value_get(data, 2 + klen + vlen,
						     vlen);
		}
		data += 2 + klen + vlen;
		if (likely(e)) {
			aggnet_reduce(function, &e->value, &v);
			e->units++;
			continue;
		}
		e = append(t, key, tag);
		if (unlikely(!e))
			break;
		e->value = v;
		e->units = 1;
	}

	/* What a missing chunk made us drop (n > 0) must show in the units. */
	t->units += represents - extra - n;
	if (likely(e)) {
		e->units += extra;
		t->units += extra;
	}
}

static void merge_all(struct aggnet_table *t, const u8 *data, u32 n,
		      u64 represents, bool source)
{
	switch (t->function) {
	case AGGNET_FN_MIN:
		return merge_run(t, data, n, represents, AGGNET_FN_MIN, false);
	case AGGNET_FN_MAX:
		return merge_run(t, data, n, represents, AGGNET_FN_MAX, false);
	case AGGNET_FN_COUNT:
		if (source)
			return merge_run(t, data, n, represents, AGGNET_FN_SUM,
					 true);
		fallthrough;
	default:
		return merge_run(t, data, n, represents, AGGNET_FN_SUM, false);
	}
}

void aggnet_table_merge(struct aggnet_table *t, const u8 *data, u32 n,
			u64 represents, bool source, u32 fault)
{
	if (unlikely(fault && n)) {
		if (fault == AGGNET_FAULT_DOUBLE) {
			merge_all(t, data, 1, 1, source);
		} else {
			data += 2 + data[0] + data[1];
			represents = --n ? represents - 1 : 0;
		}
	}
	merge_all(t, data, n, represents, source);
}

/* Take the oldest entry out of its bucket's list, at the end as a rule. */
static void unlink_oldest(struct aggnet_table *t, const struct entry *e)
{
	u32 ref = t->oldest << REF_BITS | t->read / 8;
	u32 *at = &t->bucket[e->tag & t->bucket_mask];

	while (*at != ref)
		at = &entry_at(t->chunk, *at)->next;
	*at = e->next;
}

/* Go on to the next entry; give back the chunk that it leaves, if it does. */
static void advance_oldest(struct aggnet_table *t, u32 klen)
{
	u32 number = t->oldest;

	t->read += entry_size(klen);
	if (!--t->keys) {
		t->oldest = 0;
		t->newest = 0;
		t->read = 0;
		t->write = 0;
		chunk_release(t, number);
	} else if (number != t->newest &&
		   (t->read == AGGNET_CHUNK ||
		    !((struct entry *)(t->chunk[number] + t->read))->tag)) {
		t->oldest = t->next[number];
		t->read = 0;
		chunk_release(t, number);
	}
}

/*
 * Write a record. With room for the largest it goes by words, and what is
 * written too much is overwritten or cut off.
 */
static u32 put_entry(u8 *buf, u32 room, const struct entry *e)
{
	u32 klen = e->tag >> HASH_BITS;
	u32 vlen = aggnet_value_len(&e->value);
	u32 i;

	if (unlikely(room < AGGNET_RECORD_MAX)) {
		if (room < 2 + klen + vlen)
			return 0;
		return aggnet_record_put(buf, (const u8 *)e->key, klen,
					 &e->value);
	}
	buf[0] = klen;
	buf[1] = vlen;
	for (i = 0; i < klen; i += 8)
		put_unaligned_le64(le64_to_cpu(e->key[i / 8]), buf + 2 + i);
	put_unaligned_le64(e->value.lo, buf + 2 + klen);
	put_unaligned_le64(e->value.hi, buf + 10 + klen);
	return 2 + klen + vlen;
}

u32 aggnet_table_pack(struct aggnet_table *t, u8 *buf, u32 room,
		      u32 max_records, u32 *records, u64 *represents)
{
	const struct entry *e;
	u64 units = 0;
	u32 used = 0;
	u32 n = 0;
	u32 len;

	while (t->keys && n < max_records) {
		e = (struct entry *)(t->chunk[t->oldest] + t->read);
		len = put_entry(buf + used, room - used, e);
		if (!len)
			break;
		used += len;
		units += e->units;
		n++;
		unlink_oldest(t, e);
		advance_oldest(t, e->tag >> HASH_BITS);
	}
	t->units -= units;
	*records = n;
	*represents = units;
	return used;
}
