/* SPDX-License-Identifier: GPL-2.0 */
/* Credit: two trees in opposite directions over the memory of two nodes. */

/*
 * Tree 0 goes from node 0 to node 1 and tree 1 from node 1 to node 0. A writer
 * fills chunks at the source; a credit holds a chunk at the sink from its grant
 * until the application has read the records. Each node has CHUNKS.
 *
 * Rule: admission reserves what each tree needs to make progress alone, one
 * chunk to emit from and one for a credit; only the rest is shared.
 *
 * Asserted: both trees finish (no invalid end state). With SLOW_READER tree 1
 * is never read, and tree 0 finishes.
 *
 * Mutants: SHARED     one pool per node, nothing is reserved
 *	    NO_SOURCE  no reserve for the packet to emit
 *	    NO_SINK    no reserve for the credit
 *	    UNBACKED   credit without memory behind it
 *	    TAKEN_BACK a grant is taken back: both may go on for ever
 */
#ifndef CHUNKS
#define CHUNKS 4
#endif
#ifndef RECORDS
#define RECORDS 4
#endif
#ifndef SLOW_READER
#define SLOW_READER 0
#endif

byte left[2] = RECORDS;		/* records that the writer still has */
byte held[2];			/* chunks at the source */
byte credit[2];			/* chunks at the sink, granted and unused */
byte come[2];			/* chunks at the sink that are not read */
bool finished[2];

#define SRC(t)	(held[t])
#define DST(t)	(credit[t] + come[t])
#define USED(n)	(SRC(n) + DST(1 - (n)))
#define MAX0(x)	((x) > 0 -> (x) : 0)

/* Chunks that are reserved for the other tree and not in use. */
#ifdef SHARED
#define NO_SOURCE
#define NO_SINK
#endif
#ifdef NO_SINK
#define KEEP_FOR_SINK(n)	0
#else
#define KEEP_FOR_SINK(n)	MAX0(1 - DST(1 - (n)))
#endif
#ifdef NO_SOURCE
#define KEEP_FOR_SRC(n)		0
#else
#define KEEP_FOR_SRC(n)		MAX0(1 - SRC(n))
#endif

#ifdef UNBACKED
#define ROOM_SINK(n)	(credit[1 - (n)] < CHUNKS)
#else
#define ROOM_SINK(n)	(USED(n) + KEEP_FOR_SRC(n) < CHUNKS)
#endif
#define ROOM_SRC(n)	(USED(n) + KEEP_FOR_SINK(n) < CHUNKS)

#define BOUNDED	assert(USED(0) <= CHUNKS && USED(1) <= CHUNKS)

proctype tree(byte t)
{
	do
	:: d_step { left[t] > 0 && ROOM_SRC(t) ->
		left[t]--;
		held[t]++;
		BOUNDED }
	/* Credit is absolute and monotonic: a grant is never taken back. */
	:: d_step { !finished[t] && ROOM_SINK(1 - t) ->
		credit[t]++;
		BOUNDED }
#ifdef TAKEN_BACK
	:: d_step { !finished[t] && credit[t] > 0 -> credit[t]-- }
#endif
	:: d_step { held[t] > 0 && credit[t] > 0 ->
		held[t]--;
		credit[t]--;
		come[t]++ }
	:: d_step { come[t] > 0 && !(SLOW_READER && t == 1) -> come[t]-- }
	/* FIN: unused credit returns to the pool */
	:: d_step { !finished[t] && left[t] == 0 && held[t] == 0 ->
		finished[t] = true;
		credit[t] = 0 }
	:: finished[t] && come[t] == 0 -> break
	:: SLOW_READER && t == 1 && finished[0] -> break
	od
}

init
{
	atomic { run tree(0); run tree(1) }
}
