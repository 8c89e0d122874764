/* SPDX-License-Identifier: GPL-2.0 */
/* What differs between the kernels that are supported, told apart by feature. */
#ifndef _AGGNET_COMPAT_H
#define _AGGNET_COMPAT_H

/* The unaligned accessors moved out of asm/ in 6.12. */
#if __has_include("linux/unaligned.h")
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif

#endif /* _AGGNET_COMPAT_H */
