// SPDX-License-Identifier: GPL-2.0
/* Writer: a local process whose records are merged into the tree's buffer. */
#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "core/fingerprint.h"
#include "flow/channel.h"
#include "flow/local.h"
#include "flow/tree.h"

int aggnet_tree_join_writer(struct aggnet_tree *tree,
			    struct aggnet_local *local)
{
	struct aggnet_run run;
	int err = 0;

	aggnet_run_begin(tree, &run);
	if (tree->state >= AGGNET_TREE_DONE) {
		err = tree->state == AGGNET_TREE_DONE ?
		      -EALREADY : aggnet_reason_errno(tree->outcome.reason);
	} else if (!tree->conf.writers) {
		err = -EACCES;
	} else if (tree->writers.joined == tree->conf.writers) {
		err = -EUSERS;
	} else {
		local->run = tree->writers.joined++;
		local->seq = AGGNET_SEQ_FIRST;
		list_add_tail(&local->list, &tree->local.list);
		aggnet_tree_touch(tree, &run);
	}
	aggnet_run_end(tree, &run);
	return err;
}

/*
 * As many complete records of the front as one packet can hold. Return: their bytes
 */
static u32 writer_batch(const struct aggnet_tree *tree, const u8 *data,
			size_t len, u32 records, u32 *n)
{
	u32 max = tree->packet.max_records;
	u32 used = 0;
	u32 size;

	for (*n = 0; *n < records && *n < max; ++*n) {
		size = 2 + data[used] + data[used + 1];
		if (used + size > min_t(size_t, len, tree->packet.max_taken))
			break;
		used += size;
	}
	return used;
}

/* May the writer write, if there is room? Return: 0, -EAGAIN: later, or an errno */
static int writer_errno(const struct aggnet_tree *tree,
			const struct aggnet_local *local)
{
	if (tree->state == AGGNET_TREE_ABORTED)
		return aggnet_reason_errno(tree->outcome.reason);
	if (local->shut || tree->state == AGGNET_TREE_DONE)
		return -EPIPE;
	/* Its part of the present round has ended. */
	if (local->rounds != tree->round)
		return -EAGAIN;
	return tree->state == AGGNET_TREE_OPEN ? 0 : -EPIPE;
}

bool aggnet_writer_may_write(const struct aggnet_tree *tree,
			     const struct aggnet_local *local)
{
	return !writer_errno(tree, local);
}

/* Emit records that new ones, or the end of a writer, made ready. */
static void writer_moved(struct aggnet_tree *tree, struct aggnet_run *run)
{
	if (tree->state >= AGGNET_TREE_DONE)
		return;
	tree->store.ops->moved(tree, run);
	if (aggnet_tree_may_emit(tree))
		aggnet_uplink_push(tree, run);
}

/* Write at most one packet of records. Return: their bytes, or an errno */
static int writer_write(struct aggnet_tree *tree, struct aggnet_local *local,
			struct aggnet_run *run, const u8 *data, size_t len,
			u32 records, u32 *n)
{
	u32 room, used;
	int err;

	err = writer_errno(tree, local);
	if (err)
		return err;
	room = tree->store.ops->room(tree, local, false, run);
	if (!room)
		return -EAGAIN;
	used = writer_batch(tree, data, min_t(size_t, len, room), records, n);
	err = tree->store.ops->write(tree, local, data, used, *n, run);
	if (err)
		return err;
	tree->books.local_records += *n;
	local->gave = true;
	return used;
}

/* Each packet of records has its own run of the lock. */
int aggnet_tree_write(struct aggnet_tree *tree, struct aggnet_local *local,
		      const u8 *data, size_t len, u32 records)
{
	struct aggnet_run run;
	size_t done = 0;
	int ret = 0;
	u32 n = 0;

	while (records) {
		aggnet_run_begin(tree, &run);
		ret = writer_write(tree, local, &run, data + done, len - done,
				   records, &n);
		writer_moved(tree, &run);
		aggnet_run_end(tree, &run);
		if (ret < 0)
			break;
		records -= n;
		done += ret;
	}
	return done ?: ret;
}

/* Add the fingerprint of a writer; that of a writer without records is 0. */
static void writer_check(struct aggnet_tree *tree,
			 const struct aggnet_local *local)
{
	struct aggnet_books *b = &tree->books;

	b->unchecked |= local->gave && !local->checked;
	b->check = aggnet_fp_add(aggnet_fp_kind(&tree->conf.shape), b->check,
				 local->check);
}

int aggnet_tree_set_check(struct aggnet_tree *tree, struct aggnet_local *local,
			  u64 check)
{
	int err;

	spin_lock_bh(&tree->lock);
	err = writer_errno(tree, local);
	if (!err && aggnet_fp_kind(&tree->conf.shape) == AGGNET_FP_NONE)
		err = -EOPNOTSUPP;
	if (!err) {
		local->checked = true;
		local->check = check;
	}
	spin_unlock_bh(&tree->lock);
	return err;
}

/* The writer's part of the present round has ended. */
static void writer_end(struct aggnet_tree *tree, struct aggnet_local *local)
{
	local->rounds++;
	tree->writers.done++;
	tree->last |= local->shut;
	writer_check(tree, local);
	local->gave = false;
	local->checked = false;
	local->check = 0;
	tree->store.ops->shut(tree, local);
}

/* A writer that shut down while the last round was not done ends this one, too. */
void aggnet_writers_next_round(struct aggnet_tree *tree)
{
	struct aggnet_local *local;

	tree->writers.done = tree->writers.gone;
	tree->last |= tree->writers.gone;
	list_for_each_entry(local, &tree->local.list, list)
		if (local->shut)
			writer_end(tree, local);
}

int aggnet_tree_end_round(struct aggnet_tree *tree, struct aggnet_local *local)
{
	struct aggnet_run run;
	int err;

	aggnet_run_begin(tree, &run);
	err = writer_errno(tree, local);
	if (!err) {
		writer_end(tree, local);
		aggnet_tree_advance(tree, &run);
		writer_moved(tree, &run);
	}
	aggnet_run_end(tree, &run);
	return err;
}

/*
 * A writer that has ended its part of the present round gives nothing to the next
 * one. If there is none, because another source has shut down, all has been said.
 */
int aggnet_tree_shutdown(struct aggnet_tree *tree, struct aggnet_local *local)
{
	struct aggnet_run run;
	int err;

	aggnet_run_begin(tree, &run);
	err = local->shut || tree->state == AGGNET_TREE_DONE ?
	      0 : writer_errno(tree, local);
	if (!err && !local->shut && tree->state == AGGNET_TREE_OPEN) {
		local->shut = true;
		writer_end(tree, local);
		aggnet_tree_advance(tree, &run);
		writer_moved(tree, &run);
	} else if (!err || err == -EAGAIN) {
		local->shut = true;
		err = 0;
	}
	aggnet_run_end(tree, &run);
	return err;
}
