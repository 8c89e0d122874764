// SPDX-License-Identifier: GPL-2.0
/* Planned links of a node that would not carry packets now. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "aggctl.h"
#include "neighbour.h"
#include "info.h"
#include "plan/plan_apply.h"

/* A channel finds out the longest packet of its path, from this MTU on. */
#define MTU_LEAST	584
#define ASK_BYTES	64	/* any MTU is larger */

static int refused(const struct node *node, const char *device,
		   const char *neighbour, const char *fault, const char *mend)
{
	err("%s: the planned link %s%s%s cannot be used: %s: %s, or apply the plan with --force",
	    node->name, device, neighbour ? " to " : "",
	    neighbour ? neighbour : "", fault, mend);
	return -1;
}

static int check_device(const struct node *node, const char *device,
			const char *neighbour)
{
	int mtu = device_mtu(device);
	char fault[64], mend[64];

	if (!device_up(device)) {
		snprintf(mend, sizeof(mend), "see 'ip link show %s'", device);
		return refused(node, device, neighbour,
			       "the device is down or has no cable", mend);
	}
	if (mtu >= MTU_LEAST)
		return 0;
	snprintf(fault, sizeof(fault), "its MTU is %d, not %d at least", mtu,
		 MTU_LEAST);
	snprintf(mend, sizeof(mend), "'ip link set %s mtu 1500'", device);
	return refused(node, device, neighbour, fault, mend);
}

/* A neighbour may refuse to answer echo requests, but not ARP. */
static int check_neighbour(const struct node *node, const char *device,
			   const char *neighbour)
{
	struct in_addr to;
	int asked;

	if (!addr_parse(neighbour, &to))
		return 0;
	asked = neighbour_ask(device, to, ASK_BYTES);
	if (!asked || asked == -EPERM)
		return 0;
	if (asked == -ETIMEDOUT && !neighbour_silent(device, to))
		return 0;
	return refused(node, device, neighbour, "no answer to ARP",
		       "is it up, with this address, at this switch?");
}

static int check_link(const struct node *node, const json_t *object,
		      const char *port_of, const char *neighbour_of, bool ask,
		      json_t *seen)
{
	const char *name = json_string_value(json_object_get(object, port_of));
	const char *to = json_string_value(json_object_get(object,
							   neighbour_of));
	const struct node_port *port = name ? node_port(node, name) : NULL;
	char device[IF_NAMESIZE], link[IF_NAMESIZE + 32];

	if (!port || !if_indextoname(port->ifindex, device))
		return 0;
	snprintf(link, sizeof(link), "%s %.30s", device, to ? to : "");
	if (json_object_get(seen, link))
		return 0;
	json_object_set_new(seen, link, json_true());
	if (check_device(node, device, to))
		return -1;
	return ask && to ? check_neighbour(node, device, to) : 0;
}

/**
 * plan_links_check() - refuse planned links that would not carry packets now
 * @node: the node, with its ports; we are in its namespace
 * @entry: its part of the plan
 * @ask: also ask each neighbour for an answer, which takes two seconds if there is
 *	none
 *
 * Return: 0, or -1 with an error line printed: the device is down, its MTU is too
 * short, or the neighbour does not answer ARP.
 */
int plan_links_check(const struct node *node, const json_t *entry, bool ask)
{
	json_t *seen = json_object(), *object;
	int ret = 0;
	size_t i;

	json_array_foreach(json_object_get(entry, "trees"), i, object)
		ret = ret ? ret : check_link(node, object, "link_port",
					     "link_neighbour", ask, seen);
	json_array_foreach(json_object_get(entry, "links"), i, object)
		ret = ret ? ret : check_link(node, object, "port", "neighbour",
					     ask, seen);
	json_decref(seen);
	return ret;
}
