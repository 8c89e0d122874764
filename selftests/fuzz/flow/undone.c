// SPDX-License-Identifier: GPL-2.0
/* Check what a run of a tree's lock leaves: no socket, child or packet waits for
 * what is there, and the counts of children are right. A timer would hide it.
 */
#include <linux/poll.h>
#include <linux/skbuff.h>

#include "flow/channel.h"
#include "flow/store.h"
#include "world.h"

#define SLOTS_MAX	64	/* of children; others are served in parts */

static void check_reader(struct node *n)
{
	static bool inside;
	__poll_t mask;

	/* This is a run of the lock, too. */
	if (!n->reader_waits || inside)
		return;
	inside = true;
	mask = aggnet_tree_poll(n->tree, &n->reader);
	inside = false;
	INSIST(!(mask & EPOLLIN), "the reader was not woken");
}

/*
 * A DATA may take less than its credit. A child that waits gets what is left at
 * once, a writer when it asks or when chunks come free.
 */
static bool table_has_room(const struct node *n)
{
	const struct aggnet_child waiting = {};

	return n->tree->store.table.free > n->free &&
	       n->tree->store.ops->fits(n->tree, &waiting);
}

static bool has_room(const struct node *n)
{
	if (n->tree->store.ops == &aggnet_store_runs)
		return aggnet_runs_slack(&n->tree->store.runs, n->writer.run);
	return table_has_room(n);
}

static void check_writer(const struct node *n)
{
	INSIST(!n->writer_waits ||
	       !aggnet_writer_may_write(n->tree, &n->writer) || !has_room(n),
	       "a writer was not woken");
}

static void check_children(const struct node *n)
{
	const struct aggnet_tree *tree = n->tree;
	u32 bound = 0, starved = 0, credits = 0, i;
	const struct aggnet_child *c;

	if (tree->acceptor.mask >= SLOTS_MAX)
		return;
	for (i = 0; i <= tree->acceptor.mask; i++) {
		c = &tree->acceptor.child[i];
		if (!c->id)
			continue;
		bound += !c->left && c->rounds == tree->round;
		starved += c->waits_for_credit;
		credits += c->credit - AGGNET_SEQ_FIRST - c->received;
		INSIST(!c->waits_for_credit || tree->acceptor.unfed ||
		       !tree->store.ops->fits(tree, c),
		       "a child waits for credit that is there");
	}
	INSIST(bound == tree->acceptor.bound &&
	       starved == tree->acceptor.waits_for_credit &&
	       credits == tree->acceptor.credits, "children are not counted");
}

/* With nothing under way no ACK comes that would send it. */
static void check_uplink(const struct aggnet_tree *tree)
{
	const struct aggnet_uplink *up = &tree->up;

	if (up->state != AGGNET_UP_BOUND ||
	    !aggnet_sender_all_acked(&up->sender) || up->stopped)
		return;
	INSIST(!aggnet_tree_may_emit(tree) ||
	       !aggnet_before(up->sender.nxt, up->sender.credit),
	       "a packet waits for nothing");
	INSIST(tree->state != AGGNET_TREE_CLOSING || aggnet_tree_keys(tree) ||
	       up->fin, "the FIN waits for nothing");
}

void world_ran(struct aggnet_tree *tree)
{
	struct node *node = container_of(tree->an, struct node, an);

	if (tree != node->tree || node->reading || tree->dead ||
	    tree->conf.forward_only ||
	    tree->state == AGGNET_TREE_IDLE || tree->state >= AGGNET_TREE_DONE)
		return;
	check_reader(node);
	check_writer(node);
	check_children(node);
	check_uplink(tree);
	node->free = tree->store.table.free;
}
