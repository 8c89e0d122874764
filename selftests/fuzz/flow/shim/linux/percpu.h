/* SPDX-License-Identifier: GPL-2.0 */
/* One CPU. */
#ifndef _FLOW_LINUX_PERCPU_H
#define _FLOW_LINUX_PERCPU_H

#define this_cpu_add(counter, n)	((void)((counter) += (n)))
#define this_cpu_inc(counter)		this_cpu_add(counter, 1)

#endif /* _FLOW_LINUX_PERCPU_H */
