/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's. */
#ifndef _SHIM_LINUX_SORT_H
#define _SHIM_LINUX_SORT_H

#include <stdlib.h>

#define sort(base, n, size, cmp, swap)	qsort(base, n, size, cmp)

#endif /* _SHIM_LINUX_SORT_H */
