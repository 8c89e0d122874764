// SPDX-License-Identifier: GPL-2.0
/* Netlink: each allocation of each command fails once, and nothing is left half
 * done. Needs a kernel with fault injection; skipped on others.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "harness.h"
#include "fault.h"
#include "nl_node.h"

#define MOST	400	/* no command makes more allocations */

FIXTURE(nomem) {
	bool able;
	struct nl nl;
};

FIXTURE_VARIANT(nomem) {
	const struct fault *fault;
};

FIXTURE_VARIANT_ADD(nomem, thread) {
	.fault = &fault_thread,
};

FIXTURE_VARIANT_ADD(nomem, module) {
	.fault = &fault_module,
};

FIXTURE_SETUP(nomem)
{
	struct nl *nl = &self->nl;

	self->able = variant->fault->able();
	ASSERT_EQ(0, node_namespace());
	ASSERT_EQ(0, nl_open(nl));
	ASSERT_EQ(0, node_identity(nl, IDENTITY));
	ASSERT_EQ(0, port_add(nl, "p0"));
}

FIXTURE_TEARDOWN(nomem)
{
	nl_close(&self->nl);
}

/*
 * --- commands, and what undoes them ----------------------------------------
 */

static int nothing(struct nl *nl)
{
	(void)nl;
	return 0;
}

static int set_identity(struct nl *nl)
{
	return node_identity(nl, IDENTITY);
}

static int get_node(struct nl *nl)
{
	return nl_do(nl, AGGNET_CMD_NODE_GET);
}

static int get_stats(struct nl *nl)
{
	return nl_do(nl, AGGNET_CMD_STATS_GET);
}

static int add_port(struct nl *nl)
{
	return port_add(nl, "p1");
}

static int del_port(struct nl *nl)
{
	nl_begin(nl, AGGNET_CMD_PORT_DEL, 0);
	nl_u32(nl, AGGNET_A_PORT_IFINDEX, ifindex("p1"));
	return nl_talk(nl);
}

static int add_link(struct nl *nl)
{
	return link_add(nl, "p0", NEIGHBOUR);
}

static int del_link(struct nl *nl)
{
	return link_del(nl, "p0", NEIGHBOUR);
}

static int add_tree(struct nl *nl)
{
	uint32_t children[] = { addr("10.0.0.2"), addr("10.0.0.3") };

	nl_begin(nl, AGGNET_CMD_TREE_ADD, 0);
	nl_u64(nl, AGGNET_A_TREE_INCAST_ID, incast(1));
	nl_u32(nl, AGGNET_A_TREE_INSTANCE, 1);
	nl_u32(nl, AGGNET_A_TREE_CONTRIBUTORS, 3);
	nl_u32(nl, AGGNET_A_TREE_SOURCES, 3);
	nl_u32(nl, AGGNET_A_TREE_WRITERS, 1);
	nl_put(nl, AGGNET_A_TREE_CHILDREN, children, sizeof(children));
	nl_put(nl, AGGNET_A_TREE_KEY, "0123456789abcdef", 16);
	nl_u64(nl, AGGNET_A_TREE_MEMORY, 1 << 18);
	return nl_talk(nl);
}

static int replace_tree(struct nl *nl)
{
	return tree_add(nl, incast(1), 2, NLM_F_REPLACE);
}

static int del_tree(struct nl *nl)
{
	return tree_del(nl, incast(1));
}

static int old_tree(struct nl *nl)
{
	int err = del_tree(nl);

	return err ? err : add_tree(nl);
}

static int begin(struct nl *nl)
{
	return nl_do(nl, AGGNET_CMD_PLAN_BEGIN);
}

static int drop(struct nl *nl)
{
	return nl_do(nl, AGGNET_CMD_PLAN_DROP);
}

static int stage(struct nl *nl)
{
	int err = begin(nl);

	if (!err)
		err = add_link(nl);
	if (!err)
		err = transit_add(nl, incast(1), 1, 0, "p0", NEIGHBOUR);
	if (!err)
		err = tree_add(nl, incast(2), 1, 0);
	return err;
}

static int commit(struct nl *nl)
{
	return nl_do(nl, AGGNET_CMD_PLAN_COMMIT);
}

static int withdraw(struct nl *nl)
{
	int err = del_tree(nl);

	if (!err)
		err = tree_del(nl, incast(2));
	return err ? err : del_link(nl);
}

/* Drop a plan that a failure has voided; it may be dropped already. */
static int drop_rest(struct nl *nl)
{
	int err = drop(nl);

	return err == -ENOENT ? 0 : err;
}

/**
 * struct command - a command whose allocations fail in turn
 * @name: for messages
 * @before: prepares it
 * @make: runs it
 * @undo: undoes it; the state is then as after @before
 * @after: undoes @before
 */
struct command {
	const char *name;
	int (*before)(struct nl *nl);
	int (*make)(struct nl *nl);
	int (*undo)(struct nl *nl);
	int (*after)(struct nl *nl);
};

static const struct command commands[] = {
	{ "node set", nothing, set_identity, nothing, nothing },
	{ "node get", nothing, get_node, nothing, nothing },
	{ "stats get", nothing, get_stats, nothing, nothing },
	{ "port add", nothing, add_port, del_port, nothing },
	{ "port del", add_port, del_port, add_port, del_port },
	{ "link add", nothing, add_link, del_link, nothing },
	{ "link del", add_link, del_link, add_link, del_link },
	{ "tree add", nothing, add_tree, del_tree, nothing },
	{ "tree del", add_tree, del_tree, add_tree, del_tree },
	{ "tree replace", add_tree, replace_tree, old_tree, del_tree },
	{ "plan begin", nothing, begin, drop, nothing },
};

/*
 * --- the state of the node ---------------------------------------------------
 */

struct state {
	int ports, links, trees, marks;
	uint64_t memory;
};

static void count(struct nl *nl, void *arg)
{
	(void)nl;
	++*(int *)arg;
}

static void observe(struct nl *nl, struct state *s)
{
	*s = (struct state) {
		.links = links(nl),
		.trees = trees(nl),
		.marks = marks(nl, "p0", NEIGHBOUR),
		.memory = memory_used(nl),
	};
	nl_dump(nl, AGGNET_CMD_PORT_GET, count, &s->ports);
}

static struct state wanted;

/* A deleted tree frees its memory a while later. A new tree may start with less
 * memory than it had.
 */
static bool is_wanted(struct nl *nl)
{
	struct state s;

	observe(nl, &s);
	return s.ports == wanted.ports && s.links == wanted.links &&
	       s.trees == wanted.trees && s.marks == wanted.marks &&
	       (s.trees ? s.memory > 0 : s.memory == wanted.memory);
}

/*
 * Fail one allocation of a command. Return: 1 no allocation failed, 0, or
 * -errno
 */
static int fail_once(struct nl *nl, const struct fault *fault,
		     const struct command *c, int nth, const struct state *was,
		     const struct state *done)
{
	struct state is;
	bool struck;
	int err;

	fault->arm(nth);
	err = c->make(nl);
	struck = fault->struck();
	fault->arm(0);
	if (err && !struck)
		return err;
	/* If only the answer failed, the command is done or not. */
	observe(nl, &is);
	if (err && is.ports == was->ports && is.links == was->links &&
	    is.trees == was->trees && c->make != replace_tree) {
		wanted = *was;
		if (c->make == begin && drop_rest(nl))
			return -EPROTO;
		return within(nl, is_wanted) ? 0 : -ENOTRECOVERABLE;
	}
	wanted = *done;
	if (!within(nl, is_wanted))
		return -ENOTRECOVERABLE;
	err = c->undo(nl);
	wanted = *was;
	if (!err && !within(nl, is_wanted))
		err = -ENOTRECOVERABLE;
	return err ? err : !struck;
}

TEST_F_TIMEOUT(nomem, each_command, LONG)
{
	struct nl *nl = &self->nl;
	const struct command *c;
	struct state base, was, done;
	int nth, ret;

	if (!self->able)
		SKIP(return, FAULT_NONE);
	for (c = commands; c < commands + ARRAY_SIZE(commands); c++) {
		observe(nl, &base);
		ASSERT_EQ(0, c->before(nl));
		observe(nl, &was);
		ASSERT_EQ(0, c->make(nl));
		observe(nl, &done);
		/* A deleted entry or link frees its memory a while later. */
		if (done.trees == base.trees && done.links == base.links)
			done.memory = base.memory;
		ASSERT_EQ(0, c->undo(nl));
		wanted = was;
		ASSERT_TRUE(within(nl, is_wanted));
		for (nth = 1, ret = 0; nth < MOST && !ret; nth++)
			ret = fail_once(nl, variant->fault, c, nth, &was,
					&done);
		EXPECT_EQ(1, ret) {
			TH_LOG("%s: allocation %d: %s", c->name, nth - 1,
			       nl->text);
		}
		TH_LOG("%s: %d allocations", c->name, nth - 2);
		ASSERT_EQ(0, c->after(nl));
		wanted = base;
		ASSERT_TRUE(within(nl, is_wanted));
	}
}

TEST_F_TIMEOUT(nomem, commit, LONG)
{
	struct nl *nl = &self->nl;
	struct state was, done;
	bool struck = true;
	int nth, err;

	if (!self->able)
		SKIP(return, FAULT_NONE);
	observe(nl, &was);
	ASSERT_EQ(0, stage(nl));
	ASSERT_EQ(0, commit(nl));
	observe(nl, &done);
	ASSERT_EQ(0, withdraw(nl));
	for (nth = 1; nth < MOST && struck; nth++) {
		ASSERT_EQ(0, stage(nl));
		variant->fault->arm(nth);
		err = commit(nl);
		struck = variant->fault->struck();
		variant->fault->arm(0);
		EXPECT_TRUE(struck || !err);
		if (trees(nl)) {
			wanted = done;
			ASSERT_TRUE(within(nl, is_wanted));
			ASSERT_EQ(0, withdraw(nl));
		} else {
			EXPECT_NE(0, err);
		}
		ASSERT_EQ(0, drop_rest(nl));
		wanted = was;
		ASSERT_TRUE(within(nl, is_wanted));
	}
	EXPECT_FALSE(struck);
	TH_LOG("%d allocations", nth - 2);
}

/* A dump is complete or ends with an error. */
TEST_F_TIMEOUT(nomem, dumps, LONG)
{
	static const uint8_t gets[] = { AGGNET_CMD_PORT_GET,
		AGGNET_CMD_LINK_GET, AGGNET_CMD_TREE_GET };
	struct nl *nl = &self->nl;
	bool struck;
	int nth, err, n;
	size_t i;

	if (!self->able)
		SKIP(return, FAULT_NONE);
	ASSERT_EQ(0, add_link(nl));
	ASSERT_EQ(0, add_tree(nl));
	for (i = 0; i < ARRAY_SIZE(gets); i++) {
		for (nth = 1, struck = true; nth < MOST && struck; nth++) {
			n = 0;
			variant->fault->arm(nth);
			err = nl_dump(nl, gets[i], count, &n);
			struck = variant->fault->struck();
			variant->fault->arm(0);
			EXPECT_TRUE(err || n == 1);
			/*
			 * Closing its socket frees the rest of a dump that
			 * failed.
			 */
			nl_close(nl);
			ASSERT_EQ(0, nl_open(nl));
		}
		EXPECT_FALSE(struck);
	}
	ASSERT_EQ(0, del_tree(nl));
	ASSERT_EQ(0, del_link(nl));
}

/*
 * Return: the number of events that came, or -ENOBUFS. Events precede the ACK.
 */
static int heard(struct nl *events)
{
	int n = 0;

	while (recv(events->fd, &events->answer, sizeof(events->answer),
		    MSG_DONTWAIT) > 0)
		n++;
	return errno == EAGAIN ? n : -errno;
}

/* A listener gets each event or an error. */
TEST_F_TIMEOUT(nomem, events, LONG)
{
	static struct nl events;
	struct nl *nl = &self->nl;
	bool struck = true;
	int lost = 0;
	int nth, n;

	if (!self->able)
		SKIP(return, FAULT_NONE);
	ASSERT_EQ(0, nl_open(&events));
	ASSERT_EQ(0, nl_join(&events));
	for (nth = 1; nth < MOST && struck; nth++) {
		variant->fault->arm(nth);
		add_tree(nl);
		struck = variant->fault->struck();
		variant->fault->arm(0);
		n = heard(&events);
		lost += n == -ENOBUFS;
		if (trees(nl)) {
			EXPECT_TRUE(n == 1 || (struck && n == -ENOBUFS)) {
				TH_LOG("allocation %d: %d", nth, n);
			}
			ASSERT_EQ(0, del_tree(nl));
			ASSERT_EQ(1, heard(&events));
		} else {
			EXPECT_EQ(0, n);
		}
	}
	EXPECT_FALSE(struck);
	EXPECT_LT(0, lost);
	nl_close(&events);
}

TEST_HARNESS_MAIN
