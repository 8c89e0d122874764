/* SPDX-License-Identifier: GPL-2.0 */
/* Spinlocks of one thread: taking a held one is a deadlock, and reported. */
#ifndef _SHIM_LINUX_SPINLOCK_H
#define _SHIM_LINUX_SPINLOCK_H

#include <linux/bug.h>
#include <linux/lockdep.h>

typedef struct {
	bool held;
} spinlock_t;

static inline void spin_lock_init(spinlock_t *lock)
{
	lock->held = false;
}

static inline void spin_lock(spinlock_t *lock)
{
	WARN_ON(lock->held);
	lock->held = true;
}

static inline void spin_unlock(spinlock_t *lock)
{
	WARN_ON(!lock->held);
	lock->held = false;
}

#define spin_lock_bh(lock)	spin_lock(lock)
#define spin_unlock_bh(lock)	spin_unlock(lock)

#endif /* _SHIM_LINUX_SPINLOCK_H */
