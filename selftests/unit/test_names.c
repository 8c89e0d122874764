// SPDX-License-Identifier: GPL-2.0
/* Unit tests of names in messages: which addresses of a text are followed by a name. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"
#include "kselftest_harness.h"

#define NETWORK	"/tmp/aggnet-names.XXXXXX"

static const char description[] =
	"topology graph\n"
	"host node1\nhost node3\nswitch s\n"
	"link node1 s\nlink node3 s\n"
	"address node1 10.0.0.1\naddress node3 10.0.0.3\n"
	"address node1-s 192.168.1.1\naddress node3-s 192.168.1.3\n";

/* Each test is a process of its own: the description is read once in each. */
static void describe(const char *text)
{
	char path[] = NETWORK;
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");

	fputs(text, f);
	fclose(f);
	setenv("AGGNET_NETWORK", path, 1);
	free(names_add(""));
	unlink(path);
}

#define EXPECT_NAMED(wanted, text)			\
	do {						\
		char *named = names_add(text);		\
							\
		EXPECT_STREQ(wanted, named);		\
		free(named);				\
	} while (0)

TEST(messages)
{
	describe(description);
	EXPECT_NAMED("timed out at 10.0.0.3 (node3)", "timed out at 10.0.0.3");
	EXPECT_NAMED("not here: 10.0.0.1 (node1),10.0.0.3 (node3)",
		     "not here: 10.0.0.1,10.0.0.3");
	EXPECT_NAMED("10.0.0.1 (node1), 192.168.1.3 (node3).",
		     "10.0.0.1, 192.168.1.3.");
	EXPECT_NAMED("(10.0.0.3 (node3)): no answer", "(10.0.0.3): no answer");
	EXPECT_NAMED("the entry's child 10.0.0.3 (node3) and the node's 10.0.0.1 (node1)",
		     "the entry's child 10.0.0.3 and the node's 10.0.0.1");
}

TEST(not_addresses_of_hosts)
{
	describe(description);
	EXPECT_NAMED("10.0.0.2", "10.0.0.2");
	EXPECT_NAMED("10.0.0.30 110.0.0.3 10.0.0.3.4",
		     "10.0.0.30 110.0.0.3 10.0.0.3.4");
	EXPECT_NAMED("v10.0.0.3 x-10.0.0.3", "v10.0.0.3 x-10.0.0.3");
	EXPECT_NAMED("10.0.0.3/32 dev lo", "10.0.0.3/32 dev lo");
	EXPECT_NAMED("", "");
	EXPECT_NAMED("1111111111111111111111111", "1111111111111111111111111");
}

/* What somebody typed stays as it is, and no name is said twice. */
TEST(typed_and_said)
{
	describe(description);
	EXPECT_NAMED("'10.0.0.3' is none; 10.0.0.1 (node1) is one",
		     "'10.0.0.3' is none; 10.0.0.1 is one");
	EXPECT_NAMED("'aggctl recv 10.0.0.3' waits for 10.0.0.3 (node3)",
		     "'aggctl recv 10.0.0.3' waits for 10.0.0.3");
	EXPECT_NAMED("node3 has 10.0.0.3", "node3 has 10.0.0.3");
	EXPECT_NAMED("10.0.0.3 is node3.", "10.0.0.3 is node3.");
	EXPECT_NAMED("node1: 10.0.0.1", "node1: 10.0.0.1");
	EXPECT_NAMED("node10, xnode1, node1.b: 10.0.0.1 (node1)",
		     "node10, xnode1, node1.b: 10.0.0.1");
}

static const char *parsed(const char *text)
{
	struct in_addr addr = {};
	static char buf[INET_ADDRSTRLEN];

	return names_parse(text, &addr) ?
	       inet_ntop(AF_INET, &addr, buf, sizeof(buf)) : "none";
}

/* A name is as good as the identity of the host. */
TEST(typed)
{
	describe("topology graph\n"
		 "host node1\nhost v0\nhost node5\nswitch s\n"
		 "link node1 s\nlink v0 s\nlink node5 s\n"
		 "address node1 10.9.0.1\naddress v0 10.9.0.3\n"
		 "address node1-s 192.168.1.1\naddress v0-s 192.168.1.3\n");
	EXPECT_STREQ("10.9.0.1", parsed("node1"));
	EXPECT_STREQ("10.9.0.3", parsed("v0"));
	EXPECT_STREQ("10.0.0.2", parsed("v1"));
	EXPECT_STREQ("192.168.1.3", parsed("192.168.1.3"));
	/* As in plans. */
	EXPECT_STREQ("10.0.0.3", parsed("node5"));
	EXPECT_STREQ("none", parsed("node"));
	EXPECT_STREQ("none", parsed("s"));
	EXPECT_STREQ("none", parsed(""));
}

TEST(no_description)
{
	setenv("AGGNET_NETWORK", "", 1);
	EXPECT_NAMED("10.0.0.3", "10.0.0.3");
}

/* The names of a plan are those that its messages have, but for a description that is named. */
TEST(plan)
{
	json_t *plan = json_pack("{s:s}", "description", description);
	json_t *bare = json_object();

	setenv("AGGNET_NETWORK", "", 1);
	names_of_plan(plan);
	EXPECT_NAMED("10.0.0.3", "10.0.0.3");
	unsetenv("AGGNET_NETWORK");
	names_of_plan(bare);
	names_of_plan(plan);
	EXPECT_NAMED("10.0.0.3 (node3)", "10.0.0.3");
	names_of_plan(bare);
	EXPECT_NAMED("10.0.0.3 (node3)", "10.0.0.3");
	json_decref(plan);
	json_decref(bare);
}

/* Members of a table's row. */
TEST(rows)
{
	json_t *row = json_pack("{s:s, s:[s,s], s:i}", "at", "10.0.0.3", "all", "10.0.0.1",
				"10.0.0.2", "n", 3);
	json_t *named = json_pack("{s:s, s:[s,s], s:i}", "at", "10.0.0.3 (node3)", "all",
				  "10.0.0.1 (node1)", "10.0.0.2", "n", 3);

	describe(description);
	names_put(row, "at");
	names_put(row, "all");
	names_put(row, "n");
	names_put(row, "none");
	EXPECT_TRUE(json_equal(named, row));
	json_decref(row);
	json_decref(named);
}

/* The next command has the description that this host keeps, wherever that is. */
TEST(next_command)
{
	char path[] = NETWORK;
	int fd = mkstemp(path);
	char want[128];

	setenv("AGGNET_NETWORK", path, 1);
	snprintf(want, sizeof(want), "aggctl host init --topology @%s --run", path);
	EXPECT_STREQ(want, names_init("other"));
	close(fd);
	unlink(path);
	EXPECT_STREQ("other", names_init("other"));
}

TEST(refused_description)
{
	describe("topology graph\nhost\n");
	EXPECT_NAMED("10.0.0.3", "10.0.0.3");
}

/* Servers of a topology that is named have numbers. */
TEST(numbers)
{
	describe("topology bcube:2,1\naddress v3 10.0.0.3\n");
	EXPECT_NAMED("10.0.0.3 (v3)", "10.0.0.3");
}

TEST(hosts)
{
	const struct in_addr port = { htonl(0xc0a80103) };
	const struct in_addr other = { htonl(0xc0a80104) };

	describe(description);
	EXPECT_STREQ("node3", names_host(port));
	EXPECT_STREQ("192.168.1.4", names_host(other));
}

static const char racks[] =
	"topology graph\n"
	"host a1\nhost b1\nhost b2\nhost c1\n"
	"switch tor-a\nswitch tor-b\nswitch spine\n"
	"link a1 tor-a\nlink b1 tor-b\nlink b2 tor-b\nlink a1 c1\n"
	"link tor-a spine\nlink tor-b spine\n"
	"address a1 127.0.0.1\naddress b1 10.2.0.1\naddress c1 10.3.0.1\n"
	"address tor-a 10.1.0.254\n";

/* A switch that routes is no host: no command can be given there. */
TEST(switches)
{
	const struct in_addr tor = { htonl(0x0a0100fe) };
	const struct in_addr other = { htonl(0x0a0200fe) };

	describe(racks);
	EXPECT_NAMED("10.1.0.254 (tor-a): no answer; 10.2.0.1 (b1)",
		     "10.1.0.254: no answer; 10.2.0.1");
	EXPECT_STREQ("tor-a", names_switch(tor));
	EXPECT_EQ(NULL, names_switch(other));
	EXPECT_STREQ("10.1.0.254", names_host(tor));
}

/* What is said of a host behind a gateway. */
TEST(router)
{
	const struct in_addr self = { htonl(INADDR_LOOPBACK) };
	const struct in_addr tor = { htonl(0x0a0100fe) };
	const struct in_addr b1 = { htonl(0x0a020001) };
	const struct in_addr c1 = { htonl(0x0a030001) };

	describe(racks);
	EXPECT_STREQ("if the switch routes, add 'address tor-a 10.1.0.254' to the description of the network, and plan again",
		     names_router(b1, tor));
	/* Without a switch between them; this host; none of the description. */
	EXPECT_NE(NULL, strstr(names_router(c1, tor), "'address SWITCH 10.1.0.254'"));
	EXPECT_NE(NULL, strstr(names_router(self, tor), "'address SWITCH "));
	EXPECT_NE(NULL, strstr(names_router(tor, tor), "'address SWITCH "));
}

TEST(self_without_description)
{
	const struct in_addr port = { htonl(0xc0a80103) };
	char self[256] = "";

	setenv("AGGNET_NETWORK", "", 1);
	EXPECT_STREQ("192.168.1.3", names_host(port));
	gethostname(self, sizeof(self) - 1);
	self[strcspn(self, ".")] = '\0';
	EXPECT_STREQ(self, names_self(""));
	EXPECT_STREQ("v4", names_self("v4"));
}

TEST(self)
{
	describe("topology graph\nhost one\nhost two\nswitch s\n"
		 "link one s\nlink two s\n"
		 "address one 192.0.2.1\naddress two 127.0.0.1\n");
	EXPECT_STREQ("two", names_self(""));
	EXPECT_STREQ("v4", names_self("v4"));
}

TEST_HARNESS_MAIN
