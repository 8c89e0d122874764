// SPDX-License-Identifier: GPL-2.0
/* aggctl tree: entries of incast transfers. */
#include <stdio.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/ctl_open.h"
#include "cmd/top.h"
#include "cmd/transfer_stats.h"
#include "info.h"
#include "names.h"
#include "output.h"

static uint64_t job = UINT64_MAX;
static const char *receiver;
static const char *device;
static bool replace, details, watch;

static const struct column brief_cols[] = {
	{ "job", "job" }, { "receiver", "receiver" },
	{ "function", "function" }, { "state", "state" },
	{ "bound", "bound" }, { "records_in", "records in" },
	{ "records_out", "records out" }, { "memory_used", "memory" },
	{ "fallbacks", "fallbacks" },
};

static const struct column tree_cols[] = {
	{ "job", "job" }, { "receiver", "receiver" },
	{ "instance", "instance" }, { "attempt", "attempt" },
	{ "state", "state" }, { "round", "round" }, { "reason", "reason" },
	{ "function", "function" }, { "vtype", "values" },
	{ "layout", "layout" }, { "scheme", "scheme" },
	{ "stripe", "stripe, from 0" }, { "stripes", "stripes of the job" },
	{ "port", "port" }, { "link_neighbour", "next" },
	{ "contributors", "contributors, own included" },
	{ "channels", "flows that arrived" },
	{ "unplanned", "flows, unplanned" },
	{ "sources", "sources, planned" }, { "weight", "sources, ended" },
	{ "acceptor", "acceptor" }, { "children", "children" },
	{ "unbound", "children, not bound" },
	{ "missing_names", "not here" }, { "keys", "keys" },
	{ "records_in", "records in" }, { "records_out", "records out" },
	{ "packets_in", "packets in" }, { "packets_out", "packets out" },
	{ "bytes_in", "bytes in" }, { "bytes_out", "bytes out" },
	{ "rexmits", "packets sent again" },
	{ "memory_used", "memory, bytes" },
	{ "memory_most", "memory at most, bytes" },
	{ "memory", "memory limit, bytes" },
	{ "fallback_link", "packets by plain IP, no link" },
	{ "fallback_bloom", "packets by plain IP, no Bloom match" },
	{ "fallback_policy", "packets by plain IP, refused" },
	{ "fallback_round", "packets by plain IP, would return" },
	{ "below_link", "of nodes below, no link" },
	{ "below_bloom", "of nodes below, no Bloom match" },
	{ "below_policy", "of nodes below, refused" },
	{ "below_round", "of nodes below, would return" },
	{ "partials", "nodes that did not wait" },
};

static bool is_wanted(const struct aggnet_tree_info *tree,
		      const struct in_addr *addr)
{
	struct in_addr to = aggnet_incast_receiver(tree->incast_id);

	return (job == UINT64_MAX || info_of_job(tree, job)) &&
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

/* With names in a column, or behind addresses where there is room for both. */
static void add_names(json_t *row)
{
	static const char *const hosts[] = {
		"receiver", "link_neighbour", "acceptor", "children", "unbound",
		"missing_names",
	};
	size_t i;

	if (!details)
		top_name(row);
	for (i = 0; details && i < ARRAY_SIZE(hosts); i++)
		names_put(row, hosts[i]);
}

static void add_brief(json_t *rows, const struct aggnet_tree_info *tree)
{
	json_t *row = json_array_get(rows, json_array_size(rows) - 1);

	add_names(row);
	if (transfer_stats_forwards(tree))
		json_object_set_new(row, "state", json_string("forwards"));
	json_object_set_new(row, "bound", top_bound(tree));
	json_object_set_new(row, "fallbacks",
			    json_integer(top_fallbacks(tree)));
}

/* One paragraph for each entry. */
static int print_details(json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		if (i)
			putchar('\n');
		out_fields(tree_cols, ARRAY_SIZE(tree_cols), row);
	}
	json_decref(rows);
	return ST_DONE;
}

static int show(const struct aggctl *ctl, const struct in_addr *addr)
{
	const struct aggnet_tree_info *tree;
	struct ctl_list found;
	json_t *rows;
	size_t i;
	int st;

	st = ctl_ask(list_trees, &found, "trees");
	if (st)
		return st;
	rows = json_array();
	for (i = 0, tree = found.info; i < found.n; i++, tree++) {
		if (!is_wanted(tree, addr))
			continue;
		info_rows(rows, &aggnet_noun_tree, tree, 1, NULL);
		if (!ctl->json)
			add_brief(rows, tree);
	}
	aggnet_tree_list_free(found.info, found.n);
	if (details && !ctl->json)
		return print_details(rows);
	return out_table(ctl, brief_cols, ARRAY_SIZE(brief_cols), rows);
}

/* Once, or until a signal ends it. */
static int run_show(const struct aggctl *ctl, int argc, char **argv)
{
	const struct timespec second = { .tv_sec = 1 };
	struct in_addr addr = {};
	int st;

	(void)argc;
	(void)argv;
	if (receiver && !names_parse(receiver, &addr))
		return usage("tree show: --receiver: '%s' is %s",
			     receiver, names_no_host());
	if (watch && ctl->json)
		return usage("tree show: --watch cannot be combined with --json: 'aggctl -j top' prints one array a line");
	if (watch)
		out_clear();
	st = show(ctl, &addr);
	while (watch && !st && !fflush(stdout)) {
		nanosleep(&second, NULL);
		out_clear();
		st = show(ctl, &addr);
	}
	return st;
}

/* The entry that --job and --receiver name. */
static int name_tree(const char *verb, struct aggnet_tree_info *tree)
{
	struct in_addr addr;

	if (job > UINT32_MAX || !receiver)
		return usage("tree %s: needs --job and --receiver", verb);
	if (!names_parse(receiver, &addr))
		return usage("tree %s: --receiver: '%s' is %s", verb,
			     receiver, names_no_host());
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

/* "show" has the first ones, "del" only those that name an entry, "add" all of these. */
#define NAMES		(&opts[2])
#define NNAMES		2
static const struct opt opts[] = {
	{ "details", OPT_FLAG, &details, NULL,
	  "text with all that is known, a line for each value" },
	{ "watch", OPT_FLAG, &watch, NULL, "again each second" },
	{ "job", OPT_JOB, &job, "J", "job ID" },
	{ "receiver", OPT_STRING, &receiver, "A",
	  "the receiver, by name or identity" },
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
		.nopts = 2 + NNAMES,
		.letters = "d",
		.run = run_show,
	}, {
		.name = "add",
		.args = "NAME VALUE...",
		.help = "add an entry, or replace it",
		.names = &aggnet_noun_tree,
		.min_args = 2,
		.max_args = 64,
		.opts = NAMES,
		.nopts = ARRAY_SIZE(opts) - 2,
		.run = run_add,
	}, {
		.name = "del",
		.args = "",
		.help = "delete an entry",
		.opts = NAMES,
		.nopts = NNAMES,
		.run = run_del,
	},
};

const struct command cmd_tree = {
	.name = "tree",
	.help = "entries of incast transfers",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
