// SPDX-License-Identifier: GPL-2.0
/* Element: the bits of a value in memory, and as bytes of a message, the least
 * significant one first.
 */
#include <string.h>

#include "group.h"
#include "word.h"

uint64_t element_get(const void *at, uint32_t size)
{
	uint64_t bits;
	uint32_t half;

	if (size == sizeof(bits)) {
		memcpy(&bits, at, sizeof(bits));
		return bits;
	}
	memcpy(&half, at, sizeof(half));
	return half;
}

void element_put(void *at, uint64_t bits, uint32_t size)
{
	uint32_t half = (uint32_t)bits;

	if (size == sizeof(bits))
		memcpy(at, &bits, sizeof(bits));
	else
		memcpy(at, &half, sizeof(half));
}

void element_host(uint8_t *at, uint64_t n, uint32_t size)
{
	const uint16_t one = 1;

	/* A host with the least significant byte first has them already. */
	if (*(const uint8_t *)&one)
		return;
	for (; n--; at += size)
		element_put(at, word_get(at, size), size);
}
