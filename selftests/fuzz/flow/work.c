// SPDX-License-Identifier: GPL-2.0
/* Workqueues: queued work runs when the simulation calls these functions. */
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

static bool work_queue(struct work_struct *work, bool rcu)
{
	if (work->pending)
		return false;
	work->pending = true;
	work->rcu = rcu;
	list_add_tail(&work->entry, &works);
	return true;
}

bool queue_work(struct workqueue_struct *wq, struct work_struct *work)
{
	return work_queue(work, false);
}

bool queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *rwork)
{
	return work_queue(&rwork->work, true);
}

bool cancel_work(struct work_struct *work)
{
	if (!work->pending)
		return false;
	work->pending = false;
	list_del(&work->entry);
	return true;
}

static void work_run(struct work_struct *work)
{
	work->pending = false;
	list_del(&work->entry);
	work->function(work);
}

void world_work(void)
{
	while (!list_empty(&works))
		work_run(list_first_entry(&works, struct work_struct, entry));
}

void world_work_once(void)
{
	struct list_head *last = works.prev, *entry;

	while (!list_empty(&works)) {
		entry = works.next;
		work_run(list_entry(entry, struct work_struct, entry));
		if (entry == last)
			break;
	}
}

void world_grace_period(void)
{
	struct work_struct *work, *next;
	static bool passing;

	/* This work queues no other work, but may wait for a grace period. */
	if (passing)
		return;
	passing = true;
	list_for_each_entry_safe(work, next, &works, entry)
		if (work->rcu)
			work_run(work);
	passing = false;
}
