/* SPDX-License-Identifier: GPL-2.0 */
/* The C library's; isascii() accepts the same in both. */
#ifndef _SHIM_LINUX_CTYPE_H
#define _SHIM_LINUX_CTYPE_H

#include <ctype.h>

#endif /* _SHIM_LINUX_CTYPE_H */
