/* SPDX-License-Identifier: GPL-2.0 */
/* The queue: who may submit how much, and whose turn it is. */
#ifndef AGGD_QUEUE_H
#define AGGD_QUEUE_H

#include <jansson.h>

#include "aggd.h"
#include "job.h"

/**
 * queue_check() - may the user submit another job?
 * @uid: of the user
 * @memory: bytes that the job needs at each of its nodes
 * @why: set to a sentence on failure
 *
 * Return: 0, or -1
 */
int queue_check(uint32_t uid, uint64_t memory, struct text *why);

/* Jobs that were submitted before and wait, too. */
uint32_t queue_ahead(const struct job *job);

/* Jobs that are in force, or being put in force or withdrawn. */
uint32_t queue_active(void);

/**
 * queue_fits() - is there memory for a job at all of its nodes?
 * @nodes: object: bytes by the name of a node
 *
 * Return: true; false: jobs that are in force have to end first
 */
bool queue_fits(const json_t *nodes);

/* Add the memory of a job at its nodes to that of the others, or take it away. */
void queue_add(const json_t *nodes);
void queue_remove(const json_t *nodes);

#endif
