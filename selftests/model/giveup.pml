/* SPDX-License-Identifier: GPL-2.0 */
/* Give up: a missing source ends the transfer, at any depth and with any other
 * sources alive, and a transfer without a missing source is never given up.
 */

/*
 * Receiver R <- end Q <- end P <- sources C1 and C2; source Z at Q. C2 may die
 * at any time before its FIN is taken. Z may live and never finish (LAZY=1):
 * then the transfer must still end, unless all others have finished; only the
 * application's own limit ends that wait.
 *
 * An end reports how many sources its flow will have. A report may be lost; the
 * end repeats it if it ever reported another number than was planned. With
 * BYPASS=1 OPENs of C1 and C2 may go past P, and packets of P may never arrive
 * anywhere; then P gives up if it has children, else it goes idle again.
 *
 * Time is in the guards: give_up of R passes only when no node that lives has
 * anything to send (QUIET); half of give_up of P and Q may pass at any time,
 * since a child that lives may be late there and bind further up.
 *
 * Mutants: LIVES    an end is short only if no bound child lives
 *          UNTOLD   children do not report that they have fewer than planned
 *          ONCE     they do not repeat the report
 *          AS_PLANNED  they do not repeat it once it is as planned
 *          WAITS    ends other than the receiver never stop waiting
 *          EAGER    the receiver counts finished sources only
 *          PASSED_BY  an end that OPENs went past gives up (BYPASS=1)
 * REACH asserts that the transfer is never done.
 */
#ifndef LAZY
#define LAZY	0
#endif
#ifndef BYPASS
#define BYPASS	0
#endif

#define R	0
#define Q	1
#define P	2
#define C1	3
#define C2	4
#define Z	5
#define NODES	6
#define NONE	7

byte planned[NODES];		/* parent of each */
byte sources[NODES];		/* in its entry */
byte at[NODES] = NONE;		/* acceptor */
bool accepting[3] = true;
bool finished[NODES];
byte said[NODES];		/* sources that it reported to its acceptor */
byte told[NODES];		/* the last report that arrived there */
bool strayed[NODES];		/* it once reported another number */
byte weight[3];			/* of finished children */
bool dead, done, aborted;
bool mute;			/* packets of P do not arrive */

#define TOLD(c, x)	((at[c] == (x) && !finished[c]) * told[c])
#define COVERED(x) \
	(weight[x] + TOLD(Q, x) + TOLD(P, x) + TOLD(C1, x) + TOLD(C2, x) + \
	 TOLD(Z, x))
#define OPEN_AT(c, x)	(at[c] == (x) && !finished[c])
#define NO_OPEN(x) \
	(!OPEN_AT(Q, x) && !OPEN_AT(P, x) && !OPEN_AT(C1, x) && \
	 !OPEN_AT(C2, x) && !OPEN_AT(Z, x))
#define DUE(x) \
	(((x) == P && (at[C1] == NONE || at[C2] == NONE)) || \
	 ((x) == Q && (at[P] == NONE || at[Z] == NONE)) || \
	 ((x) == R && at[Q] == NONE))
#define NO_CHILD(x) \
	(at[Q] != (x) && at[P] != (x) && at[C1] != (x) && at[C2] != (x) && \
	 at[Z] != (x))
/* An end that takes no part in the transfer so far. */
#define PASSED(x)	((x) != R && at[x] == NONE && NO_CHILD(x))
#define MAX(a, b)	((a) > (b) -> (a) : (b))
/*
 * An end's report: at least what was planned, while a planned child may come.
 */
#define REACH_OF(x) \
	(accepting[x] && DUE(x) -> MAX(COVERED(x), sources[x]) : COVERED(x))
#define BOUND(x)	(at[x] != NONE && !finished[x])
#ifdef UNTOLD
#define NEWS(x)		false
#else
#define NEWS(x)		(BOUND(x) && said[x] != REACH_OF(x))
#endif
#ifdef ONCE
#define AGAIN(x)	false
#else
#ifdef AS_PLANNED
#define AGAIN(x)	(BOUND(x) && said[x] != sources[x] && told[x] != said[x])
#else
#define AGAIN(x)	(BOUND(x) && strayed[x] && told[x] != said[x])
#endif
#endif

#ifdef LIVES
#define IS_SHORT(x) \
	(accepting[x] && !PASSED(x) && COVERED(x) < sources[x] && NO_OPEN(x))
#else
#ifdef EAGER
#define IS_SHORT(x) \
	(accepting[x] && !PASSED(x) && ((x) == R -> weight[x] < sources[x] : \
				      COVERED(x) < sources[x] && DUE(x)))
#else
#define IS_SHORT(x) \
	(accepting[x] && !PASSED(x) && COVERED(x) < sources[x] && \
	 ((x) == R || DUE(x) || NO_OPEN(x)))
#endif
#endif

#define LIVES_NOW(c)	((c) != C2 || !dead)
/* The first end on the path that accepts. */
#define NEXT(c) \
	(accepting[planned[c]] -> planned[c] : \
	 (planned[c] == P && accepting[Q] -> Q : R))
#define MAY_BIND(c) \
	(at[c] == NONE && LIVES_NOW(c) && ((c) != P || !mute) && \
	 accepting[NEXT(c)])
#define MAY_FINISH(c) \
	(at[c] != NONE && !finished[c] && LIVES_NOW(c) && \
	 !((c) == Z && LAZY))
#define FLOW_ENDS(x) \
	(at[x] != NONE && !finished[x] && NO_OPEN(x) && \
	 (weight[x] >= sources[x] || !accepting[x]))
#define QUIET \
	(!MAY_BIND(Q) && !MAY_BIND(P) && !MAY_BIND(C1) && !MAY_BIND(C2) && \
	 !MAY_BIND(Z) && !NEWS(P) && !NEWS(Q) && !AGAIN(P) && !AGAIN(Q) && \
	 !FLOW_ENDS(P) && !FLOW_ENDS(Q))

#define OVER	(done || aborted)

inline give_up()
{
	aborted = true;
	/* Otherwise a healthy transfer failed. */
	assert(dead || (mute && !NO_CHILD(P)))
}

/* The PROBE that binds carries the report, too. */
#define BIND_AT(c, x) \
		at[c] = (x); \
		said[c] = ((c) < C1 -> REACH_OF(c) : 1); \
		strayed[c] = said[c] != sources[c]; \
		told[c] = said[c]
#define BIND(c) \
	:: d_step { MAY_BIND(c) -> BIND_AT(c, NEXT(c)) }
#define PAST(c, x) \
	:: d_step { BYPASS && MAY_BIND(c) && NEXT(c) == P && accepting[x] -> \
		BIND_AT(c, x) }
#define SOURCE(c) \
	BIND(c) \
	:: d_step { MAY_FINISH(c) -> \
		finished[c] = true; \
		weight[at[c]] = weight[at[c]] + 1 }
#define SAY(x) \
		said[x] = REACH_OF(x); \
		strayed[x] = strayed[x] || said[x] != sources[x]
#define END(x) \
	BIND(x) \
	:: d_step { NEWS(x) -> SAY(x); told[x] = said[x] } \
	:: d_step { NEWS(x) -> SAY(x) } /* and the report is lost */ \
	:: d_step { AGAIN(x) -> told[x] = said[x] } \
	:: d_step { STOPS(x) -> accepting[x] = false } \
	:: d_step { FLOW_ENDS(x) -> \
		accepting[x] = false; \
		finished[x] = true; \
		weight[at[x]] = weight[at[x]] + weight[x] }
#ifdef WAITS
#define STOPS(x)	false
#else
#define STOPS(x)	IS_SHORT(x)
#endif

#ifdef PASSED_BY
#define GIVES_UP(x)	(at[x] == NONE)
#else
#define GIVES_UP(x)	(at[x] == NONE && !PASSED(x))
#endif

init
{
	d_step {
		planned[Q] = R;
		planned[P] = Q;
		planned[C1] = P;
		planned[C2] = P;
		planned[Z] = Q;
		sources[R] = 3;
		sources[Q] = 3;
		sources[P] = 2
	}
	do
	SOURCE(C1) SOURCE(C2) SOURCE(Z)
	PAST(C1, Q) PAST(C2, Q) PAST(C1, R) PAST(C2, R)
	END(P) END(Q)
	:: d_step { BYPASS && !mute && at[P] == NONE -> mute = true }
	:: d_step { mute && GIVES_UP(P) && !OVER -> give_up() }
	:: d_step { !dead && !finished[C2] -> dead = true }
	/* A bound child is silent. */
	:: d_step { dead && at[C2] != NONE && !finished[C2] && !OVER -> give_up() }
	:: d_step { IS_SHORT(R) && QUIET && !OVER -> give_up() }
	:: d_step { !OVER && weight[R] == sources[R] && NO_OPEN(R) ->
		accepting[R] = false;
		done = true;
#ifdef REACH
		assert(false)
#endif
		}
	:: OVER -> break
	:: LAZY && finished[C1] && finished[C2] -> break
	od
}
