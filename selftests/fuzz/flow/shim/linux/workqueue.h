/* SPDX-License-Identifier: GPL-2.0 */
/* Work that runs when whoever drives the simulation says so. */
#ifndef _FLOW_LINUX_WORKQUEUE_H
#define _FLOW_LINUX_WORKQUEUE_H

#include <linux/list.h>
#include <linux/types.h>

struct workqueue_struct;

struct work_struct {
	struct list_head entry;
	bool pending;
	bool rcu;
	void (*function)(struct work_struct *work);
};

struct rcu_work {
	struct work_struct work;
};

#define WQ_UNBOUND	1
#define WQ_MEM_RECLAIM	2

#define to_rcu_work(w)	container_of(w, struct rcu_work, work)

static inline void INIT_WORK(struct work_struct *work,
			     void (*function)(struct work_struct *work))
{
	work->function = function;
	work->pending = false;
}

#define INIT_RCU_WORK(rwork, function)	INIT_WORK(&(rwork)->work, function)

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max);
void destroy_workqueue(struct workqueue_struct *wq);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *rwork);
bool cancel_work_sync(struct work_struct *work);

static inline bool schedule_work(struct work_struct *work)
{
	return queue_work(NULL, work);
}

#endif /* _FLOW_LINUX_WORKQUEUE_H */
