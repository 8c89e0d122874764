/* SPDX-License-Identifier: GPL-2.0 */
/* One thread: there is nobody to let go first. */
#ifndef _NETLINK_LINUX_SCHED_H
#define _NETLINK_LINUX_SCHED_H

#define cond_resched()	((void)0)

#endif /* _NETLINK_LINUX_SCHED_H */
