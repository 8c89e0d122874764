// SPDX-License-Identifier: GPL-2.0
/* Names and addresses in a plan: as its description has them, else as a testbed has. */
#include <arpa/inet.h>
#include <stdio.h>

#include "addressing.h"
#include "aggctl.h"
#include "plan/plan.h"

static struct in_addr described(const char *text, struct in_addr other)
{
	struct in_addr addr;

	return text && inet_pton(AF_INET, text, &addr) == 1 ? addr : other;
}

/**
 * plan_server_name() - what a server is called
 * @plan: the plan
 * @server: the server
 *
 * Return: the name in the description, or a buffer that the next call
 * overwrites.
 */
const char *plan_server_name(const struct plan *plan, aggt_node server)
{
	const char *name = aggt_topo_server_name(plan->topo, server);

	return name ? name : addressing_server_name(server);
}

/**
 * plan_switch_name() - what a switch is called, likewise
 * @plan: the plan
 * @sw: the switch
 */
const char *plan_switch_name(const struct plan *plan, uint32_t sw)
{
	const char *name = aggt_topo_switch_name(plan->topo, sw);

	return name ? name : addressing_switch_name(sw);
}

/**
 * plan_identity() - identity of a server
 * @plan: the plan
 * @server: the server
 */
struct in_addr plan_identity(const struct plan *plan, aggt_node server)
{
	return described(aggt_topo_address(plan->topo, server),
			 addressing_identity(server));
}

/* A server with one port alone may have one address for all. */
static bool is_single(const struct plan *plan, aggt_node server)
{
	return !aggt_topo_digits(plan->topo) &&
	       aggt_topo_ports(plan->topo, server) == 1;
}

/**
 * plan_port_addr() - address of a server's port
 * @plan: the plan
 * @server: the server
 * @level: of the port
 */
struct in_addr plan_port_addr(const struct plan *plan, aggt_node server,
			      unsigned int level)
{
	const char *text = aggt_topo_port_address(plan->topo, server, level);

	return described(text, aggt_topo_digits(plan->topo) ?
			       addressing_port_addr(plan->topo, server, level) :
			       plan_identity(plan, server));
}

/**
 * plan_next_addr() - address to which a server sends packets for its next hop
 * @plan: the plan
 * @from: the server
 * @to: its next hop
 * @level: of the port of @to
 *
 * Return: the address of that port; or, behind a switch that routes, of the switch.
 */
struct in_addr plan_next_addr(const struct plan *plan, aggt_node from,
			      aggt_node to, unsigned int level)
{
	uint32_t first = aggt_topo_hop_switch(plan->topo, from, to, 0);
	const char *router = NULL;

	if (aggt_topo_hop_links(plan->topo, from, to) > 2)
		router = aggt_topo_switch_address(plan->topo, first);
	return described(router, plan_port_addr(plan, to, level));
}

/* Bridges seldom join addresses that differ in more than the last of four numbers. */
static bool seems_routed(const struct plan *plan, const struct aggt_entry *e)
{
	uint32_t from, to;

	if (e->parent == AGGT_NONE ||
	    !aggt_topo_server_name(plan->topo, e->server) ||
	    aggt_topo_hop_links(plan->topo, e->server, e->parent) <= 2 ||
	    aggt_topo_switch_address(plan->topo, aggt_topo_hop_switch(plan->topo,
					e->server, e->parent, 0)))
		return false;
	from = ntohl(plan_port_addr(plan, e->server, e->level).s_addr);
	to = ntohl(plan_port_addr(plan, e->parent, e->parent_level).s_addr);
	return (from ^ to) >> 8;
}

/**
 * plan_note_routed() - print a note if a switch seems to route, and has no address
 * @plan: the plan, of any topology
 *
 * "apply" on the server refuses the link, if it is so. One note is enough.
 */
void plan_note_routed(const struct plan *plan)
{
	const struct aggt_entry *e;
	const char *sw;
	size_t i, n;

	e = aggt_plan_entries(plan->trees, &n);
	for (i = 0; i < n; i++) {
		if (!seems_routed(plan, &e[i]))
			continue;
		sw = plan_switch_name(plan, aggt_topo_hop_switch(plan->topo,
					e[i].server, e[i].parent, 0));
		err("plan: note: %s reaches %s over %s and further switches, which are taken for bridges: if %s routes, add 'address %s A.B.C.D' to the description, its address as the gateway of %s",
		    plan_server_name(plan, e[i].server),
		    plan_server_name(plan, e[i].parent), sw, sw, sw,
		    plan_server_name(plan, e[i].server));
		return;
	}
}

/**
 * plan_port_lladdr() - MAC of a server's port
 * @plan: the plan
 * @server: the server
 * @level: of the port
 */
json_t *plan_port_lladdr(const struct plan *plan, aggt_node server,
			 unsigned int level)
{
	const char *text = aggt_topo_port_lladdr(plan->topo, server, level);
	uint8_t mac[6];

	if (text)
		return json_string(text);
	addressing_server_mac(server, level, mac);
	return json_sprintf("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
			    mac[2], mac[3], mac[4], mac[5]);
}

/* Whether all that an entry names of @server is described. */
static bool is_described(const struct plan *plan, aggt_node server,
			 uint32_t level)
{
	return aggt_topo_address(plan->topo, server) &&
	       (level == AGGT_NONE || is_single(plan, server) ||
		aggt_topo_port_address(plan->topo, server, level));
}

/**
 * plan_knows_port() - is the address of a server's port known?
 * @plan: the plan
 * @server: the server
 * @level: of the port
 */
bool plan_knows_port(const struct plan *plan, aggt_node server,
		     unsigned int level)
{
	return addressing_fits(plan->topo) ||
	       aggt_topo_port_address(plan->topo, server, level);
}

/**
 * plan_has_addresses() - whether entries can be written down
 * @plan: the plan, which may be of a network larger than any testbed
 */
bool plan_has_addresses(const struct plan *plan)
{
	const struct aggt_entry *e;
	size_t i, n;

	if (addressing_fits(plan->topo))
		return true;
	e = aggt_plan_entries(plan->trees, &n);
	for (i = 0; i < n; i++)
		if (!is_described(plan, e[i].server, AGGT_NONE) ||
		    (e[i].parent != AGGT_NONE &&
		     !is_described(plan, e[i].parent, e[i].parent_level)))
			return false;
	return true;
}
