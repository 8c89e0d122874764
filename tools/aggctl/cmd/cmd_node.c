// SPDX-License-Identifier: GPL-2.0
/* aggctl node: role, identity and limits. */
#include <stdio.h>

#include "aggnet.h"
#include "cmd/cmd.h"
#include "cmd/ctl_open.h"
#include "info.h"
#include "names.h"
#include "output.h"

static const struct column node_cols[] = {
	{ "label", "label" }, { "role", "role" }, { "address", "address" },
	{ "memory", "memory" }, { "memory_used", "memory used" },
	{ "port", "UDP port" }, { "trees", "trees" }, { "ports", "ports" },
	{ "tenant", "memory of a tenant" },
};

static int get_node(struct aggnet_ctl *h, void *node)
{
	return aggnet_node_get(h, node);
}

static int run_show(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_node_info node;
	int st = ctl_ask(get_node, &node, "node");
	json_t *object;

	(void)argc;
	(void)argv;
	if (st)
		return st;
	object = info_json(&aggnet_noun_node, &node);
	if (ctl->json)
		return out_json(object);
	names_put(object, "address");
	out_fields(node_cols, ARRAY_SIZE(node_cols), object);
	json_decref(object);
	return ST_DONE;
}

static int set_node(struct aggnet_ctl *h, void *node)
{
	return aggnet_node_set(h, node);
}

static int run_set(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_node_info node = {};
	char what[64] = "node";

	(void)ctl;
	if (info_set_pairs(&aggnet_noun_node, argc, argv, &node))
		return ST_USAGE;
	/* A refusal says which identity, not that it is one. */
	if (node.has & AGGNET_HAS(AGGNET_A_NODE_ADDRESS))
		snprintf(what, sizeof(what), "node: address %s",
			 addr_text(node.address));
	return ctl_ask(set_node, &node, what);
}

static const struct verb verbs[] = {
	{
		.name = "show",
		.args = "",
		.help = "show role, identity, limits and use",
		.run = run_show,
	}, {
		.name = "set",
		.args = "NAME VALUE...",
		.help = "set identity, role, limits and UDP port of this node",
		.names = &aggnet_noun_node,
		.min_args = 2,
		.max_args = 64,
		.run = run_set,
	}, {
		.name = "check",
		.args = "",
		.help = "the same as 'aggctl host check'",
		.run = cmd_host_check,
	},
};

const struct command cmd_node = {
	.name = "node",
	.help = "role, identity and limits of this namespace",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
