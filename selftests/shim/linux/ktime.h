/* SPDX-License-Identifier: GPL-2.0 */
/* The same time in nanoseconds. */
#ifndef _SHIM_LINUX_KTIME_H
#define _SHIM_LINUX_KTIME_H

#include <linux/types.h>

#define NSEC_PER_USEC	1000ul

u64 ktime_get_ns(void);

#endif /* _SHIM_LINUX_KTIME_H */
