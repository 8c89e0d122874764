// SPDX-License-Identifier: GPL-2.0
/* The module: what it starts, and ends in reverse. */
#include <linux/module.h>

#include "ctl/fault_proc.h"
#include "ctl/netlink.h"
#include "ctl/socket.h"
#include "flow/tree.h"
#include "net/port.h"
#include "mem.h"
#include "netns.h"

static int __init aggnet_init(void)
{
	int err;

	err = aggnet_mem_init();
	if (err)
		return err;
	err = aggnet_tree_init();
	if (err)
		goto mem_exit;
	err = aggnet_netns_init();
	if (err)
		goto tree_exit;
	err = aggnet_fault_proc_init();
	if (err)
		goto netns_exit;
	err = aggnet_port_init();
	if (err)
		goto fault_exit;
	err = aggnet_netlink_init();
	if (err)
		goto port_exit;
	/* Last: from here on programs can hold sockets, and with them the module. */
	err = aggnet_socket_init();
	if (err)
		goto netlink_exit;
	return 0;

netlink_exit:
	aggnet_netlink_exit();
port_exit:
	aggnet_port_exit();
fault_exit:
	aggnet_fault_proc_exit();
netns_exit:
	aggnet_netns_exit();
tree_exit:
	aggnet_tree_exit();
mem_exit:
	aggnet_mem_exit();
	return err;
}

static void __exit aggnet_exit(void)
{
	aggnet_socket_exit();
	aggnet_netlink_exit();
	aggnet_port_exit();
	aggnet_fault_proc_exit();
	aggnet_netns_exit();
	aggnet_tree_exit();
	aggnet_mem_exit();
}

module_init(aggnet_init);
module_exit(aggnet_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("In-network aggregation of incast and shuffle transfers");
MODULE_VERSION("0.1.0");
MODULE_ALIAS_GENL_FAMILY(AGGNET_GENL_NAME);
