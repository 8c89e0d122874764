/* SPDX-License-Identifier: GPL-2.0 */
/* Milliseconds of a clock that is never set. */
#ifndef AGGCTL_MONOTONIC_H
#define AGGCTL_MONOTONIC_H

#include <stdint.h>

/* Return: milliseconds of CLOCK_MONOTONIC */
int64_t monotonic_ms(void);

/* Return: milliseconds until @end, which is such a time; 0 if it has passed */
int monotonic_left(int64_t end);

#endif
