/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs: their states, from the queue to the end.
 *
 *	queued -> applying -> in force -> withdrawing -> ended
 *
 * A job that leaves one of the first three early goes to withdrawing if it may have
 * entries, else to ended. The record of a job has its state before the first process
 * that acts on it, so that a restart knows what nodes may have.
 */
#ifndef AGGD_JOB_H
#define AGGD_JOB_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "aggd.h"

struct child;
struct conn;

/**
 * enum job_state - how far a job is
 * @JOB_QUEUED: it waits for its plans
 * @JOB_PLANNED: it has them, and waits for its turn and for memory
 * @JOB_APPLYING: entries are being made
 * @JOB_VERIFYING: it was in force when the process started
 * @JOB_IN_FORCE: programs can use it
 * @JOB_WITHDRAWING: entries are being removed
 * @JOB_ENDED: it has none
 */
enum job_state {
	JOB_QUEUED,
	JOB_PLANNED,
	JOB_APPLYING,
	JOB_VERIFYING,
	JOB_IN_FORCE,
	JOB_WITHDRAWING,
	JOB_ENDED,
};

/**
 * struct job - a job; its specification is in its record only
 * @list: in jobs, in the order of IDs
 * @id: of the job, and of its first tree
 * @trees: how many; their IDs follow each other
 * @uid: of the user that has submitted it
 * @state: how far it is
 * @step: tree that the next process is for
 * @child: process that runs for it
 * @conn: connection whose end ends the job; NULL: none
 * @memory: bytes at a node that is in all trees
 * @time: ms that it is in force
 * @until: when its time is over, of now_ms()
 * @ends: the same as a date
 * @retry: not before, of now_ms()
 * @tries: that have failed in this state
 * @failed: it ends because of an error
 * @counted: its nodes are in the sums of the queue
 * @recorded: its record says that it is withdrawn
 * @stop: it has to end when its process has ended
 * @reason: why it ends or has ended, or NULL
 * @fault: what has failed in this state and is tried again, or NULL
 * @kind: group or reduce
 * @group: what programs need, or NULL
 */
struct job {
	TAILQ_ENTRY(job) list;
	uint32_t id;
	uint32_t trees;
	uint32_t uid;
	enum job_state state;
	uint32_t step;
	struct child *child;
	struct conn *conn;
	uint64_t memory;
	int64_t time;
	int64_t until;
	int64_t ends;
	int64_t retry;
	uint32_t tries;
	bool failed;
	bool counted;
	bool recorded;
	bool stop;
	char *reason;
	char *fault;
	const char *kind;
	char *group;
};

TAILQ_HEAD(jobs, job);
extern struct jobs jobs;

/* Read the jobs of an earlier process. Return: 0, or -1 with @why */
int job_load(struct text *why);

/**
 * job_submit() - put a job into the queue
 * @spec: was checked
 * @uid: of the user
 * @conn: connection that it is attached to; NULL: none
 * @why: set on failure
 *
 * Return: the job, which is on the disk, or NULL
 */
struct job *job_submit(json_t *spec, uint32_t uid, struct conn *conn,
		       struct text *why);

/* Return: the job with this ID, or NULL */
struct job *job_find(uint32_t id);

/* End a job, for this reason; @failed: it is an error. Its entries are withdrawn. */
void job_end(struct job *job, bool failed, const char *reason);

/* A connection is closed: end the jobs that are attached to it. */
void job_detach(const struct conn *conn);

/* What the state is called: five states can be seen. */
const char *job_state_name(const struct job *job);

/* Describe a job: in short, or as its record does. NULL: no memory, or with @why */
json_t *job_summary(const struct job *job);
json_t *job_description(const struct job *job, struct text *why);

/* Do what is due. Return: ms until something may be; -1: nothing */
int64_t job_tick(int64_t now);

#endif
