// SPDX-License-Identifier: GPL-2.0
/* Plan: changes that come into force together. */
#include "ctl.h"

int aggnet_plan_begin(struct aggnet_ctl *ctl)
{
	return aggnet_ctl_do(ctl, AGGNET_CMD_PLAN_BEGIN, 0, NULL, NULL);
}

int aggnet_plan_commit(struct aggnet_ctl *ctl)
{
	return aggnet_ctl_do(ctl, AGGNET_CMD_PLAN_COMMIT, 0, NULL, NULL);
}

int aggnet_plan_drop(struct aggnet_ctl *ctl)
{
	return aggnet_ctl_do(ctl, AGGNET_CMD_PLAN_DROP, 0, NULL, NULL);
}
