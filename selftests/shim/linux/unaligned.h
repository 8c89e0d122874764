/* SPDX-License-Identifier: GPL-2.0 */
/* Unaligned access in either byte order. */
#ifndef _SHIM_LINUX_UNALIGNED_H
#define _SHIM_LINUX_UNALIGNED_H

#include <asm/byteorder.h>
#include <linux/types.h>
#include <string.h>

#define SHIM_UNALIGNED(bits, order)					\
static inline u##bits get_unaligned_##order##bits(const void *p)	\
{									\
	u##bits v;							\
									\
	memcpy(&v, p, sizeof(v));					\
	return order##bits##_to_cpu(v);					\
}									\
									\
static inline void put_unaligned_##order##bits(u##bits v, void *p)	\
{									\
	v = cpu_to_##order##bits(v);					\
	memcpy(p, &v, sizeof(v));					\
}

SHIM_UNALIGNED(16, be)
SHIM_UNALIGNED(32, be)
SHIM_UNALIGNED(64, be)
SHIM_UNALIGNED(16, le)
SHIM_UNALIGNED(32, le)
SHIM_UNALIGNED(64, le)
#undef SHIM_UNALIGNED

#endif /* _SHIM_LINUX_UNALIGNED_H */
