/* SPDX-License-Identifier: GPL-2.0 */
/* Who may accept whom: bindings form no cycle, and all get to the receiver. */

/*
 * Ends 1..N of a tree with the receiver 0; planned parent of i is i - 1. OPEN
 * with ANY may come to any end whatever (plain IP after a failure, a copy that
 * a false positive made), also to a descendant. A cycle of bindings would never
 * finish, and its members keep each other alive, so no give_up would end it.
 *
 * Rule: an end accepts a child that is not on its list only if it is rooted: it
 * is the receiver, or the acceptor to which it is bound said that it is rooted.
 *
 * A child that finds RST before it is bound opens anew, and it may be the same
 * end again that its OPEN comes to. It does not go round for ever, for there is
 * an end to what is behind an RST: an end that has closed (its flow is whole, or
 * hold has passed) stays so and accepts nobody, and restarts are faults, of
 * which there are RESTARTS in all. The receiver closes when all are bound. So
 * no state comes again, and the only end is that where all ends are rooted: any
 * other would be a deadlock.
 *
 * Mutants: ANYONE  any end accepts any child
 *	    DIRECT  any end accepts any child but its own acceptor
 *	    CLOSED_ACCEPTS an end that has closed answers OPEN, PROBE finds RST
 *	    FOREVER restarts have no end
 *	    LISTS_ONLY the receiver accepts nobody but those on its list
 *	    UNLISTED no list is kept: any OPEN entitles, but for the rule
 *	             (no mutant: the rule has to hold there too)
 * REACH asserts that not everybody is bound.
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

/* Follow the acceptors; a walk that is longer than the tree is a cycle. */
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

/* OPEN of c comes to a, and c takes its ACCEPT. */
#define OPEN(c, a) \
	d_step { up[c] == NONE && (c) != (a) && ACCEPTS(a) && \
		 ENTITLED(c, a) -> up[c] = a }

/* PROBE binds; its ACK, or a later one, tells that a is rooted. */
#define PROBE(c) \
	d_step { up[c] != NONE && !bound[c] && !closed[up[c]] -> \
		bound[c] = true; nbound++; check(c) }
#define ACK(c) \
	d_step { bound[c] && !rooted[c] && (up[c] == 0 || rooted[up[c]]) -> \
		rooted[c] = true; nrooted++ }
/* RST(CLOSED): nothing was acknowledged, c opens anew. */
#define CLOSED(c) \
	d_step { up[c] != NONE && !bound[c] && closed[up[c]] -> up[c] = NONE }
/* RST(NONCE): the acceptor has started anew since its ACCEPT. */
#define NONCE(c) \
	d_step { up[c] != NONE && !bound[c] && RESTART; up[c] = NONE }
/* hold passes at a, or its flow is whole without whom the plan foresaw. */
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
