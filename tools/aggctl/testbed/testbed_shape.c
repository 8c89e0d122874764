// SPDX-License-Identifier: GPL-2.0
/* Rates, delays and faults of the links of a running testbed. */
#include "aggctl.h"
#include "netns.h"
#include "testbed/testbed.h"

static int reshape_port(const struct testbed *tb, struct rtnl *r,
			const struct tb_port *port)
{
	/* Refused where there is none to take away. */
	return rtnl_add(r, rtnl_msg_no_qdisc(tb_port_index(port)), NULL, 0) ||
	       tb_shape(tb, r, port);
}

static int reshape_node(const struct testbed *tb, bool is_switch,
			uint32_t node)
{
	const char *name = tb_node_name(tb, is_switch, node);
	unsigned int i, n = tb_ports(tb, is_switch, node);
	struct tb_port port;
	struct rtnl *r;
	int ret = 0;

	r = netns_enter(name) ? NULL : rtnl_open(name);
	if (!r)
		return -1;
	for (i = 0; !ret && i < n; i++)
		ret = tb_port(tb, is_switch, node, i, &port) &&
		      reshape_port(tb, r, &port);
	ret = ret || rtnl_commit(r);
	rtnl_close(r);
	return ret ? -1 : 0;
}

/**
 * tb_reshape() - change the shape of all links of a testbed
 * @tb: the running testbed, gets the new shape
 * @shape: the new shape; all zero takes the old one away, but for rates of
 *	the description
 * @core: the new rate of links between switches, 0: that of @shape
 *
 * The process ends up in some namespace of it.
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_reshape(struct testbed *tb, const struct rtnl_shape *shape,
	       uint64_t core)
{
	uint32_t i;

	tb->shape = *shape;
	tb->core = core;
	for (i = 0; i < tb_servers(tb); i++)
		if (reshape_node(tb, false, tb_server(tb, i)))
			return -1;
	for (i = 0; i < tb_switches(tb); i++)
		if (reshape_node(tb, true, tb_switch(tb, i)))
			return -1;
	return tb_state_save(tb, true);
}
