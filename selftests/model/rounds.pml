/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rounds: a persistent tree serves one reduce after another on the same channels.
 * Each result has the records of its own round, and each source learns the outcome
 * of each of its rounds, although packets of older rounds come late.
 */

/*
 * Receiver R = 0, aggregator A = 1, sources S = 2 (child of A) and T = 3 (child of
 * R). In each round a source gives one record or none, and ends the round; in the
 * last round, or with EARLY=1 in any, it shuts down, which ends the tree for all
 * with that round. Channels are bound; channel.pml has their binding and the
 * corruption of packets, which the tag turns into a loss.
 *
 * Packets are a soup: each is there from its first sending on, and is taken at any
 * time, often, in any order, or never. Packets that are repeated until an answer
 * comes need no more than that. The pushed DONE is sent once: it may be lost. An
 * ACK of DATA and the custody of a FIN are read from the acceptor's state.
 *
 * BOTH=1: the result goes down the same tree; the root is DONE with a round when
 * all members have its result. ABORTS=1: the root aborts in any state, and the
 * ABORT states its round. REPAIR=1: a new attempt begins in any state and restarts
 * the round in which the root was: parents first, without the older attempt's
 * packets (epoch.pml) and without what its nodes held. Sources keep the input of
 * a round until its DONE.
 *
 * Asserted: a result has exactly the records of its round. A source's DONE means
 * that the end mark of that round was taken, and with BOTH that the source has the
 * result; its error, that the root has not finished that round. Each
 * source gets an outcome of each round (no invalid end state).
 *
 * Mutants, of which the run must find each:
 *	OLD_FIN      a FIN of an older round is counted in the present one
 *	OLD_DONE     a DONE of an older round ends the present one
 *	DONE_BY_FIN  custody of its FIN ends a child's round
 *	NO_TOMBSTONE an acceptor in the next round does not answer a FIN by DONE
 *	RESTART,ANY_ROUND  sequences restart in each round, and no round is compared
 *	KEEP         books are not reset for a round
 *	LAST_UP, LAST_DOWN  FIN, DONE do not tell that the round is the last
 *	NO_ROUND     an ABORT does not imply DONE of an older round (with ABORTS)
 *	EARLY_DONE   DONE without the count of members that have the result (BOTH)
 *	OWN          a source replays its round, although the root has finished it
 *	RELABEL      a source replays its round's record as of the attempt's round
 *	LATE         the root goes on after its round was read for the attempt
 * REACH asserts that the last round is never DONE.
 */
#ifndef ROUNDS
#define ROUNDS	2
#endif
#ifndef EARLY
#define EARLY	0
#endif
#ifndef BOTH
#define BOTH	0
#endif
#ifndef ABORTS
#define ABORTS	0
#endif
#ifndef REPAIR
#define REPAIR	0
#endif

#define R	0
#define A	1
#define S	2
#define T	3
#define P(c)		((c) == S -> A : R)
#define B(r)		(1 << (r))
#define OF(c, r)	((c) * ROUNDS + (r))
/* The record of source c in round r, a bit of a result */
#define RECORD(c, r)	B(((c) - S) * ROUNDS + (r))

mtype = { OPEN, CLOSING, OVER, ABORTED };
mtype state[4] = OPEN;
byte round[4], attempt[4];
bool aborted;			/* the root did, once */

/* Input of the sources: rounds decided on, with a record, with a shutdown */
byte chosen[4], gives[4], shut[4];

/* Channel of child c: soup by round, and the acceptor's state */
byte nxt[4];			/* sequences that the child has used */
byte data[4];			/* DATA in the soup */
byte seq[4 * ROUNDS], what[4 * ROUNDS];
byte fin[4], last_fin[4];	/* FINs in the soup, those of a last round */
byte final[4 * ROUNDS], records[4 * ROUNDS];
byte cum[4];			/* sequences that the acceptor has merged */
byte finished[4];		/* it has custody of FINs of rounds before this */
bool last_child[4];		/* the FIN of the present round told the last */
byte dones[4], last_done[4];	/* to the child */

/* Books of the present round at R and A */
byte result[2], units[2], claimed[2];

/* BOTH: the node has the result of its present round; the member ever had it */
bool down[4];
byte got[4];

byte sup;			/* nodes of the new attempt: R, then A */
byte start;			/* its round */

#define LIVE(c)		(attempt[c] == attempt[P(c)])
#define FINISHED(c)	(LIVE(c) && finished[c] == round[P(c)] + 1)
#define ENDED(n)	(state[n] == OVER || state[n] == ABORTED)
#define LAST_AT_R	(last_child[A] || last_child[T])
#define GIVEN(c)	(gives[c] & B(round[c]))
#define EXPECTED(r) \
	(((gives[S] & B(r)) -> RECORD(S, r) : 0) | \
	 ((gives[T] & B(r)) -> RECORD(T, r) : 0))

#ifdef LATE
#define ON_TIME		false
#else
#define ON_TIME		true
#endif

/* The child puts DATA of its round in the soup. */
inline send(c, content)
{
	seq[OF(c, round[c])] = nxt[c];
	what[OF(c, round[c])] = content;
	data[c] = data[c] | B(round[c]);
	nxt[c]++
}

inline send_fin(c, n, is_last)
{
	state[c] = CLOSING;
	fin[c] = fin[c] | B(round[c]);
	final[OF(c, round[c])] = nxt[c];
	records[OF(c, round[c])] = n;
	if
	:: is_last -> last_fin[c] = last_fin[c] | B(round[c])
	:: else
	fi
}

/* Node n is DONE with its round, and goes to the next one, or ends. */
inline next_round(n, is_last)
{
	state[n] = (is_last -> OVER : OPEN);
	down[n] = false;
#ifdef REACH
	assert(!is_last);
#endif
	round[n]++;
#ifdef RESTART
	nxt[n] = 0;
#endif
	if
	:: n <= A ->
#ifndef KEEP
		result[n] = 0;
		units[n] = 0;
		claimed[n] = 0;
#endif
#ifdef RESTART
		cum[S] = (n == A -> 0 : cum[S]);
		cum[A] = (n == R -> 0 : cum[A]);
		cum[T] = (n == R -> 0 : cum[T]);
#endif
		skip
	:: else ->
		assert(round[R] >= round[n]);
		assert(is_last || !(shut[n] & B(round[n] - 1)));
		assert(!BOTH || (got[n] & B(round[n] - 1)))
	fi
}

#ifdef LAST_DOWN
#define TOLD_LAST(n, is_last)	false
#else
#define TOLD_LAST(n, is_last)	(is_last)
#endif

inline send_done(c, r, is_last)
{
	dones[c] = dones[c] | B(r);
	if
	:: TOLD_LAST(c, is_last) -> last_done[c] = last_done[c] | B(r)
	:: else
	fi
}

#ifdef RELABEL
byte behind[4];		/* rounds by which what it replays is older */
#define REPLAYED(c)	RECORD(c, round[c] - behind[c])
#else
#define REPLAYED(c)	RECORD(c, round[c])
#endif

#define CHOOSE(c) \
	:: atomic { state[c] == OPEN && chosen[c] == round[c] -> \
		chosen[c]++; \
		if \
		:: gives[c] = gives[c] | B(round[c]) \
		:: skip \
		fi; \
		if \
		:: EARLY || round[c] == ROUNDS - 1 -> \
			shut[c] = shut[c] | B(round[c]) \
		:: round[c] < ROUNDS - 1 \
		fi }

#define SENT(c)		(data[c] & B(round[c]))

#define SOURCE(c) \
	CHOOSE(c) \
	:: d_step { state[c] == OPEN && chosen[c] > round[c] && GIVEN(c) && \
		    !SENT(c) -> send(c, REPLAYED(c)) } \
	:: d_step { state[c] == OPEN && chosen[c] > round[c] && \
		    (!GIVEN(c) || SENT(c)) && LIVE(c) && \
		    cum[c] == nxt[c] -> \
		send_fin(c, (GIVEN(c) -> 1 : 0), shut[c] & B(round[c])) }

#ifdef ANY_ROUND
#define PRESENT(c, r)	true
#else
#define PRESENT(c, r)	((r) == round[P(c)])
#endif
#ifdef OLD_FIN
#define FIN_PRESENT(c, r)	true
#else
#define FIN_PRESENT(c, r)	((r) == round[P(c)])
#endif
#ifdef LAST_UP
#define PASSED_UP(c)	((c) != A)
#else
#define PASSED_UP(c)	true
#endif

/* What an acceptor takes from child c: DATA and FIN of round r. */
#define ACCEPT(c, r) \
	:: d_step { LIVE(c) && state[P(c)] == OPEN && (data[c] & B(r)) && \
		    seq[OF(c, r)] == cum[c] && PRESENT(c, r) -> \
		result[P(c)] = result[P(c)] | what[OF(c, r)]; \
		units[P(c)]++; \
		cum[c]++ } \
	:: d_step { LIVE(c) && state[P(c)] == OPEN && (fin[c] & B(r)) && \
		    FIN_PRESENT(c, r) && finished[c] == round[P(c)] && \
		    final[OF(c, r)] == cum[c] -> \
		finished[c]++; \
		claimed[P(c)] = claimed[P(c)] + records[OF(c, r)]; \
		last_child[c] = PASSED_UP(c) && (last_fin[c] & B(r)) }

#ifdef OLD_DONE
#define DONE_PRESENT(c, r)	true
#else
#define DONE_PRESENT(c, r)	((r) == round[c])
#endif
#ifdef NO_TOMBSTONE
#define TOMBSTONE	false
#else
#define TOMBSTONE	true
#endif
#ifdef NO_ROUND
#define IMPLIED(c)	false
#else
#define IMPLIED(c)	(round[P(c)] > round[c])
#endif
#ifdef DONE_BY_FIN
#define CUSTODY(c)	(LIVE(c) && finished[c] > round[c])
#else
#define CUSTODY(c)	false
#endif

/* What child c gets from its acceptor: DONE of round r. */
#define CHILD(c, r) \
	:: d_step { state[c] == CLOSING && (dones[c] & B(r)) && \
		    DONE_PRESENT(c, r) -> \
		finish(c, last_done[c] & B(r)) } \
	/* the answer to a FIN that is repeated */ \
	:: d_step { TOMBSTONE && LIVE(c) && state[c] == CLOSING && \
		    round[c] == r && round[P(c)] == r + 1 && \
		    !(dones[c] & B(r)) -> \
		send_done(c, r, state[P(c)] == OVER) }

/* DONE at an end is pushed to its children; the push may be lost. */
inline finish(child, ends)
{
	next_round(child, ends);
	pushes[child] = (child == A -> 1 : 0)
}

byte pushes[4];			/* of R: 2 and 1, for A and T */

#define PUSH(n, k, c) \
	:: atomic { pushes[n] == k -> \
		pushes[n] = k - 1; \
		if \
		:: LIVE(c) && round[c] == round[n] - 1 -> \
			send_done(c, round[n] - 1, state[n] == OVER) \
		:: skip \
		fi }

#define EVENTS(c) \
	:: d_step { CUSTODY(c) && state[c] == CLOSING -> finish(c, false) } \
	:: d_step { LIVE(c) && state[P(c)] == ABORTED && !ENDED(c) -> \
		round[c] = (IMPLIED(c) -> round[P(c)] : round[c]); \
		state[c] = ABORTED; \
		assert(round[R] <= round[c]) }

/* The attempt's entry comes into force at c, after that of its acceptor. */
#ifdef OWN
#define JOINED(c)	((c) < S -> start : round[c])
#else
#define JOINED(c)	start
#endif

inline forget(x)
{
	attempt[x] = 1;
	state[x] = OPEN;
	nxt[x] = 0;
	data[x] = 0;
	fin[x] = 0;
	last_fin[x] = 0;
	cum[x] = 0;
	finished[x] = start;
	last_child[x] = false;
	dones[x] = 0;
	last_done[x] = 0;
	pushes[x] = 0;
	down[x] = false
}

inline rejoin(c)
{
	forget(c);
	if
	:: c < S ->
		result[c] = 0;
		units[c] = 0;
		claimed[c] = 0
	:: else ->
		/* Its round is the root's, or that before, which is DONE. */
		assert(round[c] == start || round[c] + 1 == start);
		assert(!BOTH || round[c] == start || (got[c] & B(round[c])));
#ifdef RELABEL
		behind[c] = start - round[c]
#endif
	fi;
	round[c] = JOINED(c)
}

/* All members that count have the result, and their ACKs have told it. */
#ifdef EARLY_DONE
#define COUNTED		true
#else
#define COUNTED		(!BOTH || (down[S] && down[T] && LIVE(S) && \
				   LIVE(A) && LIVE(T)))
#endif

#define DOWN(c) \
	:: d_step { BOTH && LIVE(c) && !down[c] && state[c] == CLOSING && \
		    round[c] == round[P(c)] && \
		    (P(c) == R -> state[R] == CLOSING : down[A]) -> \
		down[c] = true; \
		got[c] = got[c] | B(round[c]) }

#if ROUNDS == 2
#define EACH(what, c)	what(c, 0) what(c, 1)
#else
#define EACH(what, c)	what(c, 0) what(c, 1) what(c, 2)
#endif

active proctype tree()
{
	do
	SOURCE(S)
	SOURCE(T)
	EACH(ACCEPT, S)
	EACH(ACCEPT, A)
	EACH(ACCEPT, T)
	EACH(CHILD, S)
	EACH(CHILD, A)
	EACH(CHILD, T)
	DOWN(A) DOWN(S) DOWN(T)
	EVENTS(A) EVENTS(S) EVENTS(T)
	PUSH(A, 1, S)
	PUSH(R, 2, A)
	PUSH(R, 1, T)
	/* A's flow is whole: what it holds leaves, then FIN. */
	:: d_step { state[A] == OPEN && FINISHED(S) && units[A] > 0 &&
		    !SENT(A) -> send(A, result[A]) }
	:: d_step { state[A] == OPEN && FINISHED(S) && LIVE(A) &&
		    (units[A] == 0 || SENT(A)) && cum[A] == nxt[A] ->
		send_fin(A, claimed[A], last_child[S]) }
	:: d_step { state[R] == OPEN && FINISHED(A) && FINISHED(T) ->
		assert(units[R] == claimed[R]);
		state[R] = CLOSING }
	/* The application takes the end mark. */
	:: d_step { state[R] == CLOSING && COUNTED ->
		assert(result[R] == EXPECTED(round[R]));
		next_round(R, LAST_AT_R);
		pushes[R] = 2 }
	:: d_step { ABORTS && !aborted && !ENDED(R) ->
		aborted = true;
		state[R] = ABORTED }
	/* The supervisor; a transfer that has its result is left alone. */
	:: d_step { REPAIR && sup == 0 && state[R] != OVER ->
		sup = 1;
		start = round[R];
		if
		:: ON_TIME -> sup = 2; rejoin(R)
		:: else
		fi }
	:: d_step { sup == 1 && state[R] != OVER -> sup = 2; rejoin(R) }
	:: d_step { sup == 2 -> sup = 3; rejoin(A) }
	:: d_step { sup == 3 && attempt[S] == 0 && state[S] != OVER ->
		rejoin(S) }
	:: d_step { sup == 3 && attempt[T] == 0 && state[T] != OVER ->
		rejoin(T) }
	:: ENDED(R) && ENDED(A) && ENDED(S) && ENDED(T) -> break
	od
}
