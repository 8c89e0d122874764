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
 * @list: in tree->local.list as long as it has joined
 * @run: how many writers of the tree joined before it; so its run, if the store has runs
 * @shut: a writer that will give no more
 * @gave: a writer whose records have come
 * @checked: a writer that has told the fingerprint of its records
 * @check: what it told
 */
struct aggnet_local {
	struct list_head list;
	u32 run;
	bool shut;
	bool gave;
	bool checked;
	u64 check;
};

/* Is there something for the reader: records, or the end mark? */
bool aggnet_reader_may_read(const struct aggnet_tree *tree);

#endif /* _AGGNET_LOCAL_H */
