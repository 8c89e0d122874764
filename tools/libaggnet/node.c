// SPDX-License-Identifier: GPL-2.0
/* Node: role, identity and limits of the namespace. */
#include "ctl.h"

int aggnet_node_get(struct aggnet_ctl *ctl, struct aggnet_node_info *node)
{
	return aggnet_ctl_get(ctl, AGGNET_CMD_NODE_GET, &aggnet_noun_node, NULL,
			      node);
}

int aggnet_node_set(struct aggnet_ctl *ctl,
		    const struct aggnet_node_info *node)
{
	return aggnet_ctl_do(ctl, AGGNET_CMD_NODE_SET, 0, &aggnet_noun_node, node);
}
