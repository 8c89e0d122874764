/* SPDX-License-Identifier: GPL-2.0 */
/* Who may accept whom, so that bindings never form a cycle. */

/*
 * Ends 1..N of a tree with the receiver 0; planned parent of i is i - 1. OPEN
 * with ANY may come to any end whatever (plain IP after a failure, a copy that
 * a false positive made), also to a descendant. A cycle of bindings would never
 * finish, and its members keep each other alive, so no give_up would end it.
 *
 * Rule: an end accepts a child that is not on its list only if it is rooted: it
 * is the receiver, or the acceptor to which it is bound said that it is rooted.
 *
 * Mutants: ANYONE  any end accepts any child
 *	    DIRECT  any end accepts any child but its own acceptor
 *	    UNLISTED no list is kept: any OPEN entitles, but for the rule
 *	             (no mutant: the rule has to hold there too)
 * REACH asserts that not everybody is bound.
 */
#define N	3
#define NONE	7

byte up[N + 1] = NONE;		/* acceptor chosen: BINDING or BOUND */
bool bound[N + 1], rooted[N + 1];
byte nbound;

#define LISTED(c, a)	((a) + 1 == (c))

#ifdef ANYONE
#define MAY(c, a)	true
#else
#ifdef DIRECT
#define MAY(c, a)	(up[a] != (c))
#else
#define MAY(c, a)	((a) == 0 || rooted[a])
#endif
#endif

#ifdef UNLISTED
#define ENTITLED(c, a)	MAY(c, a)
#else
#define ENTITLED(c, a)	(LISTED(c, a) || MAY(c, a))
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
	d_step { up[c] == NONE && (c) != (a) && ENTITLED(c, a) -> up[c] = a }

/* PROBE binds; its ACK, or a later one, tells that a is rooted. */
#define PROBE(c) \
	d_step { up[c] != NONE && !bound[c] -> \
		bound[c] = true; nbound++; check(c) }
#define ACK(c) \
	d_step { bound[c] && !rooted[c] && (up[c] == 0 || rooted[up[c]]) -> \
		rooted[c] = true }
/* RST(CLOSED): nothing was acknowledged, c opens anew. */
#define RST(c) \
	d_step { up[c] != NONE && !bound[c] -> up[c] = NONE }

active proctype tree()
{
	byte at, hops;
end:	do
	:: OPEN(1, 0) :: OPEN(1, 2) :: OPEN(1, 3)
	:: OPEN(2, 0) :: OPEN(2, 1) :: OPEN(2, 3)
	:: OPEN(3, 0) :: OPEN(3, 1) :: OPEN(3, 2)
	:: PROBE(1) :: PROBE(2) :: PROBE(3)
	:: ACK(1) :: ACK(2) :: ACK(3)
	:: RST(1) :: RST(2) :: RST(3)
#ifdef REACH
	:: d_step { nbound == N -> assert(false) }
#endif
	od
}
