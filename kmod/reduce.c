// SPDX-License-Identifier: GPL-2.0
/* Aggregate functions: which of them exist for which values. */
#include "reduce.h"

bool aggnet_reduce_valid(unsigned int function, unsigned int vtype)
{
	return function < __AGGNET_FN_MAX && vtype < __AGGNET_VTYPE_MAX;
}
