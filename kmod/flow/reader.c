// SPDX-License-Identifier: GPL-2.0
/* Reader: the receiver's process, which reads the result from the tree. */
#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "core/accum.h"
#include "flow/local.h"
#include "flow/tree.h"

int aggnet_tree_join_reader(struct aggnet_tree *tree,
			    struct aggnet_local *local)
{
	struct aggnet_run run;
	int err = 0;

	aggnet_run_begin(tree, &run);
	if (!aggnet_tree_is_receiver(tree)) {
		err = -EADDRNOTAVAIL;
	} else if (tree->local.reader) {
		err = -EADDRINUSE;
	} else if (tree->local.end_read) {
		err = -EALREADY;
	} else if (tree->state == AGGNET_TREE_ABORTED) {
		err = aggnet_reason_errno(tree->outcome.reason);
	} else {
		tree->local.reader = local;
		list_add_tail(&local->list, &tree->local.list);
		aggnet_tree_touch(tree, &run);
	}
	aggnet_run_end(tree, &run);
	return err;
}

/* Does no round follow the present one, which all sources have ended? */
static bool reader_is_last(const struct aggnet_tree *tree)
{
	return !tree->conf.persist || tree->last;
}

/* Write the end mark, followed by the absent sources, up to AGGNET_ABSENT_MAX. */
static int reader_put_end(const struct aggnet_tree *tree, u8 *buf)
{
	const struct aggnet_tree_conf *conf = &tree->conf;
	u32 named = min_t(u32, conf->nabsent, AGGNET_ABSENT_MAX);
	struct aggnet_end end = {
		.sources = tree->books.weight + aggnet_tree_own_done(tree),
		.of = conf->sources + conf->nabsent,
		.partials = tree->books.partials,
		.instance = conf->instance,
		.attempt = conf->attempt,
		.absent = conf->nabsent,
		.records = tree->books.delivered,
		.round = tree->round,
		.last = reader_is_last(tree),
	};

	memcpy(buf, &end, sizeof(end));
	if (named)
		memcpy(buf + sizeof(end), conf->absent,
		       named * sizeof(__be32));
	return sizeof(end) + named * sizeof(__be32);
}

static int reader_end(struct aggnet_tree *tree, struct aggnet_msg *msg,
		      u8 *buf, struct aggnet_run *run)
{
	const struct aggnet_books *b = &tree->books;

	if (b->delivered != b->records + b->local_records) {
		aggnet_tree_abort(tree, run, AGGNET_R_MISMATCH,
				  aggnet_tree_self(tree), 0, 0);
		return -EBADMSG;
	}
	msg->type = AGGNET_MSG_END;
	msg->records = 0;
	return reader_put_end(tree, buf);
}

bool aggnet_reader_may_read(const struct aggnet_tree *tree)
{
	if (aggnet_tree_keys(tree))
		return tree->store.ops->ready(tree, 1);
	/* No end mark while another thread copies records out: it may fail. */
	return !tree->local.taking && (tree->state == AGGNET_TREE_CLOSING ||
				       tree->state == AGGNET_TREE_DONE);
}

/* Take as many records as one run of the lock may. Return: their bytes */
static u32 reader_take(struct aggnet_tree *tree, u8 *buf, size_t len,
		       u32 *n)
{
	u64 represents;
	u32 used;

	used = tree->store.ops->pack(tree, buf, len,
				     aggnet_accum_reads(&tree->conf.shape), n,
				     &represents);
	tree->books.delivered += represents;
	tree->count.records_out += *n;
	return used;
}

/* Are there more records, for another run of the lock? */
static bool reader_has_more(const struct aggnet_tree *tree, u32 n)
{
	return n == aggnet_accum_reads(&tree->conf.shape) &&
	       tree->state < AGGNET_TREE_DONE && aggnet_tree_keys(tree);
}

/*
 * Each part has its own run of the lock. Only the last run gives out the memory
 * that was freed, so that pressure, which makes the records leave, lasts until
 * then. If the transfer ends in between (another thread may read the rest), the
 * store is freed.
 */
static int reader_records(struct aggnet_tree *tree, struct aggnet_msg *msg,
			  u8 *buf, size_t len, struct aggnet_run *run)
{
	u32 used, n;

	tree->local.taking++;
	used = reader_take(tree, buf, len, &n);
	msg->type = AGGNET_MSG_RECORDS;
	msg->records = n;
	while (reader_has_more(tree, n)) {
		aggnet_run_end(tree, run);
		aggnet_run_begin(tree, run);
		used += reader_take(tree, buf + used, len - used, &n);
		msg->records += n;
	}
	if (tree->state < AGGNET_TREE_DONE)
		tree->store.ops->reclaim(tree, run);
	return used;
}

int aggnet_tree_read(struct aggnet_tree *tree, struct aggnet_msg *msg,
		     u8 *buf, size_t len, bool peek)
{
	struct aggnet_run run;
	int ret;

	aggnet_run_begin(tree, &run);
	if (tree->state == AGGNET_TREE_ABORTED)
		ret = aggnet_reason_errno(tree->outcome.reason);
	else if (!aggnet_reader_may_read(tree))
		ret = -EAGAIN;
	else if (!aggnet_tree_keys(tree))
		ret = reader_end(tree, msg, buf, &run);
	else if (peek)
		ret = -EOPNOTSUPP;
	else
		ret = reader_records(tree, msg, buf, len, &run);
	aggnet_run_end(tree, &run);
	return ret;
}

void aggnet_tree_taken(struct aggnet_tree *tree, bool lost)
{
	__be32 self = READ_ONCE(tree->an->identity);
	struct aggnet_run run;

	aggnet_run_begin(tree, &run);
	if (lost)
		aggnet_tree_abort(tree, &run, AGGNET_R_RECEIVER, self, self, 0);
	if (!--tree->local.taking && !aggnet_tree_keys(tree) &&
	    (aggnet_tree_leads_down(tree) || aggnet_reader_may_read(tree)))
		run.wake = true;
	aggnet_run_end(tree, &run);
}

int aggnet_tree_end(struct aggnet_tree *tree, u32 round)
{
	struct aggnet_run run;
	int err = 0;

	aggnet_run_begin(tree, &run);
	if (tree->state == AGGNET_TREE_ABORTED) {
		err = aggnet_reason_errno(tree->outcome.reason);
	} else if (!tree->local.end_read && tree->round == round) {
		tree->local.end_read = reader_is_last(tree);
		aggnet_tree_done(tree, tree->local.end_read, &run);
	}
	aggnet_run_end(tree, &run);
	return err;
}
