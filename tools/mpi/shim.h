/* SPDX-License-Identifier: GPL-2.0 */
/* Shim: collectives of MPI by groups of libaggnet. What each rank decides follows from the
 * environment of rank 0, from outcomes that all ranks know, and from arguments that MPI
 * requires to be equal at all ranks: ranks that decide differently would wait for ever.
 */
#ifndef AGGNET_SHIM_H
#define AGGNET_SHIM_H

#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include "aggnet_coll.h"

#define SHIM_GROUPS_MAX	16
#define SHIM_TEXT_MAX	512

/* A call with less is left to MPI; see Documentation/mpi.rst. */
#define SHIM_MIN	16384

/**
 * struct shim_group - a group that AGGNET_MPI names
 * @name: FUNCTION/TYPE, as given
 * @conf: of the group
 * @used: calls go to it, also after it has ended
 * @max: elements of each kind of collective
 * @g: its handle; NULL: there is none, or none any more
 * @left: why the group was left in a call; NULL: it was not
 */
struct shim_group {
	char name[32];
	struct aggnet_group_conf conf;
	bool used;
	size_t max[AGGNET_COLL_ALLREDUCE + 1];
	struct aggnet_group *g;
	const char *left;
};

/**
 * struct shim_env - the environment of rank 0
 * @length: of AGGNET_MPI, with its end; 0: it is not set
 * @verbose: AGGNET_VERBOSE is 1
 * @min: AGGNET_MPI_MIN
 */
struct shim_env {
	int32_t length;
	int32_t verbose;
	char min[24];
};

/**
 * conf_parse() - read AGGNET_MPI
 * @text: FUNCTION/TYPE:GROUP;..., where GROUP is as "aggctl job submit" prints it; cut in
 *	its parts
 * @group: filled, SHIM_GROUPS_MAX
 * @fault: SHIM_TEXT_MAX bytes, for what is wrong
 *
 * Return: how many there are; -1: @text is wrong
 */
int conf_parse(char *text, struct shim_group *group, char *fault);

/* Read a number of bytes. Return: false: it is not one */
bool conf_bytes(const char *text, uint64_t *bytes);

enum shim_kind { SHIM_ALLREDUCE, SHIM_REDUCE, SHIM_BCAST, SHIM_BARRIER, SHIM_KINDS };

/**
 * struct shim - this process
 * @made: @comm, @keyval and @code are there
 * @on: groups are open
 * @verbose: rank 0 tells what is decided
 * @threads: threads of a rank may call MPI at the same time
 * @rank: in MPI_COMM_WORLD
 * @size: of MPI_COMM_WORLD
 * @min: bytes of the least call that a group gets
 * @comm: the same ranks; no message of the program is on it
 * @keyval: of a communicator: whether its ranks are those of the groups
 * @code: for errors of groups
 * @group: in the order of AGGNET_MPI
 * @groups: how many
 * @by_group: calls of each kind
 * @by_mpi: likewise
 */
struct shim {
	bool made;
	bool on;
	bool verbose;
	bool threads;
	int rank;
	int size;
	uint64_t min;
	MPI_Comm comm;
	int keyval;
	int code;
	struct shim_group group[SHIM_GROUPS_MAX];
	int groups;
	uint64_t by_group[SHIM_KINDS];
	uint64_t by_mpi[SHIM_KINDS];
};

extern struct shim shim;

/* Print a line at rank 0, if it is verbose. */
void shim_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Open the groups that rank 0's environment names; all ranks call it after MPI_Init(). */
void shim_begin(void);

/* Finish and close them; all ranks call it before MPI_Finalize(). */
void shim_end(void);

/*
 * Wait for a collective. MPI goes on meanwhile: another rank may need a message of this one
 * before it calls the collective.
 */
int shim_wait(struct aggnet_coll *c);

/* Has @comm the ranks of the groups, in their order? */
bool shim_has(MPI_Comm comm);

/* Count a call. */
static inline void shim_count(uint64_t *calls, enum shim_kind kind)
{
	__atomic_fetch_add(&calls[kind], 1, __ATOMIC_RELAXED);
}

/* Give an error of a group to the handler of @comm. Return: its code */
int shim_raise(MPI_Comm comm, const struct shim_group *sg, const char *call);

#endif /* AGGNET_SHIM_H */
