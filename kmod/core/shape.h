/* SPDX-License-Identifier: GPL-2.0 */
/* Shape: the format of a tree's values, and the function that merges them. */
#ifndef _AGGNET_SHAPE_H
#define _AGGNET_SHAPE_H

#include <linux/types.h>

#include <linux/aggnet.h>

#include "core/float_sum.h"

/**
 * struct aggnet_shape - format and function, the same at all members of a tree
 * @function: enum aggnet_function
 * @vtype: enum aggnet_vtype
 * @layout: enum aggnet_layout
 * @scale: fraction bits of fixed-point values, else 0
 * @k: pairs that a key keeps, else 0
 * @elements: of a dense vector, else 0
 */
struct aggnet_shape {
	u8 function;
	u8 vtype;
	u8 layout;
	u8 scale;
	u16 k;
	u64 elements;
};

/**
 * enum aggnet_kind - format of accumulators, in memory and in records
 * @AGGNET_KIND_PLAIN: one integer of 128 bits
 * @AGGNET_KIND_MEAN: an integer of 128 bits and the number of values
 * @AGGNET_KIND_PAIRS: the k best pairs of a rank and an id
 * @AGGNET_KIND_FLOAT_SUM: an exact sum of reals and the number of values
 * @AGGNET_KIND_BLOCK: integers of 128 bits, one for each element of a block
 */
enum aggnet_kind {
	AGGNET_KIND_PLAIN,
	AGGNET_KIND_MEAN,
	AGGNET_KIND_PAIRS,
	AGGNET_KIND_FLOAT_SUM,
	AGGNET_KIND_BLOCK,
};

static inline enum aggnet_kind aggnet_shape_kind(const struct aggnet_shape *s)
{
	enum aggnet_kind integers = s->layout == AGGNET_LAYOUT_DENSE ?
				    AGGNET_KIND_BLOCK : AGGNET_KIND_PLAIN;

	switch (s->function) {
	case AGGNET_FN_SUM:
		return aggnet_vtype_float(s->vtype) ? AGGNET_KIND_FLOAT_SUM :
						     integers;
	case AGGNET_FN_AVERAGE:
		return aggnet_vtype_float(s->vtype) ? AGGNET_KIND_FLOAT_SUM :
						     AGGNET_KIND_MEAN;
	case AGGNET_FN_TOPK:
	case AGGNET_FN_NEAREST:
		return AGGNET_KIND_PAIRS;
	default:
		return integers;
	}
}

static inline bool aggnet_shape_equal(const struct aggnet_shape *a,
				      const struct aggnet_shape *b)
{
	return a->function == b->function && a->vtype == b->vtype &&
	       a->layout == b->layout && a->scale == b->scale &&
	       a->k == b->k && a->elements == b->elements;
}

/**
 * aggnet_shape_fault() - check a shape
 * @shape: the shape of a request
 * @text: set to a sentence if it is wrong
 *
 * Return: the wrong attribute, of enum aggnet_tree_attr; 0: the shape is valid
 */
int aggnet_shape_fault(const struct aggnet_shape *shape, const char **text);

#endif /* _AGGNET_SHAPE_H */
