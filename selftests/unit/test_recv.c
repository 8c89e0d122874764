// SPDX-License-Identifier: GPL-2.0
/* Unit tests of "aggctl recv" with a sink that the test provides: JSON has all
 * digits and any key, and the output is written through before the end mark is
 * taken.
 */
#include <errno.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggnet.h"
#include "aggnet_data.h"
#include "aggctl.h"

/**
 * struct played - the simulated sink
 * @status: of the transfer
 * @unknown: error of reading the status, 0: none
 * @opened: it was joined
 * @no_memory: it cannot be allocated
 * @entry: lines of the result
 * @n: how many
 * @next: the next one
 * @run: what receiving returns after so many commits
 * @commits: what the next commits return; 0 ends the list
 * @committed: how many there were
 * @refuse: this call of fsync() fails; 0: none
 * @trace: one letter for each event: the file or its directory was synced, the
 *	end mark was taken
 * @forbidden: the user may not read the node
 * @gone: the node has no entry
 * @tree: the node's entry
 * @second: of the second stripe, if there is one
 * @asked: incast ID of the last request for it
 * @counter: a counter that grows by 1 from request to request, or NULL
 * @reads: such requests
 */
static struct played {
	struct aggnet_status status;
	int unknown;
	bool opened;
	bool no_memory;
	const struct aggnet_entry *entry;
	size_t n;
	size_t next;
	int run[4];
	int commits[4];
	unsigned int committed;
	unsigned int refuse;
	char trace[16];
	bool forbidden;
	bool gone;
	struct aggnet_tree_info tree;
	struct aggnet_tree_info second;
	uint64_t asked;
	const char *counter;
	unsigned int reads;
} played;

static void trace(char what)
{
	played.trace[strlen(played.trace)] = what;
}

static int played_fsync(int fd)
{
	trace(fd == STDOUT_FILENO ? 'f' : 'd');
	if (strlen(played.trace) != played.refuse)
		return 0;
	errno = EIO;
	return -1;
}

static int played_open(struct aggnet_sink **sink)
{
	*sink = played.no_memory ? NULL : (void *)&played;
	played.opened = true;
	return played.no_memory ? -ENOMEM : 0;
}

static void played_status(const struct aggnet_sink *sink,
			  struct aggnet_status *status)
{
	*status = ((const struct played *)(const void *)sink)->status;
}

static int played_run(void)
{
	played.next = 0;
	return played.run[played.committed];
}

static bool played_next(struct aggnet_entry *entry)
{
	if (played.next == played.n)
		return false;
	*entry = played.entry[played.next++];
	return true;
}

static int played_commit(void)
{
	trace('c');
	return played.commits[played.committed++];
}

static struct aggnet_result played_result = {
	.sources = 2, .of = 2, .records = 9, .keys = 3, .instance = 4000000000,
	.attempt = 3, .last = 1,
};

static int played_lookup(struct aggnet_status *status)
{
	*status = played.status;
	return played.unknown;
}

static int played_tree(uint64_t id, struct aggnet_tree_info *tree)
{
	played.asked = id;
	*tree = id >> 32 == 7 ? played.tree : played.second;
	return played.forbidden ? -EPERM : played.gone ? -ENOENT : 0;
}

static int played_stats(struct aggnet_stat **list, size_t *n)
{
	*n = played.counter != NULL;
	*list = calloc(1, sizeof(**list));
	if (played.counter)
		strcpy((*list)->name, played.counter);
	(*list)->value = 40 + played.reads++;
	return played.forbidden ? -EPERM : 0;
}

static int played_node(struct aggnet_node_info *node)
{
	node->address.s_addr = htonl(0x0a000001);
	return 0;
}

#define aggnet_ctl_open(ctl)		(*(ctl) = (void *)&played, 0)
#define aggnet_ctl_close(ctl)		((void)(ctl))
#define aggnet_ctl_error(ctl)		((void)(ctl), "it needs CAP_NET_ADMIN")
#define aggnet_node_get(ctl, node)	((void)(ctl), played_node(node))
#define aggnet_stats_list(ctl, list, n)	((void)(ctl), played_stats(list, n))
#define aggnet_tree_get(ctl, id, tree)	((void)(ctl), played_tree(id, tree))
#define aggnet_tree_clear(tree)		((void)(tree))
#define aggnet_lookup(self, job, st)	((void)(self), played_lookup(st))
#define aggnet_sink_open(k, self, job, opt) \
	((void)(self), (void)(opt), played_open(k))
#define aggnet_sink_run(k)		played_run()
#define aggnet_sink_stream(k, entry)	(played_next(entry) ? 1 : 0)
#define aggnet_sink_next(k, entry)	played_next(entry)
#define aggnet_sink_sort(k)		((void)(k))
#define aggnet_sink_top(k, n)		((void)(k))
#define aggnet_sink_result(k)		(&played_result)
#define aggnet_sink_absent(k, n)	(*(n) = 0, (struct in_addr *)NULL)
#define aggnet_sink_commit(k)		played_commit()
#define aggnet_sink_close(k)		((void)(k))
#define aggnet_sink_fd(k)		(-1)
#define aggnet_sink_error(k)		"played"
#define aggnet_sink_status(k, st)	played_status(k, st)
#define fsync				played_fsync

#include "../../tools/aggctl/cmd/sync.c"
#include "../../tools/aggctl/cmd/transfer_stats.c"
#define refused	recv_refused
#include "../../tools/aggctl/cmd/cmd_recv.c"
#undef refused
#include "../uapi/harness.h"

FIXTURE(recv) {
	char path[32];
	char text[4096];
	struct aggctl ctl;
};

FIXTURE_SETUP(recv)
{
	int fd;

	memset(&played, 0, sizeof(played));
	memset(&self->ctl, 0, sizeof(self->ctl));
	strcpy(self->path, "/tmp/aggnet-test-XXXXXX");
	fd = mkstemp(self->path);
	ASSERT_LE(0, fd);
	__fpurge(stdout);
	ASSERT_EQ(STDOUT_FILENO, dup2(fd, STDOUT_FILENO));
	close(fd);
	job = 7;
	to_disk = false;
	stream = false;
	top = 0;
	show_stats = false;
}

FIXTURE_TEARDOWN(recv)
{
	unlink(self->path);
}

/* Return: the printed text */
static const char *printed_text(FIXTURE_DATA(recv) *self)
{
	FILE *f = fopen(self->path, "r");

	self->text[fread(self->text, 1, sizeof(self->text) - 1, f)] = '\0';
	fclose(f);
	return self->text;
}

/* The printed lines as JSON, without white space. */
static json_t *json_lines(FIXTURE_DATA(recv) *self, json_t **whole)
{
	fflush(stdout);
	*whole = json_load_file(self->path, 0, NULL);
	return json_object_get(*whole, "lines");
}

static bool lines_are(struct __test_metadata *_metadata,
		      FIXTURE_DATA(recv) *self, const char *expected)
{
	json_t *whole, *lines, *want = json_loads(expected, 0, NULL);
	char *text;
	bool same;

	self->ctl.json = true;
	EXPECT_EQ(0, cmd_recv.verbs[0].run(&self->ctl, 0, NULL));
	EXPECT_STREQ("c", played.trace);
	lines = json_lines(self, &whole);
	same = want && json_equal(lines, want);
	text = lines ? json_dumps(lines, JSON_COMPACT) : NULL;
	if (!same)
		TH_LOG("%s", text ? text : "no JSON");
	free(text);
	json_decref(whole);
	json_decref(want);
	return same;
}

/* A number that a double of 53 bits cannot hold is printed as a string. */
TEST_F(recv, json__fixed)
{
	const struct aggnet_entry entry[] = {
		{ "a", 1, .value = 3, .real = 1.5 },
		{ "b", 1, .value = (1LL << 60) + 1, .real = 0x1p59 },
		{ "c", 1, .value = -(1LL << 60) - 1, .real = -0x1p59 },
		{ "d", 1, .value = 1LL << 60, .real = 0x1p59 },
		{ "e", 1, .value = INT64_MAX, .real = 0x1p62 },
	};

	played.status.vtype = AGGNET_VTYPE_FIXED;
	played.status.scale = 1;
	played.entry = entry;
	played.n = ARRAY_SIZE(entry);
	EXPECT_TRUE(lines_are(_metadata, self,
			      "[[\"a\", 1.5], [\"b\", \"576460752303423488.5\"],"
			      " [\"c\", \"-576460752303423488.5\"],"
			      " [\"d\", 576460752303423488.0],"
			      " [\"e\", \"4611686018427387903.5\"]]"));
}

TEST_F(recv, json__ids)
{
	const struct aggnet_best best[] = {
		{ .value = INT64_MIN, .id = UINT64_MAX },
		{ .value = 2, .id = INT64_MAX }, { .value = 2, .id = 1ULL << 63 },
	};
	const struct aggnet_entry entry = { "k", 1, .best = best, .n = 3 };

	played.status.function = AGGNET_FN_NEAREST;
	played.entry = &entry;
	played.n = 1;
	EXPECT_TRUE(lines_are(_metadata, self,
			      "[[\"k\", [[-9223372036854775808, \"18446744073709551615\"],"
			      " [2, 9223372036854775807],"
			      " [2, \"9223372036854775808\"]]]]"));
}

/*
 * JSON is UTF-8; a key that is not is printed with the escapes of a text line.
 */
TEST_F(recv, json__any_key)
{
	const struct aggnet_entry entry[] = {
		{ "gr\xc3\xbc\xc3\x9f", 6, .value = 1 },
		{ "a\xff\\\xc3", 4, .value = 2 }, { "\0\t", 2, .value = 3 },
	};

	played.entry = entry;
	played.n = ARRAY_SIZE(entry);
	EXPECT_TRUE(lines_are(_metadata, self,
			      "[[\"gr\xc3\xbc\xc3\x9f\", 1],"
			      " [\"a\\\\xff\\\\\\\\\\\\xc3\", 2],"
			      " [\"\\\\x00\\\\t\", 3]]"));
}

/* The instance, with which an application stores a result only once. */
TEST_F(recv, json__instance)
{
	json_t *whole;

	self->ctl.json = true;
	ASSERT_EQ(0, cmd_recv.verbs[0].run(&self->ctl, 0, NULL));
	json_lines(self, &whole);
	EXPECT_EQ(4000000000,
		  json_integer_value(json_object_get(whole, "instance")));
	EXPECT_EQ(3, json_integer_value(json_object_get(whole, "attempt")));
	json_decref(whole);
}

/*
 * The file and its directory are synced before the end mark is taken; a new
 * attempt repeats all of it.
 */
TEST_F(recv, sync__before_the_end_mark)
{
	const struct aggnet_entry entry = { "k", 1, .value = 5 };

	played.entry = &entry;
	played.n = 1;
	ASSERT_EQ(0, cmd_recv.verbs[0].run(&self->ctl, 0, NULL));
	EXPECT_STREQ("c", played.trace);
	for (stream = false; ; stream = true) {
		memset(played.trace, 0, sizeof(played.trace));
		played.next = 0;
		played.committed = 0;
		played.status.layout = stream ? AGGNET_LAYOUT_SORTED :
						AGGNET_LAYOUT_KEYED;
		played.commits[0] = -ESTALE;
		to_disk = true;
		ASSERT_EQ(0, cmd_recv.verbs[0].run(&self->ctl, 0, NULL));
		EXPECT_STREQ("fdcfdc", played.trace);
		if (stream)
			break;
	}
	EXPECT_STREQ("k\t5\nk\t5\n", printed_text(self));
}

TEST_F(recv, sync__fails)
{
	unsigned int i;

	to_disk = true;
	for (i = 1; i <= 2; i++) {
		memset(played.trace, 0, sizeof(played.trace));
		played.refuse = i;
		EXPECT_EQ(1, cmd_recv.verbs[0].run(&self->ctl, 0, NULL));
		EXPECT_STREQ(i == 1 ? "f" : "fd", played.trace);
	}
}

/* Output that is not a named file cannot be synced: nothing is received. */
TEST_F(recv, sync__of_what_is_no_named_file)
{
	int fd[2];

	to_disk = true;
	ASSERT_EQ(0, unlink(self->path));
	EXPECT_EQ(1, cmd_recv.verbs[0].run(&self->ctl, 0, NULL));
	ASSERT_EQ(0, pipe(fd));
	ASSERT_EQ(STDOUT_FILENO, dup2(fd[1], STDOUT_FILENO));
	EXPECT_EQ(1, cmd_recv.verbs[0].run(&self->ctl, 0, NULL));
	EXPECT_STREQ("", played.trace);
}

/*
 * A wrong option is found before joining: a receiver that leaves ends the
 * transfer.
 */
TEST_F(recv, layout__wrong_option)
{
	static const struct {
		uint32_t layout;
		uint32_t top;
		bool stream;
		int unknown;
		bool opened;
	} row[] = {
		{ AGGNET_LAYOUT_KEYED, 3, false, 0, true },
		{ AGGNET_LAYOUT_SORTED, 3, false, 0, true },
		{ AGGNET_LAYOUT_DENSE, 3, false, 0, false },
		{ AGGNET_LAYOUT_DENSE, 3, false, -EACCES, true },
		{ AGGNET_LAYOUT_DENSE, 0, false, 0, true },
		{ AGGNET_LAYOUT_KEYED, 0, true, 0, false },
		{ AGGNET_LAYOUT_KEYED, 0, true, -ENETUNREACH, true },
		{ AGGNET_LAYOUT_DENSE, 0, true, 0, false },
		{ AGGNET_LAYOUT_SORTED, 0, true, 0, true },
	};
	size_t i;
	int st;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		memset(&played, 0, sizeof(played));
		played.status.layout = row[i].layout;
		played.unknown = row[i].unknown;
		top = row[i].top;
		stream = row[i].stream;
		st = cmd_recv.verbs[0].run(&self->ctl, 0, NULL);
		EXPECT_EQ(row[i].opened, played.opened)
			TH_LOG("row %zu", i);
		if (!row[i].opened)
			EXPECT_EQ(1, st);
	}
}

/* There is no handle to ask for a status. */
TEST_F(recv, open__without_memory)
{
	played.no_memory = true;
	EXPECT_EQ(1, cmd_recv.verbs[0].run(&self->ctl, 0, NULL));
	EXPECT_STREQ("", played.trace);
}

/* What "recv" prints on standard error if it ends with @status; to be freed */
static char *all_errors(FIXTURE_DATA(recv) *self, int status)
{
	FILE *f = tmpfile();
	int old = dup(STDERR_FILENO);
	char *text = calloc(1, 4096);
	int st;

	fflush(stderr);
	dup2(fileno(f), STDERR_FILENO);
	st = cmd_recv.verbs[0].run(&self->ctl, 0, NULL);
	fflush(stderr);
	dup2(old, STDERR_FILENO);
	close(old);
	rewind(f);
	if (st != status || !fread(text, 1, 4095, f))
		text[0] = '\0';
	fclose(f);
	return text;
}

static char *error_text(FIXTURE_DATA(recv) *self)
{
	return all_errors(self, 0);
}

/* Nodes that are missing in any stripe, each once. */
TEST_F(recv, missed__names_of_all_stripes)
{
	struct in_addr addr[] = { { htonl(0x0a000002) }, { htonl(0x0a000003) } };
	char *text;

	played.tree.has = AGGNET_HAS(AGGNET_A_TREE_STATE);
	played.tree.stripes = 2;
	played.tree.contributors = 2;
	played.tree.channels = 1;
	played.second = played.tree;
	played.second.unbound = (struct aggnet_addrs){ addr, 2 };
	text = error_text(self);
	EXPECT_NE(NULL, strstr(text, "planned, and not here: 10.0.0.2, 10.0.0.3\n"))
		TH_LOG("%s", text);
	free(text);
	played.committed = 0;
	played.tree.unbound = (struct aggnet_addrs){ addr, 1 };
	text = error_text(self);
	EXPECT_NE(NULL, strstr(text, "planned, and not here: 10.0.0.2, 10.0.0.3\n"))
		TH_LOG("%s", text);
	free(text);
}

/* Each test is a process of its own: the result is its own, too. */
TEST_F(recv, partials__next_command)
{
	char *text;

	played_result.partials = 1;
	text = error_text(self);
	EXPECT_NE(NULL, strstr(text, "recv: complete, but 1 node did not wait for all its contributors: 'aggctl why 7 --hosts FILE' names it\n"))
		TH_LOG("%s", text);
	free(text);
	played.committed = 0;
	played_result.partials = 2;
	text = error_text(self);
	EXPECT_NE(NULL, strstr(text, "2 nodes did not wait for all their contributors: 'aggctl why 7 --hosts FILE' names them\n"))
		TH_LOG("%s", text);
	free(text);
}

static bool has_row(const char *text, const char *head, const char *value)
{
	char row[128];

	snprintf(row, sizeof(row), "%-24s  %s\n", head, value);
	return strstr(text, row);
}

/*
 * Without being asked, one line if flows arrive otherwise than planned; the writers
 * of the receiver are no flow.
 */
TEST_F(recv, missed__one_line)
{
	static const struct {
		uint32_t contributors;
		uint32_t writers;
		uint32_t channels;
		uint32_t unplanned;
		bool forbidden;
		bool gone;
		bool line;
	} row[] = {
		{ 3, 0, 3, 0, false, false, false },
		{ 3, 1, 2, 0, false, false, false },
		{ 3, 1, 3, 1, false, false, true },
		{ 3, 0, 4, 1, false, false, true },
		{ 3, 0, 3, 1, false, false, true },
		{ 3, 0, 2, 0, false, false, true },
		{ 0, 0, 0, 0, false, false, false },
		{ 3, 0, 4, 1, true, false, false },
		{ 3, 0, 4, 1, false, true, false },
	};
	char *text;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		played.committed = 0;
		played.tree.has = AGGNET_HAS(AGGNET_A_TREE_STATE);
		played.tree.contributors = row[i].contributors;
		played.tree.writers = row[i].writers;
		played.tree.channels = row[i].channels;
		played.tree.unplanned = row[i].unplanned;
		played.forbidden = row[i].forbidden;
		played.gone = row[i].gone;
		text = error_text(self);
		EXPECT_EQ(row[i].line, strstr(text, "not merged as planned") != NULL)
			TH_LOG("row %zu: '%s'", i, text);
		EXPECT_EQ(row[i].line, strstr(text, "'aggctl why 7 --hosts FILE' names the cause and its host\n") != NULL);
		if (!row[i].line)
			EXPECT_STREQ("", text);
		EXPECT_EQ(7ULL << 32 | 0x0a000001, played.asked);
		free(text);
	}
	EXPECT_EQ(0, played.reads);
}

TEST_F(recv, stats__table)
{
	struct in_addr child[] = { { htonl(0x0a000002) }, { htonl(0x0a000003) } };
	char *text;

	show_stats = true;
	played.counter = "drop_link";
	played.tree = (struct aggnet_tree_info){
		.has = AGGNET_HAS(AGGNET_A_TREE_STATE),
		.contributors = 2, .channels = 2, .records_in = 4,
		.records_out = 3, .packets_in = 6, .rexmits = 5,
		.bytes_in = 40, .children = { child, 2 },
	};
	text = error_text(self);
	EXPECT_TRUE(has_row(text, "records of the sources", "9"));
	EXPECT_TRUE(has_row(text, "records in", "4"));
	EXPECT_TRUE(has_row(text, "merged on the way", "5"));
	EXPECT_TRUE(has_row(text, "records out", "3"));
	EXPECT_TRUE(has_row(text, "packets in", "6"));
	EXPECT_TRUE(has_row(text, "retransmissions", "5"));
	EXPECT_NE(NULL, strstr(text, "planned way: 1 packets (drop_link)"))
		TH_LOG("%s", text);
	EXPECT_NE(NULL, strstr(text,
			       "\nin short: 2 of 2 sources, 2 of 2 planned flows (10.0.0.2, 10.0.0.3) arrived, about 50 bytes were saved on the way, 0 packets of this node fell back to plain IP, 0 of other nodes\n"))
		TH_LOG("%s", text);
	EXPECT_STREQ("", printed_text(self));
	free(text);
}

/* Each cause of the node's packets, and what other nodes' packets lead to. */
TEST_F(recv, stats__fallbacks)
{
	char *text;

	show_stats = true;
	played.tree = (struct aggnet_tree_info){
		.has = AGGNET_HAS(AGGNET_A_TREE_STATE),
		.contributors = 3, .channels = 2, .unplanned = 1,
		.layout = AGGNET_LAYOUT_DENSE, .bytes_in = 40,
		.fallback_link = 4, .fallback_round = 2,
	};
	text = error_text(self);
	EXPECT_NE(NULL, strstr(text, "\nin short: 2 of 2 sources, 1 of 3 planned flows and 1 others arrived, about 0 bytes were saved on the way, 6 packets of this node fell back to plain IP (4 link, 2 round), 0 of other nodes\n"))
		TH_LOG("%s", text);
	free(text);
	played.committed = 0;
	played.tree.channels = 1;
	played.tree.unplanned = 0;
	text = error_text(self);
	EXPECT_NE(NULL, strstr(text, "about 40 bytes were saved on the way"))
		TH_LOG("%s", text);
	free(text);
	/* Without being asked: the cause of each, once. */
	show_stats = false;
	played.committed = 0;
	text = error_text(self);
	EXPECT_NE(NULL, strstr(text, "recv: 4 packets of this node left by plain IP: the planned link"));
	EXPECT_NE(NULL, strstr(text, "recv: 2 packets of this node left by plain IP: the node that merges"));
	EXPECT_EQ(NULL, strstr(text, "in short"));
	free(text);
}

/* Also if the transfer fails, in which a fallback may have had a part. */
TEST_F(recv, fallbacks__failed)
{
	char *text;

	played.commits[0] = -EIO;
	played.tree.fallback_link = 4;
	text = all_errors(self, 1);
	EXPECT_NE(NULL, strstr(text, "recv: 4 packets of this node left by plain IP: the planned link"))
		TH_LOG("%s", text);
	free(text);
}

static unsigned int times(const char *text, const char *sentence)
{
	unsigned int n = 0;

	while ((text = strstr(text, sentence))) {
		text += strlen(sentence);
		n++;
	}
	return n;
}

/* Once for each attempt, whether the last one fails or not. */
TEST_F(recv, fallbacks__attempts)
{
	static const char sentence[] = "recv: 4 packets of this node left by plain IP";
	char *text;

	played.commits[0] = -ESTALE;
	played.tree.fallback_link = 4;
	text = error_text(self);
	EXPECT_EQ(2, times(text, sentence)) TH_LOG("%s", text);
	free(text);
	played.committed = 0;
	played.run[1] = -EIO;
	text = all_errors(self, 1);
	EXPECT_EQ(2, times(text, sentence)) TH_LOG("%s", text);
	free(text);
}

TEST_F(recv, fallbacks__of_other_nodes)
{
	static const char sentence[] = "recv: 5 packets of other nodes left by plain IP: no Bloom table or filter names a link for them. Next: aggctl why 7 --hosts FILE\n";
	char *text;

	text = error_text(self);
	EXPECT_STREQ("", text);
	free(text);
	played.committed = 0;
	played.tree.incast_id = aggnet_incast_id(7, (struct in_addr){ 1 });
	played.tree.below[AGGNET_FALLBACK_LINK] = 2;
	played.tree.below[AGGNET_FALLBACK_BLOOM] = 5;
	show_stats = true;
	text = error_text(self);
	EXPECT_NE(NULL, strstr(text, sentence)) TH_LOG("%s", text);
	EXPECT_NE(NULL, strstr(text, "0 packets of this node fell back to plain IP, 7 of other nodes (2 link, 5 bloom)\n"))
		TH_LOG("%s", text);
	free(text);
}

/* A user that may not read the node reads its own transfer. */
TEST_F(recv, stats__forbidden)
{
	char *text;

	show_stats = true;
	played.forbidden = true;
	played.status = (struct aggnet_status){
		.contributors = 3, .channels = 3, .unplanned = 1,
		.records_in = 4, .bytes_in = 40, .fallback_link = 6,
		.below = { [AGGNET_FALLBACK_POLICY] = 3 },
		.nunbound = 1, .unbound = { htonl(0x0a000005) },
	};
	text = error_text(self);
	EXPECT_TRUE(has_row(text, "node counters unreadable",
			    "it needs CAP_NET_ADMIN"))
		TH_LOG("%s", text);
	EXPECT_TRUE(has_row(text, "records of the sources", "9"));
	EXPECT_TRUE(has_row(text, "records in", "4"));
	EXPECT_NE(NULL, strstr(text, "\nin short: 2 of 2 sources, 2 of 3 planned flows and 1 others arrived, about 50 bytes were saved on the way, 6 packets of this node fell back to plain IP (6 link), 3 of other nodes (3 policy)\n"))
		TH_LOG("%s", text);
	EXPECT_NE(NULL, strstr(text, "recv: planned, and not here: 10.0.0.5\n"))
		TH_LOG("%s", text);
	EXPECT_NE(NULL, strstr(text, "recv: 6 packets of this node left by plain IP: the planned link"));
	free(text);
	/* The entry has been withdrawn. */
	played.committed = 0;
	played.unknown = -ENETUNREACH;
	text = error_text(self);
	EXPECT_NE(NULL, strstr(text, "\nin short: 2 of 2 sources; flows, saved bytes and packets by plain IP are not known: it needs CAP_NET_ADMIN\n"))
		TH_LOG("%s", text);
	free(text);
}

TEST_F(recv, stats__json)
{
	json_t *whole, *stats_object, *list;

	show_stats = true;
	self->ctl.json = true;
	played.counter = "drop_mtu";
	played.tree.records_in = 4;
	ASSERT_EQ(0, cmd_recv.verbs[0].run(&self->ctl, 0, NULL));
	json_lines(self, &whole);
	stats_object = json_object_get(whole, "stats");
	EXPECT_EQ(5, json_integer_value(json_object_get(stats_object,
							"merged_on_the_way")));
	list = json_object_get(stats_object, "fallbacks");
	EXPECT_EQ(1, json_array_size(list));
	EXPECT_STREQ("drop_mtu", json_string_value(json_object_get(
				json_array_get(list, 0), "counter")));
	json_decref(whole);
}

TEST_HARNESS_MAIN
