/* SPDX-License-Identifier: GPL-2.0 */
/* A source that may be missing: the next attempt continues without it, its
 * result names it, and has each other source once.
 */

/*
 * Receiver R and sources V and W, each of which sends one record. In attempt 1
 * both take part. W may be given up at any time before it is DONE, because it
 * died or is slow. Unless the receiver has its result by then, attempt 2 has V
 * alone, first at R, then at V. W's own entry may stay unchanged, if W cannot
 * be reached.
 *
 * Asserted: the receiver takes one result, with the record of each source that
 * it does not name as absent, once; a source that is DONE is in it. Every
 * application that lives gets an outcome, and only W's failure may cause an
 * error.
 *
 * Mutants: KEEP    the receiver keeps what it read in the previous attempt
 *          REST    a source does not start again in the next attempt
 *          OLD_FIN a record of the previous attempt is taken
 *          SILENT  the end mark does not name the absent source
 *          ANEW    the next attempt begins although the receiver has its result
 */
#define V	0
#define W	1

mtype = { RUNS, DONE, FAILED };
mtype app[2] = RUNS;		/* outcome of each source */
mtype reader = RUNS;
byte at_R = 1, at[2] = 1;	/* attempt of the entry of each */
bool gave[2];			/* its flow of that attempt is finished */
byte sent[2];			/* records that it has sent in all */
byte held[2];			/* by R's tree, of each source */
byte got[2];			/* by the receiver's application */
byte weight;			/* of R's tree */
bool given_up, dead;		/* W */
byte taken;			/* attempt whose end mark was taken */

#define SOURCES(a)	((a) == 1 -> 2 : 1)
#define ABSENT(a)	(2 - SOURCES(a))
#ifdef OLD_FIN
#define FITS(s)		true
#else
#define FITS(s)		(at[s] == at_R)
#endif
#ifdef REST
#define NEW(s)		(!sent[s])
#else
#define NEW(s)		true
#endif
#ifdef SILENT
#define TOLD_ABSENT(a)	0
#else
#define TOLD_ABSENT(a)	ABSENT(a)
#endif
#ifdef ANEW
#define MAY_BEGIN	true
#else
#define MAY_BEGIN	(!taken)
#endif

#define SOURCE(s) \
	:: d_step { app[s] == RUNS && !gave[s] && !(s == W && dead) && \
		    FITS(s) && !taken -> \
		gave[s] = true; \
		held[s] = held[s] + NEW(s); \
		sent[s]++; \
		weight++ } \
	:: d_step { app[s] == RUNS && gave[s] && taken && taken == at[s] && \
		    at_R == at[s] -> \
		app[s] = DONE }

init
{
	do
	SOURCE(V)
	SOURCE(W)
	/* R */
	:: d_step { reader == RUNS && held[V] ->
		got[V] = got[V] + held[V]; held[V] = 0 }
	:: d_step { reader == RUNS && held[W] ->
		got[W] = got[W] + held[W]; held[W] = 0 }
	:: d_step { reader == RUNS && weight >= SOURCES(at_R) &&
		    !held[V] && !held[W] ->
		/*
		 * The library checks that the result and the absent sources are
		 * all sources.
		 */
		assert(SOURCES(at_R) + TOLD_ABSENT(at_R) == 2);
		assert(got[V] == 1 && got[W] == (at_R == 1));
		taken = at_R;
		reader = DONE
		}
	/* W fails, or seems to; the supervisor continues without it. */
	:: d_step { !dead && app[W] == RUNS -> dead = true }
	:: d_step { !given_up && app[W] == RUNS -> given_up = true }
	:: d_step { given_up && at_R == 1 && MAY_BEGIN ->
		at_R = 2;
		weight = 0;
		held[V] = 0;
		held[W] = 0;
#ifndef KEEP
		got[V] = 0;
		got[W] = 0
#endif
		}
	:: d_step { at_R == 2 && at[V] == 1 ->
		at[V] = 2;
		gave[V] = false }
	/* W's entry is deleted, or an answer from a newer epoch ends it. */
	:: d_step { at_R == 2 && app[W] == RUNS && !dead -> app[W] = FAILED }
	:: app[V] != RUNS && (app[W] != RUNS || dead) && reader != RUNS -> break
	od;
	assert(reader == DONE && app[V] == DONE);
	assert(app[W] != DONE || taken == 1)
}
