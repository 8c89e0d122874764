// SPDX-License-Identifier: GPL-2.0
/* Unit tests of float sums: over a chain of tables they equal, bit for bit, the
 * sum in the order of the input.
 */
#include "chain.h"
#include "core/float_sum.h"

/* Random bits: all exponents, subnormals, sometimes not a number. */
static void draw_real(struct input *in, u8 vtype)
{
	u64 bits = get_random_u64();
	u32 i;

	if (get_random_u32() % 4 == 0)
		bits &= vtype == AGGNET_VTYPE_FLOAT64 ? ~(0x7ffULL << 52) :
							~(0xffULL << 23);
	in->key = get_random_u32() % KEYS;
	in->vlen = aggnet_float_bytes(vtype);
	for (i = 0; i < in->vlen; i++)
		in->value[i] = bits >> (8 * i);
}

/*
 * Compare with one state in the order of the input: a chain gives the same
 * bits.
 */
static void check_reals(struct __test_metadata *_metadata, u8 function,
			u8 vtype, u32 records, bool dense)
{
	const struct aggnet_shape shape = {
		.function = function,
		.vtype = vtype,
		.layout = dense ? AGGNET_LAYOUT_DENSE : AGGNET_LAYOUT_KEYED,
		.elements = dense ? KEYS : 0,
	};
	struct input *in = malloc(records * sizeof(*in));
	u32 size = aggnet_accum_size(&shape);
	void *state[KEYS], *want[KEYS];
	struct chain c;
	u32 i;

	for (i = 0; i < KEYS; i++) {
		want[i] = malloc(size);
		aggnet_accum_init(&shape, want[i]);
	}
	for (i = 0; i < records; i++) {
		draw_real(&in[i], vtype);
		aggnet_accum_merge(&shape, want[in[i].key], in[i].value,
				   in[i].vlen, true);
	}
	chain_start(&c, &shape);
	chain_run(&c, in, records);
	EXPECT_EQ(records, chain_result(&c, state));
	for (i = 0; i < KEYS; i++) {
		EXPECT_EQ(0, memcmp(want[i], state[i], size))
			TH_LOG("function %u, type %u, key %u", function, vtype,
			       i);
		free(state[i]);
		free(want[i]);
	}
	chain_free(&c);
	free(in);
}

TEST(real__any_split_and_order)
{
	static const u8 functions[] = { AGGNET_FN_SUM, AGGNET_FN_AVERAGE,
					AGGNET_FN_MIN, AGGNET_FN_MAX,
					AGGNET_FN_COUNT };
	u32 f, round;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (f = 0; f < ARRAY_SIZE(functions); f++)
		for (round = 1; round < 2000; round *= 3) {
			check_reals(_metadata, functions[f],
				    AGGNET_VTYPE_FLOAT32, round, false);
			check_reals(_metadata, functions[f],
				    AGGNET_VTYPE_FLOAT64, round, false);
		}
	for (round = 1; round < 2000; round *= 3)
		check_reals(_metadata, AGGNET_FN_SUM, AGGNET_VTYPE_FLOAT64,
			    round, true);
	EXPECT_EQ(0, shim_alloc_live);
}

TEST_HARNESS_MAIN
