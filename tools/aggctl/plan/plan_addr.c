// SPDX-License-Identifier: GPL-2.0
/* Names and addresses in a plan: as its description has them, else as a testbed has. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "addressing.h"
#include "aggctl.h"
#include "plan/plan.h"

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
	return addressing_name_server(plan->topo, server);
}

/**
 * plan_switch_name() - what a switch is called, likewise
 * @plan: the plan
 * @sw: the switch
 */
const char *plan_switch_name(const struct plan *plan, uint32_t sw)
{
	return addressing_name_switch(plan->topo, sw);
}

/* A server with one port alone may have one address for all. */
static bool is_single(const struct plan *plan, aggt_node server)
{
	return !aggt_topo_digits(plan->topo) &&
	       aggt_topo_ports(plan->topo, server) == 1;
}

/**
 * plan_identity() - identity of a server
 * @plan: the plan
 * @server: the server
 */
struct in_addr plan_identity(const struct plan *plan, aggt_node server)
{
	return addressing_of_server(plan->topo, server);
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
	return addressing_of_port(plan->topo, server, level);
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
	struct in_addr addr = plan_port_addr(plan, to, level);

	if (aggt_topo_hop_links(plan->topo, from, to) > 2 &&
	    aggt_topo_switch_address(plan->topo, first))
		inet_pton(AF_INET, aggt_topo_switch_address(plan->topo, first),
			  &addr);
	return addr;
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

/**
 * plan_lacks_address() - is there no line for an address that is needed?
 * @plan: the plan; nothing is known but the topology
 * @server: the server, whose identity is needed
 * @level: of its port, whose address is needed, too; %AGGT_NONE: none
 * @name: filled: what the line names, with room for %AGGT_PART
 *
 * A testbed gives addresses to labelled topologies, in place of such lines.
 */
bool plan_lacks_address(const struct plan *plan, aggt_node server,
			uint32_t level, char *name)
{
	if (addressing_fits(plan->topo))
		return false;
	if (!aggt_topo_address(plan->topo, server)) {
		strcpy(name, plan_server_name(plan, server));
		return true;
	}
	if (level == AGGT_NONE || is_single(plan, server) ||
	    aggt_topo_port_address(plan->topo, server, level))
		return false;
	aggt_port_name(plan->topo, server, level, name);
	return true;
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

/* Is something that an entry names not described? */
static bool lacks_any(const struct plan *plan, char *name)
{
	const struct aggt_entry *e;
	size_t i, n;

	e = aggt_plan_entries(plan->trees, &n);
	for (i = 0; i < n; i++)
		if (plan_lacks_address(plan, e[i].server, AGGT_NONE, name) ||
		    (e[i].parent != AGGT_NONE &&
		     plan_lacks_address(plan, e[i].parent, e[i].parent_level,
					name)))
			return true;
	return false;
}

/**
 * plan_is_for_testbed() - are the addresses those that a testbed gives a graph?
 * @plan: the plan
 *
 * Real hosts do not have them by accident; a graph with any address has its own.
 */
bool plan_is_for_testbed(const struct plan *plan)
{
	return !aggt_topo_digits(plan->topo) &&
	       !aggt_topo_addressed(plan->topo);
}

/**
 * plan_has_addresses() - whether entries can be written down
 * @plan: the plan, which may be of a network larger than any testbed
 */
bool plan_has_addresses(const struct plan *plan)
{
	char name[AGGT_PART];

	return addressing_fits(plan->topo) || plan_is_for_testbed(plan) ||
	       !lacks_any(plan, name);
}

/**
 * plan_forgets_address() - has the description addresses, but not all that entries need?
 * @plan: the plan; without any address it is an estimate
 * @name: filled: what the line that is missing names, with room for %AGGT_PART
 */
bool plan_forgets_address(const struct plan *plan, char *name)
{
	return plan->description && !addressing_fits(plan->topo) &&
	       aggt_topo_addressed(plan->topo) && lacks_any(plan, name);
}
