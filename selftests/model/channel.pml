/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Channel and binding: one child C, its planned end A, the receiver R, a second
 * source D at R. C, A and R may each crash and restart under the same epoch.
 */

/*
 * The network is a soup: a packet that was sent once may arrive never, once or
 * often, at any time and in any order. So each packet is one bit, set when the
 * packet is sent, and repeats need no step of their own. ACCEPT leaves no state
 * at its sender, and C ignores it for any other than its current nonce; its
 * delay is the same as that of the PROBE it causes, so OPEN and ACCEPT are one
 * step here.
 *
 *	n, C's nonces: 0 old epoch; 1, 2 this epoch; 3, 4 after C's restart
 *	q, acceptors:  0 A in the old epoch; 1 A; 2 A after its restart; 3 R;
 *		       4 R after its restart
 *
 * Mutants (one -D each) break a rule; the run must find each of them:
 *	UNNAMED     R merges DATA that names another acceptor
 *	REBIND      a BOUND child opens again after RST
 *	NONCE       a restarted A serves the nonce from before its restart
 *	ACK_FIRST   ACK before merge
 *	DUP         no duplicate check
 *	TAG         a corrupt DATA is merged
 *	EPOCH       an older epoch is accepted
 *	FIN_BINDS   FIN binds too (with -DRECS=0: an empty flow)
 *	MEMBERS     R compares weight and records, not the sources in the flow
 *	NO_RST      a closed end does not refuse a PROBE (with -DLIVE)
 *	UNCHECKED   R compares weight and members only, not records
 * LIVE=1 leaves out what only give_up ends (crashes, the older epoch): then
 * every process must end, the child with DONE. Without it `end' labels allow a
 * process to wait for ever, since this model shows what is merged; giveup.pml
 * and completion.pml show which nodes wait. CUSTODY=0 switches the assertions
 * at each merge off, to show that the violations that they find become an ABORT
 * and not a result. REACH asserts that there is no result.
 */
#ifndef RECS
#define RECS 2
#endif
#ifndef CUSTODY
#define CUSTODY 1
#endif
#ifdef LIVE
#define MAY_WAIT
#define IS_OVER		(c_up == DONE)
#define FAULTS		false
#define FIRST_EPOCH	1
#else
#define MAY_WAIT	end:
#define IS_OVER		false
#define FAULTS		true
#define FIRST_EPOCH	0
#endif

#define R_FIRST	3
#define NONE	7
#define ALL	((1 << RECS) - 1)
#define B(n)	(1 << (n))
#define C_ID	1	/* what a source adds to members */
#define D_ID	4
#define SOURCES	2

#ifdef EPOCH
#define SAME_EPOCH(n, q)	true
#else
#define SAME_EPOCH(n, q)	(((n) > 0) == ((q) > 0))
#endif

/* C: enum aggnet_up_state, or its outcome. */
mtype = { IDLE, OPENING, BINDING, BOUND, FINISHED, DONE, ABORTED };
mtype c_up = IDLE;
byte c_nonce, c_acked;
bool c_any, c_crashed;

/* Packets of C in the soup, by nonce: the acceptor that each names. */
byte peer[5] = NONE;		/* PROBE */
byte data, fin;			/* DATA (all of them), FIN */

/* Packets to C that have its current nonce; C ignores others. */
bool ack, fin_ack, done, rst;
byte sack;
byte merged;			/* ghost: seqs merged under the current nonce */

/* A: its child's slot, table and flow. */
byte a_q, a_slot = NONE, a_win, a_held[2], a_stale, a_bad;
bool a_accepting = true, a_finished, a_closed, a_crashed;

/* R: the slots of C and A, and the result. */
byte r_q = R_FIRST, r_slot = NONE, r_win, r_a = NONE;
byte r_got[2], r_stale, r_bad, r_d;
byte r_weight, r_members, r_records, r_units, counted;
bool r_accepting = true, r_finished, r_a_finished, r_whole, r_end;
bool a_bound, d_bound;		/* bound at R, and never again elsewhere */
bool ended;			/* ghost: an end mark was taken */

/* No record is in two places, nor a weight, unless its source restarted. */
#define ONCE \
	assert(!CUSTODY || c_crashed || (a_held[0] + r_got[0] <= 1 && \
		a_held[1] + r_got[1] <= 1 && counted <= 1))

#define A_HOLDS	(a_held[0] + a_held[1] + a_stale + a_bad)

inline c_open(nonce)
{
	c_nonce = nonce;
	c_up = OPENING;
	c_any = false;
	c_acked = 0;
	ack = false;
	sack = 0;
	merged = 0;
	fin_ack = false;
	done = false;
	rst = false
}

active proctype child()
{
MAY_WAIT
	do
	:: IS_OVER -> break
	/* The entry of the first epoch, later replaced by this epoch's. */
	:: d_step { c_up == IDLE -> c_open(FIRST_EPOCH) }
	:: d_step { c_up != IDLE && c_nonce == 0 -> c_open(1) }
	:: d_step { c_up == OPENING && !c_any -> c_any = true }
	:: d_step { c_up == BINDING && ack ->
		c_up = BOUND;
		data = data | B(c_nonce) }
	/* Nothing was acknowledged: C may choose another acceptor. */
	:: d_step { c_up == BINDING && rst && (c_nonce == 1 || c_nonce == 3) ->
		c_open(c_nonce + 1) }
#ifdef REBIND
	:: d_step { c_up == BOUND && rst && (c_nonce == 1 || c_nonce == 3) ->
		c_open(c_nonce + 1) }
#endif
	:: d_step { c_up == BOUND && c_acked != sack ->
		c_acked = sack;
		assert(!CUSTODY || (sack & merged) == sack) }
	:: d_step { c_up == BOUND && c_acked == ALL && !(fin & B(c_nonce)) ->
		fin = fin | B(c_nonce) }
	:: d_step { (c_up == BOUND || c_up == BINDING) && fin_ack ->
		c_up = FINISHED }
	:: d_step { (c_up == BOUND || c_up == FINISHED) && rst ->
		c_up = ABORTED }
	:: d_step { c_up == FINISHED && done ->
		c_up = DONE;
		assert(ended) }
	:: d_step { FAULTS && c_nonce > 0 && !c_crashed ->
		c_crashed = true;
		c_open(3) }
	od
}

/* An end answers OPEN with ACCEPT, and C makes it its acceptor. */
inline accept(q)
{
	c_up = BINDING;
	peer[c_nonce] = q
#ifdef FIN_BINDS
	; fin = fin | B(c_nonce)
#endif
}

/* Send the ACK in the same step as what it acknowledges. */
inline answer(nonce, flag)
{
	if
	:: c_nonce == nonce -> flag = true
	:: else
	fi
}

inline acknowledge(nonce, seq)
{
	if
	:: c_nonce == nonce -> sack = sack | B(seq)
	:: else
	fi
}

inline witness(nonce, seq)
{
	if
	:: c_nonce == nonce -> merged = merged | B(seq)
	:: else
	fi
}

/*
 * C names A as its acceptor: the current A, or (mutant) A before its restart.
 */
#ifdef NONCE
#define NAMES_A(n)	(peer[n] <= a_q && SAME_EPOCH(n, a_q))
#else
#define NAMES_A(n)	(peer[n] == a_q)
#endif

/* PROBE of nonce n at A: bind, unless A has a slot or has closed. */
#define PROBE_A(n) \
	d_step { NAMES_A(n) && a_slot == NONE && a_accepting -> \
		a_slot = n; answer(n, ack) }
#define PROBE_R(n) \
	d_step { peer[n] == r_q && r_slot == NONE && r_accepting -> \
		r_slot = n; answer(n, ack) }

inline a_merge(seq)
{
	if
	:: a_slot == 0 -> a_stale++
	:: else -> a_held[seq]++
	fi;
	a_win = a_win | B(seq);
	ONCE;
	witness(a_slot, seq);
	acknowledge(a_slot, seq)
}

inline r_merge(nonce, seq)
{
	if
	:: nonce == 0 -> r_stale++
	:: else -> r_got[seq]++
	fi;
	r_units++;
	r_win = r_win | B(seq);
	ONCE;
	witness(nonce, seq);
	acknowledge(nonce, seq)
}

/* Restart A: with this epoch's entry, or with the same one after a crash. */
inline a_start()
{
	a_q++;
	a_slot = NONE;
	a_win = 0;
	a_held[0] = 0;
	a_held[1] = 0;
	a_stale = 0;
	a_bad = 0;
	a_accepting = true;
	a_finished = false;
	a_closed = false;
	a_bound = false
}

#define A_DATA(seq)	(RECS > seq && a_slot != NONE && (data & B(a_slot)))
#define A_FRESH(seq)	(!(a_win & B(seq)))

active proctype end_A()
{
MAY_WAIT
	do
	:: IS_OVER -> break
	:: d_step { c_up == OPENING && a_accepting && a_slot == NONE &&
		    SAME_EPOCH(c_nonce, a_q) -> accept(a_q) }
	:: PROBE_A(0) :: PROBE_A(1) :: PROBE_A(2) :: PROBE_A(3) :: PROBE_A(4)
	/*
	 * RST: A closed before C could bind, or C names an earlier incarnation.
	 */
#ifndef NO_RST
	:: d_step { !rst && peer[c_nonce] == a_q && a_slot == NONE &&
		    !a_accepting -> rst = true }
#endif
	:: d_step { !rst && peer[c_nonce] < a_q -> rst = true }
	:: d_step { A_DATA(0) && A_FRESH(0) -> a_merge(0) }
	:: d_step { A_DATA(1) && A_FRESH(1) -> a_merge(1) }
#ifdef DUP
	:: d_step { A_DATA(0) && a_held[0] + r_got[0] < 2 -> a_merge(0) }
#endif
#ifdef ACK_FIRST
	:: d_step { A_DATA(0) && A_FRESH(0) ->
		acknowledge(a_slot, 0) }
#endif
#ifdef TAG
	:: d_step { A_DATA(0) && A_FRESH(0) ->
		a_bad++;
		a_win = a_win | 1;
		witness(a_slot, 0);
		acknowledge(a_slot, 0) }
#endif
	:: d_step { a_slot != NONE && (fin & B(a_slot)) && a_win == ALL &&
		    !a_finished ->
		a_finished = true;
		answer(a_slot, fin_ack) }
#ifdef FIN_BINDS
	:: d_step { a_slot == NONE && a_accepting && peer[c_nonce] == a_q &&
		    (fin & B(c_nonce)) ->
		a_slot = c_nonce;
		a_finished = true;
		answer(c_nonce, fin_ack) }
#endif
	/* hold has passed */
	:: d_step { a_accepting && a_slot == NONE -> a_accepting = false }
	:: d_step { !a_closed && (a_finished ||
				  (!a_accepting && a_slot == NONE)) ->
		a_accepting = false;
		a_closed = true }
	/* A's own channel to R, in large steps: bind, emit, FIN, DONE. */
	:: d_step { a_q > 0 && !a_bound && r_a == NONE && r_accepting ->
		r_a = a_q;
		a_bound = true }
	:: d_step { r_a == a_q && !r_a_finished && A_HOLDS > 0 ->
		r_got[0] = r_got[0] + a_held[0];
		r_got[1] = r_got[1] + a_held[1];
		r_stale = r_stale + a_stale;
		r_bad = r_bad + a_bad;
		r_units = r_units + A_HOLDS;
		a_held[0] = 0;
		a_held[1] = 0;
		a_stale = 0;
		a_bad = 0;
		ONCE }
	:: d_step { r_a == a_q && a_closed && !r_a_finished && A_HOLDS == 0 ->
		r_a_finished = true;
		if
		:: a_finished ->
			r_weight++;
			r_members = r_members + C_ID;
			r_records = r_records + RECS;
			counted++;
			ONCE
		:: else
		fi }
	:: d_step { r_a == a_q && r_end && a_finished && !done &&
		    a_slot == c_nonce -> done = true }
	:: d_step { a_q == 0 -> a_start() }
	:: d_step { FAULTS && a_q == 1 && !a_crashed ->
		a_crashed = true;
		a_start() }
	od
}

inline r_start()
{
	r_q++;
	r_slot = NONE;
	r_win = 0;
	r_a = NONE;
	r_got[0] = 0;
	r_got[1] = 0;
	r_stale = 0;
	r_bad = 0;
	r_d = 0;
	r_weight = 0;
	r_members = 0;
	r_records = 0;
	r_units = 0;
	counted = 0;
	r_accepting = true;
	r_finished = false;
	r_a_finished = false;
	r_whole = false;
	r_end = false
}

#define R_DATA(seq)	(RECS > seq && r_slot != NONE && (data & B(r_slot)))
#define R_FRESH(seq)	(!(r_win & B(seq)))

active proctype receiver()
{
MAY_WAIT
	do
	:: IS_OVER -> break
	/* C is not on R's list: R accepts only an OPEN with ANY. */
	:: d_step { c_up == OPENING && c_any && r_accepting &&
		    r_slot == NONE && SAME_EPOCH(c_nonce, r_q) ->
		accept(r_q) }
	:: PROBE_R(0) :: PROBE_R(1) :: PROBE_R(2) :: PROBE_R(3) :: PROBE_R(4)
	:: d_step { !rst && peer[c_nonce] == r_q && r_slot == NONE &&
		    !r_accepting -> rst = true }
	:: d_step { R_DATA(0) && R_FRESH(0) -> r_merge(r_slot, 0) }
	:: d_step { R_DATA(1) && R_FRESH(1) -> r_merge(r_slot, 1) }
#ifdef UNNAMED
	:: d_step { c_nonce > 0 && (data & B(c_nonce)) && r_accepting &&
		    R_FRESH(0) && peer[c_nonce] < R_FIRST -> r_merge(c_nonce, 0) }
#endif
	:: d_step { r_slot != NONE && (fin & B(r_slot)) && r_win == ALL &&
		    !r_finished ->
		r_finished = true;
		r_weight++;
		r_members = r_members + C_ID;
		r_records = r_records + RECS;
		answer(r_slot, fin_ack);
		counted++;
		ONCE }
	:: d_step { !d_bound && r_accepting ->
		d_bound = true;
		r_d = 1;
		r_units++;
		r_records++;
		r_weight++;
		r_members = r_members + D_ID }
	/*
	 * The flow is whole: close. If weights or records differ, R aborts
	 * without result.
	 */
	:: d_step { r_accepting && r_weight >= SOURCES &&
		    (r_slot == NONE || r_finished) &&
		    (r_a == NONE || r_a_finished) ->
		r_accepting = false;
		r_whole = (r_weight == SOURCES
#ifndef UNCHECKED
			   && r_units == r_records
#endif
#ifndef MEMBERS
			   && r_members == C_ID + D_ID
#endif
			   ) }
	/* The application takes the end mark: the result must be exact. */
	:: d_step { r_whole && !r_end ->
		r_end = true;
		ended = true;
#ifdef REACH
		assert(false);
#endif
		assert(r_d == 1 && r_stale == 0 && r_bad == 0);
		assert(r_got[0] == (RECS > 0) && r_got[1] == (RECS > 1)) }
	:: d_step { r_end && r_slot == c_nonce && !done -> done = true }
	/* R restarts: bound members never bind again, others may. */
	:: d_step { FAULTS && r_q == R_FIRST -> r_start() }
	:: d_step { !rst && r_q > R_FIRST && peer[c_nonce] == R_FIRST ->
		rst = true }
	od
}
