/* SPDX-License-Identifier: GPL-2.0 */
/* Runs: the records of each contributor in the order of their keys, merged k ways in
 * memory that is allocated at the start, a bounded part at a time. Pure.
 */
#ifndef _AGGNET_RUNS_H
#define _AGGNET_RUNS_H

#include <linux/types.h>

#include "core/shape.h"

#define AGGNET_RUN_MIN	2	/* packets that a run has room for: powers of two */
#define AGGNET_RUN_MAX	64

/*
 * A run is a ring of packets. They come in any order and stay until all of their
 * records have been merged; a contributor has credit for the free slots of its run.
 * Keys ascend, or stay the same, from record to record: they are compared by their
 * bytes, and a key that is the beginning of a longer one comes first.
 *
 * The values of the least key at the front of all runs are merged into one
 * accumulator, which is final once each run is beyond that key or has ended. All
 * runs wait for a run that is empty and has not ended: its contributor has credit,
 * so there is no deadlock.
 *
 * Final records are collected for a packet. They are ready to leave when the
 * packet is full or when nothing more can be merged for now.
 *
 * Merging stops when @budget is used up and sets @stopped; aggnet_runs_advance()
 * continues with a new budget.
 *
 * All contributors must be known before the first merge: nothing is merged before
 * aggnet_runs_close(), and no run begins after it. For this each contributor states
 * its weight, the number of its sources.
 *
 * Units are counted and distributed as in aggtable.h; a planted fault changes the
 * merge of the last record of a packet.
 *
 * Locking: none here; the caller's tree lock covers all but init and free.
 */

/**
 * struct aggnet_sorted_run - one contributor
 * @slot: its ring of packets
 * @mask: number of slots - 1
 * @next: sequence of the packet that is being merged, or is awaited
 * @tail: of a local writer: sequence of its next packet
 * @at: offset of the front record in packet @next
 * @prefix: first bytes of that record's key
 * @weight: its number of sources
 * @given: @weight is known
 * @finished: the contributor has ended
 * @source: its values are those of a source, not of DATA
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
 * @n: number of runs that have begun
 * @max: most runs
 * @slot: memory of all packets
 * @stride: bytes of a slot
 * @slots: number of slots
 * @used: slots that belong to a run
 * @heap: numbers of the runs that have a front record, the least key on top
 * @heaped: entries of @heap
 * @waits: runs without a front record that have not ended
 * @unknown: runs whose weight is not known
 * @open: more runs may begin
 * @ready: the records in @out may leave
 * @stopped: there is more to merge, but @budget is used up
 * @budget: approximate number of instructions left; set by the owner
 * @klen: length of the key that is being merged, 0: none
 * @key: its bytes
 * @prefix: its first bytes
 * @accum: its merged values
 * @part: next part of @accum for @out
 * @key_units: original records in it
 * @cost: aggnet_accum_cost()
 * @out: final records, each behind its units
 * @out_size: size of @out
 * @out_len: bytes in @out
 * @out_n: records in @out
 * @weight: sum of all runs
 * @records: records of packets that are held
 * @units: original records in these packets, in @accum and in @out
 * @fault: where planted faults are taken from (fault.h)
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
#ifdef AGGNET_FAULTS
	u32 *fault;
#endif
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
 * @max: most runs
 * @slots: packets of all runs together
 * @payload: most bytes of records in a packet
 *
 * Process context; may sleep. Return: 0 or -ENOMEM, and then free is due
 */
int aggnet_runs_init(struct aggnet_runs *r, const struct aggnet_shape *shape,
		     u32 max, u32 slots, u32 payload);
void aggnet_runs_free(struct aggnet_runs *r);

/**
 * aggnet_runs_begin() - begin the run of a contributor
 * @r: the runs, open
 * @slots: most packets of the run, a power of two
 * @seq: sequence of its first packet
 * @source: it is a local writer
 *
 * Return: its number, or -ENOSPC
 */
int aggnet_runs_begin(struct aggnet_runs *r, u32 slots, u32 seq, bool source);

/*
 * Set the weight of a run. Return: false: it was another one before, or the sum of
 * all runs does not fit into the 16 bits of DATA.
 */
bool aggnet_runs_weigh(struct aggnet_runs *r, u32 run, u32 weight);

/* No other run will begin: start to merge. */
void aggnet_runs_close(struct aggnet_runs *r);

/* Merge as far as the packets, the room in @out and the budget allow. */
void aggnet_runs_advance(struct aggnet_runs *r);

/* Return: sequences before this one may be stored */
static inline u32 aggnet_runs_limit(const struct aggnet_runs *r, u32 run)
{
	return r->run[run].next + r->run[run].mask + 1;
}

/**
 * aggnet_runs_store() - store a packet
 * @r: the runs
 * @run: number of its run
 * @seq: its sequence, new and before aggnet_runs_limit()
 * @data: records that aggnet_parse_records() has accepted
 * @len: their bytes, at least one record
 * @represents: original records in them
 *
 * Return: 0, or -EILSEQ: keys are out of order, and nothing has changed
 */
int aggnet_runs_store(struct aggnet_runs *r, u32 run, u32 seq, const u8 *data,
		      u32 len, u64 represents);

/* Return: bytes free in a writer's run, at least AGGNET_RECORD_MAX, or 0 */
u32 aggnet_runs_space(const struct aggnet_runs *r, u32 run);

/* Is half of a writer's run free, so that it is worth waking the writer? */
bool aggnet_runs_slack(const struct aggnet_runs *r, u32 run);

/* As aggnet_runs_store(), for a writer: at most aggnet_runs_space() bytes. */
int aggnet_runs_append(struct aggnet_runs *r, u32 run, const u8 *data, u32 len);

/* The contributor has ended. */
void aggnet_runs_finish(struct aggnet_runs *r, u32 run);

/**
 * aggnet_runs_pack() - take out records that are ready, in order
 * @r: the runs
 * @buf: filled with records
 * @room: size of @buf, >= AGGNET_RECORD_MAX
 * @max_records: most records
 * @records: set to their number, at least 1 if @r->ready
 * @represents: set to their units
 *
 * Each key appears once, or once for each part of its accumulator.
 *
 * Return: bytes written
 */
u32 aggnet_runs_pack(struct aggnet_runs *r, u8 *buf, u32 room, u32 max_records,
		     u32 *records, u64 *represents);

/* Number of records that are held, merged or not. */
static inline u32 aggnet_runs_held(const struct aggnet_runs *r)
{
	return r->records + !!r->klen + r->out_n;
}

#endif /* _AGGNET_RUNS_H */
