/* SPDX-License-Identifier: GPL-2.0 */
/* Tests take ten times as long on a kernel with checkers, or longer with many
 * packets.
 */
#ifndef SLOW_KERNEL_H
#define SLOW_KERNEL_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Is the guest's kernel such a one? The programs that run on the host ignore
 * it.
 */
static inline bool slow_kernel(void)
{
	const char *kernel = getenv("KERNEL");

	return kernel && (!strcmp(kernel, "debug") || !strcmp(kernel, "kcsan"));
}

#endif /* SLOW_KERNEL_H */
