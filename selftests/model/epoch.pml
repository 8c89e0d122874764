/* SPDX-License-Identifier: GPL-2.0 */
/* Epoch: a newer entry ends the older epoch with an answer, not with silence,
 * and no record of the older epoch enters the newer one's result.
 */

/*
 * A child C and its acceptor A, each with the entry of epoch 0, later of epoch
 * 1. A gets epoch 1 first (parents first), C at any time, or never (LEFT_OUT).
 * With CHILD_FIRST C gets it first, the ABORT of its older entry is lost, and A
 * gets it only after its own older epoch has ended. Packets are a soup, as in
 * channel.pml. No rule here needs give_up, so the model has none.
 *
 *	n, C's nonces: 0, 1 in epoch 0; 2 in epoch 1
 *	q, A's epochs
 *
 * Asserted: A's result of epoch 1 has C's record of epoch 1, once, and none of
 * epoch 0. Every application of C gets an outcome: DONE, or STALE in epoch 0.
 *
 * Mutants: DROPPED    C drops an RST(EPOCH) because its epoch is newer
 *          ANY_NONCE  C accepts an RST that answers another nonce
 *          ANY_EPOCH  C accepts an RST whose epoch is not newer
 *          OLD_DATA   A merges DATA of an older epoch
 *          OPEN_SILENT  A does not answer the OPEN of an older epoch
 *          NEWER_DROPPED  A drops the OPEN of a newer epoch (with CHILD_FIRST)
 * The newer epoch is another plan's. A later attempt of the same plan by an end that is
 * not a child of A is left to A's own news of the failure, which this model does not have.
 * REACH asserts that C's application of epoch 1 is never DONE.
 */
#ifndef LEFT_OUT
#define LEFT_OUT	0
#endif

#ifndef CHILD_FIRST
#define CHILD_FIRST	0
#endif

#define NONE	7
#define B(n)	(1 << (n))
#define OF(n)	((n) / 2)	/* epoch of a nonce */

mtype = { OPENING, BINDING, BOUND, DONE, STALE };
mtype c = OPENING;
byte c_epoch, nonce;
bool reset;			/* C had a reason to open again: once */
byte opens, probes, data;	/* in the soup, by nonce */
byte accepts, acks, dones;	/* likewise, to C */
byte rsts;			/* RST(EPOCH), by the nonce it answers */
bool forged_rst;		/* of epoch 0, from before C's start */

byte a_epoch, slot = NONE, merged, stale_merged;
bool a_stale;			/* its epoch 0 ended: a newer one is in force */

#define OUTCOME	(c == DONE || c == STALE)
#define LAST	(c_epoch == 1 || (LEFT_OUT && a_epoch == 1))

active proctype child()
{
	do
	:: d_step { c == OPENING && !(opens & B(nonce)) ->
		opens = opens | B(nonce) }
	:: d_step { c == OPENING && (accepts & B(nonce)) ->
		c = BINDING;
		probes = probes | B(nonce) }
	/* RST(NONCE) and RST(CLOSED) are modelled elsewhere: C opens again. */
	:: d_step { c == BINDING && !reset && c_epoch == 0 ->
		reset = true;
		nonce = 1;
		c = OPENING }
	:: d_step { c == BINDING && (acks & B(nonce)) ->
		c = BOUND;
		data = data | B(nonce) }
	:: d_step { c == BOUND && (dones & B(nonce)) ->
		c = DONE;
#ifdef REACH
		assert(c_epoch == 0)
#endif
		}
#ifndef DROPPED
#ifdef ANY_NONCE
	:: d_step { !OUTCOME && rsts != 0 -> c = STALE;
		assert(c_epoch == 0) }
#else
	:: d_step { !OUTCOME && (rsts & B(nonce)) -> c = STALE;
		assert(c_epoch == 0) }
#endif
#endif
#ifdef ANY_EPOCH
	:: d_step { !OUTCOME && c_epoch == 1 && forged_rst -> c = STALE;
		assert(c_epoch == 0) }
#endif
	/* The newer entry replaces the older one in any state. */
	:: d_step { !LEFT_OUT && (CHILD_FIRST || a_epoch == 1) && c_epoch == 0 ->
		c_epoch = 1;
		nonce = 2;
		forged_rst = true;
		c = OPENING }
	:: OUTCOME && LAST -> break
	od
}

#define SERVES(n)	(OF(n) == a_epoch && (a_epoch == 1 || !a_stale))

#define SERVE(n) \
	:: d_step { (opens & B(n)) && SERVES(n) && slot == NONE && \
		    !(accepts & B(n)) -> \
		accepts = accepts | B(n) } \
	/* the older nonce's PROBE may come late: then C asks again */ \
	:: d_step { (probes & B(n)) && SERVES(n) && slot == NONE && \
		    nonce == n -> \
		slot = n; \
		acks = acks | B(n) } \
	:: d_step { (data & B(n)) && SERVES(n) && slot == n && \
		    !merged -> \
		merged = true } \
	:: d_step { merged && slot == n && SERVES(n) && \
		    !(dones & B(n)) -> \
		dones = dones | B(n); \
		assert(!stale_merged) } \
	:: d_step { (ANSWERED(n) & B(n)) && OF(n) < a_epoch && \
		    !(rsts & B(n)) -> \
		rsts = rsts | B(n) }

#ifdef OPEN_SILENT
#define ANSWERED(n)	(probes | data)
#else
#define ANSWERED(n)	(opens | probes | data)
#endif

active proctype end_A()
{
	do
	SERVE(0) SERVE(1) SERVE(2)
#ifdef OLD_DATA
	:: d_step { (data & 3) && a_epoch == 1 && !stale_merged ->
		stale_merged = true }
#endif
#ifndef NEWER_DROPPED
	:: d_step { CHILD_FIRST && (opens & B(2)) && a_epoch == 0 && !a_stale ->
		a_stale = true }
#endif
	/* Nothing of the older flow is left: nonces and secret are new. */
	:: d_step { a_epoch == 0 && (!CHILD_FIRST || a_stale) ->
		a_epoch = 1;
		slot = NONE;
		merged = false;
		accepts = 0 }
	:: OUTCOME && LAST -> break
	od
}
