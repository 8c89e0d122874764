// SPDX-License-Identifier: GPL-2.0
/* What is in force on the nodes of a testbed, all in one look. */
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "info.h"
#include "node.h"
#include "testbed/testbed.h"

static int add_trees(struct node *node, json_t *rows)
{
	struct aggnet_tree_info *list;
	size_t n;

	if (aggnet_tree_list(node->ctl, &list, &n))
		return node_refused(node, "trees");
	info_rows(rows, &aggnet_noun_tree, list, n, node->name);
	aggnet_tree_list_free(list, n);
	return 0;
}

static int add_links(struct node *node, json_t *rows)
{
	struct aggnet_link_info *list;
	size_t n;

	if (aggnet_link_list(node->ctl, &list, &n))
		return node_refused(node, "links");
	info_rows(rows, &aggnet_noun_link, list, n, node->name);
	free(list);
	return 0;
}

/**
 * tb_entries() - entries and links of all nodes
 * @state: a testbed's state
 *
 * Leaves the process in the last node's namespace.
 *
 * Return: an object of two arrays, trees and links, whose elements name their
 * node; NULL with an error line printed.
 */
json_t *tb_entries(const json_t *state)
{
	json_t *trees = json_array(), *links = json_array(), *desc;
	const char *name;
	struct node node;
	int ret = 0;
	size_t i;

	json_array_foreach(json_object_get(state, "nodes"), i, desc) {
		name = json_string_value(json_object_get(desc, "name"));
		ret = node_open(&node, name, name) ||
		      add_trees(&node, trees) || add_links(&node, links);
		node_close(&node);
		if (ret)
			break;
	}
	if (!ret)
		return json_pack("{s:o, s:o}", "trees", trees, "links", links);
	json_decref(trees);
	json_decref(links);
	return NULL;
}
