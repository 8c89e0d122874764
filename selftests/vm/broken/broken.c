// SPDX-License-Identifier: GPL-2.0
/* Faults on purpose, in a variant of the module that only selftests/vm/gate.sh
 * builds: "insmod aggnet.ko broken=leak" must be detected.
 */
#include <linux/moduleparam.h>
#include <linux/rculist.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "kmod/mem.h"

static DEFINE_SPINLOCK(broken_lock);	/* for wrong locking only */
static DEFINE_SPINLOCK(broken_other);	/* for wrong locking only */
static u32 __rcu *broken_pointer;
static LIST_HEAD(broken_items);

struct broken_item {
	struct list_head list;
	bool bad;
};

static void broken_none(void)
{
	aggnet_free(aggnet_zalloc(64, GFP_KERNEL));
}

static void broken_leak(void)
{
	u32 i;

	/* Leak several: a stale pointer on a stack may hide one. */
	for (i = 0; i < 8; i++)
		aggnet_zalloc(64 + 8 * i, GFP_KERNEL);
}

/* More reports than fit into a pipe. */
static void broken_leaks(void)
{
	u32 i;

	for (i = 0; i < 1000; i++)
		aggnet_zalloc(64, GFP_KERNEL);
}

static void broken_double_free(void)
{
	void *p = aggnet_zalloc(64, GFP_KERNEL);

	aggnet_free(p);
	aggnet_free(p);
}

static void broken_use_after_free(void)
{
	u8 *p = aggnet_zalloc(64, GFP_KERNEL);

	aggnet_free(p);
	WRITE_ONCE(*p, 1);
}

static void broken_sleep(void)
{
	spin_lock_bh(&broken_lock);
	aggnet_free(aggnet_zalloc(64, GFP_KERNEL));
	spin_unlock_bh(&broken_lock);
}

static void broken_unlock(void)
{
	spin_lock(&broken_lock);
}

static void broken_order(void)
{
	spin_lock(&broken_lock);
	spin_lock(&broken_other);
	spin_unlock(&broken_other);
	spin_unlock(&broken_lock);
	spin_lock(&broken_other);
	spin_lock(&broken_lock);
	spin_unlock(&broken_lock);
	spin_unlock(&broken_other);
}

static void broken_rcu(void)
{
	WARN_ON(rcu_dereference(broken_pointer));
}

static void broken_list(void)
{
	struct broken_item *item;

	list_for_each_entry_rcu(item, &broken_items, list)
		WARN_ON(item->bad);
}

static const struct {
	const char *name;
	void (*commit)(void);
} broken_faults[] = {
	{ "none", broken_none },
	{ "leak", broken_leak },
	{ "leaks", broken_leaks },
	{ "double_free", broken_double_free },
	{ "use_after_free", broken_use_after_free },
	{ "sleep", broken_sleep },
	{ "unlock", broken_unlock },
	{ "order", broken_order },
	{ "rcu", broken_rcu },
	{ "list", broken_list },
};

static int broken_set(const char *name, const struct kernel_param *param)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(broken_faults); i++) {
		if (!sysfs_streq(name, broken_faults[i].name))
			continue;
		broken_faults[i].commit();
		return 0;
	}
	return -EINVAL;
}

static const struct kernel_param_ops broken_ops = { .set = broken_set };

module_param_cb(broken, &broken_ops, NULL, 0200);
