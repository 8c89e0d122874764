// SPDX-License-Identifier: GPL-2.0
/* Rates, delays and faults of the links of a running testbed. */
#include "aggctl.h"
#include "netns.h"
#include "testbed/testbed.h"

static int reshape_port(const struct testbed *tb, struct rtnl *r, int port)
{
	/* Refused where there is none to take away. */
	return rtnl_add(r, rtnl_msg_no_qdisc(port), NULL, 0) ||
	       tb_shape(tb, r, port);
}

static int reshape_server(const struct testbed *tb, aggt_node server)
{
	const char *name = addressing_server_name(server);
	struct rtnl *r;
	unsigned int i;
	int ret = 0;

	r = netns_enter(name) ? NULL : rtnl_open(name);
	if (!r)
		return -1;
	for (i = 0; !ret && i < aggt_topo_dims(tb->topo); i++)
		ret = tb_has_port(tb, server, i) &&
		      reshape_port(tb, r, tb_server_port(i));
	ret = ret || rtnl_commit(r);
	rtnl_close(r);
	return ret ? -1 : 0;
}

static int reshape_switch(const struct testbed *tb, uint32_t sw)
{
	unsigned int i, level = aggt_topo_switch_level(tb->topo, sw);
	const char *name = addressing_switch_name(sw);
	struct rtnl *r;
	int ret = 0;

	r = netns_enter(name) ? NULL : rtnl_open(name);
	if (!r)
		return -1;
	for (i = 0; !ret && i < aggt_topo_radix(tb->topo, level); i++)
		ret = tb_has_port(tb, aggt_topo_switch_server(tb->topo, sw, i),
				  level) &&
		      reshape_port(tb, r, tb_switch_port(i));
	ret = ret || rtnl_commit(r);
	rtnl_close(r);
	return ret ? -1 : 0;
}

/**
 * tb_reshape() - change the shape of all links of a testbed
 * @tb: the running testbed, gets the new shape
 * @shape: the new shape; all zero takes the old one away
 *
 * The process ends up in some namespace of it.
 *
 * Return: 0, or -1 with an error line printed.
 */
int tb_reshape(struct testbed *tb, const struct rtnl_shape *shape)
{
	uint32_t i;

	tb->shape = *shape;
	for (i = 0; i < tb_servers(tb); i++)
		if (reshape_server(tb, tb_server(tb, i)))
			return -1;
	for (i = 0; i < tb_switches(tb); i++)
		if (reshape_switch(tb, tb_switch(tb, i)))
			return -1;
	return tb_state_save(tb, true);
}
