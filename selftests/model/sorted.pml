/* SPDX-License-Identifier: GPL-2.0 */
/* Sorted streams: when an end may begin to merge, and when a key may leave. */

/*
 * Sources 0 and 1 are planned below A; source 2 and A are planned below the
 * receiver R. An OPEN may reach any end (a route around, a planned end that has
 * closed), so any source may be bound at either. Each sends some of the keys
 * 1..KEYS, in order. A contributor has a run of one packet at its acceptor. No
 * packet is lost here; channel.pml models losses.
 *
 * Rules: the first packet of a flow states its weight, the number of its
 * sources. An end merges nothing before the weights of its contributors add up
 * to its sources, or hold has passed; then it is closed: it accepts no child,
 * and its own weight is what it has. It merges the least key of all runs when
 * each run has a packet or has ended.
 *
 * So a key leaves R once, with each source that sent it once, and the transfer
 * ends.
 *
 * Mutants: EARLY    an end merges before it is closed
 *	    LATE     a closed end accepts
 *	    PLANNED  a flow states the weight that was planned
 *	    EMPTY    an end does not wait for an empty run
 *	    NO_HOLD  hold never passes
 * REACH asserts that the end is not reached.
 */
#define KEYS	2
#define SOURCES	3
#define A	3		/* as a contributor: its flow to R */
#define FLOWS	4

#define TO_R	1		/* acceptors */
#define TO_A	2

byte at[FLOWS];			/* acceptor, 0: none yet */
bool told[FLOWS], ended[FLOWS];
byte key[FLOWS], by[FLOWS];	/* packet in the run, 0: none; its sources */
byte next[SOURCES];		/* keys that the source has passed */
bool closed[3];			/* by acceptor */
byte weight[3];			/* stated to it */
byte gave[KEYS + 1], out[KEYS + 1];	/* sources, by key */
byte last;			/* key that left R */

#define NEEDS(e)	((e) == TO_R -> SOURCES : 2)
#define UNBOUND(e)	(at[0] != (e) && at[1] != (e) && at[2] != (e) && \
			 at[A] != (e))

#ifdef LATE
#define ACCEPTS(e)	true
#else
#define ACCEPTS(e)	(!closed[e])
#endif
#ifdef EARLY
#define BEGINS(e)	true
#else
#define BEGINS(e)	closed[e]
#endif
#ifdef PLANNED
#define WEIGHT_OF_A	2
#else
#define WEIGHT_OF_A	weight[TO_A]
#endif

/* A run with a packet, or that has ended, does not delay its end. */
#ifdef EMPTY
#define READY(f, e)	true
#else
#define READY(f, e)	(at[f] != (e) || key[f] || ended[f])
#endif
#define ALL_READY(e)	(READY(0, e) && READY(1, e) && READY(2, e) && READY(A, e))
#define HAS(f, e, k)	(at[f] == (e) && key[f] == (k))
#define ANY_HAS(e, k)	(HAS(0, e, k) || HAS(1, e, k) || HAS(2, e, k) || \
			 HAS(A, e, k))
/* The least key, if there is any. */
#define LEAST(e, k)	(ANY_HAS(e, k) && ((k) == 1 || !ANY_HAS(e, 1)))
#define DONE(f, e)	(at[f] != (e) || (ended[f] && !key[f]))
#define ALL_DONE(e)	(DONE(0, e) && DONE(1, e) && DONE(2, e) && DONE(A, e))

/* The first packet of f, or its end, states how many sources it has. */
inline tell(f, w)
{
	if
	:: told[f]
	:: else ->
		told[f] = true;
		weight[at[f]] = weight[at[f]] + w;
		if
		:: weight[at[f]] >= NEEDS(at[f]) -> closed[at[f]] = true
		:: else
		fi
	fi
}

inline take(f, e, k, m)
{
	if
	:: HAS(f, e, k) ->
		assert((m & by[f]) == 0);
		m = m | by[f];
		key[f] = 0;
		by[f] = 0
	:: else
	fi
}

inline merge(e, k, m)
{
	take(0, e, k, m);
	take(1, e, k, m);
	take(2, e, k, m);
	take(A, e, k, m)
}

#define BIND(f, e) \
	d_step { at[f] == 0 && ACCEPTS(e) -> at[f] = e }
/* A contributor sends its next key. */
#define GIVE(f) \
	d_step { at[f] != 0 && !key[f] && next[f] < KEYS -> \
		next[f]++; key[f] = next[f]; by[f] = 1 << f; \
		gave[next[f]] = gave[next[f]] | (1 << f); tell(f, 1) }
#define SKIP(f) \
	d_step { next[f] < KEYS -> next[f]++ }
#define END(f) \
	d_step { at[f] != 0 && next[f] == KEYS && !ended[f] -> \
		ended[f] = true; tell(f, 1) }
#define UP(k) \
	d_step { BEGINS(TO_A) && at[A] && !key[A] && ALL_READY(TO_A) && \
		 LEAST(TO_A, k) -> \
		merge(TO_A, k, m); assert(!ended[A]); \
		key[A] = k; by[A] = m; m = 0; tell(A, WEIGHT_OF_A) }
#define LEAVE(k) \
	d_step { BEGINS(TO_R) && ALL_READY(TO_R) && LEAST(TO_R, k) -> \
		merge(TO_R, k, m); assert(k > last); \
		last = k; out[k] = m; m = 0 }

active proctype tree()
{
	byte m;

	do
	:: BIND(0, TO_A) :: BIND(0, TO_R)
	:: BIND(1, TO_A) :: BIND(1, TO_R)
	:: BIND(2, TO_R)
	/* Once A is bound it may accept a child that is not on its list. */
	:: d_step { at[2] == 0 && at[A] && ACCEPTS(TO_A) -> at[2] = TO_A }
	:: d_step { at[A] == 0 && !UNBOUND(TO_A) && ACCEPTS(TO_R) ->
		at[A] = TO_R }
	:: GIVE(0) :: GIVE(1) :: GIVE(2)
	:: SKIP(0) :: SKIP(1) :: SKIP(2)
	:: END(0) :: END(1) :: END(2)
	:: UP(1) :: UP(2)
	:: d_step { closed[TO_A] && at[A] && !ended[A] && ALL_DONE(TO_A) ->
		ended[A] = true;
		tell(A, WEIGHT_OF_A) }
#ifndef NO_HOLD
	:: d_step { !closed[TO_A] && !UNBOUND(TO_A) -> closed[TO_A] = true }
#endif
	:: LEAVE(1) :: LEAVE(2)
	:: closed[TO_R] && ALL_DONE(TO_R) -> break
	od;
	/* The accounts, and the result. */
	assert(weight[TO_R] == SOURCES);
	assert(at[0] && at[1] && at[2]);
	assert(!at[A] || ended[A]);
	assert(out[1] == gave[1] && out[2] == gave[2]);
#ifdef REACH
	assert(false)
#endif
}
