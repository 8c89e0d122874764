/* SPDX-License-Identifier: GPL-2.0 */
/* A plan that is changed step by step; every plan is verified. */
#ifndef TREE_UPDATE_H
#define TREE_UPDATE_H

#include "tree_verify.h"
#include "../uapi/harness.h"

static const aggt_node example[] = { 2, 5, 9, 10, 11, 14 };

FIXTURE(update)
{
	struct aggt_topo *topo;
	struct aggt_plan *plan;
	struct aggt_plan *next;
	struct aggt_err err;
};

FIXTURE_SETUP(update)
{
	self->topo = aggt_topo_parse("bcube:4,1", NULL);
	ASSERT_NE(NULL, self->topo);
	self->plan = NULL;
	self->next = NULL;
}

FIXTURE_TEARDOWN(update)
{
	aggt_plan_free(self->next);
	aggt_plan_free(self->plan);
	aggt_topo_free(self->topo);
}

/* Apply one change to the latest plan. Return: NULL or what is wrong. */
static inline const char *change(FIXTURE_DATA(update) *self, const char *text)
{
	struct aggt_change c;
	struct aggt_plan *next;

	if (aggt_change_parse(self->topo, text, &c, &self->err))
		return self->err.text;
	next = aggt_plan_update(self->topo,
				self->next ? self->next : self->plan, &c, 1,
				&self->err);
	if (!next)
		return self->err.text;
	aggt_plan_free(self->next);
	self->next = next;
	return verify_plan(self->topo, aggt_plan_job(next), next, true);
}

static inline aggt_node parent(const struct aggt_plan *plan, aggt_node server)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan, 0);
	uint32_t i = aggt_tree_find(tree, server);

	return i && i != AGGT_NONE ?
	       aggt_tree_server(tree, aggt_tree_parent(tree, i)) : AGGT_NONE;
}

static inline aggt_node leans(const struct aggt_plan *plan, uint32_t sw)
{
	const struct aggt_tree *tree = aggt_plan_tree(plan, 0);
	size_t i;

	for (i = 0; i < aggt_tree_size(tree); i++)
		if (aggt_tree_server(tree, i) == sw)
			return aggt_tree_leans(tree, i);
	return AGGT_NONE;
}

#endif /* TREE_UPDATE_H */
