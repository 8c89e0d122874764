// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the k-way merge: against all records sorted and reduced, over
 * random contributors, packets and orders of arrival.
 */
#include <linux/random.h>

/* The file itself: its order of keys is looked into. */
#include "../../kmod/runs.c"

#include "kselftest_harness.h"

#define SEED	0x736f7274
#define PAYLOAD	1392
#define FIRST	AGGNET_SEQ_FIRST

static const struct aggnet_shape shapes[] = {
	{ .function = AGGNET_FN_SUM, .layout = AGGNET_LAYOUT_SORTED },
	{ .function = AGGNET_FN_MIN, .layout = AGGNET_LAYOUT_SORTED },
	{ .function = AGGNET_FN_COUNT, .layout = AGGNET_LAYOUT_SORTED },
	{ .function = AGGNET_FN_AVERAGE, .layout = AGGNET_LAYOUT_SORTED },
	{ .function = AGGNET_FN_SUM, .layout = AGGNET_LAYOUT_SORTED,
	  .vtype = AGGNET_VTYPE_FLOAT64 },
	{ .function = AGGNET_FN_TOPK, .layout = AGGNET_LAYOUT_SORTED, .k = 64 },
};

static const struct aggnet_shape *const sum = &shapes[0];

static u32 below(u32 n)
{
	return get_random_u32() % n;
}

/* --- records --------------------------------------------------------------- */

/**
 * struct list - records, back to back
 * @data: of their size exactly
 * @len: bytes
 * @n: how many
 */
struct list {
	u8 *data;
	u32 len;
	u32 n;
};

static u8 *list_add(struct list *l, const u8 *record)
{
	u32 size = record_size(record);

	l->data = realloc(l->data, l->len + size);
	memcpy(l->data + l->len, record, size);
	l->len += size;
	l->n++;
	return l->data + l->len - size;
}

static void list_free(struct list *l)
{
	free(l->data);
	*l = (struct list){ 0 };
}

/* In words of its own: bytes, then lengths. */
static int order(const u8 *a, const u8 *b)
{
	u32 i;

	for (i = 0; i < a[0] && i < b[0]; i++)
		if (a[2 + i] != b[2 + i])
			return a[2 + i] < b[2 + i] ? -1 : 1;
	return (int)a[0] - (int)b[0];
}

static int by_key(const void *a, const void *b)
{
	return order(*(const u8 *const *)a, *(const u8 *const *)b);
}

static const u8 **list_sorted(const struct list *l)
{
	const u8 **at = malloc((l->n + 1) * sizeof(*at)), *record = l->data;
	u32 i;

	for (i = 0; i < l->n; i++, record += record_size(record))
		at[i] = record;
	qsort(at, l->n, sizeof(*at), by_key);
	return at;
}

static void list_sort(struct list *l)
{
	const u8 **at = list_sorted(l);
	struct list sorted = { 0 };
	u32 i;

	for (i = 0; i < l->n; i++)
		list_add(&sorted, at[i]);
	free(at);
	list_free(l);
	*l = sorted;
}

/* Keys of all lengths, which begin alike, with zero bytes at their ends. */
static void random_key(u8 *record, u32 variety)
{
	static const u8 letters[] = { 0, 0, 'a', 'b', 0xff };
	u32 pick = below(variety), i;

	record[0] = pick % 16 ? 1 + pick % 14 : 1 + pick % 255;
	for (i = 0; i < record[0]; i++)
		record[2 + i] = letters[(pick >> (i % 7)) % 5];
}

static void random_record(const struct aggnet_shape *shape, u8 *record,
			  u32 variety)
{
	u8 *value;

	random_key(record, variety);
	value = record + 2 + record[0];
	record[1] = aggnet_shape_kind(shape) == AGGNET_KIND_PAIRS ? 16 : 8;
	get_random_bytes(value, record[1]);
	/* Of reals: finite, in hundreds of powers. */
	if (shape->vtype == AGGNET_VTYPE_FLOAT64)
		value[7] = value[7] & 0x80 ? 0xbf - below(20) : 0x3f + below(20);
}

/* --- what it should come to ------------------------------------------------- */

/* Records with the same key into one state. Return: the record behind them. */
static u32 reduce(const struct aggnet_shape *shape, const u8 **at, u32 i, u32 n,
		  bool source, void *state)
{
	const u8 *first = at[i];

	aggnet_state_init(shape, state);
	for (; i < n && !order(first, at[i]); i++)
		aggnet_state_merge(shape, state, at[i] + 2 + at[i][0],
				   at[i][1], source);
	return i;
}

/*
 * Is what came, in the order in which it came, what went in? @distinct: and is
 * each key there once?
 */
static bool same(const struct aggnet_shape *shape, const struct list *in,
		 const struct list *out, bool distinct)
{
	u32 size = aggnet_state_size(shape), i = 0, k = 0, n = 0, was = 0;
	const u8 **given = list_sorted(in), **got;
	void *a = calloc(1, size), *b = calloc(1, size);
	const u8 *record = out->data;
	bool ok = true;

	got = malloc((out->n + 1) * sizeof(*got));
	for (; n < out->n; n++, record += record_size(record)) {
		got[n] = record;
		ok &= !n || order(got[n - 1], record) <= 0;
	}
	while (ok && i < in->n && k < n) {
		const u8 *key = given[i];

		was = k;
		i = reduce(shape, given, i, in->n, true, a);
		k = reduce(shape, got, k, n, false, b);
		ok = !order(key, got[was]) && !memcmp(a, b, size) &&
		     (!distinct || k == was + 1);
	}
	free(a);
	free(b);
	free(given);
	free(got);
	return ok && i == in->n && k == n;
}

/* --- taking out -------------------------------------------------------------- */

static void start(struct aggnet_runs *r, const struct aggnet_shape *shape,
		  u32 max, u32 slots)
{
	memset(r, 0, sizeof(*r));
	if (aggnet_runs_init(r, shape, max, slots, PAYLOAD))
		abort();
}

/* A packet of what is ready. Return: its bytes. */
static u32 take(struct aggnet_runs *r, u8 *to, struct list *out, u64 *units)
{
	u32 room = below(3) ? PAYLOAD : AGGNET_RECORD_MAX;
	u32 max = below(3) ? U32_MAX : 1 + below(4);
	u8 *buf = malloc(room), *at;
	u32 len, n;
	u64 represents;

	len = aggnet_runs_pack(r, buf, room, max, &n, &represents);
	if (len > room || n > max || represents > r->n * (u64)U32_MAX ||
	    aggnet_parse_records(&r->shape, false, buf, len, n) != (int)n)
		abort();
	for (at = buf; out && at < buf + len; at += record_size(at))
		list_add(out, at);
	if (to)
		memcpy(to, buf, len);
	*units += represents;
	free(buf);
	return len;
}

static void take_all(struct aggnet_runs *r, struct list *out, u64 *units)
{
	while (r->ready)
		if (!take(r, NULL, out, units))
			abort();
}

/* --- order ------------------------------------------------------------------- */

TEST(key_compare__bytes_then_lengths)
{
	u8 a[AGGNET_RECORD_MAX], b[AGGNET_RECORD_MAX];
	u32 i, same = 0;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (i = 0; i < 200000; i++) {
		random_key(a, 400);
		random_key(b, 400);
		if (below(2))
			memcpy(b + 2, a + 2, a[0]);
		ASSERT_EQ(order(a, b) < 0, record_before(a, b));
		same += !order(a, b);
	}
	EXPECT_NE(0, same);
}

static u32 put(u8 *buf, const char *key)
{
	buf[0] = strlen(key);
	buf[1] = 1;
	memcpy(buf + 2, key, buf[0]);
	buf[2 + buf[0]] = 1;
	return record_size(buf);
}

static int store(struct aggnet_runs *r, u32 run, u32 seq, const char *keys)
{
	char word[64];
	u8 buf[PAYLOAD];
	u32 len = 0, n = 0;
	int used;

	for (; sscanf(keys, " %63s%n", word, &used) == 1; keys += used, n++)
		len += put(buf + len, word);
	return aggnet_runs_store(r, run, FIRST + seq, buf, len, n);
}

/* What is not in order is refused, and leaves no trace. */
TEST(store__order)
{
	struct list out = { 0 };
	struct aggnet_runs r;
	u64 units = 0;

	start(&r, sum, 2, 8);
	EXPECT_EQ(0, aggnet_runs_begin(&r, 4, FIRST, false));
	EXPECT_EQ(1, aggnet_runs_begin(&r, 4, FIRST, false));
	aggnet_runs_close(&r);
	EXPECT_EQ(-EILSEQ, store(&r, 0, 0, "b a"));
	EXPECT_EQ(-EILSEQ, store(&r, 0, 0, "a b ab"));
	EXPECT_EQ(-EILSEQ, store(&r, 0, 0, "aaaaaaaab aaaaaaaaa"));
	EXPECT_EQ(0, aggnet_runs_held(&r));
	EXPECT_EQ(0, store(&r, 0, 1, "d e e"));
	EXPECT_EQ(-EILSEQ, store(&r, 0, 0, "d da"));
	EXPECT_EQ(-EILSEQ, store(&r, 0, 2, "dz"));
	EXPECT_EQ(-EILSEQ, store(&r, 0, 2, "d e"));
	EXPECT_EQ(0, store(&r, 0, 3, "a f"));	/* of 2 nothing is known yet */
	EXPECT_EQ(-EILSEQ, store(&r, 0, 2, "e f"));
	EXPECT_EQ(0, store(&r, 0, 0, "b c d"));
	EXPECT_EQ(3 + 3 + 2, aggnet_runs_held(&r));

	/* The other has gone to e, so has all of the first that is there. */
	EXPECT_EQ(0, store(&r, 1, 0, "a e"));
	take_all(&r, &out, &units);
	EXPECT_EQ(-EILSEQ, store(&r, 1, 1, "dz"));
	EXPECT_EQ(0, store(&r, 1, 1, "e"));
	aggnet_runs_finish(&r, 1);
	take_all(&r, &out, &units);
	EXPECT_EQ(4, out.n);
	EXPECT_EQ(5, units);
	EXPECT_EQ(-EILSEQ, store(&r, 0, 2, "d"));
	list_free(&out);
	aggnet_runs_free(&r);
	EXPECT_EQ(0, shim_alloc_live);
}

TEST(append__order)
{
	struct aggnet_runs r;
	u8 buf[64];

	start(&r, sum, 1, 2);
	EXPECT_EQ(0, aggnet_runs_begin(&r, 2, FIRST, true));
	EXPECT_EQ(0, aggnet_runs_append(&r, 0, buf, put(buf, "b")));
	EXPECT_EQ(-EILSEQ, aggnet_runs_append(&r, 0, buf, put(buf, "a")));
	EXPECT_EQ(0, aggnet_runs_append(&r, 0, buf, put(buf, "b")));
	aggnet_runs_close(&r);
	/* Now it has been merged, but nothing has left. */
	EXPECT_EQ(1, aggnet_runs_held(&r));
	EXPECT_FALSE(r.ready);
	EXPECT_EQ(-EILSEQ, aggnet_runs_append(&r, 0, buf, put(buf, "aa")));
	EXPECT_EQ(0, aggnet_runs_append(&r, 0, buf, put(buf, "ba")));
	EXPECT_TRUE(r.ready);
	aggnet_runs_free(&r);
}

/* As many as there are bytes for, though they come one by one. */
TEST(append__fills_packets)
{
	struct aggnet_runs r;
	u8 buf[64];
	u32 n;

	start(&r, sum, 1, 2);
	aggnet_runs_begin(&r, 2, FIRST, true);
	for (n = 0; aggnet_runs_space(&r, 0); n++)
		ASSERT_EQ(0, aggnet_runs_append(&r, 0, buf, put(buf, "key")));
	EXPECT_LE(2 * (PAYLOAD - AGGNET_RECORD_MAX) / 6, n);
	aggnet_runs_free(&r);
}

/* --- who may begin, and when it starts ------------------------------------------ */

TEST(begin__limits)
{
	struct aggnet_runs r;

	start(&r, sum, 3, 8);
	EXPECT_EQ(0, aggnet_runs_begin(&r, 4, FIRST, false));
	EXPECT_EQ(-ENOSPC, aggnet_runs_begin(&r, 8, FIRST, false));
	EXPECT_EQ(1, aggnet_runs_begin(&r, 2, FIRST, false));
	EXPECT_EQ(FIRST + 2, aggnet_runs_limit(&r, 1));
	EXPECT_EQ(2, aggnet_runs_begin(&r, 2, FIRST, false));
	EXPECT_EQ(-ENOSPC, aggnet_runs_begin(&r, 2, FIRST, false));
	aggnet_runs_free(&r);
	start(&r, sum, 3, 8);
	aggnet_runs_close(&r);
	EXPECT_EQ(-ENOSPC, aggnet_runs_begin(&r, 2, FIRST, false));
	aggnet_runs_free(&r);
}

TEST(weigh__once)
{
	struct aggnet_runs r;

	start(&r, sum, 2, 4);
	aggnet_runs_begin(&r, 2, FIRST, false);
	aggnet_runs_begin(&r, 2, FIRST, false);
	EXPECT_EQ(2, r.unknown);
	EXPECT_TRUE(aggnet_runs_weigh(&r, 1, 5));
	EXPECT_TRUE(aggnet_runs_weigh(&r, 1, 5));
	EXPECT_FALSE(aggnet_runs_weigh(&r, 1, 4));
	EXPECT_EQ(5, r.weight);
	EXPECT_TRUE(aggnet_runs_weigh(&r, 0, 0));
	EXPECT_EQ(0, r.unknown);
	aggnet_runs_free(&r);
}

/* Nothing moves while others may begin, though all that are there have ended. */
TEST(close__is_what_starts_it)
{
	struct list out = { 0 };
	struct aggnet_runs r;
	u64 units = 0;

	start(&r, sum, 2, 4);
	aggnet_runs_begin(&r, 2, FIRST, false);
	EXPECT_EQ(0, store(&r, 0, 0, "a b"));
	aggnet_runs_finish(&r, 0);
	EXPECT_FALSE(r.ready);
	aggnet_runs_begin(&r, 2, FIRST, false);
	EXPECT_EQ(0, store(&r, 1, 0, "a c"));
	aggnet_runs_close(&r);
	take_all(&r, &out, &units);
	EXPECT_EQ(2, out.n);
	aggnet_runs_finish(&r, 1);
	take_all(&r, &out, &units);
	EXPECT_EQ(3, out.n);
	EXPECT_EQ(0, aggnet_runs_held(&r));
	list_free(&out);
	aggnet_runs_free(&r);
}

/* --- as soon as all have given it, and no sooner --------------------------------- */

enum { PACKETS = 24, RUNS = 6 };

/**
 * struct feed - what a contributor has to give
 * @in: records, in order
 * @end: where each packet ends
 * @packets: how many
 * @came: which have
 * @inorder: how many of the first ones have
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
			at += record_size(f->in.data + at);
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

	for (at = copy; at < copy + len; at += record_size(at))
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

	while (at + record_size(f->in.data + at) < f->end[f->inorder - 1])
		at += record_size(f->in.data + at);
	return f->in.data + at;
}

/* Records of the keys that nobody can add to, by looking at all of them. */
static u32 due(const struct feed *f, u32 runs)
{
	const u8 *bound = NULL, *last, **at, *was = NULL;
	struct list came = { 0 };
	u32 i, k, n = 0;

	for (i = 0; i < runs; i++) {
		u32 end = f[i].inorder ? f[i].end[f[i].inorder - 1] : 0;

		for (k = 0; k < end; k += record_size(f[i].in.data + k))
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

/* Records in packets that have not come. */
static u32 to_come(const struct feed *f, u32 runs)
{
	u32 packet, at, n = 0;

	for (; runs; runs--, f++) {
		for (packet = 0; packet < f->packets; packet++) {
			if (f->came[packet])
				continue;
			for (at = feed_begin(f, packet); at < f->end[packet];
			     at += record_size(f->in.data + at))
				n++;
		}
	}
	return n;
}

/* The next packet that there is room for, in some order. */
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

/* --- a tree of them ----------------------------------------------------------------- */

enum { LEAVES = 3, WRITERS = 3, FLIGHT = 32 };

/**
 * struct flying - a packet on its way
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
 * struct leaf - a node that merges what its writers give
 * @r: their runs
 * @in: what each writer has to give
 * @at: how much of it has been taken
 * @seq: of the next packet
 * @flying: packets on their way
 * @done: the root knows that there are no more
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
	while (l->at[w] + len < l->in[w].len && len + record_size(at + len) <= most)
		len += record_size(at + len);
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

/* Something happens somewhere. */
static void tree_step(struct leaf *leaf, struct aggnet_runs *root,
		      struct flying *fly, u32 *flying, struct list *out,
		      u64 *units)
{
	u32 i = below(LEAVES), k;
	struct leaf *l = &leaf[i];
	u64 represents = 0;

	switch (below(4)) {
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

/* Very many records of a key: they leave in few, and all of them count. */
TEST(runs__many_of_a_key)
{
	struct list out = { 0 };
	struct aggnet_runs r;
	u8 buf[PAYLOAD];
	u64 units = 0;
	u32 len, i, n;

	start(&r, sum, 1, AGGNET_RUN_MAX);
	aggnet_runs_begin(&r, AGGNET_RUN_MAX, FIRST, true);
	for (i = n = 0; i < AGGNET_RUN_MAX; i++) {
		for (len = 0; len + 4 <= PAYLOAD; n++)
			len += put(buf + len, "k");
		ASSERT_EQ(0, aggnet_runs_append(&r, 0, buf, len));
		ASSERT_EQ(i < AGGNET_RUN_MAX / 2, aggnet_runs_slack(&r, 0));
	}
	EXPECT_EQ(0, aggnet_runs_space(&r, 0));
	EXPECT_EQ(n, aggnet_runs_held(&r));
	aggnet_runs_close(&r);
	EXPECT_EQ(n - SAME_MAX + 1, aggnet_runs_held(&r));
	take_all(&r, &out, &units);
	EXPECT_TRUE(aggnet_runs_slack(&r, 0));
	aggnet_runs_finish(&r, 0);
	take_all(&r, &out, &units);
	EXPECT_EQ(n, units);
	EXPECT_GE(n / SAME_MAX + 1, out.n);
	list_free(&out);
	aggnet_runs_free(&r);
}

/* What an operator spoils shows in the units, and in the value. */
TEST(fault__shows)
{
	static const struct {
		u32 fault, records, units;
		s64 a;
	} of[] = {
		{ AGGNET_FAULT_NONE, 2, 3, 2 }, { AGGNET_FAULT_DROP, 2, 2, 1 },
		{ AGGNET_FAULT_DOUBLE, 2, 4, 3 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(of); i++) {
		struct aggnet_record first;
		struct list out = { 0 };
		struct aggnet_runs r;
		u64 units = 0;

		start(&r, sum, 1, 2);
		aggnet_runs_begin(&r, 2, FIRST, false);
		EXPECT_EQ(0, store(&r, 0, 0, "a a b"));
		r.fault = of[i].fault;
		aggnet_runs_close(&r);
		aggnet_runs_finish(&r, 0);
		EXPECT_EQ(of[i].units, r.units);
		take_all(&r, &out, &units);
		EXPECT_EQ(of[i].units, units);
		EXPECT_EQ(0, r.units);
		ASSERT_EQ(of[i].records, out.n);
		aggnet_record_get(out.data, &first);
		EXPECT_EQ(of[i].a, (s64)first.value.lo);
		list_free(&out);
		aggnet_runs_free(&r);
	}
}

TEST_HARNESS_MAIN
