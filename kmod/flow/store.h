/* SPDX-License-Identifier: GPL-2.0 */
/* Store: what a tree holds. A table by key (store_table.c), or runs of contributors
 * that send their keys in order (store_runs.c); the layout of the tree chooses.
 */
#ifndef _AGGNET_STORE_H
#define _AGGNET_STORE_H

#include <linux/types.h>

#include "core/aggtable.h"
#include "core/runs.h"

struct aggnet_child;
struct aggnet_local;
struct aggnet_pkt;
struct aggnet_run;
struct aggnet_tree;

/**
 * struct aggnet_store_ops - one kind of store
 * @weighs: contributors tell their weight with each DATA, and nothing leaves before
 *	those of all sources are known; otherwise DATA has the weight 0
 * @shared: all children have credit from the same memory: where one finds none, no
 *	other one does
 * @size: decide how much memory each contributor gets. Return: bytes that @init
 *	allocates, 0 if the limit of the entry is too small for a credit each
 * @init: allocate them; on failure, @free is due. Return: 0 or -ENOMEM
 * @fill: get the memory that is charged in pieces, as much as progress needs.
 *	Return: 0, -ENOMEM, or -ENOSPC at a limit
 * @free: give all memory back, once or several times; the lock is not held
 * @fits: is there a credit for @c, a child that waits for one, or if it is NULL for
 *	a child that the plan did not foresee?
 * @refuse: there was none for this child, which may bind: make room, or keep its
 *	name, as the reason why the transfer fails
 * @bind: a child was bound; @extra: the plan did not foresee it
 * @grant: the DATA by which the credit of a child grows now; may be 0, and then
 *	@reclaim comes back to the child
 * @merge: take the records of a checked DATA that is new. Return: false if the tree
 *	was aborted, because they are not in order or have another weight than before
 * @fin: a child has sent all its DATA; return value as of @merge
 * @close: no other child will bind
 * @room: bytes of records that a local writer may write now, at least those of any
 *	one record; 0: none, and it is woken when there is room. @poll: the writer
 *	waits until writing is worth it, and asks for no number
 * @write: take checked records of a local writer, at most as many as @room said and
 *	a packet has. Return: 0, or -EILSEQ if they are not in order
 * @shut: a local writer will write no more
 * @ready: may some of the records that are held leave now? There are some
 * @pack: take records out for a packet or a reader, as aggnet_table_pack()
 * @moved: records or an end came in, or @close was called: serve what waited for it
 * @reclaim: records left: give out the memory that they had
 * @relieve: growth that was relied on may have ended without memory: look again
 * @go_on: go on where the last run of the lock had to stop
 *
 * @size, @init and @fill are called in this order as the tree is made, before
 * anything else refers to it. They and @free run in process context and may sleep.
 * All others are called within a run of the tree's lock, in softirq too, and do no
 * more work than a run may.
 */
struct aggnet_store_ops {
	bool weighs;
	bool shared;

	u64 (*size)(struct aggnet_tree *tree);
	int (*init)(struct aggnet_tree *tree);
	int (*fill)(struct aggnet_tree *tree);
	void (*free)(struct aggnet_tree *tree);

	bool (*fits)(const struct aggnet_tree *tree,
		     const struct aggnet_child *c);
	void (*refuse)(struct aggnet_tree *tree, __be32 id,
		       struct aggnet_run *run);
	void (*bind)(struct aggnet_tree *tree, struct aggnet_child *c,
		     bool extra);
	u32 (*grant)(struct aggnet_tree *tree, const struct aggnet_child *c,
		     struct aggnet_run *run);
	bool (*merge)(struct aggnet_tree *tree, const struct aggnet_child *c,
		      const struct aggnet_pkt *pkt, struct aggnet_run *run);
	bool (*fin)(struct aggnet_tree *tree, const struct aggnet_child *c,
		    u32 weight, struct aggnet_run *run);
	void (*close)(struct aggnet_tree *tree);

	u32 (*room)(struct aggnet_tree *tree, const struct aggnet_local *local,
		    bool poll, struct aggnet_run *run);
	int (*write)(struct aggnet_tree *tree, const struct aggnet_local *local,
		     const u8 *data, u32 len, u32 records,
		     struct aggnet_run *run);
	void (*shut)(struct aggnet_tree *tree,
		     const struct aggnet_local *local);

	bool (*ready)(const struct aggnet_tree *tree);
	u32 (*pack)(struct aggnet_tree *tree, u8 *buf, u32 room,
		    u32 max_records, u32 *records, u64 *represents);
	void (*moved)(struct aggnet_tree *tree, struct aggnet_run *run);
	void (*reclaim)(struct aggnet_tree *tree, struct aggnet_run *run);
	void (*relieve)(struct aggnet_tree *tree, struct aggnet_run *run);
	void (*go_on)(struct aggnet_tree *tree, struct aggnet_run *run);
};

extern const struct aggnet_store_ops aggnet_store_table;
extern const struct aggnet_store_ops aggnet_store_runs;

/**
 * struct aggnet_store - what is held
 * @ops: which kind of store it is; constant
 * @bytes: that it holds from the start to the end, besides chunks
 * @table: the aggregation buffer; or
 * @runs: what each contributor gave
 * @slots: packets of a planned contributor's run
 * @extras: runs for children that the plan did not foresee
 * @extra_slots: packets of such a run
 * @full: a writer found no room worth going on for
 *
 * Of @table and @runs one is all zero, so that a sum over both needs no op.
 */
struct aggnet_store {
	const struct aggnet_store_ops *ops;
	u64 bytes;
	struct aggnet_table table;
	struct aggnet_runs runs;
	u32 slots;
	u32 extras;
	u32 extra_slots;
	bool full;
};

#endif /* _AGGNET_STORE_H */
