/* SPDX-License-Identifier: GPL-2.0 */
/* A userspace combiner: sort -m | sum over TCP. Each source and each combiner has a
 * connection to its parent and sends records in the order of their keys; a combiner
 * adds up the values of equal keys as they arrive.
 */
#ifndef LIVE_COMBINER_H
#define LIVE_COMBINER_H

#include "load.h"

/* Send the records of a source, and wait until the parent has closed. */
bool combiner_source(int fd, const struct load *load, uint32_t source);

/*
 * Merge so many connections of the listener. The result goes to @fd as that of a
 * source does, or to @check if that is not NULL.
 */
bool combiner_merge(int listener, uint32_t inputs, int fd,
		    struct load_check *check);

#endif
