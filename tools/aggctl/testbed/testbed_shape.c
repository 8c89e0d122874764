// SPDX-License-Identifier: GPL-2.0
/* Rates, delays and faults of the links of a running testbed. */
#include "aggctl.h"
#include "netns.h"
#include "testbed/testbed.h"

static int reshape_ports(const struct testbed *tb, const char *name,
			 int base, unsigned int ports)
{
	struct rtnl *r;
	unsigned int i;
	int ret = 0;

	if (netns_enter(name))
		return -1;
	r = rtnl_open(name);
	if (!r)
		return -1;
	for (i = 0; !ret && i < ports; i++) {
		/* Refused where there is none to take away. */
		ret = rtnl_add(r, rtnl_msg_no_qdisc(base + (int)i), NULL, 0) ||
		      tb_shape(tb, r, base + (int)i);
	}
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
	unsigned int level;
	uint32_t i;

	tb->shape = *shape;
	for (i = 0; i < aggt_topo_servers(tb->topo); i++)
		if (reshape_ports(tb, tb_server_name(i), tb_server_port(0),
				  aggt_topo_dims(tb->topo)))
			return -1;
	for (i = 0; i < aggt_topo_switches(tb->topo); i++) {
		level = aggt_topo_switch_level(tb->topo, i);
		if (reshape_ports(tb, tb_switch_name(i), tb_switch_port(0),
				  aggt_topo_radix(tb->topo, level)))
			return -1;
	}
	return tb_state_save(tb, true);
}
