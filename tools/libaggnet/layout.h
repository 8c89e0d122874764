/* SPDX-License-Identifier: GPL-2.0 */
/* Layout: which elements of a collective go where. Pure. */
#ifndef AGGNET_LAYOUT_H
#define AGGNET_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/shape.h"
#include "aggnet_coll.h"

/* Rounds that are no collectives of an application. */
enum {
	LAYOUT_OPEN = AGGNET_COLL_ALLREDUCE + 1,
	LAYOUT_FINISH,
	LAYOUT_KINDS
};

/**
 * struct layout - of one collective at one rank
 * @size: bytes of an element
 * @carriers: elements of the vector up for one that is given
 * @length: elements that a rank gives
 * @parts: how many such parts the result has
 * @stride: elements of the vector up from one part to the next
 * @up: the result comes up
 * @gives: this rank gives a part
 * @givers: how many ranks do
 * @part: which one
 * @down: the result goes down
 * @takes: elements of the result that this rank takes
 * @first: the first one of them
 */
struct layout {
	uint32_t size;
	uint32_t carriers;
	uint64_t length;
	uint32_t parts;
	uint64_t stride;
	bool up;
	bool gives;
	uint32_t givers;
	uint32_t part;
	bool down;
	uint64_t takes;
	uint64_t first;
};

/**
 * layout_set() - find the layout of a collective
 * @l: filled
 * @shape: of the tree up
 * @kind: of collective
 * @count: elements
 * @root: of the collective
 * @rank: of this process
 * @ranks: number of ranks
 */
void layout_set(struct layout *l, const struct aggnet_shape *shape,
		uint32_t kind, uint64_t count, uint32_t root, uint32_t rank,
		uint32_t ranks);

/* Elements of the result. */
static inline uint64_t layout_result(const struct layout *l)
{
	return l->length * l->parts;
}

/* Does element i of the vector, behind the agreement, come down as element i? */
static inline bool layout_is_vector(const struct layout *l)
{
	return l->up && l->down && l->parts == 1 && l->carriers == 1;
}

/* The largest count that the vector of a tree up has room for. */
uint64_t layout_max(const struct aggnet_shape *shape, uint32_t kind,
		    uint32_t ranks);

/**
 * layout_find() - find an element of the vector up in the result
 * @l: the layout
 * @element: of the vector, behind those of the agreement
 * @carrier: set: which of its carriers it is
 *
 * Return: index of the element in the result, UINT64_MAX: it fills up a block
 */
uint64_t layout_find(const struct layout *l, uint64_t element,
		     uint32_t *carrier);

/* Bytes of an element in memory, and in the message down. */
uint32_t layout_size(uint32_t vtype);

const char *layout_name(uint32_t kind);
bool layout_has_data(uint32_t kind);
bool layout_has_root(uint32_t kind);

#endif /* AGGNET_LAYOUT_H */
