/* SPDX-License-Identifier: GPL-2.0 */
/* Words of 1 to 8 bytes, the least significant byte first. */
#ifndef AGGNET_WORD_H
#define AGGNET_WORD_H

#include <stddef.h>
#include <stdint.h>

static inline void word_put(uint8_t *buf, uint64_t word, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		buf[i] = word >> (8 * i);
}

static inline uint64_t word_get(const uint8_t *buf, size_t size)
{
	uint64_t word = 0;

	while (size--)
		word = word << 8 | buf[size];
	return word;
}

#endif /* AGGNET_WORD_H */
