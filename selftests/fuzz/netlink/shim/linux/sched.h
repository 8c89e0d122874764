/* SPDX-License-Identifier: GPL-2.0 */
/* One thread: cond_resched() runs no other, but may end a grace period. */
#ifndef _NETLINK_LINUX_SCHED_H
#define _NETLINK_LINUX_SCHED_H

void world_grace_period(void);

#define cond_resched()	world_grace_period()

#endif /* _NETLINK_LINUX_SCHED_H */
