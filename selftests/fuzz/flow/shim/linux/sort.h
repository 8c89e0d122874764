/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's. */
#ifndef _FLOW_LINUX_SORT_H
#define _FLOW_LINUX_SORT_H

#include <stdlib.h>

#define sort(base, n, size, cmp, swap)	qsort(base, n, size, cmp)

#endif /* _FLOW_LINUX_SORT_H */
