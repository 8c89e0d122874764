/* SPDX-License-Identifier: GPL-2.0 */
/* Accumulator: what has been merged under one key, as the shape says. Pure; the
 * module and the library are built from it.
 */
#ifndef _AGGNET_ACCUM_H
#define _AGGNET_ACCUM_H

#include <linux/aggnet_packet.h>

#include "core/shape.h"
#include "core/value.h"

/* Bytes of a value that a source gives, at most; of a real exactly. */
static inline u32 aggnet_source_bytes(unsigned int vtype)
{
	return vtype == AGGNET_VTYPE_INT32 || vtype == AGGNET_VTYPE_FLOAT32 ?
	       4 : 8;
}

/**
 * struct aggnet_mean - accumulator of AGGNET_KIND_MEAN
 * @sum: of the values
 * @count: how many there are
 */
struct aggnet_mean {
	struct aggnet_value sum;
	u64 count;
};

/* Bytes of an accumulator, a multiple of 8; that of PLAIN is one aggnet_value. */
u32 aggnet_accum_size(const struct aggnet_shape *shape);

/*
 * Instructions, roughly and at most, that it takes to merge a record's value or to
 * write one; and how many of them one run of a tree's lock spends on merging
 * records that are held, or on packets that leave.
 */
u32 aggnet_accum_cost(const struct aggnet_shape *shape);
#define AGGNET_COST_MAX		50000

/*
 * Records of the result that a read takes in one run of the lock: nothing is
 * merged in the same run, so it may spend twice as much.
 */
u32 aggnet_accum_reads(const struct aggnet_shape *shape);

/* The accumulator that changes nothing when it is merged into another. */
void aggnet_accum_init(const struct aggnet_shape *shape, void *accum);

/**
 * aggnet_accum_check() - is this a value that may be merged?
 * @shape: of the tree
 * @value: of a record
 * @vlen: its length
 * @source: of a source's record, so in its type; else as it travels
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

/**
 * aggnet_accum_flip() - invert a bit of an accumulator: a fault on purpose
 * @shape: of the tree
 * @accum: of at least one record; changed so that the result differs
 */
void aggnet_accum_flip(const struct aggnet_shape *shape, void *accum);

/*
 * Is a checked value a whole accumulator, or the last part of one? (Not of
 * pairs.)
 */
bool aggnet_accum_last(const struct aggnet_shape *shape, const u8 *value,
		       bool source);

/**
 * aggnet_accum_put() - write an accumulator as the value of a record
 * @shape: of the tree
 * @accum: the accumulator
 * @part: which part is next; 0 at first, and again after the last one
 * @buf: AGGNET_VALUE_MAX bytes
 *
 * Merging all parts, in any order, is merging the accumulator.
 *
 * Return: bytes written
 */
u32 aggnet_accum_put(const struct aggnet_shape *shape, const void *accum,
		     u32 *part, u8 *buf);

/**
 * aggnet_accum_parts() - how many parts aggnet_accum_put() makes of an
 * accumulator
 * @shape: of the tree
 * @accum: of at least one record
 *
 * An accumulator has no more parts than records were merged into it: each record
 * brings the pairs of one part at most, and each sum of one part.
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
 * Each part carries one unit, and the first of them the rest, so that a part
 * that is lost or merged twice shows in the sum of units.
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
 * @key: whose it is
 * @klen: bytes of the key
 * @part: as for aggnet_accum_put(); moved on if there was room
 * @buf: written
 * @room: its size
 *
 * Return: bytes written, 0: there is no room
 */
u32 aggnet_accum_record(const struct aggnet_shape *shape, const void *accum,
			const void *key, u32 klen, u32 *part, u8 *buf,
			u32 room);

/* What the value of a source's record, or an element of it, contributes. */
struct aggnet_value aggnet_source_get(const struct aggnet_shape *shape,
				      const u8 *value, u32 vlen);

#endif /* _AGGNET_ACCUM_H */
