/* SPDX-License-Identifier: GPL-2.0 */
/* Sorted trees: runs of contributors in place of the table; all under the
 * tree's lock but for size, bytes and init.
 */
#ifndef _AGGNET_STORE_RUNS_H
#define _AGGNET_STORE_RUNS_H

#include "flow/tree.h"

/* How many runs, and how long. Return: false if there is no memory for that. */
bool aggnet_sorted_size(struct aggnet_tree *tree);
/* What they take, from the start to the end. */
u64 aggnet_sorted_bytes(const struct aggnet_tree *tree);
/* Make them; the local writers' begin. Return: 0 or -ENOMEM */
int aggnet_sorted_init(struct aggnet_tree *tree);

/* Is there a run for a child that the plan did not foresee? */
bool aggnet_sorted_fits(const struct aggnet_tree *tree);
/* A child has bound; @extra: the plan did not foresee it. */
void aggnet_sorted_bind(struct aggnet_tree *tree, struct aggnet_child *c,
			bool extra);
/* Packets by which its credit may grow: none, or half of its run at least. */
u32 aggnet_sorted_more(const struct aggnet_tree *tree,
		       const struct aggnet_child *c);

/*
 * A checked DATA, or the FIN, of a child. Return: false if it is not in order,
 * or not of the weight that was told before: then the tree is aborted.
 */
bool aggnet_sorted_data(struct aggnet_tree *tree, struct aggnet_child *c,
			const struct aggnet_pkt *pkt, struct aggnet_run *run);
bool aggnet_sorted_fin(struct aggnet_tree *tree, struct aggnet_child *c,
		       const struct aggnet_pkt *pkt, struct aggnet_run *run);

/* Records of a local writer. Return: 0, or -EILSEQ if they are not in order */
int aggnet_sorted_write(struct aggnet_tree *tree, u32 run, const u8 *data,
			u32 len, u32 records);
/* Is it worth it for a writer to go on? If not, it is woken when it is. */
bool aggnet_sorted_writable(struct aggnet_tree *tree, u32 run);

/* Go on merging where the last run of the tree's lock had to stop. */
void aggnet_sorted_go_on(struct aggnet_tree *tree, struct aggnet_run *run);

/* Something came, ended or left: serve what waits for room, and the reader. */
void aggnet_sorted_reclaim(struct aggnet_tree *tree, struct aggnet_run *run);
void aggnet_sorted_moved(struct aggnet_tree *tree, struct aggnet_run *run);

#endif /* _AGGNET_STORE_RUNS_H */
