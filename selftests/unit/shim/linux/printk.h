/* SPDX-License-Identifier: GPL-2.0 */
/* Kernel messages go to stderr. */
#ifndef _SHIM_LINUX_PRINTK_H
#define _SHIM_LINUX_PRINTK_H

#include <stdio.h>

#define pr_err(...)	fprintf(stderr, __VA_ARGS__)
#define pr_warn(...)	fprintf(stderr, __VA_ARGS__)
#define pr_info(...)	fprintf(stderr, __VA_ARGS__)
#define pr_debug(...)	fprintf(stderr, __VA_ARGS__)

#endif /* _SHIM_LINUX_PRINTK_H */
