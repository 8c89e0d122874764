// SPDX-License-Identifier: GPL-2.0
/* Layout: which elements of a collective go where. */
#include "agree.h"
#include "core/vector.h"
#include "layout.h"

/**
 * struct kind - a kind of collective
 * @name: for sentences
 * @data: it has elements of the callers
 * @root: it has a root
 * @merges: each rank gives elements, and those of all are merged
 * @gathers: each rank gives a part of the result
 * @split: a rank takes a part only
 * @all: all ranks take something, and not only the root
 */
static const struct kind {
	const char *name;
	bool data;
	bool root;
	bool merges;
	bool gathers;
	bool split;
	bool all;
} kinds[LAYOUT_KINDS] = {
	[AGGNET_COLL_BARRIER] = { .name = "barrier" },
	[AGGNET_COLL_BROADCAST] = { .name = "broadcast", .data = true, .root = true,
				    .all = true },
	[AGGNET_COLL_SCATTER] = { .name = "scatter", .data = true, .root = true,
				  .split = true, .all = true },
	[AGGNET_COLL_GATHER] = { .name = "gather", .data = true, .root = true,
				 .gathers = true },
	[AGGNET_COLL_ALLGATHER] = { .name = "allgather", .data = true, .gathers = true,
				    .all = true },
	[AGGNET_COLL_REDUCE] = { .name = "reduce", .data = true, .root = true,
				 .merges = true },
	[AGGNET_COLL_REDUCE_SCATTER] = { .name = "reduce_scatter", .data = true,
					 .merges = true, .split = true,
					 .all = true },
	[AGGNET_COLL_ALLREDUCE] = { .name = "allreduce", .data = true, .merges = true,
				    .all = true },
	[LAYOUT_OPEN] = { .name = "open", .gathers = true },
	[LAYOUT_FINISH] = { .name = "finish" },
};

static const struct kind *kind_get(uint32_t kind)
{
	static const struct kind unknown = { .name = "unknown" };

	return kind < LAYOUT_KINDS ? &kinds[kind] : &unknown;
}

const char *layout_name(uint32_t kind)
{
	return kind_get(kind)->name;
}

bool layout_has_data(uint32_t kind)
{
	return kind_get(kind)->data;
}

bool layout_has_root(uint32_t kind)
{
	return kind_get(kind)->root;
}

uint32_t layout_size(uint32_t vtype)
{
	return vtype == AGGNET_VTYPE_INT32 || vtype == AGGNET_VTYPE_FLOAT32 ?
	       4 : 8;
}

/*
 * A sum of a single real may lose the sign of 0, or what a NaN carries, so reals that
 * are only moved are carried by two integers of half their bits.
 */
static uint32_t carriers(const struct aggnet_shape *shape,
			 const struct kind *k)
{
	return aggnet_vtype_float(shape->vtype) && !k->merges ? 2 : 1;
}

void layout_set(struct layout *l, const struct aggnet_shape *shape,
		uint32_t kind, uint64_t count, uint32_t root, uint32_t rank,
		uint32_t ranks)
{
	const struct kind *k = kind_get(kind);
	uint32_t block = aggnet_vector_block(shape);
	bool one = k->data && !k->merges && !k->gathers;

	/* A part for each rank, if there is room: a number that is missing is found. */
	if (kind == LAYOUT_OPEN)
		count = layout_max(shape, kind, ranks) ? 1 : 0;
	*l = (struct layout){ .size = layout_size(shape->vtype),
			      .carriers = carriers(shape, k),
			      .parts = k->gathers ? ranks : 1 };
	if (!k->data && !k->gathers)
		return;
	l->length = k->split ? count * ranks : count;
	l->stride = (l->length * l->carriers + block - 1) / block * block;
	/* Rank 0 need not send itself what goes down. */
	l->up = !one || root;
	l->gives = one ? root && rank == root : true;
	l->givers = one ? root != 0 : ranks;
	l->part = k->gathers ? rank : 0;
	l->down = k->all || root;
	if (k->split)
		l->first = count * rank;
	if (k->split)
		l->takes = count;
	else if (k->all || (k->data && rank == root))
		l->takes = layout_result(l);
}

uint64_t layout_max(const struct aggnet_shape *shape, uint32_t kind,
		    uint32_t ranks)
{
	const struct kind *k = kind_get(kind);
	uint64_t room = shape->elements < AGREE_ELEMENTS ? 0 :
			shape->elements - AGREE_ELEMENTS;
	uint32_t block = aggnet_vector_block(shape);

	/* Each part begins with a block of its own. */
	if (k->gathers)
		room = room / ranks / block * block;
	if (k->split)
		room /= ranks;
	return room / carriers(shape, k);
}

uint64_t layout_find(const struct layout *l, uint64_t element,
		     uint32_t *carrier)
{
	uint64_t part, at;

	if (!l->up || !l->stride)
		return UINT64_MAX;
	part = element / l->stride;
	at = element % l->stride;
	*carrier = at % l->carriers;
	at /= l->carriers;
	return part < l->parts && at < l->length ? part * l->length + at :
						   UINT64_MAX;
}
