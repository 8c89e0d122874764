/* SPDX-License-Identifier: GPL-2.0 */
/* Each collective of a group, compared byte for byte with what each rank must get. */
#ifndef LIB_COLLECTIVES_H
#define LIB_COLLECTIVES_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/libaggnet/aggnet_coll.h"
#include "random.h"

/**
 * struct vectors - of one rank
 * @c: of the group
 * @count: elements of a collective
 * @size: bytes of an element
 * @bytes: of each vector, which has room for the parts of all ranks
 * @send: given
 * @recv: got
 * @want: what @recv must be
 */
struct vectors {
	const struct aggnet_group_conf *c;
	uint32_t count;
	uint32_t size;
	size_t bytes;
	uint8_t *send;
	uint8_t *recv;
	uint8_t *want;
};

static inline void vectors_begin(struct vectors *v,
				 const struct aggnet_group_conf *c,
				 uint32_t count)
{
	v->c = c;
	v->count = count;
	v->size = c->vtype == AGGNET_VTYPE_INT32 ||
		  c->vtype == AGGNET_VTYPE_FLOAT32 ? 4 : 8;
	v->bytes = (size_t)count * c->ranks * v->size;
	v->send = calloc(3, v->bytes);
	if (!v->send)
		abort();
	v->recv = v->send + v->bytes;
	v->want = v->recv + v->bytes;
}

static inline void vectors_end(struct vectors *v)
{
	free(v->send);
}

/* Compare, and begin again with zeros. */
static inline int vectors_check(struct vectors *v, int err)
{
	if (!err && memcmp(v->recv, v->want, v->bytes))
		err = -EILSEQ;
	memset(v->recv, 0, v->bytes);
	memset(v->want, 0, v->bytes);
	return err;
}

/* --- elements that are moved: any bits ------------------------------------------- */

/* Also those of -0 and of a NaN. */
static inline uint64_t vectors_bits(uint32_t giver, uint32_t i)
{
	unsigned long long state = giver * 1000003ull + i;

	if (i == 3)
		return 0x8000000080000000ull;
	if (i == 4)
		return 0x7ff000017fa00001ull;
	return splitmix64(&state);
}

/* Elements @from on of a giver as the elements @at on. */
static inline void vectors_give(const struct vectors *v, uint8_t *to, uint32_t at,
				uint32_t giver, uint32_t from, uint32_t n)
{
	uint32_t i, bits32;
	uint64_t bits;

	for (i = 0; i < n; i++) {
		bits = vectors_bits(giver, from + i);
		bits32 = (uint32_t)bits;
		if (v->size == 8)
			memcpy(to + (at + i) * 8, &bits, 8);
		else
			memcpy(to + (at + i) * 4, &bits32, 4);
	}
}

static inline int moves_all(struct vectors *v, struct aggnet_group *g,
			    uint32_t root)
{
	bool mine = v->c->rank == root;
	uint32_t n = v->count, r;
	int err;

	vectors_give(v, v->send, 0, v->c->rank, 0, n);
	for (r = 0; r < v->c->ranks; r++)
		vectors_give(v, v->want, r * n, r, 0, n);
	err = vectors_check(v, aggnet_allgather(g, v->send, v->recv, n));
	for (r = 0; mine && r < v->c->ranks; r++)
		vectors_give(v, v->want, r * n, r, 0, n);
	return err ? err : vectors_check(v, aggnet_gather(g, v->send, mine ?
							  v->recv : NULL, n,
							  root));
}

static inline int moves_one(struct vectors *v, struct aggnet_group *g,
			    uint32_t root)
{
	bool mine = v->c->rank == root;
	uint32_t n = v->count;
	int err;

	if (mine)
		vectors_give(v, v->recv, 0, 77, 0, n);
	vectors_give(v, v->want, 0, 77, 0, n);
	err = vectors_check(v, aggnet_broadcast(g, v->recv, n, root));
	vectors_give(v, v->send, 0, 78, 0, n * v->c->ranks);
	vectors_give(v, v->want, 0, 78, n * v->c->rank, n);
	return err ? err : vectors_check(v, aggnet_scatter(g, mine ? v->send :
							   NULL, v->recv, n,
							   root));
}

/* --- elements that are merged: their sums are exact in each type ------------------ */

static inline double vectors_number(uint32_t rank, uint32_t i)
{
	unsigned long long state = rank * 65537ull + i;

	return (double)(splitmix64(&state) % 2001) - 1000;
}

static inline double vectors_merged(const struct vectors *v, uint32_t i)
{
	double other, result = vectors_number(0, i);
	uint32_t r;

	for (r = 1; r < v->c->ranks; r++) {
		other = vectors_number(r, i);
		if (v->c->function == AGGNET_FN_SUM)
			result += other;
		else if (v->c->function == AGGNET_FN_MIN ? other < result :
							   other > result)
			result = other;
	}
	return result;
}

static inline void vectors_put(const struct vectors *v, uint8_t *to, uint32_t i,
			       double number)
{
	float single = (float)number;
	int64_t wide = (int64_t)number;
	int32_t narrow = (int32_t)number;
	const void *from = v->c->vtype == AGGNET_VTYPE_FLOAT64 ?
			   (const void *)&number :
			   v->c->vtype == AGGNET_VTYPE_FLOAT32 ? &single :
			   v->c->vtype == AGGNET_VTYPE_INT32 ?
			   (const void *)&narrow : &wide;

	memcpy(to + i * v->size, from, v->size);
}

/* Merged elements @from on as the first elements. */
static inline void vectors_expect(const struct vectors *v, uint32_t from)
{
	uint32_t i;

	for (i = 0; i < v->count; i++)
		vectors_put(v, v->want, i, vectors_merged(v, from + i));
}

static inline int merges_all(struct vectors *v, struct aggnet_group *g,
			     uint32_t root)
{
	bool mine = v->c->rank == root;
	uint32_t i, n = v->count;
	int err;

	for (i = 0; i < n * v->c->ranks; i++)
		vectors_put(v, v->send, i, vectors_number(v->c->rank, i));
	vectors_expect(v, 0);
	err = vectors_check(v, aggnet_allreduce(g, v->send, v->recv, n));
	vectors_expect(v, n * v->c->rank);
	if (!err)
		err = vectors_check(v, aggnet_reduce_scatter(g, v->send, v->recv,
							     n));
	if (mine)
		vectors_expect(v, 0);
	if (!err)
		err = vectors_check(v, aggnet_reduce(g, v->send, mine ? v->recv :
						     NULL, n, root));
	/* In place. */
	memcpy(v->recv, v->send, n * v->size);
	vectors_expect(v, 0);
	return err ? err : vectors_check(v, aggnet_allreduce(g, v->recv, v->recv,
							     n));
}

/**
 * collectives_reduce_one() - run and check an all-reduce of one element
 * @g: the group
 * @c: of the group, of integers of 64 bits
 * @i: number of the element
 */
static inline int collectives_reduce_one(struct aggnet_group *g,
					 const struct aggnet_group_conf *c,
					 uint32_t i)
{
	const struct vectors v = { .c = c };
	int64_t x = (int64_t)vectors_number(c->rank, i);
	int err = aggnet_allreduce(g, &x, &x, 1);

	return err ? err : x == (int64_t)vectors_merged(&v, i) ? 0 : -EILSEQ;
}

/**
 * collectives_run() - run and check each collective with each root
 * @g: the group
 * @c: of the group
 * @count: elements
 *
 * Return: 0, -EILSEQ: a vector is wrong, or the error of a collective
 */
static inline int collectives_run(struct aggnet_group *g,
				  const struct aggnet_group_conf *c,
				  uint32_t count)
{
	struct vectors v;
	uint32_t root;
	int err = 0;

	vectors_begin(&v, c, count);
	for (root = 0; !err && root < c->ranks; root++) {
		err = moves_all(&v, g, root);
		memset(v.send, 0, v.bytes);
		if (!err)
			err = moves_one(&v, g, root);
		if (!err)
			err = merges_all(&v, g, root);
		if (!err)
			err = aggnet_barrier(g);
		memset(v.send, 0, v.bytes);
	}
	vectors_end(&v);
	return err;
}

#endif
