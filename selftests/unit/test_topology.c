// SPDX-License-Identifier: GPL-2.0
/* Unit tests of topologies and server lists. */
#include <string.h>

#include "../../tools/libaggtree/aggtree.h"
#include "kselftest_harness.h"

static struct aggt_topo *parse(const char *text)
{
	struct aggt_err err;

	return aggt_topo_parse(text, &err);
}

TEST(topo__bcube_sizes)
{
	struct aggt_topo *t = parse("bcube:4,1");

	ASSERT_NE(NULL, t);
	EXPECT_STREQ("bcube:4,1", aggt_topo_name(t));
	EXPECT_EQ(16, aggt_topo_servers(t));
	EXPECT_EQ(8, aggt_topo_switches(t));
	EXPECT_EQ(2, aggt_topo_dims(t));
	aggt_topo_free(t);
	t = parse("bcube:8,5");
	EXPECT_EQ(262144, aggt_topo_servers(t));
	EXPECT_EQ(6 * 32768, aggt_topo_switches(t));
	aggt_topo_free(t);
}

TEST(topo__ghc_switches_match_servers)
{
	struct aggt_topo *t = parse("ghc:3,5,2");
	unsigned int d, digit;
	aggt_node v, u;

	ASSERT_NE(NULL, t);
	EXPECT_EQ(30, aggt_topo_servers(t));
	EXPECT_EQ(10 + 6 + 15, aggt_topo_switches(t));
	for (v = 0; v < 30; v++) {
		for (d = 0; d < 3; d++) {
			uint32_t sw = aggt_topo_switch(t, v, d);

			EXPECT_EQ(d, aggt_topo_switch_level(t, sw));
			digit = aggt_topo_digit(t, v, d);
			EXPECT_EQ(v, aggt_topo_switch_server(t, sw, digit));
			u = aggt_topo_with_digit(t, v, d, !digit);
			EXPECT_EQ(sw, aggt_topo_switch(t, u, d));
			EXPECT_EQ(d, aggt_topo_link_dim(t, v, u));
			EXPECT_EQ(1, aggt_topo_distance(t, v, u));
		}
	}
	aggt_topo_free(t);
}

/* The papers' path: v14 w6 v2 w0 v0. */
TEST(topo__path_of_the_papers)
{
	struct aggt_topo *t = parse("bcube:4,1");

	EXPECT_EQ(2, aggt_topo_next_hop(t, 14, 0));
	EXPECT_EQ(0, aggt_topo_next_hop(t, 2, 0));
	EXPECT_EQ(0, aggt_topo_next_hop(t, 0, 0));
	EXPECT_EQ(6, aggt_topo_switch(t, 14, aggt_topo_link_dim(t, 14, 2)));
	EXPECT_EQ(0, aggt_topo_switch(t, 2, aggt_topo_link_dim(t, 2, 0)));
	EXPECT_EQ(AGGT_NONE, aggt_topo_link_dim(t, 14, 0));
	EXPECT_EQ(AGGT_NONE, aggt_topo_link_dim(t, 3, 3));
	aggt_topo_free(t);
}

TEST(topo__refused)
{
	static const struct {
		const char *text;
		const char *names;
	} bad[] = {
		{ "", "topology" }, { "torus:3,3", "torus:3,3" },
		{ "bcube:4", "bcube:4" }, { "bcube:4,1,2", "4,1,2" },
		{ "bcube:1,3", "dimension 0" }, { "bcube:x,1", "x,1" },
		{ "bcube:4,1 ", "4,1 " }, { "bcube:2,31", "at most" },
		{ "bcube:8,10", "servers" }, { "bcube:4,-1", "4,-1" },
		{ "bcube:99999999999,0", "99999999999" },
		{ "ghc:", "ghc:" }, { "ghc:3,,2", "3,,2" },
		{ "ghc:3,1", "dimension 1" }, { "ghc:3,2,", "3,2," },
	};
	struct aggt_err err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memset(&err, 0, sizeof(err));
		EXPECT_EQ(NULL, aggt_topo_parse(bad[i].text, &err));
		EXPECT_NE(NULL, strstr(err.text, bad[i].names)) {
			TH_LOG("%s: %s", bad[i].text, err.text);
		}
	}
	EXPECT_EQ(NULL, aggt_topo_parse("bcube:1,1", NULL));
}

TEST(list__names)
{
	struct aggt_topo *t = parse("bcube:4,1");
	struct aggt_list list;
	struct aggt_err err;

	ASSERT_EQ(0, aggt_list_parse(t, "v2,5, v15", 0, &list, &err));
	ASSERT_EQ(3, list.n);
	EXPECT_EQ(2, list.node[0]);
	EXPECT_EQ(5, list.node[1]);
	EXPECT_EQ(15, list.node[2]);
	aggt_list_clear(&list);
	ASSERT_EQ(0, aggt_list_parse(t, "# some\nv1 # one\n\n v3\n", 0, &list,
				     &err));
	ASSERT_EQ(2, list.n);
	EXPECT_EQ(3, list.node[1]);
	aggt_list_clear(&list);
	aggt_topo_free(t);
}

TEST(list__refused)
{
	static const struct {
		const char *text;
		const char *names;
	} bad[] = {
		{ "", "empty" }, { " ,\n", "empty" }, { "v16", "v16" },
		{ "v1,v2,v1", "v1: named twice" }, { "v", "server v" },
		{ "x3", "x3" }, { "v3x", "v3x" }, { "v3,w1", "w1" },
		{ "99999999999999999999999", "9999" },
		{ "random:0", "random:0" }, { "random:17", "random:17" },
		{ "random:", "random:" }, { "random:3,v1", "random:3,v1" },
		{ "-1", "-1" },
	};
	struct aggt_topo *t = parse("bcube:4,1");
	struct aggt_list list;
	struct aggt_err err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memset(&err, 0, sizeof(err));
		EXPECT_EQ(-1, aggt_list_parse(t, bad[i].text, 1, &list, &err));
		EXPECT_EQ(NULL, list.node);
		EXPECT_NE(NULL, strstr(err.text, bad[i].names)) {
			TH_LOG("%s: %s", bad[i].text, err.text);
		}
	}
	aggt_topo_free(t);
}

TEST(list__random_is_seeded_and_distinct)
{
	struct aggt_topo *t = parse("bcube:4,2");
	struct aggt_list a, b, c;
	size_t i, seen = 0, same = 0;

	ASSERT_EQ(0, aggt_list_parse(t, "random:20", 7, &a, NULL));
	ASSERT_EQ(0, aggt_list_parse(t, "random:20", 7, &b, NULL));
	ASSERT_EQ(0, aggt_list_parse(t, "random:20", 8, &c, NULL));
	for (i = 0; i < 20; i++) {
		EXPECT_EQ(a.node[i], b.node[i]);
		same += a.node[i] == c.node[i];
	}
	EXPECT_LT(same, 20);
	aggt_list_clear(&a);
	ASSERT_EQ(0, aggt_list_parse(t, "random:64", 7, &a, NULL));
	for (i = 0; i < a.n; i++)
		seen += a.node[i];
	EXPECT_EQ(64 * 63 / 2, seen);
	aggt_list_clear(&a);
	aggt_list_clear(&b);
	aggt_list_clear(&c);
	aggt_topo_free(t);
}

TEST(server__parse)
{
	struct aggt_topo *t = parse("bcube:4,1");
	struct aggt_err err;

	EXPECT_EQ(3, aggt_server_parse(t, "v3", &err));
	EXPECT_EQ(0, aggt_server_parse(t, "0", &err));
	EXPECT_EQ(AGGT_NONE, aggt_server_parse(t, "", &err));
	EXPECT_EQ(AGGT_NONE, aggt_server_parse(t, "v16", &err));
	EXPECT_NE(NULL, strstr(err.text, "v16"));
	aggt_topo_free(t);
}

TEST_HARNESS_MAIN
