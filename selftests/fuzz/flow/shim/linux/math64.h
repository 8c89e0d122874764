/* SPDX-License-Identifier: GPL-2.0 */
/* Division of 64 bits, for which 32-bit machines have no operator. */
#ifndef _FLOW_LINUX_MATH64_H
#define _FLOW_LINUX_MATH64_H

#include <linux/types.h>

u64 div_u64(u64 dividend, u32 divisor);

#endif /* _FLOW_LINUX_MATH64_H */
