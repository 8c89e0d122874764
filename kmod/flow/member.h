/* SPDX-License-Identifier: GPL-2.0 */
/* Member: a local process of a tree, a writer or the reader. Under the tree's lock. */
#ifndef _AGGNET_MEMBER_H
#define _AGGNET_MEMBER_H

#include <linux/types.h>

struct aggnet_sock;
struct aggnet_tree;
struct sk_buff_head;

/* Is there something for the reader: records, or the end mark? */
bool aggnet_reader_may_read(const struct aggnet_tree *tree);
/* Is there room for more of a writer? If not, ask for some: it waits for that. */
bool aggnet_writer_may_write(struct aggnet_tree *tree,
			     const struct aggnet_sock *as,
			     struct sk_buff_head *out);

#endif /* _AGGNET_MEMBER_H */
