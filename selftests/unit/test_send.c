// SPDX-License-Identifier: GPL-2.0
/* Unit tests of "aggctl send --stats" with a source and a node that the test
 * provides.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggnet.h"
#include "aggnet_data.h"
#include "aggctl.h"

static struct played {
	struct aggnet_tree_info tree;
	struct aggnet_tree_info second;
	uint64_t value;
	unsigned int reads;
	int finish;
} played;

static int played_stats(struct aggnet_stat **list, size_t *n)
{
	*list = calloc(1, sizeof(**list));
	strcpy((*list)->name, "drop_link");
	(*list)->value = 100 + played.value * played.reads++;
	*n = 1;
	return 0;
}

#define aggnet_ctl_open(ctl)		(*(ctl) = (void *)&played, 0)
#define aggnet_ctl_close(ctl)		((void)(ctl))
#define aggnet_ctl_error(ctl)		((void)(ctl), "refused")
#define aggnet_node_get(ctl, info)	(*(info) = (struct aggnet_node_info){}, 0)
#define aggnet_stats_list(ctl, list, n)	played_stats(list, n)
#define aggnet_tree_get(ctl, id, info) \
	(*(info) = aggnet_incast_job(id) == 7 ? played.tree : played.second, 0)
#define aggnet_tree_clear(tree)		((void)(tree))
#define aggnet_lookup(to, job, st)	((void)(to), (void)(st), -1)
#define aggnet_source_open(s, to, job, opt) \
	(*(s) = NULL, (void)(to), (void)(opt), 0)
#define aggnet_source_add(s, key, klen, value)	((void)(value), 0)
#define aggnet_source_finish(s)		(played.finish)
#define aggnet_source_close(s)		((void)(s))
#define aggnet_source_error(s)		"played"
#define aggnet_source_records(s)	2
#define aggnet_source_replays(s)	0
#define aggnet_source_resent(s)		0
#define aggnet_source_status(s, st)	(*(st) = (struct aggnet_status){})

#include "../../tools/aggctl/cmd/transfer_stats.c"
#define refused send_refused
#include "../../tools/aggctl/cmd/cmd_send.c"
#include "../uapi/harness.h"

FIXTURE(send) {
	struct aggctl ctl;
	char path[32];
	char out[4096];
	char err[4096];
};

FIXTURE_SETUP(send)
{
	int fd;

	memset(&self->ctl, 0, sizeof(self->ctl));
	strcpy(self->path, "/tmp/aggnet-test-XXXXXX");
	fd = mkstemp(self->path);
	ASSERT_EQ(8, write(fd, "a\t1\nb\t2\n", 8));
	close(fd);
	job = 7;
	receiver = "10.0.0.1";
	show_stats = true;
	played = (struct played){
		.tree = {
			.has = AGGNET_HAS(AGGNET_A_TREE_STATE),
			.contributors = 2, .writers = 1, .channels = 1,
			.records_in = 5, .records_out = 3, .packets_out = 4,
			.rexmits = 6,
		},
	};
}

FIXTURE_TEARDOWN(send)
{
	unlink(self->path);
}

static void take(FILE *f, char *text)
{
	rewind(f);
	text[fread(text, 1, 4095, f)] = '\0';
	fclose(f);
}

static int run(FIXTURE_DATA(send) *self)
{
	FILE *out = tmpfile(), *err = tmpfile();
	int old[] = { dup(STDOUT_FILENO), dup(STDERR_FILENO) };
	char *input = self->path;
	int st;

	fflush(NULL);
	dup2(fileno(out), STDOUT_FILENO);
	dup2(fileno(err), STDERR_FILENO);
	st = cmd_send.verbs[0].run(&self->ctl, 1, &input);
	fflush(NULL);
	dup2(old[0], STDOUT_FILENO);
	dup2(old[1], STDERR_FILENO);
	close(old[0]);
	close(old[1]);
	take(out, self->out);
	take(err, self->err);
	return st;
}

static bool has_row(const char *text, const char *head, const char *value)
{
	char row[128];

	snprintf(row, sizeof(row), "%-24s  %s\n", head, value);
	return strstr(text, row);
}

TEST_F(send, stats__table)
{
	ASSERT_EQ(0, run(self));
	EXPECT_STREQ("", self->out);
	EXPECT_TRUE(has_row(self->err, "records of this process", "2"));
	EXPECT_TRUE(has_row(self->err, "records in", "5"));
	EXPECT_TRUE(has_row(self->err, "records out", "3"));
	EXPECT_TRUE(has_row(self->err, "flows that arrived", "1"));
	EXPECT_TRUE(has_row(self->err, "packets out", "4"));
	EXPECT_TRUE(has_row(self->err, "retransmissions", "6"));
	EXPECT_NE(NULL, strstr(self->err, "planned way: no packet"));
	EXPECT_NE(NULL, strstr(self->err, "\nin short: 2 records sent, 1 of 1 planned flows arrived, about 0 bytes were saved here, 0 packets of this node fell back to plain IP\n"))
		TH_LOG("%s", self->err);
	EXPECT_EQ(NULL, strstr(self->err, "merged on the way"));
	played.value = 11;
	ASSERT_EQ(0, run(self));
	EXPECT_NE(NULL, strstr(self->err, "planned way: 11 packets (drop_link)"))
		TH_LOG("%s", self->err);
}

/* Of a job of stripes: sums of all; the acceptor only if it is one node. */
TEST_F(send, stats__stripes)
{
	played.tree.stripes = 2;
	played.tree.bytes_in = 50;
	played.tree.bytes_out = 30;
	played.tree.acceptor.s_addr = htonl(0x0a000002);
	played.second = played.tree;
	played.second.bytes_out = 12;
	ASSERT_EQ(0, run(self));
	EXPECT_TRUE(has_row(self->err, "packets out", "8"));
	EXPECT_TRUE(has_row(self->err, "bytes of records in", "100"));
	EXPECT_TRUE(has_row(self->err, "bytes of records out", "42"));
	EXPECT_TRUE(has_row(self->err, "merged next at", "10.0.0.2"));
	/* 4 of 10 records did not leave; 42 bytes are those of 6. */
	EXPECT_NE(NULL, strstr(self->err, ", about 28 bytes were saved here, merged next at 10.0.0.2, 0 packets"))
		TH_LOG("%s", self->err);
	played.second.acceptor.s_addr = htonl(0x0a000003);
	ASSERT_EQ(0, run(self));
	EXPECT_EQ(NULL, strstr(self->err, "merged next at"));
}

TEST_F(send, stats__json)
{
	json_t *whole, *object;

	self->ctl.json = true;
	ASSERT_EQ(0, run(self));
	EXPECT_STREQ("", self->err);
	whole = json_loads(self->out, 0, NULL);
	object = json_object_get(whole, "stats");
	EXPECT_EQ(2, json_integer_value(json_object_get(object, "sent")));
	EXPECT_EQ(6, json_integer_value(json_object_get(object,
							"retransmissions")));
	json_decref(whole);
}

/* Without the option, nothing is printed and the node is not read. */
TEST_F(send, stats__not_asked)
{
	show_stats = false;
	ASSERT_EQ(0, run(self));
	EXPECT_STREQ("", self->out);
	EXPECT_STREQ("", self->err);
	EXPECT_EQ(0, played.reads);
}

TEST_HARNESS_MAIN
