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
 * @link_list: in plan->links, for steps about links
 * @link_hash: in plan->link_hash, for steps about links
 * @kind: enum aggnet_step_kind
 * @replace: TREE_ADD may replace an entry of an older epoch
 * @only: TREE_DEL deletes entries of the epoch and plan in @conf only
 * @link: LINK_DEL: @ifindex and @neighbour only
 * @conf: TREE_DEL: @incast_id only; if @only, epoch and plan, too
 * @tree: made of @conf, its memory reserved; owned by the step until it is in force
 * @attrs: attributes of the request, for refusals; NULL once it has been answered
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

/* Return: NULL: no memory. aggnet_step_free() also frees the conf and the tree. */
struct aggnet_step *aggnet_step_alloc(enum aggnet_step_kind kind,
				      struct nlattr **attrs);
void aggnet_step_free(struct aggnet_step *step);

/**
 * aggnet_plan_step() - stage a step, or put it in force at once
 * @an: namespace, locked
 * @info: its request
 * @step: owned by the plan from now on, freed on error
 *
 * The step is staged if the request's socket has begun a plan; else it is a plan of
 * its own, and committed.
 *
 * Return: 0 or a negative errno with a sentence
 */
int aggnet_plan_step(struct aggnet_net *an, struct genl_info *info,
		     struct aggnet_step *step);

/* Void the plan of the request's socket, if any: one of its steps was refused. */
void aggnet_plan_refuse(struct aggnet_net *an, const struct genl_info *info);

/* Is a step staged? Its check relied on the node's identity and role. */
bool aggnet_plan_any(struct aggnet_net *an);

/* Drop the plans of closed netlink sockets, without an->lock. */
void aggnet_plan_release(struct aggnet_net *an);

void aggnet_plan_start(struct aggnet_net *an);		/* of a namespace */
void aggnet_plan_drop_all(struct aggnet_net *an);	/* its exit, locked */

#endif /* _AGGNET_PLAN_H */
