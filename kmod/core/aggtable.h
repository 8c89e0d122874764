/* SPDX-License-Identifier: GPL-2.0 */
/* Aggregation buffer: key -> value in a log of chunks, oldest out first. */
#ifndef _AGGNET_AGGTABLE_H
#define _AGGNET_AGGTABLE_H

#include <linux/types.h>

#include "core/shape.h"
#include "core/value.h"

#define AGGNET_CHUNK		4096	/* bytes; slots do not straddle */
#define AGGNET_SLOT_MAX	(32 + AGGNET_KEY_MAX + 1)	/* plain values */
#define AGGNET_PAYLOAD_MIN	AGGNET_RECORD_MAX

/* Two for the length, two for each of the 32 words that a key has at most. */
#define AGGNET_SEED_WORDS	(2 + 2 * (AGGNET_KEY_MAX + 1) / 8)

/*
 * Slots are appended to the newest chunk. Packing takes them from the oldest
 * chunk and unlinks them, so one table serves both PARTIAL emission and the
 * last flush, merges go on into whatever has not left yet, and memory comes
 * back a chunk at a time. Nothing allocates but init and chunk_alloc.
 *
 * What is not a plain integer is an accumulator (accum.h) behind the slot's
 * key. It may leave in several records; the slot is unlinked with the first of
 * them, so what comes meanwhile begins a new one.
 *
 * Each slot counts the original records ("units") merged into it. Of the units
 * that came in with a packet each record has one, and what is left goes to the
 * last: how much that is, is known before the first record is merged, so a
 * record that is skipped leaves a unit out. The units leave with the slots,
 * one at least with each record (aggnet_accum_units()): a merge, or a part of an
 * accumulator, that is lost or counts twice shows in the sum.
 *
 * Keys are hashed by a secret member of a universal family (aggtable.c proves
 * it): however keys are chosen without knowing the secret, a look-up meets
 * keys / buckets others on average, 1.6 at most up to limits of 512 MiB. Keys of
 * a pattern (numbers in a row, at any distance) meet more than twice as many of
 * them with one secret of a thousand.
 *
 * Locking: none here; the caller's tree lock covers everything but init,
 * free and the allocation for grow. Any context.
 */
struct aggnet_table {
	u32 *bucket;		/* slot references, 0: empty */
	u8 **chunk;		/* by chunk number; 1.. (0 is "none") */
	u32 *next;		/* chunk number -> next in log or free list */
	u32 bucket_mask;
	u32 chunks;		/* present */
	u32 chunks_max;		/* room in chunk[] */
	u32 free_head;		/* list of free chunks, 0: none */
	u32 free;		/* chunks on it */
	u32 oldest;		/* log: packed from here */
	u32 newest;		/* appended here */
	u32 read;		/* offset of the next slot to pack in oldest */
	u32 write;		/* offset of the next slot in newest */
	u32 keys;		/* slots held */
	u64 units;		/* units held */
	struct aggnet_shape shape;
	u32 extra;		/* bytes of accumulator behind a slot's key */
	u32 part;		/* of the slot at @read, when it leaves in parts */
	u32 expected;		/* dense: contributors of each block; set by the owner */
	struct aggnet_value neutral;	/* of a new slot */
	u64 seed[AGGNET_SEED_WORDS];	/* secret of the key hash */
};

/**
 * aggnet_table_overhead() - bytes that init allocates for a limit
 * @limit: bytes of chunks that the table may ever hold
 */
size_t aggnet_table_overhead(u64 limit);

/**
 * aggnet_table_init() - make an empty table without chunks
 * @t: zeroed
 * @shape: valid; copied
 * @limit: bytes of chunks that it may ever hold, >= AGGNET_CHUNK
 * @seed: random bytes, sizeof(t->seed)
 *
 * Process context; may sleep. Return: 0 or -ENOMEM.
 */
int aggnet_table_init(struct aggnet_table *t, const struct aggnet_shape *shape,
		      u64 limit, const void *seed);
void aggnet_table_free(struct aggnet_table *t);	/* process context; may sleep */

/* Process context: a chunk for aggnet_table_grow(), NULL if there is none. */
void *aggnet_chunk_alloc(void);
void aggnet_chunk_free(void *chunk);
/* Add a chunk. Return: false if the limit is reached (the caller frees it). */
bool aggnet_table_grow(struct aggnet_table *t, void *chunk);

/**
 * aggnet_table_need() - chunks that records of plain values may take at worst
 * @bytes: of all records
 * @records: how many, at most
 *
 * A record with a key of k bytes takes 32 + round_up(k, 8) <= k + 39 bytes of
 * a slot and at least k + 2 bytes of the packet; so all of them take @bytes
 * and 37 for each record. A slot that begins a chunk leaves less than its
 * own size unused in the one before it. The newest chunk may be full at first.
 */
static inline u32 aggnet_table_need(u32 bytes, u32 records)
{
	u32 total = bytes + 37 * records;

	return total ? 1 + total / (AGGNET_CHUNK - AGGNET_SLOT_MAX + 8) : 0;
}

/* Most records that a packet of @payload bytes may carry. */
u32 aggnet_max_records(const struct aggnet_shape *shape, u32 payload);

/* Chunks that the records of one packet may take at worst. */
u32 aggnet_table_chunks_per_packet(const struct aggnet_shape *shape,
				   u32 payload);

/* Bytes of chunks that hold slots. */
static inline u64 aggnet_table_used(const struct aggnet_table *t)
{
	return (u64)(t->chunks - t->free) * AGGNET_CHUNK;
}

/**
 * aggnet_table_merge() - merge checked records
 * @t: the table; t->free >= aggnet_table_chunks_per_packet() of what comes
 * @data: records that aggnet_parse_records() has passed
 * @n: how many, at most aggnet_max_records() of their packet
 * @represents: original records in them, >= @n
 * @source: true: they come from a local source (aggnet_reduce_source())
 * @fault: enum aggnet_fault; strikes the merge of the last record
 *
 * Checked for @source as it is merged.
 */
void aggnet_table_merge(struct aggnet_table *t, const u8 *data, u32 n,
			u64 represents, bool source, u32 fault);

/**
 * aggnet_table_pack() - take slots out, oldest first
 * @t: the table
 * @buf: written with records
 * @room: its size, >= AGGNET_RECORD_MAX
 * @max_records: bound on their number
 * @records: how many there are
 * @represents: units that leave with them
 *
 * Chunks that become empty return to the free list (an empty table gives back
 * all of them). Return: bytes written, 0 if the table is empty.
 */
u32 aggnet_table_pack(struct aggnet_table *t, u8 *buf, u32 room,
		      u32 max_records, u32 *records, u64 *represents);

/**
 * aggnet_table_ripe() - may the oldest slot leave before the flow is whole?
 * @t: the table
 *
 * Of a dense vector it may as soon as all contributors have given that block.
 * A chunk goes back with its last slot, so while there is an oldest chunk a
 * slot that has not left stands at @t->read.
 *
 * How many they are is a guess (@t->expected): one that comes too late makes a
 * slot anew, so a wrong guess costs a record or memory, and no value.
 */
bool aggnet_table_ripe(const struct aggnet_table *t);

/* The same as aggnet_table_pack(), but no further than slots are ripe. */
u32 aggnet_table_pack_ripe(struct aggnet_table *t, u8 *buf, u32 room,
			   u32 max_records, u32 *records, u64 *represents);

#endif /* _AGGNET_AGGTABLE_H */
