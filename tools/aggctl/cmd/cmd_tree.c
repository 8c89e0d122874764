// SPDX-License-Identifier: GPL-2.0
/* aggctl tree: entries of incast transfers. */
#include "cmd/cmd.h"
#include "cmd/ctl_open.h"
#include "info.h"
#include "output.h"

static uint64_t job = UINT64_MAX;
static const char *receiver;
static const char *device;
static bool replace;

static const struct column tree_cols[] = {
	{ "job", "job" }, { "receiver", "receiver" },
	{ "instance", "instance" }, { "attempt", "attempt" },
	{ "state", "state" }, { "reason", "reason" },
	{ "function", "function" }, { "scheme", "scheme" },
	{ "port", "port" }, { "link_neighbour", "next" },
	{ "contributors", "contributors" }, { "channels", "channels" },
	{ "sources", "sources" }, { "weight", "weight" },
	{ "acceptor", "acceptor" }, { "keys", "keys" },
	{ "records_in", "records in" }, { "records_out", "records out" },
	{ "rexmits", "rexmits" }, { "memory_used", "memory used" },
};

static bool is_wanted(const struct aggnet_tree_info *tree,
		      const struct in_addr *addr)
{
	struct in_addr to = aggnet_incast_receiver(tree->incast_id);

	return (job == UINT64_MAX || job == aggnet_incast_job(tree->incast_id)) &&
	       (!receiver || to.s_addr == addr->s_addr);
}

static int list_trees(struct aggnet_ctl *h, void *list)
{
	struct ctl_list *found = list;
	struct aggnet_tree_info *info = NULL;
	int error = aggnet_tree_list(h, &info, &found->n);

	found->info = info;
	return error;
}

static int run_show(const struct aggctl *ctl, int argc, char **argv)
{
	const struct aggnet_tree_info *tree;
	struct in_addr addr = {};
	struct ctl_list found;
	json_t *rows;
	size_t i;
	int st;

	(void)argc;
	(void)argv;
	if (receiver && !addr_parse(receiver, &addr))
		return usage("tree show: --receiver: '%s' is not an IPv4 address",
			     receiver);
	st = ctl_ask(list_trees, &found, "trees");
	if (st)
		return st;
	rows = json_array();
	for (i = 0, tree = found.info; i < found.n; i++, tree++)
		if (is_wanted(tree, &addr))
			info_rows(rows, &aggnet_noun_tree, tree, 1, NULL);
	aggnet_tree_list_free(found.info, found.n);
	return out_table(ctl, tree_cols, ARRAY_SIZE(tree_cols), rows);
}

/* The entry that --job and --receiver name. */
static int name_tree(const char *verb, struct aggnet_tree_info *tree)
{
	struct in_addr addr;

	if (job > UINT32_MAX || !receiver)
		return usage("tree %s: needs --job and --receiver", verb);
	if (!addr_parse(receiver, &addr))
		return usage("tree %s: --receiver: '%s' is not an IPv4 address", verb,
			     receiver);
	tree->has |= AGGNET_HAS(AGGNET_A_TREE_INCAST_ID);
	tree->incast_id = aggnet_incast_id((uint32_t)job, addr);
	return ST_DONE;
}

static int add_tree(struct aggnet_ctl *h, void *tree)
{
	return aggnet_tree_add(h, tree, replace);
}

static int run_add(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_tree_info tree = {};
	int st = name_tree("add", &tree);
	uint64_t named = tree.incast_id;

	(void)ctl;
	if (!st && info_set_pairs(&aggnet_noun_tree, argc, argv, &tree))
		st = ST_USAGE;
	if (!st && tree.incast_id != named)
		st = usage("tree add: its job or receiver differs from --job and --receiver");
	if (!st && device) {
		st = ctl_port(device, &tree.link_ifindex);
		tree.has |= AGGNET_HAS(AGGNET_A_TREE_LINK_IFINDEX);
	}
	if (!st)
		st = ctl_ask(add_tree, &tree, "tree");
	info_clear(&aggnet_noun_tree, &tree);
	return st;
}

static int del_tree(struct aggnet_ctl *h, void *tree)
{
	return aggnet_tree_del(h, ((struct aggnet_tree_info *)tree)->incast_id);
}

static int run_del(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_tree_info tree = {};
	int st = name_tree("del", &tree);

	(void)ctl;
	(void)argc;
	(void)argv;
	return st ? st : ctl_ask(del_tree, &tree, "tree");
}

/* The first NNAME_OPTS name an entry, the rest are of "add" alone. */
#define NNAME_OPTS	2
static const struct opt opts[] = {
	{ "job", OPT_JOB, &job, "J", "job ID" },
	{ "receiver", OPT_STRING, &receiver, "A",
	  "identity of the receiver, or vN" },
	{ "device", OPT_STRING, &device, "DEVICE", "port of the planned link" },
	{ "replace", OPT_FLAG, &replace, NULL,
	  "replace an entry of an older epoch" },
};

static const struct verb verbs[] = {
	{
		.name = "show",
		.args = "",
		.help = "show entries and the state of their flows",
		.opts = opts,
		.nopts = NNAME_OPTS,
		.run = run_show,
	}, {
		.name = "add",
		.args = "NAME VALUE...",
		.help = "add an entry: instance, contributors, sources, ...",
		.min_args = 2,
		.max_args = 64,
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_add,
	}, {
		.name = "del",
		.args = "",
		.help = "delete an entry",
		.opts = opts,
		.nopts = NNAME_OPTS,
		.run = run_del,
	},
};

const struct command cmd_tree = {
	.name = "tree",
	.help = "entries of incast transfers",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
