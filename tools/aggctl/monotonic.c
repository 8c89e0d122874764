// SPDX-License-Identifier: GPL-2.0
/* Milliseconds, to wait until a point in time. */
#include <limits.h>
#include <time.h>

#include "monotonic.h"

int64_t monotonic_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int monotonic_left(int64_t end)
{
	int64_t left = end - monotonic_ms();

	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}
