// SPDX-License-Identifier: GPL-2.0
/* The one place where the module allocates; carries its own fault attribute. */
#include <linux/debugfs.h>
#include <linux/fault-inject.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <net/genetlink.h>

#include "mem.h"

#ifdef CONFIG_FAULT_INJECTION_DEBUG_FS

/* <debugfs>/fail_aggnet: allocations of this module only, softirq included. */
static DECLARE_FAULT_ATTR(mem_fault);
static struct dentry *mem_dir;

bool aggnet_mem_fails(void)
{
	return should_fail(&mem_fault, 1);
}

int aggnet_mem_init(void)
{
	/* Without debugfs it cannot be armed, and nothing else is lost. */
	mem_dir = fault_create_debugfs_attr("fail_aggnet", NULL, &mem_fault);
	return 0;
}

void aggnet_mem_exit(void)
{
	debugfs_remove_recursive(mem_dir);
}

#else

int aggnet_mem_init(void)
{
	return 0;
}

void aggnet_mem_exit(void)
{
}

#endif

void *aggnet_zalloc(size_t size, gfp_t gfp)
{
	return aggnet_mem_fails() ? NULL : kvzalloc(size, gfp);
}

void aggnet_free(void *p)
{
	kvfree(p);
}

struct sk_buff *aggnet_skb_alloc(unsigned int size)
{
	if (aggnet_mem_fails())
		return NULL;
	return alloc_skb(size, GFP_ATOMIC);
}

struct sk_buff *aggnet_skb_copy(struct sk_buff *skb)
{
	return aggnet_mem_fails() ? NULL : pskb_copy(skb, GFP_ATOMIC);
}

struct sk_buff *aggnet_skb_own(struct sk_buff *skb)
{
	if (!aggnet_mem_fails())
		return skb_share_check(skb, GFP_ATOMIC);
	kfree_skb(skb);
	return NULL;
}

struct sk_buff *aggnet_genl_alloc(size_t payload, gfp_t gfp)
{
	return aggnet_mem_fails() ? NULL : genlmsg_new(payload, gfp);
}

struct mem_cgroup *aggnet_payer_get(void)
{
	return get_mem_cgroup_from_mm(current->mm);
}

void aggnet_payer_put(struct mem_cgroup *payer)
{
	mem_cgroup_put(payer);
}

struct mem_cgroup *aggnet_payer_set(struct mem_cgroup *payer)
{
	return set_active_memcg(payer);
}
