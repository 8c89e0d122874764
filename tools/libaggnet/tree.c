// SPDX-License-Identifier: GPL-2.0
/* Tree: the namespace's entry of one incast transfer. */
#include <stdlib.h>
#include <netlink/netlink.h>

#include "core/shape.h"
#include "ctl.h"
#include "stripes.h"

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

static struct aggnet_shape tree_shape(const struct aggnet_tree_info *tree)
{
	return (struct aggnet_shape){
		.function = tree->function,
		.vtype = tree->vtype,
		.layout = tree->layout,
		.scale = tree->scale,
		.k = tree->k > UINT16_MAX ? UINT16_MAX : tree->k,
		.elements = tree->elements,
	};
}

uint64_t aggnet_stripe_elements(const struct aggnet_tree_info *whole,
				unsigned int stripe, unsigned int stripes)
{
	const struct aggnet_shape shape = tree_shape(whole);

	return stripes ? stripe_elements(&shape, stripe, stripes) : 0;
}

const char *aggnet_tree_fault(const struct aggnet_tree_info *tree)
{
	const struct aggnet_shape shape = tree_shape(tree);
	const char *text;

	return aggnet_shape_fault(&shape, &text) ? text : NULL;
}
