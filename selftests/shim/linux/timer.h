/* SPDX-License-Identifier: GPL-2.0 */
/* Timers, which the simulation fires. */
#ifndef _SHIM_LINUX_TIMER_H
#define _SHIM_LINUX_TIMER_H

#include <linux/jiffies.h>
#include <linux/types.h>

struct timer_list {
	unsigned long expires;
	bool pending;
	void (*function)(struct timer_list *timer);
};

#define from_timer(var, timer, field) \
	container_of(timer, __typeof__(*(var)), field)

static inline void timer_setup(struct timer_list *timer,
			       void (*function)(struct timer_list *timer),
			       unsigned int flags)
{
	timer->function = function;
	timer->pending = false;
}

static inline bool timer_pending(const struct timer_list *timer)
{
	return timer->pending;
}

static inline int mod_timer(struct timer_list *timer, unsigned long expires)
{
	bool was = timer->pending;

	timer->expires = expires;
	timer->pending = true;
	return was;
}

static inline int del_timer_sync(struct timer_list *timer)
{
	bool was = timer->pending;

	timer->pending = false;
	return was;
}

#endif /* _SHIM_LINUX_TIMER_H */
