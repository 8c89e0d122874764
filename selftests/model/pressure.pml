/* SPDX-License-Identifier: GPL-2.0 */
/* Pressure: a child or writer without room makes the buffer emit records,
 * whatever unused credits the others hold.
 */

/*
 * Receivers 0 and 1 of two trees, sources 0 and 1 in both. Source 0 writes all
 * of tree 0 first, source 1 all of tree 1, as two jobs in opposite order do. A
 * receiver is readable when its flow is whole, or under pressure.
 *
 * Rule: pressure begins when there are records and every free chunk is claimed
 * by a credit, and ends when there is room again.
 *
 * Mutant: HALF  pressure begins by the free chunks, including those behind unused
 *               credits
 */
#define CHUNKS	4
#define RECORDS	5
#define SHARE	(CHUNKS / 2)

#define I(t, c)	((t) * 2 + (c))

byte left[4] = RECORDS;		/* by tree and source */
byte credit[4];			/* granted and unused */
byte used[2];			/* chunks that hold records */
bool pressure[2];

#define FREE(t)		(CHUNKS - used[t])
#define ROOM(t)		(FREE(t) - credit[I(t, 0)] - credit[I(t, 1)])
#define WHOLE(t)	(left[I(t, 0)] + left[I(t, 1)] == 0)
#define STARVED(t) \
	(ROOM(t) == 0 && ((left[I(t, 0)] > 0 && credit[I(t, 0)] == 0) || \
			  (left[I(t, 1)] > 0 && credit[I(t, 1)] == 0)))
#ifdef HALF
#define PRESS(t)	(FREE(t) < CHUNKS / 2)
#else
#define PRESS(t)	(used[t] > 0 && ROOM(t) == 0)
#endif

proctype source(byte c)
{
	byte t = c, n;

	do
	:: d_step { n < 2 && left[I(t, c)] > 0 && credit[I(t, c)] > 0 ->
		credit[I(t, c)]--;
		left[I(t, c)]--;
		used[t]++;
		if
		:: left[I(t, c)] == 0 -> credit[I(t, c)] = 0	/* FIN */
		:: else
		fi }
	:: d_step { n < 2 && left[I(t, c)] == 0 ->
		n++;
		t = 1 - t }
	:: n == 2 -> break
	od
}

#define GRANT(t, c) \
	d_step { ROOM(t) > 0 && left[I(t, c)] > 0 && \
		 credit[I(t, c)] < SHARE -> credit[I(t, c)]++ }

proctype receiver(byte t)
{
	do
	:: GRANT(t, 0)
	:: GRANT(t, 1)
	:: d_step { !pressure[t] && STARVED(t) && PRESS(t) ->
		pressure[t] = true }
	:: d_step { used[t] > 0 && (pressure[t] || WHOLE(t)) ->
		used[t]--;
		pressure[t] = PRESS(t) }
	:: WHOLE(t) && used[t] == 0 -> break
	od
}

init
{
	atomic {
		run source(0);
		run source(1);
		run receiver(0);
		run receiver(1)
	}
}
