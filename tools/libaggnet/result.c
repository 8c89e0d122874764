// SPDX-License-Identifier: GPL-2.0
/* From the state of a key to what an application is given. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"
#include "round.h"
#include "vector.h"

static __int128 wide(const struct aggnet_value *v)
{
	return (int64_t)v->hi * ((__int128)1 << 64) + v->lo;
}

static bool is_real(const struct aggnet_shape *shape)
{
	return aggnet_vtype_real(shape->vtype) &&
	       shape->function != AGGNET_FN_COUNT;
}

/* What an integer stands for. */
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

/* Towards zero, as C divides; it fits, because each of the values did. */
static bool mean_get(const struct aggnet_shape *shape,
		     const struct aggnet_mean *mean, struct aggnet_entry *line)
{
	__int128 sum = wide(&mean->sum);

	line->count = mean->count;
	line->value = (int64_t)(sum / (__int128)mean->count);
	line->real = ldexp((double)sum / (double)mean->count, -shape->scale);
	return true;
}

static bool sum_get(const struct aggnet_shape *shape,
		    const struct aggnet_real_sum *sum,
		    struct aggnet_entry *line)
{
	bool fits = sum_round(sum, shape->vtype, &line->real);

	if (shape->function == AGGNET_FN_AVERAGE) {
		line->count = sum->count;
		line->real /= (double)sum->count;
	}
	return fits;
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
				 e->state + i, line);
	case AGGNET_KIND_MEAN:
		return mean_get(&m->shape, e->state, line);
	case AGGNET_KIND_PAIRS:
		return pairs_get(&m->shape, e->state, best, line);
	case AGGNET_KIND_REAL:
		return sum_get(&m->shape, e->state, line);
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

/* The value that lines are ranked by; of pairs the best one. */
static int rank_compare(const void *a, const void *b, void *merge)
{
	struct aggnet_best best[2][AGGNET_K_MAX];
	const struct merge_entry *x = a, *y = b;
	struct aggnet_entry line[2];

	result_get(merge, x, 0, best[0], &line[0]);
	result_get(merge, y, 0, best[1], &line[1]);
	if (line[0].value != line[1].value)
		return line[0].value < line[1].value ? 1 : -1;
	if (line[0].real != line[1].real)
		return line[0].real < line[1].real ? 1 : -1;
	return merge_compare(x, y);
}

void result_rank(struct merge *m)
{
	if (m->n)
		qsort_r(m->entry, m->n, sizeof(*m->entry), rank_compare, m);
}
