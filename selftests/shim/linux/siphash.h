/* SPDX-License-Identifier: GPL-2.0 */
/* SipHash-2-4 and HalfSipHash's 64-bit stand-in, SipHash-1-3. */
#ifndef _SHIM_LINUX_SIPHASH_H
#define _SHIM_LINUX_SIPHASH_H

#include <linux/types.h>

typedef struct {
	u64 key[2];
} siphash_key_t;

typedef struct {
	unsigned long key[2];
} hsiphash_key_t;

u64 siphash(const void *data, size_t len, const siphash_key_t *key);
u64 siphash_1u64(u64 a, const siphash_key_t *key);
u64 siphash_3u64(u64 a, u64 b, u64 c, const siphash_key_t *key);
u32 hsiphash(const void *data, size_t len, const hsiphash_key_t *key);

#endif /* _SHIM_LINUX_SIPHASH_H */
