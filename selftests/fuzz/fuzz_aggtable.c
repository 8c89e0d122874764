// SPDX-License-Identifier: GPL-2.0
/* Fuzz target: any records, merged and packed in any portions. The total of the
 * output equals that of the input, and nothing remains.
 */
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <stdlib.h>
#include <string.h>
#include "core/accum.h"
#include "core/aggtable.h"
#include "core/pairs.h"
#include "core/record.h"

#define CHECK(cond) do { if (!(cond)) __builtin_trap(); } while (0)
#define LIMIT	(256 * AGGNET_CHUNK)

/**
 * struct total - the total of all records that passed
 * @state: the state of one key that all of them would have
 * @units: original records
 */
struct total {
	void *state;
	u64 units;
};

static void total_start(struct total *total, const struct aggnet_shape *shape)
{
	total->state = malloc(aggnet_accum_size(shape));
	total->units = 0;
	aggnet_accum_init(shape, total->state);
}

static void add_records(struct total *total, const struct aggnet_shape *shape,
			const u8 *data, u32 n, bool source)
{
	for (; n; n--) {
		const u8 *value = data + 2 + data[0];

		aggnet_accum_merge(shape, total->state, value, data[1], source);
		data = value + data[1];
	}
}

static void merge(struct aggnet_table *t, struct total *in, const u8 *data,
		  size_t len, u32 extra, bool source)
{
	u32 lengths;
	int n = aggnet_parse_lengths(&t->shape, source, data, len,
				     aggnet_max_records(&t->shape, len),
				     &lengths);
	u8 *copy;

	if (n < 0)
		return;
	while (t->free < aggnet_table_chunks_per_packet(&t->shape, len))
		if (!aggnet_table_grow(t, aggnet_chunk_alloc()))
			abort();
	copy = memcpy(malloc(len ? len : 1), data, len);
	if (source || !n)
		extra = 0;
	add_records(in, &t->shape, copy, n, source);
	in->units += n + extra;
	if (source)
		aggnet_table_merge(t, copy, n, n + extra, true);
	else
		aggnet_table_merge_equal(t, copy, n, n + extra, lengths);
	CHECK(t->units <= in->units);
	free(copy);
}

static void pack(struct aggnet_table *t, struct total *out, u32 room, u32 max,
		 bool ripe)
{
	u64 represents;
	u32 len, n;
	u8 *buf;

	room = clamp_t(u32, room, AGGNET_RECORD_MAX, 2000);
	buf = malloc(room);
	if (ripe)
		len = aggnet_table_pack_ripe(t, buf, room, max, &n,
					     &represents);
	else
		len = aggnet_table_pack(t, buf, room, max, &n, &represents);
	CHECK(len <= room && n <= max && !len == !n);
	CHECK(!ripe || !t->expected || !aggnet_table_ripe(t, 1) || n);
	CHECK(represents >= n);
	CHECK(aggnet_parse_records(&t->shape, false, buf, len, n) == (int)n);
	add_records(out, &t->shape, buf, n, false);
	out->units += represents;
	free(buf);
}

/* A step: its kind, a 16-bit argument, and for merging that many bytes. */
static void run(struct aggnet_table *t, const u8 *data, size_t size)
{
	struct total in, out;
	u32 arg;

	total_start(&in, &t->shape);
	total_start(&out, &t->shape);
	while (size >= 3) {
		u8 kind = data[0];

		arg = get_unaligned_le16(data + 1);
		data += 3;
		size -= 3;
		if (kind & 1) {
			pack(t, &out, arg, kind / 2 + 1, kind & 2);
			continue;
		}
		arg = min_t(size_t, arg % 2048, size);
		merge(t, &in, data, arg, kind / 4, kind & 2);
		data += arg;
		size -= arg;
	}
	while (t->keys)
		pack(t, &out, 1392, 1392, false);
	CHECK(in.units == out.units);
	CHECK(!memcmp(in.state, out.state, aggnet_accum_size(&t->shape)));
	CHECK(t->free == t->chunks && !t->units);
	free(in.state);
	free(out.state);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct aggnet_shape shape = { 0 };
	struct aggnet_table t = { 0 };
	u8 seed[sizeof(t.seed)];
	const char *text;

	if (size < 2 || size > 1 << 16)
		return 0;
	memset(seed, data[1] * 2 + 1, sizeof(seed));
	shape.function = data[0] % 16;
	shape.vtype = data[0] / 32 % __AGGNET_VTYPE_MAX;
	if (data[0] & 16) {
		shape.layout = AGGNET_LAYOUT_DENSE;
		shape.elements = 1 + 1000 * (data[1] % 32);
	}
	shape.scale = shape.vtype == AGGNET_VTYPE_FIXED;
	shape.k = aggnet_shape_kind(&shape) == AGGNET_KIND_PAIRS ?
		  1 + data[1] % AGGNET_K_MAX : 0;
	if (aggnet_shape_fault(&shape, &text))
		return 0;
	if (aggnet_table_init(&t, &shape, LIMIT, seed))
		abort();
	t.expected = data[0] & 16 ? 1 + data[1] / 64 : 0;
	run(&t, data + 2, size - 2);
	aggnet_table_free(&t);
	CHECK(!shim_alloc_live);
	return 0;
}
