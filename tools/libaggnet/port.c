// SPDX-License-Identifier: GPL-2.0
/* Port: an attached network device. */
#include "ctl.h"

#define F(member, number, what, told) \
	FIELD(struct aggnet_port_info, member, AGGNET_A_PORT_##number, what, \
	      told)

static const char * const off_on[] = { "off", "on", NULL };

static const struct aggnet_field fields[] = {
	F(ifindex, IFINDEX, U32, false),
	F(level, LEVEL, U8, false),
	F(ifname, IFNAME, STRING, true),
	F(rx, RX, U64, true),
	F(forwarded, FORWARDED, U64, true),
	FIELD_ENUM(struct aggnet_port_info, transit, AGGNET_A_PORT_TRANSIT,
		   false, off_on),
};

const struct aggnet_noun aggnet_noun_port = {
	.name = "port",
	.field = fields,
	.n = ARRAY_SIZE(fields),
	.size = sizeof(struct aggnet_port_info),
};

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
