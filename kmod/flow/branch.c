// SPDX-License-Identifier: GPL-2.0
/* Branch: the channel down to one child, by which the packets in the ring leave. */
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "core/packet.h"
#include "flow/cast.h"
#include "flow/channel.h"
#include "flow/host.h"
#include "flow/timers.h"
#include "flow/tree.h"

#define BRANCH_SCAN	256	/* branches that one run serves */
#define BRANCH_LOOK	4096	/* branches that one run of the timer checks */
#define BRANCH_SOON_US	1000u	/* to continue with the others */
#define BRANCH_NEVER_US	U32_MAX

/* Has this run of the lock made as many packets as it may? */
static bool branch_run_full(const struct aggnet_run *run)
{
	return skb_queue_len(&run->packets) >= AGGNET_BURST;
}

static void branch_send(struct aggnet_tree *tree, const struct aggnet_branch *b,
			u8 type, u16 flags, const void *body, u16 length,
			const u64 *digest, struct aggnet_run *run)
{
	struct aggnet_pkt pkt = {
		.type = type,
		.flags = AGGNET_F_DOWN | flags,
		.hop = AGGNET_HOP_MAX,
		.length = length,
		.dst = b->child->id,
		.src_nonce = b->child->cookie,
		.dst_nonce = b->child->nonce,
		.stamp = aggnet_clock_us(),
		.round = tree->round,
	};

	aggnet_host_make(tree, run, &pkt, body, digest, AGGNET_WAY_DIRECT);
}

static void branch_transmit(struct aggnet_tree *tree,
			    const struct aggnet_branch *b, u32 seq, u16 flags,
			    struct aggnet_run *run)
{
	const struct aggnet_packed *packed = aggnet_cast_packed(&tree->store.cast, seq);

	branch_send(tree, b, AGGNET_DATA, flags,
		    aggnet_cast_body(&tree->store.cast, seq), packed->len,
		    &packed->digest, run);
}

static void branch_resend(struct aggnet_tree *tree, struct aggnet_branch *b,
			  u32 seq, struct aggnet_run *run)
{
	aggnet_sender_resent(&b->sender, seq, aggnet_clock_us());
	aggnet_sender_ask(&b->sender, seq);
	branch_transmit(tree, b, seq, AGGNET_F_REXMIT | AGGNET_F_ACK, run);
	aggnet_stat_inc(tree->an, tx_retransmits);
	tree->count.rexmits++;
}

/*
 * Must the packet that was made last ask for an ACK? One that others follow at once
 * need not.
 */
static bool branch_asks(const struct aggnet_cast *cast,
			const struct aggnet_sender *s)
{
	return aggnet_sender_wants_ack(s) ||
	       (s->nxt == aggnet_fanout_cum(&cast->fan) && !cast->more);
}

static void branch_add(struct aggnet_tree *tree, struct aggnet_branch *b,
		       struct aggnet_run *run)
{
	struct aggnet_cast *cast = &tree->store.cast;
	u32 seq = aggnet_sender_add(&b->sender, aggnet_clock_us());
	bool asks = branch_asks(cast, &b->sender);

	if (asks)
		aggnet_sender_ask(&b->sender, seq);
	branch_transmit(tree, b, seq, asks ? AGGNET_F_ACK : 0, run);
	tree->count.packets_out++;
	tree->count.bytes_out += aggnet_cast_len(cast, seq);
}

static void branch_send_fin(struct aggnet_tree *tree, struct aggnet_branch *b,
			    struct aggnet_run *run)
{
	const struct aggnet_cast *cast = &tree->store.cast;
	const struct aggnet_fin fin = {
		.final = cpu_to_be32(cast->fan.final),
		.records = cpu_to_be64(cast->total),
		.check = cpu_to_be64(cast->check),
	};
	u16 flags = cast->checked ? AGGNET_F_CHECK : 0;

	if (tree->conf.persist && tree->last)
		flags |= AGGNET_F_LAST;
	b->fin = true;
	b->fin_us = aggnet_clock_us();
	branch_send(tree, b, AGGNET_FIN, flags, &fin, sizeof(fin), NULL, run);
}

/* Is something under way to the child that it has not acknowledged? */
static bool branch_is_busy(const struct aggnet_branch *b)
{
	return !aggnet_sender_all_acked(&b->sender) || (b->fin && !b->told);
}

/* Microseconds until the timer is to look at the child. */
static u32 branch_left(const struct aggnet_branch *b)
{
	u32 age, rto;

	if (!aggnet_sender_all_acked(&b->sender))
		return aggnet_sender_rto_left(&b->sender, aggnet_clock_us());
	if (!branch_is_busy(b))
		return BRANCH_NEVER_US;
	age = aggnet_clock_us() - b->fin_us;
	rto = aggnet_rtt_rto(&b->sender.rtt);
	return age < rto ? rto - age : 0;
}

static void branch_arm(struct aggnet_tree *tree, const struct aggnet_branch *b)
{
	u32 us = branch_left(b);

	if (us == BRANCH_NEVER_US)
		return;
	tree->store.cast.busy = true;
	aggnet_timers_branches(tree, us);
}

/* Return: false: packets that are lost must wait, and so must new ones */
static bool branch_resend_lost(struct aggnet_tree *tree, struct aggnet_branch *b,
			       struct aggnet_run *run)
{
	u32 seq = b->sender.una;

	for (; aggnet_sender_find_lost(&b->sender, &seq); seq++) {
		if (branch_run_full(run) || !aggnet_sender_may_resend(&b->sender))
			return false;
		branch_resend(tree, b, seq, run);
	}
	return true;
}

/* Send to a child what it may get, as long as this run may make packets. */
static void branch_push(struct aggnet_tree *tree, struct aggnet_branch *b,
			struct aggnet_run *run)
{
	const struct aggnet_fanout *fan = &tree->store.cast.fan;
	struct aggnet_sender *s = &b->sender;

	if (!branch_is_busy(b))
		b->moved = jiffies;
	if (branch_resend_lost(tree, b, run))
		while (!branch_run_full(run) && s->nxt != aggnet_fanout_cum(fan) &&
		       aggnet_sender_may_add(s))
			branch_add(tree, b, run);
	if (fan->ended && s->nxt == fan->final && !b->fin && !branch_run_full(run))
		branch_send_fin(tree, b, run);
	branch_arm(tree, b);
}

/* Serve the branches that are left, as many as one run may. */
void aggnet_branches_go_on(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_cast *cast = &tree->store.cast;
	u32 n = BRANCH_SCAN;

	for (; cast->todo && n; n--) {
		branch_push(tree, &cast->branch[cast->next], run);
		/* The next run begins with this one: it may have more to get. */
		if (branch_run_full(run))
			return;
		if (++cast->next >= cast->bound)
			cast->next = 0;
		cast->todo--;
	}
}

void aggnet_branches_push(struct aggnet_tree *tree, struct aggnet_run *run)
{
	tree->store.cast.todo = tree->store.cast.bound;
	aggnet_branches_go_on(tree, run);
}

/* Serve one child; if there is more for it than one run may send, all in turn. */
static void branch_push_one(struct aggnet_tree *tree, struct aggnet_branch *b,
			    struct aggnet_run *run)
{
	branch_push(tree, b, run);
	if (branch_run_full(run))
		tree->store.cast.todo = tree->store.cast.bound;
}

void aggnet_branch_ack(struct aggnet_tree *tree, const struct aggnet_child *c,
		       const struct aggnet_pkt *pkt, bool fresh,
		       struct aggnet_run *run)
{
	const struct aggnet_ack *ack = (const void *)pkt->body;
	struct aggnet_cast *cast = &tree->store.cast;
	struct aggnet_branch *b;
	u32 una, rtt = 0;

	if (tree->state >= AGGNET_TREE_DONE || c->run >= cast->bound)
		return;
	b = &cast->branch[c->run];
	if (!aggnet_tree_takes_ack(tree, &b->sender, ack))
		return;
	if (fresh && pkt->echo)
		rtt = max(aggnet_clock_us() - pkt->echo, 1u);
	una = b->sender.una;
	aggnet_sender_ack(&b->sender, ack, rtt, aggnet_clock_us());
	b->told |= b->fin && pkt->flags & AGGNET_F_FIN;
	if (b->sender.una != una) {
		b->moved = jiffies;
		aggnet_cast_slide(tree, una, run);
	}
	branch_push_one(tree, b, run);
}

/* --- the timer ------------------------------------------------------------------ */

static bool branch_gave_up(const struct aggnet_tree *tree,
			   const struct aggnet_branch *b)
{
	return branch_is_busy(b) &&
	       time_after(jiffies, b->moved +
			  msecs_to_jiffies(tree->conf.give_up_ms));
}

/* Repeat what is overdue. */
static void branch_expired(struct aggnet_tree *tree, struct aggnet_branch *b,
			   struct aggnet_run *run)
{
	struct aggnet_sender *s = &b->sender;

	if (branch_left(b))
		return;
	if (aggnet_sender_all_acked(s)) {
		aggnet_rtt_backoff(&s->rtt);
		branch_send_fin(tree, b, run);
		return;
	}
	if (aggnet_sender_expired(s, aggnet_clock_us()))
		branch_resend(tree, b, s->una, run);
	branch_push_one(tree, b, run);
}

void aggnet_branches_expired(struct aggnet_tree *tree, struct aggnet_run *run)
{
	struct aggnet_cast *cast = &tree->store.cast;
	u32 us = BRANCH_NEVER_US, n;
	struct aggnet_branch *b;
	bool first;

	if (tree->state >= AGGNET_TREE_DONE)
		return;
	first = !cast->look;
	cast->busy &= !first;
	n = min_t(u32, cast->bound - cast->look, BRANCH_LOOK);
	for (; n && !branch_run_full(run); n--) {
		b = &cast->branch[cast->look++];
		if (branch_gave_up(tree, b)) {
			aggnet_tree_abort(tree, run, AGGNET_R_TIMEOUT,
					  aggnet_tree_self(tree), b->child->id,
					  0);
			return;
		}
		branch_expired(tree, b, run);
		cast->busy |= branch_is_busy(b);
		us = min(us, branch_left(b));
	}
	/* Others may be overdue, too; and those of the runs before, again. */
	if (cast->look < cast->bound || (!first && cast->busy))
		us = min(us, BRANCH_SOON_US);
	if (cast->look == cast->bound)
		cast->look = 0;
	if (us != BRANCH_NEVER_US)
		aggnet_timers_branches(tree, us);
}
