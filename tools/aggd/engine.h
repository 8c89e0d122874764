/* SPDX-License-Identifier: GPL-2.0 */
/* Processes of aggctl: they run without a shell, a bounded number at a time. */
#ifndef AGGD_ENGINE_H
#define AGGD_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#define ENGINE_SILENT	-2	/* status of a process that was killed as the store is silent */

struct child;

/**
 * engine_start() - run aggctl
 * @argv: its arguments; the first one is the path
 * @out: file for its output, which is made for its owner only; NULL: none
 * @ended: called from the loop when it has ended, unless engine_forget() was called:
 *	its exit status, -1 if a signal ended it, or ENGINE_SILENT, and what it has written to standard error
 * @arg: for @ended
 *
 * Return: the process; NULL with errno
 */
struct child *engine_start(char *const argv[], const char *out,
			   void (*ended)(void *arg, int status, const char *text),
			   void *arg);

/* May another one be started? */
bool engine_has_room(void);

/* Kill it; @ended is called with status -1. */
void engine_kill(struct child *c);

/* Kill all, as the store is silent. */
void engine_kill_all(void);

/* Kill all, without @ended, and wait for a bounded time. Return: have they ended? */
bool engine_end_all(void);

/* Kill those that take too long. Return: ms until there may be one; -1: none runs */
int64_t engine_tick(int64_t now);

#endif
