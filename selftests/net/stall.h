/* SPDX-License-Identifier: GPL-2.0 */
/* Did the host keep a CPU from its threads? A thread on each CPU looks. */
#ifndef NET_STALL_H
#define NET_STALL_H

#include <stdint.h>

/*
 * Begin to look, once in each process, before it enters the network namespace of
 * a node: the threads hold the one in which they start. Exits on an error.
 */
void stall_watch(void);

/* Begin anew. */
void stall_forget(void);

/* The longest time, in ms, for which a CPU ran no thread, even if it lasts. */
int64_t stall_longest(void);

#endif
