// SPDX-License-Identifier: GPL-2.0
/* Local members of a tree: writers merge into its buffer, the reader of a
 * receiver takes the result out of it.
 */
#include <linux/poll.h>
#include <linux/skbuff.h>

#include "core/accum.h"
#include "ctl/socket.h"
#include "flow/channel.h"
#include "flow/sorted.h"
#include "flow/tree.h"

int aggnet_tree_join_writer(struct aggnet_tree *tree, struct aggnet_sock *as)
{
	struct sk_buff_head out;
	int err = 0;

	aggnet_tree_lock(tree, &out);
	if (tree->state >= AGGNET_TREE_DONE) {
		err = tree->state == AGGNET_TREE_DONE ?
		      -EALREADY : aggnet_reason_errno(tree->reason);
	} else if (!tree->conf.writers) {
		err = -EACCES;
	} else if (tree->writers_joined == tree->conf.writers) {
		err = -EUSERS;
	} else {
		as->run = tree->writers_joined++;
		list_add_tail(&as->list, &tree->socks);
		aggnet_tree_touch(tree, &out);
	}
	aggnet_tree_unlock(tree, &out);
	return err;
}

int aggnet_tree_join_reader(struct aggnet_tree *tree, struct aggnet_sock *as)
{
	struct sk_buff_head out;
	int err = 0;

	aggnet_tree_lock(tree, &out);
	if (!aggnet_tree_is_receiver(tree)) {
		err = -EADDRNOTAVAIL;
	} else if (tree->reader || tree->end_read) {
		err = -EADDRINUSE;
	} else if (tree->state == AGGNET_TREE_ABORTED) {
		err = aggnet_reason_errno(tree->reason);
	} else {
		tree->reader = as;
		list_add_tail(&as->list, &tree->socks);
		aggnet_tree_touch(tree, &out);
	}
	aggnet_tree_unlock(tree, &out);
	return err;
}

/*
 * The longest run of whole records at the front that the room for one packet
 * will take. Return: its bytes.
 */
static u32 local_batch(const struct aggnet_tree *tree, const u8 *data,
		       size_t len, u32 records, u32 *n)
{
	u32 max = tree->max_records;
	u32 used = 0;
	u32 size;

	for (*n = 0; *n < records && *n < max; ++*n) {
		size = 2 + data[used] + data[used + 1];
		if (used + size > min_t(size_t, len, tree->max_taken))
			break;
		used += size;
	}
	return used;
}

static int local_writable(const struct aggnet_tree *tree,
			  const struct aggnet_sock *as)
{
	if (tree->state == AGGNET_TREE_ABORTED)
		return aggnet_reason_errno(tree->reason);
	return tree->state == AGGNET_TREE_OPEN && !as->shut ? 0 : -EPIPE;
}

/*
 * Is there room for a record of any size? Return: for how many bytes a sorted
 * tree has it, else for a packet; 0: there is none
 */
static u32 local_room(struct aggnet_tree *tree, const struct aggnet_sock *as)
{
	u32 room;

	if (aggnet_tree_sorted(tree)) {
		room = aggnet_runs_space(&tree->runs, as->run);
		tree->run_full |= !room;
		return room;
	}
	if (aggnet_tree_room(tree, 1) >= tree->chunks_per_packet)
		return AGGNET_PAYLOAD_MAX;
	aggnet_tree_press(tree, true);
	return 0;
}

static int local_merge(struct aggnet_tree *tree, const struct aggnet_sock *as,
		       const u8 *data, u32 len, u32 records)
{
	if (aggnet_tree_sorted(tree))
		return aggnet_sorted_write(tree, as->run, data, len, records);
	aggnet_tree_merge(tree, data, records, records, true);
	return 0;
}

/* Records came or ended: on with them. What has ended holds none. */
static void local_moved(struct aggnet_tree *tree, struct sk_buff_head *out)
{
	if (tree->state >= AGGNET_TREE_DONE)
		return;
	if (aggnet_tree_sorted(tree))
		aggnet_sorted_moved(tree, out);
	if (aggnet_tree_may_emit(tree))
		aggnet_uplink_push(tree, out);
}

/* As many records as a packet has at most. Return: their bytes, or an errno */
static int local_write(struct aggnet_tree *tree, const struct aggnet_sock *as,
		       const u8 *data, size_t len, u32 records, u32 *n)
{
	u32 room, used;
	int err;

	err = local_writable(tree, as);
	if (err)
		return err;
	room = local_room(tree, as);
	if (!room)
		return -EAGAIN;
	used = local_batch(tree, data, min_t(size_t, len, room), records, n);
	err = local_merge(tree, as, data, used, *n);
	if (err)
		return err;
	tree->local_records += *n;
	return used;
}

/* Each packet's worth of records has its own run of the lock. */
int aggnet_tree_write(struct aggnet_tree *tree, const struct aggnet_sock *as,
		      const u8 *data, size_t len, u32 records)
{
	struct sk_buff_head out;
	size_t done = 0;
	int ret = 0;
	u32 n = 0;

	while (records) {
		aggnet_tree_lock(tree, &out);
		ret = local_write(tree, as, data + done, len - done, records,
				  &n);
		local_moved(tree, &out);
		aggnet_tree_unlock(tree, &out);
		if (ret < 0)
			break;
		records -= n;
		done += ret;
	}
	return done ?: ret;
}

int aggnet_tree_shutdown(struct aggnet_tree *tree, struct aggnet_sock *as)
{
	struct sk_buff_head out;
	int err;

	aggnet_tree_lock(tree, &out);
	err = as->shut ? 0 : local_writable(tree, as);
	if (!err && !as->shut) {
		as->shut = true;
		tree->writers_done++;
		if (aggnet_tree_sorted(tree))
			aggnet_runs_finish(&tree->runs, as->run);
		aggnet_tree_advance(tree, &out);
		local_moved(tree, &out);
	}
	aggnet_tree_unlock(tree, &out);
	return err;
}

/* The end mark, and behind it the absent sources that it has room for. */
static int local_put_end(const struct aggnet_tree *tree, u8 *buf)
{
	const struct aggnet_tree_conf *conf = &tree->conf;
	u32 named = min_t(u32, conf->nabsent, AGGNET_ABSENT_MAX);
	struct aggnet_end end = {
		.sources = tree->weight + aggnet_tree_own_done(tree),
		.of = conf->sources + conf->nabsent,
		.partials = tree->partials,
		.instance = conf->instance,
		.attempt = conf->attempt,
		.absent = conf->nabsent,
		.records = tree->delivered,
	};

	memcpy(buf, &end, sizeof(end));
	if (named)
		memcpy(buf + sizeof(end), conf->absent,
		       named * sizeof(__be32));
	return sizeof(end) + named * sizeof(__be32);
}

static int local_read_end(struct aggnet_tree *tree, struct aggnet_msg *msg,
			  u8 *buf, struct sk_buff_head *out)
{
	if (tree->delivered != tree->records + tree->local_records) {
		aggnet_tree_abort(tree, out, AGGNET_R_MISMATCH,
				  aggnet_tree_self(tree), 0, 0);
		return -EBADMSG;
	}
	msg->type = AGGNET_MSG_END;
	msg->records = 0;
	return local_put_end(tree, buf);
}

static bool local_readable(const struct aggnet_tree *tree)
{
	/* Another thread may still fail to copy out what it has read. */
	if (tree->taking && !aggnet_tree_keys(tree))
		return false;
	if (aggnet_tree_sorted(tree) && aggnet_tree_keys(tree))
		return tree->runs.ready;
	return tree->state == AGGNET_TREE_CLOSING ||
	       tree->state == AGGNET_TREE_DONE ||
	       (tree->pressure && tree->table.keys) ||
	       aggnet_table_ripe(&tree->table);
}

/* What one run of the lock may take. Return: its bytes */
static u32 local_read_part(struct aggnet_tree *tree, u8 *buf, size_t len,
			   u32 *n)
{
	u64 represents;
	u32 used;

	used = aggnet_tree_pack(tree, buf, len,
				aggnet_accum_reads(&tree->conf.shape), n,
				&represents);
	tree->delivered += represents;
	tree->records_out += *n;
	return used;
}

/* Is there a record that another run of the lock may take? */
static bool local_has_more(const struct aggnet_tree *tree, u32 n)
{
	return n == aggnet_accum_reads(&tree->conf.shape) &&
	       tree->state < AGGNET_TREE_DONE && aggnet_tree_keys(tree);
}

/*
 * Each part has its own run of the lock. The memory that they free is given out
 * by the last: until then, what made the records leave lasts. A transfer that
 * ends in between, also as another thread reads the rest, has none any more.
 */
static int local_read_records(struct aggnet_tree *tree, struct aggnet_msg *msg,
			      u8 *buf, size_t len, struct sk_buff_head *out)
{
	u32 used, n;

	tree->taking++;
	used = local_read_part(tree, buf, len, &n);
	msg->type = AGGNET_MSG_RECORDS;
	msg->records = n;
	while (local_has_more(tree, n)) {
		aggnet_tree_unlock(tree, out);
		aggnet_tree_lock(tree, out);
		used += local_read_part(tree, buf + used, len - used, &n);
		msg->records += n;
	}
	if (tree->state < AGGNET_TREE_DONE)
		aggnet_tree_reclaim(tree, out);
	return used;
}

int aggnet_tree_read(struct aggnet_tree *tree, struct aggnet_msg *msg,
		     u8 *buf, size_t len, bool peek)
{
	struct sk_buff_head out;
	int ret;

	aggnet_tree_lock(tree, &out);
	if (tree->state == AGGNET_TREE_ABORTED)
		ret = aggnet_reason_errno(tree->reason);
	else if (!local_readable(tree))
		ret = -EAGAIN;
	else if (!aggnet_tree_keys(tree))
		ret = local_read_end(tree, msg, buf, &out);
	else if (peek)
		ret = -EOPNOTSUPP;
	else
		ret = local_read_records(tree, msg, buf, len, &out);
	aggnet_tree_unlock(tree, &out);
	return ret;
}

void aggnet_tree_taken(struct aggnet_tree *tree, bool lost)
{
	__be32 self = READ_ONCE(tree->an->identity);
	struct sk_buff_head out;

	aggnet_tree_lock(tree, &out);
	if (lost)
		aggnet_tree_abort(tree, &out, AGGNET_R_RECEIVER, self, self, 0);
	if (!--tree->taking && !aggnet_tree_keys(tree) && local_readable(tree))
		aggnet_socket_wake(tree);
	aggnet_tree_unlock(tree, &out);
}

int aggnet_tree_end(struct aggnet_tree *tree)
{
	struct sk_buff_head out;
	int err = 0;

	aggnet_tree_lock(tree, &out);
	if (tree->state == AGGNET_TREE_ABORTED) {
		err = aggnet_reason_errno(tree->reason);
	} else if (!tree->end_read) {
		tree->end_read = true;
		aggnet_tree_done(tree, &out);
	}
	aggnet_tree_unlock(tree, &out);
	return err;
}

void aggnet_tree_leave(struct aggnet_tree *tree, struct aggnet_sock *as)
{
	__be32 self = READ_ONCE(tree->an->identity);
	struct sk_buff_head out;

	aggnet_tree_lock(tree, &out);
	list_del_init(&as->list);
	if (tree->reader == as) {
		tree->reader = NULL;
		if (!tree->end_read)
			aggnet_tree_abort(tree, &out, AGGNET_R_RECEIVER, self,
					  self, 0);
	} else if (!as->shut) {
		aggnet_tree_abort(tree, &out, AGGNET_R_SENDER, self, self, 0);
	}
	aggnet_tree_unlock(tree, &out);
}

void aggnet_tree_abort_user(struct aggnet_tree *tree, enum aggnet_reason why)
{
	__be32 self = READ_ONCE(tree->an->identity);
	struct sk_buff_head out;

	aggnet_tree_lock(tree, &out);
	aggnet_tree_abort(tree, &out, why, self, self, 0);
	aggnet_tree_unlock(tree, &out);
}

int aggnet_tree_outcome(struct aggnet_tree *tree)
{
	int outcome = 0;

	spin_lock_bh(&tree->lock);
	if (tree->state == AGGNET_TREE_DONE)
		outcome = 1;
	else if (tree->state == AGGNET_TREE_ABORTED)
		outcome = aggnet_reason_errno(tree->reason);
	spin_unlock_bh(&tree->lock);
	return outcome;
}

/* Is it worth it to write? If not, the writer waits for room: ask for some. */
static bool local_goes_on(struct aggnet_tree *tree,
			  const struct aggnet_sock *as,
			  struct sk_buff_head *out)
{
	if (aggnet_tree_sorted(tree))
		return aggnet_sorted_writable(tree, as->run);
	if (local_room(tree, as))
		return true;
	if (aggnet_tree_may_emit(tree))
		aggnet_uplink_push(tree, out);
	return false;
}

__poll_t aggnet_tree_poll(struct aggnet_tree *tree, struct aggnet_sock *as)
{
	struct sk_buff_head out;
	__poll_t mask = 0;

	aggnet_tree_lock(tree, &out);
	if (tree->state == AGGNET_TREE_ABORTED)
		mask = EPOLLERR | EPOLLHUP | EPOLLIN | EPOLLOUT;
	else if (tree->reader == as)
		mask = local_readable(tree) ? EPOLLIN | EPOLLRDNORM : 0;
	else if (tree->state == AGGNET_TREE_DONE)
		mask = EPOLLIN | EPOLLRDNORM | EPOLLRDHUP | EPOLLHUP;
	else if (!as->shut && local_goes_on(tree, as, &out))
		mask = EPOLLOUT | EPOLLWRNORM;
	aggnet_tree_unlock(tree, &out);
	return mask;
}

void aggnet_tree_status(struct aggnet_tree *tree, struct aggnet_status *st)
{
	memset(st, 0, sizeof(*st));
	spin_lock_bh(&tree->lock);
	st->state = tree->state;
	st->reason = tree->reason;
	st->origin = tree->origin;
	st->about = tree->about;
	st->missing = tree->missing;
	if (tree->state == AGGNET_TREE_ABORTED) {
		st->names = tree->lost.n;
		memcpy(st->name, tree->lost.id, sizeof(st->name));
	}
	spin_unlock_bh(&tree->lock);
	st->function = tree->conf.shape.function;
	st->vtype = tree->conf.shape.vtype;
	st->layout = tree->conf.shape.layout;
	st->scale = tree->conf.shape.scale;
	st->k = tree->conf.shape.k;
	st->elements = tree->conf.shape.elements;
	st->instance = tree->conf.instance;
	st->attempt = tree->conf.attempt;
	memcpy(st->plan, tree->conf.plan, sizeof(st->plan));
}
