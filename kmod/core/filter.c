// SPDX-License-Identifier: GPL-2.0
/* Bloom filter of a packet's path, carried by the packet: read, never written. */
#include <linux/types.h>

#include "core/filter.h"

u64 aggnet_filter_key(u64 incast_id, u8 salt)
{
	u64 h = incast_id ^ (u64)salt << 56;

	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL;
	h = (h ^ h >> 32) * 0x94d049bb133111ebULL;
	return h ^ h >> 31;
}

bool aggnet_filter_ok(const struct aggnet_filter *f, size_t size)
{
	u32 bits = aggnet_filter_bits(f), digits = aggnet_filter_digits(f);
	const u8 *byte = (const u8 *)(f + 1);
	size_t i;

	if (bits < AGGNET_FILTER_BITS_MIN ||
	    aggnet_filter_size(bits, digits) != size)
		return false;
	if (bits % 8 && byte[bits / 8] >> bits % 8)
		return false;
	for (i = (bits + 7) / 8 + digits; i < size - sizeof(*f); i++)
		if (byte[i])
			return false;
	return true;
}

bool aggnet_filter_test(const struct aggnet_filter *f, u64 key, u64 name)
{
	struct aggnet_filter_walk w = aggnet_filter_start(key, name);
	const u8 *byte = (const u8 *)(f + 1);
	u32 bits = aggnet_filter_bits(f);
	u8 n, hashes = aggnet_filter_hashes(f);

	for (n = 0; n < hashes; n++) {
		u32 bit = aggnet_filter_next(&w, bits);

		if (!(byte[bit / 8] >> bit % 8 & 1))
			return false;
	}
	return hashes;
}

int aggnet_filter_digit(const struct aggnet_filter *f, u8 level)
{
	const u8 *digit = (const u8 *)(f + 1) + (aggnet_filter_bits(f) + 7) / 8;

	return level < aggnet_filter_digits(f) ? digit[level] : -1;
}
