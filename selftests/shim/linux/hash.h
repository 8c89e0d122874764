/* SPDX-License-Identifier: GPL-2.0 */
/* Multiplicative hashing. */
#ifndef _SHIM_LINUX_HASH_H
#define _SHIM_LINUX_HASH_H

#include <linux/types.h>

static inline u32 hash_64(u64 val, unsigned int bits)
{
	return (val * 0x61c8864680b583ebull) >> (64 - bits);
}

#endif /* _SHIM_LINUX_HASH_H */
