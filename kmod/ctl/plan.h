/* SPDX-License-Identifier: GPL-2.0 */
/* Plan: steps that are checked one by one and put in force together. */
#ifndef _AGGNET_PLAN_H
#define _AGGNET_PLAN_H

#include <linux/list.h>
#include <linux/types.h>

#include "flow/tree.h"
#include "net/link.h"

struct aggnet_net;
struct genl_info;
struct nlattr;

enum aggnet_step_kind {
	AGGNET_STEP_LINK_ADD,
	AGGNET_STEP_LINK_DEL,
	AGGNET_STEP_TREE_ADD,
	AGGNET_STEP_TREE_DEL,
};

/**
 * struct aggnet_step - one LINK_ADD/DEL or TREE_ADD/DEL
 * @list: in plan->steps, in the order of the requests
 * @link_list: in plan->links, if it is about a link
 * @link_hash: in plan->link_hash, likewise
 * @kind: enum aggnet_step_kind
 * @replace: TREE_ADD may take the place of an older epoch
 * @only: TREE_DEL deletes entries of the epoch and plan in @conf only
 * @link: LINK_DEL: @ifindex and @neighbour only
 * @conf: TREE_DEL: @incast_id only; if @only, epoch and plan, too
 * @tree: made of @conf and reserved, ours until it is in force
 * @attrs: the request's, for refusals; NULL once it has been answered
 */
struct aggnet_step {
	struct list_head list;
	struct list_head link_list;
	struct hlist_node link_hash;
	u8 kind;
	bool replace;
	bool only;
	struct aggnet_link_conf link;
	struct aggnet_tree_conf conf;
	struct aggnet_tree *tree;
	struct nlattr **attrs;
};

/* NULL: no memory. aggnet_step_free() also frees the conf and the tree. */
struct aggnet_step *aggnet_step_alloc(enum aggnet_step_kind kind,
				      struct nlattr **attrs);
void aggnet_step_free(struct aggnet_step *step);

/**
 * aggnet_plan_step() - stage a step, or do it at once
 * @an: namespace, locked
 * @info: its request
 * @step: taken over
 *
 * It is staged if the request's socket has begun a plan; else it is a plan of
 * its own.
 *
 * Return: 0 or a negative errno with a sentence
 */
int aggnet_plan_step(struct aggnet_net *an, struct genl_info *info,
		     struct aggnet_step *step);

/* A step of this socket was refused: its plan, if there is one, is void. */
void aggnet_plan_refuse(struct aggnet_net *an, const struct genl_info *info);

/* Is a step staged, whose check relied on identity and role? */
bool aggnet_plan_any(struct aggnet_net *an);

/* A netlink socket has been closed; an->lock is not taken. */
void aggnet_plan_release(struct aggnet_net *an);

void aggnet_plan_start(struct aggnet_net *an);		/* of a namespace */
void aggnet_plan_drop_all(struct aggnet_net *an);	/* its exit, locked */

#endif /* _AGGNET_PLAN_H */
