// SPDX-License-Identifier: GPL-2.0
/* The timers of a tree. */
#include <linux/jiffies.h>
#include <linux/skbuff.h>

#include "flow/channel.h"
#include "flow/timers.h"
#include "flow/tree.h"

/* Least interval of the tree's timer, except with very many children. */
#define TIMERS_LOOK_MIN	(HZ / 20)

/* The tree's lock is held; an armed timer holds a reference on its tree. */
static void timers_arm(struct aggnet_tree *tree, struct timer_list *timer,
		       unsigned long expires)
{
	if (tree->dead ||
	    (timer_pending(timer) && !time_before(expires, timer->expires)))
		return;
	/*
	 * If the handler has begun to run, it waits for the lock with the
	 * reference of its own arming, and this arming takes another one.
	 */
	if (!mod_timer(timer, expires))
		aggnet_tree_get(tree);
}

void aggnet_timers_uplink(struct aggnet_tree *tree, u32 us)
{
	timers_arm(tree, &tree->up.timer, jiffies + usecs_to_jiffies(us));
}

void aggnet_timers_branches(struct aggnet_tree *tree, u32 us)
{
	timers_arm(tree, &tree->store.cast.timer,
		   jiffies + usecs_to_jiffies(us));
}

void aggnet_timers_tree(struct aggnet_tree *tree, unsigned long delay)
{
	timers_arm(tree, &tree->timer, jiffies + delay);
}

static void uplink_expired(struct timer_list *timer)
{
	struct aggnet_tree *tree = from_timer(tree, timer, up.timer);
	struct aggnet_run run;

	aggnet_run_begin(tree, &run);
	if (!tree->dead)
		aggnet_uplink_expired(tree, &run);
	aggnet_run_end(tree, &run);
	aggnet_tree_put(tree);
}

static void branches_expired(struct timer_list *timer)
{
	struct aggnet_tree *tree = from_timer(tree, timer, store.cast.timer);
	struct aggnet_run run;

	aggnet_run_begin(tree, &run);
	if (!tree->dead)
		aggnet_branches_expired(tree, &run);
	aggnet_run_end(tree, &run);
	aggnet_tree_put(tree);
}

static bool passed(unsigned long since, u32 ms)
{
	return time_after_eq(jiffies, since + msecs_to_jiffies(ms));
}

/*
 * If no hold is configured, stop waiting for missing children after give_up / 2.
 * Then the receiver gives up, and not this end: children whose planned end is away
 * have bound at the receiver by then, or are missing. An end that the transfer has
 * bypassed has no records. A tree that leads down cannot do without a child.
 */
static bool hold_passed(const struct aggnet_tree *tree)
{
	const struct aggnet_tree_conf *conf = &tree->conf;

	if (aggnet_tree_bypassed(tree))
		return false;
	if (aggnet_tree_leads_down(tree))
		return false;
	if (conf->hold_ms)
		return tree->acceptor.open &&
		       passed(tree->started, conf->hold_ms);
	return aggnet_tree_short(tree) &&
	       passed(tree->acceptor.bound_at, conf->give_up_ms / 2);
}

/*
 * How many sources are missing because of @silent, or if it is NULL, because of
 * children that never came?
 */
static u32 missing_sources(const struct aggnet_tree *tree,
			   const struct aggnet_child *silent)
{
	u32 unfinished = aggnet_tree_unfinished(tree);
	u32 sources = tree->conf.sources;

	/* Sources that bound children have announced are not missing. */
	if (!silent && aggnet_tree_covered(tree) < sources)
		return sources - aggnet_tree_covered(tree);
	if (unfinished)
		return unfinished;
	/* Sources that were planned for other ends have finished here. */
	return silent ? silent->sources : 0;
}

/*
 * End the transfer because of @silent; if it is NULL, because of a child that found
 * no room, or because of a listed child that is missing.
 */
static void gave_up(struct aggnet_tree *tree, const struct aggnet_child *silent,
		    struct aggnet_run *run)
{
	enum aggnet_reason reason = AGGNET_R_TIMEOUT;
	u32 missing = missing_sources(tree, silent);
	__be32 child = silent ? silent->id : 0;

	aggnet_acceptor_lost(tree);
	if (!child && tree->acceptor.refused_child) {
		reason = AGGNET_R_ROOM;
		child = tree->acceptor.refused_child;
	}
	if (!child && tree->outcome.lost.n)
		child = tree->outcome.lost.id[0];
	aggnet_tree_abort(tree, run, reason, aggnet_tree_self(tree), child,
			  missing);
}

static void give_up_passed(struct aggnet_tree *tree, struct aggnet_run *run)
{
	const struct aggnet_tree_conf *conf = &tree->conf;
	__be32 self = aggnet_tree_self(tree);
	struct aggnet_child *c;

	c = aggnet_acceptor_silent(tree, msecs_to_jiffies(conf->give_up_ms));
	if (c)
		gave_up(tree, c, run);
	else if (aggnet_tree_short(tree) &&
		 passed(tree->acceptor.bound_at, conf->give_up_ms))
		gave_up(tree, NULL, run);
	else if ((tree->writers.joined < conf->writers ||
		  (aggnet_tree_is_receiver(tree) && !tree->local.reader &&
		   !tree->local.end_read)) &&
		 passed(tree->started, conf->give_up_ms))
		aggnet_tree_abort(tree, run, AGGNET_R_TIMEOUT, self, self, 0);
}

static void tree_expired(struct timer_list *timer)
{
	struct aggnet_tree *tree = from_timer(tree, timer, timer);
	const struct aggnet_tree_conf *conf = &tree->conf;
	u32 runs = aggnet_acceptor_looks(tree);
	unsigned long look;
	struct aggnet_run run;

	aggnet_run_begin(tree, &run);
	if (tree->dead || tree->state == AGGNET_TREE_IDLE ||
	    tree->state >= AGGNET_TREE_DONE)
		goto out;
	look = msecs_to_jiffies(conf->give_up_ms) / 8;
	tree->store.ops->relieve(tree, &run);
	if (hold_passed(tree))
		aggnet_tree_stall(tree, &run);
	if (conf->hold_ms)
		look = min(look, msecs_to_jiffies(conf->hold_ms) / 4);
	give_up_passed(tree, &run);
	/*
	 * A check of all children takes several runs: tell the parent in one of
	 * them.
	 */
	aggnet_uplink_tell(tree, !(tree->acceptor.look_runs++ % runs), &run);
	look = max_t(unsigned long, look, TIMERS_LOOK_MIN);
	look /= runs;
	aggnet_timers_tree(tree, max_t(unsigned long, look, 1));
out:
	aggnet_run_end(tree, &run);
	aggnet_tree_put(tree);
}

void aggnet_timers_init(struct aggnet_tree *tree)
{
	timer_setup(&tree->timer, tree_expired, 0);
	timer_setup(&tree->up.timer, uplink_expired, 0);
	timer_setup(&tree->store.cast.timer, branches_expired, 0);
}

void aggnet_timers_stop(struct aggnet_tree *tree)
{
	if (del_timer_sync(&tree->timer))
		aggnet_tree_put(tree);
	if (del_timer_sync(&tree->up.timer))
		aggnet_tree_put(tree);
	if (del_timer_sync(&tree->store.cast.timer))
		aggnet_tree_put(tree);
}
