// SPDX-License-Identifier: GPL-2.0
/* From the accumulator of a key to the application's result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/vector.h"
#include "result.h"
#include "round.h"

static __int128 wide(const struct aggnet_value *v)
{
	return (int64_t)v->hi * ((__int128)1 << 64) + v->lo;
}

static bool is_real(const struct aggnet_shape *shape)
{
	return aggnet_vtype_float(shape->vtype) &&
	       shape->function != AGGNET_FN_COUNT;
}

/* The real number that an integer value represents. */
static double real_of(const struct aggnet_shape *shape, int64_t value)
{
	if (is_real(shape))
		return order_real(shape->vtype, value);
	if (shape->function == AGGNET_FN_COUNT)
		return (double)value;
	return ldexp((double)value, -shape->scale);
}

static bool plain_get(const struct aggnet_shape *shape,
		      const struct aggnet_value *v, struct aggnet_entry *line)
{
	line->value = (int64_t)v->lo;
	line->real = real_of(shape, line->value);
	if (is_real(shape))
		line->value = 0;
	else if (shape->vtype == AGGNET_VTYPE_INT32 &&
		 shape->function != AGGNET_FN_COUNT &&
		 line->value != (int32_t)line->value)
		return false;
	return aggnet_value_fits(v);
}

/*
 * Towards zero, as C divides; it fits, because each of the values did. A count
 * of 0 is one that did not fit.
 */
static bool mean_get(const struct aggnet_shape *shape,
		     const struct aggnet_mean *mean, struct aggnet_entry *line)
{
	__int128 sum = wide(&mean->sum);

	if (!mean->count)
		return false;
	line->count = mean->count;
	line->value = (int64_t)(sum / (__int128)mean->count);
	line->real = mean_round(sum, mean->count, shape->scale);
	return true;
}

static bool sum_get(const struct aggnet_shape *shape,
		    const struct aggnet_float_sum *sum,
		    struct aggnet_entry *line)
{
	bool average = shape->function == AGGNET_FN_AVERAGE;

	line->count = average ? sum->count : 0;
	return sum_round(sum, shape->vtype, average ? sum->count : 1,
			 &line->real);
}

static bool pairs_get(const struct aggnet_shape *shape,
		      const struct aggnet_pairs *pairs,
		      struct aggnet_best *best, struct aggnet_entry *line)
{
	uint32_t i;

	for (i = 0; i < pairs->n; i++) {
		int64_t value = pairs->pair[i].rank;

		if (shape->function == AGGNET_FN_TOPK)
			value = ~value;
		best[i] = (struct aggnet_best){
			.value = is_real(shape) ? 0 : value,
			.real = real_of(shape, value),
			.id = pairs->pair[i].id,
		};
	}
	line->best = best;
	line->n = pairs->n;
	return true;
}

uint64_t result_offset(const struct merge *m, const struct merge_entry *e)
{
	return (uint64_t)aggnet_vector_key_get(e->key, e->klen) *
	       aggnet_vector_block(&m->shape);
}

uint32_t result_lines(const struct merge *m, const struct merge_entry *e)
{
	uint32_t lines;
	uint64_t left;

	if (!merge_dense(m))
		return 1;
	lines = aggnet_vector_block(&m->shape);
	left = m->shape.elements - result_offset(m, e);
	return left < lines ? left : lines;
}

bool result_get(const struct merge *m, const struct merge_entry *e, uint32_t i,
		struct aggnet_best *best, struct aggnet_entry *line)
{
	*line = (struct aggnet_entry){ .key = e->key, .klen = e->klen };
	if (merge_dense(m))
		*line = (struct aggnet_entry){
			.offset = result_offset(m, e) + i
		};
	switch (aggnet_shape_kind(&m->shape)) {
	case AGGNET_KIND_BLOCK:
		return plain_get(&m->shape, (const struct aggnet_value *)
				 e->accum + i, line);
	case AGGNET_KIND_MEAN:
		return mean_get(&m->shape, e->accum, line);
	case AGGNET_KIND_PAIRS:
		return pairs_get(&m->shape, e->accum, best, line);
	case AGGNET_KIND_FLOAT_SUM:
		return sum_get(&m->shape, e->accum, line);
	default:
		return plain_get(&m->shape, &e->value, line);
	}
}

const struct merge_entry *result_overflow(const struct merge *m)
{
	struct aggnet_best best[AGGNET_K_MAX];
	const struct merge_entry *e;
	struct aggnet_entry line;
	uint32_t i;

	for (e = m->entry; e < m->entry + m->n; e++)
		for (i = 0; i < result_lines(m, e); i++)
			if (!result_get(m, e, i, best, &line))
				return e;
	return NULL;
}

/* Pairs are kept in the order of their ranks, the least rank is the best. */
static int pairs_compare(const struct aggnet_pairs *a,
			 const struct aggnet_pairs *b)
{
	int64_t x = a->n ? a->pair[0].rank : INT64_MAX;
	int64_t y = b->n ? b->pair[0].rank : INT64_MAX;

	return (x > y) - (x < y);
}

/* The order of aggnet_float_order(): -0 before 0, a NaN after all else. */
static int real_compare(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	if (a == b)
		return !!signbit(b) - !!signbit(a);
	return a < b ? -1 : 1;
}

static int value_compare(const struct aggnet_entry *a,
			 const struct aggnet_entry *b)
{
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return real_compare(a->real, b->real);
}

/* The better line first; of equal ones the one with the lesser key. */
static int rank_compare(const void *a, const void *b, void *merge)
{
	const struct merge_entry *x = a, *y = b;
	const struct merge *m = merge;
	struct aggnet_entry line[2];
	int diff;

	if (aggnet_shape_kind(&m->shape) == AGGNET_KIND_PAIRS) {
		diff = pairs_compare(x->accum, y->accum);
	} else {
		result_get(m, x, 0, NULL, &line[0]);
		result_get(m, y, 0, NULL, &line[1]);
		diff = value_compare(&line[1], &line[0]);
	}
	return diff ? diff : merge_compare(x, y);
}

void result_rank(struct merge *m)
{
	if (m->n)
		qsort_r(m->entry, m->n, sizeof(*m->entry), rank_compare, m);
}
