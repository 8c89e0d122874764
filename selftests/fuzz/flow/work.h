/* SPDX-License-Identifier: GPL-2.0 */
/* Workqueues: what is queued runs when whoever drives the simulation says so. */
#ifndef _FLOW_WORK_H
#define _FLOW_WORK_H

void world_work(void);
/* What is queued now; what is queued meanwhile stays. */
void world_work_once(void);
/* Of those, what waits for readers alone: it needs no lock of a process. */
void world_grace_period(void);

#endif /* _FLOW_WORK_H */
