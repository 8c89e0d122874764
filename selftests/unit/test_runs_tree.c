// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the k-way merge in trees, compared with sorting and reducing
 * all records, over random contributors, packets and orders of arrival.
 */
#include "list.h"

static const struct aggnet_shape shapes[] = {
	{ .function = AGGNET_FN_SUM, .layout = AGGNET_LAYOUT_SORTED },
	{ .function = AGGNET_FN_MIN, .layout = AGGNET_LAYOUT_SORTED },
	{ .function = AGGNET_FN_COUNT, .layout = AGGNET_LAYOUT_SORTED },
	{ .function = AGGNET_FN_AVERAGE, .layout = AGGNET_LAYOUT_SORTED },
	{ .function = AGGNET_FN_SUM, .layout = AGGNET_LAYOUT_SORTED,
	  .vtype = AGGNET_VTYPE_FLOAT64 },
	{ .function = AGGNET_FN_TOPK, .layout = AGGNET_LAYOUT_SORTED, .k = 64 },
};

enum { LEAVES = 3, WRITERS = 3, FLIGHT = 32 };

/**
 * struct flying - a packet in transit
 * @from: the leaf that made it
 * @seq: its sequence
 * @len: bytes of records
 * @represents: original records in them
 * @data: the records
 */
struct flying {
	u32 from;
	u32 seq;
	u32 len;
	u64 represents;
	u8 data[PAYLOAD];
};

/**
 * struct leaf - a node that merges the records of its writers
 * @r: their runs
 * @in: the records of each writer
 * @at: how many of them are taken
 * @seq: of the next packet
 * @flying: packets in transit
 * @done: the root knows that no more records come
 */
struct leaf {
	struct aggnet_runs r;
	struct list in[WRITERS];
	u32 at[WRITERS];
	u32 seq;
	u32 flying;
	bool done;
};

static void leaf_make(struct leaf *l, const struct aggnet_shape *shape,
		      struct list *all)
{
	u32 variety = 1 + below(below(4) ? 3000 : 5), w, n;
	u8 record[AGGNET_RECORD_MAX];

	memset(l, 0, sizeof(*l));
	start(&l->r, shape, WRITERS, WRITERS * 2);
	l->seq = FIRST;
	for (w = 0; w < WRITERS; w++) {
		aggnet_runs_begin(&l->r, 2, FIRST, true);
		for (n = below(600); n; n--) {
			random_record(shape, record, variety);
			list_add(&l->in[w], record);
			list_add(all, record);
		}
		list_sort(&l->in[w]);
	}
	aggnet_runs_close(&l->r);
}

static bool leaf_write(struct leaf *l, u32 w)
{
	u32 most = min(aggnet_runs_space(&l->r, w), 1 + below(3000)), len = 0;
	const u8 *at = l->in[w].data + l->at[w];
	u8 *copy;

	if (l->r.run[w].finished)
		return false;
	if (l->at[w] == l->in[w].len) {
		aggnet_runs_finish(&l->r, w);
		return true;
	}
	while (l->at[w] + len < l->in[w].len && len + record_bytes(at + len) <= most)
		len += record_bytes(at + len);
	if (!len)
		return false;
	copy = memcpy(malloc(len), at, len);
	if (aggnet_runs_append(&l->r, w, copy, len))
		abort();
	free(copy);
	l->at[w] += len;
	return true;
}

static bool leaf_ended(const struct leaf *l)
{
	u32 w;

	for (w = 0; w < WRITERS; w++)
		if (!l->r.run[w].finished)
			return false;
	return !aggnet_runs_held(&l->r) && !l->flying;
}

/* One random event at a random place. */
static void tree_step(struct leaf *leaf, struct aggnet_runs *root,
		      struct flying *fly, u32 *flying, struct list *out,
		      u64 *units)
{
	u32 i = below(LEAVES), k;
	struct leaf *l = &leaf[i];
	u64 represents = 0;

	l->r.budget = below(2) ? below(3000) : AGGNET_COST_MAX;
	root->budget = l->r.budget;
	switch (below(5)) {
	case 0:
		leaf_write(l, below(WRITERS));
		break;
	case 1:
		if (!l->r.ready || *flying == FLIGHT ||
		    l->seq == aggnet_runs_limit(root, i))
			break;
		fly[*flying].from = i;
		fly[*flying].seq = l->seq++;
		fly[*flying].len = take(&l->r, fly[*flying].data, NULL,
					&represents);
		fly[*flying].represents = represents;
		++*flying;
		l->flying++;
		break;
	case 2:
		if (!*flying)
			break;
		k = below(*flying);
		if (aggnet_runs_store(root, fly[k].from, fly[k].seq, fly[k].data,
				      fly[k].len, fly[k].represents))
			abort();
		leaf[fly[k].from].flying--;
		fly[k] = fly[--*flying];
		break;
	case 3:
		/*
		 * Like the work item that continues after a locked section that
		 * hit its limit.
		 */
		if (l->r.stopped)
			aggnet_runs_advance(&l->r);
		if (root->stopped)
			aggnet_runs_advance(root);
		break;
	default:
		if (leaf_ended(l) && !l->done) {
			l->done = true;
			aggnet_runs_finish(root, i);
		}
		if (root->ready && below(2))
			take(root, NULL, out, units);
	}
}

static bool tree_ended(const struct leaf *leaf, const struct aggnet_runs *root)
{
	u32 i;

	for (i = 0; i < LEAVES; i++)
		if (!leaf[i].done)
			return false;
	return !aggnet_runs_held(root);
}

TEST(runs__a_tree_of_them)
{
	static struct flying fly[FLIGHT];
	u32 round, i, w, steps, flying;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (round = 0; round < 120; round++) {
		const struct aggnet_shape *shape = &shapes[round % ARRAY_SIZE(shapes)];
		struct list all = { 0 }, out = { 0 };
		struct leaf leaf[LEAVES];
		struct aggnet_runs root;
		u64 units = 0;

		start(&root, shape, LEAVES, LEAVES * 4);
		for (i = 0; i < LEAVES; i++) {
			leaf_make(&leaf[i], shape, &all);
			aggnet_runs_begin(&root, 4, FIRST, false);
		}
		aggnet_runs_close(&root);
		for (flying = steps = 0; !tree_ended(leaf, &root); steps++) {
			ASSERT_GT(400000, steps)
				TH_LOG("round %u does not end", round);
			tree_step(leaf, &root, fly, &flying, &out, &units);
		}
		ASSERT_TRUE(same(shape, &all, &out, false))
			TH_LOG("round %u", round);
		ASSERT_EQ(all.n, units);
		for (i = 0; i < LEAVES; i++) {
			for (w = 0; w < WRITERS; w++)
				list_free(&leaf[i].in[w]);
			aggnet_runs_free(&leaf[i].r);
		}
		aggnet_runs_free(&root);
		list_free(&all);
		list_free(&out);
	}
	EXPECT_EQ(0, shim_alloc_live);
}

TEST_HARNESS_MAIN
