/* SPDX-License-Identifier: GPL-2.0 */
/* Did the host keep a CPU from running its threads? One thread on each CPU
 * measures it.
 */
#ifndef NET_STALL_H
#define NET_STALL_H

#include <stdint.h>

/*
 * Start to measure, once in a process and before it enters the network
 * namespace of a node: the threads hold the namespace in which they start.
 * Exits on an error.
 */
void stall_watch(void);

/* Start a new measurement. */
void stall_forget(void);

/*
 * The longest time, in ms, for which a CPU ran no thread, including one that
 * lasts.
 */
int64_t stall_longest(void);

#endif
