// SPDX-License-Identifier: GPL-2.0
/* Plan: steps that are checked one by one and put in force together. */
#include <linux/sched.h>
#include <net/sock.h>

#include "core/bloom.h"
#include "ctl/bloom_grow.h"
#include "ctl/event.h"
#include "ctl/netlink_gen.h"
#include "ctl/plan.h"
#include "flow/host.h"
#include "flow/tree_table.h"
#include "net/hook.h"
#include "net/port.h"
#include "mem.h"
#include "netns.h"

#define PLANS_MAX	1024	/* of a namespace: each request walks the list */
#define PLANS_BYTES_MAX	(64 << 20)	/* all plans of a namespace together */
#define PLAN_STEPS_MAX	65536
#define PLAN_LINKS_MAX	(2 * AGGNET_LINKS_MAX)	/* delete all, add as many */

#define PLAN_LINK_USED	"trees leave by this link: delete them first"
#define PLAN_BLOOM_FULL	"the Bloom table of a link is full"

/**
 * struct aggnet_plan - steps of one netlink socket
 * @list: in an->plans
 * @sk: the socket, without a reference: it is released after the plan is unlisted
 * @count: length of @steps
 * @bytes: part of an->plans_bytes
 * @refused: a step was refused, so the plan cannot be committed
 * @generation: of the configuration from which @draft was copied
 * @draft: the table that the commit puts in force; its entries are those in force,
 *	changed by the steps
 * @steps: in the order of the requests
 * @links: those of @steps that are about links
 * @nlinks: length of @links
 * @link_hash: @links by port and neighbour; NULL if @links is empty
 */
struct aggnet_plan {
	struct list_head list;
	const struct sock *sk;
	u32 count;
	u64 bytes;
	bool refused;
	u32 generation;
	struct aggnet_tree_table *draft;
	struct list_head steps;
	struct list_head links;
	u32 nlinks;
	struct hlist_head *link_hash;
};

#define STEP_REFUSE(step, extack, attr, error, sentence) ({		\
	NL_SET_ERR_MSG_ATTR(extack,					\
			    (step)->attrs ? (step)->attrs[attr] : NULL,	\
			    sentence);					\
	(error);							\
})

/* --- steps ----------------------------------------------------------------- */

struct aggnet_step *aggnet_step_alloc(enum aggnet_step_kind kind,
				      struct nlattr **attrs)
{
	struct aggnet_step *step;

	step = aggnet_zalloc(sizeof(*step), GFP_KERNEL_ACCOUNT);
	if (step) {
		step->kind = kind;
		step->attrs = attrs;
	}
	return step;
}

void aggnet_step_free(struct aggnet_step *step)
{
	if (step->tree)
		aggnet_tree_put(step->tree);
	aggnet_free(step->conf.children);
	aggnet_free(step->conf.absent);
	aggnet_free(step->conf.filter);
	aggnet_free_secret(step, sizeof(*step));
}

static bool step_is_about(const struct aggnet_step *step, u32 ifindex,
			  __be32 neighbour)
{
	return step->link.ifindex == ifindex &&
	       step->link.neighbour == neighbour;
}

/* The plan's last step about a link, NULL if there is none. */
static const struct aggnet_step *plan_link(const struct aggnet_net *an,
					   const struct aggnet_plan *plan,
					   u32 ifindex, __be32 neighbour)
{
	u32 bucket = aggnet_link_bucket(an, ifindex, neighbour);
	const struct aggnet_step *step;

	if (!plan->link_hash)
		return NULL;
	/* The last step comes first. */
	hlist_for_each_entry(step, &plan->link_hash[bucket], link_hash)
		if (step_is_about(step, ifindex, neighbour))
			return step;
	return NULL;
}

/* Does the plan add the link, whether or not it then deletes it? */
static bool plan_adds_link(const struct aggnet_net *an,
			   const struct aggnet_plan *plan, u32 ifindex,
			   __be32 neighbour)
{
	u32 bucket = aggnet_link_bucket(an, ifindex, neighbour);
	const struct aggnet_step *step;

	if (!plan->link_hash)
		return false;
	hlist_for_each_entry(step, &plan->link_hash[bucket], link_hash)
		if (step->kind == AGGNET_STEP_LINK_ADD &&
		    step_is_about(step, ifindex, neighbour))
			return true;
	return false;
}

/* Check the limit of links and allocate the hash. */
static int plan_link_reserve(struct aggnet_plan *plan,
			     struct netlink_ext_ack *extack)
{
	if (plan->nlinks == PLAN_LINKS_MAX) {
		NL_SET_ERR_MSG(extack,
			       "a plan has 8192 steps about links at most");
		return -E2BIG;
	}
	if (!plan->link_hash)
		plan->link_hash = aggnet_zalloc(AGGNET_LINK_BUCKETS *
						sizeof(*plan->link_hash),
						GFP_KERNEL_ACCOUNT);
	return plan->link_hash ? 0 : -ENOMEM;
}

static void plan_link_keep(struct aggnet_net *an, struct aggnet_plan *plan,
			   struct aggnet_step *step)
{
	u32 bucket = aggnet_link_bucket(an, step->link.ifindex,
					step->link.neighbour);

	list_add_tail(&step->link_list, &plan->links);
	hlist_add_head(&step->link_hash, &plan->link_hash[bucket]);
	plan->nlinks++;
}

/* Forget all link steps, before the draft is made again. */
static void plan_links_forget(struct aggnet_plan *plan)
{
	INIT_LIST_HEAD(&plan->links);
	plan->nlinks = 0;
	if (plan->link_hash)
		memset(plan->link_hash, 0,
		       AGGNET_LINK_BUCKETS * sizeof(*plan->link_hash));
}

static bool plan_has_link(struct aggnet_net *an,
			  const struct aggnet_plan *plan, u32 ifindex,
			  __be32 neighbour)
{
	const struct aggnet_step *step = plan_link(an, plan, ifindex, neighbour);

	if (step)
		return step->kind == AGGNET_STEP_LINK_ADD;
	return aggnet_link_find(an, ifindex, neighbour);
}

static int plan_link_add(struct aggnet_net *an, struct aggnet_plan *plan,
			 struct aggnet_step *step,
			 struct netlink_ext_ack *extack)
{
	const struct aggnet_link_conf *conf = &step->link;
	const struct aggnet_step *last;
	int err = plan_link_reserve(plan, extack);

	if (err)
		return err;
	if (aggnet_port_level(an, conf->ifindex) < 0)
		return STEP_REFUSE(step, extack, AGGNET_A_LINK_IFINDEX, -ENODEV,
				   "port is not attached");
	if (plan_has_link(an, plan, conf->ifindex, conf->neighbour))
		return STEP_REFUSE(step, extack, AGGNET_A_LINK_NEIGHBOUR,
				   -EEXIST, "this port has that link already");
	last = plan_link(an, plan, conf->ifindex, conf->neighbour);
	if (last && last->kind == AGGNET_STEP_LINK_DEL)
		return STEP_REFUSE(step, extack, AGGNET_A_LINK_NEIGHBOUR,
				   -EBUSY,
				   "this plan deletes that link: add it in the next one");
	plan_link_keep(an, plan, step);
	return 0;
}

static bool plan_leaves_by(const struct aggnet_plan *plan, u32 ifindex,
			   __be32 neighbour)
{
	struct aggnet_tree *tree;
	u32 pos = 0;

	while ((tree = aggnet_tree_table_next(plan->draft, &pos))) {
		cond_resched();
		if (aggnet_tree_marks(tree, ifindex, neighbour))
			return true;
	}
	return false;
}

static int plan_link_del(struct aggnet_net *an, struct aggnet_plan *plan,
			 struct aggnet_step *step,
			 struct netlink_ext_ack *extack)
{
	u32 ifindex = step->link.ifindex;
	__be32 neighbour = step->link.neighbour;
	int err = plan_link_reserve(plan, extack);

	if (err)
		return err;
	if (!plan_has_link(an, plan, ifindex, neighbour))
		return STEP_REFUSE(step, extack, AGGNET_A_LINK_IFINDEX, -ENOENT,
				   "this port has no link with that neighbour");
	/* plan_redraw() checks all of them at once. */
	if (step->attrs && plan_leaves_by(plan, ifindex, neighbour))
		return STEP_REFUSE(step, extack, AGGNET_A_LINK_IFINDEX, -EBUSY,
				   PLAN_LINK_USED);
	plan_link_keep(an, plan, step);
	return 0;
}

/* Entries of one epoch must belong to one plan, or to none. */
static bool plan_same_plan(const struct aggnet_tree_conf *a,
			   const struct aggnet_tree_conf *b)
{
	return a->has_plan == b->has_plan &&
	       !memcmp(a->plan, b->plan, sizeof(a->plan));
}

/* May the entry be added beside, or in place of, those of its incast ID? */
static int plan_tree_epoch(struct aggnet_net *an,
			   const struct aggnet_plan *plan,
			   const struct aggnet_step *step, bool *beside,
			   struct netlink_ext_ack *extack)
{
	const struct aggnet_tree_conf *conf = &step->conf;
	const struct aggnet_tree *old;
	int cmp;

	*beside = false;
	old = aggnet_tree_table_first(plan->draft, conf->incast_id);
	if (!old)
		return 0;
	cmp = aggnet_epoch_cmp(conf->instance, conf->attempt,
			       old->conf.instance, old->conf.attempt);
	if (!cmp && !plan_same_plan(conf, &old->conf))
		return STEP_REFUSE(step, extack, AGGNET_A_TREE_PLAN, -ESTALE,
				   "another plan of the same epoch is in force");
	/* A switch may send the flows of a tree by several links. */
	*beside = an->role == AGGNET_ROLE_SWITCH && !cmp &&
		  !aggnet_tree_table_by_link(plan->draft, conf->incast_id,
					     conf->link_ifindex,
					     conf->link_neighbour);
	if (*beside && aggnet_tree_table_links(plan->draft, conf->incast_id) >=
		       AGGNET_TREE_LINKS_MAX)
		return STEP_REFUSE(step, extack, AGGNET_A_TREE_LINK_IFINDEX,
				   -ENOSPC,
				   "an incast ID leaves a switch by 256 links at most");
	if (*beside)
		return 0;
	if (!step->replace)
		return STEP_REFUSE(step, extack, AGGNET_A_TREE_INCAST_ID,
				   -EEXIST,
				   "this job and receiver have an entry: replace or delete it");
	if (cmp <= 0)
		return STEP_REFUSE(step, extack, AGGNET_A_TREE_INSTANCE,
				   -ESTALE,
				   "epoch is not newer than the one in force");
	return 0;
}

static int plan_tree_link(struct aggnet_net *an,
			  const struct aggnet_plan *plan,
			  const struct aggnet_step *step,
			  struct netlink_ext_ack *extack)
{
	const struct aggnet_tree_conf *conf = &step->conf;

	if (!conf->link_ifindex)
		return 0;
	if (aggnet_port_level(an, conf->link_ifindex) < 0)
		return STEP_REFUSE(step, extack, AGGNET_A_TREE_LINK_IFINDEX,
				   -ENODEV, "port is not attached");
	if (conf->scheme == AGGNET_SCHEME_BLOOM &&
	    !plan_has_link(an, plan, conf->link_ifindex, conf->link_neighbour))
		return STEP_REFUSE(step, extack, AGGNET_A_TREE_LINK_NEIGHBOUR,
				   -ENOENT,
				   "no link with that neighbour: add it first");
	return 0;
}

static int plan_tree_add(struct aggnet_net *an, struct aggnet_plan *plan,
			 struct aggnet_step *step,
			 struct netlink_ext_ack *extack)
{
	struct aggnet_tree *tree;
	bool beside;
	int err;

	err = plan_tree_link(an, plan, step, extack);
	if (!err)
		err = plan_tree_epoch(an, plan, step, &beside, extack);
	if (!err)
		err = aggnet_tree_table_reserve(&plan->draft);
	if (err)
		return err;
	if (!step->tree) {
		tree = aggnet_tree_create(an, &step->conf, extack);
		if (IS_ERR(tree))
			return PTR_ERR(tree);
		step->tree = tree;
	}
	if (!beside)
		aggnet_tree_table_remove(plan->draft, step->conf.incast_id);
	aggnet_tree_table_insert(plan->draft, step->tree);
	return 0;
}

/* Another operator may have replaced the entry that the request names. */
static bool plan_same_entry(const struct aggnet_tree_conf *a,
			    const struct aggnet_tree_conf *b)
{
	return a->instance == b->instance && a->attempt == b->attempt &&
	       plan_same_plan(a, b);
}

static int plan_tree_del(struct aggnet_net *an, struct aggnet_plan *plan,
			 struct aggnet_step *step,
			 struct netlink_ext_ack *extack)
{
	const struct aggnet_tree *tree;

	tree = aggnet_tree_table_first(plan->draft, step->conf.incast_id);
	if (!tree)
		return STEP_REFUSE(step, extack, AGGNET_A_TREE_INCAST_ID,
				   -ENOENT, "no entry of that incast ID");
	if (step->only && !plan_same_entry(&step->conf, &tree->conf))
		return STEP_REFUSE(step, extack, AGGNET_A_TREE_INSTANCE,
				   -ESTALE,
				   "an entry of another epoch or plan is in force");
	aggnet_tree_table_remove(plan->draft, step->conf.incast_id);
	return 0;
}

/* Check a step against the draft, which has the steps before it, and add it. */
static int plan_draw(struct aggnet_net *an, struct aggnet_plan *plan,
		     struct aggnet_step *step, struct netlink_ext_ack *extack)
{
	static int (* const draw[])(struct aggnet_net *an,
				    struct aggnet_plan *plan,
				    struct aggnet_step *step,
				    struct netlink_ext_ack *extack) = {
		[AGGNET_STEP_LINK_ADD] = plan_link_add,
		[AGGNET_STEP_LINK_DEL] = plan_link_del,
		[AGGNET_STEP_TREE_ADD] = plan_tree_add,
		[AGGNET_STEP_TREE_DEL] = plan_tree_del,
	};

	return draw[step->kind](an, plan, step, extack);
}

/* --- plans ----------------------------------------------------------------- */

static void plan_init(struct aggnet_plan *plan, const struct sock *sk)
{
	memset(plan, 0, sizeof(*plan));
	plan->sk = sk;
	INIT_LIST_HEAD(&plan->steps);
	INIT_LIST_HEAD(&plan->links);
}

/* Frees the trees that are still in steps: the commit takes out those in force. */
static void plan_clear(struct aggnet_plan *plan)
{
	struct aggnet_step *step, *next;

	list_for_each_entry_safe(step, next, &plan->steps, list) {
		cond_resched();
		aggnet_step_free(step);
	}
	aggnet_free(plan->link_hash);
	aggnet_free(plan->draft);
}

static void plan_free(struct aggnet_plan *plan)
{
	plan_clear(plan);
	aggnet_free(plan);
}

/*
 * Find the plan of a request's socket, by the socket's address: netlink may give the
 * port ID to another socket before it notifies of this one's release. The socket is
 * not released before the request is done, so only the request drops the plan.
 */
static struct aggnet_plan *plan_of(struct aggnet_net *an,
				   const struct sock *sk)
{
	struct aggnet_plan *plan, *found = NULL;

	lockdep_assert_held(&an->lock);
	spin_lock(&an->plans_lock);
	list_for_each_entry(plan, &an->plans, list)
		if (plan->sk == sk)
			found = plan;
	spin_unlock(&an->plans_lock);
	return found;
}

static u64 plan_bytes(const struct aggnet_plan *plan)
{
	u64 bytes = sizeof(*plan) + plan->count * sizeof(struct aggnet_step);

	if (plan->draft)
		bytes += aggnet_tree_table_bytes(plan->draft);
	if (plan->link_hash)
		bytes += AGGNET_LINK_BUCKETS * sizeof(*plan->link_hash);
	return bytes;
}

/*
 * Account what the plan holds now, beside the memory of its new entries. This is not
 * part of the node's memory limit: a node whose entries use all of it can still be
 * given a plan that withdraws them.
 */
static int plan_account(struct aggnet_net *an, struct aggnet_plan *plan,
			struct netlink_ext_ack *extack)
{
	u64 bytes = plan_bytes(plan), total;

	/* The plan of a request without PLAN_BEGIN ends with the request. */
	if (!plan->sk)
		return 0;
	spin_lock(&an->plans_lock);
	total = an->plans_bytes - plan->bytes + bytes;
	if (total <= PLANS_BYTES_MAX || bytes <= plan->bytes) {
		an->plans_bytes = total;
		plan->bytes = bytes;
	}
	spin_unlock(&an->plans_lock);
	if (bytes == plan->bytes)
		return 0;
	NL_SET_ERR_MSG(extack,
		       "the open plans of this namespace hold 64 MiB: commit or drop one");
	return -ENOSPC;
}

/* Under an->plans_lock. */
static void plan_unlist(struct aggnet_net *an, struct aggnet_plan *plan)
{
	list_del(&plan->list);
	an->nplans--;
	an->plans_bytes -= plan->bytes;
}

static void plan_drop(struct aggnet_net *an, struct aggnet_plan *plan)
{
	spin_lock(&an->plans_lock);
	plan_unlist(an, plan);
	spin_unlock(&an->plans_lock);
	plan_free(plan);
}

/*
 * Netlink notifies of a socket's release by its port ID, which may belong to another
 * socket by now. But the released socket is marked dead before, so drop the plans of
 * all dead sockets. The socket of a listed plan has not been freed: the notification
 * of its release, which unlists the plan, comes first.
 */
void aggnet_plan_release(struct aggnet_net *an)
{
	struct aggnet_plan *plan, *next;
	LIST_HEAD(dead);

	spin_lock(&an->plans_lock);
	list_for_each_entry_safe(plan, next, &an->plans, list) {
		if (!sock_flag(plan->sk, SOCK_DEAD))
			continue;
		plan_unlist(an, plan);
		list_add(&plan->list, &dead);
	}
	spin_unlock(&an->plans_lock);
	list_for_each_entry_safe(plan, next, &dead, list)
		plan_free(plan);
}

void aggnet_plan_start(struct aggnet_net *an)
{
	spin_lock_init(&an->plans_lock);
	INIT_LIST_HEAD(&an->plans);
}

/* At the namespace's exit no socket is left that could begin or end a plan. */
void aggnet_plan_drop_all(struct aggnet_net *an)
{
	struct aggnet_plan *plan, *next;

	list_for_each_entry_safe(plan, next, &an->plans, list)
		plan_drop(an, plan);
}

/* Check that no entry of the draft uses a link that the plan deletes. */
static int plan_links_unused(struct aggnet_net *an,
			     const struct aggnet_plan *plan,
			     struct netlink_ext_ack *extack)
{
	const struct aggnet_step *step;
	struct aggnet_tree *tree;
	u32 pos = 0;

	while (plan->nlinks && (tree = aggnet_tree_table_next(plan->draft,
							      &pos))) {
		cond_resched();
		step = plan_link(an, plan, tree->conf.link_ifindex,
				 tree->conf.link_neighbour);
		if (!step || step->kind != AGGNET_STEP_LINK_DEL ||
		    tree->conf.scheme != AGGNET_SCHEME_BLOOM)
			continue;
		NL_SET_ERR_MSG(extack, PLAN_LINK_USED);
		return -EBUSY;
	}
	return 0;
}

static void plan_draft_drop(struct aggnet_plan *plan)
{
	aggnet_free(plan->draft);
	plan->draft = NULL;
}

/*
 * If the configuration has changed since the draft was copied, make a new draft: the
 * old one may have trees that have been freed.
 */
static int plan_refresh(struct aggnet_net *an, struct aggnet_plan *plan,
			struct netlink_ext_ack *extack)
{
	struct aggnet_step *step;
	int err;

	if (plan->draft && plan->generation == an->generation)
		return 0;
	plan_draft_drop(plan);
	plan_links_forget(plan);
	plan->draft = aggnet_tree_table_copy(aggnet_tree_table_in_force(an));
	if (!plan->draft)
		return -ENOMEM;
	err = plan_account(an, plan, extack);
	if (err) {
		plan_draft_drop(plan);
		return err;
	}
	plan->generation = an->generation;
	list_for_each_entry(step, &plan->steps, list) {
		err = plan_draw(an, plan, step, extack);
		if (err)
			return err;
		cond_resched();
	}
	return plan_links_unused(an, plan, extack);
}

static int plan_stage(struct aggnet_net *an, struct aggnet_plan *plan,
		      struct aggnet_step *step, struct netlink_ext_ack *extack)
{
	int err;

	if (plan->count == PLAN_STEPS_MAX) {
		NL_SET_ERR_MSG(extack, "a plan has 65536 steps at most");
		return -E2BIG;
	}
	err = plan_refresh(an, plan, extack);
	if (!err)
		err = plan_draw(an, plan, step, extack);
	if (err)
		return err;
	plan->count++;
	err = plan_account(an, plan, extack);
	if (err) {
		/* The draft has the step, which the caller frees. */
		plan->count--;
		plan_draft_drop(plan);
		return err;
	}
	step->attrs = NULL;
	list_add_tail(&step->list, &plan->steps);
	return 0;
}

/* --- commit: what may fail ------------------------------------------------- */

static int plan_add_links(struct aggnet_net *an, struct aggnet_plan *plan,
			  struct netlink_ext_ack *extack)
{
	struct aggnet_step *step;
	int err;

	list_for_each_entry(step, &plan->links, link_list) {
		if (step->kind != AGGNET_STEP_LINK_ADD)
			continue;
		err = aggnet_link_add(an, &step->link, extack);
		if (err)
			goto undo;
		/* Each step walks all links. */
		cond_resched();
	}
	return 0;
undo:
	list_for_each_entry_continue_reverse(step, &plan->links, link_list)
		if (step->kind == AGGNET_STEP_LINK_ADD)
			aggnet_link_del(an, step->link.ifindex,
					step->link.neighbour);
	return err;
}

static void plan_del_links(struct aggnet_net *an, struct aggnet_plan *plan,
			   enum aggnet_step_kind kind)
{
	struct aggnet_step *step;

	list_for_each_entry_reverse(step, &plan->links, link_list) {
		cond_resched();
		if (step->kind == kind)
			aggnet_link_del(an, step->link.ifindex,
					step->link.neighbour);
	}
}

/* Has @trees an entry of this incast ID that uses this link's filter? */
static bool trees_mark(const struct aggnet_tree_table *trees,
		       const struct aggnet_tree_conf *conf)
{
	const struct aggnet_tree *tree;

	tree = aggnet_tree_table_by_link(trees, conf->incast_id,
					 conf->link_ifindex,
					 conf->link_neighbour);
	return tree && tree->conf.scheme == AGGNET_SCHEME_BLOOM;
}

/*
 * The filter of the entry's link, NULL if there is none. A filter has the IDs of
 * exactly those entries in force that use its link.
 */
static struct aggnet_bloom *tree_filter(struct aggnet_net *an,
					const struct aggnet_tree *tree)
{
	struct aggnet_link *link;

	if (tree->conf.scheme != AGGNET_SCHEME_BLOOM ||
	    !tree->conf.link_ifindex)
		return NULL;
	link = aggnet_link_find(an, tree->conf.link_ifindex,
				tree->conf.link_neighbour);
	return link ? aggnet_link_bloom(an, link) : NULL;
}

/*
 * Is the entry's ID in its filter before the commit? Not if the plan adds the link,
 * even for an entry that is in force: its link may have gone with a port.
 */
static bool plan_marked(const struct aggnet_net *an,
			const struct aggnet_plan *plan,
			const struct aggnet_tree_table *old,
			const struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;

	return !plan_adds_link(an, plan, conf->link_ifindex,
			       conf->link_neighbour) && trees_mark(old, conf);
}

/* Remove the IDs that plan_mark() inserted before position @end. */
static void plan_unmark(struct aggnet_net *an, struct aggnet_plan *plan,
			u32 end)
{
	const struct aggnet_tree_table *old = aggnet_tree_table_in_force(an);
	struct aggnet_bloom *bloom;
	struct aggnet_tree *tree;
	u32 pos = 0;

	while ((tree = aggnet_tree_table_next(plan->draft, &pos))) {
		cond_resched();
		if (pos == end)
			return;
		bloom = tree_filter(an, tree);
		if (bloom && !plan_marked(an, plan, old, tree))
			aggnet_bloom_delete(bloom, tree->conf.incast_id);
	}
}

/* Insert the IDs of new entries, early: a false positive does no harm. */
static int plan_mark(struct aggnet_net *an, struct aggnet_plan *plan,
		     struct netlink_ext_ack *extack)
{
	const struct aggnet_tree_table *old = aggnet_tree_table_in_force(an);
	struct aggnet_bloom *bloom;
	struct aggnet_tree *tree;
	u32 pos = 0;

	while ((tree = aggnet_tree_table_next(plan->draft, &pos))) {
		cond_resched();
		bloom = tree_filter(an, tree);
		if (!bloom || plan_marked(an, plan, old, tree) ||
		    !aggnet_bloom_insert(bloom, tree->conf.incast_id))
			continue;
		plan_unmark(an, plan, pos);
		NL_SET_ERR_MSG(extack, PLAN_BLOOM_FULL);
		return -ENOSPC;
	}
	return 0;
}

static int plan_prepare(struct aggnet_net *an, struct aggnet_plan *plan,
			struct netlink_ext_ack *extack)
{
	int err;

	err = plan_refresh(an, plan, extack);
	if (err)
		return err;
	if (plan->draft->count) {
		err = aggnet_hook_start(an, an->udp_port, false, extack);
		if (err)
			return err;
	}
	err = plan_add_links(an, plan, extack);
	if (err)
		return err;
	err = plan_mark(an, plan, extack);
	if (err)
		plan_del_links(an, plan, AGGNET_STEP_LINK_ADD);
	return err;
}

/* --- commit: what cannot fail ---------------------------------------------- */

/* Tell new entries which ones they replace. */
static void plan_follow(struct aggnet_net *an, const struct aggnet_plan *plan)
{
	const struct aggnet_tree_table *old = aggnet_tree_table_in_force(an);
	const struct aggnet_step *step;
	const struct aggnet_tree *tree;

	list_for_each_entry(step, &plan->steps, list) {
		cond_resched();
		tree = aggnet_tree_table_first(old, step->conf.incast_id);
		if (step->tree && tree)
			aggnet_tree_follow(step->tree, tree);
	}
}

/* Note that new entries are in force now. */
static void plan_adopt(struct aggnet_plan *plan,
		       const struct aggnet_tree_table *trees)
{
	struct aggnet_step *step;

	list_for_each_entry(step, &plan->steps, list) {
		cond_resched();
		if (!step->tree || !aggnet_tree_table_has(trees, step->tree))
			continue;
		aggnet_host_notify(step->tree, AGGNET_EVENT_TREE_ADDED);
		step->tree = NULL;
	}
}

/* Remove the IDs of entries that are not in force any more from the filters. */
static void plan_unmark_old(struct aggnet_net *an,
			    const struct aggnet_plan *plan,
			    const struct aggnet_tree_table *old,
			    const struct aggnet_tree_table *trees)
{
	struct aggnet_bloom *bloom;
	struct aggnet_tree *tree;
	u32 pos = 0;

	while ((tree = aggnet_tree_table_next(old, &pos))) {
		cond_resched();
		if (aggnet_tree_table_has(trees, tree))
			continue;
		bloom = tree_filter(an, tree);
		if (bloom && plan_marked(an, plan, old, tree) &&
		    !trees_mark(trees, &tree->conf))
			aggnet_bloom_delete(bloom, tree->conf.incast_id);
	}
}

/* End the entries that only @old has. Each may be freed at once: look up none. */
static void plan_retire(const struct aggnet_tree_table *old,
			const struct aggnet_tree_table *trees)
{
	struct aggnet_tree *tree;
	u32 pos = 0;

	while ((tree = aggnet_tree_table_next(old, &pos))) {
		cond_resched();
		if (aggnet_tree_table_has(trees, tree))
			continue;
		aggnet_host_notify(tree, AGGNET_EVENT_TREE_DELETED);
		aggnet_tree_kill(tree,
				 aggnet_tree_table_first(trees,
							 tree->conf.incast_id) ?
				 AGGNET_R_STALE : AGGNET_R_WITHDRAWN);
	}
}

static void plan_publish(struct aggnet_net *an, struct aggnet_plan *plan)
{
	struct aggnet_tree_table *trees = plan->draft;
	struct aggnet_tree_table *old;

	plan->draft = NULL;
	plan_follow(an, plan);
	old = aggnet_tree_table_publish(an, trees);
	aggnet_changed(an);
	plan_adopt(plan, trees);
	plan_unmark_old(an, plan, old, trees);
	plan_retire(old, trees);
	plan_del_links(an, plan, AGGNET_STEP_LINK_DEL);
	aggnet_bloom_grow(an);
	aggnet_tree_table_free(old);
}

static int plan_commit(struct aggnet_net *an, struct aggnet_plan *plan,
		       struct netlink_ext_ack *extack)
{
	int err;

	if (list_empty(&plan->steps))
		return 0;
	err = plan_prepare(an, plan, extack);
	if (!err)
		plan_publish(an, plan);
	return err;
}

/* --- requests -------------------------------------------------------------- */

/*
 * An entry whose incast ID has none yet replaces nothing: add it to the table in
 * force, if there is room, without a copy of all the others.
 */
static bool plan_adds_only(struct aggnet_net *an,
			   const struct aggnet_step *step)
{
	const struct aggnet_tree_table *trees = aggnet_tree_table_in_force(an);

	return step->kind == AGGNET_STEP_TREE_ADD &&
	       aggnet_tree_table_room(trees) &&
	       !aggnet_tree_table_first(trees, step->conf.incast_id);
}

static int plan_insert(struct aggnet_net *an, const struct aggnet_plan *plan,
		       struct aggnet_step *step, struct netlink_ext_ack *extack)
{
	struct aggnet_bloom *bloom;
	struct aggnet_tree *tree;
	int err;

	err = plan_tree_link(an, plan, step, extack);
	if (!err)
		err = aggnet_hook_start(an, an->udp_port, false, extack);
	if (err)
		return err;
	tree = aggnet_tree_create(an, &step->conf, extack);
	if (IS_ERR(tree))
		return PTR_ERR(tree);
	bloom = tree_filter(an, tree);
	if (bloom && aggnet_bloom_insert(bloom, tree->conf.incast_id)) {
		NL_SET_ERR_MSG(extack, PLAN_BLOOM_FULL);
		aggnet_tree_put(tree);
		return -ENOSPC;
	}
	aggnet_tree_table_insert(aggnet_tree_table_in_force(an), tree);
	aggnet_changed(an);
	aggnet_host_notify(tree, AGGNET_EVENT_TREE_ADDED);
	aggnet_bloom_grow(an);
	return 0;
}

static int plan_alone(struct aggnet_net *an, struct aggnet_step *step,
		      struct netlink_ext_ack *extack)
{
	struct aggnet_plan plan;
	int err;

	plan_init(&plan, NULL);
	if (plan_adds_only(an, step)) {
		err = plan_insert(an, &plan, step, extack);
		aggnet_step_free(step);
		return err;
	}
	err = plan_stage(an, &plan, step, extack);
	if (err)
		aggnet_step_free(step);
	else
		err = plan_commit(an, &plan, extack);
	plan_clear(&plan);
	return err;
}

int aggnet_plan_step(struct aggnet_net *an, struct genl_info *info,
		     struct aggnet_step *step)
{
	struct aggnet_plan *plan = plan_of(an, aggnet_nl_sock(info));
	int err;

	if (!plan)
		return plan_alone(an, step, info->extack);
	err = plan_stage(an, plan, step, info->extack);
	if (err)
		aggnet_step_free(step);
	return err;
}

void aggnet_plan_refuse(struct aggnet_net *an, const struct genl_info *info)
{
	struct aggnet_plan *plan = plan_of(an, aggnet_nl_sock(info));

	if (plan)
		plan->refused = true;
}

/* List the plan, unless the namespace has PLANS_MAX. */
static bool plan_list(struct aggnet_net *an, struct aggnet_plan *plan)
{
	bool room;

	spin_lock(&an->plans_lock);
	room = an->nplans < PLANS_MAX;
	if (room) {
		list_add_tail(&plan->list, &an->plans);
		an->nplans++;
	}
	spin_unlock(&an->plans_lock);
	return room;
}

int aggnet_nl_plan_begin(struct aggnet_net *an, struct genl_info *info)
{
	struct aggnet_plan *plan;

	if (plan_of(an, aggnet_nl_sock(info))) {
		NL_SET_ERR_MSG(info->extack,
			       "this socket has begun a plan: commit or drop it");
		return -EALREADY;
	}
	plan = aggnet_zalloc(sizeof(*plan), GFP_KERNEL_ACCOUNT);
	if (!plan)
		return -ENOMEM;
	plan_init(plan, aggnet_nl_sock(info));
	if (plan_list(an, plan))
		return 0;
	plan_free(plan);
	NL_SET_ERR_MSG(info->extack,
		       "1024 plans are open in this namespace: commit or drop one");
	return -EUSERS;
}

static struct aggnet_plan *plan_required(struct aggnet_net *an,
					 struct genl_info *info)
{
	struct aggnet_plan *plan = plan_of(an, aggnet_nl_sock(info));

	if (!plan)
		NL_SET_ERR_MSG(info->extack, "this socket has not begun a plan");
	return plan;
}

/* Void the plan if the core has refused a step by policy, before its handler. */
static int plan_check_steps(const struct aggnet_plan *plan,
			    struct genl_info *info)
{
	const struct nlattr *steps = info->attrs[AGGNET_A_PLAN_STEPS];

	if (plan->refused) {
		NL_SET_ERR_MSG(info->extack,
			       "a step was refused: the whole plan is dropped");
		return -ECANCELED;
	}
	if (steps && nla_get_u32(steps) != plan->count)
		return AGGNET_REFUSE(info, AGGNET_A_PLAN_STEPS, -ECANCELED,
				     "the plan has another number of steps: it is dropped");
	return 0;
}

int aggnet_nl_plan_commit(struct aggnet_net *an, struct genl_info *info)
{
	struct aggnet_plan *plan = plan_required(an, info);
	int err;

	if (!plan)
		return -ENOENT;
	err = plan_check_steps(plan, info);
	if (!err)
		err = plan_commit(an, plan, info->extack);
	plan_drop(an, plan);
	return err;
}

int aggnet_nl_plan_drop(struct aggnet_net *an, struct genl_info *info)
{
	struct aggnet_plan *plan = plan_required(an, info);

	if (!plan)
		return -ENOENT;
	plan_drop(an, plan);
	return 0;
}

bool aggnet_plan_any(struct aggnet_net *an)
{
	const struct aggnet_plan *plan;
	bool any = false;

	lockdep_assert_held(&an->lock);
	spin_lock(&an->plans_lock);
	list_for_each_entry(plan, &an->plans, list)
		any |= !list_empty(&plan->steps);
	spin_unlock(&an->plans_lock);
	return any;
}
