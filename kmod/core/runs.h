/* SPDX-License-Identifier: GPL-2.0 */
/* Runs: what each contributor gave in the order of its keys, merged k ways in
 * memory that was there from the start, a bounded part at a time. Pure.
 */
#ifndef _AGGNET_RUNS_H
#define _AGGNET_RUNS_H

#include <linux/types.h>

#include "core/shape.h"

#define AGGNET_RUN_MIN	2	/* packets that a run has room for: powers of two */
#define AGGNET_RUN_MAX	64

/*
 * A run is a ring of packets. They come in any order and stay until all of
 * their records have been merged, so the room that a run still has is what its
 * contributor may send. Keys rise, or stay the same, from record to record: by
 * their bytes, the shorter of two first if it is how the longer one begins.
 *
 * The least key at the front of all runs is merged into one accumulator, which is
 * final once every run has gone beyond that key or has ended. A run that has not
 * ended and is empty makes all others wait: its contributor has the room to go
 * on, so there is no deadlock.
 *
 * Final records are collected for a packet. They are ready to leave when the
 * packet is full or when nothing more can be merged for now.
 *
 * Merging stops when @budget is used up, wherever it is: @stopped says so, and
 * aggnet_runs_advance() with a new budget goes on.
 *
 * Which contributors there will be has to be known by then: nothing is merged
 * before aggnet_runs_close(), and no run begins after it. For this each of them
 * tells its weight, the sources that it stands for.
 *
 * Units are counted and spread as in aggtable.h; a fault strikes the last record
 * of a packet here, too.
 *
 * Locking: none here; the caller's tree lock covers all but init and free.
 */

/**
 * struct aggnet_sorted_run - one contributor
 * @slot: its ring of packets
 * @mask: of the number of slots
 * @next: sequence of the packet that is read from, or comes next
 * @tail: of a local writer, sequence of the next packet
 * @at: where the record at the front begins in that packet
 * @prefix: first bytes of that record's key
 * @weight: sources that it stands for
 * @given: @weight is known
 * @finished: nothing more will come
 * @source: its values are a source's
 */
struct aggnet_sorted_run {
	u8 *slot;
	u32 mask;
	u32 next;
	u32 tail;
	u32 at;
	u64 prefix;
	u32 weight;
	bool given;
	bool finished;
	bool source;
};

/**
 * struct aggnet_runs - all contributors of a tree
 * @shape: of the values
 * @run: the runs that have begun
 * @n: how many
 * @max: how many there may be
 * @slot: memory of all packets
 * @stride: bytes of one
 * @slots: how many
 * @used: of them, those that are some run's
 * @heap: numbers of the runs that have a record at the front, the least on top
 * @heaped: how many
 * @waits: runs that have none, and have not ended
 * @unknown: runs whose weight is not known
 * @open: others may begin
 * @ready: what is in @out may leave
 * @stopped: there is more to merge, but @budget is used up
 * @budget: instructions, roughly, that may still be spent; set by the owner
 * @klen: of the key that is being merged, 0: none is
 * @key: its bytes
 * @prefix: the first of them
 * @accum: what has been merged under it
 * @part: which part of it goes to @out next
 * @key_units: original records in it
 * @cost: aggnet_accum_cost()
 * @out: final records, the units of each before it
 * @out_size: room in it
 * @out_len: bytes in it
 * @out_n: records in it
 * @weight: of all runs
 * @records: in packets that are held
 * @units: original records in them, in @accum and in @out
 * @fault: enum aggnet_fault; spoils the next merge
 */
struct aggnet_runs {
	struct aggnet_shape shape;
	struct aggnet_sorted_run *run;
	u32 n;
	u32 max;
	u8 *slot;
	u32 stride;
	u32 slots;
	u32 used;
	u32 *heap;
	u32 heaped;
	u32 waits;
	u32 unknown;
	bool open;
	bool ready;
	bool stopped;
	u8 klen;
	u8 key[AGGNET_KEY_MAX];
	u64 prefix;
	void *accum;
	u32 part;
	u64 key_units;
	u32 cost;
	s32 budget;
	u8 *out;
	u32 out_size;
	u32 out_len;
	u32 out_n;
	u32 weight;
	u32 records;
	u64 units;
	u32 fault;
};

/* Bytes of one packet's slot. */
u32 aggnet_runs_stride(u32 payload);

/* Bytes that init allocates. */
size_t aggnet_runs_size(const struct aggnet_shape *shape, u32 max, u32 slots,
			u32 payload);

/**
 * aggnet_runs_init() - make room for runs
 * @r: zeroed
 * @shape: valid; copied
 * @max: how many runs
 * @slots: packets of all of them together
 * @payload: bytes of records in a packet, at most
 *
 * Process context; may sleep. Return: 0 or -ENOMEM, and then free is due
 */
int aggnet_runs_init(struct aggnet_runs *r, const struct aggnet_shape *shape,
		     u32 max, u32 slots, u32 payload);
void aggnet_runs_free(struct aggnet_runs *r);

/**
 * aggnet_runs_begin() - a contributor comes
 * @r: the runs, open
 * @slots: packets that it has room for, a power of two
 * @seq: sequence of its first packet
 * @source: it is a local writer
 *
 * Return: its number, or -ENOSPC
 */
int aggnet_runs_begin(struct aggnet_runs *r, u32 slots, u32 seq, bool source);

/*
 * Its weight. Return: false if it has told another one before, or if that of all
 * runs does not fit into the 16 bits that DATA has for it.
 */
bool aggnet_runs_weigh(struct aggnet_runs *r, u32 run, u32 weight);

/* No other run will begin: merge. */
void aggnet_runs_close(struct aggnet_runs *r);

/* Merge as far as contributors, room in @out and the budget allow. */
void aggnet_runs_advance(struct aggnet_runs *r);

/* Sequences before this one may be stored. */
static inline u32 aggnet_runs_limit(const struct aggnet_runs *r, u32 run)
{
	return r->run[run].next + r->run[run].mask + 1;
}

/**
 * aggnet_runs_store() - keep a packet
 * @r: the runs
 * @run: whose it is
 * @seq: its sequence, new and before aggnet_runs_limit()
 * @data: records that aggnet_parse_records() has passed
 * @len: their bytes, at least a record's
 * @represents: original records in them
 *
 * Return: 0, or -EILSEQ: keys are out of order, and nothing has changed
 */
int aggnet_runs_store(struct aggnet_runs *r, u32 run, u32 seq, const u8 *data,
		      u32 len, u64 represents);

/* Bytes for which a writer's run has room, AGGNET_RECORD_MAX at least; or 0. */
u32 aggnet_runs_space(const struct aggnet_runs *r, u32 run);

/* Is half of a run free, so that it is worth going on? */
bool aggnet_runs_slack(const struct aggnet_runs *r, u32 run);

/* As store, for a writer: no more than aggnet_runs_space() bytes. */
int aggnet_runs_append(struct aggnet_runs *r, u32 run, const u8 *data, u32 len);

/* All of it has come. */
void aggnet_runs_finish(struct aggnet_runs *r, u32 run);

/**
 * aggnet_runs_pack() - take out what is ready, in order
 * @r: the runs
 * @buf: written with records
 * @room: its size, >= AGGNET_RECORD_MAX
 * @max_records: bound on their number
 * @records: how many there are, at least 1 if @r->ready
 * @represents: units that leave with them
 *
 * A key comes once, but for the parts of its accumulator.
 *
 * Return: bytes written
 */
u32 aggnet_runs_pack(struct aggnet_runs *r, u8 *buf, u32 room, u32 max_records,
		     u32 *records, u64 *represents);

/* Records that are held, merged or not. */
static inline u32 aggnet_runs_held(const struct aggnet_runs *r)
{
	return r->records + !!r->klen + r->out_n;
}

#endif /* _AGGNET_RUNS_H */
