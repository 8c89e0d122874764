/* SPDX-License-Identifier: GPL-2.0 */
/* Accumulator: the merged values of one key, in the format of the shape's kind. Pure;
 * part of the module and of the library.
 */
#ifndef _AGGNET_ACCUM_H
#define _AGGNET_ACCUM_H

#include <linux/aggnet_packet.h>

#include "core/shape.h"
#include "core/value.h"

/* Most bytes of a source's value; a real has exactly as many. */
static inline u32 aggnet_source_bytes(unsigned int vtype)
{
	return vtype == AGGNET_VTYPE_INT32 || vtype == AGGNET_VTYPE_FLOAT32 ?
	       4 : 8;
}

/**
 * struct aggnet_mean - accumulator of AGGNET_KIND_MEAN
 * @sum: sum of the values
 * @count: number of values
 */
struct aggnet_mean {
	struct aggnet_value sum;
	u64 count;
};

/* Bytes of an accumulator, a multiple of 8; of kind PLAIN it is an aggnet_value. */
u32 aggnet_accum_size(const struct aggnet_shape *shape);

/*
 * Approximate upper bound of instructions to merge the value of a record, or to
 * write it; and how many instructions one run of a tree's lock may take to merge
 * records that are held, or to make packets.
 */
u32 aggnet_accum_cost(const struct aggnet_shape *shape);
#define AGGNET_COST_MAX		50000

/*
 * Records of the result that a read takes in one run of the lock. The run merges
 * nothing, so it may take twice as many instructions.
 */
u32 aggnet_accum_reads(const struct aggnet_shape *shape);

/* The neutral accumulator: merging it changes nothing. */
void aggnet_accum_init(const struct aggnet_shape *shape, void *accum);

/**
 * aggnet_accum_check() - check a value before it is merged
 * @shape: of the tree
 * @value: of a record
 * @vlen: its length
 * @source: true: the value of a source, in the tree's value type; false: as in DATA
 */
bool aggnet_accum_check(const struct aggnet_shape *shape, const u8 *value,
			u32 vlen, bool source);

/**
 * aggnet_accum_merge() - merge a checked value
 * @shape: of the tree
 * @accum: changed in place
 * @value: of a record
 * @vlen: its length
 * @source: as for aggnet_accum_check()
 */
void aggnet_accum_merge(const struct aggnet_shape *shape, void *accum,
			const u8 *value, u32 vlen, bool source);

/*
 * Is a checked value a complete accumulator, or the last part of one? Not for pairs.
 */
bool aggnet_accum_last(const struct aggnet_shape *shape, const u8 *value,
		       bool source);

/**
 * aggnet_accum_put() - write an accumulator as the value of a record
 * @shape: of the tree
 * @accum: the accumulator
 * @part: number of the part, 0 for the first; advanced, 0 after the last part
 * @buf: AGGNET_VALUE_MAX bytes
 *
 * Merging all parts, in any order, is merging the accumulator.
 *
 * Return: bytes written
 */
u32 aggnet_accum_put(const struct aggnet_shape *shape, const void *accum,
		     u32 *part, u8 *buf);

/**
 * aggnet_accum_parts() - number of parts that aggnet_accum_put() writes
 * @shape: of the tree
 * @accum: of at least one record
 *
 * At most the number of merged records: each record has the pairs, or the sum, of
 * one part.
 */
u32 aggnet_accum_parts(const struct aggnet_shape *shape, const void *accum);

/**
 * aggnet_accum_units() - units that leave with a part of an accumulator
 * @shape: of the tree
 * @accum: the accumulator
 * @units: original records merged into it
 * @first: it is the first part
 * @more: other parts follow
 *
 * Each part has one unit, and the first part all others, so that a part that is lost
 * or merged twice changes the sum of units.
 */
static inline u64 aggnet_accum_units(const struct aggnet_shape *shape,
				     const void *accum, u64 units, bool first,
				     bool more)
{
	if (!first)
		return 1;
	return more ? units - (aggnet_accum_parts(shape, accum) - 1) : units;
}

/**
 * aggnet_accum_record() - write the next part of an accumulator as a record
 * @shape: of the tree
 * @accum: the accumulator
 * @key: its key
 * @klen: bytes of the key
 * @part: as for aggnet_accum_put(); advanced if there was room
 * @buf: filled
 * @room: its size
 *
 * Return: bytes written, 0: there is no room
 */
u32 aggnet_accum_record(const struct aggnet_shape *shape, const void *accum,
			const void *key, u32 klen, u32 *part, u8 *buf,
			u32 room);

/* The integer that the value of a source's record, or one element, contributes. */
struct aggnet_value aggnet_source_get(const struct aggnet_shape *shape,
				      const u8 *value, u32 vlen);

#endif /* _AGGNET_ACCUM_H */
