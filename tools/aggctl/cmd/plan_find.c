// SPDX-License-Identifier: GPL-2.0
/* Where the nodes of a plan are: in the testbed, or one of them on this host. */
#include <string.h>

#include "aggctl.h"
#include "cmd/plan_find.h"
#include "info.h"
#include "names.h"
#include "netns.h"
#include "testbed/testbed.h"

/* The object of this name in a list. */
static const json_t *find_named(const json_t *list, const char *name)
{
	const char *other;
	json_t *object;
	size_t i;

	json_array_foreach((json_t *)list, i, object) {
		other = json_string_value(json_object_get(object, "name"));
		if (other && name && !strcmp(other, name))
			return object;
	}
	return NULL;
}

/* A testbed of plans lacks the ports that they do not use. */
static void keep_ports(const json_t *entry, const json_t *node)
{
	json_t *ports = json_object_get(entry, "ports");
	size_t i = json_array_size(ports);
	const json_t *name;

	while (i--) {
		name = json_object_get(json_array_get(ports, i), "name");
		if (!find_named(json_object_get(node, "ports"),
				json_string_value(name)))
			json_array_remove(ports, i);
	}
}

/* In the namespace of a node, --node shall not reach another node. */
static int check_place(const json_t *state, const char *node)
{
	const char *name;
	json_t *other;
	size_t i;

	json_array_foreach(json_object_get(state, "nodes"), i, other) {
		name = json_string_value(json_object_get(other, "name"));
		if (!name || !strcmp(name, node) || !netns_is_own(name))
			continue;
		err("--node %s: this is the namespace of %s, another node of the testbed: leave it, or use 'ip netns exec %s'",
		    node, name, node);
		return -1;
	}
	return 0;
}

/* The topologies have the same name: both may be graphs, or have other addresses. */
static int check_description(const struct plan_file *file, const json_t *state)
{
	const json_t *plan = json_object_get(file->json, "description");
	const json_t *bed = json_object_get(state, "description");
	const char *name = json_string_value(json_object_get(state, "topology"));

	if (!name || addressing_same(name, json_string_value(plan),
				     json_string_value(bed)))
		return 0;
	err("the plan and the testbed are of different descriptions: make both from the same file");
	return -1;
}

static int check_state(const struct plan_file *file, const json_t *state)
{
	json_t *plan = json_object_get(file->json, "topology");
	bool partial = json_is_true(json_object_get(state, "partial"));
	json_t *bed = json_object_get(state, "topology");
	const json_t *node;
	size_t i;

	if (!json_equal(plan, bed)) {
		err("the plan is for %s, the testbed is %s",
		    json_is_string(plan) ? json_string_value(plan) : "nothing",
		    json_is_string(bed) ? json_string_value(bed) : "nothing");
		return -1;
	}
	if (check_description(file, state))
		return -1;
	for (i = 0; i < file->n; i++) {
		node = find_named(json_object_get(state, "nodes"),
				  file->part[i].name);
		if (!node) {
			err("the testbed has no node %s%s", file->part[i].name,
			    partial ? ": it has those of its plans only" : "");
			return -1;
		}
		if (partial)
			keep_ports(file->part[i].entry, node);
	}
	return 0;
}

static const char *node_with(const struct plan_file *file, const char *address)
{
	const char *other;
	size_t i;

	for (i = 0; i < file->n; i++) {
		other = json_string_value(json_object_get(file->part[i].entry,
							  "address"));
		if (other && !strcmp(other, address))
			return file->part[i].name;
	}
	return NULL;
}

/**
 * plan_file_own() - find the node of a plan that this host is
 * @file: the plan
 * @prefix: what an error line begins with
 *
 * Return: its name, or NULL with an error line printed: the host has no identity, or
 * the plan has no part for it.
 */
const char *plan_file_own(const struct plan_file *file, const char *prefix)
{
	struct aggnet_node_info self = {};
	const char *name = NULL;
	struct aggnet_ctl *ctl;

	if (aggnet_ctl_open(&ctl) || aggnet_node_get(ctl, &self))
		err("%son this host: %s", prefix, aggnet_ctl_error(ctl));
	else if (!self.address.s_addr)
		err("%sthis host has no identity: '%s' gives it one%s", prefix,
		    names_init("aggctl host init --topology @FILE --run"),
		    *prefix ?
		    ", or --node names its node in the plan" : "");
	else
		name = node_with(file, addr_text(self.address));
	aggnet_ctl_close(ctl);
	if (!name && self.address.s_addr)
		err("the plan has no part for this host, whose identity is %s",
		    addr_text(self.address));
	return name;
}

/* Is this process in the namespace of a node of the testbed? */
static bool is_inside(const json_t *state)
{
	const char *name;
	json_t *node;
	size_t i;

	json_array_foreach(json_object_get(state, "nodes"), i, node) {
		name = json_string_value(json_object_get(node, "name"));
		if (name && netns_is_own(name))
			return true;
	}
	return false;
}

/**
 * plan_file_addressed() - refuse a plan without addresses that hosts can have
 * @file: the plan, which is not for a testbed
 *
 * Return: 0, or -1 with an error line printed.
 */
int plan_file_addressed(const struct plan_file *file)
{
	if (!json_object_get(file->json, "addresses"))
		return 0;
	err("the plan has the addresses of a testbed, and %s: for hosts, plan with a description that has an 'address' line for each server and port: '--topology @FILE'",
	    tb_state_exists() ? "these hosts are not its nodes" : "no testbed is up here");
	return -1;
}

/* A node of the testbed can have its addresses; another host or namespace cannot. */
static int check_addresses(const struct plan_file *file, const json_t *state)
{
	if (!state)
		return plan_file_addressed(file);
	if (!json_object_get(file->json, "addresses") || is_inside(state))
		return 0;
	err("the plan has the addresses of a testbed, and this namespace is not one of its nodes: give that of the node, or leave --netns out");
	return -1;
}

/* In one namespace, which may be a node of the testbed: is it the right one? */
static int check_inside(struct plan_file *file, const json_t *state,
			const char *node)
{
	if (!state || !is_inside(state))
		return 0;
	if (check_place(state, node))
		return -1;
	return json_object_get(file->json, "addresses") ?
	       check_state(file, state) : 0;
}

static int check_testbed(struct plan_file *file, const json_t *state,
			 const char *node)
{
	return (node && check_place(state, node)) || check_state(file, state) ?
	       -1 : 0;
}

static int find(struct plan_file *file, const json_t *state, const char *node,
		bool in_testbed)
{
	if (!in_testbed && check_addresses(file, state))
		return ST_FAILED;
	if (!node && !in_testbed) {
		node = plan_file_own(file, "no testbed is up, and ");
		if (!node)
			return ST_FAILED;
	}
	if (node && plan_file_select(file, node))
		return ST_USAGE;
	return (in_testbed ? check_testbed(file, state, node) :
			     check_inside(file, state, node)) ?
	       ST_FAILED : ST_DONE;
}

/**
 * plan_file_find() - find out where the nodes of a plan are
 * @file: the plan; if only one node is meant, only that one stays in it
 * @netns: namespace that was asked for, NULL: none
 * @node: the one node; NULL: all nodes of the testbed or, if none is up, the node
 *	with the identity of this host
 * @in_testbed: they are in the testbed; else in that namespace or on this host
 *
 * Return: an exit status.
 */
int plan_file_find(struct plan_file *file, const char *netns, const char *node,
		   bool *in_testbed)
{
	json_t *state = NULL;
	int st;

	if (tb_state_exists()) {
		state = tb_state_load();
		if (!state)
			return ST_FAILED;
	}
	*in_testbed = (!node || !netns) && state;
	st = find(file, state, node, *in_testbed);
	json_decref(state);
	return st;
}
