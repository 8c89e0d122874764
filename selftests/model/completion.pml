/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Completion: FIN with weight, DONE after the end mark, ABORT from any node,
 * hold, crash of an aggregator.
 */

/*
 * Receiver R = 0, aggregator A = 1 that sends too, sources S = 2 (planned child
 * of A) and T = 3 (planned child of R).
 *
 * channel.pml models the channel itself. Here a packet that a node repeats
 * until it is answered is read from the node's state, at any time or never.
 * Only a packet that is sent once (the pushed DONE) can be lost for good.
 *
 * Faults allowed (-D...=1): READER_CLOSES before the end mark, WRITER_CLOSES
 * without shutdown, HOLD passes, CRASH of A with RESTART or without, BYPASS:
 * the route of S leads around A, which waits for S. With GIVE_UP=1 give_up
 * passes where the code's conditions hold, and only there: a bound child or the
 * acceptor is silent; a process does not join a node that restarted; the
 * receiver has too few sources (giveup.pml), and no more will come. Half of it
 * passes at A while S has not bound, which ends a BYPASS without an abort.
 * Without GIVE_UP a CRASH or a BYPASS must end in a hang that the run finds.
 *
 * Asserted: a source's DONE means that the end mark was taken; the end mark
 * means that every source is in the result; without faults no node aborts;
 * every application gets an outcome (no invalid end state).
 *
 * Mutants, of which the run must find each:
 *	DONE_BY_FIN   A sends DONE when its FIN is taken
 *	DONE_BY_WHOLE R sends DONE when the flow is whole, before the end mark
 *	NO_TOMBSTONE  DONE is pushed, but does not answer repeated FINs
 *	FIN_EARLY     FIN is taken before all DATA are
 *	UNFINISHED    a flow closes although a bound child has not finished
 *	OWN_WRITERS   a flow closes although its own writers have not finished
 *	EXACT         a flow closes only if its weight equals its sources
 *	HOLD_AT_R     hold stops the receiver from accepting
 *	SILENT_ABORT  an aborted child does not notify its acceptor
 *	NO_CHILD, NO_PEER, NO_WRITER, NO_SHORT, NO_HALF
 *		      give_up lacks one of its conditions
 * REACH asserts that DONE is never reached.
 */
#ifndef READER_CLOSES
#define READER_CLOSES 0
#endif
#ifndef WRITER_CLOSES
#define WRITER_CLOSES 0
#endif
#ifndef HOLD
#define HOLD 0
#endif
#ifndef CRASH
#define CRASH 0
#endif
#ifndef RESTART
#define RESTART 0
#endif
#ifndef BYPASS
#define BYPASS 0
#endif
#ifndef GIVE_UP
#define GIVE_UP 0
#endif

#define R	0
#define A	1
#define S	2
#define T	3
#define NONE	7
#define LOST	6
#define ALL	3		/* sources of the tree: A, S, T */

#define LISTED(c, x) \
	(((c) == A && (x) == R) || ((c) == S && (x) == A) || \
	 ((c) == T && (x) == R))

/* enum aggnet_tree_state; LATER ones are outcomes. */
mtype = { OPEN, CLOSING, WAITING, DONE, ABORTED, DEAD };
mtype state[4] = OPEN;
#define OUTCOME(i) \
	(state[i] == DONE || state[i] == ABORTED || state[i] == DEAD)

/* enum aggnet_up_state */
#define OPENING		1
#define BINDING		2
#define BOUND		3
#define FINISHED	4
byte up[4] = OPENING;
byte peer[4] = NONE, peer_life[4];

byte life[2];			/* incarnations of R and A */
bool accepting[2] = true, flushing[2];
byte bound_to[4] = NONE;	/* acceptor at which the child has a slot */
byte bound_life[4];
bool fin_taken[4], fin_sent[4];
byte at[4] = NONE;		/* node that holds the source's record */
bool shut[4];			/* its writers have all shut down */
byte weight[4], members[4], records[4];
bool end_read, crashed, done_pushed[4];

#define ALIVE(x)	(state[x] != DEAD)
#define FAULTS		(READER_CLOSES || WRITER_CLOSES || CRASH)
#define ROOTED(x)	((x) == R || (up[x] >= BOUND && peer[x] == R))
/* An OPEN reaches the planned end first; while it lives, it keeps the OPEN. */
#define BEYOND(c) \
	((c) == T || BYPASS || !accepting[A] || OUTCOME(A))
#define ENTITLED(c, x) \
	(ALIVE(x) && (x) != (c) && \
	 (LISTED(c, x) || (ROOTED(x) && BEYOND(c))))
#define AT(c, x) \
	(bound_to[c] == (x) && bound_life[c] == life[x])
#define UNFINISHED_AT(c, x)	(AT(c, x) && !fin_taken[c])
#define NO_BOUND(x) \
	(!UNFINISHED_AT(A, x) && !UNFINISHED_AT(S, x) && !UNFINISHED_AT(T, x))
#define DRAINED(i) \
	(at[A] != (i) && at[S] != (i) && at[T] != (i))

/* Conditions of give_up. Its acceptor keeps the slot of a node that crashed. */
#ifdef NO_CHILD
#define CHILD_SILENT(x)	false
#else
#define LOST_CHANNEL(c)	(!ALIVE(c) || up[c] < BOUND || peer[c] != bound_to[c])
#define CHILD_SILENT(x) \
	(crashed && (x) == R && UNFINISHED_AT(A, R) && LOST_CHANNEL(A))
#endif
#ifdef NO_PEER
#define PEER_SILENT(i)	false
#else
#define PEER_SILENT(i)	(up[i] >= BINDING && !ALIVE(peer[i]))
#endif
#ifdef NO_WRITER
#define WRITER_MISSING(i)	false
#else
#define WRITER_MISSING(i)	((i) == A && crashed && ALIVE(A) && !shut[A])
#endif
#ifdef NO_SHORT
#define RECEIVER_SHORT	false
#else
#define TOLD_BY_A \
	(accepting[A] -> 2 : weight[A] + UNFINISHED_AT(S, A) + !shut[A])
#define COVERED_BY_R \
	(weight[R] + UNFINISHED_AT(S, R) + UNFINISHED_AT(T, R) + \
	 (UNFINISHED_AT(A, R) -> TOLD_BY_A : 0))
#define STILL_COMES(c)	(!OUTCOME(c) && bound_to[c] == NONE)
#define RECEIVER_SHORT \
	(accepting[R] && crashed && COVERED_BY_R < ALL && \
	 !STILL_COMES(S) && !STILL_COMES(T))
#endif
#ifdef NO_HALF
#define HALF_PASSES	false
#else
#define HALF_PASSES	(GIVE_UP && bound_to[S] != A)
#endif

inline abort(i)
{
	assert(FAULTS);
	state[i] = ABORTED
}

/* c's ABORT reaches x if c is bound there, or x has accepted its OPEN. */
#ifdef SILENT_ABORT
#define TELLS_ABORT(c, x)	false
#else
#define TELLS_ABORT(c, x) \
	(state[c] == ABORTED && !OUTCOME(x) && \
	 ((up[c] >= BINDING && peer[c] == (x) && \
	   peer_life[c] == life[x] && \
	   (bound_to[c] == (x) || bound_to[c] == NONE)) || \
	  (up[c] == OPENING && ENTITLED(c, x) && accepting[x] && \
	   bound_to[c] == NONE)))
#endif

/* What end x does with packets of its child c. */
#define SERVE(c, x) \
	:: d_step { up[c] == OPENING && !OUTCOME(c) && ENTITLED(c, x) && \
		    !OUTCOME(x) && accepting[x] && bound_to[c] == NONE -> \
		up[c] = BINDING; peer[c] = x; peer_life[c] = life[x] } \
	:: d_step { up[c] == BINDING && peer[c] == x && !OUTCOME(x) && \
		    peer_life[c] == life[x] && accepting[x] && \
		    bound_to[c] == NONE -> \
		bound_to[c] = x; bound_life[c] = life[x] } \
	:: d_step { up[c] >= BOUND && peer[c] == x && AT(c, x) && \
		    !OUTCOME(x) && !fin_taken[c] && fin_sent[c] && \
		    FIN_FITS(c) -> \
		fin_taken[c] = true; \
		weight[x] = weight[x] + weight[c]; \
		members[x] = members[x] + members[c]; \
		records[x] = records[x] + records[c] } \
	:: d_step { TELLS_ABORT(c, x) -> abort(x) }

#ifdef FIN_EARLY
#define FIN_FITS(c)	true
#define MAY_FIN(i)	true
#else
#define FIN_FITS(c)	DRAINED(c)
#define MAY_FIN(i)	DRAINED(i)
#endif

#ifdef UNFINISHED
#define CHILDREN_DONE(x)	true
#else
#define CHILDREN_DONE(x)	NO_BOUND(x)
#endif
#ifdef OWN_WRITERS
#define OWN_DONE(x)		true
#else
#define OWN_DONE(x)		((x) == R || shut[x])
#endif
#ifdef EXACT
#define ENOUGH(x, n)		(weight[x] == (n))
#else
#define ENOUGH(x, n)		(weight[x] >= (n))
#endif

/* R and A are ends. SOURCES(x) of A: itself and S. */
#define SOURCES(x)	((x) == R -> ALL : 2)

inline drain(c, x)
{
	if
	:: at[A] == c -> at[A] = x
	:: else
	fi;
	if
	:: at[S] == c -> at[S] = x
	:: else
	fi;
	if
	:: at[T] == c -> at[T] = x
	:: else
	fi
}

/* i's own flow is whole, or hold has passed. */
#define WHOLE(x) \
	(state[x] == OPEN && CHILDREN_DONE(x) && OWN_DONE(x) && \
	 (ENOUGH(x, SOURCES(x)) || flushing[x]))

active proctype end_R()
{
end:	do
	SERVE(A, R)
	SERVE(S, R)
	SERVE(T, R)
	:: OUTCOME(R) -> break
	od
}

active proctype end_A()
{
end:	do
	SERVE(S, A)
	SERVE(T, A)
	:: OUTCOME(A) -> break
	od
}

active proctype flow_R()
{
	do
	:: d_step { WHOLE(R) ->
		accepting[R] = false;
		if
		:: weight[R] == ALL && members[R] == 1 + 2 + 4 &&
		   records[R] == (at[A] == R) + (at[S] == R) + (at[T] == R) ->
			state[R] = CLOSING
		:: else -> abort(R)
		fi }
	/* The application takes the end mark. */
	:: d_step { state[R] == CLOSING ->
		end_read = true;
		state[R] = DONE;
		assert(at[A] == R && at[S] == R && at[T] == R) }
#ifdef HOLD_AT_R
	:: d_step { HOLD && accepting[R] -> accepting[R] = false }
#endif
	:: d_step { READER_CLOSES && !OUTCOME(R) -> abort(R) }
	:: d_step { GIVE_UP && !OUTCOME(R) && \
		    (CHILD_SILENT(R) || RECEIVER_SHORT) -> abort(R) }
	:: OUTCOME(R) -> break
	od
}

/* Has the acceptor of i reached the state in which it sends DONE? */
#ifdef DONE_BY_WHOLE
#define HAS_DONE(x)	(state[x] == DONE || ((x) == R && state[x] == CLOSING))
#else
#ifdef DONE_BY_FIN
#define HAS_DONE(x)	(state[x] == DONE || ((x) == A && state[x] == WAITING))
#else
#define HAS_DONE(x)	(state[x] == DONE)
#endif
#endif

inline become_done(i)
{
	state[i] = DONE;
#ifdef REACH
	assert(false);
#endif
	assert(end_read)
}

/* The child's half of i's channel, and i's own flow. */
#define FLOW(i) \
	:: d_step { up[i] == BINDING && AT(i, peer[i]) && !OUTCOME(i) && \
		    peer_life[i] == life[peer[i]] && ALIVE(peer[i]) -> \
		up[i] = BOUND } \
	/* DATA merged and acknowledged: custody is with the acceptor */ \
	:: d_step { up[i] == BOUND && AT(i, peer[i]) && !OUTCOME(i) && \
		    ALIVE(peer[i]) && !OUTCOME(peer[i]) && \
		    !fin_taken[i] && !DRAINED(i) -> \
		drain(i, peer[i]) } \
	/* own writers: write one record, shut down; not again after a crash */ \
	:: d_step { state[i] == OPEN && !shut[i] && \
		    !((i) == A && crashed) -> \
		shut[i] = true; \
		at[i] = i; \
		weight[i] = weight[i] + 1; \
		members[i] = members[i] + MEMBER(i); \
		records[i] = records[i] + 1 } \
	:: d_step { up[i] == BOUND && state[i] == CLOSING && !fin_sent[i] && \
		    MAY_FIN(i) -> fin_sent[i] = true } \
	:: d_step { up[i] == BOUND && fin_taken[i] && state[i] == CLOSING && \
		    ALIVE(peer[i]) -> \
		up[i] = FINISHED; state[i] = WAITING } \
	/* DONE: pushed once, or the answer to a FIN */ \
	:: d_step { state[i] == WAITING && HAS_DONE(peer[i]) && \
		    !done_pushed[i] -> \
		done_pushed[i] = true; become_done(i) } \
	:: d_step { state[i] == WAITING && HAS_DONE(peer[i]) && \
		    !done_pushed[i] -> done_pushed[i] = true } \
	:: d_step { TOMBSTONE && state[i] == WAITING && \
		    HAS_DONE(peer[i]) && AT(i, peer[i]) -> \
		become_done(i) } \
	/* ABORT of the acceptor, or of an end that sent ACCEPT */ \
	:: d_step { !OUTCOME(i) && up[i] >= BINDING && \
		    state[peer[i]] == ABORTED && \
		    peer_life[i] == life[peer[i]] -> abort(i) } \
	:: d_step { !OUTCOME(i) && up[i] == OPENING && \
		    (state[R] == ABORTED || (i != A && LISTED(i, A) && \
					     state[A] == ABORTED)) -> \
		abort(i) } \
	/* RST: closed before it could bind, or another incarnation, which \
	 * answers in any state */ \
	:: d_step { !OUTCOME(i) && up[i] == BINDING && ALIVE(peer[i]) && \
		    bound_to[i] == NONE && !OUTCOME(peer[i]) && \
		    !accepting[peer[i]] -> \
		up[i] = OPENING } \
	:: d_step { !OUTCOME(i) && up[i] == BINDING && ALIVE(peer[i]) && \
		    peer_life[i] != life[peer[i]] -> \
		bound_to[i] = NONE; \
		up[i] = OPENING } \
	:: d_step { !OUTCOME(i) && up[i] >= BOUND && ALIVE(peer[i]) && \
		    peer_life[i] != life[peer[i]] -> abort(i) } \
	:: d_step { WRITER_CLOSES && !OUTCOME(i) && !shut[i] -> abort(i) } \
	:: d_step { GIVE_UP && !OUTCOME(i) && \
		    (PEER_SILENT(i) || WRITER_MISSING(i)) -> abort(i) }

#define MEMBER(i)	((i) == A -> 4 : (i) - 1)
#ifdef NO_TOMBSTONE
#define TOMBSTONE	false
#else
#define TOMBSTONE	true
#endif

active proctype node_S()
{
	do
	FLOW(S)
	:: d_step { state[S] == OPEN && shut[S] -> state[S] = CLOSING }
	:: OUTCOME(S) -> break
	od
}

active proctype node_T()
{
	do
	FLOW(T)
	:: d_step { state[T] == OPEN && shut[T] -> state[T] = CLOSING }
	:: OUTCOME(T) -> break
	od
}

active proctype node_A()
{
	do
	FLOW(A)
	:: d_step { WHOLE(A) ->
		accepting[A] = false;
		state[A] = CLOSING }
	/*
	 * hold has passed: arriving records leave as PARTIAL, others bind
	 * further up
	 */
	:: d_step { (HOLD || HALF_PASSES) && state[A] == OPEN &&
		    !flushing[A] ->
		accepting[A] = false;
		flushing[A] = true }
	:: d_step { CRASH && !crashed && !OUTCOME(A) ->
		crashed = true;
		drain(A, LOST);
		if
		:: RESTART ->
			life[A] = 1;
			state[A] = OPEN;
			up[A] = OPENING;
			peer[A] = NONE;
			accepting[A] = true;
			flushing[A] = false;
			fin_sent[A] = false;
			weight[A] = 0;
			members[A] = 0;
			records[A] = 0;
			shut[A] = false
		:: else ->
			state[A] = DEAD
		fi }
	:: OUTCOME(A) -> break
	od
}
