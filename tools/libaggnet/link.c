// SPDX-License-Identifier: GPL-2.0
/* Link: a port, a neighbour behind it, and the filter of its trees. */
#include "ctl.h"

int aggnet_link_list(struct aggnet_ctl *ctl, struct aggnet_link_info **list,
		     size_t *n)
{
	return aggnet_ctl_dump(ctl, AGGNET_CMD_LINK_GET, &aggnet_noun_link,
			       (void **)list, n);
}

int aggnet_link_add(struct aggnet_ctl *ctl,
		    const struct aggnet_link_info *link)
{
	return aggnet_ctl_step(ctl, AGGNET_CMD_LINK_ADD, 0, &aggnet_noun_link, link);
}

int aggnet_link_del(struct aggnet_ctl *ctl,
		    const struct aggnet_link_info *link)
{
	struct aggnet_link_info name = *link;

	name.has &= AGGNET_HAS(AGGNET_A_LINK_IFINDEX) |
		    AGGNET_HAS(AGGNET_A_LINK_NEIGHBOUR);
	return aggnet_ctl_step(ctl, AGGNET_CMD_LINK_DEL, 0, &aggnet_noun_link, &name);
}
