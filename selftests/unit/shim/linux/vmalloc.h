/* SPDX-License-Identifier: GPL-2.0 */
/* vmalloc() and friends, all on malloc(). */
#ifndef _SHIM_LINUX_VMALLOC_H
#define _SHIM_LINUX_VMALLOC_H

#include <linux/slab.h>

#define vmalloc(size)	kmalloc(size, GFP_KERNEL)
#define vzalloc(size)	kzalloc(size, GFP_KERNEL)
#define vfree(p)	shim_free(p)

#endif /* _SHIM_LINUX_VMALLOC_H */
