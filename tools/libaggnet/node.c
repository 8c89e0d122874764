// SPDX-License-Identifier: GPL-2.0
/* Node: role, identity and limits of the namespace. */
#include "ctl.h"

#define F(member, number, what, told) \
	FIELD(struct aggnet_node_info, member, AGGNET_A_NODE_##number, what, \
	      told)
#define E(member, number, told, list) \
	FIELD_ENUM(struct aggnet_node_info, member, AGGNET_A_NODE_##number, \
		   told, list)

static const struct aggnet_field fields[] = {
	F(address, ADDRESS, ADDR, false),
	E(role, ROLE, false, aggnet_role_names),
	F(label, LABEL, STRING, false),
	F(memory, MEMORY, U64, false),
	F(memory_used, MEMORY_USED, U64, true),
	F(trees, TREES, U32, true),
	F(ports, PORTS, U32, true),
	E(fault, FAULT, false, aggnet_fault_names),
	F(tenant, TENANT, U64, false),
	F(port, UDP_PORT, U16, false),
};

const struct aggnet_noun aggnet_noun_node = {
	.name = "node",
	.field = fields,
	.n = ARRAY_SIZE(fields),
	.size = sizeof(struct aggnet_node_info),
};

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
