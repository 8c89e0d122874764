// SPDX-License-Identifier: GPL-2.0
/* Plan: changes that come into force together. */
#include "ctl.h"

int aggnet_plan_begin(struct aggnet_ctl *ctl)
{
	ctl->steps = 0;
	return aggnet_ctl_do(ctl, AGGNET_CMD_PLAN_BEGIN, 0, NULL, NULL);
}

/* Refused ones are counted, too: not all of them void the plan by themselves. */
int aggnet_ctl_step(struct aggnet_ctl *ctl, int cmd, int flags,
		    const struct aggnet_noun *noun, const void *info)
{
	ctl->steps++;
	return aggnet_ctl_do(ctl, cmd, flags, noun, info);
}

int aggnet_plan_commit(struct aggnet_ctl *ctl)
{
	const struct aggnet_plan_info info = {
		.has = AGGNET_HAS(AGGNET_A_PLAN_STEPS),
		.steps = ctl->steps,
	};

	return aggnet_ctl_do(ctl, AGGNET_CMD_PLAN_COMMIT, 0, &aggnet_noun_plan, &info);
}

int aggnet_plan_drop(struct aggnet_ctl *ctl)
{
	return aggnet_ctl_do(ctl, AGGNET_CMD_PLAN_DROP, 0, NULL, NULL);
}
