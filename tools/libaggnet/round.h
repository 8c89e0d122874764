/* SPDX-License-Identifier: GPL-2.0 */
/* From an exact sum of reals to the nearest number. */
#ifndef AGGNET_ROUND_H
#define AGGNET_ROUND_H

#include <stdbool.h>

#include "real.h"

/**
 * sum_round() - the number of the type that is nearest to a sum
 * @sum: the sum
 * @vtype: of its numbers
 * @out: the number; of two that are equally near the even one
 *
 * Return: false: it has none, though all its numbers are finite
 */
bool sum_round(const struct aggnet_real_sum *sum, unsigned int vtype,
	       double *out);

/* The number that a value of this order stands for. */
double order_real(unsigned int vtype, int64_t order);

#endif /* AGGNET_ROUND_H */
