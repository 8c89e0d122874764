// SPDX-License-Identifier: GPL-2.0
/* A plan as text, from its JSON. */
#include <stdio.h>
#include <string.h>

#include "output.h"
#include "plan/plan.h"

static const struct column metric_cols[] = {
	{ "cost", "cost" }, { "existing", "existing" }, { "saving", "saving" },
	{ "links", "links" }, { "aggregating_servers", "aggregating servers" },
	{ "added_servers", "added servers" }, { "depth", "depth" },
	{ "bottleneck", "busiest link" },
	{ "bottleneck_bytes", "busiest link, bytes" },
	{ "fan_in", "flows by one link" },
	{ "predicted_seconds", "predicted seconds" },
	{ "copying_switches", "switches that copy" },
	{ "stripes", "stripes" }, { "stress", "stripes on a link" },
	{ "cut_bound", "cut bound" }, { "cut_share", "share of the bound" },
	{ "skipped", "skipped, too long" },
};

static const struct column filter_cols[] = {
	{ "rule", "filter, rule" }, { "bits", "bits" }, { "hashes", "hashes" },
	{ "bytes", "bytes in a packet" }, { "paper_bits", "bits, paper's rule" },
	{ "general_bits", "bits, general rule" }, { "links", "links of a way" },
	{ "looked_up", "looked up beside it" },
	{ "expected_false", "false positives expected" },
	{ "unsalted_false_links", "false links, one salt" },
	{ "false_links", "false links, best salt" },
};

static const struct column update_cols[] = {
	{ "changes", "changes" }, { "reuse", "hops reused" },
	{ "seconds", "seconds" }, { "rebuild_seconds", "rebuild, seconds" },
	{ "rebuild_cost", "rebuild, cost" },
};

static const struct column diff_cols[] = {
	{ "node", "node" }, { "add", "add" }, { "change", "change" },
	{ "delete", "delete" },
};

static const struct column tree_cols[] = {
	{ "receiver", "receiver" }, { "entry", "entry" }, { "cost", "cost" },
	{ "links", "links" }, { "depth", "depth" }, { "senders", "senders" },
	{ "job", "job" },
};

static const struct column entry_cols[] = {
	{ "node", "node" }, { "receiver", "receiver" }, { "role", "role" },
	{ "contributors", "contributors" }, { "sources", "sources" },
	{ "scheme", "scheme" }, { "link_port", "port" },
	{ "link_neighbour", "next" }, { "hops", "hops" },
	{ "switch", "for switch" }, { "job", "job" },
};

/* Of a described network, by the names that it has. */
static const struct column named_cols[] = {
	{ "node", "node" }, { "receiver", "receiver" }, { "role", "role" },
	{ "contributors", "contributors" }, { "sources", "sources" },
	{ "scheme", "scheme" }, { "link_to", "link to" },
	{ "parent", "next" }, { "hops", "hops" },
	{ "switch", "for switch" }, { "job", "job" },
};

/* The columns, the last ones, that only some plans have. */
static bool is_striped(const json_t *plan)
{
	return json_object_get(json_object_get(plan, "metrics"), "stripes");
}

/* A host by its name, if the plan has names. */
static void name_host(const json_t *plan, json_t *row, const char *member)
{
	const json_t *number = json_object_get(row, member);
	json_t *name;
	char key[24];

	snprintf(key, sizeof(key), "%" JSON_INTEGER_FORMAT,
		 json_integer_value(number));
	name = json_object_get(json_object_get(plan, "names"), key);
	if (json_is_integer(number) && name)
		json_object_set(row, member, name);
}

static void show_trees(const json_t *plan)
{
	json_t *rows = json_array();
	json_t *tree, *row;
	size_t i, n;

	json_array_foreach(json_object_get(plan, "trees"), i, tree) {
		n = json_array_size(json_object_get(tree, "senders"));
		row = json_copy(tree);
		json_object_set_new(row, "senders",
				    json_integer((json_int_t)n));
		name_host(plan, row, "receiver");
		name_host(plan, row, "entry");
		json_array_append_new(rows, row);
	}
	out_rows(tree_cols, ARRAY_SIZE(tree_cols) - !is_striped(plan), rows);
	json_decref(rows);
}

/* The node whose identity this is. */
static void name_identity(const json_t *nodes, json_t *row, const char *member)
{
	const json_t *identity = json_object_get(row, member);
	const char *name;
	json_t *node;

	json_object_foreach((json_t *)nodes, name, node) {
		if (!json_equal(json_object_get(node, "address"), identity))
			continue;
		json_object_set_new(row, member, json_string(name));
		return;
	}
}

static json_t *entry_row(const json_t *nodes, const char *name,
			 const json_t *tree, bool named)
{
	json_t *row = json_copy((json_t *)tree);

	json_object_set_new(row, "node", json_string(name));
	if (named)
		name_identity(nodes, row, "receiver");
	return row;
}

static void show_entries(const json_t *plan, const json_t *nodes)
{
	bool named = json_object_get(plan, "names"), agents = false;
	struct column cols[ARRAY_SIZE(entry_cols)];
	json_t *rows = json_array();
	json_t *node, *tree;
	const char *name;
	size_t i;

	json_object_foreach((json_t *)nodes, name, node) {
		agents |= json_object_get(node, "agent") != NULL;
		json_array_foreach(json_object_get(node, "trees"), i, tree)
			json_array_append_new(rows, entry_row(nodes, name, tree,
							      named));
	}
	memcpy(cols, named ? named_cols : entry_cols, sizeof(cols));
	if (!is_striped(plan))
		cols[ARRAY_SIZE(cols) - 1].head = NULL;
	/* For switches that lean on servers. */
	if (!agents)
		cols[ARRAY_SIZE(cols) - 2].head = NULL;
	out_rows(cols, ARRAY_SIZE(cols), rows);
	json_decref(rows);
}

/* What an update did, and which entries of which nodes it touches. */
static void show_update(const json_t *update, const json_t *diff)
{
	json_t *rows = json_array();
	json_t *node, *row;
	const char *name;

	putchar('\n');
	out_fields(update_cols, ARRAY_SIZE(update_cols), update);
	json_object_foreach((json_t *)diff, name, node) {
		row = json_copy(node);
		json_object_set_new(row, "node", json_string(name));
		json_array_append_new(rows, row);
	}
	putchar('\n');
	out_rows(diff_cols, ARRAY_SIZE(diff_cols), rows);
	json_decref(rows);
}

/**
 * plan_text() - print a plan as text
 * @plan: the plan as JSON
 */
void plan_text(const json_t *plan)
{
	const json_t *nodes = json_object_get(plan, "nodes");
	const json_t *update = json_object_get(plan, "update");
	const json_t *filter = json_object_get(plan, "filter");

	out_fields(metric_cols, ARRAY_SIZE(metric_cols),
		   json_object_get(plan, "metrics"));
	putchar('\n');
	if (filter) {
		out_fields(filter_cols, ARRAY_SIZE(filter_cols), filter);
		putchar('\n');
	}
	show_trees(plan);
	if (update)
		show_update(update, json_object_get(plan, "diff"));
	if (!json_object_size(nodes))
		return;
	putchar('\n');
	show_entries(plan, nodes);
}
