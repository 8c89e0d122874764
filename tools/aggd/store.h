/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What must outlive the process: a record for each job, its plans, and the counter of
 * IDs. This header does not say where: jobs and connections use nothing else.
 */
#ifndef AGGD_STORE_H
#define AGGD_STORE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>

#include "aggd.h"

/**
 * store_open() - take possession of the state
 * @dir: directory, which is made if it does not exist
 * @why: set on failure
 *
 * A second process is refused. It waits until children of an earlier process that held
 * the state have ended, because they may still change nodes.
 *
 * Return: 0, or -1
 */
int store_open(const char *dir, struct text *why);

/* Is the state used by several processes, of which one leads? */
bool store_is_shared(void);

/**
 * enum store_state - what may be done
 * @STORE_STANDBY: nothing: another process leads, or may lead
 * @STORE_READY: everything
 * @STORE_SILENT: nothing new: the store does not answer at present
 * @STORE_FENCED: nothing, and children have to end: another process may lead soon
 * @STORE_LOST: the process has to end: another one leads
 */
enum store_state {
	STORE_STANDBY,
	STORE_READY,
	STORE_SILENT,
	STORE_FENCED,
	STORE_LOST,
};

/* Return: the state; @why is set to a sentence if it is not STORE_READY */
enum store_state store_state(struct text *why);
bool store_is_ready(void);

/* Do what keeps the process the leader, or makes it one. Return: ms to the next call */
int64_t store_tick(int64_t now);

/* The process ends, and has no children: another one may lead at once. */
void store_close(void);

/* A descriptor that children inherit: while one has it open, store_open() waits. */
int store_children(void);

/**
 * store_take_ids() - take IDs that no job has had
 * @n: how many
 * @first: set to the first one; the others follow it
 * @why: set on failure
 *
 * No later call returns them, also if the process or the machine fails.
 *
 * Return: 0, or -1
 */
int store_take_ids(uint32_t n, uint32_t *first, struct text *why);

/* Write the record of a job; it is on the disk on return. Return: 0, or -1 */
int store_put(uint32_t id, const json_t *record, struct text *why);

/* Return: the record of a job, which the caller frees; NULL with @why */
json_t *store_get(uint32_t id, struct text *why);

/* Remove the record and the plans of a job. */
void store_del(uint32_t id, uint32_t trees);

/* Remove the plans of a job, and keep the record. */
void store_del_plans(uint32_t id, uint32_t trees);

/**
 * store_each() - read all records, in the order of their IDs
 * @one: called with each; it does not free it; other than 0 ends the walk
 * @why: set on failure
 *
 * Return: 0, or -1
 */
int store_each(int (*one)(uint32_t id, json_t *record, struct text *why),
	       struct text *why);

/* Have the plan of a tree on the disk, before nodes have it. Return: 0, or -1 */
int store_sync_plan(uint32_t id, uint32_t tree, struct text *why);

/*
 * Have the file of a plan, if an earlier process has synchronised it.
 * Return: 1; 0: there is no such plan; -1 with @why
 */
int store_fetch_plan(uint32_t id, uint32_t tree, struct text *why);

/* Name of the file of a plan: that of tree @tree of a job */
void store_plan(uint32_t id, uint32_t tree, char path[PATH_MAX]);

#endif
