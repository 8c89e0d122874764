/* SPDX-License-Identifier: GPL-2.0 */
/* Semaphores of one thread: what is not there now never comes. */
#ifndef _FLOW_LINUX_SEMAPHORE_H
#define _FLOW_LINUX_SEMAPHORE_H

#include <linux/errno.h>

struct semaphore {
	int count;
};

#define sema_init(sem, n)		((sem)->count = (n))
#define down_timeout(sem, timeout)	((sem)->count ? (sem)->count--, 0 : -ETIME)
#define up(sem)				((sem)->count++)

#endif /* _FLOW_LINUX_SEMAPHORE_H */
