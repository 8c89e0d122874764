// SPDX-License-Identifier: GPL-2.0
/* Shim: from MPI_Init() to MPI_Finalize(): which groups are used. */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "not_loaded.h"
#include "shim.h"

struct shim shim;

/* How long MPI may stand still in a rank that waits for a group. */
#define PROGRESS_MS	1

void shim_say(const char *fmt, ...)
{
	char text[2 * SHIM_TEXT_MAX];
	va_list ap;

	if (!shim.verbose || shim.rank)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "aggnet-mpi: %s\n", text);
}

int shim_wait(struct aggnet_coll *c)
{
	struct pollfd fd[AGGNET_COLL_FDS];
	int err, flag;

	while ((err = aggnet_coll_test(c)) == -EAGAIN) {
		PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, shim.comm, &flag, MPI_STATUS_IGNORE);
		poll(fd, aggnet_coll_poll(c, fd, AGGNET_COLL_FDS), PROGRESS_MS);
	}
	return err;
}

/* --- agreeing ------------------------------------------------------------------------ */

/*
 * Has each rank succeeded? @fault: the sentence of this rank if it has not, then that of
 * the first rank that has not. All ranks call it, and get the same answer.
 */
static bool agree(bool good, char *fault)
{
	int first = good ? shim.size : shim.rank;
	char text[SHIM_TEXT_MAX];

	PMPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, shim.comm);
	if (first == shim.size)
		return true;
	snprintf(text, sizeof(text), "rank %d: %.400s", first, fault);
	PMPI_Bcast(text, sizeof(text), MPI_CHAR, first, shim.comm);
	memcpy(fault, text, sizeof(text));
	return false;
}

/* --- opening ------------------------------------------------------------------------- */

/* What a user can do about a tree that is not there. */
static const char *lookup_fault(int err)
{
	switch (err) {
	case -ESOCKTNOSUPPORT:
	case -EPROTONOSUPPORT:
		return NOT_LOADED;
	case -ENETUNREACH:
		return "this server has no entry of it: 'aggctl job list' tells whether it has ended; ranks run on the servers of --members, in their order";
	case -EACCES:
		return "its entry does not permit this user: submit the group as the user of the program";
	default:
		return strerror(-err);
	}
}

/* Is a tree there? It is not joined: leaving would end it for all ranks. */
static bool tree_there(const struct aggnet_group_conf *c, uint32_t job, char *fault)
{
	struct aggnet_status st;
	int err = aggnet_lookup(c->root, job, &st);

	if (err)
		snprintf(fault, SHIM_TEXT_MAX, "job %u: %s", job, lookup_fault(err));
	if (!err && job == c->up && (st.function != c->function || st.vtype != c->vtype)) {
		snprintf(fault, SHIM_TEXT_MAX, "job %u has another function or type: AGGNET_MPI has to name those of the group", job);
		return false;
	}
	return !err;
}

static bool group_can(const struct shim_group *sg, char *fault)
{
	const struct aggnet_group_conf *c = &sg->conf;

	if (c->ranks != (uint32_t)shim.size) {
		snprintf(fault, SHIM_TEXT_MAX, "the group has %u ranks and MPI_COMM_WORLD %d",
			 c->ranks, shim.size);
		return false;
	}
	return tree_there(c, c->up, fault) && tree_there(c, c->down, fault);
}

/* Join the trees, and agree before any rank waits for another one within the group. */
static bool group_join(struct shim_group *sg, char *fault)
{
	struct aggnet_coll *c;
	int err = aggnet_group_open_start(&sg->g, &sg->conf, &c);

	if (err)
		snprintf(fault, SHIM_TEXT_MAX, "%s", aggnet_group_error(sg->g));
	if (!agree(!err, fault))
		return false;
	err = shim_wait(c);
	if (err)
		snprintf(fault, SHIM_TEXT_MAX, "%s", aggnet_group_error(sg->g));
	return agree(!err, fault);
}

static void group_open(struct shim_group *sg)
{
	char fault[SHIM_TEXT_MAX] = "";
	unsigned int kind;

	sg->conf.rank = (uint32_t)shim.rank;
	if (agree(group_can(sg, fault), fault) && group_join(sg, fault)) {
		sg->used = true;
		shim.on = true;
		for (kind = 0; kind <= AGGNET_COLL_ALLREDUCE; kind++)
			sg->max[kind] = aggnet_group_max(sg->g, kind);
		shim_say("%s: the group with job %u, of %u ranks, for calls of at least %llu bytes",
			 sg->name, sg->conf.up, sg->conf.ranks,
			 (unsigned long long)shim.min);
		return;
	}
	aggnet_group_close(sg->g);
	sg->g = NULL;
	shim_say("%s: MPI, without a group: %s", sg->name, fault);
}

/* --- beginning ----------------------------------------------------------------------- */

static void make_objects(void)
{
	int class;

	PMPI_Comm_dup(MPI_COMM_WORLD, &shim.comm);
	PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &shim.keyval,
				NULL);
	PMPI_Add_error_class(&class);
	PMPI_Add_error_string(class, "error of a group of aggnet");
	PMPI_Add_error_code(class, &shim.code);
	shim.made = true;
}

/* All ranks read the same text, and find the same faults. */
static void open_all(const struct shim_env *env, char *text)
{
	char fault[SHIM_TEXT_MAX];
	MPI_Comm parent;
	int i;

	shim.min = SHIM_MIN;
	if (*env->min && !conf_bytes(env->min, &shim.min)) {
		shim_say("AGGNET_MPI_MIN: '%s' is not a number of bytes: MPI is used", env->min);
		return;
	}
	shim.groups = conf_parse(text, shim.group, fault);
	if (shim.groups <= 0) {
		shim_say("%s: MPI is used", shim.groups ? fault : "AGGNET_MPI has no group");
		shim.groups = 0;
		return;
	}
	/* Those that MPI_Comm_spawn() starts have the environment of the others. */
	PMPI_Comm_get_parent(&parent);
	if (shim.size == 1 || parent != MPI_COMM_NULL) {
		shim_say("%s: MPI is used", shim.size == 1 ? "MPI_COMM_WORLD has one rank" :
			 "MPI has started these ranks for others");
		shim.groups = 0;
		return;
	}
	for (i = 0; i < shim.groups; i++)
		group_open(&shim.group[i]);
	if (shim.on && shim.threads)
		shim_say("threads may call MPI at the same time: only MPI_COMM_WORLD has the groups");
}

static void env_read(struct shim_env *env, const char *text)
{
	const char *verbose = getenv("AGGNET_VERBOSE"), *min = getenv("AGGNET_MPI_MIN");

	*env = (struct shim_env){
		.length = text ? (int32_t)strlen(text) + 1 : 0,
		.verbose = verbose && !strcmp(verbose, "1"),
	};
	/* A part of a number would be another one. */
	if (min && strlen(min) >= sizeof(env->min))
		min = "too long";
	snprintf(env->min, sizeof(env->min), "%s", min ? min : "");
}

void shim_begin(void)
{
	const char *mine = getenv("AGGNET_MPI");
	struct shim_env env;
	int level;
	char *text;

	PMPI_Comm_rank(MPI_COMM_WORLD, &shim.rank);
	PMPI_Comm_size(MPI_COMM_WORLD, &shim.size);
	env_read(&env, mine);
	PMPI_Bcast(&env, sizeof(env), MPI_BYTE, 0, MPI_COMM_WORLD);
	if (!env.length)
		return;
	text = malloc((size_t)env.length);
	if (!text) {
		/* The other ranks wait. */
		fprintf(stderr, "aggnet-mpi: no memory\n");
		PMPI_Abort(MPI_COMM_WORLD, 1);
		return;
	}
	if (!shim.rank)
		memcpy(text, mine, (size_t)env.length);
	PMPI_Bcast(text, env.length, MPI_CHAR, 0, MPI_COMM_WORLD);
	make_objects();
	PMPI_Query_thread(&level);
	PMPI_Allreduce(MPI_IN_PLACE, &level, 1, MPI_INT, MPI_MAX, shim.comm);
	shim.threads = level == MPI_THREAD_MULTIPLE;
	shim.verbose = env.verbose;
	open_all(&env, text);
	free(text);
}

/* --- ending -------------------------------------------------------------------------- */

static void group_finish(struct shim_group *sg)
{
	struct aggnet_coll *c;
	int err;

	if (!sg->g)
		return;
	err = aggnet_group_finish_start(sg->g, &c);
	if (!err)
		err = shim_wait(c);
	if (err)
		shim_say("%s: %s", sg->name, aggnet_group_error(sg->g));
	aggnet_group_close(sg->g);
	sg->g = NULL;
}

static void say_calls(const char *by, const uint64_t *calls)
{
	shim_say("calls by %s: allreduce %llu, reduce %llu, bcast %llu, barrier %llu", by,
		 (unsigned long long)calls[SHIM_ALLREDUCE],
		 (unsigned long long)calls[SHIM_REDUCE],
		 (unsigned long long)calls[SHIM_BCAST],
		 (unsigned long long)calls[SHIM_BARRIER]);
}

void shim_end(void)
{
	int i;

	if (shim.on) {
		shim.on = false;
		for (i = 0; i < shim.groups; i++)
			group_finish(&shim.group[i]);
		say_calls("groups", shim.by_group);
		say_calls("MPI", shim.by_mpi);
	}
	if (shim.made) {
		shim.made = false;
		PMPI_Comm_free_keyval(&shim.keyval);
		PMPI_Comm_free(&shim.comm);
	}
}

/* --- for calls ------------------------------------------------------------------------ */

bool shim_has(MPI_Comm comm)
{
	static char yes, no;
	int found = 0, inter = 1, result = MPI_UNEQUAL;
	void *value;

	if (!shim.on || comm == MPI_COMM_NULL)
		return false;
	if (comm == MPI_COMM_WORLD)
		return true;
	/*
	 * With two communicators, threads of two ranks may call in different orders, but a
	 * group has one.
	 */
	if (shim.threads)
		return false;
	/* The call of the program has its error, too. */
	if (PMPI_Comm_get_attr(comm, shim.keyval, &value, &found) != MPI_SUCCESS)
		return false;
	if (found)
		return value == &yes;
	PMPI_Comm_test_inter(comm, &inter);
	if (!inter)
		PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result);
	PMPI_Comm_set_attr(comm, shim.keyval, result == MPI_CONGRUENT ? &yes : &no);
	shim_say(result == MPI_CONGRUENT ? "a copy of MPI_COMM_WORLD has its groups" :
		 "a communicator has no group, as its ranks are not those of MPI_COMM_WORLD");
	return result == MPI_CONGRUENT;
}

int shim_raise(MPI_Comm comm, const struct shim_group *sg, const char *call)
{
	char text[MPI_MAX_ERROR_STRING];

	snprintf(text, sizeof(text), "%s by the group of %s: %s", call, sg->name,
		 sg->left ? sg->left : aggnet_group_error(sg->g));
	PMPI_Add_error_string(shim.code, text);
	PMPI_Comm_call_errhandler(comm, shim.code);
	return shim.code;
}
