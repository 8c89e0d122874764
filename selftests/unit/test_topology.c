// SPDX-License-Identifier: GPL-2.0
/* Unit tests of topologies and server lists: an error names the wrong item. */
#include <string.h>

#include "../../tools/libaggtree/aggtree.h"
#include "../uapi/harness.h"

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

TEST(topo__agents)
{
	struct aggt_topo *t = parse("fbfly:4,3,2");

	ASSERT_NE(NULL, t);
	EXPECT_TRUE(aggt_topo_agents(t));
	EXPECT_EQ(32, aggt_topo_servers(t));
	EXPECT_EQ(16, aggt_topo_switches(t));
	EXPECT_EQ(2, aggt_topo_dims(t));
	EXPECT_EQ(15, aggt_topo_switch(t, 31, 0));
	EXPECT_EQ(2, aggt_topo_distance(t, 0, 31));
	EXPECT_EQ(0, aggt_topo_distance(t, 0, 1));
	aggt_topo_free(t);
	t = parse("hyperx:2,3,4:5");
	ASSERT_NE(NULL, t);
	EXPECT_STREQ("hyperx:2,3,4:5", aggt_topo_name(t));
	EXPECT_EQ(120, aggt_topo_servers(t));
	EXPECT_EQ(24, aggt_topo_switches(t));
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
		{ "fbfly:4,1,2", "4,1,2" }, { "fbfly:4,3,0", "4,3,0" },
		{ "hyperx:4,4", "4,4" }, { "hyperx:4,4:0", "4,4:0" },
		{ "hyperx:4,4:1:1", "4,4:1:1" },
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

TEST(describe__gaps_and_addresses)
{
	static const char text[] =
		"# a rack\n\ntopology bcube:4,1 # sixteen\n"
		"failed v3\nabsent w6\nfailed v5-w1\n"
		"address v0 192.0.2.1\naddress v1 192.0.2.2\n"
		"address v1-w0 192.0.2.2\n"
		"address v1-w5 198.51.100.1 02:00:5E:10:00:fF\n";
	struct aggt_err err = { "" };
	struct aggt_topo *t = aggt_topo_describe(text, &err);
	struct aggt_list list;
	size_t i;

	ASSERT_NE(NULL, t) {
		TH_LOG("%s", err.text);
	}
	EXPECT_FALSE(aggt_topo_server_ok(t, 3));
	EXPECT_TRUE(aggt_topo_server_ok(t, 5));
	EXPECT_STREQ("192.0.2.2", aggt_topo_address(t, 1));
	EXPECT_EQ(NULL, aggt_topo_address(t, 2));
	EXPECT_STREQ("192.0.2.2", aggt_topo_port_address(t, 1, 0));
	EXPECT_STREQ("198.51.100.1", aggt_topo_port_address(t, 1, 1));
	EXPECT_EQ(NULL, aggt_topo_port_address(t, 0, 1));
	EXPECT_EQ(NULL, aggt_topo_port_lladdr(t, 1, 0));
	EXPECT_STREQ("02:00:5E:10:00:fF", aggt_topo_port_lladdr(t, 1, 1));
	ASSERT_EQ(0, aggt_list_parse(t, "random:15", 1, &list, &err));
	for (i = 0; i < list.n; i++)
		EXPECT_NE(3, list.node[i]);
	aggt_list_clear(&list);
	EXPECT_EQ(-1, aggt_list_parse(t, "random:16", 1, &list, &err));
	aggt_topo_free(t);
}

TEST(describe__refused)
{
	static const struct {
		const char *text;
		const char *names;
	} bad[] = {
		{ "", "topology T" }, { "failed v3\n", "line 1" },
		{ "topology bcube:4\n", "bcube:4" },
		{ "topology bcube:4,1\nfailed v16\n", "line 2: server v16" },
		{ "topology bcube:4,1\nfailed v3\nfailed v3\n", "v3: named twice" },
		{ "topology bcube:4,1\nfailed w8", "w8" },
		{ "topology bcube:4,1\nfailed v0-w1", "no such link" },
		{ "topology bcube:4,1\naddress v0 1.2.3", "1.2.3" },
		{ "topology bcube:4,1\naddress v0 1.2.3.256", "1.2.3.256" },
		{ "topology bcube:4,1\naddress v0 1.2.3.4\naddress v0 1.2.3.5",
		  "given twice" },
		{ "topology bcube:4,1\naddress v0 1.2.3.4\naddress v1 1.2.3.4",
		  "is v0's" },
		{ "topology bcube:4,1\naddress v0-w0 1.2.3.4\naddress v0-w0 1.2.3.5",
		  "given twice" },
		{ "topology bcube:4,1\naddress v0-w0 1.2.3.4\naddress v1 1.2.3.4",
		  "is v0's" },
		{ "topology bcube:4,1\naddress v0-w1 1.2.3.4", "no such link" },
		{ "topology bcube:4,1\naddress w0-w1 1.2.3.4", "no such link" },
		{ "topology bcube:4,1\naddress v0-w0 1.2.3.4 02:00:5e:10:00",
		  "MAC" },
		{ "topology bcube:4,1\naddress v0-w0 1.2.3.4 02:00:5e:10:00:ffa",
		  "MAC" },
		{ "topology bcube:4,1\naddress v0 1.2.3.4 02:00:5e:10:00:ff",
		  "MAC" },
		{ "topology bcube:4,1\n\ncolour v0 red", "line 3: colour" },
		{ "topology bcube:4,1\nfailed w0\nfailed w5\n",
		  "v1: disconnected" },
		{ "topology bcube:4,1\nfailed a b c d", "too many" },
	};
	struct aggt_err err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		memset(&err, 0, sizeof(err));
		EXPECT_EQ(NULL, aggt_topo_describe(bad[i].text, &err));
		EXPECT_NE(NULL, strstr(err.text, bad[i].names)) {
			TH_LOG("%s: %s", bad[i].text, err.text);
		}
	}
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
		{ "-1", "-1" }, { "v2*0", "*0" }, { "v2*", "tasks" },
		{ "*3", "tasks" }, { "v2*x", "*x" }, { "managed:0", "managed:0" },
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

TEST(list__tasks_and_managed)
{
	struct aggt_topo *t = parse("bcube:8,5");
	struct aggt_list list;
	size_t i;

	ASSERT_EQ(0, aggt_list_parse(t, "v2,v5*3", 0, &list, NULL));
	ASSERT_NE(NULL, list.tasks);
	EXPECT_EQ(1, list.tasks[0]);
	EXPECT_EQ(3, list.tasks[1]);
	aggt_list_clear(&list);
	ASSERT_EQ(0, aggt_list_parse(t, "managed:500", 1, &list, NULL));
	for (i = 0; i < list.n; i++)
		EXPECT_GT(512, list.node[i]);
	EXPECT_EQ(NULL, list.tasks);
	aggt_list_clear(&list);
	aggt_topo_free(t);
}

TEST(sizes__lines)
{
	static const struct {
		const char *text;
		const char *names;
	} bad[] = {
		{ "v9 1", "v9: not a sender" }, { "v2 1\nv2 2", "v2" },
		{ "v2", "v2" }, { "v2 x", "v2" }, { "v2 -1", "v2" },
		{ "v2 1 1", "v2" }, { "v2 nan", "v2" }, { "x 1", "x" },
	};
	struct aggt_topo *t = parse("bcube:4,1");
	struct aggt_list list;
	struct aggt_err err;
	double sizes[2];
	size_t i;

	ASSERT_EQ(0, aggt_list_parse(t, "v2,v5", 0, &list, NULL));
	ASSERT_EQ(0, aggt_sizes_parse(t, "# sizes\n v5\t2.5\n\n", &list, sizes,
				      &err));
	EXPECT_EQ(1, sizes[0]);
	EXPECT_EQ(2.5, sizes[1]);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		EXPECT_EQ(-1, aggt_sizes_parse(t, bad[i].text, &list, sizes,
					       &err));
		EXPECT_NE(NULL, strstr(err.text, bad[i].names)) {
			TH_LOG("%s: %s", bad[i].text, err.text);
		}
	}
	aggt_list_clear(&list);
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
