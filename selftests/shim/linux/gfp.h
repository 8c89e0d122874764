/* SPDX-License-Identifier: GPL-2.0 */
/* Allocation flags: only __GFP_ZERO means anything here. */
#ifndef _SHIM_LINUX_GFP_H
#define _SHIM_LINUX_GFP_H

#include <linux/types.h>

#define GFP_KERNEL		0x01u
#define GFP_ATOMIC		0x02u
#define GFP_KERNEL_ACCOUNT	(GFP_KERNEL | __GFP_ACCOUNT)
#define __GFP_ZERO		0x10u
#define __GFP_NOWARN		0x20u
#define __GFP_ACCOUNT		0x40u
#define __GFP_RETRY_MAYFAIL	0x100u

#endif /* _SHIM_LINUX_GFP_H */
