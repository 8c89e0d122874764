/* SPDX-License-Identifier: GPL-2.0 */
/* Work that runs when the simulation calls it. */
#ifndef _SHIM_LINUX_WORKQUEUE_H
#define _SHIM_LINUX_WORKQUEUE_H

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

struct delayed_work {
	struct work_struct work;
};

#define WQ_UNBOUND	1
#define WQ_MEM_RECLAIM	2

#define to_rcu_work(w)	container_of(w, struct rcu_work, work)
#define to_delayed_work(w)	container_of(w, struct delayed_work, work)

static inline void INIT_WORK(struct work_struct *work,
			     void (*function)(struct work_struct *work))
{
	work->function = function;
	work->pending = false;
}

#define INIT_RCU_WORK(rwork, function)	INIT_WORK(&(rwork)->work, function)
#define INIT_DELAYED_WORK(dwork, function)	INIT_WORK(&(dwork)->work, function)

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max);
void destroy_workqueue(struct workqueue_struct *wq);
bool queue_work(struct workqueue_struct *wq, struct work_struct *work);
bool queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *rwork);
bool cancel_work(struct work_struct *work);

/* No work runs while another does. */
static inline bool cancel_work_sync(struct work_struct *work)
{
	return cancel_work(work);
}

/* The simulation ignores the delay. */
static inline bool queue_delayed_work(struct workqueue_struct *wq,
				      struct delayed_work *dwork,
				      unsigned long delay)
{
	return queue_work(wq, &dwork->work);
}

static inline bool cancel_delayed_work_sync(struct delayed_work *dwork)
{
	return cancel_work_sync(&dwork->work);
}

#endif /* _SHIM_LINUX_WORKQUEUE_H */
