/* SPDX-License-Identifier: GPL-2.0 */
/* Reserve: unplanned children bind only if there is memory for their credit, so
 * that idle credits never take all memory. refuse.pml models what a refused
 * child does.
 */

/*
 * A receiver with the least memory for one planned child and its own writer: a
 * packet for each of them, and two more. Two unplanned children, whose end is
 * gone, bind as well. They send one after the other, in any order, like a
 * process that feeds all of them in turn; the others keep their grants.
 *
 * A child that never bound gives up with an error, which is a valid end. A
 * bound child is kept alive for ever, so it must get credit.
 *
 * Rules: table_chunks() subtracts credits, a claim of each child without
 * credit (dry), and of the planned children and the writer that are not there
 * yet (due); an unplanned child binds only if there is room.
 *
 * Mutants: STRANGERS  an unplanned child binds without room
 *          DRY        a child without credit has no claim on the next chunks
 *          OWN        the own writer has no claim
 */
#define CHILDREN	3	/* 0 is planned */
#define OWN_WRITER	3
#define PARTIES		4
#define PACKETS		4	/* contributors + 2 */
#define SHARE		2

byte left[PARTIES] = 2;
byte credit[CHILDREN];		/* granted and unused */
bool bound[CHILDREN];
byte used;			/* packets of memory that hold records */
byte turn = PARTIES;		/* which party sends now; PARTIES: none yet */
bool gave_up;

#define FINISHED(i)	(left[i] == 0)
#define IS_DRY(i)	(bound[i] && !FINISHED(i) && credit[i] == 0)
#ifdef DRY
#define DRY_ONES	0
#define IS_CLAIM(i)	0
#else
#define DRY_ONES	(IS_DRY(0) + IS_DRY(1) + IS_DRY(2))
#define IS_CLAIM(i)	IS_DRY(i)
#endif
#ifdef OWN
#define DUE		(!bound[0])
#define OWN_CLAIM	0
#else
#define DUE		(!bound[0] + 1)
#define OWN_CLAIM	1
#endif

/* Room for a party that holds @own of the claims. */
#define ROOM(own) \
	(PACKETS + (own) > used + credit[0] + credit[1] + credit[2] + \
			   DRY_ONES + DUE)

#ifdef STRANGERS
#define FITS(i)		true
#else
#define FITS(i)		((i) == 0 || ROOM(0))
#endif

#define OVER	(gave_up || (FINISHED(0) && FINISHED(1) && FINISHED(2) && \
			     FINISHED(OWN_WRITER) && used == 0))

proctype child(byte i)
{
	do
	:: d_step { !bound[i] && FITS(i) -> bound[i] = true }
	:: d_step { bound[i] && !FINISHED(i) && credit[i] < SHARE &&
		    ROOM(IS_CLAIM(i)) -> credit[i]++ }
	:: d_step { turn == i && credit[i] > 0 && left[i] > 0 ->
		credit[i]--;
		left[i]--;
		used++;
		if
		:: left[i] == 0 -> credit[i] = 0	/* FIN */
		:: else
		fi }
	:: d_step { turn == i && !bound[i] && !gave_up -> gave_up = true }
	:: OVER -> break
	od
}

/* A refusal causes pressure, under which the receiver reads records. */
proctype receiver()
{
	do
	:: d_step { used > 0 -> used-- }
	:: d_step { turn == OWN_WRITER && left[OWN_WRITER] > 0 &&
		    ROOM(OWN_CLAIM) ->
		left[OWN_WRITER]--;
		used++ }
	:: OVER -> break
	od
}

/* The next party starts when the previous one has written everything. */
proctype application()
{
	do
	:: atomic { turn == PARTIES || left[turn] == 0 ->
		if
		:: left[0] > 0 -> turn = 0
		:: left[1] > 0 -> turn = 1
		:: left[2] > 0 -> turn = 2
		:: left[OWN_WRITER] > 0 -> turn = OWN_WRITER
		:: else -> break
		fi }
	:: OVER -> break
	od
}

init
{
	atomic {
		run child(0);
		run child(1);
		run child(2);
		run receiver();
		run application()
	}
}
