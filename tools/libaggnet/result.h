/* SPDX-License-Identifier: GPL-2.0 */
/* From the accumulator of a key to the application's result. */
#ifndef AGGNET_RESULT_H
#define AGGNET_RESULT_H

#include "core/pairs.h"
#include "aggnet_data.h"
#include "merge.h"

/**
 * result_get() - one line of the result
 * @m: the table
 * @e: one of its entries
 * @i: which of its lines
 * @best: memory for the pairs that functions keep, AGGNET_K_MAX; else unused
 * @line: filled
 *
 * Return: false: it does not fit its type; then @line has the low 64 bits of an integer,
 * and a sum of reals that is infinite when it is converted to its type
 */
bool result_get(const struct merge *m, const struct merge_entry *e, uint32_t i,
		struct aggnet_best *best, struct aggnet_entry *line);

/* Lines of an entry: the elements of a block, else one. */
uint32_t result_lines(const struct merge *m, const struct merge_entry *e);

/* Dense vector: index of a block's first element. */
uint64_t result_offset(const struct merge *m, const struct merge_entry *e);

/* The first entry whose result does not fit its type, NULL if all do. */
const struct merge_entry *result_overflow(const struct merge *m);

/*
 * Sort the entries by their values, the greatest first; pairs by their best
 * one.
 */
void result_rank(struct merge *m);

#endif /* AGGNET_RESULT_H */
