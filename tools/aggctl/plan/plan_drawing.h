/* SPDX-License-Identifier: GPL-2.0 */
/* A plan as Graphviz source. */
#ifndef AGGCTL_PLAN_DRAWING_H
#define AGGCTL_PLAN_DRAWING_H

#include <jansson.h>
#include <stdio.h>

#include "aggctl.h"
#include "plan/plan.h"

/* plan_drawing.c */
int plan_drawing(FILE *f, const struct plan *plan, const json_t *traffic);

#endif
