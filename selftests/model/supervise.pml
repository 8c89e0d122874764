/* SPDX-License-Identifier: GPL-2.0 */
/* Supervision: a repair is in force at all nodes or at none, an attempt belongs
 * to one plan, and one of two supervisors continues.
 */

/*
 * Three nodes, each with an entry: an attempt and the ID of a plan. They accept
 * an attempt that is newer than theirs, or the same attempt of the same plan. A
 * supervisor that learns of a failure uses up an attempt, writes it into its
 * file, and installs it node by node, the receiver first. If a node refuses, it
 * restores the previous entries, reads the state of all nodes, and tries again
 * with the next attempt.
 *
 * Faults allowed (-D...=1): REFUSE=N, a node has no memory, N times; KILL, a
 * supervisor is killed at any point and started again with its file; UNSAVED,
 * the file cannot be written, once; TWO supervisors with a file each, both of
 * which learn of the failure.
 *
 * Asserted: an attempt of one supervisor never belongs to two plans; a
 * supervisor that ends because of refusals leaves the previous plan; in the end
 * all nodes have the plan that the remaining supervisor takes to be in force,
 * and one supervisor remains.
 *
 * Mutants: REUSE    an attempt that was undone is used again
 *          NO_UNDO  what was installed before a refusal stays
 *          NO_NOTE  the file does not have what is about to be installed
 *          NO_RESUME  an installation that the file has is not continued
 *          NO_ADOPT  a later attempt than the file's is not adopted
 *          NO_ID    a node accepts another plan of the attempt that it has
 *          DEAF     a supervisor does not learn of a later attempt
 *          BLIND    nor does it read the nodes' state after a refusal
 */
#ifndef TWO
#define TWO	0
#endif
#ifndef REFUSE
#define REFUSE	0
#endif
#ifndef KILL
#define KILL	0
#endif
#ifndef UNSAVED
#define UNSAVED	0
#endif

#define N	3
#define REFUSALS_MAX	2
#define ATTEMPTS	12

byte att[N] = 1, plan[N];	/* in force at each node; attempt 1 of plan 0 */
byte used[2] = 1;		/* last attempt that was begun or tried */
byte in_force[2] = 1, mine[2];	/* as the supervisor believes */
bool todo[2], ended[2], refused[2];
byte heard[2];			/* latest attempt that the other has added */
byte f_att[2] = 1, f_used[2] = 1, f_plan[2];	/* its file */
bool f_installing[2];
byte plans;			/* IDs that were drawn */
byte first[ATTEMPTS];		/* the plan of an attempt */
byte refuse = REFUSE, kills = KILL, unsaved = UNSAVED;

#define MAX(a, b)	((a) > (b) -> (a) : (b))
#define NEWEST		MAX(att[0], MAX(att[1], att[2]))
#define NEWEST_PLAN \
	(att[0] == NEWEST -> plan[0] : (att[1] == NEWEST -> plan[1] : plan[2]))
#define DIFFERS(i)	(att[i] == NEWEST && plan[i] != NEWEST_PLAN)
#define SPLIT		(DIFFERS(0) || DIFFERS(1) || DIFFERS(2))
#define BEHIND		(att[0] != NEWEST || att[1] != NEWEST || att[2] != NEWEST)
#define HAS(i, a, p)	(att[i] == (a) && plan[i] == (p))
#define HAS_IT(i, s)	HAS(i, in_force[s], mine[s])
#define ALL_HAVE(s)	(HAS_IT(0, s) && HAS_IT(1, s) && HAS_IT(2, s))
#ifdef NO_ID
#define TAKES(i, a, p)	((a) >= att[i])
#else
#define TAKES(i, a, p)	((a) > att[i] || HAS(i, a, p))
#endif

inline save(a, p, u, installing)
{
	if
	:: unsaved -> unsaved--
	:: f_att[s] = a; f_plan[s] = p; f_used[s] = u;
	   f_installing[s] = installing
	fi
}

/* Node i has it from now on, and all supervisors get the event. */
inline commit(a, p)
{
	assert(TWO || !first[a] || first[a] == p);
	first[a] = p;
	did[i] = !HAS(i, a, p);
	att[i] = a;
	plan[i] = p;
	if
	:: heard[1 - s] < a -> heard[1 - s] = a
	:: else
	fi
}

proctype supervisor(byte s)
{
	byte i, new, id, old, was, refusals;
	bool did[N], resumes;

listen:
end:	if
#ifndef DEAF
	:: atomic { heard[s] > used[s] -> goto overtaken }
#endif
	:: atomic { todo[s] -> goto repair }
	:: atomic { kills -> kills--; goto restart }
	fi;

repair:	atomic {
		new = used[s] + 1;
		plans++;
		id = plans;
		old = in_force[s];
		was = mine[s];
		used[s] = new;
		resumes = false;
		i = 0;
#ifndef NO_NOTE
		save(new, id, new, true)
#endif
	}
install:
	do
	:: atomic { kills -> kills--; goto restart }
	:: atomic { i > 0 && i < N && refuse -> refuse--; goto undo }
	:: atomic { i < N && TAKES(i, new, id) -> commit(new, id); i++ }
	:: atomic { i < N && !TAKES(i, new, id) -> goto undo }
	:: atomic { i == N -> break }
	od;
	atomic {
		in_force[s] = new;
		mine[s] = id;
		todo[s] = todo[s] && resumes;
		refusals = 0;
		save(new, id, new, false);
		goto listen
	}
undo:
	do
#ifdef NO_UNDO
	:: break
#endif
	:: atomic { kills -> kills--; goto restart }
	:: atomic { i > 0 -> i--;
		if
		:: did[i] && HAS(i, new, id) -> att[i] = old; plan[i] = was
		:: else
		fi }
	:: atomic { i == 0 -> break }
	od;
	atomic {
#ifdef REUSE
		used[s] = in_force[s];
#endif
		save(in_force[s], mine[s], used[s], false);
#ifndef BLIND
		if
		:: NEWEST > in_force[s] && used[s] <= NEWEST &&
		   (NEWEST != used[s] || SPLIT || NEWEST_PLAN != id) ->
			goto overtaken
		:: else
		fi;
#endif
		refusals++;
		if
		:: refusals <= REFUSALS_MAX -> todo[s] = true; goto listen
		:: else
		fi;
		/* Each attempt was undone: the nodes have the previous plan. */
		assert(TWO || KILL || ALL_HAVE(s));
		refused[s] = true;
		goto overtaken
	}
restart:
	atomic {
		heard[s] = 0;
		refusals = 0;
		in_force[s] = f_att[s];
		mine[s] = f_plan[s];
		used[s] = f_used[s];
		/*
		 * It does not react to the end of an attempt that is not its
		 * own.
		 */
		if
		:: NEWEST == in_force[s] ->
			todo[s] = todo[s] || SPLIT || NEWEST_PLAN != mine[s]
#ifndef NO_ADOPT
		:: NEWEST > in_force[s] ->
			in_force[s] = NEWEST;
			mine[s] = NEWEST_PLAN;
			used[s] = MAX(used[s], NEWEST);
			todo[s] = todo[s] || BEHIND
#endif
		:: else -> todo[s] = false
		fi;
		new = in_force[s];
		id = mine[s];
		/* Undoing it then leaves no entry. */
		old = 0;
		was = 0;
		resumes = true;
		i = 0;
		if
#ifndef NO_RESUME
		:: f_installing[s] -> goto install
#endif
		:: else -> goto listen
		fi
	}
overtaken:
	ended[s] = true
}

init
{
	atomic {
		todo[0] = true;
		todo[1] = TWO;
		ended[1] = !TWO;
		run supervisor(0);
		if
		:: TWO -> run supervisor(1)
		:: else
		fi
	}
	/* No supervisor has anything to do. */
	timeout;
	assert((ended[0] || ALL_HAVE(0)) && (ended[1] || ALL_HAVE(1)));
	assert(!ended[0] || !ended[1] || refused[0] || refused[1])
}
