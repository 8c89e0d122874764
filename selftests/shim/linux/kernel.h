/* SPDX-License-Identifier: GPL-2.0 */
/* Small arithmetic and array helpers. */
#ifndef _SHIM_LINUX_KERNEL_H
#define _SHIM_LINUX_KERNEL_H

#include <limits.h>
#include <linux/bits.h>
#include <linux/bug.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/types.h>

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#endif
#define ALIGN(x, a)		(((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))
#define round_up(x, y)		ALIGN(x, y)

#define U8_MAX	((u8)~0U)
#define U16_MAX	((u16)~0U)
#define U32_MAX	((u32)~0U)
#define S32_MAX	((s32)(U32_MAX >> 1))
#define U64_MAX	((u64)~0ULL)
#define S64_MAX	((s64)(U64_MAX >> 1))
#define S64_MIN	((s64)(-S64_MAX - 1))

#endif /* _SHIM_LINUX_KERNEL_H */
