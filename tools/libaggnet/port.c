// SPDX-License-Identifier: GPL-2.0
/* Port: an attached network device. */
#include "ctl.h"

int aggnet_port_list(struct aggnet_ctl *ctl, struct aggnet_port_info **list,
		     size_t *n)
{
	return aggnet_ctl_dump(ctl, AGGNET_CMD_PORT_GET, &aggnet_noun_port,
			       (void **)list, n);
}

int aggnet_port_add(struct aggnet_ctl *ctl,
		    const struct aggnet_port_info *port)
{
	return aggnet_ctl_do(ctl, AGGNET_CMD_PORT_ADD, 0, &aggnet_noun_port, port);
}

int aggnet_port_del(struct aggnet_ctl *ctl, uint32_t ifindex)
{
	struct aggnet_port_info port = {
		.has = AGGNET_HAS(AGGNET_A_PORT_IFINDEX),
		.ifindex = ifindex,
	};

	return aggnet_ctl_do(ctl, AGGNET_CMD_PORT_DEL, 0, &aggnet_noun_port, &port);
}
