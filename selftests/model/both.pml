/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Both: the result of a tree goes down to its sources through rings of bounded
 * size, block by block, while they send. No state is reached in which every member
 * waits for another one or for itself.
 */

/*
 * Root with a store of STORE blocks and a ring of RING packets; below it two nodes,
 * each with a ring of RING packets and one member. A member gives BLOCKS blocks, in
 * order, the second with REVERSE=1 in the opposite one. The channels are reliable.
 * The root puts a block in its ring when both members have given it, when both
 * have ended their round, or, if a member has no room in the store, as a partial
 * one. A packet leaves a ring when all that the ring serves have it. The end mark
 * needs no room in a ring.
 *
 * Each member's program is one of these, whatever the other one's is:
 *	AT_ONCE  poll(): it sends and reads whenever it can
 *	AFTER    sends all and ends the round, then reads
 *	TURNS    sends a block, reads a packet, and so on
 *	FIRST    reads the whole result, then sends
 * The manual allows AT_ONCE always, and AFTER if store and ring have room for the
 * whole result. The others, and AFTER with less room, must not make all wait for
 * ever: they end, or one of the calls fails, which ends the transfer.
 *
 * Rules: a send() that has no room fails if its own node's ring is full, because
 * the member's own reads must come first; also if the ring fills while it waits.
 * A recv() that finds nothing fails before the member has ended its round. (An
 * application that stops after such an error closes its socket, and so aborts.)
 *
 * Asserted: each member reads each contribution once; only a program that is not
 * allowed gets an error. Every member gets the result or an error (no invalid end
 * state).
 *
 * Mutants: SEND_WAITS  a send() waits, although its own ring is full
 *          ASLEEP      it looks at the ring only when it begins
 *          RECV_WAITS  a recv() waits before its member has ended its round
 *          NO_PARTIAL  the root puts only whole blocks in its ring
 *          REUSE       a slot is used again when the faster node has its packet
 *          SILENT      the error of one member is not told to the other one
 * REACH asserts that no member gets the result.
 */
#define BLOCKS	3
#ifndef STORE
#define STORE	2
#endif
#ifndef RING
#define RING	1
#endif
#ifndef REVERSE
#define REVERSE	0
#endif

mtype = { AT_ONCE, AFTER, TURNS, FIRST };
mtype program[2];

byte sent[2];			/* blocks that the member has given */
bool ended[2];			/* its round */
bool reads[2];			/* TURNS: it reads next */
bool asleep[2];			/* in a send() that waits */
bool whole[2];			/* it has read the end mark */
bool failed[2];			/* it got an error */
byte got[2 * BLOCKS];		/* contributions read, by member and block */

byte held[BLOCKS];		/* contributions of a block in the store */
byte used;			/* blocks in the store */

/* The packets that were ever put in the root's ring, and how far each node is */
byte out, to[2], read[2];
byte block[2 * BLOCKS], part[2 * BLOCKS];

#define B(m)		(1 << (m))
#define GIVES(m) \
	((m) == 1 && REVERSE -> BLOCKS - 1 - sent[m] : sent[m])
#define MORE(m)		(sent[m] < BLOCKS)
#define HAS_ROOM(m)	(held[GIVES(m)] != 0 || used < STORE)
#define ENDED		(ended[0] && ended[1])
#define STOPPED		(failed[0] || failed[1])

/* Which call is the member in? */
#define SENDS(m) \
	(MORE(m) && (program[m] == AT_ONCE || program[m] == AFTER || \
		     (program[m] == TURNS && !reads[m])))
#define READS(m) \
	(!whole[m] && (program[m] == AT_ONCE || program[m] == FIRST || \
		       ended[m] || (program[m] == TURNS && reads[m])))

#define UNREAD(m)	(to[m] - read[m])
#define IS_FULL(m)	(UNREAD(m) == RING)
#define END_NEXT(m)	(ENDED && used == 0 && read[m] == out)
#define NO_ROOM(m)	(SENDS(m) && !HAS_ROOM(m))
#define PRESSED		(NO_ROOM(0) || NO_ROOM(1))

#define SLOWEST		(to[0] < to[1] -> to[0] : to[1])
#define FASTEST		(to[0] < to[1] -> to[1] : to[0])
#ifdef REUSE
#define RING_ROOM	(out - FASTEST < RING)
#else
#define RING_ROOM	(out - SLOWEST < RING)
#endif
#ifdef NO_PARTIAL
#define LEAVES(b)	(held[b] == 3)
#else
#define LEAVES(b)	(held[b] == 3 || (held[b] && (PRESSED || ENDED)))
#endif

/* Is the program allowed? Then it gets no error. */
#define FITS		(BLOCKS <= STORE && BLOCKS <= RING)
#define ALLOWED(m) \
	(program[m] == AT_ONCE || (program[m] == AFTER && FITS))

#ifdef SEND_WAITS
#define SEND_FAILS(m)	false
#else
#ifdef ASLEEP
#define SEND_FAILS(m)	(!asleep[m] && IS_FULL(m))
#else
#define SEND_FAILS(m)	IS_FULL(m)
#endif
#endif
#ifdef RECV_WAITS
#define RECV_FAILS(m)	false
#else
#define RECV_FAILS(m)	(!ended[m])
#endif
#ifdef SILENT
#define TOLD(m)		false
#else
#define TOLD(m)		(failed[1 - (m)] && !whole[m])
#endif

inline fail(m)
{
	assert(!ALLOWED(m));
	failed[m] = true
}

#define EMIT(b) \
	:: d_step { !STOPPED && LEAVES(b) && RING_ROOM -> \
		block[out] = b; \
		part[out] = held[b]; \
		held[b] = 0; \
		used--; \
		out++ }

#define MEMBER(m) \
	:: d_step { !STOPPED && SENDS(m) && HAS_ROOM(m) -> \
		used = used + (held[GIVES(m)] == 0); \
		assert(!(held[GIVES(m)] & B(m))); \
		held[GIVES(m)] = held[GIVES(m)] | B(m); \
		sent[m]++; \
		asleep[m] = false; \
		reads[m] = true } \
	:: d_step { !STOPPED && !MORE(m) && !ended[m] -> ended[m] = true } \
	/* from the root's ring to the node's */ \
	:: d_step { !STOPPED && to[m] < out && !IS_FULL(m) -> \
		assert(out - to[m] <= RING); \
		to[m]++ } \
	:: d_step { !STOPPED && READS(m) && UNREAD(m) > 0 -> \
		assert(!(got[(m) * BLOCKS + block[read[m]]] & \
			 part[read[m]])); \
		got[(m) * BLOCKS + block[read[m]]] = \
			got[(m) * BLOCKS + block[read[m]]] | \
			part[read[m]]; \
		read[m]++; \
		reads[m] = false } \
	:: d_step { READS(m) && END_NEXT(m) && !failed[m] -> \
		assert(got[(m) * BLOCKS] == 3 && \
		       got[(m) * BLOCKS + BLOCKS - 1] == 3); \
		whole[m] = true; \
		NOT_REACHED } \
	/* the calls that wait or fail */ \
	:: d_step { !STOPPED && NO_ROOM(m) && program[m] != AT_ONCE && \
		    SEND_FAILS(m) -> fail(m) } \
	:: d_step { !STOPPED && NO_ROOM(m) && !asleep[m] && !IS_FULL(m) -> \
		asleep[m] = true } \
	:: d_step { !STOPPED && READS(m) && program[m] != AT_ONCE && \
		    UNREAD(m) == 0 && RECV_FAILS(m) -> fail(m) } \
	:: d_step { TOLD(m) && !failed[m] -> failed[m] = true }

#ifdef REACH
#define NOT_REACHED	assert(false)
#else
#define NOT_REACHED	skip
#endif

inline choose(m)
{
	if
	:: program[m] = AT_ONCE
	:: program[m] = AFTER
	:: program[m] = TURNS
	:: program[m] = FIRST
	fi
}

active proctype tree()
{
	choose(0);
	choose(1);
	do
	EMIT(0)
	EMIT(1)
	EMIT(2)
	MEMBER(0)
	MEMBER(1)
	:: (whole[0] || failed[0]) && (whole[1] || failed[1]) -> break
	od
}
