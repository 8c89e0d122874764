/* SPDX-License-Identifier: GPL-2.0 */
/* Workqueues: queued work runs when the simulation calls these functions. */
#ifndef _FLOW_WORK_H
#define _FLOW_WORK_H

void world_work(void);
/* Run the work that is queued now, and not what it queues. */
void world_work_once(void);
/* Run the work among it that only waits for readers and takes no mutex. */
void world_grace_period(void);

#endif /* _FLOW_WORK_H */
