/* SPDX-License-Identifier: GPL-2.0 */
/* Lists whose readers never overlap with their writer. */
#ifndef _SHIM_LINUX_RCULIST_H
#define _SHIM_LINUX_RCULIST_H

#include <linux/list.h>
#include <linux/rcupdate.h>

#define list_add_tail_rcu(entry, head)	list_add_tail(entry, head)
#define list_del_rcu(entry)		list_del(entry)
#define list_for_each_entry_rcu(pos, head, member, ...) \
	list_for_each_entry(pos, head, member)

#endif /* _SHIM_LINUX_RCULIST_H */
