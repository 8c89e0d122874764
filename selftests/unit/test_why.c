// SPDX-License-Identifier: GPL-2.0
/* Unit tests of "aggctl why" with a node that the test provides: each cause is
 * named with its object and the next command, and the exit status is 3.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggnet.h"
#include "aggctl.h"

#define SELF		0x0a000002
#define OTHER		0x0a000001

static struct played {
	struct aggnet_node_info node;
	struct aggnet_port_info port;
	size_t ports;
	struct aggnet_tree_info tree;
	size_t trees;
	struct aggnet_stat stat;
	bool down;
	int refuse;
	struct in_addr lost;
	const char *what;
	const char *fix;
} played;

/* One check has failed, if there is one. */
static json_t *played_check(bool *good)
{
	*good = !played.what;
	return json_pack("[{s:b, s:s, s:s, s:s?, s:s}]", "ok", *good, "what",
			 *good ? "module" : played.what, "finding", "found",
			 "fix", played.fix, "host", "node2");
}

static int played_ports(struct aggnet_port_info **list, size_t *n)
{
	*list = malloc(sizeof(**list));
	**list = played.port;
	*n = played.ports;
	return 0;
}

static int played_trees(struct aggnet_tree_info **list, size_t *n)
{
	*list = malloc(sizeof(**list));
	**list = played.tree;
	*n = played.trees;
	return 0;
}

static int played_stats(struct aggnet_stat **list, size_t *n)
{
	*list = malloc(sizeof(**list));
	**list = played.stat;
	*n = 1;
	return 0;
}

#define aggnet_ctl_open(ctl)		(*(ctl) = (void *)&played, 0)
#define aggnet_ctl_close(ctl)		((void)(ctl))
#define aggnet_ctl_error(ctl)		((void)(ctl), "refused")
#define aggnet_node_get(ctl, info)	(*(info) = played.node, played.refuse)
#define aggnet_port_list(ctl, list, n)	played_ports(list, n)
#define aggnet_tree_list(ctl, list, n)	played_trees(list, n)
#define aggnet_tree_list_free(list, n)	((void)(n), free(list))
#define aggnet_stats_list(ctl, list, n)	played_stats(list, n)

static bool played_up(const char *device)
{
	(void)device;
	return !played.down;
}

#define device_up played_up
#define node_check played_check

#include "../../tools/aggctl/cmd/ctl_open.c"
#include "../../tools/aggctl/cmd/diagnosis.c"
#include "../../tools/aggctl/cmd/cmd_why.c"
#include "../uapi/harness.h"

FIXTURE(why) {
	struct aggctl ctl;
	char text[4096];
};

/* A merge of 2 flows and its own that has succeeded. */
FIXTURE_SETUP(why)
{
	memset(&self->ctl, 0, sizeof(self->ctl));
	played = (struct played){
		.node.address.s_addr = htonl(SELF),
		.node.label = "node2",
		.port = { .ifindex = 0x7ffffff0, .ifname = "eth7" },
		.ports = 1,
		.tree = {
			.has = AGGNET_HAS(AGGNET_A_TREE_STATE),
			.incast_id = 7ULL << 32 | OTHER, .contributors = 3,
			.writers = 1, .channels = 2,
			.scheme = AGGNET_SCHEME_EXACT,
			.link_ifindex = 0x7ffffff0, .state = AGGNET_TREE_DONE,
			.records_in = 30, .records_out = 10,
			.acceptor.s_addr = htonl(OTHER),
		},
		.trees = 1,
	};
	strcpy(played.stat.name, "rx_packets");
	played.stat.value = 9;
	job = UINT64_MAX;
	receiver = NULL;
	held = false;
}

FIXTURE_TEARDOWN(why)
{
}

/* Return: the exit status; what was printed is in self->text. */
static int ask(FIXTURE_DATA(why) *self, int argc, char **argv)
{
	FILE *f = tmpfile();
	int out = dup(STDOUT_FILENO), error = dup(STDERR_FILENO), st;

	fflush(NULL);
	dup2(fileno(f), STDOUT_FILENO);
	dup2(fileno(f), STDERR_FILENO);
	st = cmd_why.verbs[0].run(&self->ctl, argc, argv);
	fflush(NULL);
	dup2(out, STDOUT_FILENO);
	dup2(error, STDERR_FILENO);
	close(out);
	close(error);
	rewind(f);
	self->text[fread(self->text, 1, sizeof(self->text) - 1, f)] = '\0';
	fclose(f);
	return st;
}

#define EXPECT_SAYS(status, sentence)					\
do {									\
	EXPECT_EQ(status, ask(self, 0, NULL));				\
	EXPECT_NE(NULL, strstr(self->text, sentence))			\
		TH_LOG("%s", self->text);				\
} while (0)

TEST_F(why, merges)
{
	ASSERT_EQ(0, ask(self, 0, NULL));
	EXPECT_STREQ("job 7 to 10.0.0.1 at node2 (merges, done): the planned flows are merged here\n"
		     "  flows that arrived: 2 of 2 planned\n"
		     "  records: 30 in, 10 out (3.00 to 1)\n"
		     "  merged next at: 10.0.0.1\n", self->text);
}

TEST_F(why, parts)
{
	played.tree.contributors = 1;
	played.tree.channels = 0;
	EXPECT_SAYS(0, "a source, and has no other flow");
	EXPECT_EQ(NULL, strstr(self->text, "flows that arrived"));
	/* One flow passes a server: the kernel keeps no state of it. */
	played.tree.writers = 0;
	played.tree.has = 0;
	played.tree.state = AGGNET_TREE_IDLE;
	EXPECT_SAYS(0, "at node2 (forwards, idle): this node forwards it, and has nothing to merge\n");
	EXPECT_EQ(NULL, strstr(self->text, "flows that arrived"));
	played.tree.fallback_link = 1;
	EXPECT_SAYS(3, "at node2 (forwards, idle): not as planned\n  WRONG: packets: 1 packets left by plain IP");
	played.tree.fallback_link = 0;
	played.down = true;
	EXPECT_SAYS(3, "at node2 (forwards, idle): not as planned\n  WRONG: port eth7: it is down");
	played.down = false;
	/* A switch has no planned link. */
	played.tree.contributors = 0;
	played.tree.scheme = AGGNET_SCHEME_ROUTE;
	EXPECT_SAYS(0, "this node forwards it");
	played.tree.has = AGGNET_HAS(AGGNET_A_TREE_STATE);
	played.tree.state = AGGNET_TREE_DONE;
	played.node.address.s_addr = htonl(OTHER);
	played.tree.contributors = 2;
	played.tree.channels = 2;
	played.tree.link_ifindex = 0;
	played.tree.scheme = AGGNET_SCHEME_ROUTE;
	EXPECT_SAYS(0, "(receives, done): the planned flows");
}

TEST_F(why, node)
{
	played.trees = 0;
	EXPECT_SAYS(3, "WRONG: node2: it has no entry, and merges nothing. Next: aggctl apply");
	strcpy(played.stat.name, "forwarded_filter");
	played.stat.value = 1;
	EXPECT_SAYS(0, "note: node2: it has no entry, and has forwarded packets by the names of its links. Next: aggctl stats show");
	played.ports = 0;
	EXPECT_SAYS(3, "WRONG: node2: no port is attached. Next: aggctl port add");
	played.node.address.s_addr = 0;
	EXPECT_SAYS(3, "WRONG: node2: it has no identity. Next: aggctl node set address");
	played.refuse = -EPERM;
	EXPECT_SAYS(1, "node: refused");
}

TEST_F(why, job)
{
	char *seven = "7", *eight = "8", *word = "x";

	EXPECT_EQ(0, ask(self, 1, &seven));
	EXPECT_EQ(2, ask(self, 1, &seven));
	job = UINT64_MAX;
	EXPECT_EQ(3, ask(self, 1, &eight));
	EXPECT_NE(NULL, strstr(self->text, "it has no entry of this transfer"));
	job = UINT64_MAX;
	EXPECT_EQ(2, ask(self, 1, &word));
	job = UINT64_MAX;
	receiver = "10.0.0.9";
	EXPECT_EQ(3, ask(self, 0, NULL));
	receiver = "nowhere";
	EXPECT_EQ(2, ask(self, 0, NULL));
}

TEST_F(why, link)
{
	played.down = true;
	EXPECT_SAYS(3, "  WRONG: port eth7: it is down or has no cable. Next: ip link set eth7 up");
	/* Other users may name devices in a namespace of their own. */
	strcpy(played.port.ifname, "x;id");
	EXPECT_SAYS(3, "  WRONG: port x;id: it is down or has no cable. Next: rename it: a shell would interpret this name\n");
	strcpy(played.port.ifname, "n\xff");
	EXPECT_SAYS(3, "  WRONG: port n\\xff: it is down or has no cable. Next: ");
	strcpy(played.port.ifname, "eth7");
	played.port.ifindex--;
	EXPECT_SAYS(3, "WRONG: port 2147483632: the entry's link leaves by it, and it is not attached");
	played.tree.scheme = AGGNET_SCHEME_ROUTE;
	EXPECT_SAYS(3, "WRONG: entry: it names no link");
	/* A Bloom table chooses the link. */
	played.tree.scheme = AGGNET_SCHEME_BLOOM;
	EXPECT_SAYS(0, "the planned flows are merged here");
}

TEST_F(why, packets_by_plain_ip)
{
	played.tree.fallback_link = 3;
	EXPECT_SAYS(3, "WRONG: packets: 3 packets left by plain IP: the planned link had no carrier, neighbour or route. Next: aggctl host check");
	played.tree.fallback_link = 0;
	played.tree.fallback_bloom = 4;
	EXPECT_SAYS(3, "WRONG: packets: 4 packets left by plain IP: no Bloom table");
	played.tree.fallback_bloom = 0;
	played.tree.fallback_policy = 5;
	EXPECT_SAYS(0, "note: packets: 5 packets left by plain IP: an IPsec policy");
	played.tree.fallback_policy = 0;
	played.tree.fallback_round = 6;
	EXPECT_SAYS(0, "note: packets: 6 packets left by plain IP: the node that merges them");
}

/* What the ends of flows told of nodes below. */
TEST_F(why, nodes_below)
{
	played.tree.below[AGGNET_FALLBACK_LINK] = 9;
	EXPECT_SAYS(0, "note: packets: 9 packets of nodes below left by plain IP: the planned link had no carrier, neighbour or route. Next: aggctl why 7 --hosts FILE");
	played.tree.below[AGGNET_FALLBACK_LINK] = 0;
	played.tree.partials = 2;
	EXPECT_SAYS(0, "note: children: 2 nodes, from the sources to here, did not wait for all children");
	played.tree.partials = 1;
	/* The second stripe of job 6 */
	played.tree.stripes = 2;
	played.tree.stripe = 1;
	EXPECT_SAYS(0, "note: children: 1 node, from the sources to here, did not wait for all children: later flows were merged nearer to the receiver, or not at all. Next: aggctl why 6 --hosts FILE");
}

TEST_F(why, flows)
{
	played.tree.channels = 0;
	EXPECT_SAYS(3, "WRONG: children: none of 2 planned flows has arrived. Next: aggctl why");
	played.tree.channels = 1;
	EXPECT_SAYS(3, "WRONG: children: 1 of 2 planned flows have arrived. Next");
	/* The kernel knows which ones. */
	played.lost.s_addr = htonl(0x0a000005);
	played.tree.unbound = (struct aggnet_addrs){ &played.lost, 1 };
	EXPECT_SAYS(3, "WRONG: children: 1 of 2 planned flows have arrived, not here: 10.0.0.5. Next: ssh 10.0.0.5 aggctl why 7\n");
	played.tree.unbound.n = 0;
	/* As many unplanned flows as planned ones are missing. */
	played.tree.channels = 2;
	played.tree.unplanned = 1;
	EXPECT_SAYS(3, "WRONG: children: 1 of 2 flows that arrived here are not planned");
	EXPECT_NE(NULL, strstr(self->text, "WRONG: children: 1 of 2 planned flows have arrived. Next"));
	EXPECT_NE(NULL, strstr(self->text, "flows that arrived: 1 of 2 planned, 1 unplanned\n"));
	/* More may still come. */
	played.tree.state = AGGNET_TREE_OPEN;
	EXPECT_SAYS(3, "1 of 2 flows that arrived here are not planned");
	played.tree.unplanned = 0;
	played.tree.channels = 1;
	EXPECT_SAYS(0, "  note: children: 1 of 2 planned flows have arrived so far");
	EXPECT_NE(NULL, strstr(self->text, "(merges, open): not all has arrived yet"));
	played.tree.channels = 0;
	EXPECT_SAYS(0, "  note: children: none of 2 planned flows has arrived yet");
	played.tree.state = AGGNET_TREE_IDLE;
	EXPECT_SAYS(0, "(merges, idle): nothing has arrived yet");
}

static const char network[] =
	"topology graph\nhost one\nhost two\nhost five\nhost six\nswitch s\n"
	"link one s\nlink two s\nlink five s\nlink six s\n"
	"address one 10.0.0.1\naddress two 10.0.0.2\n"
	"address five 10.0.0.5\naddress six 10.0.0.6\n";

/* Each test is a process of its own: names are read once in each. */
static void describe(void)
{
	char path[] = "/tmp/aggnet-why.XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");

	fputs(network, f);
	fclose(f);
	setenv("AGGNET_NETWORK", path, 1);
	names_host((struct in_addr){});
	unlink(path);
}

TEST_F(why, aborted)
{
	played.tree.state = AGGNET_TREE_ABORTED;
	played.tree.reason = AGGNET_R_TIMEOUT;
	played.tree.origin.s_addr = htonl(SELF);
	played.tree.about.s_addr = htonl(0x0a000004);
	played.tree.missing = 2;
	played.lost.s_addr = htonl(0x0a000005);
	played.tree.missing_names = (struct aggnet_addrs){ &played.lost, 1 };
	EXPECT_SAYS(3, "WRONG: transfer: timed out at 10.0.0.2, because of 10.0.0.4: 2 sources missing, not here: 10.0.0.5. Next: ssh 10.0.0.5 aggctl why 7\n");
}

TEST_F(why, aborted__names)
{
	json_t *list, *tree;

	describe();
	played.tree.state = AGGNET_TREE_ABORTED;
	played.tree.reason = AGGNET_R_TIMEOUT;
	played.tree.origin.s_addr = htonl(SELF);
	played.tree.about.s_addr = htonl(0x0a000004);
	played.tree.missing = 2;
	played.lost.s_addr = htonl(0x0a000005);
	played.tree.missing_names = (struct aggnet_addrs){ &played.lost, 1 };
	EXPECT_SAYS(3, "10.0.0.2 (two), because of 10.0.0.4: 2 sources missing, not here: 10.0.0.5 (five). Next: ssh five aggctl why 7\n");
	played.tree.missing_names.n = 0;
	EXPECT_SAYS(3, "missing. Next: ssh 10.0.0.4 aggctl why 7\n");
	played.tree.about.s_addr = htonl(SELF);
	EXPECT_SAYS(3, "missing. Next: aggctl why on the other nodes\n");
	self->ctl.json = true;
	ask(self, 0, NULL);
	list = json_loads(self->text, 0, NULL);
	tree = json_array_get(list, 0);
	EXPECT_STREQ("timeout",
		     json_string_value(json_object_get(tree, "reason")));
	EXPECT_STREQ("10.0.0.2",
		     json_string_value(json_object_get(tree, "origin")));
	json_decref(list);
}

TEST_F(why, fallbacks)
{
	static const struct {
		const char *counter;
		int status;
	} row[] = {
		{ "drop_link", 3 }, { "drop_bloom_miss", 3 },
		{ "drop_no_tree", 3 }, { "drop_child", 3 },
		{ "drop_function", 3 }, { "drop_tag", 3 },
		{ "drop_version", 3 }, { "drop_epoch_new", 3 },
		{ "drop_mtu", 0 }, { "passed_policy", 0 },
		{ "misforwarded", 0 },
	};
	char want[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		strcpy(played.stat.name, row[i].counter);
		snprintf(want, sizeof(want), "\n%s: 9 packets (%s): ",
			 row[i].status ? "WRONG" : "note", row[i].counter);
		EXPECT_SAYS(row[i].status, want);
		played.stat.value = 0;
		ask(self, 0, NULL);
		EXPECT_EQ(NULL, strstr(self->text, "packets ("));
		played.stat.value = 9;
	}
}

/* What follows "Next:" is a command, and where to type it if that is another node. */
TEST_F(why, fallback_commands)
{
	static const char *const names[] = {
		"drop_link", "drop_bloom_miss", "drop_no_tree", "drop_child",
		"drop_function", "drop_tag", "drop_version", "drop_epoch_new",
		"drop_identity", "drop_memory", "passed_policy", "filter_spent",
		"drop_epoch_old", "drop_mtu", "misforwarded",
	};
	const char *next;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		strcpy(played.stat.name, names[i]);
		ask(self, 0, NULL);
		next = strstr(self->text, "packets (");
		ASSERT_NE(NULL, next);
		next = strstr(next, "Next: ");
		ASSERT_NE(NULL, next);
		EXPECT_TRUE(!strncmp(next + 6, "aggctl ", 7) ||
			    !strncmp(next + 6, "ip ", 3) ||
			    !strncmp(next + 6, "ps ", 3))
			TH_LOG("%s: %s", names[i], next);
	}
}

/* What only packets that miss their way meet is a note; each command stands once. */
TEST_F(why, host)
{
	json_t *list;

	played.what = "rp_filter";
	EXPECT_SAYS(0, "\nnote: node2: rp_filter: found. Next: aggctl host check\n");
	played.fix = "ip link set eth7 up";
	EXPECT_SAYS(0, "\nnote: node2: rp_filter: found. Next: ip link set eth7 up\n");
	played.down = true;
	EXPECT_SAYS(3, "WRONG: port eth7: it is down or has no cable. Next: ip link set eth7 up");
	EXPECT_EQ(NULL, strstr(self->text, "note: "));
	played.down = false;
	self->ctl.json = true;
	ASSERT_EQ(0, ask(self, 0, NULL));
	list = json_loads(self->text, 0, NULL);
	EXPECT_EQ(1, json_array_size(json_object_get(json_array_get(list, 0), "host")));
	json_decref(list);
}

/* Own records are in no packet: what they would have taken is estimated. */
TEST_F(why, bytes)
{
	json_t *list;

	played.tree.bytes_in = 200;
	played.tree.bytes_out = 80;
	EXPECT_SAYS(0, "\n  bytes: 200 in besides its own records, 80 out, about 160 saved\n");
	played.tree.layout = AGGNET_LAYOUT_DENSE;
	EXPECT_SAYS(0, "about 200 saved\n");
	played.tree.writers = 0;
	played.tree.contributors = 2;
	EXPECT_SAYS(0, "\n  bytes: 200 in, 80 out, 120 saved\n");
	played.tree.bytes_out = 300;
	EXPECT_SAYS(0, "300 out, 0 saved\n");
	/* It may send the rest later. */
	played.tree.state = AGGNET_TREE_OPEN;
	EXPECT_SAYS(0, "\n  bytes: 200 in, 300 out\n");
	played.tree.state = AGGNET_TREE_DONE;
	/* What a receiver takes does not leave it. */
	played.tree.bytes_out = 0;
	played.node.address.s_addr = htonl(OTHER);
	EXPECT_SAYS(0, "\n  bytes: 200 in\n");
	self->ctl.json = true;
	ASSERT_EQ(0, ask(self, 0, NULL));
	list = json_loads(self->text, 0, NULL);
	EXPECT_TRUE(json_is_null(json_object_get(json_array_get(list, 0),
						 "bytes_saved")));
	json_decref(list);
}

TEST_F(why, children)
{
	struct in_addr child[] = { { htonl(0x0a000005) }, { htonl(0x0a000006) } };
	struct in_addr lost[AGGNET_NAMES_MAX] = { child[1] };
	json_t *list, *tree;

	describe();
	played.tree.children = (struct aggnet_addrs){ child, 2 };
	EXPECT_SAYS(0, "2 of 2 planned\n  here: 10.0.0.5 (five), 10.0.0.6 (six)\n  records");
	played.tree.channels = 1;
	played.tree.unbound = (struct aggnet_addrs){ lost, 1 };
	EXPECT_SAYS(3, "\n  here: 10.0.0.5 (five)\n  not here: 10.0.0.6 (six)\n");
	EXPECT_NE(NULL, strstr(self->text, "Next: ssh six aggctl why 7\n"));
	self->ctl.json = true;
	ask(self, 0, NULL);
	list = json_loads(self->text, 0, NULL);
	tree = json_array_get(list, 0);
	EXPECT_STREQ("10.0.0.5", json_string_value(json_array_get(
		     json_object_get(tree, "arrived"), 0)));
	EXPECT_EQ(1, json_array_size(json_object_get(tree, "arrived")));
	EXPECT_STREQ("six", json_string_value(json_object_get(
		     json_object_get(tree, "names"), "10.0.0.6")));
	json_decref(list);
	/* There may be more: no child is said to be here. */
	played.tree.unbound.n = AGGNET_NAMES_MAX;
	ask(self, 0, NULL);
	list = json_loads(self->text, 0, NULL);
	EXPECT_TRUE(json_is_null(json_object_get(json_array_get(list, 0),
						 "arrived")));
	json_decref(list);
}

/* A line names 16 of them. */
TEST_F(why, many_children)
{
	struct in_addr child[20];
	json_t *list;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(child); i++)
		child[i].s_addr = htonl(0xc0a86465 + (uint32_t)i);
	played.tree.contributors = 21;
	played.tree.channels = 20;
	played.tree.children = (struct aggnet_addrs){ child, 20 };
	EXPECT_SAYS(0, "192.168.100.116 and 4 others\n");
	/* A finding names as many as it has room for. */
	played.tree.channels = 4;
	played.tree.unbound = (struct aggnet_addrs){ child, 16 };
	EXPECT_SAYS(3, "not here: 192.168.100.101, ");
	EXPECT_NE(NULL, strstr(self->text, " others. Next: ssh 192.168.100.101 "))
		TH_LOG("%s", self->text);
	/* The kernel names 16, and there are more. */
	played.tree.channels = 1;
	EXPECT_SAYS(3, "192.168.100.116 and 3 others\n  records");
	EXPECT_NE(NULL, strstr(self->text, " planned flows have arrived, not here: 192.168.100.101, "));
	EXPECT_NE(NULL, strstr(self->text, "192.168.100.113 and 6 others. Next: "))
		TH_LOG("%s", self->text);
	self->ctl.json = true;
	ask(self, 0, NULL);
	list = json_loads(self->text, 0, NULL);
	EXPECT_EQ(19, json_integer_value(json_object_get(json_array_get(list, 0),
							 "absent")));
	json_decref(list);
}

/* What has arrived and not left is told until the transfer has ended. */
TEST_F(why, lag)
{
	played.tree.keys = 12;
	played.tree.state = AGGNET_TREE_OPEN;
	ask(self, 0, NULL);
	EXPECT_NE(NULL, strstr(self->text,
			       "  lag: 12 keys have arrived and have not left yet\n"));
	played.tree.state = AGGNET_TREE_DONE;
	ask(self, 0, NULL);
	EXPECT_EQ(NULL, strstr(self->text, "lag: "));
}

TEST_F(why, json)
{
	json_t *list, *tree, *fallback;

	self->ctl.json = true;
	strcpy(played.stat.name, "drop_link");
	played.tree.channels = 1;
	ASSERT_EQ(3, ask(self, 0, NULL));
	list = json_loads(self->text, 0, NULL);
	tree = json_array_get(list, 0);
	EXPECT_EQ(7, json_integer_value(json_object_get(tree, "job")));
	EXPECT_STREQ("10.0.0.1", json_string_value(json_object_get(tree,
								   "receiver")));
	EXPECT_EQ(2, json_integer_value(json_object_get(tree, "expected")));
	EXPECT_EQ(1, json_integer_value(json_object_get(tree, "bound")));
	EXPECT_EQ(3.0, json_real_value(json_object_get(tree, "merged_ratio")));
	EXPECT_EQ(0, json_integer_value(json_object_get(tree, "lag")));
	EXPECT_EQ(1, json_array_size(json_object_get(tree, "findings")));
	fallback = json_array_get(json_object_get(tree, "fallbacks"), 0);
	EXPECT_EQ(9, json_integer_value(json_object_get(fallback, "count")));
	EXPECT_STREQ("aggctl host check",
		     json_string_value(json_object_get(fallback, "fix")));
	json_decref(list);
}

/* What a host prints for "--hosts" is one object, and nothing else. */
TEST_F(why, held)
{
	json_t *answer, *tree;

	held = true;
	played.what = "rp_filter";
	strcpy(played.stat.name, "drop_mtu");
	played.ports = 0;
	ASSERT_EQ(3, ask(self, 0, NULL));
	answer = json_loads(self->text, 0, NULL);
	ASSERT_NE(NULL, answer);
	EXPECT_STREQ("node2", json_string_value(json_object_get(answer, "node")));
	EXPECT_EQ(1, json_array_size(json_object_get(answer, "findings")));
	EXPECT_EQ(1, json_array_size(json_object_get(answer, "fallbacks")));
	EXPECT_EQ(1, json_array_size(json_object_get(answer, "notes")));
	tree = json_array_get(json_object_get(answer, "trees"), 0);
	EXPECT_EQ(7, json_integer_value(json_object_get(tree, "job")));
	/* They are in the answer once. */
	EXPECT_EQ(NULL, json_object_get(tree, "fallbacks"));
	EXPECT_EQ(NULL, json_object_get(tree, "host"));
	json_decref(answer);
	/* The text of an answer is what a host of its own prints. */
	played.refuse = -EPERM;
	EXPECT_SAYS(1, "aggctl: node: refused");
}

TEST_HARNESS_MAIN
