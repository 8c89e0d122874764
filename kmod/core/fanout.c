// SPDX-License-Identifier: GPL-2.0
/* Fan-out: the window of a stream at a node that serves several. */
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>

#include "core/fanout.h"

#define FANOUT_MAX	4096	/* packets; more of them would be history only */

void aggnet_fanout_init(struct aggnet_fanout *f, u32 slots)
{
	*f = (struct aggnet_fanout) {
		.first = AGGNET_SEQ_FIRST,
		.top = AGGNET_SEQ_FIRST,
		.granted = AGGNET_SEQ_FIRST,
		.slots = slots,
	};
	aggnet_rxwin_init(&f->win, AGGNET_SEQ_FIRST);
}

u32 aggnet_fanout_fit(u64 bytes, u32 each)
{
	u32 fit = (u32)min_t(u64, bytes, S32_MAX) / each;

	if (fit < AGGNET_FANOUT_MIN)
		return 0;
	return min_t(u32, rounddown_pow_of_two(fit), FANOUT_MAX);
}

u32 aggnet_fanout_room(const struct aggnet_fanout *f)
{
	if (f->ended)
		return 0;
	return min(f->slots - (f->win.cum - f->first),
		   AGGNET_SEQ_END - f->win.cum);
}

enum aggnet_seq aggnet_fanout_test(const struct aggnet_fanout *f, u32 seq)
{
	enum aggnet_seq verdict = aggnet_rxwin_test(&f->win, seq);

	if (verdict != AGGNET_SEQ_NEW)
		return verdict;
	if (!aggnet_before(seq, f->first + f->slots) ||
	    seq - AGGNET_SEQ_FIRST >= AGGNET_SEQ_END - AGGNET_SEQ_FIRST ||
	    (f->ended && !aggnet_before(seq, f->final)))
		return AGGNET_SEQ_OUTSIDE;
	return AGGNET_SEQ_NEW;
}

void aggnet_fanout_take(struct aggnet_fanout *f, u32 seq)
{
	aggnet_rxwin_mark(&f->win, seq);
	if (aggnet_before(f->top, seq + 1))
		f->top = seq + 1;
}

void aggnet_fanout_slide(struct aggnet_fanout *f, u32 least)
{
	if (aggnet_before(f->first, least))
		f->first = least;
}

/* An ACK covers a window of packets, and its bitmap begins behind the first hole. */
u32 aggnet_fanout_credit(const struct aggnet_fanout *f)
{
	return f->win.cum + min(f->first + f->slots - f->win.cum,
				AGGNET_WINDOW - 1u);
}

bool aggnet_fanout_owes(const struct aggnet_fanout *f)
{
	u32 more = aggnet_fanout_credit(f) - f->granted;
	u32 left = f->granted - f->win.cum;
	u32 most = min_t(u32, f->slots, AGGNET_WINDOW);

	if (!more || f->ended)
		return false;
	return !left || (left <= most / 2 && more >= most / 8);
}

bool aggnet_fanout_end(struct aggnet_fanout *f, u32 final)
{
	if (f->ended)
		return f->final == final;
	if (aggnet_before(final, f->top) ||
	    final - AGGNET_SEQ_FIRST > AGGNET_SEQ_END - AGGNET_SEQ_FIRST)
		return false;
	f->final = final;
	f->ended = true;
	return true;
}

void aggnet_fanout_next_round(struct aggnet_fanout *f)
{
	u32 untold = f->win.cum + AGGNET_FANOUT_MIN;

	f->ended = false;
	if (aggnet_before(f->granted, untold))
		f->granted = untold;
}
