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

/* 2 for the length, 2 for each of the at most 32 words of a key. */
#define AGGNET_SEED_WORDS	(2 + 2 * (AGGNET_KEY_MAX + 1) / 8)

/*
 * Slots are appended to the newest chunk. Packing takes them from the oldest chunk
 * and unlinks them: one table serves PARTIAL emission and the last flush, values
 * are merged into slots that have not left yet, and memory is freed chunk by chunk.
 * Only init and chunk_alloc allocate.
 *
 * A value that is not a plain integer is an accumulator (accum.h) behind the slot's
 * key. It may leave in several records; the slot is unlinked with the first of
 * them, and values that come later begin a new slot.
 *
 * Each slot counts the original records ("units") merged into it. Of the units of a
 * packet each record gets one, and the last record all others. Their number is
 * known before the first record is merged, so a skipped record leaves a unit out.
 * The units leave with the slots, at least one with each record
 * (aggnet_accum_units()): a merge, or a part of an accumulator, that is lost or
 * done twice changes the sum.
 *
 * Keys are hashed by a secret member of a universal family (aggtable.c proves
 * it): however keys are chosen without knowing the secret, a look-up meets
 * keys / buckets others on average, 1.6 at most up to limits of 512 MiB. Keys of
 * a pattern (numbers in a row, at any distance) meet more than twice as many of
 * them with one secret of a thousand. The blocks of a dense vector are not hashed if
 * there is a bucket for each: a look-up meets no other.
 *
 * Locking: none here; the caller's tree lock covers everything but init,
 * free and the allocation for grow. Any context.
 */
struct aggnet_table {
	u32 *bucket;		/* slot references, 0: empty */
	u8 **chunk;		/* by chunk number; 1.. (0 is "none") */
	u32 *next;		/* chunk number -> next in log or free list */
	u32 bucket_mask;
	u32 chunks;		/* chunks present */
	u32 chunks_max;		/* room in chunk[] */
	u32 free_head;		/* list of free chunks, 0: none */
	u32 free;		/* chunks on it */
	u32 oldest;		/* chunk from which slots are packed */
	u32 newest;		/* chunk to which slots are appended */
	u32 read;		/* offset of the next slot to pack in oldest */
	u32 write;		/* offset of the next slot in newest */
	u32 keys;		/* slots held */
	u64 units;		/* units held */
	struct aggnet_shape shape;
	bool blocks;		/* the accumulators are of AGGNET_KIND_BLOCK */
	bool by_number;		/* the number of a block is that of its bucket */
	u32 extra;		/* bytes of accumulator behind a slot's key */
	u32 part;		/* next part of the slot at @read */
	u32 expected;		/* dense: contributors of each block; set by the owner */
	struct aggnet_value neutral;	/* of a new slot */
	u64 seed[AGGNET_SEED_WORDS];	/* secret of the key hash */
#ifdef AGGNET_FAULTS
	u32 *fault;		/* where planted faults are taken from (fault.h) */
#endif
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
/* Add a chunk. Return: false: the limit is reached; the caller frees the chunk. */
bool aggnet_table_grow(struct aggnet_table *t, void *chunk);

/**
 * aggnet_table_need() - most chunks that records of plain values may need
 * @bytes: bytes of all records
 * @records: most records
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

/* Most chunks that the records of one packet may need. */
u32 aggnet_table_chunks_per_packet(const struct aggnet_shape *shape,
				   u32 payload);

/* Bytes of chunks that hold slots. */
static inline u64 aggnet_table_used(const struct aggnet_table *t)
{
	return (u64)(t->chunks - t->free) * AGGNET_CHUNK;
}

/**
 * aggnet_table_merge() - merge checked records
 * @t: the table; t->free >= aggnet_table_chunks_per_packet() of the packet
 * @data: records that aggnet_parse_records() has accepted
 * @n: number of records, at most aggnet_max_records() of their packet
 * @represents: original records in them, >= @n
 * @source: true: they come from a local source (aggnet_reduce_source())
 */
void aggnet_table_merge(struct aggnet_table *t, const u8 *data, u32 n,
			u64 represents, bool source);

/*
 * As aggnet_table_merge(), for records of a packet. @lengths is what
 * aggnet_parse_lengths() has set: that of each record, 0: they differ.
 */
void aggnet_table_merge_equal(struct aggnet_table *t, const u8 *data, u32 n,
			      u64 represents, u32 lengths);

/**
 * aggnet_table_pack() - take slots out, oldest first
 * @t: the table
 * @buf: filled with records
 * @room: size of @buf, >= AGGNET_RECORD_MAX
 * @max_records: most records
 * @records: set to the number of records
 * @represents: set to their units
 *
 * Empty chunks return to the free list; an empty table has no other chunks. Return:
 * bytes written, 0 if the table is empty.
 */
u32 aggnet_table_pack(struct aggnet_table *t, u8 *buf, u32 room,
		      u32 max_records, u32 *records, u64 *represents);

/**
 * aggnet_table_ripe() - may the oldest slots leave before the flow is whole?
 * @t: the table
 * @slots: how many of them, at least 1; it looks at each
 *
 * A block of a dense vector may leave when all contributors have sent it. A chunk
 * is freed with its last slot, so if there is an oldest chunk, @t->read is the
 * place of a slot that has not left.
 *
 * The number of contributors (@t->expected) is an estimate: a value that comes too
 * late begins a new slot, so a wrong estimate costs a record or memory, but no
 * value.
 */
bool aggnet_table_ripe(const struct aggnet_table *t, u32 slots);

/* As aggnet_table_pack(), but only slots that are ripe. */
u32 aggnet_table_pack_ripe(struct aggnet_table *t, u8 *buf, u32 room,
			   u32 max_records, u32 *records, u64 *represents);

#endif /* _AGGNET_AGGTABLE_H */
