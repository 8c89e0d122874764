// SPDX-License-Identifier: GPL-2.0
/* Local processes: functions that the writers and the reader of a tree share. */
#include <linux/poll.h>
#include <linux/skbuff.h>

#include "flow/local.h"
#include "flow/tree.h"

/* Reason of an abort if the process at the receiver, or another one, leaves early. */
static enum aggnet_reason local_left(const struct aggnet_tree *tree, bool root)
{
	return root != aggnet_tree_leads_down(tree) ? AGGNET_R_RECEIVER :
						      AGGNET_R_SENDER;
}

void aggnet_tree_leave(struct aggnet_tree *tree, struct aggnet_local *local)
{
	__be32 self = READ_ONCE(tree->an->identity);
	struct aggnet_run run;

	aggnet_run_begin(tree, &run);
	list_del_init(&local->list);
	if (tree->local.reader == local) {
		tree->local.reader = NULL;
		if (!tree->local.end_read)
			aggnet_tree_abort(tree, &run, local_left(tree, true),
					  self, self, 0);
	} else if (!local->shut) {
		aggnet_tree_abort(tree, &run, local_left(tree, false), self,
				  self, 0);
	} else {
		tree->writers.gone++;
	}
	aggnet_run_end(tree, &run);
}

void aggnet_tree_abort_user(struct aggnet_tree *tree, enum aggnet_reason why)
{
	__be32 self = READ_ONCE(tree->an->identity);
	struct aggnet_run run;

	aggnet_run_begin(tree, &run);
	aggnet_tree_abort(tree, &run, why, self, self, 0);
	aggnet_run_end(tree, &run);
}

/* Is the oldest round of a writer without an outcome done? */
static bool local_has_outcome(const struct aggnet_tree *tree,
			      const struct aggnet_local *local)
{
	return local->told != local->rounds &&
	       (local->told != tree->round || tree->state == AGGNET_TREE_DONE);
}

/* An abort is the outcome of the rounds that are not done. */
int aggnet_tree_outcome(struct aggnet_tree *tree, struct aggnet_local *local,
			bool peek)
{
	int outcome = 0;

	spin_lock_bh(&tree->lock);
	if (local_has_outcome(tree, local)) {
		local->told += !peek;
		outcome = 1;
	} else if (tree->state == AGGNET_TREE_DONE) {
		outcome = 1;
	} else if (tree->state == AGGNET_TREE_ABORTED) {
		outcome = aggnet_reason_errno(tree->outcome.reason);
	} else if (tree->conf.persist && !local->shut &&
		   local->told == local->rounds) {
		outcome = -ENOMSG;
	}
	spin_unlock_bh(&tree->lock);
	return outcome;
}

static __poll_t local_poll_writer(struct aggnet_tree *tree,
				  const struct aggnet_local *local,
				  struct aggnet_run *run)
{
	__poll_t mask = 0;

	if (local_has_outcome(tree, local))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (aggnet_writer_may_write(tree, local) &&
	    tree->store.ops->room(tree, local, true, run))
		mask |= EPOLLOUT | EPOLLWRNORM;
	return mask;
}

static __poll_t local_poll_cast(const struct aggnet_tree *tree,
				const struct aggnet_local *local)
{
	bool root = tree->local.reader == local;
	__poll_t mask = 0;

	if (root && tree->state == AGGNET_TREE_DONE)
		return EPOLLIN | EPOLLRDNORM | EPOLLRDHUP | EPOLLHUP;
	if (root ? local_has_outcome(tree, local) :
		   aggnet_cast_may_read(tree, local))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (root && aggnet_cast_may_write(tree))
		mask |= EPOLLOUT | EPOLLWRNORM;
	return mask;
}

__poll_t aggnet_tree_poll(struct aggnet_tree *tree, struct aggnet_local *local)
{
	struct aggnet_run run;
	__poll_t mask = 0;

	aggnet_run_begin(tree, &run);
	if (tree->state == AGGNET_TREE_ABORTED)
		mask = EPOLLERR | EPOLLHUP | EPOLLIN | EPOLLOUT;
	else if (aggnet_tree_leads_down(tree))
		mask = local_poll_cast(tree, local);
	else if (tree->local.reader == local)
		mask = aggnet_reader_may_read(tree) ? EPOLLIN | EPOLLRDNORM : 0;
	else if (tree->state == AGGNET_TREE_DONE)
		mask = EPOLLIN | EPOLLRDNORM | EPOLLRDHUP | EPOLLHUP;
	else
		mask = local_poll_writer(tree, local, &run);
	aggnet_run_end(tree, &run);
	return mask;
}

static void status_outcome(struct aggnet_status *st,
			   const struct aggnet_outcome *o)
{
	st->reason = o->reason;
	st->origin = o->origin;
	st->about = o->about;
	st->missing = o->missing;
	st->names = o->lost.n;
	memcpy(st->name, o->lost.id, sizeof(st->name));
}

static void status_flows(struct aggnet_status *st,
			 const struct aggnet_tree_info *now)
{
	st->channels = now->channels;
	st->unplanned = now->unplanned;
	st->acceptor = now->acceptor;
	memcpy(st->below, now->below, sizeof(st->below));
	st->partials = now->partials;
	st->nunbound = now->unbound.n;
	memcpy(st->unbound, now->unbound.id, sizeof(st->unbound));
	st->records_in = now->count.records_in;
	st->records_out = now->count.records_out;
	st->packets_in = now->count.packets_in;
	st->packets_out = now->count.packets_out;
	st->bytes_in = now->count.bytes_in;
	st->bytes_out = now->count.bytes_out;
	st->rexmits = now->count.rexmits;
}

void aggnet_tree_status(struct aggnet_tree *tree, struct aggnet_status *st)
{
	const atomic_t *fell = tree->fallback;
	struct aggnet_tree_info now = {};

	/* An entry that only forwards has no flow, and no buffer. */
	if (!tree->conf.forward_only)
		aggnet_tree_info(tree, &now);
	memset(st, 0, sizeof(*st));
	st->state = now.state;
	st->round = now.round;
	status_outcome(st, &now.outcome);
	status_flows(st, &now);
	st->fallback_link = atomic_read(&fell[AGGNET_FALLBACK_LINK]);
	st->fallback_bloom = atomic_read(&fell[AGGNET_FALLBACK_BLOOM]);
	st->fallback_policy = atomic_read(&fell[AGGNET_FALLBACK_POLICY]);
	st->fallback_round = atomic_read(&fell[AGGNET_FALLBACK_ROUND]);
	st->contributors = tree->conf.contributors;
	st->writers = tree->conf.writers;
	st->function = tree->conf.shape.function;
	st->vtype = tree->conf.shape.vtype;
	st->layout = tree->conf.shape.layout;
	st->scale = tree->conf.shape.scale;
	st->k = tree->conf.shape.k;
	st->elements = tree->conf.shape.elements;
	st->instance = tree->conf.instance;
	st->attempt = tree->conf.attempt;
	memcpy(st->plan, tree->conf.plan, sizeof(st->plan));
	st->persist = tree->conf.persist;
	st->stripe = tree->conf.stripe;
	st->stripes = tree->conf.stripes;
	st->direction = tree->conf.direction;
}

/* A stream's number has no key. */
static void local_check_stream(struct aggnet_tree *tree,
			       struct aggnet_check *check)
{
	const struct aggnet_cast *cast = &tree->store.cast;

	*check = (struct aggnet_check){ .kind = AGGNET_FP_STREAM };
	spin_lock_bh(&tree->lock);
	if (cast->checked && cast->fan.ended) {
		check->whole = 1;
		check->value = cast->check;
	}
	spin_unlock_bh(&tree->lock);
}

void aggnet_tree_check(struct aggnet_tree *tree, struct aggnet_check *check)
{
	if (aggnet_tree_leads_down(tree)) {
		local_check_stream(tree, check);
		return;
	}
	*check = (struct aggnet_check){
		.kind = aggnet_fp_kind(&tree->conf.shape),
	};
	aggnet_fp_key(&tree->conf.key, tree->conf.incast_id,
		      tree->conf.instance, tree->conf.attempt, check->key);
	spin_lock_bh(&tree->lock);
	/* In these states all sources have ended. */
	if (aggnet_tree_is_receiver(tree) && aggnet_tree_is_checked(tree) &&
	    (tree->state == AGGNET_TREE_CLOSING ||
	     tree->state == AGGNET_TREE_DONE)) {
		check->whole = 1;
		check->value = tree->books.check;
	}
	spin_unlock_bh(&tree->lock);
}
