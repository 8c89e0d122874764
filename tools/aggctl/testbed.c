// SPDX-License-Identifier: GPL-2.0
/* Names, addresses and interface indices of a testbed. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "aggctl.h"
#include "testbed.h"

/*
 * Indices differ between the two ends of a veth pair, even across
 * namespaces: the kernel delays the carrier of links whose own index is
 * their peer's.
 */
#define SERVER_PORT_BASE	16
#define SWITCH_PORT_BASE	1024

#define MAX_RADIX		253
#define MAX_NODES		16384

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

/**
 * tb_port_addr() - address of a server's port, 10.(16 + w / 256).w.(d + 1)
 * @tb: the testbed
 * @server: the server, which has digit d at the switch w
 * @level: the port
 */
struct in_addr tb_port_addr(const struct testbed *tb, aggt_node server,
			    unsigned int level)
{
	uint32_t sw = aggt_topo_switch(tb->topo, server, level);
	uint32_t digit = aggt_topo_digit(tb->topo, server, level);

	return (struct in_addr){ htonl((10U << 24 | 16U << 16) +
				       (sw << 8) + digit + 1) };
}

/**
 * tb_server_mac() - hardware address of a server's port
 * @server: the server
 * @level: the port
 * @mac: six bytes
 */
void tb_server_mac(aggt_node server, unsigned int level, uint8_t *mac)
{
	mac[0] = 0x02;
	mac[1] = 0xa6;
	mac[2] = 0x00;
	mac[3] = (uint8_t)level;
	mac[4] = (uint8_t)(server >> 8);
	mac[5] = (uint8_t)server;
}

/**
 * tb_switch_mac() - hardware address of a switch's port
 * @sw: the switch
 * @digit: the port
 * @mac: six bytes
 */
void tb_switch_mac(uint32_t sw, unsigned int digit, uint8_t *mac)
{
	mac[0] = 0x02;
	mac[1] = 0xa6;
	mac[2] = 0x01;
	mac[3] = (uint8_t)digit;
	mac[4] = (uint8_t)(sw >> 8);
	mac[5] = (uint8_t)sw;
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

/**
 * tb_check() - whether the addressing has room for a topology
 * @tb: the testbed
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_check(const struct testbed *tb)
{
	const char *name = aggt_topo_name(tb->topo);
	uint32_t servers = aggt_topo_servers(tb->topo);
	uint32_t switches = aggt_topo_switches(tb->topo);
	unsigned int dim;

	if (servers > MAX_NODES || switches > MAX_NODES) {
		err("%s: %u servers and %u switches; a testbed has at most %u of each",
		    name, servers, switches, MAX_NODES);
		return -1;
	}
	for (dim = 0; dim < aggt_topo_dims(tb->topo); dim++) {
		if (aggt_topo_radix(tb->topo, dim) <= MAX_RADIX)
			continue;
		err("%s: switches of level %u have %u ports, the addresses allow %u",
		    name, dim, aggt_topo_radix(tb->topo, dim), MAX_RADIX);
		return -1;
	}
	return 0;
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
