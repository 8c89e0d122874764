/* SPDX-License-Identifier: GPL-2.0 */
/* Plans as aggctl writes them. */
#ifndef PLAN_JSON_H
#define PLAN_JSON_H

#include <jansson.h>

#include "plan/plan.h"

/*
 * The trees of a job with their entries, or NULL if there are none. Clears
 * @plan.
 */
static inline json_t *plan_json_of(struct plan *plan,
				   const struct aggt_job *job)
{
	struct aggt_err why;
	json_t *json = NULL;

	if (plan->topo)
		plan->trees = aggt_plan_build(plan->topo, job, &why);
	if (plan->trees && !plan_prepare(plan) && !plan_draw_id(plan))
		json = plan_json(plan);
	plan_clear(plan);
	return json;
}

/* Plan a job in a network that a text describes. */
static inline json_t *described_plan(const char *text,
				     const struct aggt_job *job,
				     struct plan_conf conf)
{
	struct plan plan = { .conf = conf };
	struct aggt_err why;

	plan.description = strdup(text);
	plan.topo = aggt_topo_describe(text, &why);
	return plan_json_of(&plan, job);
}

#endif /* PLAN_JSON_H */
