// SPDX-License-Identifier: GPL-2.0
/* Tree: the namespace's entry of one incast transfer. */
#include <stdlib.h>
#include <netlink/netlink.h>

#include "core/shape.h"
#include "ctl.h"

#define F(member, number, what, told) \
	FIELD(struct aggnet_tree_info, member, AGGNET_A_TREE_##number, what, \
	      told)
#define E(member, number, told, list) \
	FIELD_ENUM(struct aggnet_tree_info, member, AGGNET_A_TREE_##number, \
		   told, list)

static const struct aggnet_field fields[] = {
	F(incast_id, INCAST_ID, U64, false),
	F(instance, INSTANCE, U32, false),
	F(attempt, ATTEMPT, U32, false),
	F(contributors, CONTRIBUTORS, U32, false),
	F(sources, SOURCES, U32, false),
	F(children, CHILDREN, ADDRS, false),
	E(function, FUNCTION, false, aggnet_function_names),
	E(vtype, VTYPE, false, aggnet_vtype_names),
	E(scheme, SCHEME, false, aggnet_scheme_names),
	F(link_ifindex, LINK_IFINDEX, U32, false),
	F(link_neighbour, LINK_NEIGHBOUR, ADDR, false),
	F(hops, HOPS, U8, false),
	F(writers, WRITERS, U32, false),
	F(uid, UID, U32, false),
	F(gid, GID, U32, false),
	F(memory, MEMORY, U64, false),
	F(hold, HOLD, U32, false),
	F(give_up, GIVE_UP, U32, false),
	F(key, KEY, BYTES, false),
	F(keyed, KEYED, FLAG, true),
	E(state, STATE, true, aggnet_state_names),
	E(reason, REASON, true, aggnet_reason_names),
	F(origin, ORIGIN, ADDR, true),
	F(weight, WEIGHT, U32, true),
	F(channels, CHANNELS, U32, true),
	F(memory_used, MEMORY_USED, U64, true),
	F(keys, KEYS, U32, true),
	F(records_in, RECORDS_IN, U64, true),
	F(records_out, RECORDS_OUT, U64, true),
	F(packets_in, PACKETS_IN, U64, true),
	F(packets_out, PACKETS_OUT, U64, true),
	F(rexmits, REXMITS, U64, true),
	F(acceptor, ACCEPTOR, ADDR, true),
	F(members, MEMBERS, U32, false),
	E(layout, LAYOUT, false, aggnet_layout_names),
	F(scale, SCALE, U8, false),
	F(k, K, U32, false),
	F(elements, ELEMENTS, U64, false),
	F(absent, ABSENT, ADDRS, false),
	F(about, ABOUT, ADDR, true),
	F(missing, MISSING, U32, true),
	F(missing_names, MISSING_NAMES, ADDRS, true),
	F(bytes_out, BYTES_OUT, U64, true),
	F(filter, FILTER, BLOB, false),
	F(plan, PLAN, BYTES, false),
	F(memory_most, MEMORY_MOST, U64, true),
};

const struct aggnet_noun aggnet_noun_tree = {
	.name = "tree",
	.field = fields,
	.n = ARRAY_SIZE(fields),
	.size = sizeof(struct aggnet_tree_info),
};

int aggnet_tree_list(struct aggnet_ctl *ctl, struct aggnet_tree_info **list,
		     size_t *n)
{
	return aggnet_ctl_dump(ctl, AGGNET_CMD_TREE_GET, &aggnet_noun_tree,
			       (void **)list, n);
}

void aggnet_tree_list_free(struct aggnet_tree_info *list, size_t n)
{
	while (n)
		aggnet_tree_clear(&list[--n]);
	free(list);
}

void aggnet_tree_clear(struct aggnet_tree_info *tree)
{
	aggnet_field_clear(&aggnet_noun_tree, tree);
}

static struct aggnet_tree_info named(uint64_t incast_id)
{
	return (struct aggnet_tree_info){
		.has = AGGNET_HAS(AGGNET_A_TREE_INCAST_ID),
		.incast_id = incast_id,
	};
}

int aggnet_tree_get(struct aggnet_ctl *ctl, uint64_t incast_id,
		    struct aggnet_tree_info *tree)
{
	struct aggnet_tree_info name = named(incast_id);

	return aggnet_ctl_get(ctl, AGGNET_CMD_TREE_GET, &aggnet_noun_tree, &name,
			      tree);
}

int aggnet_tree_add(struct aggnet_ctl *ctl,
		    const struct aggnet_tree_info *tree, bool replace)
{
	return aggnet_ctl_step(ctl, AGGNET_CMD_TREE_ADD, replace ? NLM_F_REPLACE : 0,
			     &aggnet_noun_tree, tree);
}

int aggnet_tree_del(struct aggnet_ctl *ctl, uint64_t incast_id)
{
	struct aggnet_tree_info name = named(incast_id);

	return aggnet_ctl_step(ctl, AGGNET_CMD_TREE_DEL, 0, &aggnet_noun_tree, &name);
}

int aggnet_tree_del_epoch(struct aggnet_ctl *ctl,
			  const struct aggnet_tree_info *tree)
{
	struct aggnet_tree_info name = named(tree->incast_id);

	name.has |= AGGNET_HAS(AGGNET_A_TREE_INSTANCE) |
		    AGGNET_HAS(AGGNET_A_TREE_ATTEMPT) |
		    (tree->has & AGGNET_HAS(AGGNET_A_TREE_PLAN));
	name.instance = tree->instance;
	name.attempt = tree->attempt;
	memcpy(name.plan, tree->plan, sizeof(name.plan));
	return aggnet_ctl_step(ctl, AGGNET_CMD_TREE_DEL, 0, &aggnet_noun_tree, &name);
}

const char *aggnet_tree_fault(const struct aggnet_tree_info *tree)
{
	const struct aggnet_shape shape = {
		.function = tree->function,
		.vtype = tree->vtype,
		.layout = tree->layout,
		.scale = tree->scale,
		.k = tree->k > UINT16_MAX ? UINT16_MAX : tree->k,
		.elements = tree->elements,
	};
	const char *text;

	return aggnet_shape_fault(&shape, &text) ? text : NULL;
}
