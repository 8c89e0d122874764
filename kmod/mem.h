/* SPDX-License-Identifier: GPL-2.0 */
/* The one place where the module allocates; carries its own fault attribute. */
#ifndef _AGGNET_MEM_H
#define _AGGNET_MEM_H

#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/types.h>

void *aggnet_zalloc(size_t size, gfp_t gfp);	/* kvzalloc if gfp may sleep */
void aggnet_free(void *p);			/* kvfree; NULL is fine */
struct sk_buff *aggnet_skb_alloc(unsigned int size);	/* GFP_ATOMIC */

int aggnet_mem_init(void);
void aggnet_mem_exit(void);

#endif /* _AGGNET_MEM_H */
