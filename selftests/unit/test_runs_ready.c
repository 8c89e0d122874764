// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the k-way merge: a key leaves as soon as no run can add to it,
 * and not earlier.
 */
#include "list.h"

enum { PACKETS = 24, RUNS = 6 };

/**
 * struct feed - the records of a contributor
 * @in: records, in order
 * @end: where each packet ends
 * @packets: how many
 * @came: packets that have arrived
 * @inorder: how many of the first ones have arrived without a gap
 */
struct feed {
	struct list in;
	u32 end[PACKETS];
	u32 packets;
	bool came[PACKETS];
	u32 inorder;
};

static void feed_make(struct feed *f, struct list *all)
{
	u8 record[AGGNET_RECORD_MAX];
	u32 i, n, at = 0;

	memset(f, 0, sizeof(*f));
	for (n = below(PACKETS * 3); n; n--) {
		random_record(sum, record, 60);
		list_add(&f->in, record);
		list_add(all, record);
	}
	list_sort(&f->in);
	for (; at < f->in.len; f->packets++) {
		u32 most = f->packets == PACKETS - 1 ? U32_MAX : 1 + below(5);

		for (i = 0; i < most && at < f->in.len; i++)
			at += record_bytes(f->in.data + at);
		f->end[f->packets] = at;
	}
}

static u32 feed_begin(const struct feed *f, u32 packet)
{
	return packet ? f->end[packet - 1] : 0;
}

static int feed_give(struct feed *f, struct aggnet_runs *r, u32 run, u32 packet)
{
	u32 from = feed_begin(f, packet), len = f->end[packet] - from, n = 0;
	u8 *copy = memcpy(malloc(len), f->in.data + from, len), *at;
	int err;

	for (at = copy; at < copy + len; at += record_bytes(at))
		n++;
	err = aggnet_runs_store(r, run, FIRST + packet, copy, len, n);
	free(copy);
	f->came[packet] = true;
	while (f->inorder < f->packets && f->came[f->inorder])
		f->inorder++;
	return err;
}

static const u8 *feed_last(const struct feed *f)
{
	u32 at = feed_begin(f, f->inorder - 1);

	while (at + record_bytes(f->in.data + at) < f->end[f->inorder - 1])
		at += record_bytes(f->in.data + at);
	return f->in.data + at;
}

/* Count the records of keys that no run can add to, by searching all runs. */
static u32 due(const struct feed *f, u32 runs)
{
	const u8 *bound = NULL, *last, **at, *was = NULL;
	struct list came = { 0 };
	u32 i, k, n = 0;

	for (i = 0; i < runs; i++) {
		u32 end = f[i].inorder ? f[i].end[f[i].inorder - 1] : 0;

		for (k = 0; k < end; k += record_bytes(f[i].in.data + k))
			list_add(&came, f[i].in.data + k);
		if (f[i].inorder == f[i].packets)
			continue;
		if (!f[i].inorder) {
			list_free(&came);
			return 0;
		}
		last = feed_last(&f[i]);
		if (!bound || order(last, bound) < 0)
			bound = last;
	}
	at = list_sorted(&came);
	for (i = 0; i < came.n; i++) {
		if (bound && order(at[i], bound) >= 0)
			break;
		n += !was || order(was, at[i]);
		was = at[i];
	}
	free(at);
	list_free(&came);
	return n;
}

/* Count the records in packets that have not arrived. */
static u32 to_come(const struct feed *f, u32 runs)
{
	u32 packet, at, n = 0;

	for (; runs; runs--, f++) {
		for (packet = 0; packet < f->packets; packet++) {
			if (f->came[packet])
				continue;
			for (at = feed_begin(f, packet); at < f->end[packet];
			     at += record_bytes(f->in.data + at))
				n++;
		}
	}
	return n;
}

/* Pick the next packet that fits, in some order. */
static u32 pick_packet(const struct feed *f, const struct aggnet_runs *r, u32 run)
{
	u32 room = aggnet_runs_limit(r, run) - FIRST;
	u32 packet = f->inorder + below(room - f->inorder + 1);

	if (packet >= room || packet >= f->packets || f->came[packet])
		packet = f->inorder;
	return packet;
}

TEST(ready__as_soon_as_all_have_given_it)
{
	u32 round, i, runs, left;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (round = 0; round < 200; round++) {
		struct list all = { 0 }, out = { 0 };
		struct feed f[RUNS];
		struct aggnet_runs r;
		u64 units = 0;

		runs = 1 + below(RUNS);
		start(&r, sum, runs, runs * 4);
		for (i = left = 0; i < runs; i++) {
			feed_make(&f[i], &all);
			aggnet_runs_begin(&r, 4, FIRST, true);
			left += f[i].packets;
			if (!f[i].packets)
				aggnet_runs_finish(&r, i);
		}
		aggnet_runs_close(&r);
		while (left) {
			u32 run = below(runs), packet;

			if (f[run].inorder == f[run].packets)
				continue;
			packet = pick_packet(&f[run], &r, run);
			if (FIRST + packet == aggnet_runs_limit(&r, run))
				continue;
			ASSERT_EQ(0, feed_give(&f[run], &r, run, packet));
			left--;
			if (f[run].inorder == f[run].packets)
				aggnet_runs_finish(&r, run);
			take_all(&r, &out, &units);
			ASSERT_EQ(due(f, runs), out.n)
				TH_LOG("round %u", round);
			ASSERT_EQ(all.n, units + r.units + to_come(f, runs));
		}
		ASSERT_TRUE(same(sum, &all, &out, true));
		ASSERT_EQ(0, aggnet_runs_held(&r));
		ASSERT_EQ(0, r.units);
		for (i = 0; i < runs; i++)
			list_free(&f[i].in);
		list_free(&all);
		list_free(&out);
		aggnet_runs_free(&r);
	}
	EXPECT_EQ(0, shim_alloc_live);
}

TEST_HARNESS_MAIN
