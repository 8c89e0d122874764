/* SPDX-License-Identifier: GPL-2.0 */
/* /proc/net/aggnet_fault: plant a fault, in builds for tests (core/fault.h). */
#ifndef _AGGNET_FAULT_PROC_H
#define _AGGNET_FAULT_PROC_H

#ifdef AGGNET_FAULTS
int aggnet_fault_proc_init(void);
void aggnet_fault_proc_exit(void);
#else
static inline int aggnet_fault_proc_init(void)
{
	return 0;
}

static inline void aggnet_fault_proc_exit(void)
{
}
#endif

#endif /* _AGGNET_FAULT_PROC_H */
