/* SPDX-License-Identifier: GPL-2.0 */
/* Which end may accept which child: bindings form no cycle, and all lead to the
 * receiver.
 */

/*
 * Ends 1..N of a tree with the receiver 0; planned parent of i is i - 1. OPEN
 * with ANY may reach any end (plain IP after a failure, a copy by a false
 * positive), also a descendant. A cycle of bindings would never finish, and its
 * members would keep each other alive, so that no give_up ends it.
 *
 * Rule: an end accepts a child that is not on its list only if it is rooted: it
 * is the receiver, or its acceptor has reported that it is rooted itself.
 *
 * A child that gets RST before it is bound opens again, and its OPEN may reach
 * the same end. This does not repeat for ever: an end that has closed (its flow
 * is whole, or hold has passed) stays closed and accepts no child, and restarts
 * are faults, of which there are at most RESTARTS. The receiver closes when all
 * are bound. So no state occurs twice, and the run can end only where all ends
 * are rooted: any other end would be a deadlock.
 *
 * Mutants: ANYONE  any end accepts any child
 *	    DIRECT  any end accepts any child but its own acceptor
 *	    CLOSED_ACCEPTS an end that has closed answers OPEN, PROBE gets RST
 *	    FOREVER restarts have no end
 *	    LISTS_ONLY the receiver accepts only children on its list
 *	    UNLISTED no list is kept: any OPEN is acceptable by list
 *	             (not a mutant: the rule must hold there too)
 * REACH asserts that some end is never bound.
 */
#define N	3
#define RESTARTS 2
#define NONE	7

byte up[N + 1] = NONE;		/* acceptor chosen: BINDING or BOUND */
bool bound[N + 1], rooted[N + 1], closed[N + 1];
byte nbound, nrooted, restarts;

#define LISTED(c, a)	((a) + 1 == (c))

#ifdef ANYONE
#define MAY(c, a)	true
#else
#ifdef DIRECT
#define MAY(c, a)	(up[a] != (c))
#else
#ifdef LISTS_ONLY
#define MAY(c, a)	rooted[a]
#else
#define MAY(c, a)	((a) == 0 || rooted[a])
#endif
#endif
#endif

#ifdef UNLISTED
#define ENTITLED(c, a)	MAY(c, a)
#else
#define ENTITLED(c, a)	(LISTED(c, a) || MAY(c, a))
#endif

#ifdef CLOSED_ACCEPTS
#define ACCEPTS(a)	true
#else
#define ACCEPTS(a)	(!closed[a])
#endif

#ifdef FOREVER
#define RESTART		true
#else
#define RESTART		restarts < RESTARTS -> restarts++
#endif

/* Follow the acceptors; a path longer than the tree is a cycle. */
inline check(from)
{
	at = from;
	hops = 0;
	do
	:: hops <= N && at != 0 && at != NONE && bound[at] ->
		at = up[at];
		hops++
	:: else -> break
	od;
	assert(hops <= N);
	at = 0;
	hops = 0
}

/* OPEN of c reaches a, and c takes its ACCEPT. */
#define OPEN(c, a) \
	d_step { up[c] == NONE && (c) != (a) && ACCEPTS(a) && \
		 ENTITLED(c, a) -> up[c] = a }

/* PROBE binds; its ACK, or a later one, reports that a is rooted. */
#define PROBE(c) \
	d_step { up[c] != NONE && !bound[c] && !closed[up[c]] -> \
		bound[c] = true; nbound++; check(c) }
#define ACK(c) \
	d_step { bound[c] && !rooted[c] && (up[c] == 0 || rooted[up[c]]) -> \
		rooted[c] = true; nrooted++ }
/* RST(CLOSED): nothing was acknowledged, c opens again. */
#define CLOSED(c) \
	d_step { up[c] != NONE && !bound[c] && closed[up[c]] -> up[c] = NONE }
/* RST(NONCE): the acceptor has restarted since its ACCEPT. */
#define NONCE(c) \
	d_step { up[c] != NONE && !bound[c] && RESTART; up[c] = NONE }
/* hold passes at a, or its flow is whole with other children than planned. */
#define CLOSE(a) \
	d_step { !closed[a] -> closed[a] = true }

active proctype tree()
{
	byte at, hops;

	do
	:: OPEN(1, 0) :: OPEN(1, 2) :: OPEN(1, 3)
	:: OPEN(2, 0) :: OPEN(2, 1) :: OPEN(2, 3)
	:: OPEN(3, 0) :: OPEN(3, 1) :: OPEN(3, 2)
	:: PROBE(1) :: PROBE(2) :: PROBE(3)
	:: ACK(1) :: ACK(2) :: ACK(3)
	:: CLOSED(1) :: CLOSED(2) :: CLOSED(3)
	:: NONCE(1) :: NONCE(2) :: NONCE(3)
	:: CLOSE(1) :: CLOSE(2) :: CLOSE(3)
	:: nrooted == N -> break
#ifdef REACH
	:: d_step { nbound == N -> assert(false) }
#endif
	od
}
