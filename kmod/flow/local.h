/* SPDX-License-Identifier: GPL-2.0 */
/* Local process of a tree: a writer or a reader. Under the tree's lock. */
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
 * @shut: of a writer, and of the root's process if the tree leads down: it has ended
 *	for ever; of a reader of a stream: it has the end mark of the last round
 * @gave: of a writer: it has written records in this round
 * @checked: of a writer: @check is set
 * @check: fingerprint of its records in this round
 * @rounds: of a writer, and of the root's process: rounds of which it has ended its
 *	part; of a reader of a stream: rounds whose end mark it has
 * @told: of a writer, and of the root's process: rounds whose outcome it has
 * @seq: of a reader of a stream: the packet that it reads next
 * @off: bytes of that packet that it has
 */
struct aggnet_local {
	struct list_head list;
	u32 run;
	bool shut;
	bool gave;
	bool checked;
	u64 check;
	u32 rounds;
	u32 told;
	u32 seq;
	u32 off;
};

/* May the writer write, if there is room? */
bool aggnet_writer_may_write(const struct aggnet_tree *tree,
			     const struct aggnet_local *local);
/* End the part of writers that have shut down, in the round that begins. */
void aggnet_writers_next_round(struct aggnet_tree *tree);
/* Can the reader read records or the end mark? */
bool aggnet_reader_may_read(const struct aggnet_tree *tree);

#endif /* _AGGNET_LOCAL_H */
