/* SPDX-License-Identifier: GPL-2.0 */
/* Local process of a tree: a writer or the reader. Under the tree's lock. */
#ifndef _AGGNET_LOCAL_H
#define _AGGNET_LOCAL_H

#include <linux/list.h>
#include <linux/types.h>

struct aggnet_run;
struct aggnet_tree;

/**
 * struct aggnet_local - a local process of a tree; under the tree's lock
 * @list: in tree->local.list from join to leave
 * @run: of a writer: writers that joined before it; index of its run in a store of
 *	runs
 * @shut: of a writer: it has ended
 * @gave: of a writer: it has written records
 * @checked: of a writer: @check is set
 * @check: fingerprint of its records
 */
struct aggnet_local {
	struct list_head list;
	u32 run;
	bool shut;
	bool gave;
	bool checked;
	u64 check;
};

/* Can the reader read records or the end mark? */
bool aggnet_reader_may_read(const struct aggnet_tree *tree);

#endif /* _AGGNET_LOCAL_H */
