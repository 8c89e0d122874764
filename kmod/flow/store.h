/* SPDX-License-Identifier: GPL-2.0 */
/* Store: the records that a tree holds. A table by key (store_table.c), or runs of
 * contributors that send their keys in order (store_runs.c), as the layout says; or the
 * packets of a stream that goes down (cast.c).
 */
#ifndef _AGGNET_STORE_H
#define _AGGNET_STORE_H

#include <linux/types.h>

#include "core/aggtable.h"
#include "core/runs.h"
#include "flow/cast.h"

struct aggnet_local;
struct aggnet_pkt;
struct aggnet_run;
struct aggnet_tree;

/**
 * struct aggnet_store_ops - one kind of store
 * @weighs: each DATA has the weight of its contributor, and no record leaves before
 *	the weights add up to all sources; otherwise DATA has the weight 0
 * @shared: the credit of all children comes from the same memory: if there is none
 *	for one child, there is none for the others
 * @size: decide how much memory each contributor gets. Return: bytes that @init
 *	allocates, 0 if the limit of the entry is too small for a credit each
 * @init: allocate them; on failure, call @free. Return: 0 or -ENOMEM
 * @fill: allocate the memory that is charged in chunks, as much as progress needs.
 *	Return: 0, -ENOMEM, or -ENOSPC at a limit
 * @free: free all memory; may be called again; the lock is not held
 * @fits: is there a credit for @c, a child that waits for one, or if it is NULL for
 *	a child that the plan did not foresee?
 * @refuse: a child that may bind found no room: make some, or keep its name as the
 *	reason if the transfer fails
 * @bind: a child was bound; @extra: it is unplanned
 * @grant: number of DATA packets to add to the credit of a child; if it is 0,
 *	@reclaim comes back to the child
 * @merge: take the records of a checked, new DATA. Return: false: the tree was
 *	aborted, as the records are not in order or the weight has changed
 * @fin: a child has sent all its DATA; returns as @merge does
 * @close: no other child will bind
 * @room: bytes of records that a local writer may write now, enough for any one
 *	record; 0: none, and the writer is woken when there is room. @poll: the
 *	writer waits until there is room for a worthwhile write
 * @write: take checked records of a local writer, at most @room bytes and at most
 *	one packet of records. Return: 0, or -EILSEQ if they are not in order
 * @shut: a local writer has ended
 * @ready: may so many records leave now, or all that there are? Called only if there
 *	are records
 * @pack: take records out for a packet or a reader, as aggnet_table_pack()
 * @moved: records or an end arrived, or @close was called: serve what waited for it
 * @reclaim: records left: give out the memory that they used
 * @relieve: growth may have ended without memory: check again what waits for room
 * @go_on: continue where the last run of the lock had to stop
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

	bool (*ready)(const struct aggnet_tree *tree, u32 records);
	u32 (*pack)(struct aggnet_tree *tree, u8 *buf, u32 room,
		    u32 max_records, u32 *records, u64 *represents);
	void (*moved)(struct aggnet_tree *tree, struct aggnet_run *run);
	void (*reclaim)(struct aggnet_tree *tree, struct aggnet_run *run);
	void (*relieve)(struct aggnet_tree *tree, struct aggnet_run *run);
	void (*go_on)(struct aggnet_tree *tree, struct aggnet_run *run);
};

extern const struct aggnet_store_ops aggnet_store_table;
extern const struct aggnet_store_ops aggnet_store_runs;
extern const struct aggnet_store_ops aggnet_store_cast;

/**
 * struct aggnet_store - the records of a tree
 * @ops: kind of the store; constant
 * @bytes: memory from creation to the end, besides chunks
 * @table: the aggregation buffer, if the store is a table
 * @runs: the records of each contributor, if the store has runs
 * @slots: packets of a planned contributor's run
 * @extras: number of runs for unplanned children
 * @extra_slots: packets of such a run
 * @cast: the packets of a stream
 * @full: a writer waits for room
 *
 * Those of @table, @runs and @cast that are not used are all zero, so that a sum over
 * @table and @runs needs no op.
 */
struct aggnet_store {
	const struct aggnet_store_ops *ops;
	u64 bytes;
	struct aggnet_table table;
	struct aggnet_runs runs;
	u32 slots;
	u32 extras;
	u32 extra_slots;
	struct aggnet_cast cast;
	bool full;
};

#endif /* _AGGNET_STORE_H */
