/* SPDX-License-Identifier: GPL-2.0 */
/* A kernel with checkers takes ten times as long, or more where packets are many. */
#ifndef SLOW_KERNEL_H
#define SLOW_KERNEL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Of the guest; the one that runs on a host is not. */
static inline bool slow_kernel(void)
{
	const char *kernel = getenv("KERNEL");

	return kernel && (!strcmp(kernel, "debug") || !strcmp(kernel, "kcsan"));
}

#endif /* SLOW_KERNEL_H */
