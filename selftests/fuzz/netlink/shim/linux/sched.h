/* SPDX-License-Identifier: GPL-2.0 */
/* One thread, so nobody is let go first; but a grace period may pass. */
#ifndef _NETLINK_LINUX_SCHED_H
#define _NETLINK_LINUX_SCHED_H

void world_grace_period(void);

#define cond_resched()	world_grace_period()

#endif /* _NETLINK_LINUX_SCHED_H */
