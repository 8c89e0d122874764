// SPDX-License-Identifier: GPL-2.0
/* Unit tests of the memory that namespaces are charged for: no limit is
 * exceeded, and a refused charge changes nothing.
 */
#include <linux/random.h>
#include "netns.h"

#include "../uapi/harness.h"

#define SEED	0x63686172
#define CEILING	1000		/* of the host */
#define TENANTS	3
#define ROUNDS	20000

struct net init_net;
static struct net tenants[TENANTS];
static struct aggnet_net node[1 + TENANTS];	/* the first is the host's */

FIXTURE(charge) {
};

FIXTURE_SETUP(charge)
{
	u32 i;

	init_net.node = &node[0];
	for (i = 0; i < TENANTS; i++)
		tenants[i].node = &node[1 + i];
	for (i = 0; i <= TENANTS; i++) {
		node[i].memory_limit = CEILING;
		atomic64_set(&node[i].memory_used, 0);
	}
	node[0].tenant_limit = 0;
	TH_LOG("seed %#x", SEED);
	shim_random_seed(SEED);
}

FIXTURE_TEARDOWN(charge)
{
}

static u64 used(const struct aggnet_net *an)
{
	return atomic64_read(&an->memory_used);
}

/* The most that @an may use under the three limits. */
static u64 may_have(const struct aggnet_net *an)
{
	u64 own = an->memory_limit, tenant = node[0].tenant_limit ?: CEILING / 2;

	return an == &node[0] || own < tenant ? own : tenant;
}

TEST_F(charge, random__in_several_namespaces)
{
	u64 held[1 + TENANTS] = { 0 }, all = 0, bytes;
	unsigned int refused = 0, i;
	struct aggnet_net *an;
	u32 round;
	bool fits;

	for (round = 0; round < ROUNDS; round++) {
		i = get_random_u32() % (1 + TENANTS);
		an = &node[i];
		bytes = get_random_u32() % 300;
		if (get_random_u32() % 2) {
			bytes = min(bytes, held[i]);
			aggnet_memory_uncharge(an, bytes);
			held[i] -= bytes;
			all -= bytes;
		} else {
			/*
			 * For the host's limit its own memory and all others'
			 * count.
			 */
			fits = (i ? held[i] : all) + bytes <= may_have(an) &&
			       all + bytes <= CEILING;
			ASSERT_EQ(fits, aggnet_memory_room(an, bytes) ==
					AGGNET_ROOM);
			ASSERT_EQ(fits, aggnet_memory_charge(an, bytes));
			held[i] += fits ? bytes : 0;
			all += fits ? bytes : 0;
			refused += !fits;
		}
		ASSERT_EQ(i ? held[i] : all, used(an));
		ASSERT_EQ(all, used(&node[0]));
		if (!(round % 1000)) {
			node[1].memory_limit = get_random_u32() % CEILING;
			node[0].tenant_limit = get_random_u32() % CEILING;
		}
	}
	EXPECT_LT(ROUNDS / 20, refused);
}

TEST_F(charge, room__tells_which_limit_refuses)
{
	node[1].memory_limit = 100;
	node[0].tenant_limit = 400;
	EXPECT_EQ(AGGNET_ROOM, aggnet_memory_room(&node[1], 100));
	EXPECT_EQ(AGGNET_ROOM_NODE, aggnet_memory_room(&node[1], 101));
	EXPECT_EQ(AGGNET_ROOM_TENANT, aggnet_memory_room(&node[2], 401));
	ASSERT_TRUE(aggnet_memory_charge(&node[0], 900));
	EXPECT_EQ(AGGNET_ROOM, aggnet_memory_room(&node[2], 100));
	EXPECT_EQ(AGGNET_ROOM_HOST, aggnet_memory_room(&node[2], 101));
	EXPECT_FALSE(aggnet_memory_charge(&node[2], 101));
	EXPECT_EQ(0, used(&node[2]));
	EXPECT_EQ(900, used(&node[0]));
}

TEST_HARNESS_MAIN
