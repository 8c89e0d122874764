// SPDX-License-Identifier: GPL-2.0
/* Names, addresses and interface indices of a testbed. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "aggctl.h"
#include "testbed/testbed.h"

/*
 * Indices differ between the two ends of a veth pair, even across
 * namespaces: the kernel delays the carrier of links whose own index is
 * their peer's.
 */
#define SERVER_PORT_BASE	16
#define SWITCH_PORT_BASE	1024

#define MAX_RADIX		253

/**
 * tb_server_name() - name of a server's namespace
 * @server: number of the server
 *
 * Return: a buffer that the next call overwrites.
 */
const char *tb_server_name(aggt_node server)
{
	static char name[TB_NAME_LEN];

	snprintf(name, sizeof(name), "v%u", server);
	return name;
}

/**
 * tb_switch_name() - name of a switch's namespace
 * @sw: number of the switch
 *
 * Return: a buffer that the next call overwrites.
 */
const char *tb_switch_name(uint32_t sw)
{
	static char name[TB_NAME_LEN];

	snprintf(name, sizeof(name), "w%u", sw);
	return name;
}

/**
 * tb_identity() - a server's identity, 10.0.a.b
 * @server: number of the server, a * 256 + b - 1
 */
struct in_addr tb_identity(aggt_node server)
{
	return (struct in_addr){ htonl(10U << 24 | (server + 1)) };
}

/* Servers of an agent are numbered in order. */
static unsigned int per_switch(const struct aggt_topo *topo)
{
	return aggt_topo_servers(topo) / aggt_topo_switches(topo);
}

/**
 * tb_port_addr() - address of a server's port, 10.(16 + w / 256).w.(d + 1)
 * @topo: the topology
 * @server: the server, which has digit d at the switch w, its agent perhaps
 * @level: the port
 */
struct in_addr tb_port_addr(const struct aggt_topo *topo, aggt_node server,
			    unsigned int level)
{
	uint32_t sw = aggt_topo_switch(topo, server, level);
	uint32_t digit = aggt_topo_agents(topo) ? server % per_switch(topo) :
			 aggt_topo_digit(topo, server, level);

	return (struct in_addr){ htonl((10U << 24 | 16U << 16) +
				       (sw << 8) + digit + 1) };
}

static void set_mac(uint8_t *mac, unsigned int kind, unsigned int port,
		    uint32_t node)
{
	mac[0] = 0x02;
	mac[1] = 0xa6;
	mac[2] = (uint8_t)kind;
	mac[3] = (uint8_t)port;
	mac[4] = (uint8_t)(node >> 8);
	mac[5] = (uint8_t)node;
}

/**
 * tb_server_mac() - hardware address of a server's port
 * @server: the server
 * @level: the port
 * @mac: six bytes
 */
void tb_server_mac(aggt_node server, unsigned int level, uint8_t *mac)
{
	set_mac(mac, 0, level, server);
}

/**
 * tb_switch_mac() - hardware address of a switch's port
 * @sw: the switch
 * @digit: the port
 * @mac: six bytes
 */
void tb_switch_mac(uint32_t sw, unsigned int digit, uint8_t *mac)
{
	set_mac(mac, 1, digit, sw);
}

/**
 * tb_server_port() - interface index of eth<level> of a server
 * @level: the port
 */
int tb_server_port(unsigned int level)
{
	return SERVER_PORT_BASE + (int)level;
}

/**
 * tb_switch_port() - interface index of p<digit> of a switch
 * @digit: the port
 */
int tb_switch_port(unsigned int digit)
{
	return SWITCH_PORT_BASE + (int)digit;
}

static bool too_many(const struct testbed *tb)
{
	return aggt_topo_servers(tb->topo) > TB_SERVERS ||
	       aggt_topo_switches(tb->topo) > TB_SERVERS;
}

/* A level whose switches have more ports than addresses; -1 is none. */
static int wide_level(const struct testbed *tb)
{
	unsigned int dim;

	if (aggt_topo_agents(tb->topo))
		return per_switch(tb->topo) > MAX_RADIX ? 0 : -1;
	for (dim = 0; dim < aggt_topo_dims(tb->topo); dim++)
		if (aggt_topo_radix(tb->topo, dim) > MAX_RADIX)
			return (int)dim;
	return -1;
}

/**
 * tb_fits() - whether the addressing has room for a topology
 * @tb: the testbed
 */
bool tb_fits(const struct testbed *tb)
{
	return aggt_topo_digits(tb->topo) && !too_many(tb) &&
	       wide_level(tb) < 0;
}

/**
 * tb_check() - refuse a topology that the addressing has no room for
 * @tb: the testbed
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_check(const struct testbed *tb)
{
	const char *name = aggt_topo_name(tb->topo);
	int level = wide_level(tb);

	if (tb_fits(tb) && !aggt_topo_agents(tb->topo))
		return 0;
	if (!aggt_topo_digits(tb->topo))
		err("%s: a testbed is of bcube or ghc: its addresses follow from the digits of labels",
		    name);
	else if (aggt_topo_agents(tb->topo))
		err("%s: a testbed is of bcube or ghc: it has no links between switches",
		    name);
	else if (too_many(tb))
		err("%s: %u servers and %u switches; a testbed has at most %u of each",
		    name, aggt_topo_servers(tb->topo),
		    aggt_topo_switches(tb->topo), TB_SERVERS);
	else
		err("%s: switches of level %d have %u ports; the addresses allow %u",
		    name, level,
		    aggt_topo_radix(tb->topo, (unsigned int)level), MAX_RADIX);
	return -1;
}

/**
 * tb_shape() - add the requests that give a port its shape
 * @tb: the testbed
 * @r: batch in the port's namespace
 * @index: the port
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_shape(const struct testbed *tb, struct rtnl *r, int index)
{
	const struct rtnl_shape *shape = &tb->shape;

	if (rtnl_shape_netem(shape) &&
	    rtnl_add(r, rtnl_msg_netem(index, shape), "netem of link %u",
		     (unsigned int)index))
		return -1;
	if (!shape->rate)
		return 0;
	return rtnl_add(r, rtnl_msg_tbf(index, shape, tb->mtu),
			"tbf of link %u", (unsigned int)index);
}
