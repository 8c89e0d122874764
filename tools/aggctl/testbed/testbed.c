// SPDX-License-Identifier: GPL-2.0
/* Ports of a testbed: their interface indices and their shape. */
#include "aggctl.h"
#include "testbed/testbed.h"

/*
 * Indices differ between the two ends of a veth pair, even across
 * namespaces: the kernel delays the carrier of links whose own index is
 * their peer's.
 */
#define SERVER_PORT_BASE	16
#define SWITCH_PORT_BASE	1024

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
