// SPDX-License-Identifier: GPL-2.0
/* Collectives, as an application calls them. */
#include <errno.h>
#include <string.h>

#include "group.h"

uint32_t aggnet_group_rank(const struct aggnet_group *g)
{
	return g ? g->conf.rank : 0;
}

uint32_t aggnet_group_ranks(const struct aggnet_group *g)
{
	return g ? g->conf.ranks : 0;
}

size_t aggnet_group_max(const struct aggnet_group *g,
			enum aggnet_coll_kind kind)
{
	uint64_t max;

	if (g->conf.ranks <= 1 || !layout_has_data(kind))
		return SIZE_MAX / sizeof(uint64_t);
	max = layout_max(&g->shape, kind, g->conf.ranks);
	return max < SIZE_MAX ? (size_t)max : SIZE_MAX;
}

/* Does this rank give or take something? */
static int coll_check_buffers(struct aggnet_group *g, const struct layout *l,
			      const void *send, const void *recv)
{
	if (l->length && l->gives && !send)
		return group_fail(g, -EINVAL, "there is no buffer to send");
	if (l->takes && !recv)
		return group_fail(g, -EINVAL, "there is no buffer to receive");
	return 0;
}

/* Rank 0 sends down what it has; of that the vector up is no limit. */
static bool coll_fits(const struct aggnet_group *g, enum aggnet_coll_kind kind,
		      size_t count, const struct layout *l)
{
	if (l->up)
		return count <= aggnet_group_max(g, kind);
	return count <= SIZE_MAX / 2 / sizeof(uint64_t) / g->conf.ranks;
}

static int coll_check(struct aggnet_group *g, enum aggnet_coll_kind kind,
		      const void *send, const void *recv, size_t count,
		      uint32_t root)
{
	struct layout l;
	int err = group_free(g);

	if (err)
		return err;
	if ((unsigned int)kind > AGGNET_COLL_ALLREDUCE)
		return group_fail(g, -EINVAL, "unknown collective");
	if (root >= g->conf.ranks)
		return group_fail(g, -EINVAL, "root %u is not one of %u ranks",
				  root, g->conf.ranks);
	layout_set(&l, &g->shape, kind, count, root, g->conf.rank,
		   g->conf.ranks);
	if (!coll_fits(g, kind, count, &l))
		return group_fail(g, -EMSGSIZE,
				  "%s of %zu elements: this group has at most %zu (plan --elements)",
				  layout_name(kind), count,
				  aggnet_group_max(g, kind));
	if (kind == AGGNET_COLL_SCATTER || kind == AGGNET_COLL_BROADCAST)
		l.gives = g->conf.rank == root;
	return coll_check_buffers(g, &l, send, recv);
}

/* A group of one rank has the result at once. */
static void coll_alone(const struct aggnet_group *g, const void *send, void *recv,
		       size_t count)
{
	if (count && send != recv)
		memmove(recv, send, count * layout_size(g->conf.vtype));
}

int aggnet_coll_start(struct aggnet_group *g, enum aggnet_coll_kind kind,
		      const void *send, void *recv, size_t count, uint32_t root,
		      struct aggnet_coll **c)
{
	int err;

	*c = NULL;
	if (kind == AGGNET_COLL_BROADCAST)
		send = recv;
	if (!layout_has_data(kind))
		count = 0;
	if (!layout_has_root(kind))
		root = 0;
	err = coll_check(g, kind, send, recv, count, root);
	if (err)
		return err;
	if (g->conf.ranks == 1)
		coll_alone(g, send, recv, count);
	*c = group_start(g, kind, send, recv, count, root);
	return 0;
}

static int coll_run(struct aggnet_group *g, enum aggnet_coll_kind kind,
		    const void *send, void *recv, size_t count, uint32_t root)
{
	struct aggnet_coll *c;
	int err = aggnet_coll_start(g, kind, send, recv, count, root, &c);

	return err ? err : aggnet_coll_wait(c);
}

int aggnet_barrier(struct aggnet_group *g)
{
	return coll_run(g, AGGNET_COLL_BARRIER, NULL, NULL, 0, 0);
}

int aggnet_broadcast(struct aggnet_group *g, void *buf, size_t count,
		     uint32_t root)
{
	return coll_run(g, AGGNET_COLL_BROADCAST, NULL, buf, count, root);
}

int aggnet_scatter(struct aggnet_group *g, const void *send, void *recv,
		   size_t count, uint32_t root)
{
	return coll_run(g, AGGNET_COLL_SCATTER, send, recv, count, root);
}

int aggnet_gather(struct aggnet_group *g, const void *send, void *recv,
		  size_t count, uint32_t root)
{
	return coll_run(g, AGGNET_COLL_GATHER, send, recv, count, root);
}

int aggnet_allgather(struct aggnet_group *g, const void *send, void *recv,
		     size_t count)
{
	return coll_run(g, AGGNET_COLL_ALLGATHER, send, recv, count, 0);
}

int aggnet_reduce(struct aggnet_group *g, const void *send, void *recv,
		  size_t count, uint32_t root)
{
	return coll_run(g, AGGNET_COLL_REDUCE, send, recv, count, root);
}

int aggnet_reduce_scatter(struct aggnet_group *g, const void *send, void *recv,
			  size_t count)
{
	return coll_run(g, AGGNET_COLL_REDUCE_SCATTER, send, recv, count, 0);
}

int aggnet_allreduce(struct aggnet_group *g, const void *send, void *recv,
		     size_t count)
{
	return coll_run(g, AGGNET_COLL_ALLREDUCE, send, recv, count, 0);
}
