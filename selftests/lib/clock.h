/* SPDX-License-Identifier: GPL-2.0 */
/* Milliseconds of a clock that is never set. */
#ifndef LIB_CLOCK_H
#define LIB_CLOCK_H

#include <time.h>

static inline long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
