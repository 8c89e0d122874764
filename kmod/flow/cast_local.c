// SPDX-License-Identifier: GPL-2.0
/* Local processes of a tree that leads down: the root's, which writes the stream, and
 * readers.
 */
#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "core/packet.h"
#include "core/tag.h"
#include "flow/cast.h"
#include "flow/channel.h"
#include "flow/local.h"
#include "flow/tree.h"

/* --- the root's process ----------------------------------------------------------- */

/* The stream has all packets that it may have, and more bytes would be an error. */
static bool cast_is_exhausted(const struct aggnet_cast *cast)
{
	return !cast->fan.ended &&
	       aggnet_fanout_cum(&cast->fan) == AGGNET_SEQ_END;
}

bool aggnet_cast_may_write(const struct aggnet_tree *tree)
{
	const struct aggnet_cast *cast = &tree->store.cast;

	/* A write that fails need not wait. */
	return tree->state == AGGNET_TREE_OPEN &&
	       (aggnet_fanout_room(&cast->fan) || cast_is_exhausted(cast));
}

static int cast_write_errno(const struct aggnet_tree *tree)
{
	if (tree->state == AGGNET_TREE_ABORTED)
		return aggnet_reason_errno(tree->outcome.reason);
	if (tree->local.end_read || tree->state == AGGNET_TREE_DONE)
		return -EPIPE;
	/* The present round has ended. */
	return tree->store.cast.fan.ended ? -EAGAIN : 0;
}

static void cast_append(struct aggnet_tree *tree, const u8 *bytes, u32 len)
{
	struct aggnet_cast *cast = &tree->store.cast;
	u32 seq = aggnet_fanout_cum(&cast->fan);
	struct aggnet_data *data = aggnet_cast_body(cast, seq);

	*data = (struct aggnet_data) {
		.seq = cpu_to_be32(seq),
		.represents = cpu_to_be64(cast->bytes),
	};
	memcpy(data + 1, bytes, len);
	len += sizeof(*data);
	*aggnet_cast_packed(cast, seq) = (struct aggnet_packed) {
		.digest = aggnet_digest(&tree->conf.key, data, len),
		.len = len,
	};
	cast->bytes += aggnet_cast_len(cast, seq);
	aggnet_fanout_take(&cast->fan, seq);
}

int aggnet_cast_write(struct aggnet_tree *tree, const u8 *data, size_t len)
{
	struct aggnet_cast *cast = &tree->store.cast;
	__be32 self = aggnet_tree_self(tree);
	struct aggnet_run run;
	size_t done = 0;
	u32 part;
	int err;

	aggnet_run_begin(tree, &run);
	if (len && cast_is_exhausted(cast))
		aggnet_tree_abort(tree, &run, AGGNET_R_PROTOCOL, self, self, 0);
	err = cast_write_errno(tree);
	while (!err && done < len && aggnet_fanout_room(&cast->fan)) {
		part = min_t(size_t, len - done, AGGNET_CAST_PAYLOAD);
		cast_append(tree, data + done, part);
		done += part;
	}
	/* A process that has filled the ring may poll without another write. */
	tree->store.full |= !aggnet_fanout_room(&cast->fan);
	if (done) {
		cast->more = false;
		aggnet_branches_push(tree, &run);
	} else if (!err) {
		err = -EAGAIN;
	}
	aggnet_run_end(tree, &run);
	return done ?: err;
}

void aggnet_cast_finish(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_cast *cast = &tree->store.cast;

	aggnet_fanout_end(&cast->fan, aggnet_fanout_cum(&cast->fan));
	cast->total = cast->bytes;
	tree->last = tree->local.end_read;
	/* The process may have left. */
	if (tree->local.reader)
		tree->local.reader->rounds++;
	aggnet_cast_moved(tree, run);
}

/* From here on the node completes the transfer by itself. */
static void cast_shutdown(struct aggnet_tree *tree, struct aggnet_run *run)
{
	tree->local.end_read = true;
	tree->local.reader->shut = true;
	if (!tree->store.cast.fan.ended)
		aggnet_cast_finish(tree, run);
}

int aggnet_cast_end(struct aggnet_tree *tree, bool last)
{
	struct aggnet_run run;
	int err;

	aggnet_run_begin(tree, &run);
	err = cast_write_errno(tree);
	if (last && tree->state != AGGNET_TREE_ABORTED) {
		cast_shutdown(tree, &run);
		err = 0;
	} else if (!err) {
		aggnet_cast_finish(tree, &run);
	}
	aggnet_run_end(tree, &run);
	return err;
}

int aggnet_cast_set_check(struct aggnet_tree *tree, u64 check)
{
	struct aggnet_cast *cast = &tree->store.cast;
	struct aggnet_run run;
	int err;

	aggnet_run_begin(tree, &run);
	err = cast_write_errno(tree);
	if (!err) {
		cast->checked = true;
		cast->check = check;
	}
	aggnet_run_end(tree, &run);
	return err;
}

/* --- readers ----------------------------------------------------------------------- */

/* Does no round follow the present one, whose end is known? */
static bool cast_is_last(const struct aggnet_tree *tree)
{
	return !tree->conf.persist || tree->last;
}

/* The end mark of the last round stays readable. */
static bool cast_at_end(const struct aggnet_tree *tree,
			const struct aggnet_local *local)
{
	const struct aggnet_cast *cast = &tree->store.cast;

	/* No end mark while another thread copies bytes out: it may fail. */
	return aggnet_fanout_is_whole(&cast->fan) &&
	       local->seq == cast->fan.final && !tree->local.taking &&
	       (cast_is_last(tree) || local->rounds == tree->round);
}

bool aggnet_cast_may_read(const struct aggnet_tree *tree,
			  const struct aggnet_local *local)
{
	return local->seq != aggnet_fanout_cum(&tree->store.cast.fan) ||
	       cast_at_end(tree, local);
}

static int cast_put_end(const struct aggnet_tree *tree, struct aggnet_msg *msg,
			u8 *buf)
{
	const struct aggnet_end end = {
		.sources = 1,
		.of = 1,
		.instance = tree->conf.instance,
		.attempt = tree->conf.attempt,
		.records = tree->store.cast.total,
		.round = tree->round,
		.last = cast_is_last(tree),
	};

	msg->type = AGGNET_MSG_END;
	msg->records = 0;
	memcpy(buf, &end, sizeof(end));
	return sizeof(end);
}

/* Copy bytes from the reader's place on, and move it. Return: bytes */
static u32 cast_take(struct aggnet_tree *tree, struct aggnet_local *at, u8 *buf,
		     size_t len)
{
	const struct aggnet_cast *cast = &tree->store.cast;
	u32 part, used = 0;

	while (used < len && at->seq != aggnet_fanout_cum(&cast->fan)) {
		part = min_t(size_t, aggnet_cast_len(cast, at->seq) - at->off,
			     len - used);
		memcpy(buf + used, (u8 *)(aggnet_cast_body(cast, at->seq) + 1) + at->off,
		       part);
		used += part;
		at->off += part;
		if (at->off == aggnet_cast_len(cast, at->seq)) {
			at->seq++;
			at->off = 0;
		}
	}
	return used;
}

static int cast_read_bytes(struct aggnet_tree *tree, struct aggnet_local *local,
			   struct aggnet_msg *msg, u8 *buf, size_t len, bool peek,
			   struct aggnet_run *run)
{
	struct aggnet_local at = *local;
	u32 used = cast_take(tree, &at, buf, len);

	msg->type = AGGNET_MSG_BYTES;
	msg->records = 0;
	if (peek)
		return used;
	tree->local.taking++;
	swap(local->seq, at.seq);
	local->off = at.off;
	if (at.seq != local->seq)
		aggnet_cast_slide(tree, at.seq, run);
	tree->store.cast.waits |=
		local->seq == aggnet_fanout_cum(&tree->store.cast.fan);
	return used;
}

int aggnet_cast_read(struct aggnet_tree *tree, struct aggnet_local *local,
		     struct aggnet_msg *msg, u8 *buf, size_t len, bool peek)
{
	struct aggnet_run run;
	int ret;

	aggnet_run_begin(tree, &run);
	if (tree->state == AGGNET_TREE_ABORTED)
		ret = aggnet_reason_errno(tree->outcome.reason);
	else if (cast_at_end(tree, local))
		ret = cast_put_end(tree, msg, buf);
	else if (aggnet_cast_may_read(tree, local))
		ret = cast_read_bytes(tree, local, msg, buf, len, peek, &run);
	else
		ret = -EAGAIN;
	aggnet_run_end(tree, &run);
	return ret;
}

int aggnet_cast_take_end(struct aggnet_tree *tree, struct aggnet_local *local,
			 u32 round)
{
	struct aggnet_run run;
	int err = 0;

	aggnet_run_begin(tree, &run);
	if (tree->state == AGGNET_TREE_ABORTED) {
		err = aggnet_reason_errno(tree->outcome.reason);
	} else if (local->rounds == round) {
		local->rounds++;
		local->shut = cast_is_last(tree);
		tree->writers.done++;
		aggnet_tree_advance(tree, &run);
	}
	aggnet_run_end(tree, &run);
	return err;
}
