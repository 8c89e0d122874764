/* SPDX-License-Identifier: GPL-2.0 */
/* A table that takes whatever records it gets. */
#ifndef TABLE_FEED_H
#define TABLE_FEED_H

#include <linux/random.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <stdlib.h>

#include "core/aggtable.h"
#include "core/record.h"

#define LIMIT	(8u << 20)
#define PAYLOAD	1384

static inline void start(struct aggnet_table *t, const struct aggnet_shape *shape)
{
	u8 seed[sizeof(t->seed)];

	memset(t, 0, sizeof(*t));
	get_random_bytes(seed, sizeof(seed));
	if (aggnet_table_init(t, shape, LIMIT, seed))
		abort();
}

static inline void take(struct aggnet_table *t, const u8 *data, u32 len, u32 n,
		 u64 represents, bool source)
{
	u8 *copy = memcpy(malloc(len), data, len);

	while (t->free < aggnet_table_chunks_per_packet(&t->shape, PAYLOAD))
		if (!aggnet_table_grow(t, aggnet_chunk_alloc()))
			abort();
	if (aggnet_parse_records(&t->shape, source, copy, len, n) != (int)n)
		abort();
	aggnet_table_merge(t, copy, n, represents, source);
	free(copy);
}

#endif
