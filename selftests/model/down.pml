/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Down: a stream of packets goes from the root to all readers through rings of
 * bounded size, over channels that lose, copy and reorder. DONE at the root means
 * that every reader has every packet and the end mark.
 */

/*
 * The root (0) writes PACKETS packets; below it is node 1, and below that node 2,
 * each with a ring of RING packets and one reader. A packet stays in a ring until
 * all that the ring serves have it: the node's own reader, also before it has
 * joined, and the child below. What a node may receive is limited by the credit
 * that it grants: the sequences for which its ring has slots.
 *
 * When all is there and the end is known, a reader takes the end mark. A node
 * whose reader has done so, and whose child has finished, finishes: its own FIN
 * goes up. The root is DONE when its child has finished, and tells so.
 *
 * A channel has one packet of each kind and sequence under way; LOSS of them are
 * lost and COPY arrive twice. A timer repeats what is not answered: a packet, the
 * end, the ACK with the credit, a FIN. With CLOSES=1 a reader may close before the
 * end mark, which aborts the transfer; an abort is told to the nodes above and
 * below.
 *
 * With ROUNDS=2 the tree is persistent: the first SPLIT packets are the first round,
 * and DONE of that round begins the next one, at the root and then below. A packet
 * of the next round implies DONE. Packets, ACKs and FINs state their round; an older one
 * does not count. A FIN that is taken implies credit for a ring: a node of which nothing
 * of the round has come is quiet, and does not repeat its ACK.
 *
 * Asserted: a reader gets each packet once, in order, and those of a round between two
 * end marks; a round is done at the root only after all readers have its end mark. Every
 * node is done or aborted at the end, and not aborted without CLOSES (no invalid end
 * state).
 *
 * Mutants: REUSE      a slot is used again when the reader has its packet
 *          PASSED_ON  ... when the child has it
 *          UNJOINED   a reader that has not joined is not waited for
 *          UNBOUND    a child that has not bound is not waited for
 *          UNCHECKED  a node takes a packet without a slot for it; with
 *	NO_CREDIT, packets leave without credit, which alone does no harm
 *          CUSTODY    a node finishes when its ring has had everything
 *          OWN        ... when its own reader has everything
 *          HOLED      a reader takes the end mark when the end is known
 *          SENT_ONCE  a packet is not repeated by a timer
 *          TOLD_ONCE  an ACK is not repeated
 *          END_ONCE   the end is not repeated
 *          FIN_ONCE   a FIN is not repeated
 *          SILENT_UP, SILENT_DOWN  an abort is told in one direction only
 *          with ROUNDS=2 also
 *          UNTOLD     a FIN implies no credit
 *          RUSH       the root goes on when its child knows the end
 *          KEEP_END   a node does not forget the end of the round before
 *          OLD_END, OLD_ACK, OLD_FIN  a packet of the round before counts
 *          IN_STEP    breaks the model: arrive() chooses within a d_step
 * REACH asserts that the root is not DONE.
 */
#ifndef PACKETS
#define PACKETS	3
#endif
#ifndef RING
#define RING	2
#endif
#ifndef LOSS
#define LOSS	1
#endif
#ifndef COPY
#define COPY	1
#endif
#ifndef CLOSES
#define CLOSES	0
#endif
#ifndef ROUNDS
#define ROUNDS	1
#endif
#ifndef SPLIT
#define SPLIT	2
#endif

byte slot[3 * RING];		/* number of the packet in a slot of a ring, + 1 */
byte have[3];			/* bit n: the node has got packet n */
byte cum[3];			/* packets that it has got in order */
bool bound[3];			/* node 1, 2: its channel is bound */
byte una[3];			/* packets that it has acknowledged, and */
byte credit[3];			/* packets that it lets come, as its parent knows */
byte nxt[3];			/* packets that its parent has sent it */
byte round[3];
bool knows[3];			/* it knows the end of its round: */
byte final[3];			/* packets before that */
bool taken[3];			/* its parent knows that it does */
bool joined[3];			/* its reader has come */
byte read[3];			/* packets that the reader has */
byte marks[3];			/* end marks that the reader has taken */
bool closing[3];		/* the node's FIN is sent */
bool finished[3];		/* its parent has counted it */
bool done[3];
bool aborted[3];

/* Under way to a node, and from it; end, ack and fin: its round, + 1 */
byte data[3 * PACKETS];		/* number of the packet, + 1 */
bool tell[3];
byte end[3], ack[3], fin[3];
byte ack_cum[3], ack_credit[3];
bool ack_end[3];

byte losses, copies;

#define B(p)		(1 << (p))
#define SLOT(n, p)	slot[(n) * RING + (p) % RING]
#define DATA(n, p)	data[(n) * PACKETS + (p)]
#define MIN(a, b)	((a) < (b) -> (a) : (b))
#define LIVE(n)		(!aborted[n] && !done[n])
#define LAST(n)		(round[n] == ROUNDS - 1)
/* Packets before the end of a round, and the round of a packet */
#define END(r)		((r) == ROUNDS - 1 -> PACKETS : SPLIT)
#define OF(p)		((p) < SPLIT || ROUNDS == 1 -> 0 : 1)
/* Does the child know the end of its parent's round? */
#define KNOWS(n)	(knows[n] && round[n] == round[(n) - 1])

#ifdef UNJOINED
#define READER(n)	(joined[n] -> read[n] : cum[n])
#else
#define READER(n)	read[n]
#endif
#ifdef UNBOUND
#define BELOW(n)	(bound[n] -> una[n] : cum[(n) - 1])
#else
#define BELOW(n)	una[n]
#endif

/* All before this packet has left the ring of node n. */
#ifdef REUSE
#define FIRST1		READER(1)
#else
#ifdef PASSED_ON
#define FIRST1		BELOW(2)
#else
#define FIRST1		MIN(READER(1), BELOW(2))
#endif
#endif
#define FIRST(n) \
	((n) == 0 -> BELOW(1) : ((n) == 1 -> FIRST1 : READER(2)))
#define GRANTS(n)	MIN(FIRST(n) + RING, PACKETS)

#ifdef NO_CREDIT
#define MAY_SEND(n)	true
#else
#define MAY_SEND(n)	(nxt[n] < credit[n])
#endif
#ifdef HOLED
#define WHOLE(n)	knows[n]
#else
#define WHOLE(n)	(knows[n] && read[n] == final[n])
#endif
#ifdef CUSTODY
#define OWN_ENDED(n)	(knows[n] && cum[n] == final[n])
#else
#define OWN_ENDED(n)	(marks[n] > round[n])
#endif
#ifdef OWN
#define MAY_FINISH(n)	OWN_ENDED(n)
#else
#define MAY_FINISH(n)	(OWN_ENDED(n) && ((n) == 2 || finished[2]))
#endif

#ifdef UNCHECKED
#define HAS_SLOT(n, p)	true
#else
#define HAS_SLOT(n, p)	((p) < GRANTS(n))
#endif

/* A timer repeats; without it nothing is sent a second time. */
#ifdef SENT_ONCE
#define TIMER_DATA(n, p) false
#else
#define TIMER_DATA(n, p) (!DATA(n, p))
#endif
/* Of its round, which is not the first, nothing has come. */
#define QUIET(n)	(round[n] && !knows[n] && !(have[n] >> END(round[n] - 1)))
#ifdef TOLD_ONCE
#define TIMER_ACK(n)	false
#else
#define TIMER_ACK(n)	(!ack[n] && !QUIET(n))
#endif
#ifdef END_ONCE
#define TIMER_END(n)	false
#else
#define TIMER_END(n)	(!end[n])
#endif
#ifdef FIN_ONCE
#define TIMER_FIN(n)	false
#else
#define TIMER_FIN(n)	(!fin[n])
#endif

#ifdef REACH
#define NOT_REACHED	assert(false)
#else
#define NOT_REACHED	skip
#endif

#ifdef UNTOLD
#define CREDIT(n)	credit[n]
#else
#define CREDIT(n)	MIN(END(round[(n) - 1]) + RING, PACKETS)
#endif
#ifdef OLD_END
#define END_COUNTS(n)	true
#else
#define END_COUNTS(n)	(end[n] == round[n] + 1)
#endif
#ifdef OLD_ACK
#define ACK_COUNTS(n)	true
#else
#define ACK_COUNTS(n)	(ack[n] == round[(n) - 1] + 1)
#endif
#ifdef OLD_FIN
#define FIN_COUNTS(n)	true
#else
#define FIN_COUNTS(n)	(fin[n] == round[(n) - 1] + 1)
#endif
#ifdef RUSH
#define CHILD_DONE	(finished[1] || (!LAST(0) && taken[1]))
#else
#define CHILD_DONE	finished[1]
#endif
#ifdef KEEP_END
#define FORGOTTEN(n)	false
#else
#define FORGOTTEN(n)	true
#endif

/* Node n begins the next round. It has forgotten what its child told of the last. */
inline next_round(n)
{
	round[n]++;
	knows[n] = knows[n] && !FORGOTTEN(n);
	closing[n] = false;
	if
	:: n < 2 ->
		tell[n + 1] = false;
		taken[n + 1] = false;
		finished[n + 1] = false
	:: else
	fi
}

/* A packet of round r comes: all before it is done. */
inline catch_up(n, r)
{
	if
	:: r > round[n] -> assert(closing[n]); next_round(n)
	:: else
	fi
}

/* The node's ACK states what it has now, and replaces one that is under way. */
inline answer(n)
{
	ack[n] = round[n] + 1;
	ack_cum[n] = cum[n];
	ack_credit[n] = GRANTS(n);
	ack_end[n] = knows[n]
}

/* A packet arrives; a copy of it may stay under way. No d_step has such a choice. */
inline arrive(flag)
{
	if
	:: flag = 0
	:: copies < COPY -> copies++
	fi
}

inline lose(flag)
{
	losses++;
	flag = 0
}

/* Put packet p in the ring of node n. Nothing that is still needed is there. */
inline store(n, p)
{
	have[n] = have[n] | B(p);
	SLOT(n, p) = (p) + 1;
	do
	:: cum[n] < PACKETS && have[n] & B(cum[n]) -> cum[n]++
	:: else -> break
	od;
	skip
}

inline send(n, p)
{
	/* The packet is made of what the slot has. */
	DATA(n, p) = SLOT((n) - 1, p)
}

#ifdef IN_STEP
#define ARRIVES		d_step
#else
#define ARRIVES		atomic
#endif

#define RECEIVE(n, p) \
	:: ARRIVES { LIVE(n) && DATA(n, p) -> \
		assert(DATA(n, p) == (p) + 1); \
		catch_up(n, OF(p)); \
		arrive(DATA(n, p)); \
		if \
		:: !(have[n] & B(p)) && HAS_SLOT(n, p) -> store(n, p) \
		:: else \
		fi; \
		answer(n) } \
	:: d_step { losses < LOSS && DATA(n, p) -> lose(DATA(n, p)) } \
	/* again, if it is not acknowledged */ \
	:: d_step { LIVE((n) - 1) && (p) >= una[n] && (p) < nxt[n] && \
		    TIMER_DATA(n, p) && !(have[n] & B(p)) -> send(n, p) }

#define CHANNEL(n) \
	:: d_step { !bound[n] && LIVE(n) && LIVE((n) - 1) -> \
		bound[n] = true; answer(n) } \
	:: d_step { bound[n] && LIVE((n) - 1) && nxt[n] < cum[(n) - 1] && \
		    MAY_SEND(n) && !DATA(n, nxt[n]) -> \
		send(n, nxt[n]); nxt[n]++ } \
	RECEIVE(n, 0) \
	RECEIVE(n, 1) \
	RECEIVE(n, 2) \
	:: atomic { ack[n] && LIVE((n) - 1) -> \
		if \
		:: ACK_COUNTS(n) -> \
			una[n] = (ack_cum[n] > una[n] -> ack_cum[n] : una[n]); \
			credit[n] = (ack_credit[n] > credit[n] -> \
				     ack_credit[n] : credit[n]); \
			taken[n] = taken[n] || ack_end[n] \
		:: else \
		fi; \
		arrive(ack[n]) } \
	:: d_step { ack[n] && losses < LOSS -> lose(ack[n]) } \
	:: d_step { bound[n] && LIVE(n) && LIVE((n) - 1) && TIMER_ACK(n) && \
		    (una[n] < cum[n] || credit[n] < GRANTS(n)) -> answer(n) } \
	/* the end, with or before the last packets */ \
	:: d_step { bound[n] && LIVE((n) - 1) && knows[(n) - 1] && \
		    nxt[n] == END(round[(n) - 1]) && !tell[n] -> \
		tell[n] = true; end[n] = round[(n) - 1] + 1 } \
	:: d_step { LIVE((n) - 1) && tell[n] && !taken[n] && !KNOWS(n) && \
		    TIMER_END(n) -> end[n] = round[(n) - 1] + 1 } \
	:: d_step { LIVE((n) - 1) && tell[n] && !taken[n] && KNOWS(n) && \
		    !ack[n] && TIMER_END(n) -> end[n] = round[(n) - 1] + 1 } \
	:: atomic { end[n] && LIVE(n) -> \
		catch_up(n, end[n] - 1); \
		if \
		:: END_COUNTS(n) -> \
			knows[n] = true; \
			final[n] = END(end[n] - 1); \
			answer(n) \
		:: else \
		fi; \
		arrive(end[n]) } \
	:: d_step { end[n] && losses < LOSS -> lose(end[n]) } \
	/* up */ \
	:: d_step { LIVE(n) && !closing[n] && MAY_FINISH(n) -> \
		closing[n] = true; fin[n] = round[n] + 1 } \
	:: d_step { LIVE(n) && closing[n] && round[n] == round[(n) - 1] && \
		    !finished[n] && TIMER_FIN(n) -> fin[n] = round[n] + 1 } \
	:: atomic { fin[n] && LIVE((n) - 1) -> \
		if \
		:: FIN_COUNTS(n) -> \
			finished[n] = true; \
			una[n] = END(round[(n) - 1]); \
			credit[n] = (CREDIT(n) > credit[n] -> CREDIT(n) : \
				     credit[n]); \
			taken[n] = true \
		:: else \
		fi; \
		arrive(fin[n]) } \
	:: d_step { fin[n] && losses < LOSS -> lose(fin[n]) }

#define READS(n) \
	:: d_step { !joined[n] && LIVE(n) -> joined[n] = true } \
	:: d_step { joined[n] && LIVE(n) && read[n] < cum[n] -> \
		assert(SLOT(n, read[n]) == read[n] + 1); \
		assert(OF(read[n]) == marks[n]); \
		read[n]++ } \
	:: d_step { joined[n] && LIVE(n) && WHOLE(n) && marks[n] == round[n] -> \
		assert(read[n] == END(marks[n])); marks[n]++ } \
	:: d_step { CLOSES && LIVE(n) && marks[n] < ROUNDS -> \
		aborted[n] = true }

/* DONE is repeated as an answer, so it arrives; so does an abort. */
#define TELL(n) \
	:: d_step { done[(n) - 1] && LIVE(n) -> done[n] = true } \
	:: d_step { LIVE(n) && round[(n) - 1] > round[n] -> \
		catch_up(n, round[(n) - 1]) } \
	:: d_step { ABORT_DOWN && aborted[(n) - 1] && LIVE(n) -> \
		aborted[n] = true } \
	:: d_step { ABORT_UP && aborted[n] && LIVE((n) - 1) -> \
		aborted[(n) - 1] = true }

#ifdef SILENT_UP
#define ABORT_UP	false
#else
#define ABORT_UP	true
#endif
#ifdef SILENT_DOWN
#define ABORT_DOWN	false
#else
#define ABORT_DOWN	true
#endif

active proctype tree()
{
	do
	/* the root's application */
	:: d_step { LIVE(0) && cum[0] < GRANTS(0) && !knows[0] &&
		    cum[0] < END(round[0]) ->
		store(0, cum[0]) }
	:: d_step { LIVE(0) && cum[0] == END(round[0]) && !knows[0] ->
		knows[0] = true;
		final[0] = cum[0] }
	:: d_step { LIVE(0) && CHILD_DONE && !LAST(0) ->
		assert(marks[1] > round[0] && marks[2] > round[0]);
		next_round(0) }
	:: d_step { LIVE(0) && finished[1] && LAST(0) ->
		assert(marks[1] == ROUNDS && marks[2] == ROUNDS);
		done[0] = true;
		NOT_REACHED }
	CHANNEL(1)
	CHANNEL(2)
	READS(1)
	READS(2)
	TELL(1)
	TELL(2)
	:: (done[0] || aborted[0]) && (done[1] || aborted[1]) &&
	   (done[2] || aborted[2]) -> break
	od
}
