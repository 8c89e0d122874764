/* SPDX-License-Identifier: GPL-2.0 */
/* One thread: there is nothing else to run. */
#ifndef _SHIM_LINUX_SCHED_H
#define _SHIM_LINUX_SCHED_H

#define cond_resched()	((void)0)

#endif /* _SHIM_LINUX_SCHED_H */
