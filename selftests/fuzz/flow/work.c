// SPDX-License-Identifier: GPL-2.0
/* Workqueues: what is queued runs when whoever drives the simulation says so. */
#include <linux/workqueue.h>

#include "work.h"

static LIST_HEAD(works);

struct workqueue_struct *alloc_workqueue(const char *name, unsigned int flags,
					 int max)
{
	return (void *)&works;
}

void destroy_workqueue(struct workqueue_struct *wq)
{
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	if (work->pending)
		return false;
	work->pending = true;
	list_add_tail(&work->entry, &works);
	return true;
}

bool queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *rwork)
{
	return queue_work(wq, &rwork->work);
}

bool cancel_work_sync(struct work_struct *work)
{
	if (!work->pending)
		return false;
	work->pending = false;
	list_del(&work->entry);
	return true;
}

void world_work(void)
{
	struct work_struct *work;

	while (!list_empty(&works)) {
		work = list_first_entry(&works, struct work_struct, entry);
		work->pending = false;
		list_del(&work->entry);
		work->function(work);
	}
}
