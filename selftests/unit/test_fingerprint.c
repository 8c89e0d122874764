// SPDX-License-Identifier: GPL-2.0
/* Unit tests of fingerprints: for each linear function, type and layout the
 * fingerprints of what the sources give add up to that of the result; not if a
 * record was lost or doubled, or a bit of the result inverted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <kselftest_harness.h>

#include "core/accum.h"
#include "core/fault.h"
#include "core/fingerprint.h"
#include "core/tag.h"
#include "../../tools/libaggnet/record.c"
#include "../../tools/libaggnet/fingerprint.c"

#define KEYS	24	/* different ones */
#define RECORDS	200
#define SOURCES	3
#define ELEMENTS 300	/* of a dense vector: 24 blocks of integers */
#define ROUNDS	40

/**
 * struct input - one record of a source
 * @key: number of its key
 * @len: of the record
 * @bytes: the record
 */
struct input {
	unsigned int key;
	size_t len;
	uint8_t bytes[AGGNET_RECORD_MAX];
};

static uint64_t state;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void seed(void)
{
	const char *given = getenv("SEED");

	if (given)
		state = strtoull(given, NULL, 10);
	else if (getrandom(&state, sizeof(state), 0) != sizeof(state))
		abort();
	state |= 1;
	printf("# SEED=%llu\n", (unsigned long long)state);
}

FIXTURE(sum) {
	struct aggnet_shape shape;
	uint64_t key[2];
	uint8_t name[KEYS][AGGNET_KEY_MAX];
	uint8_t klen[KEYS];
	struct input input[RECORDS];
	uint8_t *accum[KEYS];
};

FIXTURE_VARIANT(sum) {
	uint8_t function;
	uint8_t vtype;
	uint8_t layout;
};

#define SHAPE(name, fn, type, kind)					\
FIXTURE_VARIANT_ADD(sum, name) {					\
	.function = AGGNET_FN_##fn, .vtype = AGGNET_VTYPE_##type,	\
	.layout = AGGNET_LAYOUT_##kind,					\
}

SHAPE(sum_int64, SUM, INT64, KEYED);
SHAPE(sum_int32, SUM, INT32, KEYED);
SHAPE(sum_fixed, SUM, FIXED, KEYED);
SHAPE(sum_float32, SUM, FLOAT32, KEYED);
SHAPE(sum_float64, SUM, FLOAT64, KEYED);
SHAPE(count_int64, COUNT, INT64, KEYED);
SHAPE(count_float64, COUNT, FLOAT64, KEYED);
SHAPE(average_int64, AVERAGE, INT64, KEYED);
SHAPE(average_float32, AVERAGE, FLOAT32, KEYED);
SHAPE(average_float64, AVERAGE, FLOAT64, KEYED);
SHAPE(bxor_int64, BXOR, INT64, KEYED);
SHAPE(bxor_int32, BXOR, INT32, KEYED);
SHAPE(lxor_int64, LXOR, INT64, KEYED);
SHAPE(dense_int64, SUM, INT64, DENSE);
SHAPE(dense_float32, SUM, FLOAT32, DENSE);
SHAPE(dense_float64, SUM, FLOAT64, DENSE);

/* Different keys, of all lengths; some differ in their lengths only. */
static void draw_name(FIXTURE_DATA(sum) *self, unsigned int k)
{
	size_t i;

	if (self->shape.layout == AGGNET_LAYOUT_DENSE) {
		self->klen[k] = aggnet_vector_key_put(&self->shape, k,
						      self->name[k]);
		return;
	}
	if (k < 12)
		self->klen[k] = k + 1;
	else
		self->klen[k] = k < 18 ? 8 : 1 + draw() % AGGNET_KEY_MAX;
	for (i = 0; i < self->klen[k]; i++)
		self->name[k][i] = k < 12 ? 0 : draw();
	if (k >= 12)
		self->name[k][0] = k;
}

/* Numbers of all sizes, and 0; of reals also those that are not finite. */
static size_t draw_value(const struct aggnet_shape *shape, uint8_t *buf)
{
	uint64_t v = draw();
	size_t i, len;

	if (aggnet_vtype_float(shape->vtype))
		len = aggnet_float_bytes(shape->vtype);
	else
		len = draw() % (aggnet_source_bytes(shape->vtype) + 1);
	if (draw() % 8 == 0)
		v = 0;
	for (i = 0; i < len; i++)
		buf[i] = v >> (8 * i);
	return len;
}

static size_t draw_block(const struct aggnet_shape *shape, uint8_t *buf)
{
	size_t i, width = draw() % 9;

	if (aggnet_vector_block(shape) == 1)
		return draw_value(shape, buf);
	for (i = 0; i < width * AGGNET_BLOCK_ELEMENTS; i++)
		buf[i] = draw();
	return width * AGGNET_BLOCK_ELEMENTS;
}

static void draw_inputs(FIXTURE_DATA(sum) *self)
{
	uint8_t value[AGGNET_VALUE_MAX];
	unsigned int i;
	size_t vlen;

	for (i = 0; i < KEYS; i++)
		draw_name(self, i);
	for (i = 0; i < RECORDS; i++) {
		struct input *in = &self->input[i];

		in->key = draw() % KEYS;
		vlen = self->shape.layout == AGGNET_LAYOUT_DENSE ?
		       draw_block(&self->shape, value) :
		       draw_value(&self->shape, value);
		in->len = record_write(in->bytes, self->name[in->key],
				       self->klen[in->key], value, vlen);
	}
}

FIXTURE_SETUP(sum)
{
	unsigned int i;

	self->shape = (struct aggnet_shape){
		.function = variant->function, .vtype = variant->vtype,
		.layout = variant->layout,
		.scale = variant->vtype == AGGNET_VTYPE_FIXED ? 20 : 0,
		.elements = variant->layout == AGGNET_LAYOUT_DENSE ?
			    ELEMENTS : 0,
	};
	for (i = 0; i < KEYS; i++)
		self->accum[i] = malloc(aggnet_accum_size(&self->shape));
	self->key[0] = draw();
	self->key[1] = draw();
	draw_inputs(self);
}

FIXTURE_TEARDOWN(sum)
{
	unsigned int i;

	for (i = 0; i < KEYS; i++)
		free(self->accum[i]);
}

static bool variant_integers(const struct aggnet_shape *shape)
{
	return shape->function == AGGNET_FN_SUM &&
	       aggnet_shape_kind(shape) == AGGNET_KIND_PLAIN;
}

static struct fingerprint begin(const FIXTURE_DATA(sum) *self)
{
	return (struct fingerprint){
		.shape = self->shape, .kind = aggnet_fp_kind(&self->shape),
		.integers = variant_integers(&self->shape),
		.key = { self->key[0], self->key[1] },
	};
}

/* Of all sources, as nodes add them. */
static uint64_t given(const FIXTURE_DATA(sum) *self)
{
	struct fingerprint f;
	uint64_t all = 0;
	unsigned int s, i;

	for (s = 0; s < SOURCES; s++) {
		f = begin(self);
		for (i = s; i < RECORDS; i += SOURCES)
			fingerprint_records(&f, self->input[i].bytes,
					    self->input[i].len);
		all = aggnet_fp_add(f.kind, all, f.value);
	}
	return all;
}

/* Merge the records; that of number @at so many times. */
static void merge(FIXTURE_DATA(sum) *self, unsigned int at, unsigned int times)
{
	struct record rec;
	unsigned int i, n;

	for (i = 0; i < KEYS; i++)
		aggnet_accum_init(&self->shape, self->accum[i]);
	for (i = 0; i < RECORDS; i++) {
		record_get(self->input[i].bytes, self->input[i].len, &rec);
		for (n = i == at ? times : 1; n; n--)
			aggnet_accum_merge(&self->shape,
					   self->accum[self->input[i].key],
					   rec.value, rec.vlen, true);
	}
}

/* Of the result, entry by entry and as a table. */
static uint64_t result(const FIXTURE_DATA(sum) *self)
{
	struct fingerprint f = begin(self), g = begin(self);
	struct merge_entry entry[KEYS];
	const struct merge m = {
		.shape = self->shape, .entry = entry, .n = KEYS
	};
	unsigned int i;

	for (i = 0; i < KEYS; i++) {
		fingerprint_accum(&f, self->name[i], self->klen[i],
				  self->accum[i]);
		entry[i] = (struct merge_entry){
			.key = self->name[i], .klen = self->klen[i],
			.accum = self->accum[i],
		};
		if (merge_plain(&m))
			memcpy(&entry[i].value, self->accum[i],
			       sizeof(entry[i].value));
	}
	fingerprint_result(&g, &m);
	if (f.value != g.value)
		abort();
	return f.value;
}

TEST_F(sum, adds_up)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		draw_inputs(self);
		merge(self, 0, 1);
		ASSERT_EQ(given(self), result(self)) {
			TH_LOG("round %u", i);
		}
	}
}

/* Does the record count for anything? */
static bool is_neutral(const FIXTURE_DATA(sum) *self, unsigned int at)
{
	struct fingerprint f = begin(self);

	fingerprint_records(&f, self->input[at].bytes, self->input[at].len);
	return !f.value;
}

TEST_F(sum, a_lost_record_shows)
{
	unsigned int at;

	for (at = 0; at < RECORDS; at++) {
		merge(self, at, 0);
		EXPECT_NE(!is_neutral(self, at), given(self) == result(self));
	}
}

/* Of an exclusive or it is as if the record had been lost. */
TEST_F(sum, a_doubled_record_shows)
{
	unsigned int at;

	for (at = 0; at < RECORDS; at++) {
		merge(self, at, 2);
		EXPECT_NE(!is_neutral(self, at), given(self) == result(self));
	}
}

TEST_F(sum, an_inverted_bit_shows)
{
	unsigned int i;

	for (i = 0; i < KEYS; i++) {
		merge(self, 0, 1);
		aggnet_fault_flip(&self->shape, self->accum[i]);
		EXPECT_NE(given(self), result(self));
	}
}

/* Keys of two records have exchanged a part. */
TEST(hash__is_not_linear_in_the_key)
{
	struct fingerprint f = { .kind = AGGNET_FP_SUM, .key = { MIX_1, MIX_2 } };
	uint64_t key[4] = { 0x1122, 0x3344, 0x1144, 0x3322 };
	uint64_t h[4];
	unsigned int i;

	for (i = 0; i < 4; i++)
		h[i] = fp_hash(&f, (const uint8_t *)&key[i], sizeof(key[i]));
	EXPECT_NE(aggnet_fp_sum(h[0], h[1]), aggnet_fp_sum(h[2], h[3]));
	EXPECT_NE(h[0] ^ h[1], h[2] ^ h[3]);
}

TEST(hash__depends_on_the_length_of_the_key)
{
	struct fingerprint f = { .kind = AGGNET_FP_SUM, .key = { MIX_1, MIX_2 } };
	uint8_t zero[AGGNET_KEY_MAX] = { 0 };
	uint64_t h[AGGNET_KEY_MAX];
	unsigned int i, k;

	for (i = 0; i < AGGNET_KEY_MAX; i++) {
		h[i] = fp_hash(&f, zero, i + 1);
		for (k = 0; k < i; k++)
			EXPECT_NE(h[k], h[i]);
	}
}

TEST(numbers__modulo_a_prime)
{
	static const struct aggnet_value value[] = {
		{ 0, 0 }, { 1, 0 }, { ~0ull, ~0ull }, { P, 0 }, { P + 1, 0 },
		{ 0, 1 }, { 0, 1ull << 63 }, { ~0ull, ~0ull >> 1 },
		{ 0, ~0ull },
	};
	/* -1; 2^64 is 8; 2^127 is 32; -2^64 */
	static const uint64_t want[] = {
		0, 1, P - 1, 0, 1, 8, P - 32, 31, P - 8,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(value); i++)
		EXPECT_EQ(want[i], aggnet_fp_sum(fp_of_value(&value[i]), 0)) {
			TH_LOG("value %u", i);
		}
	EXPECT_EQ(P - 1, aggnet_fp_sum(fp_of_int64(-1), 0));
	EXPECT_EQ(P - 4, aggnet_fp_sum(fp_of_int64(INT64_MIN), 0));
	EXPECT_EQ(1, fp_shift(1, 61));
	EXPECT_EQ(0, aggnet_fp_sum(P, P));
	EXPECT_EQ(14, aggnet_fp_sum(~0ull, ~0ull));
	/* The numbers, folded once, add up to 2P + 1. */
	EXPECT_EQ(1, aggnet_fp_sum(~0ull, P - 6));
	EXPECT_EQ(1, aggnet_fp_sum(P, (1ull << 62) - 1));
}

TEST(key__of_an_epoch)
{
	struct aggnet_secret secret = { .keyed = true, .bytes = "0123456789abcde" };
	struct aggnet_secret none = { .keyed = false };
	u64 a[2], b[2];

	aggnet_fp_key(&secret, 1, 2, 3, a);
	aggnet_fp_key(&secret, 1, 2, 3, b);
	EXPECT_EQ(0, memcmp(a, b, sizeof(a)));
	EXPECT_NE(a[0], a[1]);
	aggnet_fp_key(&secret, 1, 2, 4, b);
	EXPECT_NE(a[0], b[0]);
	aggnet_fp_key(&secret, 1, 3, 3, b);
	EXPECT_NE(a[0], b[0]);
	aggnet_fp_key(&secret, 2, 2, 3, b);
	EXPECT_NE(a[0], b[0]);
	aggnet_fp_key(&none, 1, 2, 3, b);
	EXPECT_NE(a[0], b[0]);
}

static void __attribute__((constructor)) begin_seed(void)
{
	seed();
}

TEST_HARNESS_MAIN
