/* SPDX-License-Identifier: GPL-2.0 */
/* Readers never overlap with the code that runs the simulation. */
#ifndef _SHIM_LINUX_RCUPDATE_H
#define _SHIM_LINUX_RCUPDATE_H

#define rcu_dereference(p)			(p)
#define rcu_dereference_check(p, c)		(p)
#define rcu_dereference_protected(p, c)		(p)
#define rcu_replace_pointer(p, new, c)		__atomic_exchange_n(&(p), (new), \
								    __ATOMIC_RELAXED)
#define rcu_assign_pointer(p, v)		((p) = (v))
#define RCU_INIT_POINTER(p, v)			((p) = (v))
#define kvfree_rcu(p, head)			kvfree(p)
#define call_rcu(head, function)		(function)(head)

static inline void synchronize_rcu(void)
{
}

static inline void rcu_barrier(void)
{
}

static inline void rcu_read_lock(void)
{
}

static inline void rcu_read_unlock(void)
{
}

#endif /* _SHIM_LINUX_RCUPDATE_H */
