// SPDX-License-Identifier: GPL-2.0
/* Planted faults, in builds for tests only (AGGNET_FAULTS). */
#include "core/accum.h"
#include "core/fault.h"
#include "core/float_sum.h"
#include "core/pairs.h"

void aggnet_fault_flip(const struct aggnet_shape *shape, void *accum)
{
	struct aggnet_float_sum *sum = accum;
	struct aggnet_pairs *pairs = accum;
	struct aggnet_mean *mean = accum;
	struct aggnet_value *v = accum;

	switch (aggnet_shape_kind(shape)) {
	case AGGNET_KIND_MEAN:
		mean->sum.lo ^= 1;
		break;
	case AGGNET_KIND_PAIRS:
		pairs->pair[0].id ^= 1;
		break;
	case AGGNET_KIND_FLOAT_SUM:
		/*
		 * The bit for 2^14, or 2^43 for binary32: rounding must not hide
		 * the fault.
		 */
		sum->word[aggnet_float_sum_words(shape->vtype) / 2] ^= 1;
		break;
	default:
		v->lo ^= 1;
	}
}
