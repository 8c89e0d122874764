/* SPDX-License-Identifier: GPL-2.0 */
/* Vector: blocks of elements that are merged element by element. Pure; part of the
 * module and of the library.
 */
#ifndef _AGGNET_VECTOR_H
#define _AGGNET_VECTOR_H

#include <linux/aggnet_packet.h>

#include "core/shape.h"
#include "core/value.h"

/* Elements of a record; a record of a sum of reals has a single one. */
static inline u32 aggnet_vector_block(const struct aggnet_shape *shape)
{
	return aggnet_shape_kind(shape) == AGGNET_KIND_FLOAT_SUM ?
	       1 : AGGNET_BLOCK_ELEMENTS;
}

/* Number of blocks, which are the records of a whole vector. */
static inline u32 aggnet_vector_blocks(const struct aggnet_shape *shape)
{
	return ((u32)shape->elements - 1) / aggnet_vector_block(shape) + 1;
}

/* Bytes of each key: the least that the number of the last block needs. */
static inline u32 aggnet_vector_klen(const struct aggnet_shape *shape)
{
	u32 last = aggnet_vector_blocks(shape) - 1;

	return 1 + (last > 0xff) + (last > 0xffff) + (last > 0xffffff);
}

/* Write a block's number as its key. Return: bytes of the key */
u32 aggnet_vector_key_put(const struct aggnet_shape *shape, u32 block, u8 *key);

/* Return: the number of a block, from its key of 1 to 4 bytes */
static inline u32 aggnet_vector_key_get(const u8 *key, u32 klen)
{
	u32 block = *key;

	/* Without a loop: nearly all vectors have keys of 1 or 2 bytes. */
	if (klen > 1)
		block = block << 8 | key[1];
	if (klen > 2)
		block = block << 8 | key[2];
	if (klen > 3)
		block = block << 8 | key[3];
	return block;
}

/* Is this the key of a block of the vector? */
bool aggnet_vector_key_ok(const struct aggnet_shape *shape, const u8 *key,
			  u32 klen);

/**
 * aggnet_vector_check() - check a block, of a shape that is merged by blocks
 * @shape: of the tree
 * @vlen: bytes of the value
 * @source: of a source's record
 */
bool aggnet_vector_check(const struct aggnet_shape *shape, u32 vlen,
			 bool source);

/*
 * Merge a block element by element into an accumulator of AGGNET_KIND_BLOCK.
 */
void aggnet_vector_merge(const struct aggnet_shape *shape,
			 struct aggnet_value *accum, const u8 *value, u32 vlen,
			 bool source);

/*
 * Write such an accumulator: each element takes as many bytes as the longest one.
 * @buf: AGGNET_VALUE_MAX bytes, which may all change
 */
u32 aggnet_vector_put(const struct aggnet_value *accum, u8 *buf);

#endif /* _AGGNET_VECTOR_H */
