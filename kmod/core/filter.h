/* SPDX-License-Identifier: GPL-2.0 */
/* Bloom filter of a packet's way, carried by the packet (paper 000, 4.3). Pure.
 */
#ifndef _AGGNET_FILTER_H
#define _AGGNET_FILTER_H

#include <linux/types.h>

#include <linux/aggnet_packet.h>

#define AGGNET_FILTER_HASHES_MAX	15
#define AGGNET_FILTER_DIGITS_MAX	15

static inline u32 aggnet_filter_bits(const struct aggnet_filter *f)
{
	const u8 *at = (const u8 *)&f->bits;

	return (u32)at[0] << 8 | at[1];
}

static inline u8 aggnet_filter_hashes(const struct aggnet_filter *f)
{
	return f->hashes_digits & 0x0f;
}

static inline u8 aggnet_filter_digits(const struct aggnet_filter *f)
{
	return f->hashes_digits >> 4;
}

static inline bool aggnet_filter_spent(const struct aggnet_filter *f)
{
	return !aggnet_filter_hashes(f);
}

/*
 * Mark the filter as spent: plain IP carries the packet, and nodes ignore the
 * filter.
 */
static inline void aggnet_filter_spend(struct aggnet_filter *f)
{
	f->hashes_digits &= 0xf0;
}

/* Bytes of a filter with its padding. */
static inline size_t aggnet_filter_size(u32 bits, u32 digits)
{
	size_t bytes = sizeof(struct aggnet_filter) + (bits + 7) / 8 + digits;

	return (bytes + AGGNET_FILTER_UNIT - 1) / AGGNET_FILTER_UNIT *
	       AGGNET_FILTER_UNIT;
}

/**
 * struct aggnet_filter_walk - the positions of a link's name, one by one
 * @at: next position, of 2^32
 * @step: to the one after it
 * @turn: how many have been taken
 *
 * Enhanced double hashing, as in a link's Bloom table. The number of bits is
 * arbitrary, so a position is scaled by a product instead of a mask. Its high bits
 * matter therefore, and the step grows in its high bits.
 */
struct aggnet_filter_walk {
	u32 at;
	u32 step;
	u32 turn;
};

/* @key: aggnet_filter_key() */
static inline struct aggnet_filter_walk aggnet_filter_start(u64 key, u64 name)
{
	u64 h = key ^ name;

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93ULL;
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93ULL;
	h ^= h >> 32;
	return (struct aggnet_filter_walk){
		.at = (u32)h, .step = (u32)(h >> 32),
	};
}

#define AGGNET_FILTER_GROWTH	0x9e3779b9u

static inline u32 aggnet_filter_next(struct aggnet_filter_walk *w, u32 bits)
{
	u32 bit = (u64)w->at * bits >> 32;

	w->at += w->step;
	w->step += ++w->turn * AGGNET_FILTER_GROWTH;
	return bit;
}

/* Key that is mixed with names: a link has other positions in each tree. */
u64 aggnet_filter_key(u64 incast_id, u8 salt);

/**
 * aggnet_filter_ok() - is a filter well formed?
 * @f: at least AGGNET_FILTER_UNIT bytes
 * @size: its bytes by the header, a multiple of AGGNET_FILTER_UNIT
 *
 * The filter has exactly @size bytes, and unused bits and bytes are zero.
 */
bool aggnet_filter_ok(const struct aggnet_filter *f, size_t size);

/**
 * aggnet_filter_test() - may a link be on the packet's path?
 * @f: aggnet_filter_ok() passed it
 * @key: aggnet_filter_key() of the packet
 * @name: the link's
 *
 * Return: true for each link of the path, and for others by chance; false for all if
 * the filter is spent
 */
bool aggnet_filter_test(const struct aggnet_filter *f, u64 key, u64 name);

/* The receiver's digit of a level, -1: the filter does not have it. */
int aggnet_filter_digit(const struct aggnet_filter *f, u8 level);

#endif /* _AGGNET_FILTER_H */
