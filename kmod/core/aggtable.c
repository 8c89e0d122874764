// SPDX-License-Identifier: GPL-2.0
/* Aggregation buffer: a chained hash over slots in a log of chunks. */
#include <linux/bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "core/accum.h"
#include "core/aggtable.h"
#include "core/fault.h"
#include "core/record.h"
#include "core/reduce.h"
#include "core/value.h"
#include "core/vector.h"
#include "mem.h"

/*
 * A reference names a slot in 32 bits: chunk number and offset in it. Chunk
 * numbers start at 1, so 0 refers to nothing.
 */
#define REF_BITS	ilog2(AGGNET_CHUNK)
#define CHUNKS_MAX	((1u << (32 - REF_BITS)) - 1)

#define HASH_BITS	24	/* of a tag; the length of the key is above them */
#define BUCKET_BYTES	32	/* of the limit for each bucket; least slot: 40 */

#define PLAIN_RECORD_MAX	(2 + AGGNET_KEY_MAX + AGGNET_PLAIN_MAX)
#define ACCUMS_MAX	8192	/* bytes of accumulators in a packet */
#define RECORDS_MAX	512	/* in a packet, merged in one run of a lock */
#define RECORDS_SLOW	256	/* likewise, if the hot loop does not take them */

/**
 * struct slot - a key and its merged values
 * @next: reference of the next slot in the bucket, 0: none
 * @tag: key length << HASH_BITS | hash; 0: the chunk ends here
 * @units: original records merged
 * @value: the aggregate, if it is plain; else, of a dense vector, the number of
 *	contributors whose value of this block is complete
 * @key: in little endian words, the last one padded with zeros; the accumulator
 *	that is not plain lies behind them
 */
struct slot {
	u32 next;
	u32 tag;
	u64 units;
	struct aggnet_value value;
	__le64 key[];
};

/*
 * What reference 0 names. Its tag is that of no key, so a look-up compares it like
 * others, and need not test each reference.
 */
static const struct slot no_slot;

static __always_inline u32 slot_size(u32 klen)
{
	return sizeof(struct slot) + round_up(klen, 8);
}

static u32 shape_extra(const struct aggnet_shape *shape)
{
	return aggnet_shape_kind(shape) == AGGNET_KIND_PLAIN ?
	       0 : aggnet_accum_size(shape);
}

static void *slot_accum(const struct aggnet_table *t, struct slot *s)
{
	if (!t->extra)
		return &s->value;
	return (u8 *)s + slot_size(s->tag >> HASH_BITS);
}

static __always_inline struct slot *slot_at(u8 *const *chunk, u32 ref)
{
	return (struct slot *)(chunk[ref >> REF_BITS] +
				(ref & (AGGNET_CHUNK - 1)));
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
 * value of the top 32 bits of h1 - h2 is equally probable, whatever the bits
 * below, and so is, by s0, every value of h1. The top 32 bits of the two are
 * thus independent, and remain so under a permutation: any two keys fall into
 * the same bucket with a probability of 1 / buckets, however they were chosen, as
 * long as it was without knowledge of the secrets.
 *
 * That is so on average over all secrets. But keys at equal distances have
 * hashes at equal distances, and with one secret of nine these would crowd in
 * few buckets; the permutation leaves no distances, and one secret of a thousand.
 */
static __always_inline u32 hash_mix(u64 h)
{
	u32 top = h >> 32;

	return top * (2 * top + 1);
}

static __always_inline u64 hash_start(const u64 *seed, u32 klen)
{
	return seed[0] + seed[1] * klen;
}

static __always_inline u64 hash_word(u64 h, const u64 *seed, u64 word)
{
	return h + ((u32)word + seed[0]) * ((word >> 32) + seed[1]);
}

/**
 * struct look - a key, prepared for the look-up
 * @last: its last word; the other words of a longer key are compared, too
 * @tag: as in struct slot
 */
struct look {
	u64 last;
	u32 tag;
};

/* Add the last word of a key to the hash of those before it. */
static __always_inline struct look look_last(u64 h, const u64 *seed, u64 last,
					     u32 klen)
{
	h = hash_word(h, seed, last);
	return (struct look){
		.last = last,
		.tag = klen << HASH_BITS | hash_mix(h) >> (32 - HASH_BITS),
	};
}

/* Any key; nothing before @base is read. */
static __always_inline struct look look_any(const u64 *seed, const u8 *base,
					    const u8 *key, u32 klen)
{
	u64 h = hash_start(seed, klen);
	const u8 *end = key + klen;
	u64 last;

	for (seed += 2; end - key > 8; key += 8, seed += 2)
		h = hash_word(h, seed, get_unaligned_le64(key));
	last = aggnet_load_end(base, end, end - key) >> (64 - 8 * (end - key));
	return look_last(h, seed, last, klen);
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

/* Is a plain value's function one that the hot loop is for? */
static bool has_run(u8 function)
{
	return function == AGGNET_FN_SUM || function == AGGNET_FN_MIN ||
	       function == AGGNET_FN_MAX || function == AGGNET_FN_COUNT;
}

u32 aggnet_max_records(const struct aggnet_shape *shape, u32 payload)
{
	u32 extra = shape_extra(shape);

	if (!extra)
		return min_t(u32, payload / 8, has_run(shape->function) ?
			     RECORDS_MAX : RECORDS_SLOW);
	return clamp_t(u32, ACCUMS_MAX / (slot_size(8) + extra), 1,
		       payload / 8);
}

u32 aggnet_table_chunks_per_packet(const struct aggnet_shape *shape,
				   u32 payload)
{
	u32 records = aggnet_max_records(shape, payload);
	u32 extra = shape_extra(shape);
	u32 largest = AGGNET_SLOT_MAX + extra;
	u32 packed;

	if (!extra)
		return aggnet_table_need(payload, records);
	packed = 1 + (payload + (37 + extra) * records) /
		     (AGGNET_CHUNK - largest + 8);
	return min(packed, 1 + DIV_ROUND_UP(records, AGGNET_CHUNK / largest));
}

int aggnet_table_init(struct aggnet_table *t, const struct aggnet_shape *shape,
		      u64 limit, const void *seed)
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
	t->chunk[0] = (u8 *)&no_slot;
	t->bucket_mask = buckets - 1;
	t->chunks_max = chunks;
	t->shape = *shape;
	t->blocks = aggnet_shape_kind(shape) == AGGNET_KIND_BLOCK;
	t->by_number = shape->layout == AGGNET_LAYOUT_DENSE &&
		       aggnet_vector_blocks(shape) <= buckets;
	t->extra = shape_extra(shape);
	if (!t->extra)
		t->neutral = aggnet_reduce_neutral(shape->function);
	memcpy(t->seed, seed, sizeof(t->seed));
	return 0;
}

void aggnet_table_free(struct aggnet_table *t)
{
	u32 i;

	for (i = 1; i <= t->chunks; i++) {
		cond_resched();
		aggnet_chunk_free(t->chunk[i]);
	}
	aggnet_free(t->next);
	aggnet_free(t->chunk);
	aggnet_free(t->bucket);
	memset(t, 0, sizeof(*t));
}

void *aggnet_chunk_alloc(void)
{
	/*
	 * The caller can do without it, so the allocation must not wake the OOM
	 * killer.
	 */
	return aggnet_zalloc(AGGNET_CHUNK, GFP_KERNEL_ACCOUNT |
			     __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
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

/* Close the newest chunk, if any, and begin another. */
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
			((struct slot *)(t->chunk[t->newest] +
					  t->write))->tag = 0;
	}
	t->newest = number;
	t->write = 0;
	return true;
}

/* Append a slot for a new key, without units, with the neutral value. */
static noinline struct slot *append(struct aggnet_table *t, const u8 *key,
				    struct look look)
{
	u32 words = ((look.tag >> HASH_BITS) - 1) / 8;
	u32 size = sizeof(struct slot) + 8 + 8 * words + t->extra;
	struct slot *s;
	u32 *bucket;
	u32 i;

	if (unlikely(!t->newest || t->write + size > AGGNET_CHUNK))
		if (!chunk_begin(t))
			return NULL;
	s = (struct slot *)(t->chunk[t->newest] + t->write);
	bucket = &t->bucket[look.tag & t->bucket_mask];
	s->next = *bucket;
	s->tag = look.tag;
	s->units = 0;
	s->value = t->neutral;
	for (i = 0; i < words; i++)
		s->key[i] = cpu_to_le64(get_unaligned_le64(key + 8 * i));
	s->key[i] = cpu_to_le64(look.last);
	if (t->extra)
		aggnet_accum_init(&t->shape, slot_accum(t, s));
	*bucket = t->newest << REF_BITS | t->write;
	t->write += size;
	t->keys++;
	return s;
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

/* Find a key of up to one word. Return: true: @found is set */
static __always_inline bool find_word(const struct view *view,
				      struct look look, struct slot **found)
{
	u32 ref = view->bucket[look.tag & view->mask];
	struct slot *s;

	for (;; ref = s->next) {
		s = slot_at(view->chunk, ref);
		if (likely(s->tag == look.tag &&
			   le64_to_cpu(s->key[0]) == look.last)) {
			*found = s;
			return true;
		}
		if (s == &no_slot)
			return false;
	}
}

/* As find_word(), for a key of 8 bytes, whose tag a hit does not need. */
static __always_inline bool find_eight(const struct view *view, u64 start,
				       const u64 *seed, const u8 *key,
				       struct slot **found)
{
	u64 low = get_unaligned_le32(key) + seed[0];
	u64 high = get_unaligned_le32(key + 4) + seed[1];
	u32 hash = hash_mix(start + low * high) >> (32 - HASH_BITS);
	u32 ref = view->bucket[hash & view->mask];
	struct slot *s;

	for (;; ref = s->next) {
		s = slot_at(view->chunk, ref);
		if (likely(s->tag >> HASH_BITS == 8 &&
			   le64_to_cpu(s->key[0]) == get_unaligned_le64(key))) {
			*found = s;
			return true;
		}
		if (s == &no_slot)
			return false;
	}
}

static noinline struct slot *append_eight(struct aggnet_table *t, const u8 *key)
{
	return append(t, key, look_any(t->seed, key, key, 8));
}

static __always_inline bool words_equal(const __le64 *held, const u8 *key,
					u32 words)
{
	u32 i;

	for (i = 0; i < words; i++)
		if (le64_to_cpu(held[i]) != get_unaligned_le64(key + 8 * i))
			return false;
	return true;
}

/* Find any key, or append it. */
static noinline struct slot *obtain_any(struct aggnet_table *t, const u8 *base,
					const u8 *key, u32 klen)
{
	struct look look = look_any(t->seed, base, key, klen);
	u32 words = (klen - 1) / 8;
	struct slot *s;
	u32 ref;

	for (ref = t->bucket[look.tag & t->bucket_mask];; ref = s->next) {
		s = slot_at(t->chunk, ref);
		if (likely(s->tag == look.tag &&
			   le64_to_cpu(s->key[words]) == look.last &&
			   words_equal(s->key, key, words)))
			return s;
		if (s == &no_slot)
			return append(t, key, look);
	}
}

/* As above, for a key of 9 to 16 bytes. */
static noinline struct slot *obtain_two(struct aggnet_table *t, const u8 *key,
					u32 klen)
{
	u64 last = get_unaligned_le64(key + klen - 8) >> (128 - 8 * klen);
	u64 first = get_unaligned_le64(key);
	struct look look;
	struct slot *s;
	u32 ref;

	look = look_last(hash_word(hash_start(t->seed, klen), t->seed + 2,
				   first), t->seed + 4, last, klen);
	for (ref = t->bucket[look.tag & t->bucket_mask];; ref = s->next) {
		s = slot_at(t->chunk, ref);
		if (likely(s->tag == look.tag &&
			   le64_to_cpu(s->key[0]) == first &&
			   le64_to_cpu(s->key[1]) == last))
			return s;
		if (s == &no_slot)
			return append(t, key, look);
	}
}

/*
 * Find a part of a dense vector, or append it: where each has a bucket of its own,
 * its number takes the place of a hash.
 */
static __always_inline struct slot *obtain_number(struct aggnet_table *t,
						  const u8 *key, u32 klen)
{
	u32 number = aggnet_vector_key_get(key, klen);
	u32 ref = t->bucket[number];
	struct look look;

	if (likely(ref))
		return slot_at(t->chunk, ref);
	look.tag = klen << HASH_BITS | number;
	look.last = aggnet_load_end(key, key + klen, klen) >> (64 - 8 * klen);
	return append(t, key, look);
}

/*
 * Add the units of a packet beyond one for each record, @extra, to the last record.
 * If a missing chunk made the loop drop @left records, their units stay missing, so
 * that the books show it.
 */
static __always_inline void units_merged(struct aggnet_table *t,
					 struct slot *last, u64 represents,
					 u64 extra, u32 left)
{
	t->units += represents - extra - left;
	if (likely(last)) {
		last->units += extra;
		t->units += extra;
	}
}

/*
 * The hot loop. For packets @function, @ones and a @fault of 0 are constants, so
 * that the compiler leaves out the code of faults. The common sizes have code of
 * their own: keys of 8 bytes with values of 8 or fewer, and shorter keys. Short
 * keys and values are shifted out of the 8 bytes that end with them, which include
 * bytes before them; so the first record of the buffer takes the general code.
 */
static __always_inline void merge_run(struct aggnet_table *t, const u8 *data,
				      u32 n, u64 represents, u8 function,
				      bool ones, u32 fault)
{
	const struct view view = { t->bucket, t->chunk, t->bucket_mask };
	const u64 start8 = hash_start(t->seed, 8);
	struct aggnet_value v = aggnet_value_s64(1);
	const u8 *base = data;
	u64 extra = represents - n;
	struct slot *s = NULL;

	for (; n; n--) {
		u32 lengths = get_unaligned_le16(data);
		const u8 *key = data + 2;
		u32 vlen = lengths >> 8;
		u32 klen = (u8)lengths;
		const u8 *end = key + klen;
		struct look look;

		if (fault == AGGNET_FAULT_DROP && n == 1)
			continue;
		if (likely(lengths == (8 << 8 | 8))) {
			data = key + 16;
			look = look_last(start8, t->seed + 2,
					 get_unaligned_le64(key), 8);
			if (!ones)
				v = aggnet_value_get(key, key + 16, 8);
		} else if (klen == 8) {
			data = end + vlen;
			look = look_last(start8, t->seed + 2,
					 get_unaligned_le64(key), 8);
			if (!ones)
				v = aggnet_value_get(data - 8, data, vlen);
		} else if (klen < 8 && end - base >= 8) {
			data = end + vlen;
			look = look_last(hash_start(t->seed, klen), t->seed + 2,
					 get_unaligned_le64(end - 8) >>
					 (64 - 8 * klen), klen);
			if (!ones)
				v = aggnet_value_get(data - 8, data, vlen);
		} else {
			data = end + vlen;
			if (!ones)
				v = aggnet_value_get(base, data, vlen);
			s = klen - 9 < 8 ? obtain_two(t, key, klen) :
					   obtain_any(t, base, key, klen);
			if (unlikely(!s))
				break;
			goto reduce;
		}
		if (unlikely(!find_word(&view, look, &s))) {
			s = append(t, key, look);
			if (!s)
				break;
		}
reduce:
		aggnet_reduce(function, &s->value, &v);
		s->units++;
		if (fault == AGGNET_FAULT_DOUBLE && n == 1) {
			fault = AGGNET_FAULT_NONE;
			goto reduce;
		}
		if (fault == AGGNET_FAULT_FLIP && n == 1)
			s->value.lo ^= 1;
	}
	units_merged(t, s, represents, extra, n);
}

#define EIGHTS_BYTES	(2 + 8 + 8)	/* of a record of merge_eights() */

/* The loop for records with keys and values of 8 bytes, all of them. */
static __always_inline void merge_eights(struct aggnet_table *t, const u8 *data,
					 u32 n, u64 represents, u8 function)
{
	const struct view view = { t->bucket, t->chunk, t->bucket_mask };
	const u64 start = hash_start(t->seed, 8);
	const u8 *end = data + EIGHTS_BYTES * n;
	u64 extra = represents - n;
	struct slot *s = NULL;
	u32 left = 0;

	for (; data < end; data += EIGHTS_BYTES) {
		const u8 *key = data + 2;
		s64 value;

		if (unlikely(!find_eight(&view, start, t->seed + 2, key, &s))) {
			s = append_eight(t, key);
			if (!s) {
				left = (end - data) / EIGHTS_BYTES;
				break;
			}
		}
		value = get_unaligned_le64(key + 8);
		if (function == AGGNET_FN_SUM) {
			aggnet_value_add_s64(&s->value, value);
		} else {
			struct aggnet_value v = aggnet_value_s64(value);

			aggnet_reduce(function, &s->value, &v);
		}
		s->units++;
	}
	units_merged(t, s, represents, extra, left);
}

static void merge_accum(struct aggnet_table *t, struct slot *s,
			const u8 *value, u32 vlen, bool source)
{
	aggnet_accum_merge(&t->shape, slot_accum(t, s), value, vlen, source);
	if (t->expected)
		s->value.lo += aggnet_accum_last(&t->shape, value, source);
	s->units++;
}

/*
 * All records that the hot loop does not take. Inlined beside it, it would take
 * registers from it.
 */
static noinline void merge_accums(struct aggnet_table *t, const u8 *data, u32 n,
				  u64 represents, bool source, u32 fault)
{
	const u64 extra = represents - n;
	const u8 *base = data;
	struct slot *s = NULL;

	for (; n; n--) {
		const u8 *key = data + 2;
		u32 klen = data[0];
		u32 vlen = data[1];

		if (unlikely(fault == AGGNET_FAULT_DROP && n == 1))
			continue;
		s = t->by_number ? obtain_number(t, key, klen) :
				   obtain_any(t, base, key, klen);
		if (unlikely(!s))
			break;
		merge_accum(t, s, key + klen, vlen, source);
		if (unlikely(fault == AGGNET_FAULT_DOUBLE && n == 1))
			merge_accum(t, s, key + klen, vlen, source);
		if (unlikely(fault == AGGNET_FAULT_FLIP && n == 1))
			aggnet_fault_flip(&t->shape, slot_accum(t, s));
		data = key + klen + vlen;
	}
	units_merged(t, s, represents, extra, n);
}

/* Blocks that have buckets of their own. A key has less than 8 bytes. */
static noinline void merge_blocks(struct aggnet_table *t, const u8 *data, u32 n,
				  u64 represents, bool source)
{
	const u64 extra = represents - n;
	struct slot *s = NULL;

	for (; n; n--) {
		u32 klen = data[0];
		u32 vlen = data[1];
		const u8 *value = data + 2 + klen;

		s = obtain_number(t, data + 2, klen);
		if (unlikely(!s))
			break;
		aggnet_vector_merge(&t->shape, (void *)&s->key[1], value, vlen,
				    source);
		s->value.lo++;
		s->units++;
		data = value + vlen;
	}
	units_merged(t, s, represents, extra, n);
}

/* The hot loop without constant arguments, for planted faults. */
static void merge_faulty(struct aggnet_table *t, const u8 *data, u32 n,
			 u64 represents, bool ones, u32 fault)
{
	merge_run(t, data, n, represents, t->shape.function, ones, fault);
}

static void merge_any(struct aggnet_table *t, const u8 *data, u32 n,
		      u64 represents, bool source, u32 fault)
{
	bool ones = source && t->shape.function == AGGNET_FN_COUNT;

	if (t->blocks && t->by_number && likely(!fault))
		return merge_blocks(t, data, n, represents, source);
	if (t->extra || (source && aggnet_vtype_float(t->shape.vtype)) ||
	    !has_run(t->shape.function))
		return merge_accums(t, data, n, represents, source, fault);
	if (unlikely(fault))
		return merge_faulty(t, data, n, represents, ones, fault);
	switch (t->shape.function) {
	case AGGNET_FN_MIN:
		return merge_run(t, data, n, represents, AGGNET_FN_MIN, false,
				 AGGNET_FAULT_NONE);
	case AGGNET_FN_MAX:
		return merge_run(t, data, n, represents, AGGNET_FN_MAX, false,
				 AGGNET_FAULT_NONE);
	default:
		if (ones)
			return merge_run(t, data, n, represents, AGGNET_FN_SUM,
					 true, AGGNET_FAULT_NONE);
		return merge_run(t, data, n, represents, AGGNET_FN_SUM, false,
				 AGGNET_FAULT_NONE);
	}
}

void aggnet_table_merge(struct aggnet_table *t, const u8 *data, u32 n,
			u64 represents, bool source)
{
	merge_any(t, data, n, represents, source, aggnet_fault_of(t));
}

void aggnet_table_merge_equal(struct aggnet_table *t, const u8 *data, u32 n,
			      u64 represents, u32 lengths)
{
	u32 fault = aggnet_fault_of(t);

	if (lengths != AGGNET_LENGTHS(8, 8) || unlikely(fault))
		return merge_any(t, data, n, represents, false, fault);
	switch (t->shape.function) {
	case AGGNET_FN_SUM:
	case AGGNET_FN_COUNT:
		return merge_eights(t, data, n, represents, AGGNET_FN_SUM);
	case AGGNET_FN_MIN:
		return merge_eights(t, data, n, represents, AGGNET_FN_MIN);
	case AGGNET_FN_MAX:
		return merge_eights(t, data, n, represents, AGGNET_FN_MAX);
	default:
		return merge_any(t, data, n, represents, false, fault);
	}
}

/*
 * Unlink the oldest slot from the list of its bucket. Slots are added at the head
 * and leave in the order in which they came, so it is the last of its list.
 */
static __always_inline void unlink_oldest(const struct aggnet_table *t,
					  u32 tag, u32 ref)
{
	u32 *at = &t->bucket[tag & t->bucket_mask];

	while (*at != ref)
		at = &slot_at(t->chunk, *at)->next;
	*at = 0;
}

/*
 * Write a record. If there is room for the largest one, write whole words: the
 * excess bytes are overwritten by the next record or cut off.
 */
static __always_inline u32 put_slot(u8 *buf, u32 room, const struct slot *s)
{
	struct aggnet_value v = s->value;
	u32 klen = s->tag >> HASH_BITS;
	u32 vlen = aggnet_value_len(&v);
	u32 i;

	if (unlikely(room < PLAIN_RECORD_MAX)) {
		if (room < 2 + klen + vlen)
			return 0;
		return aggnet_record_put(buf, (const u8 *)s->key, klen, &v);
	}
	put_unaligned_le16(vlen << 8 | klen, buf);
	put_unaligned_le64(le64_to_cpu(s->key[0]), buf + 2);
	for (i = 8; i < klen; i += 8)
		put_unaligned_le64(le64_to_cpu(s->key[i / 8]), buf + 2 + i);
	put_unaligned_le64(v.lo, buf + 2 + klen);
	put_unaligned_le64(v.hi, buf + 10 + klen);
	return 2 + klen + vlen;
}

/* Write a block, whose key is at most 4 bytes. */
static __always_inline u32 put_block(const struct aggnet_table *t, u8 *buf,
				     u32 room, const struct slot *s)
{
	u32 klen = s->tag >> HASH_BITS, part = 0;
	u32 vlen;

	if (unlikely(room < 2 + 8 + AGGNET_VALUE_MAX))
		return aggnet_accum_record(&t->shape, &s->key[1], s->key, klen,
					   &part, buf, room);
	put_unaligned_le64(le64_to_cpu(s->key[0]), buf + 2);
	vlen = aggnet_vector_put((const void *)&s->key[1], buf + 2 + klen);
	put_unaligned_le16(vlen << 8 | klen, buf);
	return 2 + klen + vlen;
}

/* Write a slot, or the next part of it. */
static __always_inline u32 put_record(struct aggnet_table *t, u8 *buf, u32 room,
				      struct slot *s)
{
	if (!t->extra)
		return put_slot(buf, room, s);
	if (t->blocks)
		return put_block(t, buf, room, s);
	return aggnet_accum_record(&t->shape, slot_accum(t, s), s->key,
				   s->tag >> HASH_BITS, &t->part, buf, room);
}

/**
 * struct pack - destination of packed records
 * @buf: place of the next one
 * @room: bytes left there
 * @max: most records
 * @expected: only slots with so many contributors, 0: all
 * @n: records written
 * @slots: slots that have left completely
 * @units: original records in them
 */
struct pack {
	u8 *buf;
	u32 room;
	u32 max;
	u32 expected;
	u32 n;
	u32 slots;
	u64 units;
};

/* Pack from the oldest chunk. Return: true if it has no more slots. */
static bool pack_chunk(struct aggnet_table *t, struct pack *p)
{
	u32 end = t->oldest == t->newest ? t->write : AGGNET_CHUNK;
	u8 *chunk = t->chunk[t->oldest];
	u32 oldest = t->oldest << REF_BITS;
	u32 read = t->read;
	struct slot *s;
	bool first, all;
	u32 len;

	for (;;) {
		s = (struct slot *)(chunk + read);
		all = read == end || !s->tag;
		if (all || p->n == p->max)
			break;
		first = !t->part;
		if (first && p->expected && s->value.lo < p->expected)
			break;
		len = put_record(t, p->buf, p->room, s);
		if (!len)
			break;
		p->buf += len;
		p->room -= len;
		p->n++;
		p->units += !t->extra || t->blocks ? s->units :
			    aggnet_accum_units(&t->shape, slot_accum(t, s),
					       s->units, first, t->part);
		if (first)
			unlink_oldest(t, s->tag, oldest | read);
		if (t->part)
			continue;
		p->slots++;
		read += slot_size(s->tag >> HASH_BITS) + t->extra;
	}
	t->read = read;
	return all;
}

/* Put the oldest chunk on the free list and continue with the next one, if any. */
static void chunk_end(struct aggnet_table *t)
{
	u32 number = t->oldest;

	if (number == t->newest) {
		t->oldest = 0;
		t->newest = 0;
	} else {
		t->oldest = t->next[number];
	}
	t->read = 0;
	chunk_release(t, number);
}

/* The slot at a place; at the end of a chunk the first one of the next. NULL: none */
static const struct slot *slot_from(const struct aggnet_table *t, u32 *number,
				    u32 *read)
{
	u32 end = *number == t->newest ? t->write : AGGNET_CHUNK;
	const struct slot *s = (const void *)(t->chunk[*number] + *read);

	if (*read != end && s->tag)
		return s;
	if (*number == t->newest)
		return NULL;
	*number = t->next[*number];
	*read = 0;
	return (const void *)t->chunk[*number];
}

bool aggnet_table_ripe(const struct aggnet_table *t, u32 slots)
{
	u32 number = t->oldest, read = t->read;
	bool part = t->part;
	const struct slot *s;

	if (!t->expected || !number)
		return false;
	for (; slots; slots--) {
		s = slot_from(t, &number, &read);
		if (!s || (!part && s->value.lo < t->expected))
			return false;
		part = false;
		read += slot_size(s->tag >> HASH_BITS) + t->extra;
	}
	return true;
}

static u32 pack(struct aggnet_table *t, struct pack *p, u32 *records,
		u64 *represents)
{
	u8 *start = p->buf;

	while (t->oldest && pack_chunk(t, p))
		chunk_end(t);
	t->keys -= p->slots;
	t->units -= p->units;
	*records = p->n;
	*represents = p->units;
	return p->buf - start;
}

u32 aggnet_table_pack(struct aggnet_table *t, u8 *buf, u32 room,
		      u32 max_records, u32 *records, u64 *represents)
{
	struct pack p = { .buf = buf, .room = room, .max = max_records };

	return pack(t, &p, records, represents);
}

u32 aggnet_table_pack_ripe(struct aggnet_table *t, u8 *buf, u32 room,
			   u32 max_records, u32 *records, u64 *represents)
{
	struct pack p = { .buf = buf, .room = room, .max = max_records,
			  .expected = t->expected };

	return pack(t, &p, records, represents);
}
