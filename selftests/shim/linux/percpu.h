/* SPDX-License-Identifier: GPL-2.0 */
/* One CPU. */
#ifndef _SHIM_LINUX_PERCPU_H
#define _SHIM_LINUX_PERCPU_H

#define this_cpu_add(counter, n)	((void)((counter) += (n)))
#define this_cpu_inc(counter)		this_cpu_add(counter, 1)
#define alloc_percpu_gfp(type, gfp)	((type *)kzalloc(sizeof(type), gfp))
#define alloc_percpu(type)		alloc_percpu_gfp(type, GFP_KERNEL)
#define free_percpu(p)			kfree(p)
#define per_cpu_ptr(p, cpu)		((void)(cpu), (p))
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < 1; (cpu)++)

#endif /* _SHIM_LINUX_PERCPU_H */
