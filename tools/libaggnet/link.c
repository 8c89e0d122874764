// SPDX-License-Identifier: GPL-2.0
/* Link: a port, a neighbour behind it, and the filter of what leaves there. */
#include "ctl.h"

#define F(member, number, what, told) \
	FIELD(struct aggnet_link_info, member, AGGNET_A_LINK_##number, what, \
	      told)

static const struct aggnet_field fields[] = {
	F(ifindex, IFINDEX, U32, false),
	F(neighbour, NEIGHBOUR, ADDR, false),
	F(lladdr, LLADDR, BYTES, false),
	F(bits, BITS, U32, false),
	F(hashes, HASHES, U8, false),
	F(capacity, CAPACITY, U32, false),
	F(trees, TREES, U32, true),
	F(bits_set, BITS_SET, U32, true),
	F(name, NAME, U64, false),
	F(digit, DIGIT, U8, false),
};

const struct aggnet_noun aggnet_noun_link = {
	.name = "link",
	.field = fields,
	.n = ARRAY_SIZE(fields),
	.size = sizeof(struct aggnet_link_info),
};

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
