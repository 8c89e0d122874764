/* SPDX-License-Identifier: GPL-2.0 */
/* Time, which the simulation sets. */
#ifndef _SHIM_LINUX_JIFFIES_H
#define _SHIM_LINUX_JIFFIES_H

#include <linux/types.h>

#define HZ	250ul

extern unsigned long jiffies;

#define time_after(a, b)	((long)((b) - (a)) < 0)
#define time_before(a, b)	time_after(b, a)
#define time_after_eq(a, b)	((long)((a) - (b)) >= 0)

static inline unsigned long msecs_to_jiffies(unsigned int ms)
{
	return (ms * HZ + 999) / 1000;
}

static inline unsigned long usecs_to_jiffies(unsigned int us)
{
	return (us * HZ + 999999) / 1000000;
}

#endif /* _SHIM_LINUX_JIFFIES_H */
