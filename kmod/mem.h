/* SPDX-License-Identifier: GPL-2.0 */
/* The one place where the module allocates; carries its own fault attribute. */
#ifndef _AGGNET_MEM_H
#define _AGGNET_MEM_H

#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/types.h>

struct mem_cgroup;

/*
 * On a kernel with fault injection <debugfs>/fail_aggnet makes allocations of
 * this module fail, and no others, in softirq, too; "space" counts them: with
 * times=1 and space=n the n-th fails.
 */
#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS
/* Shall this allocation fail? For functions of the kernel that allocate. */
bool aggnet_mem_fails(void);
#else
static inline bool aggnet_mem_fails(void)
{
	return false;
}
#endif

void *aggnet_zalloc(size_t size, gfp_t gfp);	/* may sleep */
void aggnet_free(void *p);			/* kvfree; NULL is fine */
struct sk_buff *aggnet_skb_alloc(unsigned int size);	/* GFP_ATOMIC */
struct sk_buff *aggnet_skb_copy(struct sk_buff *skb);	/* head and headers */
/* As skb_share_check(). Return: an skb that is not shared; NULL: @skb is freed */
struct sk_buff *aggnet_skb_own(struct sk_buff *skb);
struct sk_buff *aggnet_genl_alloc(size_t payload, gfp_t gfp);

/* The caller's memory control group, a reference; NULL: there is none. */
struct mem_cgroup *aggnet_payer_get(void);
void aggnet_payer_put(struct mem_cgroup *payer);
/* Charge what this task allocates to a group. Return: the group before */
struct mem_cgroup *aggnet_payer_set(struct mem_cgroup *payer);

/* Overwrite with zeros and free, for memory that holds a secret. */
static inline void aggnet_free_secret(void *p, size_t size)
{
	memzero_explicit(p, size);
	aggnet_free(p);
}

int aggnet_mem_init(void);
void aggnet_mem_exit(void);

#endif /* _AGGNET_MEM_H */
