// SPDX-License-Identifier: GPL-2.0
/* Unit tests of libaggnet's source with a node that the test provides: sources,
 * and their replay in a new epoch.
 */
#include "fake_node.h"

#include <float.h>
#include <sys/wait.h>

FIXTURE(source) {
	struct aggnet_source *s;
	struct in_addr receiver;
	struct aggnet_options opt;
	int fds;
};

/* A node that takes everything */
static void node_anew(void)
{
	memset(&node, 0, sizeof(node));
	node.room = SIZE_MAX;
	node.done = true;
}

FIXTURE_SETUP(source)
{
	node_anew();
	self->receiver.s_addr = htonl(0x0a000001);
	self->s = NULL;
	memset(&self->opt, 0, sizeof(self->opt));
	self->fds = open_fds();
}

static void stop(FIXTURE_DATA(source) *self)
{
	aggnet_source_close(self->s);
	self->s = NULL;
}

/* Open a source, with options if the test has set any; close the last one. */
static int start(FIXTURE_DATA(source) *self)
{
	static const struct aggnet_options none;

	stop(self);
	return aggnet_source_open(&self->s, self->receiver, 7,
				  memcmp(&self->opt, &none, sizeof(none)) ?
				  &self->opt : NULL);
}

FIXTURE_TEARDOWN(source)
{
	stop(self);
	EXPECT_EQ(self->fds, open_fds());
}

static int add_numbered(struct aggnet_source *s, unsigned int from,
			unsigned int to)
{
	char key[16];
	int err = 0;

	for (; !err && from < to; from++) {
		snprintf(key, sizeof(key), "%08u", from);
		err = aggnet_source_add(s, key, 8, from);
	}
	return err;
}

/* The stream holds the records 0..n-1, once each, in order. */
static bool stream_holds(unsigned int n)
{
	struct record rec;
	size_t off = 0, len;
	unsigned int i;
	char key[16];

	for (i = 0; i < n; i++, off += len) {
		len = record_get(node.stream + off, node.len - off, &rec);
		snprintf(key, sizeof(key), "%08u", i);
		if (!len || aggnet_value_get(rec.value, rec.value + rec.vlen,
					     rec.vlen).lo != i ||
		    memcmp(rec.key, key, 8))
			return false;
	}
	return off == node.len;
}

TEST_F(source, finish__sends_all_and_waits)
{
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, add_numbered(self->s, 0, 20000));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(node.shut);
	EXPECT_TRUE(stream_holds(20000));
	EXPECT_EQ(20000, aggnet_source_records(self->s));
	EXPECT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_EQ(-EPIPE, aggnet_source_add(self->s, "k", 1, 1));
}

TEST_F(source, finish__of_nothing)
{
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(node.shut);
	EXPECT_EQ(0, node.len);
}

TEST_F(source, add__refuses_keys)
{
	char key[AGGNET_KEY_MAX + 1] = "";

	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EINVAL, aggnet_source_add(self->s, key, 0, 1));
	EXPECT_EQ(-EINVAL, aggnet_source_add(self->s, key, sizeof(key), 1));
	EXPECT_STREQ("a key of 256 bytes: 1 to 255 are allowed",
		     aggnet_source_error(self->s));
	EXPECT_EQ(0, aggnet_source_add(self->s, key, AGGNET_KEY_MAX, 1));
	EXPECT_EQ(1, aggnet_source_records(self->s));
}

/* Of the stream, with the key of the epoch in force. */
static uint64_t fingerprint_of_stream(void)
{
	const struct aggnet_check check = fake_check();
	struct fingerprint f = {
		.shape = node.shape, .kind = check.kind,
		.key = { check.key[0], check.key[1] },
	};

	fingerprint_records(&f, node.stream, node.len);
	return f.value;
}

/* The handle goes on with an empty stream and another fingerprint. */
TEST_F(source, round__after_round)
{
	unsigned int i;

	node.persist = true;
	ASSERT_EQ(0, start(self));
	for (i = 0; i < 3; i++) {
		node.len = 0;
		node.gave = 0;
		ASSERT_EQ(0, add_numbered(self->s, 0, 20000));
		ASSERT_EQ(0, aggnet_source_round(self->s));
		EXPECT_EQ(i + 1, node.rounds);
		EXPECT_TRUE(stream_holds(20000));
		EXPECT_EQ(1, node.gave);
		EXPECT_EQ(fingerprint_of_stream(), node.given);
		EXPECT_FALSE(node.shut);
	}
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(node.shut);
	EXPECT_EQ(60000, aggnet_source_records(self->s));
	EXPECT_EQ(-EPIPE, aggnet_source_add(self->s, "k", 1, 1));
}

/* The first round can be replayed; later ones begin again by another agreement. */
TEST_F(source, round__in_a_newer_epoch)
{
	node.persist = true;
	node.lost = ESTALE;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, add_numbered(self->s, 0, 20000));
	ASSERT_EQ(0, aggnet_source_round(self->s));
	EXPECT_EQ(2, node.epoch);
	EXPECT_TRUE(stream_holds(20000));
	node.lost = ESTALE;
	EXPECT_EQ(-ECANCELED, aggnet_source_round(self->s));
	EXPECT_EQ(-ECANCELED, aggnet_source_round(self->s));
	EXPECT_EQ(2, node.epoch);
}

/* A caller does not wait for the outcome of a round and ends: there are two rounds. */
TEST_F(source, round__not_waited_for)
{
	node.persist = true;
	node.done = false;
	self->opt.flags = AGGNET_OPT_NONBLOCK;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, add_numbered(self->s, 0, 100));
	EXPECT_EQ(-EAGAIN, aggnet_source_round(self->s));
	EXPECT_EQ(-EAGAIN, aggnet_source_finish(self->s));
	EXPECT_EQ(1, node.rounds);
	EXPECT_FALSE(node.shut);
	node.done = true;
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_EQ(1, node.rounds);
	EXPECT_TRUE(node.shut);
	EXPECT_EQ(-EPIPE, aggnet_source_round(self->s));
	EXPECT_STREQ("the last round has ended: no round follows",
		     aggnet_source_error(self->s));
}

/* A vector may be left out of the last round only, and only after another round. */
TEST_F(source, round__of_a_vector)
{
	node.persist = true;
	node.shape.layout = AGGNET_LAYOUT_DENSE;
	node.shape.elements = 2;
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EINVAL, aggnet_source_finish(self->s));
	ASSERT_EQ(0, aggnet_source_add_element(self->s, 1));
	ASSERT_EQ(0, aggnet_source_add_element(self->s, 2));
	ASSERT_EQ(0, aggnet_source_round(self->s));
	EXPECT_EQ(-EINVAL, aggnet_source_round(self->s));
	EXPECT_EQ(0, aggnet_source_finish(self->s));
}

TEST_F(source, round__of_a_tree_that_has_none)
{
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EOPNOTSUPP, aggnet_source_round(self->s));
	EXPECT_STREQ("this transfer has no rounds: plan it with --persist",
		     aggnet_source_error(self->s));
	EXPECT_EQ(0, aggnet_source_finish(self->s));
}

/* Pieces are sent as there is room; a newer epoch has another key. */
TEST_F(source, fingerprint__of_what_the_last_epoch_took)
{
	uint64_t before;

	self->opt.flags = AGGNET_OPT_NONBLOCK;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, add_numbered(self->s, 0, 3000));
	while (aggnet_source_finish(self->s) == -EAGAIN)
		node.room = 1000;
	EXPECT_EQ(1, node.gave);
	EXPECT_NE(0, node.given);
	EXPECT_EQ(fingerprint_of_stream(), node.given);
	before = node.given;
	stop(self);

	self->opt.flags = 0;
	node.gave = 0;
	node.room = SIZE_MAX;
	node.lose_at = 20000;
	node.lost = ESTALE;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, add_numbered(self->s, 0, 20000));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_EQ(3, node.epoch);
	EXPECT_EQ(1, node.gave);
	EXPECT_NE(before, node.given);
	EXPECT_EQ(fingerprint_of_stream(), node.given);
}

/* There is none of a function that is not linear. */
TEST_F(source, fingerprint__of_no_maximum)
{
	node.shape.function = AGGNET_FN_MAX;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, add_numbered(self->s, 0, 10));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_EQ(0, node.gave);
}

/* --- every way to add ------------------------------------------------------ */

/* The stream has exactly this record, with these bytes as its value. */
static bool stream_is(const char *key, const void *value, size_t vlen)
{
	struct record rec;

	return record_get(node.stream, node.len, &rec) == node.len &&
	       rec.klen == strlen(key) && !memcmp(rec.key, key, rec.klen) &&
	       rec.vlen == vlen && !memcmp(rec.value, value, vlen);
}

/* The bytes of a number on the wire: little endian. */
static uint64_t wire64(double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return htole64(bits);
}

static uint32_t wire32(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return htole32(bits);
}

static int add_to_key(struct aggnet_source *s, double value)
{
	return aggnet_source_add_real(s, "k", 1, value);
}

TEST_F(source, add_real__writes_the_number)
{
	double wide = -0x1.23456789p-300;
	float narrow = 0x1.2345p20f;
	uint64_t wide_wire = wire64(wide);
	uint32_t narrow_wire = wire32(narrow);

	node.shape.vtype = AGGNET_VTYPE_FLOAT64;
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EPROTOTYPE, aggnet_source_add(self->s, "k", 1, 1));
	EXPECT_EQ(-EINVAL, aggnet_source_add_real(self->s, "", 0, wide));
	ASSERT_EQ(0, aggnet_source_add_real(self->s, "key", 3, wide));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(stream_is("key", &wide_wire, 8));
	stop(self);
	node_anew();
	node.shape.vtype = AGGNET_VTYPE_FLOAT32;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, aggnet_source_add_real(self->s, "key", 3, narrow));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(stream_is("key", &narrow_wire, 4));
	EXPECT_EQ(1, aggnet_source_records(self->s));
}

TEST_F(source, add_pair__writes_value_and_id)
{
	struct { int64_t value; uint64_t id; } pair = { -5, 1ULL << 63 | 7 };
	uint64_t wire[] = { htole64(pair.value), htole64(pair.id) };

	node.shape.function = AGGNET_FN_TOPK;
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EPROTOTYPE, aggnet_source_add(self->s, "k", 1, 1));
	EXPECT_EQ(-EPROTOTYPE,
		  aggnet_source_add_pair_real(self->s, "k", 1, 1, 1));
	ASSERT_EQ(0, aggnet_source_add_pair(self->s, "key", 3, pair.value,
					    pair.id));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(stream_is("key", wire, sizeof(wire)));
}

TEST_F(source, add_pair_real__writes_value_and_id)
{
	struct { double value; uint64_t id; } pair = { -0x1.8p7, 9 };
	uint64_t wire[] = { wire64(pair.value), htole64(pair.id) };

	node.shape.function = AGGNET_FN_NEAREST;
	node.shape.vtype = AGGNET_VTYPE_FLOAT64;
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EPROTOTYPE, aggnet_source_add_real(self->s, "k", 1, 1));
	EXPECT_EQ(-EPROTOTYPE, aggnet_source_add_pair(self->s, "k", 1, 1, 1));
	ASSERT_EQ(0, aggnet_source_add_pair_real(self->s, "key", 3, pair.value,
						 pair.id));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(stream_is("key", wire, sizeof(wire)));
}

/*
 * An infinity is valid in float32, too; a number that becomes one is refused.
 */
TEST_F(source, add_real__beyond_float32)
{
	unsigned int dense;

	for (dense = 0; dense < 2; dense++) {
		int (*add)(struct aggnet_source *s, double value) =
			dense ? aggnet_source_add_element_real : add_to_key;

		node.shape.function = AGGNET_FN_MAX;
		node.shape.vtype = AGGNET_VTYPE_FLOAT32;
		node.shape.layout = dense ? AGGNET_LAYOUT_DENSE :
					    AGGNET_LAYOUT_KEYED;
		node.shape.elements = 2 * dense;
		ASSERT_EQ(0, start(self));
		EXPECT_EQ(-ERANGE, add(self->s, 1e39));
		EXPECT_STREQ("value 1e+39 does not fit float32",
			     aggnet_source_error(self->s));
		EXPECT_EQ(-ERANGE, add(self->s, -1e300));
		EXPECT_EQ(0, add(self->s, FLT_MAX));
		EXPECT_EQ(0, add(self->s, HUGE_VAL));
	}
}

TEST_F(source, add_element_real__writes_elements)
{
	static const double v[] = { 1.5, -0x1p-1000 };
	uint64_t block[13] = { 0 };
	size_t i;

	node.shape.function = AGGNET_FN_MIN;
	node.shape.vtype = AGGNET_VTYPE_FLOAT64;
	node.shape.layout = AGGNET_LAYOUT_DENSE;
	node.shape.elements = ARRAY_SIZE(v);
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EPROTOTYPE, aggnet_source_add_real(self->s, "k", 1, 1));
	EXPECT_EQ(-EPROTOTYPE, aggnet_source_add_element(self->s, 1));
	for (i = 0; i < ARRAY_SIZE(v); i++) {
		ASSERT_EQ(0, aggnet_source_add_element_real(self->s, v[i]));
		block[i] = wire64(v[i]);
	}
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	/* The key is the number of the only block, in a byte. */
	EXPECT_EQ(1 + 2 + sizeof(block), node.len);
	EXPECT_EQ(0, memcmp(node.stream + 3, block, sizeof(block)));
}

/* --- dense vectors --------------------------------------------------------- */

static int add_elements(struct aggnet_source *s, int64_t from, int64_t to)
{
	int err = 0;

	for (; !err && from < to; from++)
		err = aggnet_source_add_element(s, from * from * from);
	return err;
}

/* The stream has the cubes of 0..n-1 in blocks, then zeros. */
static bool stream_holds_cubes(uint32_t n)
{
	uint32_t block, i, at;
	const uint8_t *end;
	struct record rec;
	size_t off, len;

	for (off = 0, block = 0; off < node.len; off += len, block++) {
		len = record_get(node.stream + off, node.len - off, &rec);
		if (!len || rec.vlen % 13 ||
		    aggnet_vector_key_get(rec.key, rec.klen) != block)
			return false;
		for (i = 0; i < 13; i++) {
			at = block * 13 + i;
			end = rec.value + (i + 1) * rec.vlen / 13;
			if ((int64_t)aggnet_value_get(rec.value, end,
						      rec.vlen / 13).lo !=
			    (at < n ? (int64_t)at * at * at : 0))
				return false;
		}
	}
	return block == (n + 12) / 13;
}

static void of_vector(uint32_t elements)
{
	node.shape.layout = AGGNET_LAYOUT_DENSE;
	node.shape.elements = elements;
}

TEST_F(source, elements__travel_in_blocks)
{
	static const uint32_t n[] = { 1, 12, 13, 14, 26, 100000 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(n); i++) {
		of_vector(n[i]);
		ASSERT_EQ(0, start(self));
		ASSERT_EQ(0, add_elements(self->s, 0, n[i]));
		ASSERT_EQ(0, aggnet_source_finish(self->s));
		EXPECT_TRUE(stream_holds_cubes(n[i]))
			TH_LOG("%u elements", n[i]);
	}
}

TEST_F(source, elements__neither_more_nor_less)
{
	of_vector(20);
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EPROTOTYPE, aggnet_source_add(self->s, "k", 1, 1));
	EXPECT_EQ(-EPROTOTYPE, aggnet_source_add_element_real(self->s, 1));
	ASSERT_EQ(0, add_elements(self->s, 0, 19));
	EXPECT_EQ(-EINVAL, aggnet_source_finish(self->s));
	EXPECT_STREQ("only 19 of the vector's 20 elements were given",
		     aggnet_source_error(self->s));
	EXPECT_FALSE(node.shut);
	ASSERT_EQ(0, add_elements(self->s, 19, 20));
	EXPECT_EQ(-ERANGE, aggnet_source_add_element(self->s, 1));
	EXPECT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(stream_holds_cubes(20));
}

/*
 * Keys sort by bytes, then length; a refused key is not taken, and a replay
 * starts anew.
 */
TEST_F(source, sorted__order)
{
	static const char * const key[] = { "a", "a", "aa", "b", "b\xff" };
	size_t i;

	node.shape.layout = AGGNET_LAYOUT_SORTED;
	ASSERT_EQ(0, start(self));
	for (i = 0; i < ARRAY_SIZE(key); i++)
		EXPECT_EQ(0, aggnet_source_add(self->s, key[i], strlen(key[i]),
					       1));
	EXPECT_EQ(-EILSEQ, aggnet_source_add(self->s, "b\x7f", 2, 1));
	EXPECT_STREQ("record 6 is out of order: its key sorts before the last one's",
		     aggnet_source_error(self->s));
	EXPECT_EQ(-EILSEQ, aggnet_source_add(self->s, "b", 1, 1));
	EXPECT_EQ(0, aggnet_source_add(self->s, "c", 1, 1));
	EXPECT_EQ(6, aggnet_source_records(self->s));
	EXPECT_EQ(0, aggnet_source_finish(self->s));
}

TEST_F(source, sorted__newer_epoch)
{
	int err = 0;
	char key[16];
	int i;

	node.shape.layout = AGGNET_LAYOUT_SORTED;
	node.lost = ESTALE;
	node.lose_at = 1;
	self->opt.flags = AGGNET_OPT_REPLAY;
	ASSERT_EQ(0, start(self));
	for (i = 10000; !err; i++) {
		sprintf(key, "%d", i);
		err = aggnet_source_add(self->s, key, 5, 1);
	}
	EXPECT_EQ(-ESTALE, err);
	EXPECT_EQ(0, aggnet_source_add(self->s, "1", 1, 1));
	EXPECT_EQ(0, aggnet_source_finish(self->s));
}

TEST_F(source, elements__are_for_vectors)
{
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EPROTOTYPE, aggnet_source_add_element(self->s, 1));
}

/*
 * Also in the middle of a block; from the spool, or given again by the caller.
 */
TEST_F(source, elements__newer_epoch)
{
	int again, err;

	for (again = 0; again < 2; again++) {
		node_anew();
		node.lost = ESTALE;
		node.lose_at = 100000;
		of_vector(90000);
		self->opt.flags = again ? AGGNET_OPT_REPLAY : 0;
		ASSERT_EQ(0, start(self));
		err = add_elements(self->s, 0, 90000) ?:
		      aggnet_source_finish(self->s);
		EXPECT_EQ(again ? -ESTALE : 0, err);
		if (again) {
			ASSERT_EQ(0, add_elements(self->s, 0, 90000));
			ASSERT_EQ(0, aggnet_source_finish(self->s));
		}
		EXPECT_EQ(1, aggnet_source_replays(self->s));
		EXPECT_TRUE(stream_holds_cubes(90000));
	}
}

TEST_F(source, open__says_why_not)
{
	node.errors[0] = ENETUNREACH;
	EXPECT_EQ(-ENETUNREACH,
		  aggnet_source_open(&self->s, self->receiver, 7, NULL));
	EXPECT_STREQ("no entry for job 7 of receiver 10.0.0.1 on this node: apply its plan here",
		     aggnet_source_error(self->s));
	EXPECT_EQ(-ENETUNREACH, aggnet_source_add(self->s, "k", 1, 1));
	EXPECT_EQ(-ENETUNREACH, aggnet_source_finish(self->s));
}

TEST_F(source, send__without_memory_in_the_kernel)
{
	node.lost = ENOMEM;
	node.lose_at = 1;
	ASSERT_EQ(0, aggnet_source_open(&self->s, self->receiver, 7, NULL));
	ASSERT_EQ(-ENOMEM, add_numbered(self->s, 0, 20000));
	ASSERT_EQ(0, add_numbered(self->s,
				  aggnet_source_records(self->s), 20000));
	EXPECT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(stream_holds(20000));
}

TEST_F(source, newer_epoch__all_is_sent_again)
{
	const size_t points[] = { 1, 100000, 300000 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(points); i++) {
		node_anew();
		node.lost = ESTALE;
		node.lose_at = points[i];
		node.errors[1] = ENETUNREACH;
		ASSERT_EQ(0, start(self));
		ASSERT_EQ(0, add_numbered(self->s, 0, 30000));
		ASSERT_EQ(0, aggnet_source_finish(self->s));
		EXPECT_EQ(3, node.joined);
		EXPECT_EQ(1, aggnet_source_replays(self->s));
		EXPECT_TRUE(stream_holds(30000));
	}
}

TEST_F(source, newer_epoch__after_shutdown)
{
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, add_numbered(self->s, 0, 10000));
	node.done = false;
	self->s->part[0].tree->conn.opt.flags = AGGNET_OPT_NONBLOCK;
	EXPECT_EQ(-EAGAIN, aggnet_source_finish(self->s));
	EXPECT_EQ(POLLIN, aggnet_source_events(self->s));
	node.lost = ESTALE;
	node.errors[1] = ESTALE;
	EXPECT_EQ(-EAGAIN, aggnet_source_finish(self->s));
	EXPECT_EQ(self->s->part[0].tree->conn.timer, aggnet_source_fd(self->s));
	node.lost = 0;
	node.done = true;
	EXPECT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(node.shut);
	EXPECT_TRUE(stream_holds(10000));
}

TEST_F(source, newer_epoch__callers_own_replay)
{
	int err;

	self->opt.flags = AGGNET_OPT_REPLAY;
	node.lost = ESTALE;
	node.lose_at = 50000;
	ASSERT_EQ(0, start(self));
	err = add_numbered(self->s, 0, 30000);
	EXPECT_EQ(-ESTALE, err);
	EXPECT_EQ(-1, self->s->part[0].tree->spool);
	EXPECT_EQ(0, aggnet_source_records(self->s));
	ASSERT_EQ(0, add_numbered(self->s, 0, 30000));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(stream_holds(30000));
}

/* A source that has sent its first record and then lost its epoch. */
static void sent_one(struct __test_metadata *_metadata,
		     FIXTURE_DATA(source) *self, uint32_t flags,
		     uint32_t repair_ms)
{
	self->opt.flags = AGGNET_OPT_REPLAY | flags;
	self->opt.repair_ms = repair_ms;
	node.lost = ESTALE;
	node.lose_at = 1;
	ASSERT_EQ(0, start(self));
	memset(node.errors, 0x7f, sizeof(node.errors));
	ASSERT_EQ(0, aggnet_source_add(self->s, "k", 1, 1));
	node.len = 1;
}

/* With ESTALE a caller that replays by itself would begin again for ever. */
TEST_F(source, newer_epoch__does_not_come)
{
	sent_one(_metadata, self, 0, 1);
	EXPECT_EQ(-ETIMEDOUT, aggnet_source_finish(self->s));
	EXPECT_STREQ("a newer epoch is in force at 10.0.0.3: "
		     "2 sources missing", aggnet_source_error(self->s));
}

/* The entry is replaced while the source waits for a repair. */
static void plan_anew(void)
{
	node.instance = 2;
}

static void plan_at_once(void)
{
	node.plan++;
}

static void swap_behind_the_look(void)
{
	node.swap = 2;
}

static void take_maxima(void)
{
	node.shape.function = AGGNET_FN_MAX;
}

static void scale_anew(void)
{
	node.shape.scale++;
}

/*
 * No record of one transfer is sent to another, and the caller is not asked to
 * replay.
 */
TEST_F(source, another_transfer__is_not_joined)
{
	const struct {
		void (*change)(void);
		unsigned int joined;
		const char *says;
	} cases[] = {
		{ plan_anew, 1, "job 7 of receiver 10.0.0.1 was planned anew: instance 2 in place of 1" },
		{ plan_at_once, 1, "job 7 of receiver 10.0.0.1 was planned anew: another plan of instance 1" },
		{ swap_behind_the_look, 2, "job 7 of receiver 10.0.0.1 was planned anew: instance 2 in place of 1" },
		{ take_maxima, 1, "job 7 of receiver 10.0.0.1 has another function or type of values now" },
		{ scale_anew, 1, "job 7 of receiver 10.0.0.1 has another function or type of values now" },
	};
	unsigned int flags;
	size_t i;

	for (i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		flags = i % 2 ? AGGNET_OPT_REPLAY : 0;
		node_anew();
		node.lost = ESTALE;
		self->opt.flags = flags;
		ASSERT_EQ(0, start(self));
		ASSERT_EQ(0, add_numbered(self->s, 0, 1000));
		cases[i / 2].change();
		EXPECT_EQ(-ECANCELED, aggnet_source_finish(self->s));
		EXPECT_STREQ(cases[i / 2].says, aggnet_source_error(self->s));
		EXPECT_EQ(cases[i / 2].joined, node.joined);
		EXPECT_EQ(1, node.epoch);
		EXPECT_EQ(0, aggnet_source_replays(self->s));
		EXPECT_EQ(-ECANCELED, aggnet_source_add(self->s, "k", 1, 1));
		EXPECT_EQ(-ECANCELED, aggnet_source_finish(self->s));
	}
}

/*
 * The entry was aborted before open() and is replaced while it waits for a
 * repair.
 */
static void open_on_aborted(struct __test_metadata *_metadata,
			    struct aggnet_source **s, struct in_addr receiver,
			    struct aggnet_options *opt)
{
	opt->repair_ms = 60000;
	node.errors[0] = ETIMEDOUT;
	node.status.reason = AGGNET_R_TIMEOUT;
	node.status.instance = 5;
	node.instance = 6;
	ASSERT_EQ(0, aggnet_source_open(s, receiver, 7, opt));
}

TEST_F(source, first_epoch__is_of_any_instance)
{
	open_on_aborted(_metadata, &self->s, self->receiver, &self->opt);
	ASSERT_EQ(0, add_numbered(self->s, 0, 1000));
	EXPECT_EQ(0, aggnet_source_finish(self->s));
	EXPECT_TRUE(stream_holds(1000));
	EXPECT_EQ(0, aggnet_source_replays(self->s));
	EXPECT_EQ(6, node.status.instance);
}

/* The caller's records fit the shape of the aborted entry only. */
TEST_F(source, first_epoch__is_not_of_another_shape)
{
	open_on_aborted(_metadata, &self->s, self->receiver, &self->opt);
	ASSERT_EQ(0, add_numbered(self->s, 0, 1000));
	node.shape.function = AGGNET_FN_MAX;
	EXPECT_EQ(-ECANCELED, aggnet_source_finish(self->s));
	EXPECT_STREQ("job 7 of receiver 10.0.0.1 has another function or type of values now",
		     aggnet_source_error(self->s));
	EXPECT_EQ(1, node.joined);
}

/* The descriptor of a caller that polls is readable at the first tick. */
TEST_F(source, first_epoch__is_polled_for)
{
	struct pollfd pfd;

	self->opt.flags = AGGNET_OPT_NONBLOCK;
	open_on_aborted(_metadata, &self->s, self->receiver, &self->opt);
	pfd.fd = aggnet_source_fd(self->s);
	pfd.events = aggnet_source_events(self->s);
	EXPECT_EQ(POLLIN, pfd.events);
	EXPECT_EQ(1, poll(&pfd, 1, 60000));
}

/* With -ESTALE a caller that replays by itself would begin again for ever. */
TEST_F(source, abort__while_a_newer_epoch_is_waited_for)
{
	sent_one(_metadata, self, AGGNET_OPT_NONBLOCK, 60000);
	ASSERT_EQ(-EAGAIN, aggnet_source_finish(self->s));
	EXPECT_EQ(-EINVAL, aggnet_source_abort(self->s, AGGNET_R_NONE));
	EXPECT_EQ(-EINVAL, aggnet_source_abort(self->s, AGGNET_R_RECEIVER));
	EXPECT_EQ(0, aggnet_source_abort(self->s, AGGNET_R_USER));
	EXPECT_EQ(-ECANCELED, aggnet_source_add(self->s, "k", 1, 1));
	EXPECT_EQ(-ECANCELED, aggnet_source_finish(self->s));
	EXPECT_STREQ("aborted here: an application asked to stop",
		     aggnet_source_error(self->s));
	EXPECT_EQ(-ECANCELED, aggnet_source_abort(self->s, AGGNET_R_USER));
}

/* After joining, the source continues in that instance only. */
TEST_F(source, first_epoch__names_the_instance)
{
	open_on_aborted(_metadata, &self->s, self->receiver, &self->opt);
	ASSERT_EQ(0, add_numbered(self->s, 0, 1000));
	node.lost = ESTALE;
	ASSERT_EQ(0, source_flush(self->s->part[0].tree));
	node.instance = 7;
	EXPECT_EQ(-ECANCELED, aggnet_source_finish(self->s));
	EXPECT_STREQ("job 7 of receiver 10.0.0.1 was planned anew: instance 7 in place of 6",
		     aggnet_source_error(self->s));
}

TEST_F(source, abort__of_another_node_is_the_end)
{
	struct aggnet_status st;

	node.lost = ETIMEDOUT;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, aggnet_source_add(self->s, "k", 1, 1));
	EXPECT_EQ(-ETIMEDOUT, aggnet_source_finish(self->s));
	EXPECT_STREQ("timed out at 10.0.0.3: 2 sources missing",
		     aggnet_source_error(self->s));
	EXPECT_EQ(1, node.joined);
	ASSERT_EQ(0, aggnet_source_status(self->s, &st));
	EXPECT_EQ(htonl(0x0a000003), st.origin);
	EXPECT_EQ(-ETIMEDOUT, aggnet_source_add(self->s, "k", 1, 1));
}

/* The same error without waiting in a call. */
TEST_F(source, nonblock__a_newer_epoch_does_not_come)
{
	struct pollfd pfd = { .events = POLLIN };
	unsigned int i;
	int err;

	self->opt.flags = AGGNET_OPT_NONBLOCK;
	self->opt.repair_ms = 50;
	node.lost = ETIMEDOUT;
	ASSERT_EQ(0, start(self));
	for (i = node.joined; i < ARRAY_SIZE(node.errors); i++)
		node.errors[i] = ENETUNREACH;
	while ((err = aggnet_source_finish(self->s)) == -EAGAIN) {
		ASSERT_GT(ARRAY_SIZE(node.errors), node.joined);
		pfd.fd = aggnet_source_fd(self->s);
		poll(&pfd, 1, -1);
	}
	EXPECT_EQ(-ETIMEDOUT, err);
	EXPECT_STREQ("timed out at 10.0.0.3: 2 sources missing",
		     aggnet_source_error(self->s));
}

TEST_F(source, nonblock__takes_each_record_once)
{
	unsigned int i = 0, refused = 0;
	int err;

	self->opt.flags = AGGNET_OPT_NONBLOCK;
	node.room = 1000;
	ASSERT_EQ(0, start(self));
	while (i < 30000) {
		err = add_numbered(self->s, i, i + 1);
		if (!err) {
			i++;
			continue;
		}
		ASSERT_EQ(-EAGAIN, err);
		EXPECT_EQ(POLLOUT, aggnet_source_events(self->s));
		node.room += 1000;
		refused++;
	}
	while ((err = aggnet_source_finish(self->s)) == -EAGAIN)
		node.room += 1000;
	EXPECT_EQ(0, err);
	EXPECT_GT(refused, 10);
	EXPECT_TRUE(stream_holds(30000));
}

TEST_F(source, timeout__is_told_as_ours)
{
	self->opt.timeout_ms = 1;
	node.done = false;
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-ETIMEDOUT, aggnet_source_finish(self->s));
	EXPECT_STREQ("not over after 0.001 s on this node",
		     aggnet_source_error(self->s));
}

TEST_F(source, timeout__without_waiting)
{
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, add_numbered(self->s, 0, 1000));
	self->s->part[0].tree->conn.deadline = 1;
	EXPECT_EQ(-ETIMEDOUT, aggnet_source_finish(self->s));
	EXPECT_EQ(0, node.len);
}

/* The name of the directory is copied when the handle is opened. */
TEST_F(source, spool__cannot_be_made)
{
	char dir[] = "/nonexistent";

	self->opt.spool_dir = dir;
	ASSERT_EQ(0, start(self));
	strcpy(dir, "/tmp");
	EXPECT_EQ(-ENOENT, add_numbered(self->s, 0, 30000));
	EXPECT_STREQ("making the spool of replays: No such file or directory",
		     aggnet_source_error(self->s));
}

/* The spool file has no name and is freed with the handle. */
TEST_F(source, spool__goes_with_the_handle)
{
	char dir[] = "/tmp/aggnet-test-XXXXXX";

	ASSERT_NE(NULL, mkdtemp(dir));
	self->opt.spool_dir = dir;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, add_numbered(self->s, 0, 10000));
	EXPECT_EQ(self->fds + 2, open_fds());
	EXPECT_EQ(0, rmdir(dir));
}

TEST_F(source, spool__has_a_bound)
{
	unsigned int i = 0;
	int err;

	self->opt.spool_max = 200000;
	ASSERT_EQ(0, start(self));
	do
		err = add_numbered(self->s, i, i + 1);
	while (!err && ++i < 30000);
	EXPECT_EQ(-EFBIG, err);
	EXPECT_STREQ("the input is longer than the spool of replays may be, "
		     "200000 bytes (spool_max)", aggnet_source_error(self->s));
	/* All records but the last batch are in the file. */
	EXPECT_LE(200000 - AGGNET_SEND_MAX, lseek(self->s->part[0].tree->spool, 0, SEEK_END));
	EXPECT_EQ(-EFBIG, aggnet_source_finish(self->s));
	EXPECT_FALSE(node.shut);
}

/*
 * Without a file a new epoch is joined only while the buffer holds all records.
 */
TEST_F(source, no_replay)
{
	static const struct {
		unsigned int records;
		int error, expected;
		const char *says;
	} cases[] = {
		{ 1000, ESTALE, 0, NULL },
		{ 30000, ESTALE, -ECANCELED,
		  "a newer epoch has begun, and the records are not kept (no replay)" },
		{ 30000, ETIMEDOUT, -ETIMEDOUT,
		  "timed out at 10.0.0.3: 2 sources missing" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		node_anew();
		self->opt.flags = AGGNET_OPT_NO_REPLAY;
		self->opt.repair_ms = 60000;
		self->opt.spool_dir = "/nonexistent";
		ASSERT_EQ(0, start(self));
		ASSERT_EQ(0, add_numbered(self->s, 0, cases[i].records));
		node.lost = cases[i].error;
		node.lose_at = 1;
		node.len = 1;
		EXPECT_EQ(cases[i].expected, aggnet_source_finish(self->s));
		if (cases[i].says) {
			EXPECT_STREQ(cases[i].says,
				     aggnet_source_error(self->s));
		} else {
			EXPECT_TRUE(stream_holds(cases[i].records));
		}
		EXPECT_EQ(2 - !!cases[i].expected, node.joined);
	}
}

/* Close aborts even if a child of fork() holds another descriptor. */
TEST_F(source, close__before_the_end_aborts)
{
	ASSERT_EQ(0, start(self));
	stop(self);
	EXPECT_EQ(AGGNET_R_SENDER, node.aborted);
	node.aborted = 0;
	ASSERT_EQ(0, start(self));
	ASSERT_EQ(0, aggnet_source_finish(self->s));
	stop(self);
	EXPECT_EQ(0, node.aborted);
}

TEST_F(source, close__before_the_last_round_aborts)
{
	node.persist = true;
	node.done = false;
	self->opt.flags = AGGNET_OPT_NONBLOCK;
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EAGAIN, aggnet_source_round(self->s));
	stop(self);
	EXPECT_EQ(AGGNET_R_SENDER, node.aborted);
	node.aborted = 0;
	ASSERT_EQ(0, start(self));
	EXPECT_EQ(-EAGAIN, aggnet_source_finish(self->s));
	stop(self);
	EXPECT_EQ(0, node.aborted);
}

TEST_F(source, close__in_a_child_leaves_the_transfer)
{
	int status;
	pid_t pid;

	ASSERT_EQ(0, start(self));
	pid = fork();
	if (!pid) {
		aggnet_source_close(self->s);
		_exit(node.aborted);
	}
	ASSERT_EQ(pid, waitpid(pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, aggnet_source_finish(self->s));
}

TEST_F(source, lookup__tells_the_entry_and_leaves_nothing)
{
	struct aggnet_status st;

	node.shape.function = AGGNET_FN_MAX;
	ASSERT_EQ(0, aggnet_lookup(self->receiver, 7, &st));
	EXPECT_EQ(AGGNET_FN_MAX, st.function);
	EXPECT_EQ(0, node.joined);
	node.hidden = EACCES;
	EXPECT_EQ(-EACCES, aggnet_lookup(self->receiver, 7, &st));
}

TEST_HARNESS_MAIN
