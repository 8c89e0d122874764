// SPDX-License-Identifier: GPL-2.0
// The kernel functions that the pure cores call, for userspace: allocation
// with planned failures, SipHash, CRC32C, repeatable random numbers.

#include <linux/bitops.h>
#include <linux/crc32c.h>
#include <linux/errno.h>
#include <linux/random.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include "../lib/random.h"
#include "mem.h"

unsigned long shim_alloc_fail;
long shim_alloc_live;

static bool alloc_fails(void)
{
	return shim_alloc_fail && --shim_alloc_fail == 0;
}

void *shim_alloc(size_t size, gfp_t gfp)
{
	void *p;

	if (alloc_fails())
		return NULL;
	p = gfp & __GFP_ZERO ? calloc(1, size) : malloc(size);
	if (p)
		shim_alloc_live++;
	return p;
}

void shim_free(const void *p)
{
	if (p)
		shim_alloc_live--;
	free((void *)p);
}

void *aggnet_zalloc(size_t size, gfp_t gfp)
{
	return shim_alloc(size, gfp | __GFP_ZERO);
}

void aggnet_free(void *p)
{
	shim_free(p);
}

/*
 * There is one group; a reference that is not dropped counts as leaked memory.
 */
struct mem_cgroup *aggnet_payer_get(void)
{
	shim_alloc_live++;
	return (struct mem_cgroup *)&shim_alloc_live;
}

void aggnet_payer_put(struct mem_cgroup *payer)
{
	shim_alloc_live -= !!payer;
}

struct mem_cgroup *aggnet_payer_set(struct mem_cgroup *payer)
{
	return payer;
}

ssize_t strscpy(char *dst, const char *src, size_t size)
{
	size_t len = strnlen(src, size);

	if (!size)
		return -E2BIG;
	if (len == size) {
		memcpy(dst, src, size - 1);
		dst[size - 1] = '\0';
		return -E2BIG;
	}
	memcpy(dst, src, len + 1);
	return len;
}

void memzero_explicit(void *p, size_t size)
{
	memset(p, 0, size);
	__asm__ __volatile__("" : : "r"(p) : "memory");
}

u32 crc32c(u32 crc, const void *data, unsigned int len)
{
	const u8 *p = data;
	int bit;

	while (len--) {
		crc ^= *p++;
		for (bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return crc;
}

/*
 * Rounds are constants and the loops are unrolled, as in the kernel: the programs
 * that the module is compared with use this, too.
 */
static __always_inline void sip_rounds(u64 v[4], int rounds)
{
#pragma GCC unroll 4
	while (rounds--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rol64(v[1], 13) ^ v[0];
		v[3] = rol64(v[3], 16) ^ v[2];
		v[0] = rol64(v[0], 32) + v[3];
		v[2] += v[1];
		v[3] = rol64(v[3], 21) ^ v[0];
		v[1] = rol64(v[1], 17) ^ v[2];
		v[2] = rol64(v[2], 32);
	}
}

static __always_inline void sip_word(u64 v[4], u64 m, int rounds)
{
	v[3] ^= m;
	sip_rounds(v, rounds);
	v[0] ^= m;
}

static __always_inline u64 sip(const u8 *p, size_t len, u64 k0, u64 k1, int c,
			       int d)
{
	u64 v[4] = {
		k0 ^ 0x736f6d6570736575ull, k1 ^ 0x646f72616e646f6dull,
		k0 ^ 0x6c7967656e657261ull, k1 ^ 0x7465646279746573ull,
	};
	u64 last = (u64)len << 56;
	size_t left = len;

	for (; left >= 8; left -= 8, p += 8)
		sip_word(v, get_unaligned_le64(p), c);
	while (left--)
		last |= (u64)p[left] << (8 * left);
	sip_word(v, last, c);
	v[2] ^= 0xff;
	sip_rounds(v, d);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

u64 siphash(const void *data, size_t len, const siphash_key_t *key)
{
	return sip(data, len, key->key[0], key->key[1], 2, 4);
}

u32 hsiphash(const void *data, size_t len, const hsiphash_key_t *key)
{
	u64 hash = sip(data, len, key->key[0], key->key[1], 1, 3);

	return hash ^ (hash >> 32);
}

u64 siphash_3u64(u64 a, u64 b, u64 c, const siphash_key_t *key)
{
	__le64 w[3] = { cpu_to_le64(a), cpu_to_le64(b), cpu_to_le64(c) };

	return siphash(w, sizeof(w), key);
}

u64 siphash_1u64(u64 a, const siphash_key_t *key)
{
	__le64 w = cpu_to_le64(a);

	return siphash(&w, sizeof(w), key);
}

static unsigned long long random_state = 1;

void shim_random_seed(u64 seed)
{
	random_state = seed;
}

u64 get_random_u64(void)
{
	return splitmix64(&random_state);
}

u32 get_random_u32(void)
{
	return get_random_u64() >> 32;
}

void get_random_bytes(void *buf, size_t len)
{
	u8 *p = buf;

	while (len--)
		*p++ = get_random_u64() >> 56;
}
