// SPDX-License-Identifier: GPL-2.0
/* Unit tests of stored plans: their identity, and every plan that is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aggctl.h"
#include "info.h"
#include "output.h"
#include "plan/plan.h"
#include "plan/plan_apply.h"
#include "plan_json.h"
#include "../uapi/harness.h"

static const struct plan_conf basics = {
	.job = 1, .instance = 1, .writers = 1, .scheme = AGGNET_SCHEME_EXACT,
};

/* v1 and v3 send to v0. @conf: the entries' optional parts. */
static json_t *make_plan(struct plan_conf conf)
{
	static const aggt_node senders[] = { 1, 3 }, receiver;
	const struct aggt_job job = {
		.senders = senders, .n_senders = 2, .receivers = &receiver,
		.n_receivers = 1, .method = "irs",
	};
	struct plan plan = { .conf = conf };

	plan.conf.job = 1;
	plan.conf.instance = 1;
	plan.conf.scheme = AGGNET_SCHEME_EXACT;
	plan.conf.aggnet_switches = true;
	plan.conf.writers = 1;
	plan_topology(&plan, "plan", "bcube:2,1");
	return plan_json_of(&plan, &job);
}

/* Read @json and write it again. Return: NULL: it was refused */
static json_t *restored(const json_t *json)
{
	struct plan plan = {};
	json_t *again = NULL;

	if (!plan_restore(&plan, json, "x.json"))
		again = plan_json(&plan);
	plan_clear(&plan);
	return again;
}

static json_t *updated(const json_t *json, const char *change)
{
	struct plan plan = {};
	char *text = (char *)change;
	json_t *new = NULL;

	if (!plan_restore(&plan, json, "x.json"))
		new = plan_update(&plan, json, &text, 1);
	plan_clear(&plan);
	return new;
}

/* The plan ID in the entries of the tree to v0, which must all agree. */
static const char *identity(const json_t *json)
{
	json_t *node, *entry, *plan;
	const char *name, *found = NULL;
	size_t i;

	json_object_foreach(json_object_get(json, "nodes"), name, node)
		json_array_foreach(json_object_get(node, "trees"), i, entry) {
			plan = json_object_get(entry, "plan");
			if (!json_is_string(plan) ||
			    (found && strcmp(found, json_string_value(plan))))
				return "different";
			found = json_string_value(plan);
		}
	return found ? found : "none";
}

static const char *id_of(const json_t *json)
{
	return json_string_value(json_object_get(json, "id"));
}

static char said[512];
static int to_stderr, to_memory;

static void listen_to_stderr(void)
{
	fflush(stderr);
	to_stderr = dup(STDERR_FILENO);
	to_memory = memfd_create("stderr", 0);
	dup2(to_memory, STDERR_FILENO);
}

static const char *what_was_said(void)
{
	ssize_t len;

	fflush(stderr);
	len = pread(to_memory, said, sizeof(said) - 1, 0);
	said[len > 0 ? len : 0] = '\0';
	dup2(to_stderr, STDERR_FILENO);
	close(to_stderr);
	close(to_memory);
	return said;
}

TEST(identity__two_plans_of_one_epoch)
{
	json_t *a = make_plan((struct plan_conf){});
	json_t *b = make_plan((struct plan_conf){});

	ASSERT_EQ(32, strlen(identity(a)));
	EXPECT_EQ(0, strncmp(id_of(a), identity(a), 16));
	EXPECT_STRNE(id_of(a), id_of(b));
	/* Both plans have the same trees. */
	EXPECT_STREQ(identity(a) + 16, identity(b) + 16);
	json_decref(a);
	json_decref(b);
}

TEST(identity__digest_of_what_is_installed)
{
	json_t *a = make_plan((struct plan_conf){ .keyed = true });
	json_t *b = make_plan((struct plan_conf){ .keyed = true });
	json_t *c = make_plan((struct plan_conf){ .hold = 7 });

	/* Each plan draws its own keys, and the digest does not cover them. */
	EXPECT_STREQ(identity(a) + 16, identity(b) + 16);
	EXPECT_STRNE(identity(a) + 16, identity(c) + 16);
	json_decref(a);
	json_decref(b);
	json_decref(c);
}

/* v1 and v3 send to v0 by two trees. */
static json_t *striped_plan(void)
{
	static const aggt_node senders[] = { 1, 3 }, receiver;
	const struct aggt_job job = {
		.senders = senders, .n_senders = 2, .receivers = &receiver,
		.n_receivers = 1, .method = "stripes:2",
	};
	struct plan plan = { .conf = basics };

	plan.conf.job = 7;
	plan.conf.keyed = true;
	plan_topology(&plan, "plan", "bcube:2,1");
	return plan_json_of(&plan, &job);
}

/* The entry number @i of a node, of the list of that name. */
static const json_t *entry_of(const json_t *json, const char *node,
			      const char *list, size_t i)
{
	json = json_object_get(json_object_get(json, "nodes"), node);
	return json_array_get(json_object_get(json, list), i);
}

static json_int_t job_of(const json_t *entry)
{
	return json_integer_value(json_object_get(entry, "job"));
}

TEST(stripes__each_is_a_job)
{
	static const char *const own[] = { "plan", "key", "link_port" };
	json_t *json = striped_plan(), *again;
	const json_t *first = entry_of(json, "v1", "trees", 0);
	const json_t *second = entry_of(json, "v1", "trees", 1);
	const json_t *metrics = json_object_get(json, "metrics");
	size_t i;

	EXPECT_EQ(7, job_of(first));
	EXPECT_EQ(8, job_of(second));
	for (i = 0; i < ARRAY_SIZE(own); i++) {
		EXPECT_TRUE(json_is_string(json_object_get(first, own[i])));
		EXPECT_FALSE(json_equal(json_object_get(first, own[i]),
					json_object_get(second, own[i])));
	}
	EXPECT_EQ(2, json_integer_value(json_object_get(metrics, "stripes")));
	EXPECT_EQ(1, json_integer_value(json_object_get(second, "stripe")));
	EXPECT_EQ(2, json_integer_value(json_object_get(second, "stripes")));
	EXPECT_EQ(1, json_integer_value(json_object_get(metrics, "stress")));
	EXPECT_EQ(1, json_real_value(json_object_get(metrics, "cut_share")));
	again = restored(json);
	EXPECT_TRUE(json_equal(json, again));
	json_decref(again);
	json_decref(json);
}

/* v3 relays in the second tree still, and is in the first one no more. */
TEST(stripes__updated)
{
	json_t *json = striped_plan(), *new = updated(json, "leave:v3");

	ASSERT_NE(NULL, new);
	EXPECT_EQ(8, job_of(entry_of(new, "v3", "trees", 0)));
	EXPECT_EQ(NULL, entry_of(new, "v3", "trees", 1));
	EXPECT_EQ(7, job_of(entry_of(new, "v3", "remove", 0)));
	EXPECT_EQ(NULL, entry_of(new, "v3", "remove", 1));
	json_decref(new);
	json_decref(json);
}

TEST(identity__stays_with_the_plan)
{
	json_t *old = make_plan((struct plan_conf){ .keyed = true });
	json_t *again = restored(old), *new = updated(old, "failed:v2");
	json_t *same = updated(old, "failed:v2-w1");

	ASSERT_NE(NULL, new);
	EXPECT_TRUE(json_equal(old, again));
	EXPECT_STREQ(id_of(old), id_of(new));
	EXPECT_EQ(0, strncmp(id_of(old), identity(new), 16));
	if (json_object_size(json_object_get(new, "diff")))
		EXPECT_STRNE(identity(old), identity(new));
	if (!json_object_size(json_object_get(same, "diff")))
		EXPECT_STREQ(identity(old), identity(same));
	json_decref(old);
	json_decref(again);
	json_decref(new);
	json_decref(same);
}

static const char *failed_in(const json_t *json, char *text, size_t size)
{
	const json_t *list = json_object_get(json, "failed");
	json_t *part;
	size_t i;

	*text = '\0';
	json_array_foreach((json_t *)list, i, part)
		snprintf(text + strlen(text), size - strlen(text), "%s ",
			 json_string_value(part));
	return text;
}

/*
 * Each part has one name in the file, whatever name a change or an older file
 * uses.
 */
TEST(failed__one_name)
{
	json_t *old = make_plan((struct plan_conf){}), *once, *twice, *again;
	char text[64];

	once = updated(old, "failed:2");
	EXPECT_STREQ("v2 ", failed_in(once, text, sizeof(text)));
	twice = updated(once, "failed:v02");
	ASSERT_NE(NULL, twice);
	EXPECT_STREQ("v2 ", failed_in(twice, text, sizeof(text)));
	EXPECT_EQ(0, json_object_size(json_object_get(twice, "diff")));
	json_array_set_new(json_object_get(once, "failed"), 0,
			   json_string("2"));
	again = restored(once);
	EXPECT_STREQ("v2 ", failed_in(again, text, sizeof(text)));
	json_decref(old);
	json_decref(once);
	json_decref(twice);
	json_decref(again);
}

/* A failure in the description is not repeated in the plan's list. */
TEST(failed__described)
{
	static const aggt_node senders[] = { 1, 3 }, receiver;
	const struct aggt_job job = {
		.senders = senders, .n_senders = 2, .receivers = &receiver,
		.n_receivers = 1, .method = "irs",
	};
	json_t *json, *new, *again;
	char text[64];

	json = described_plan("topology bcube:2,1\nfailed v2\n", &job, basics);
	ASSERT_NE(NULL, json);
	new = updated(json, "failed:v2");
	ASSERT_NE(NULL, new);
	EXPECT_STREQ("", failed_in(new, text, sizeof(text)));
	again = restored(new);
	EXPECT_NE(NULL, again);
	json_decref(json);
	json_decref(new);
	json_decref(again);
}

/* Supervision would look for nodes that the description does not have. */
TEST(restored__topology_is_not_that_of_its_description)
{
	static const aggt_node senders[] = { 1, 3 }, receiver;
	const struct aggt_job job = {
		.senders = senders, .n_senders = 2, .receivers = &receiver,
		.n_receivers = 1, .method = "irs",
	};
	json_t *json, *again;

	json = described_plan("topology bcube:2,1\n", &job, basics);
	ASSERT_NE(NULL, json);
	json_object_set_new(json, "topology", json_string("bcube:4,1"));
	again = restored(json);
	EXPECT_EQ(NULL, again);
	json_decref(json);
	json_decref(again);
}

/* A plan without an ID gets none: it may be in force. */
TEST(identity__of_a_plan_without)
{
	json_t *old = make_plan((struct plan_conf){}), *again, *node, *entry;
	const char *name;
	size_t i;

	json_object_del(old, "id");
	json_object_foreach(json_object_get(old, "nodes"), name, node)
		json_array_foreach(json_object_get(node, "trees"), i, entry)
			json_object_del(entry, "plan");
	again = restored(old);
	EXPECT_TRUE(json_equal(old, again));
	json_decref(old);
	json_decref(again);
}

TEST(restored__large_group)
{
	const struct plan_conf conf = {
		.has_gid = true, .gid = 4000000000u, .uid = 3000000000u,
	};
	json_t *old = make_plan(conf), *again = restored(old), *entries;

	EXPECT_TRUE(json_equal(old, again));
	entries = json_object_get(again, "entries");
	EXPECT_EQ(4000000000, json_integer_value(json_object_get(entries,
								 "gid")));
	json_decref(old);
	json_decref(again);
}

FIXTURE(number) {
	json_t *json;
};

FIXTURE_VARIANT(number) {
	const char *in;
	const char *name;
	json_int_t value;
};

#define NUMBER(v, place, member, much)					\
FIXTURE_VARIANT_ADD(number, v) {					\
	.in = place, .name = member, .value = much,			\
}

NUMBER(job, NULL, "job", 1ll << 32);
NUMBER(instance, NULL, "instance", (1ll << 32) + 5);
NUMBER(negative, NULL, "instance", -1);
NUMBER(scale, "entries", "scale", 256 + 2);
NUMBER(k, "entries", "k", (1ll << 32) + 1);
NUMBER(elements, "entries", "elements", -1);
NUMBER(uid, "entries", "uid", 1ll << 32);
NUMBER(gid, "entries", "gid", (1ll << 32) + 1000);
NUMBER(writers, "entries", "writers", (1ll << 32) + 1);
NUMBER(memory, "entries", "memory", -65536);
NUMBER(hold, "entries", "hold", 1ll << 40);
NUMBER(give_up, "entries", "give_up", 1ll << 40);
NUMBER(capacity, "entries", "capacity", 1ll << 40);
NUMBER(max_depth, "members", "max_depth", (1ll << 32) + 1);
NUMBER(attempt, "trees", "attempt", 1ll << 32);
NUMBER(entry, "trees", "entry", (1ll << 32) + 1);

FIXTURE_SETUP(number)
{
	json_t *at;

	self->json = make_plan((struct plan_conf){});
	at = variant->in ? json_object_get(self->json, variant->in) :
			   self->json;
	if (json_is_array(at))
		at = json_array_get(at, 0);
	json_object_set_new(at, variant->name, json_integer(variant->value));
}

FIXTURE_TEARDOWN(number)
{
	json_decref(self->json);
}

TEST_F(number, refused__with_its_name)
{
	char begin[64];
	json_t *again;

	snprintf(begin, sizeof(begin), "aggctl: x.json: %s: ", variant->name);
	listen_to_stderr();
	again = restored(self->json);
	EXPECT_EQ(0, strncmp(begin, what_was_said(), strlen(begin)));
	EXPECT_EQ(NULL, again);
	json_decref(again);
}

TEST(refused__end_of_an_edge)
{
	json_t *json = make_plan((struct plan_conf){});
	json_t *tree = json_array_get(json_object_get(json, "trees"), 0);
	json_t *edge = json_array_get(json_object_get(tree, "edges"), 0);
	json_int_t end = json_integer_value(json_array_get(edge, 0));

	json_array_set_new(edge, 0, json_integer(end + (1ll << 32)));
	EXPECT_EQ(NULL, restored(json));
	json_decref(json);
}

/*
 * A plan with @n vertices in a row as nodes and edges, each leading to the
 * next; the last one leads to vertex @to.
 */
static json_t *make_row(int n, int to)
{
	json_t *nodes = json_object(), *edges = json_array();
	char name[16];
	int i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "v%d", i);
		json_object_set_new(nodes, name, json_pack("{s:[]}", "trees"));
		json_array_append_new(edges, json_pack("[i,i]", i,
						       i + 1 < n ? i + 1 : to));
	}
	return json_pack("{s:o, s:[{s:i, s:o}]}", "nodes", nodes, "trees",
			 "receiver", n, "edges", edges);
}

/* No step of the check walks the ring from each vertex again. */
TEST(ring__is_refused)
{
	json_t *ring = make_row(20000, 0);
	struct plan_file file;

	listen_to_stderr();
	EXPECT_EQ(-1, plan_file_take(&file, ring));
	EXPECT_STREQ("aggctl: plan: tree 0: its edges form a cycle\n",
		     what_was_said());
	plan_file_free(&file);
	json_decref(ring);
}

TEST(ring__behind_a_row)
{
	json_t *ring = make_row(50, 40);
	struct plan_file file;

	EXPECT_EQ(-1, plan_file_take(&file, ring));
	plan_file_free(&file);
	json_decref(ring);
}

TEST(row__depths)
{
	json_t *row = make_row(20000, 20000);
	struct plan_file file;
	size_t i;

	ASSERT_EQ(0, plan_file_take(&file, row));
	ASSERT_EQ(20000, file.n);
	for (i = 0; i < file.n; i++)
		ASSERT_EQ(i + 2, file.part[i].depth);
	EXPECT_STREQ("v19999", file.part[0].name);
	plan_file_free(&file);
	json_decref(row);
}

/* Text from files cannot control a terminal. */
/* A key is digits only, two for each byte. */
TEST(key__digits_only)
{
	static const struct {
		const char *text;
		int ret;
	} cases[] = {
		{ "000102030405060708090a0b0c0d0E0F", 0 },
		{ "+0+1+2+3+4+5+6+7+8+9+a+b+c+d+e+f", -1 },
		{ "000102030405060708090a0b0c0d0e-f", -1 },
		{ "000102030405060708090a0b0c0d0e f", -1 },
		{ "0x0102030405060708090a0b0c0d0e0f", -1 },
		{ "000102030405060708090a0b0c0d0e0", -1 },
	};
	static const char * const skip[] = { NULL };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *object = json_pack("{s:s}", "key", cases[i].text);
		struct aggnet_tree_info tree = {};

		EXPECT_EQ(cases[i].ret, info_parse(&aggnet_noun_tree, object,
						   skip, &tree, "v0")) {
			TH_LOG("key '%s'", cases[i].text);
		}
		if (!cases[i].ret)
			EXPECT_EQ(0x0f, tree.key[15]);
		info_clear(&aggnet_noun_tree, &tree);
		json_decref(object);
	}
}

TEST(err__control_characters)
{
	listen_to_stderr();
	err("%s: no node", "v1\033[2J\nfake: \177\302\2330m \303\244");
	EXPECT_STREQ("aggctl: v1\\x1b[2J\\x0afake: \\x7f\\xc2\\x9b0m \xc3\xa4: no node\n",
		     what_was_said());
}

/* Names from a kernel cannot control a terminal: users choose device names. */
TEST(out_rows__control_characters)
{
	const struct column device = { "device", "device" };
	json_t *rows = json_pack("[{s:s}]", "device", "e\033[2J\303\244");
	FILE *terminal = stdout;
	char *text = NULL;
	size_t len;

	ASSERT_NE(NULL, rows);
	stdout = open_memstream(&text, &len);
	ASSERT_NE(NULL, stdout);
	EXPECT_EQ(ST_DONE, out_rows(&device, 1, rows));
	fclose(stdout);
	stdout = terminal;
	EXPECT_STREQ("device\ne\\x1b[2J\303\244\n", text);
	free(text);
	json_decref(rows);
}

/* --- large plans ------------------------------------------------------------ */

/* All servers at one switch, with addresses; no testbed could have so many. */
static char *describe_flat(size_t servers)
{
	char *text = NULL;
	size_t i, len;
	FILE *f;

	f = open_memstream(&text, &len);
	fprintf(f, "topology bcube:%zu,0\n", servers);
	for (i = 0; i < servers; i++)
		fprintf(f, "address v%zu 10.0.%zu.%zu\n"
			"address v%zu-w0 10.1.%zu.%zu\n", i, i >> 8, i & 255,
			i, i >> 8, i & 255);
	fclose(f);
	return text;
}

/* The part of v0, which receives from @n children. */
static json_t *flat_receiver(size_t n)
{
	aggt_node *senders = calloc(n, sizeof(*senders)), receiver = 0;
	const struct aggt_job job = {
		.senders = senders, .n_senders = n, .receivers = &receiver,
		.n_receivers = 1, .method = "unicast",
	};
	struct plan plan = { .conf = { .job = 1, .writers = 1 } };
	struct aggt_err why;
	json_t *nodes, *tree;
	size_t i;

	for (i = 0; i < n; i++)
		senders[i] = (aggt_node)i + 1;
	plan.description = describe_flat(n + 1);
	plan.topo = aggt_topo_describe(plan.description, &why);
	plan.trees = aggt_plan_build(plan.topo, &job, &why);
	nodes = plan_prepare(&plan) ? NULL : plan_nodes(&plan, NULL);
	tree = json_object_get(json_object_get(nodes, "v0"), "trees");
	tree = json_incref(json_array_get(tree, 0));
	json_decref(nodes);
	plan_clear(&plan);
	free(senders);
	return tree;
}

/*
 * A node without a list accepts any child, so a list that is too long is left
 * out.
 */
TEST(children__as_many_as_an_attribute_holds)
{
	json_t *tree = flat_receiver(AGGNET_ADDRS_MAX), *children;

	children = json_object_get(tree, "children");
	EXPECT_EQ(AGGNET_ADDRS_MAX, json_array_size(children));
	json_decref(tree);
	tree = flat_receiver(AGGNET_ADDRS_MAX + 1);
	EXPECT_EQ(NULL, json_object_get(tree, "children"));
	EXPECT_EQ(AGGNET_ADDRS_MAX + 1,
		  json_integer_value(json_object_get(tree, "contributors")));
	json_decref(tree);
}

/* A described network of three hosts in a row, which have names. */
static json_t *make_named(void)
{
	static const aggt_node senders[] = { 1, 0 }, receiver = 2;
	const struct aggt_job job = {
		.senders = senders, .n_senders = 2, .receivers = &receiver,
		.n_receivers = 1, .method = "unicast",
	};

	return described_plan("topology graph\n"
			      "host far\nhost mid-1\nhost near\n"
			      "link far mid-1\nlink mid-1 near\n"
			      "address far 192.0.2.1\n"
			      "address mid-1 192.0.2.2\n"
			      "address mid-1-far 192.0.2.5\n"
			      "address mid-1-near 192.0.2.6\n"
			      "address near 192.0.2.3\n", &job, basics);
}

/* Receivers come first, whatever the hosts' names. */
TEST(named__order_of_nodes)
{
	static const char *const order[] = { "near", "mid-1", "far" };
	json_t *json = make_named(), *again;
	struct plan_file file;
	unsigned int i;

	ASSERT_NE(NULL, json);
	ASSERT_EQ(0, plan_file_take(&file, json));
	ASSERT_EQ(3, file.n);
	for (i = 0; i < 3; i++) {
		EXPECT_STREQ(order[i], file.part[i].name);
		EXPECT_EQ(i + 1, file.part[i].depth);
	}
	plan_file_free(&file);
	again = restored(json);
	EXPECT_TRUE(json_equal(json_object_get(json, "names"),
			       json_object_get(again, "names")));
	json_decref(again);
	json_decref(json);
}

/* Plans of earlier releases have no names. */
TEST(named__old_plan)
{
	json_t *json = make_named(), *again;
	struct plan_file file;

	ASSERT_EQ(0, json_object_del(json, "names"));
	EXPECT_EQ(0, plan_file_take(&file, json));
	EXPECT_EQ(3, file.n);
	plan_file_free(&file);
	again = restored(json);
	EXPECT_STREQ("near", json_string_value(json_object_get(
				json_object_get(again, "names"), "2")));
	json_decref(again);
	json_decref(json);
}

/* Return: the output of plan_text() */
static const char *printed(const json_t *json)
{
	static char text[4096];
	int out, memory = memfd_create("stdout", 0);
	ssize_t len;

	fflush(stdout);
	out = dup(STDOUT_FILENO);
	dup2(memory, STDOUT_FILENO);
	plan_text(json);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	len = pread(memory, text, sizeof(text) - 1, 0);
	text[len > 0 ? len : 0] = '\0';
	close(memory);
	return text;
}

TEST(named__table_of_trees)
{
	json_t *json = make_named();

	EXPECT_NE(NULL, strstr(printed(json), "\nnear          -")) {
		TH_LOG("%s", printed(json));
	}
	json_decref(json);
	json = make_plan((struct plan_conf){});
	EXPECT_NE(NULL, strstr(printed(json), "\n       0      -")) {
		TH_LOG("%s", printed(json));
	}
	json_decref(json);
}

TEST_HARNESS_MAIN
