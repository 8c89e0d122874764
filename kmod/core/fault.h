/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults that a test plants in a merge, to see that the end-to-end checks detect
 * them. Only builds for tests (AGGNET_FAULTS) have them.
 */
#ifndef _AGGNET_FAULT_H
#define _AGGNET_FAULT_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

struct aggnet_shape;

/**
 * enum aggnet_fault - a fault of the next merge, once
 * @AGGNET_FAULT_NONE: no fault
 * @AGGNET_FAULT_DROP: the merge is skipped
 * @AGGNET_FAULT_DOUBLE: the merge is done twice
 * @AGGNET_FAULT_FLIP: a bit of the merged value is inverted
 *
 * It strikes the last record of the next packet that is merged, or of the next
 * records of a local writer. The counted units do not change.
 */
enum aggnet_fault {
	AGGNET_FAULT_NONE,
	AGGNET_FAULT_DROP,
	AGGNET_FAULT_DOUBLE,
	AGGNET_FAULT_FLIP,
	__AGGNET_FAULT_MAX
};

#ifdef AGGNET_FAULTS

/* Take the planted fault at @from (NULL: never one). Return: enum aggnet_fault. */
static inline u32 aggnet_fault_take(u32 *from)
{
	return from && READ_ONCE(*from) ? xchg(from, AGGNET_FAULT_NONE) :
					  AGGNET_FAULT_NONE;
}

/**
 * aggnet_fault_flip() - invert a bit of an accumulator
 * @shape: of the tree
 * @accum: of at least one record; changed so that the result differs
 */
void aggnet_fault_flip(const struct aggnet_shape *shape, void *accum);

/* As aggnet_fault_take(), of a table or of runs. */
#define aggnet_fault_of(buffer) aggnet_fault_take((buffer)->fault)

/* The faults of a table, or of runs, are planted at @from. */
#define aggnet_fault_from(buffer, from) ((void)((buffer)->fault = (from)))

#else

#define aggnet_fault_of(buffer) AGGNET_FAULT_NONE
#define aggnet_fault_from(buffer, from) do { } while (0)
#define aggnet_fault_flip(shape, accum) do { } while (0)

#endif

#endif /* _AGGNET_FAULT_H */
