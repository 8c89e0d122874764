// SPDX-License-Identifier: GPL-2.0
/* Planned links of a node that would not carry packets now. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "aggctl.h"
#include "neighbour.h"
#include "info.h"
#include "names.h"
#include "plan/plan_apply.h"
#include "route.h"

/* A channel finds out the longest packet of its path, from this MTU on. */
#define MTU_LEAST	584
#define ASK_BYTES	64	/* any MTU is larger */
#define ASK_MANY	64	/* each socket also gets the answers of the others */

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

/* It would answer all the same: a gateway forwards echo requests. */
static int check_on_link(const struct node *node, const char *device,
			 struct in_addr to)
{
	char neighbour[INET_ADDRSTRLEN], fault[64];
	struct in_addr gateway;

	if (route_on_link(to, if_nametoindex(device), &gateway))
		return 0;
	strcpy(neighbour, addr_text(to));
	if (!gateway.s_addr)
		return refused(node, device, neighbour, ROUTE_NONE,
			       "the device needs an address of its network");
	snprintf(fault, sizeof(fault), "it is behind gateway %s",
		 addr_text(gateway));
	return refused(node, device, neighbour, fault, names_router(to, gateway));
}

/* A neighbour may refuse to answer echo requests, but not ARP. */
static int check_answer(const struct node *node, const struct echo *echo)
{
	const char *neighbour = addr_text(echo->to);

	if (!echo->result || echo->result == -EPERM)
		return 0;
	/* An ICMP error of its own is an answer, too. */
	if (echo->router.s_addr == echo->to.s_addr)
		return 0;
	if (echo->result == -ETIMEDOUT &&
	    !neighbour_silent(echo->device, echo->to))
		return 0;
	if (echo->result == -ETIMEDOUT || echo->result == -EHOSTUNREACH)
		return refused(node, echo->device, neighbour,
			       "no answer to ARP",
			       "is it up, with this address, at this switch?");
	return refused(node, echo->device, neighbour, strerror(-echo->result),
		       "see 'ip route' and 'ip rule'");
}

/**
 * struct ask - neighbours that are asked at the same time
 * @node: the node
 * @seen: links that were checked
 * @n: how many are to be asked
 * @echo: the requests
 * @device: names of their devices
 */
struct ask {
	const struct node *node;
	json_t *seen;
	size_t n;
	struct echo echo[ASK_MANY];
	char device[ASK_MANY][IF_NAMESIZE];
};

static int ask_all(struct ask *ask)
{
	int ret = 0;
	size_t i;

	neighbour_ask_all(ask->echo, ask->n);
	for (i = 0; !ret && i < ask->n; i++)
		ret = check_answer(ask->node, &ask->echo[i]);
	ask->n = 0;
	return ret;
}

static int add(struct ask *ask, const char *device, const char *neighbour)
{
	struct echo *echo = &ask->echo[ask->n];

	if (!addr_parse(neighbour, &echo->to))
		return 0;
	if (check_on_link(ask->node, device, echo->to))
		return -1;
	strcpy(ask->device[ask->n], device);
	echo->device = ask->device[ask->n++];
	echo->bytes = ASK_BYTES;
	return ask->n == ASK_MANY ? ask_all(ask) : 0;
}

static int check_link(struct ask *ask, const json_t *object,
		      const char *port_of, const char *neighbour_of, bool asks)
{
	const char *name = json_string_value(json_object_get(object, port_of));
	const char *to = json_string_value(json_object_get(object,
							   neighbour_of));
	const struct node_port *port = name ? node_port(ask->node, name) : NULL;
	char device[IF_NAMESIZE], link[IF_NAMESIZE + 32];

	if (!port || !if_indextoname(port->ifindex, device))
		return 0;
	snprintf(link, sizeof(link), "%s %.30s", device, to ? to : "");
	if (json_object_get(ask->seen, link))
		return 0;
	json_object_set_new(ask->seen, link, json_true());
	if (check_device(ask->node, device, to))
		return -1;
	return asks && to ? add(ask, device, to) : 0;
}

/**
 * plan_links_check() - refuse planned links that would not carry packets now
 * @node: the node, with its ports; we are in its namespace
 * @entry: its part of the plan
 * @asks: also ask each neighbour for an answer, %ASK_MANY at a time, which takes two
 *	seconds if one does not answer
 *
 * Return: 0, or -1 with an error line printed: the device is down, its MTU is too
 * short, or the neighbour is behind a gateway, is on no connected network, or does not
 * answer ARP.
 */
int plan_links_check(const struct node *node, const json_t *entry, bool asks)
{
	struct ask ask = { .node = node, .seen = json_object() };
	json_t *object;
	int ret = 0;
	size_t i;

	json_array_foreach(json_object_get(entry, "trees"), i, object)
		ret = ret ? ret : check_link(&ask, object, "link_port",
					     "link_neighbour", asks);
	json_array_foreach(json_object_get(entry, "links"), i, object)
		ret = ret ? ret : check_link(&ask, object, "port", "neighbour",
					     asks);
	if (!ret)
		ret = ask_all(&ask);
	json_decref(ask.seen);
	return ret;
}
