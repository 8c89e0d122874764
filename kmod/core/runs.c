// SPDX-License-Identifier: GPL-2.0
/* Runs: a k-way merge of contributors that send their keys in order. */
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "core/accum.h"
#include "core/fault.h"
#include "core/runs.h"
#include "mem.h"

/* In @out the units of each record stand before it. */
#define OUT_UNITS	sizeof(u64)
#define OUT_MAX		(OUT_UNITS + AGGNET_RECORD_MAX)

/**
 * struct slot - a packet of a run
 * @extra: its original records beyond one for each record
 * @len: bytes of all its records, 0: the slot is empty
 * @last: offset of the last record
 * @data: the records
 */
struct slot {
	u64 extra;
	u16 len;
	u16 last;
	u8 data[] __aligned(8);
};

/* --- order ----------------------------------------------------------------- */

/**
 * struct sort_key - a key, with its first bytes as a number
 * @prefix: the first 8 bytes as a number, zeros behind a shorter key
 * @bytes: the whole key
 * @len: its length
 */
struct sort_key {
	u64 prefix;
	const u8 *bytes;
	u32 len;
};

static u64 key_prefix(const u8 *key, u32 len)
{
	u64 word = 0;
	u32 i;

	if (likely(len >= 8))
		return get_unaligned_be64(key);
	for (i = 0; i < len; i++)
		word |= (u64)key[i] << (56 - 8 * i);
	return word;
}

static struct sort_key record_key(const u8 *record)
{
	return (struct sort_key){
		.prefix = key_prefix(record + 2, record[0]),
		.bytes = record + 2,
		.len = record[0],
	};
}

/*
 * If the prefixes are equal, only keys of more than 8 bytes have more to compare. If
 * one key is the beginning of the other, the shorter one comes first.
 */
static int key_compare(const struct sort_key *a, const struct sort_key *b)
{
	u32 common = min(a->len, b->len);
	int diff = 0;

	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	if (common > 8)
		diff = memcmp(a->bytes + 8, b->bytes + 8, common - 8);
	return diff ?: (int)a->len - (int)b->len;
}

static bool record_before(const u8 *a, const u8 *b)
{
	const struct sort_key x = record_key(a), y = record_key(b);

	return key_compare(&x, &y) < 0;
}

static u32 record_size(const u8 *record)
{
	return 2 + record[0] + record[1];
}

/* --- slots ----------------------------------------------------------------- */

u32 aggnet_runs_stride(u32 payload)
{
	return round_up(sizeof(struct slot) + payload, 8);
}

static struct slot *slot_of(const struct aggnet_runs *r,
			    const struct aggnet_sorted_run *run, u32 seq)
{
	return (struct slot *)(run->slot + (seq & run->mask) * r->stride);
}

/* The record at the front of a run, which must have one. */
static const u8 *run_front(const struct aggnet_runs *r,
			   const struct aggnet_sorted_run *run)
{
	return slot_of(r, run, run->next)->data + run->at;
}

static struct sort_key run_key(const struct aggnet_runs *r,
			       const struct aggnet_sorted_run *run)
{
	const u8 *record = run_front(r, run);

	return (struct sort_key){ run->prefix, record + 2, record[0] };
}

/* --- the heap -------------------------------------------------------------- */

static bool heap_before(const struct aggnet_runs *r, u32 a, u32 b)
{
	const struct sort_key x = run_key(r, &r->run[a]);
	const struct sort_key y = run_key(r, &r->run[b]);

	return key_compare(&x, &y) < 0;
}

static void heap_add(struct aggnet_runs *r, u32 run)
{
	u32 at = r->heaped++;
	u32 above;

	for (; at; at = above) {
		above = (at - 1) / 2;
		if (!heap_before(r, run, r->heap[above]))
			break;
		r->heap[at] = r->heap[above];
	}
	r->heap[at] = run;
}

/* Restore the heap after the record at the front of the top run has changed. */
static void heap_sink(struct aggnet_runs *r)
{
	u32 run = r->heap[0];
	u32 at = 0, below;

	for (;; at = below) {
		below = 2 * at + 1;
		if (below >= r->heaped)
			break;
		if (below + 1 < r->heaped &&
		    heap_before(r, r->heap[below + 1], r->heap[below]))
			below++;
		if (!heap_before(r, r->heap[below], run))
			break;
		r->heap[at] = r->heap[below];
	}
	r->heap[at] = run;
}

/* --- merging --------------------------------------------------------------- */

static void run_look(struct aggnet_runs *r, struct aggnet_sorted_run *run)
{
	const u8 *record = run_front(r, run);

	run->prefix = key_prefix(record + 2, record[0]);
}

/* Advance the top run after its front record has been merged. */
static void top_next(struct aggnet_runs *r)
{
	struct aggnet_sorted_run *run = &r->run[r->heap[0]];
	struct slot *slot = slot_of(r, run, run->next);

	r->records--;
	run->at += record_size(slot->data + run->at);
	if (run->at == slot->len) {
		slot->len = 0;
		run->at = 0;
		slot = slot_of(r, run, ++run->next);
	}
	if (slot->len) {
		run_look(r, run);
	} else {
		r->waits += !run->finished;
		r->heap[0] = r->heap[--r->heaped];
	}
	if (r->heaped)
		heap_sink(r);
}

static void key_begin(struct aggnet_runs *r,
		      const struct aggnet_sorted_run *run, const u8 *record)
{
	r->klen = record[0];
	memcpy(r->key, record + 2, r->klen);
	r->prefix = run->prefix;
	r->key_units = 0;
	aggnet_accum_init(&r->shape, r->accum);
}

/* Each record of a packet has one of its units, and the last record all others. */
static void merge_record(struct aggnet_runs *r,
			 const struct aggnet_sorted_run *run, const u8 *record)
{
	const struct slot *slot = slot_of(r, run, run->next);

	if (!r->klen)
		key_begin(r, run, record);
	aggnet_accum_merge(&r->shape, r->accum, record + 2 + record[0],
			   record[1], run->source);
	r->key_units += run->at == slot->last ? 1 + slot->extra : 1;
}

/* A planted fault strikes the last record of a packet. */
static u32 take_fault(struct aggnet_runs *r,
		      const struct aggnet_sorted_run *run)
{
	if (run->at != slot_of(r, run, run->next)->last)
		return AGGNET_FAULT_NONE;
	return aggnet_fault_of(r);
}

static void merge_top(struct aggnet_runs *r)
{
	struct aggnet_sorted_run *run = &r->run[r->heap[0]];
	const u8 *record = run_front(r, run);
	u32 fault = take_fault(r, run);

	if (likely(fault != AGGNET_FAULT_DROP))
		merge_record(r, run, record);
	if (unlikely(fault == AGGNET_FAULT_DOUBLE))
		merge_record(r, run, record);
	if (unlikely(fault == AGGNET_FAULT_FLIP))
		aggnet_fault_flip(&r->shape, r->accum);
	top_next(r);
}

/* --- what is final --------------------------------------------------------- */

static bool out_full(const struct aggnet_runs *r)
{
	return r->out_size - r->out_len < OUT_MAX;
}

/* Write the next part of the final key to @out, which must have room. */
static void key_out(struct aggnet_runs *r)
{
	u8 *at = r->out + r->out_len;
	bool first = !r->part;
	u32 len;

	len = aggnet_accum_record(&r->shape, r->accum, r->key, r->klen,
				  &r->part, at + OUT_UNITS, AGGNET_RECORD_MAX);
	put_unaligned_le64(aggnet_accum_units(&r->shape, r->accum,
					      r->key_units, first, r->part), at);
	r->out_len += OUT_UNITS + len;
	r->out_n++;
	if (!r->part)
		r->klen = 0;
}

/* Is the key in the accumulator final: no other record of it will come? */
static bool key_final(const struct aggnet_runs *r)
{
	const struct sort_key held = { r->prefix, r->key, r->klen };
	struct sort_key least;

	if (!r->klen || !r->heaped)
		return r->klen;
	least = run_key(r, &r->run[r->heap[0]]);
	return key_compare(&held, &least);
}

/* To move the top of the heap compares two keys at each level. */
static u32 merge_cost(const struct aggnet_runs *r)
{
	const u8 *record = run_front(r, &r->run[r->heap[0]]);

	return r->cost + fls(r->heaped) * (100 + 2 * record[0]);
}

/*
 * Merge the record with the least key, or write the final key. Return: false: stop
 */
static bool advance_step(struct aggnet_runs *r)
{
	bool final = key_final(r);

	if (!final && !r->heaped)
		return false;
	if (final && out_full(r))
		return false;
	r->stopped = r->budget <= 0;
	if (r->stopped)
		return false;
	if (final) {
		r->budget -= r->cost;
		key_out(r);
	} else {
		r->budget -= merge_cost(r);
		merge_top(r);
	}
	return true;
}

void aggnet_runs_advance(struct aggnet_runs *r)
{
	r->stopped = false;
	while (!r->open && !r->waits && advance_step(r))
		;
	r->ready = r->out_n && !r->stopped;
}

/* --- taking out ------------------------------------------------------------ */

/* Return: bytes of records written; @units: incremented by their units */
static u32 out_take(struct aggnet_runs *r, u8 *buf, u32 room, u32 max_records,
		    u32 *records, u64 *units)
{
	u32 at = 0, used = 0, size;

	for (; r->out_n && *records < max_records; ++*records, r->out_n--) {
		const u8 *from = r->out + at;

		size = record_size(from + OUT_UNITS);
		if (size > room - used)
			break;
		memcpy(buf + used, from + OUT_UNITS, size);
		*units += get_unaligned_le64(from);
		used += size;
		at += OUT_UNITS + size;
	}
	r->out_len -= at;
	memmove(r->out, r->out + at, r->out_len);
	return used;
}

u32 aggnet_runs_pack(struct aggnet_runs *r, u8 *buf, u32 room, u32 max_records,
		     u32 *records, u64 *represents)
{
	u32 len, used = 0;

	*represents = 0;
	*records = 0;
	while (r->ready) {
		len = out_take(r, buf + used, room - used, max_records, records,
			       represents);
		if (!len)
			break;
		used += len;
		aggnet_runs_advance(r);
	}
	r->units -= *represents;
	return used;
}

/* --- runs ------------------------------------------------------------------ */

/* A packet has no more records than payload / 8 (aggnet_max_records()). */
static u32 out_bytes(u32 payload)
{
	return payload + payload / 8 * OUT_UNITS + OUT_MAX;
}

size_t aggnet_runs_size(const struct aggnet_shape *shape, u32 max, u32 slots,
			u32 payload)
{
	const struct aggnet_runs *r;

	return (size_t)slots * aggnet_runs_stride(payload) +
	       max * (sizeof(*r->run) + sizeof(*r->heap)) +
	       aggnet_accum_size(shape) + out_bytes(payload);
}

int aggnet_runs_init(struct aggnet_runs *r, const struct aggnet_shape *shape,
		     u32 max, u32 slots, u32 payload)
{
	r->shape = *shape;
	r->max = max;
	r->slots = slots;
	r->stride = aggnet_runs_stride(payload);
	r->cost = aggnet_accum_cost(shape);
	r->budget = AGGNET_COST_MAX;
	r->out_size = out_bytes(payload);
	r->open = true;
	r->run = aggnet_zalloc(max * sizeof(*r->run), GFP_KERNEL_ACCOUNT);
	r->heap = aggnet_zalloc(max * sizeof(*r->heap), GFP_KERNEL_ACCOUNT);
	r->slot = aggnet_zalloc((size_t)slots * r->stride, GFP_KERNEL_ACCOUNT);
	r->accum = aggnet_zalloc(aggnet_accum_size(shape), GFP_KERNEL_ACCOUNT);
	r->out = aggnet_zalloc(r->out_size, GFP_KERNEL_ACCOUNT);
	return r->run && r->heap && r->slot && r->accum && r->out ? 0 : -ENOMEM;
}

void aggnet_runs_free(struct aggnet_runs *r)
{
	aggnet_free(r->out);
	aggnet_free(r->accum);
	aggnet_free(r->slot);
	aggnet_free(r->heap);
	aggnet_free(r->run);
	memset(r, 0, sizeof(*r));
}

int aggnet_runs_begin(struct aggnet_runs *r, u32 slots, u32 seq, bool source)
{
	if (!r->open || r->n == r->max || slots > r->slots - r->used)
		return -ENOSPC;
	r->run[r->n] = (struct aggnet_sorted_run){
		.slot = r->slot + (size_t)r->used * r->stride,
		.mask = slots - 1,
		.next = seq,
		.tail = seq,
		.source = source,
	};
	r->used += slots;
	r->waits++;
	r->unknown++;
	return r->n++;
}

bool aggnet_runs_weigh(struct aggnet_runs *r, u32 run, u32 weight)
{
	struct aggnet_sorted_run *of = &r->run[run];

	if (of->given)
		return of->weight == weight;
	if (weight > U16_MAX - r->weight)
		return false;
	of->given = true;
	of->weight = weight;
	r->weight += weight;
	r->unknown--;
	return true;
}

void aggnet_runs_close(struct aggnet_runs *r)
{
	r->open = false;
	aggnet_runs_advance(r);
}

/* Check the order of records. Return: number of records, 0: they are not in order */
static u32 count_ordered(const u8 *data, u32 len, u32 *last)
{
	const u8 *end = data + len, *at = data, *before;
	u32 n = 1;

	for (;; n++) {
		before = at;
		at += record_size(at);
		if (at == end)
			break;
		if (record_before(at, before))
			return 0;
	}
	*last = before - data;
	return n;
}

/* May a record follow the last one before @seq? */
static bool may_follow(const struct aggnet_runs *r,
		       const struct aggnet_sorted_run *run, u32 seq, const u8 *record)
{
	const struct sort_key key = record_key(record);
	const struct slot *slot;

	if (seq == run->next) {
		/* All other runs wait for this one, so none is beyond its keys. */
		const struct sort_key held = { r->prefix, r->key, r->klen };

		return !r->klen || key_compare(&key, &held) >= 0;
	}
	slot = slot_of(r, run, seq - 1);
	return !slot->len || !record_before(record, slot->data + slot->last);
}

static bool may_precede(const struct aggnet_runs *r,
			const struct aggnet_sorted_run *run, u32 seq, const u8 *record)
{
	const struct slot *slot = slot_of(r, run, seq + 1);

	if (seq - run->next == run->mask)	/* that slot is an older one's */
		return true;
	return !slot->len || !record_before(slot->data, record);
}

int aggnet_runs_store(struct aggnet_runs *r, u32 run, u32 seq, const u8 *data,
		      u32 len, u64 represents)
{
	struct aggnet_sorted_run *of = &r->run[run];
	struct slot *slot = slot_of(r, of, seq);
	u32 n, last = 0;

	n = count_ordered(data, len, &last);
	if (!n || !may_follow(r, of, seq, data) ||
	    !may_precede(r, of, seq, data + last))
		return -EILSEQ;
	memcpy(slot->data, data, len);
	slot->extra = represents - n;
	slot->len = len;
	slot->last = last;
	r->records += n;
	r->units += represents;
	if (seq != of->next)
		return 0;
	run_look(r, of);
	heap_add(r, run);
	r->waits--;
	aggnet_runs_advance(r);
	return 0;
}

static u32 slots_free(const struct aggnet_sorted_run *run)
{
	return run->mask + 1 - (run->tail - run->next);
}

/* The newest packet of a writer, if it is still held. */
static struct slot *newest(const struct aggnet_runs *r,
			   const struct aggnet_sorted_run *run)
{
	return run->tail == run->next ? NULL : slot_of(r, run, run->tail - 1);
}

u32 aggnet_runs_space(const struct aggnet_runs *r, u32 run)
{
	const u32 payload = r->stride - sizeof(struct slot);
	const struct aggnet_sorted_run *of = &r->run[run];
	const struct slot *slot = newest(r, of);

	if (slot && payload - slot->len >= AGGNET_RECORD_MAX)
		return payload - slot->len;
	return slots_free(of) ? payload : 0;
}

bool aggnet_runs_slack(const struct aggnet_runs *r, u32 run)
{
	const struct aggnet_sorted_run *of = &r->run[run];

	return slots_free(of) > of->mask / 2;
}

int aggnet_runs_append(struct aggnet_runs *r, u32 run, const u8 *data, u32 len)
{
	struct aggnet_sorted_run *of = &r->run[run];
	struct slot *slot = newest(r, of);
	u32 n, last = 0;
	int err;

	n = count_ordered(data, len, &last);
	if (!n)
		return -EILSEQ;
	if (!slot || slot->len + len > r->stride - sizeof(*slot)) {
		err = aggnet_runs_store(r, run, of->tail, data, len, n);
		of->tail += !err;
		return err;
	}
	if (record_before(data, slot->data + slot->last))
		return -EILSEQ;
	memcpy(slot->data + slot->len, data, len);
	slot->last = slot->len + last;
	slot->len += len;
	r->records += n;
	r->units += n;
	return 0;
}

void aggnet_runs_finish(struct aggnet_runs *r, u32 run)
{
	struct aggnet_sorted_run *of = &r->run[run];

	of->finished = true;
	if (slot_of(r, of, of->next)->len)
		return;
	r->waits--;
	aggnet_runs_advance(r);
}
