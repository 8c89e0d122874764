/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's. */
#ifndef _SHIM_LINUX_BSEARCH_H
#define _SHIM_LINUX_BSEARCH_H

#include <stdlib.h>

#endif /* _SHIM_LINUX_BSEARCH_H */
