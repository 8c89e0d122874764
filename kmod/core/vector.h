/* SPDX-License-Identifier: GPL-2.0 */
/* Vector: blocks of elements, each of which is merged with its like. Pure; the
 * module and the library are built from it.
 */
#ifndef _AGGNET_VECTOR_H
#define _AGGNET_VECTOR_H

#include <linux/aggnet_packet.h>

#include "core/shape.h"
#include "core/value.h"

/* Elements of a record: sums of reals travel one by one. */
static inline u32 aggnet_vector_block(const struct aggnet_shape *shape)
{
	return aggnet_shape_kind(shape) == AGGNET_KIND_FLOAT_SUM ?
	       1 : AGGNET_BLOCK_ELEMENTS;
}

/* Records of a whole vector. */
static inline u32 aggnet_vector_blocks(const struct aggnet_shape *shape)
{
	return ((u32)shape->elements - 1) / aggnet_vector_block(shape) + 1;
}

/* Bytes of each key: so few that the number of the last block fits. */
static inline u32 aggnet_vector_klen(const struct aggnet_shape *shape)
{
	u32 last = aggnet_vector_blocks(shape) - 1;

	return 1 + (last > 0xff) + (last > 0xffff) + (last > 0xffffff);
}

/* A block's number as its key. Return: its bytes */
u32 aggnet_vector_key_put(const struct aggnet_shape *shape, u32 block, u8 *key);

/* The number of a block, from its key. */
u32 aggnet_vector_key_get(const u8 *key, u32 klen);

/* Is this a key of a block of the vector? */
bool aggnet_vector_key_ok(const struct aggnet_shape *shape, const u8 *key,
			  u32 klen);

/**
 * aggnet_vector_check() - is this a block, of a shape that is merged by blocks?
 * @shape: of the tree
 * @vlen: bytes of the value
 * @source: of a source's record
 */
bool aggnet_vector_check(const struct aggnet_shape *shape, u32 vlen,
			 bool source);

/*
 * Merge a block, element by element, into the accumulator of AGGNET_KIND_BLOCK.
 */
void aggnet_vector_merge(const struct aggnet_shape *shape,
			 struct aggnet_value *accum, const u8 *value, u32 vlen,
			 bool source);

/*
 * Write such an accumulator: all elements of it in as many bytes as the
 * longest.
 */
u32 aggnet_vector_put(const struct aggnet_value *accum, u8 *buf);

#endif /* _AGGNET_VECTOR_H */
