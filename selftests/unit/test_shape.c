// SPDX-License-Identifier: GPL-2.0
/* Unit tests of shapes: invalid shapes are refused, and the error names the
 * wrong field.
 */
#include <linux/kernel.h>

#include <linux/aggnet.h>
#include "core/shape.h"

#include "../uapi/harness.h"

TEST(shape_fault__names_the_attribute)
{
	static const struct {
		struct aggnet_shape shape;
		int attr;
	} row[] = {
		{ { .function = AGGNET_FN_LXOR }, 0 },
		{ { .function = __AGGNET_FN_MAX }, AGGNET_A_TREE_FUNCTION },
		{ { .vtype = __AGGNET_VTYPE_MAX }, AGGNET_A_TREE_VTYPE },
		{ { .layout = __AGGNET_LAYOUT_MAX }, AGGNET_A_TREE_LAYOUT },
		{ { .scale = 1 }, AGGNET_A_TREE_SCALE },
		{ { .k = 1 }, AGGNET_A_TREE_K },
		{ { .function = AGGNET_FN_TOPK, .k = 64 }, 0 },
		{ { .function = AGGNET_FN_TOPK }, AGGNET_A_TREE_K },
		{ { .function = AGGNET_FN_NEAREST, .k = 65 }, AGGNET_A_TREE_K },
		{ { .vtype = AGGNET_VTYPE_FIXED, .scale = 62 }, 0 },
		{ { .vtype = AGGNET_VTYPE_FIXED }, AGGNET_A_TREE_SCALE },
		{ { .vtype = AGGNET_VTYPE_FIXED, .scale = 63 },
		  AGGNET_A_TREE_SCALE },
		{ { .function = AGGNET_FN_PRODUCT,
		    .vtype = AGGNET_VTYPE_FLOAT64 }, AGGNET_A_TREE_FUNCTION },
		{ { .function = AGGNET_FN_TOPK, .k = 1,
		    .vtype = AGGNET_VTYPE_FLOAT32 }, AGGNET_A_TREE_FUNCTION },
		{ { .elements = 1 }, AGGNET_A_TREE_ELEMENTS },
		{ { .layout = AGGNET_LAYOUT_DENSE, .elements = 1 }, 0 },
		{ { .layout = AGGNET_LAYOUT_DENSE, .elements = 0xffffffff,
		    .vtype = AGGNET_VTYPE_FLOAT32 }, 0 },
		{ { .layout = AGGNET_LAYOUT_DENSE }, AGGNET_A_TREE_ELEMENTS },
		{ { .layout = AGGNET_LAYOUT_DENSE, .elements = 1ULL << 32 },
		  AGGNET_A_TREE_ELEMENTS },
		{ { .layout = AGGNET_LAYOUT_DENSE, .elements = 1,
		    .function = AGGNET_FN_AVERAGE }, AGGNET_A_TREE_FUNCTION },
		{ { .layout = AGGNET_LAYOUT_BYTES }, 0 },
		{ { .layout = AGGNET_LAYOUT_BYTES,
		    .function = AGGNET_FN_MAX }, AGGNET_A_TREE_FUNCTION },
		{ { .layout = AGGNET_LAYOUT_BYTES,
		    .vtype = AGGNET_VTYPE_INT32 }, AGGNET_A_TREE_VTYPE },
	};
	const char *text;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		text = NULL;
		EXPECT_EQ(row[i].attr, aggnet_shape_fault(&row[i].shape, &text));
		EXPECT_EQ(!row[i].attr, !text);
	}
}

TEST_HARNESS_MAIN
