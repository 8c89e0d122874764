/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process that kills children of this one when this one does not say in time that they
 * may go on: it may be stopped, or wait for a disk, while another aggd leads.
 */
#ifndef AGGD_WATCHDOG_H
#define AGGD_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#include "aggd.h"

/*
 * Start it, before the state is opened, as it must not keep it: for @n children.
 * Return: 0, or -1 with @why
 */
int watchdog_start(uint32_t n, struct text *why);

/* Is there one? It ends when this process ends, and kills its children then. */
bool watchdog_runs(void);

/* Return: a descriptor with EPOLLERR when the watchdog has ended */
int watchdog_fd(void);

/* Children may go on until then, of now_ms(). */
void watchdog_feed(int64_t until);

/* Return: a number for a child, of which there are less than @n; without a watchdog 0 */
uint32_t watchdog_take(void);

/*
 * In a child with this number, before its program runs: it and its process group are
 * watched. Return: may the program run?
 */
bool watchdog_enter(uint32_t number);

/* The child has ended, and is not waited for yet. Return: was it killed? */
bool watchdog_leave(uint32_t number);

#endif
