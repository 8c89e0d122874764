/* SPDX-License-Identifier: GPL-2.0 */
/* Refuse: a child that an end refuses for lack of room binds elsewhere, and no
 * copy of its earlier packets binds it afterwards.
 */

/*
 * An unplanned child C and an end R whose room varies. Packets are a soup, as
 * in channel.pml: a packet that was sent once may arrive never, once or often,
 * at any time, which includes an attacker that repeats packets. After each
 * refusal C uses another nonce; the last one may only end in give_up.
 *
 *	n, C's nonces: 0 to NONCES - 1
 *	refusals: of R, in the cookie of each ACCEPT (cookie[n])
 *
 * A slot whose child has bound elsewhere never finishes: R waits for ever,
 * which the run finds as an invalid end state.
 *
 * Mutant: REBINDS  the cookie does not cover the refusals
 * REACH asserts that C is never bound after a refusal.
 */
#define NONCES		4
#define NONE		7
#define B(n)		(1 << (n))

mtype = { OPENING, BINDING, BOUND, OVER, GAVE_UP };
mtype c = OPENING;
byte nonce;
byte cookie[NONCES];		/* refusals at the ACCEPT of this nonce */
byte probes, fins;		/* sent by C, by nonce */
byte acks, rsts;		/* sent by R, by nonce */

byte slot = NONE;
byte refusals;
bool room, finished;
byte turns;			/* how often others took room */

#ifdef REBINDS
#define GOOD(n)		true
#else
#define GOOD(n)		(cookie[n] == refusals)
#endif

inline reopen()
{
	if
	:: nonce + 1 < NONCES ->
		nonce++;
		c = OPENING
	:: else -> c = GAVE_UP
	fi
}

active proctype child()
{
	do
	/* ACCEPT leaves no state; its delay is that of the PROBE. */
	:: d_step { c == OPENING && !finished ->
		cookie[nonce] = refusals;
		probes = probes | B(nonce);
		c = BINDING }
	:: d_step { c == BINDING && (acks & B(nonce)) ->
		c = BOUND;
		fins = fins | B(nonce);
#ifdef REACH
		assert(nonce == 0)
#endif
		}
	:: d_step { c == BINDING && (rsts & B(nonce)) -> reopen() }
	:: d_step { c == BOUND && finished -> c = OVER }
	:: c == OVER || c == GAVE_UP -> break
	od
}

#define PROBE(n) \
	:: d_step { (probes & B(n)) && slot == n && !(acks & B(n)) -> \
		acks = acks | B(n) } \
	:: d_step { (probes & B(n)) && slot == NONE && !GOOD(n) && \
		    !(rsts & B(n)) -> \
		rsts = rsts | B(n) } \
	:: d_step { (probes & B(n)) && slot == NONE && GOOD(n) && room -> \
		slot = n; \
		acks = acks | B(n) } \
	/* its cookie is older than the refusal; repeats change nothing */ \
	:: d_step { (probes & B(n)) && slot == NONE && GOOD(n) && !room && \
		    !(rsts & B(n)) -> \
		rsts = rsts | B(n); \
		refusals++ } \
	:: d_step { slot == n && (fins & B(n)) && !finished -> finished = true }

/* R may close without C (it gave up), but not with an unfinished slot. */
#define R_OVER	(finished || (slot == NONE && c == GAVE_UP))

active proctype end_R()
{
	do
	PROBE(0) PROBE(1) PROBE(2) PROBE(3)
	:: R_OVER -> break
	od
}

/* Others take room and free it. */
active proctype others()
{
	do
	:: d_step { !room -> room = true }
	:: d_step { room && slot == NONE && turns < NONCES ->
		room = false;
		turns++ }
	:: R_OVER -> break
	od
}
