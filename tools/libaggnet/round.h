/* SPDX-License-Identifier: GPL-2.0 */
/* From an exact sum, or average, to the nearest number. */
#ifndef AGGNET_ROUND_H
#define AGGNET_ROUND_H

#include <stdbool.h>
#include <stdint.h>

#include "core/float_sum.h"

/**
 * sum_round() - the number of the type nearest to a sum or an average
 * @sum: the sum
 * @vtype: of its numbers
 * @count: divisor of the sum before rounding; 1: the sum itself
 * @out: the number; if two are equally near, the even one
 *
 * Return: false: there is no such number, although all numbers of the sum are
 * finite, or @count is 0
 */
bool sum_round(const struct aggnet_float_sum *sum, unsigned int vtype,
	       uint64_t count, double *out);

/* The number nearest to sum / count 2^-scale; @count is not 0. */
double mean_round(__int128 sum, uint64_t count, unsigned int scale);

/* The number with this order. */
double order_real(unsigned int vtype, int64_t order);

#endif /* AGGNET_ROUND_H */
