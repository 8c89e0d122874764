/* SPDX-License-Identifier: GPL-2.0 */
/* String functions that libc lacks. */
#ifndef _SHIM_LINUX_STRING_H
#define _SHIM_LINUX_STRING_H

#include <linux/types.h>
#include <string.h>

ssize_t strscpy(char *dst, const char *src, size_t size);
void memzero_explicit(void *p, size_t size);

#endif /* _SHIM_LINUX_STRING_H */
