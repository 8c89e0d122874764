// SPDX-License-Identifier: GPL-2.0
/* Identities and ports of a testbed's nodes, if the module is loaded. */
#include <errno.h>
#include <string.h>

#include "aggctl.h"
#include "node.h"
#include "testbed/testbed.h"

static const char *text_of(const json_t *object, const char *member)
{
	return json_string_value(json_object_get(object, member));
}

static bool is_loaded(void)
{
	struct aggnet_ctl *ctl;
	bool loaded = aggnet_ctl_open(&ctl) != -ENOENT;

	aggnet_ctl_close(ctl);
	return loaded;
}

static int attach_node(const json_t *desc)
{
	const char *name = text_of(desc, "name");
	struct node node;
	int ret;

	ret = node_open(&node, name, name) ||
	      node_setup(&node, text_of(desc, "role"),
			 text_of(desc, "identity"),
			 json_object_get(desc, "ports"), false);
	node_close(&node);
	return ret ? -1 : 0;
}

/**
 * tb_attach() - give the nodes of a testbed their identities and ports
 * @tb: the testbed, up
 * @loaded: is the module loaded? Otherwise nothing is done
 *
 * The process ends up in some namespace of the testbed.
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_attach(const struct testbed *tb, bool *loaded)
{
	json_t *state, *node;
	int ret = 0;
	size_t i;

	*loaded = is_loaded();
	if (!*loaded)
		return 0;
	state = tb_state_json(tb, true);
	json_array_foreach(json_object_get(state, "nodes"), i, node) {
		if (!tb->aggnet_switches &&
		    !strcmp(text_of(node, "role"), "switch"))
			continue;
		ret = attach_node(node);
		if (ret)
			break;
	}
	json_decref(state);
	return ret;
}
