// SPDX-License-Identifier: GPL-2.0
/* Shape: which functions take which values. */
#include "core/pairs.h"
#include "core/shape.h"

#define SCALE_MAX	62

/* Sums, extremes and counts take all types, the others integers only. */
static bool takes(u8 function, u8 vtype)
{
	switch (function) {
	case AGGNET_FN_SUM:
	case AGGNET_FN_MIN:
	case AGGNET_FN_MAX:
	case AGGNET_FN_COUNT:
	case AGGNET_FN_AVERAGE:
		return true;
	case AGGNET_FN_TOPK:
	case AGGNET_FN_NEAREST:
		return vtype != AGGNET_VTYPE_FLOAT32;
	default:
		return vtype == AGGNET_VTYPE_INT64 ||
		       vtype == AGGNET_VTYPE_INT32;
	}
}

/*
 * Functions of dense vectors: those without a count and with values of fixed
 * length.
 */
static bool takes_dense(u8 function)
{
	return function == AGGNET_FN_SUM || function == AGGNET_FN_MIN ||
	       function == AGGNET_FN_MAX;
}

static int fault_of_names(const struct aggnet_shape *shape, const char **text)
{
	if (shape->function >= __AGGNET_FN_MAX) {
		*text = "unknown aggregate function";
		return AGGNET_A_TREE_FUNCTION;
	}
	if (shape->vtype >= __AGGNET_VTYPE_MAX) {
		*text = "unknown value type";
		return AGGNET_A_TREE_VTYPE;
	}
	if (shape->layout >= __AGGNET_LAYOUT_MAX) {
		*text = "unknown layout";
		return AGGNET_A_TREE_LAYOUT;
	}
	if (shape->layout == AGGNET_LAYOUT_BYTES &&
	    (shape->function || shape->vtype)) {
		*text = "a stream of bytes has neither function nor value type";
		return shape->function ? AGGNET_A_TREE_FUNCTION :
					 AGGNET_A_TREE_VTYPE;
	}
	if (!takes(shape->function, shape->vtype)) {
		*text = "the function does not take this value type";
		return AGGNET_A_TREE_FUNCTION;
	}
	if (shape->layout == AGGNET_LAYOUT_DENSE &&
	    !takes_dense(shape->function)) {
		*text = "of dense vectors there are sum, min and max";
		return AGGNET_A_TREE_FUNCTION;
	}
	return 0;
}

static int fault_of_numbers(const struct aggnet_shape *shape,
			    const char **text)
{
	bool fixed = shape->vtype == AGGNET_VTYPE_FIXED;
	bool pairs = aggnet_shape_kind(shape) == AGGNET_KIND_PAIRS;

	if (!fixed && shape->scale) {
		*text = "fraction bits are for fixed-point values";
		return AGGNET_A_TREE_SCALE;
	}
	if (fixed && (!shape->scale || shape->scale > SCALE_MAX)) {
		*text = "fixed-point values need a scale of 1 to 62 bits";
		return AGGNET_A_TREE_SCALE;
	}
	if (!pairs && shape->k) {
		*text = "k is for functions that keep pairs";
		return AGGNET_A_TREE_K;
	}
	if (pairs && (!shape->k || shape->k > AGGNET_K_MAX)) {
		*text = "functions that keep pairs need a k of 1 to 64";
		return AGGNET_A_TREE_K;
	}
	if (shape->layout != AGGNET_LAYOUT_DENSE && shape->elements) {
		*text = "elements are for dense vectors";
		return AGGNET_A_TREE_ELEMENTS;
	}
	if (shape->layout == AGGNET_LAYOUT_DENSE &&
	    (!shape->elements || shape->elements >> 32)) {
		*text = "a dense vector has 1 to 4294967295 elements";
		return AGGNET_A_TREE_ELEMENTS;
	}
	return 0;
}

int aggnet_shape_fault(const struct aggnet_shape *shape, const char **text)
{
	return fault_of_names(shape, text) ?: fault_of_numbers(shape, text);
}
