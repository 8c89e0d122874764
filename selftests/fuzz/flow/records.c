// SPDX-License-Identifier: GPL-2.0
/* Records: what the sources of the world send, and what its reader has got. */
#include <linux/string.h>

#include "core/accum.h"
#include "core/pairs.h"
#include "core/vector.h"
#include "records.h"
#include "world.h"

#define SHIFT		12	/* bits of each source in a sum of integers */
#define K		40	/* pairs of a key: three parts */
#define STATE_MAX	(sizeof(struct aggnet_pairs) + K * sizeof(struct aggnet_pair))
#define EXPONENT_MAX	2046	/* of a float64, as it is stored */

static struct aggnet_shape shape;
static u8 got[WORLD_KEYS][STATE_MAX] __aligned(8);
static u32 newest;	/* the key that was read last */

struct aggnet_shape records_shape(void)
{
	const struct world_conf *conf = &world.conf;
	struct aggnet_shape s = {
		.function = conf->function,
		.vtype = conf->vtype,
		.layout = conf->dense ? AGGNET_LAYOUT_DENSE :
			  conf->sorted ? AGGNET_LAYOUT_SORTED :
					 AGGNET_LAYOUT_KEYED,
	};

	if (aggnet_shape_kind(&s) == AGGNET_KIND_PAIRS)
		s.k = K;
	if (conf->dense)
		s.elements = conf->keys * aggnet_vector_block(&s);
	return s;
}

/*
 * --- a source's records, which follow from its index, number and round
 * ----
 */

static u32 key_of(u32 node, u32 n)
{
	if (world.conf.sorted)
		return (n * (1 + node % 3) + node) / 2 * world.conf.keys /
		       (world.conf.records * 2 + 2);
	if (world.conf.in_order)
		return n % world.conf.keys;
	return (n * 31 + node * 17) % world.conf.keys;
}

static u32 key_put(u8 *buf, u32 key)
{
	u32 len = 2 + key * 7 % 60;

	if (world.conf.dense)
		return aggnet_vector_key_put(&shape, key, buf);
	memset(buf, 'k', len);
	buf[0] = key >> 8;
	buf[1] = key;
	return len;
}

static u32 key_get(const u8 *buf, u32 len)
{
	return world.conf.dense ? aggnet_vector_key_get(buf, len) :
				  buf[0] << 8 | buf[1];
}

/* Tiny, medium and huge numbers: their sum takes several parts. */
static u32 real_put(u8 *buf, u32 node, u32 n, u32 round)
{
	u64 exponent = 1 + (n + node) % 3 * ((EXPONENT_MAX - 1) / 2);
	u64 bits = exponent << 52 | round << 24 | n << 8 | node;
	u32 i;

	for (i = 0; i < sizeof(bits); i++)
		buf[i] = bits >> (8 * i);
	return sizeof(bits);
}

static u32 pair_put(u8 *buf, u32 node, u32 n, u32 round)
{
	const struct aggnet_pair pair = {
		.rank = n * 37 % 101,
		.id = round << 24 | node << 16 | n,
	};

	aggnet_pair_put(buf, &pair);
	return AGGNET_PAIR_BYTES;
}

/* All elements of a block are equal. */
static u32 integer_put(u8 *buf, u32 node, u32 elements, u32 round)
{
	const struct aggnet_value value =
		aggnet_value_s64((1ll + round) << SHIFT * node);
	u32 len = aggnet_value_put(buf, &value);
	u32 i;

	for (i = 1; i < elements; i++)
		memcpy(buf + i * len, buf, len);
	return elements * len;
}

static u32 value_put(u8 *buf, u32 node, u32 n, u32 round)
{
	switch (aggnet_shape_kind(&shape)) {
	case AGGNET_KIND_FLOAT_SUM:
		return real_put(buf, node, n, round);
	case AGGNET_KIND_PAIRS:
		return pair_put(buf, node, n, round);
	case AGGNET_KIND_BLOCK:
		return integer_put(buf, node, AGGNET_BLOCK_ELEMENTS, round);
	default:
		return integer_put(buf, node, 1, round);
	}
}

u32 records_put(u8 *buf, u32 node, u32 n, u32 round)
{
	buf[0] = key_put(buf + 2, key_of(node, n));
	buf[1] = value_put(buf + 2 + buf[0], node, n, round);
	return 2 + buf[0] + buf[1];
}

/* --- what the reader has got -------------------------------------------------- */

void records_forget(void)
{
	u32 i;

	shape = records_shape();
	newest = 0;
	for (i = 0; i < world.conf.keys; i++)
		aggnet_accum_init(&shape, got[i]);
}

static void merge(u8 (*state)[STATE_MAX], const u8 *data, bool source)
{
	u32 key = key_get(data + 2, data[0]);

	INSIST(key < world.conf.keys, "a key of no source");
	INSIST(source || !world.conf.sorted || newest <= key,
	       "keys are out of order");
	if (!source)
		newest = key;
	aggnet_accum_merge(&shape, state[key], data + 2 + data[0], data[1],
			   source);
}

void records_take(const u8 *data, u32 records)
{
	for (; records; records--, data += 2 + data[0] + data[1])
		merge(got, data, false);
}

bool records_all(u32 round)
{
	static u8 given[WORLD_KEYS][STATE_MAX] __aligned(8);
	u32 size = aggnet_accum_size(&shape);
	u8 record[RECORD_MAX];
	u32 i, n;

	for (i = 0; i < world.conf.keys; i++)
		aggnet_accum_init(&shape, given[i]);
	for (i = 0; i < WORLD_NODES; i++)
		for (n = 0; world.node[i].writes && n < world.conf.records; n++) {
			records_put(record, i, n, round);
			merge(given, record, true);
		}
	for (i = 0; i < world.conf.keys; i++)
		if (memcmp(given[i], got[i], size))
			return false;
	return true;
}
