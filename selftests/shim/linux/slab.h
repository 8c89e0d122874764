/* SPDX-License-Identifier: GPL-2.0 */
/* Allocation on malloc(); shim_alloc_fail makes a chosen one fail. */
#ifndef _SHIM_LINUX_SLAB_H
#define _SHIM_LINUX_SLAB_H

#include <linux/gfp.h>
#include <linux/overflow.h>
#include <stdlib.h>
#include <string.h>

/* Counts down; the allocation that turns 1 into 0 fails. 0: none fails. */
extern unsigned long shim_alloc_fail;
/* Allocations that have not been freed yet. */
extern long shim_alloc_live;

void *shim_alloc(size_t size, gfp_t gfp);
void shim_free(const void *p);

#define kmalloc(size, gfp)		shim_alloc(size, gfp)
#define kzalloc(size, gfp)		shim_alloc(size, (gfp) | __GFP_ZERO)
#define kfree(p)			shim_free(p)
#define kvzalloc(size, gfp)		kzalloc(size, gfp)
#define kvfree(p)			shim_free(p)

#endif /* _SHIM_LINUX_SLAB_H */
