// SPDX-License-Identifier: GPL-2.0
/* Pairs: the k least (rank, id) of a key; of each id only the least rank. */
#include <linux/string.h>

#include "core/pairs.h"
#include "core/value.h"

static bool pair_before(const struct aggnet_pair *a,
			const struct aggnet_pair *b)
{
	return a->rank != b->rank ? a->rank < b->rank : a->id < b->id;
}

void aggnet_pairs_add(struct aggnet_pairs *pairs, u32 k,
		      const struct aggnet_pair *pair)
{
	struct aggnet_pair *at = pairs->pair;
	u32 place, out;

	if (pairs->n == k && !pair_before(pair, &at[k - 1]))
		return;
	for (place = 0; place < pairs->n; place++) {
		if (!pair_before(&at[place], pair))
			break;
		if (at[place].id == pair->id)
			return;
	}
	/* The pair to replace: a worse one of the same id, or the last. */
	for (out = place; out < pairs->n; out++)
		if (at[out].id == pair->id)
			break;
	if (out == pairs->n) {
		if (pairs->n == k)
			out--;
		else
			pairs->n++;
	}
	memmove(&at[place + 1], &at[place], (out - place) * sizeof(*at));
	at[place] = *pair;
}

static void word_put(u8 *buf, u64 word)
{
	int i;

	for (i = 0; i < 8; i++)
		buf[i] = word >> (8 * i);
}

struct aggnet_pair aggnet_pair_get(const u8 *buf)
{
	return (struct aggnet_pair){
		.rank = (s64)aggnet_bits_get(buf, 8),
		.id = aggnet_bits_get(buf + 8, 8),
	};
}

void aggnet_pair_put(u8 *buf, const struct aggnet_pair *pair)
{
	word_put(buf, (u64)pair->rank);
	word_put(buf + 8, pair->id);
}
