// SPDX-License-Identifier: GPL-2.0
/* Shape: which functions there are of which values. */
#include "shape.h"

int aggnet_shape_fault(const struct aggnet_shape *shape, const char **text)
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
	if (shape->scale) {
		*text = "fraction bits are for fixed-point values";
		return AGGNET_A_TREE_SCALE;
	}
	if (shape->k) {
		*text = "k is for functions that keep pairs";
		return AGGNET_A_TREE_K;
	}
	if (shape->elements) {
		*text = "elements are for dense vectors";
		return AGGNET_A_TREE_ELEMENTS;
	}
	return 0;
}
