/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's names of integers, and its hints to the compiler, for cores that
 * are also built into the module.
 */
#ifndef AGGNET_KERNEL_H
#define AGGNET_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int32_t s32;
typedef int64_t s64;

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#endif /* AGGNET_KERNEL_H */
