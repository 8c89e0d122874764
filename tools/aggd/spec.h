/* SPDX-License-Identifier: GPL-2.0 */
/* Specification of a job: the members of a request to submit it. */
#ifndef AGGD_SPEC_H
#define AGGD_SPEC_H

#include <jansson.h>

#include "aggd.h"

/**
 * spec_check() - check a specification, and set what it does not say
 * @spec: JSON object; each member is kept in the job's record
 * @why: set on failure
 *
 * It must not have other members than a specification has.
 *
 * Return: 0, or -1
 */
int spec_check(json_t *spec, struct text *why);

/* The same without the limits of the configuration, for a job that has begun. */
int spec_check_form(json_t *spec, struct text *why);

/* Trees of a job: a group has one up and one down. */
uint32_t spec_trees(const json_t *spec);

/* Bytes that the job reserves at a node that is in all of its trees. */
uint64_t spec_memory(const json_t *spec);

/* Milliseconds that the job is in force. */
int64_t spec_time(const json_t *spec);

/**
 * spec_plan() - the arguments of aggctl that plan a tree
 * @spec: was checked
 * @tree: 0, or 1: down
 * @id: of the job
 * @uid: of its user
 *
 * Return: an array for engine_start(), which spec_free() frees; NULL: no memory
 */
char **spec_plan(const json_t *spec, uint32_t tree, uint32_t id, uint32_t uid);
void spec_free(char **argv);

/* Ranks of a group: the root is rank 0, and members follow in their order. */
uint32_t spec_ranks(const json_t *spec);

#endif
