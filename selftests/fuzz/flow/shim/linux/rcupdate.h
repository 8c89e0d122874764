/* SPDX-License-Identifier: GPL-2.0 */
/* Readers never overlap with the driver of the simulation. */
#ifndef _FLOW_LINUX_RCUPDATE_H
#define _FLOW_LINUX_RCUPDATE_H

static inline void rcu_barrier(void)
{
}

#endif /* _FLOW_LINUX_RCUPDATE_H */
