/* SPDX-License-Identifier: GPL-2.0 */
/* Where the nodes of a plan are. */
#ifndef AGGCTL_PLAN_FIND_H
#define AGGCTL_PLAN_FIND_H

#include <stdbool.h>

#include "plan/plan_apply.h"

int plan_file_find(struct plan_file *file, const char *netns, const char *node,
		   bool *in_testbed);
int plan_file_addressed(const struct plan_file *file);
const char *plan_file_own(const struct plan_file *file, const char *prefix);

#endif
