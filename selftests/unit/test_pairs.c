// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the best pairs: over a chain of tables the result is the k best
 * pairs.
 */
#include "core/pairs.h"
#include "chain.h"

#define IDS	150

/* Few distinct ranks, so that ties and repeats are frequent. */
static void draw_pairs(struct input *in)
{
	u32 n = 1 + get_random_u32() % AGGNET_PAIRS_PART;
	struct aggnet_pair pair;
	u32 i;

	in->key = get_random_u32() % 3;
	in->vlen = n * AGGNET_PAIR_BYTES;
	for (i = 0; i < n; i++) {
		pair.rank = (s64)(get_random_u32() % 500) - 250;
		if (get_random_u32() % 50 == 0)
			pair.rank = get_random_u32() % 2 ? S64_MAX : S64_MIN;
		pair.id = get_random_u32() % IDS;
		aggnet_pair_put(in->value + i * AGGNET_PAIR_BYTES, &pair);
	}
}

/* The best rank of an ID, if it has one. */
struct best {
	bool any;
	s64 rank;
};

static void best_add(struct best best[IDS], bool top, const struct input *in)
{
	u32 at;

	for (at = 0; at < in->vlen; at += AGGNET_PAIR_BYTES) {
		struct aggnet_pair pair = aggnet_pair_get(in->value + at);
		struct best *b = &best[pair.id];
		s64 rank = top ? ~pair.rank : pair.rank;

		if (!b->any || rank < b->rank)
			*b = (struct best){ true, rank };
	}
}

/* Reference: look through all IDs for each place. */
static bool best_is(struct best best[IDS], u32 k, const struct aggnet_pairs *got)
{
	u32 place, id, take;

	for (place = 0; place < k; place++) {
		for (id = 0, take = IDS; id < IDS; id++)
			if (best[id].any && (take == IDS ||
					     best[id].rank < best[take].rank))
				take = id;
		if (take == IDS)
			break;
		if (place >= got->n || got->pair[place].id != take ||
		    got->pair[place].rank != best[take].rank)
			return false;
		best[take].any = false;
	}
	return place == got->n;
}

static void check_pairs(struct __test_metadata *_metadata, u8 function, u16 k,
			u32 records)
{
	const struct aggnet_shape shape = { .function = function, .k = k };
	struct input *in = malloc(records * sizeof(*in));
	static struct best want[3][IDS];
	void *state[KEYS];
	struct chain c;
	u32 i;

	memset(want, 0, sizeof(want));
	for (i = 0; i < records; i++) {
		draw_pairs(&in[i]);
		best_add(want[in[i].key], function == AGGNET_FN_TOPK, &in[i]);
	}
	chain_start(&c, &shape);
	chain_run(&c, in, records);
	EXPECT_EQ(records, chain_result(&c, state));
	for (i = 0; i < KEYS; i++) {
		EXPECT_TRUE(i > 2 || best_is(want[i], k, state[i]))
			TH_LOG("function %u, k %u, key %u", function, k, i);
		free(state[i]);
	}
	chain_free(&c);
	free(in);
}

TEST(pairs__any_split_and_order)
{
	static const u16 k[] = { 1, 2, 13, 14, 40, 64 };
	u32 i, round;

	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
	for (i = 0; i < ARRAY_SIZE(k); i++)
		for (round = 1; round < 500; round *= 2) {
			check_pairs(_metadata, AGGNET_FN_TOPK, k[i], round);
			check_pairs(_metadata, AGGNET_FN_NEAREST, k[i], round);
		}
}

TEST_HARNESS_MAIN
