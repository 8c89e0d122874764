/* SPDX-License-Identifier: GPL-2.0 */
/* One thread: there is nothing else to run. SHIM_RESCHED: a function of a
 * simulation in which a grace period may end here.
 */
#ifndef _SHIM_LINUX_SCHED_H
#define _SHIM_LINUX_SCHED_H

#ifdef SHIM_RESCHED
void SHIM_RESCHED(void);
#define cond_resched()	SHIM_RESCHED()
#else
#define cond_resched()	((void)0)
#endif

#endif /* _SHIM_LINUX_SCHED_H */
