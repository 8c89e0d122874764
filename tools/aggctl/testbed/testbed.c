// SPDX-License-Identifier: GPL-2.0
/* Ports of a testbed: their links, interface indices, names and shape. */
#include <stdio.h>

#include "aggctl.h"
#include "testbed/testbed.h"

/*
 * Indices differ between the two ends of a veth pair, even across
 * namespaces: the kernel delays the carrier of links whose own index is
 * their peer's. So of two servers, or two switches, one has a third range.
 */
#define SERVER_PORT_BASE	16
#define SWITCH_PORT_BASE	1024
#define FAR_PORT_BASE		4096

/**
 * tb_is_mesh() - has a topology other links than those of a server to its switches?
 * @topo: the topology
 *
 * Its switches are bridges alone, and a part of its servers have others as
 * neighbours that are further away than one switch.
 */
bool tb_is_mesh(const struct aggt_topo *topo)
{
	return !aggt_topo_digits(topo) || aggt_topo_agents(topo);
}

/**
 * tb_ports() - how many links a node of the topology has
 * @tb: the testbed, which may have fewer
 * @of_switch: the node is a switch
 * @node: the node
 */
unsigned int tb_ports(const struct testbed *tb, bool of_switch, uint32_t node)
{
	return of_switch ? aggt_topo_switch_ports(tb->topo, node) :
			   aggt_topo_ports(tb->topo, node);
}

/**
 * tb_port() - describe a port
 * @tb: the testbed
 * @of_switch: its node is a switch
 * @node: its node
 * @number: of the port
 * @port: filled in
 *
 * Return: whether the testbed has both ends of the link.
 */
bool tb_port(const struct testbed *tb, bool of_switch, uint32_t node,
	     unsigned int number, struct tb_port *port)
{
	port->of_switch = of_switch;
	port->node = node;
	port->number = number;
	port->far = of_switch ? aggt_topo_switch_far(tb->topo, node, number) :
				aggt_topo_server_far(tb->topo, node, number);
	return tb_index(tb, of_switch, node) != AGGT_NONE &&
	       tb_index(tb, port->far.is_switch, port->far.number) != AGGT_NONE;
}

/** tb_far_port() - the port at the other end of a link */
struct tb_port tb_far_port(const struct tb_port *port)
{
	return (struct tb_port){
		.of_switch = port->far.is_switch,
		.node = port->far.number,
		.number = port->far.port,
		.far = {
			.is_switch = port->of_switch,
			.number = port->node,
			.port = port->number,
			.rate = port->far.rate,
		},
	};
}

/** tb_port_makes() - is it this end that makes the link? Nodes are made in order. */
bool tb_port_makes(const struct tb_port *port)
{
	if (port->of_switch != port->far.is_switch)
		return !port->of_switch;
	return port->node < port->far.number;
}

/** tb_port_index() - interface index of a port */
int tb_port_index(const struct tb_port *port)
{
	if (port->of_switch == port->far.is_switch && !tb_port_makes(port))
		return FAR_PORT_BASE + (int)port->number;
	return (port->of_switch ? SWITCH_PORT_BASE : SERVER_PORT_BASE) +
	       (int)port->number;
}

/**
 * tb_port_name() - write the name of a port
 * @port: the port
 * @name: room for %ADDRESSING_NAME_LEN
 *
 * Return: @name.
 */
const char *tb_port_name(const struct tb_port *port, char *name)
{
	snprintf(name, ADDRESSING_NAME_LEN, "%s%u", port->of_switch ? "p" : "eth",
		 port->number);
	return name;
}

/**
 * tb_port_mac() - hardware address of a port
 * @tb: the testbed
 * @port: the port
 * @mac: six bytes
 */
void tb_port_mac(const struct testbed *tb, const struct tb_port *port,
		 uint8_t *mac)
{
	if (port->of_switch)
		addressing_switch_mac(port->node, port->number, mac);
	else
		addressing_of_mac(tb->topo, port->node, port->number, mac);
}

/**
 * tb_has_subnets() - are all neighbours of a port in the network of its address?
 * @topo: the topology
 *
 * Those at one switch are, if addresses follow from the topology. In a graph packets
 * name the identity of the next server, and a described address may be in any network:
 * there all neighbours and routes are given without one.
 */
bool tb_has_subnets(const struct aggt_topo *topo)
{
	return !tb_is_mesh(topo) && !aggt_topo_addressed(topo);
}

/** tb_prefixlen() - length of the network prefix of the ports' addresses */
unsigned int tb_prefixlen(const struct testbed *tb)
{
	return tb_has_subnets(tb->topo) ? addressing_prefixlen(tb->topo) : 32;
}

/** tb_node_name() - name of a node: in a buffer that may be overwritten */
const char *tb_node_name(const struct testbed *tb, bool is_switch,
			 uint32_t node)
{
	return is_switch ? addressing_name_switch(tb->topo, node) :
			   addressing_name_server(tb->topo, node);
}

/* As plans do: what a description says of a link comes before options. */
static uint64_t link_rate(const struct testbed *tb, const struct tb_port *port)
{
	if (port->far.rate)
		return port->far.rate;
	if (tb->core && port->of_switch && port->far.is_switch)
		return tb->core;
	return tb->shape.rate;
}

/**
 * tb_shape() - add the requests that give a port its shape
 * @tb: the testbed
 * @r: batch in the port's namespace
 * @port: the port
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_shape(const struct testbed *tb, struct rtnl *r,
	     const struct tb_port *port)
{
	struct rtnl_shape shape = tb->shape;
	int index = tb_port_index(port);

	shape.rate = link_rate(tb, port);
	if (rtnl_shape_netem(&shape) &&
	    rtnl_add(r, rtnl_msg_netem(index, &shape), "netem of link %u",
		     (unsigned int)index))
		return -1;
	if (!shape.rate)
		return 0;
	return rtnl_add(r, rtnl_msg_tbf(index, &shape, tb->mtu),
			"tbf of link %u", (unsigned int)index);
}
