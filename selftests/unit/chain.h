/* SPDX-License-Identifier: GPL-2.0 */
/* A chain of tables from sources to a receiver, which split and order what they
 * hold at random.
 */
#ifndef CHAIN_H
#define CHAIN_H

#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/random.h>

#include "core/accum.h"

#include "../uapi/harness.h"
#include "table_feed.h"

#define SEED	0x73746174
#define KEYS	40
#define SOURCES	6
#define INNER	2

#define s128 __int128
#define u128 unsigned __int128

static inline s128 wide(const struct aggnet_value *v)
{
	return (s128)((u128)v->hi << 64 | v->lo);
}

/*
 * --- input of the sources ---------------------------------------------------
 */

/**
 * struct input - one source's record
 * @key: number of the key
 * @value: as its type is stored
 * @vlen: its length in bytes
 */
struct input {
	u8 key;
	u8 value[AGGNET_VALUE_MAX];
	u8 vlen;
};

/* --- a chain of tables ----------------------------------------------------- */

/* Send a packet, sometimes a small one, from one table to the next. */
static inline u32 emit(struct aggnet_table *from, struct aggnet_table *to)
{
	u32 max = aggnet_max_records(&from->shape, PAYLOAD);
	u32 room = get_random_u32() % 3 ? PAYLOAD : AGGNET_RECORD_MAX;
	u8 *buf = malloc(room);
	u64 represents;
	u32 len, n;

	if (get_random_u32() % 3 == 0)
		max = 1 + get_random_u32() % max;
	len = aggnet_table_pack(from, buf, room, max, &n, &represents);
	if (len > room || n > max)
		abort();
	if (n)
		take(to, buf, len, n, represents, false);
	free(buf);
	return n;
}

static inline void contribute(struct aggnet_table *t, const struct input *in)
{
	u8 buf[AGGNET_RECORD_MAX] = { 1, in->vlen, in->key };

	memcpy(buf + 3, in->value, in->vlen);
	take(t, buf, 3 + in->vlen, 1, 1, true);
}

/**
 * struct chain - sources, intermediate tables and the receiver's table
 */
struct chain {
	struct aggnet_table leaf[SOURCES];
	struct aggnet_table inner[INNER];
	struct aggnet_table root;
};

static inline void chain_start(struct chain *c, const struct aggnet_shape *shape)
{
	int i;

	start(&c->root, shape);
	for (i = 0; i < INNER; i++)
		start(&c->inner[i], shape);
	for (i = 0; i < SOURCES; i++)
		start(&c->leaf[i], shape);
}

/* Give inputs to random sources; parts leave at random moments. */
static inline void chain_run(struct chain *c, const struct input *in, u32 n)
{
	int i;

	for (; n; n--, in++) {
		i = get_random_u32() % SOURCES;
		contribute(&c->leaf[i], in);
		if (get_random_u32() % 16 == 0)
			emit(&c->leaf[i], &c->inner[i % INNER]);
		if (get_random_u32() % 16 == 0)
			emit(&c->inner[i % INNER], &c->root);
	}
	for (i = 0; i < SOURCES; i++)
		while (emit(&c->leaf[i], &c->inner[i % INNER]))
			;
	for (i = 0; i < INNER; i++)
		while (emit(&c->inner[i], &c->root))
			;
}

static inline void chain_free(struct chain *c)
{
	int i;

	aggnet_table_free(&c->root);
	for (i = 0; i < INNER; i++)
		aggnet_table_free(&c->inner[i]);
	for (i = 0; i < SOURCES; i++)
		aggnet_table_free(&c->leaf[i]);
}

/* What the receiver's table holds, merged as the library merges it. */
static inline u64 chain_result(struct chain *c, void *accum[KEYS])
{
	const struct aggnet_shape *shape = &c->root.shape;
	u64 represents, units = 0;
	u8 buf[PAYLOAD], *at;
	u32 len, n;

	for (n = 0; n < KEYS; n++) {
		accum[n] = malloc(aggnet_accum_size(shape));
		aggnet_accum_init(shape, accum[n]);
	}
	for (;;) {
		len = aggnet_table_pack(&c->root, buf, sizeof(buf), 9, &n,
					&represents);
		if (!len)
			return units;
		units += represents;
		for (at = buf; at < buf + len; at += 2 + at[0] + at[1])
			aggnet_accum_merge(shape, accum[at[2]], at + 3, at[1],
					   false);
	}
}

#endif
