// SPDX-License-Identifier: GPL-2.0
/* Role, identity and ports of a node that is being configured. */
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "info.h"
#include "netns.h"
#include "node.h"

/**
 * node_refused() - print why the last request was refused
 * @node: the node
 * @what: what it was about
 *
 * Return: -1.
 */
int node_refused(const struct node *node, const char *what)
{
	err("%s: %s: %s", node->name, what, aggnet_ctl_error(node->ctl));
	return -1;
}

/**
 * node_open() - open a handle of a node
 * @node: the node; node_close() is due in any case
 * @name: its name, has to stay
 * @netns: its namespace, or NULL to stay where we are
 *
 * The process is in that namespace then.
 *
 * Return: 0, or -1 with an error line printed.
 */
int node_open(struct node *node, const char *name, const char *netns)
{
	memset(node, 0, sizeof(*node));
	node->name = name;
	if (netns && netns_enter(netns))
		return -1;
	if (!aggnet_ctl_open(&node->ctl))
		return 0;
	err("%s: %s", name, aggnet_ctl_error(node->ctl));
	return -1;
}

/**
 * node_close() - close a node's handle: what is staged there is dropped
 * @node: the node
 */
void node_close(struct node *node)
{
	aggnet_ctl_close(node->ctl);
	free(node->port);
	free(node->links);
	free(node->step);
	memset(node, 0, sizeof(*node));
}

static int set_node(struct node *node, const struct aggnet_node_info *now,
		    uint8_t role, struct in_addr address)
{
	struct aggnet_node_info want = {};

	if (now->role != role) {
		want.has |= AGGNET_HAS(AGGNET_A_NODE_ROLE);
		want.role = role;
	}
	if (address.s_addr && now->address.s_addr != address.s_addr) {
		want.has |= AGGNET_HAS(AGGNET_A_NODE_ADDRESS);
		want.address = address;
	}
	if (!now->label[0] && strlen(node->name) < sizeof(want.label)) {
		want.has |= AGGNET_HAS(AGGNET_A_NODE_LABEL);
		strcpy(want.label, node->name);
	}
	if (!want.has)
		return 0;
	if (aggnet_node_set(node->ctl, &want))
		return node_refused(node, "node");
	node->before = *now;
	node->before.has = want.has;
	return 0;
}

/* A server that has an identity keeps it: others know it by that. */
static int check_address(const struct node *node, struct in_addr now,
			 struct in_addr want)
{
	char text[INET_ADDRSTRLEN];

	if (!now.s_addr || !want.s_addr || now.s_addr == want.s_addr)
		return 0;
	strcpy(text, addr_text(now));
	err("%s: its identity is %s, not %s", node->name, text,
	    addr_text(want));
	return -1;
}

static int set_identity(struct node *node, const char *role,
			const char *address)
{
	int r = role ? aggnet_enum_find(aggnet_role_names, role) : -1;
	struct in_addr addr = {};
	struct aggnet_node_info now;

	if (r < 0) {
		err("%s: unknown role '%s'", node->name,
		    role ? role : "");
		return -1;
	}
	if (address && !addr_parse(address, &addr)) {
		err("%s: '%s' is not an IPv4 address", node->name, address);
		return -1;
	}
	if (aggnet_node_get(node->ctl, &now))
		return node_refused(node, "node");
	if (check_address(node, now.address, addr))
		return -1;
	return set_node(node, &now, (uint8_t)r, addr);
}

/* All ports of a switch have one level. */
static bool is_shared(const json_t *ports, int level)
{
	json_t *port;
	size_t i, n = 0;

	json_array_foreach((json_t *)ports, i, port)
		n += json_integer_value(json_object_get(port, "level")) ==
		     level;
	return n > 1;
}

/* The only attached port of a level, 0: none or several. */
static uint32_t only_of_level(const struct aggnet_port_info *list, size_t n,
			      int level)
{
	uint32_t found = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		if (list[i].level != level)
			continue;
		if (found)
			return 0;
		found = list[i].ifindex;
	}
	return found;
}

static uint32_t named(const struct aggnet_port_info *list, size_t n,
		      const char *name, int level)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i].ifname, name) &&
		    (level < 0 || list[i].level == level))
			return list[i].ifindex;
	return 0;
}

/* Is this device the only one of a level that one port of the plan has? */
static bool is_other(const struct aggnet_port_info *list, size_t n,
		     const json_t *ports, uint32_t ifindex)
{
	json_t *port;
	int level;
	size_t i;

	json_array_foreach((json_t *)ports, i, port) {
		level = (int)json_integer_value(json_object_get(port, "level"));
		if (!is_shared(ports, level) &&
		    only_of_level(list, n, level) == ifindex)
			return true;
	}
	return false;
}

/*
 * The attached port that is meant. Devices of real hosts have names of their own, so
 * that the level decides, where neither plan nor host has several ports of it.
 */
static uint32_t find_attached(const struct aggnet_port_info *list, size_t n,
			      const char *name, const json_t *ports, int level)
{
	uint32_t found = named(list, n, name, level);

	if (!found && !is_shared(ports, level))
		found = only_of_level(list, n, level);
	if (found)
		return found;
	found = named(list, n, name, -1);
	return is_other(list, n, ports, found) ? 0 : found;
}

static int attach_port(struct node *node, struct node_port *port,
		       int level)
{
	struct aggnet_port_info want = {
		.has = AGGNET_HAS(AGGNET_A_PORT_IFINDEX) |
		       AGGNET_HAS(AGGNET_A_PORT_LEVEL),
		.ifindex = if_nametoindex(port->name),
		.level = (uint8_t)level,
	};

	if (!want.ifindex) {
		err("%s: no port of level %d is attached, and there is no device %s to attach",
		    node->name, level, port->name);
		return -1;
	}
	if (aggnet_port_add(node->ctl, &want))
		return node_refused(node, port->name);
	port->ifindex = want.ifindex;
	port->attached = true;
	return 0;
}

static int take_port(struct node *node, const json_t *ports, size_t i,
		     enum node_attach attach,
		     const struct aggnet_port_info *list, size_t n)
{
	const json_t *value = json_array_get(ports, i);
	struct node_port *port = &node->port[node->n_ports];
	json_t *level = json_object_get(value, "level");

	port->name = json_string_value(json_object_get(value, "name"));
	if (!port->name || !json_is_integer(level) ||
	    json_integer_value(level) < 0 ||
	    json_integer_value(level) > UINT8_MAX) {
		err("%s: port %zu: needs a name and a level below 256",
		    node->name, node->n_ports);
		return -1;
	}
	port->attached = false;
	port->ifindex = find_attached(list, n, port->name, ports,
				      (int)json_integer_value(level));
	node->n_ports++;
	if (port->ifindex || attach == NODE_ATTACH_NONE ||
	    (attach == NODE_ATTACH_THERE && !if_nametoindex(port->name)))
		return 0;
	return attach_port(node, port, (int)json_integer_value(level));
}

/**
 * node_ports() - find the ports that are named, attach those that are not
 * @node: the node; we are in its namespace
 * @ports: array of objects with name and level; has to stay
 * @attach: which of those that are not; others are left out
 *
 * Return: 0, or -1 with an error line printed.
 */
int node_ports(struct node *node, const json_t *ports,
	       enum node_attach attach)
{
	struct aggnet_port_info *list;
	size_t i, n;
	int ret = 0;

	if (aggnet_port_list(node->ctl, &list, &n))
		return node_refused(node, "ports");
	node->port = calloc(json_array_size(ports) + 1, sizeof(*node->port));
	if (!node->port) {
		err("%s: out of memory", node->name);
		ret = -1;
	}
	for (i = 0; !ret && i < json_array_size(ports); i++)
		ret = take_port(node, ports, i, attach, list, n);
	free(list);
	return ret;
}

/**
 * node_setup() - give a node its role, identity and ports
 * @node: the node; we are in its namespace
 * @role: name of the role
 * @address: identity, NULL for a switch
 * @ports: array of objects with name and level; has to stay
 * @lenient: devices that are not there are left out
 *
 * What is there already is left alone.
 *
 * Return: 0, or -1 with an error line printed.
 */
int node_setup(struct node *node, const char *role, const char *address,
	       const json_t *ports, bool lenient)
{
	return set_identity(node, role, address) ||
	       node_ports(node, ports, lenient ? NODE_ATTACH_THERE :
					NODE_ATTACH) ? -1 : 0;
}

/**
 * node_port() - a port by the plan's name for it
 * @node: the node
 * @name: the name
 *
 * Return: the port, or NULL if it has no attached one.
 */
const struct node_port *node_port(const struct node *node, const char *name)
{
	size_t i;

	for (i = 0; i < node->n_ports; i++)
		if (!strcmp(node->port[i].name, name))
			return node->port[i].ifindex ? &node->port[i] : NULL;
	return NULL;
}

/**
 * node_has() - whether a port of the node is attached
 * @node: the node
 * @ifindex: its device
 *
 * Return: whether it is.
 */
bool node_has(const struct node *node, uint32_t ifindex)
{
	size_t i;

	for (i = 0; i < node->n_ports; i++)
		if (node->port[i].ifindex == ifindex)
			return true;
	return false;
}

/**
 * node_look() - look again which ports are attached
 * @node: the node; devices may have gone since node_ports()
 *
 * Return: 0, or -1 with an error line printed.
 */
int node_look(struct node *node)
{
	struct aggnet_port_info *list;
	size_t i, k, n;

	if (aggnet_port_list(node->ctl, &list, &n))
		return node_refused(node, "ports");
	for (i = 0; i < node->n_ports; i++) {
		for (k = 0; k < n; k++)
			if (list[k].ifindex == node->port[i].ifindex)
				break;
		if (k == n)
			node->port[i].ifindex = 0;
	}
	free(list);
	return 0;
}

/* Has it an entry, of any plan? Then another plan may use what was set up. */
static bool is_used(const struct node *node)
{
	struct aggnet_tree_info *list;
	size_t n;

	if (aggnet_tree_list(node->ctl, &list, &n))
		return true;
	aggnet_tree_list_free(list, n);
	return n > 0;
}

/**
 * node_restore() - take back what node_setup() did
 * @node: the node; nothing is staged there
 *
 * The ports and the identity of a node that has entries by now stay.
 */
void node_restore(struct node *node)
{
	size_t i;

	if (is_used(node))
		return;
	for (i = 0; i < node->n_ports; i++)
		if (node->port[i].attached && node->port[i].ifindex &&
		    aggnet_port_del(node->ctl, node->port[i].ifindex))
			node_refused(node, node->port[i].name);
	if (node->before.has && aggnet_node_set(node->ctl, &node->before))
		node_refused(node, "node");
}
