// SPDX-License-Identifier: GPL-2.0
/* /proc/net/aggnet_fault: plant a fault, in builds for tests (core/fault.h). */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/seq_file_net.h>

#include "core/fault.h"
#include "ctl/fault_proc.h"
#include "netns.h"

#define FAULT_FILE	"aggnet_fault"

/* modinfo tells a build for tests from the product. */
MODULE_INFO(faults, "tests can plant faults in merges");

static int fault_show(struct seq_file *m, void *v)
{
	struct aggnet_net *an = aggnet_net(seq_file_single_net(m));

	seq_printf(m, "%u\n", READ_ONCE(an->fault));
	return 0;
}

/* A number, enum aggnet_fault: the next merge in this namespace goes wrong so. */
static int fault_write(struct file *file, char *buf, size_t size)
{
	struct seq_file *m = file->private_data;
	u32 fault;
	int err;

	err = kstrtou32(buf, 10, &fault);
	if (err)
		return err;
	if (fault >= __AGGNET_FAULT_MAX)
		return -ERANGE;
	WRITE_ONCE(aggnet_net(seq_file_single_net(m))->fault, fault);
	return 0;
}

static int __net_init fault_net_init(struct net *net)
{
	return proc_create_net_single_write(FAULT_FILE, 0600, net->proc_net,
					    fault_show, fault_write, NULL) ?
		       0 : -ENOMEM;
}

static void __net_exit fault_net_exit(struct net *net)
{
	remove_proc_entry(FAULT_FILE, net->proc_net);
}

static struct pernet_operations fault_ops = {
	.init = fault_net_init,
	.exit = fault_net_exit,
};

int aggnet_fault_proc_init(void)
{
	return register_pernet_subsys(&fault_ops);
}

void aggnet_fault_proc_exit(void)
{
	unregister_pernet_subsys(&fault_ops);
}
