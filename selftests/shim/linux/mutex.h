/* SPDX-License-Identifier: GPL-2.0 */
/* Mutexes of one thread, like its spinlocks. */
#ifndef _SHIM_LINUX_MUTEX_H
#define _SHIM_LINUX_MUTEX_H

#include <linux/spinlock.h>

struct mutex {
	spinlock_t lock;
};

#define mutex_init(m)		spin_lock_init(&(m)->lock)
#define mutex_lock(m)		spin_lock(&(m)->lock)
#define mutex_trylock(m)	(!(m)->lock.held && (mutex_lock(m), true))
#define mutex_unlock(m)		spin_unlock(&(m)->lock)
#define mutex_destroy(m)	WARN_ON((m)->lock.held)

#endif /* _SHIM_LINUX_MUTEX_H */
