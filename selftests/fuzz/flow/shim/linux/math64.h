/* SPDX-License-Identifier: GPL-2.0 */
/* Division of 64 bits, which is no operator where there are 32. */
#ifndef _FLOW_LINUX_MATH64_H
#define _FLOW_LINUX_MATH64_H

#include <linux/types.h>

u64 div_u64(u64 dividend, u32 divisor);

#endif /* _FLOW_LINUX_MATH64_H */
