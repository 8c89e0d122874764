/* SPDX-License-Identifier: GPL-2.0 */
/* Table of a namespace's entries; a plan replaces it as a whole. */
#ifndef _AGGNET_TREE_TABLE_H
#define _AGGNET_TREE_TABLE_H

#include <linux/rcupdate.h>
#include <linux/types.h>

struct aggnet_net;
struct aggnet_tree;

#define AGGNET_TREE_LINKS_MAX	256	/* of an incast ID, at a switch */

/**
 * struct aggnet_tree_table - a table: open addressing by incast ID
 * @rcu: frees it
 * @count: entries
 * @mask: slots - 1; at most half of the slots are taken
 * @seed: secret of the hash, another in each copy
 * @slot: entries; those of one incast ID are in one run of slots, perhaps with
 *	entries of other IDs between them (a switch may have an entry for each link)
 *
 * The table is private and may change until it is published. Then no entry moves or
 * leaves; one may be added at the end of a run of slots.
 */
struct aggnet_tree_table {
	struct rcu_head rcu;
	u32 count;
	u32 mask;
	u64 seed[2];
	struct aggnet_tree *slot[];
};

/**
 * aggnet_tree_table_find() - find the entry of an incast ID
 * @an: namespace
 * @incast_id: job . receiver
 *
 * Under rcu_read_lock() (any context) or an->lock. Return: it or NULL.
 */
struct aggnet_tree *aggnet_tree_table_find(struct aggnet_net *an,
					   u64 incast_id);

/* As above, and take a reference, for sockets. */
struct aggnet_tree *aggnet_tree_table_get(struct aggnet_net *an, u64 incast_id);

/* --- control path, an->lock held ------------------------------------------ */

/**
 * aggnet_tree_table_next() - walk a table
 * @trees: it, or NULL
 * @pos: 0 for the first call, then updated
 *
 * Return: the next entry, NULL at the end
 */
struct aggnet_tree *
aggnet_tree_table_next(const struct aggnet_tree_table *trees, u32 *pos);

/* The table in force, NULL if there never was an entry. */
struct aggnet_tree_table *aggnet_tree_table_in_force(struct aggnet_net *an);

/* A private copy to change; NULL: no memory. */
struct aggnet_tree_table *
aggnet_tree_table_copy(const struct aggnet_tree_table *from);

/* Size in memory. */
size_t aggnet_tree_table_bytes(const struct aggnet_tree_table *trees);

/* Has a table room for one more entry? @trees may be NULL. */
bool aggnet_tree_table_room(const struct aggnet_tree_table *trees);

/* Make room in a private table for one more entry. Return: 0 or -ENOMEM */
int aggnet_tree_table_reserve(struct aggnet_tree_table **trees);

/* Add an entry, for which there must be room. The table may be in force. */
void aggnet_tree_table_insert(struct aggnet_tree_table *trees,
			      struct aggnet_tree *tree);

/* Remove all entries of an incast ID. */
void aggnet_tree_table_remove(struct aggnet_tree_table *trees, u64 incast_id);

/* First entry of an incast ID; @trees may be NULL. */
struct aggnet_tree *
aggnet_tree_table_first(const struct aggnet_tree_table *trees, u64 incast_id);

/* Number of entries of an incast ID. */
u32 aggnet_tree_table_links(const struct aggnet_tree_table *trees,
			    u64 incast_id);

/* Entry of an incast ID with this planned link, or NULL. */
struct aggnet_tree *
aggnet_tree_table_by_link(const struct aggnet_tree_table *trees, u64 incast_id,
			  u32 ifindex, __be32 neighbour);

/* Does the entry belong in the Bloom table of this link? */
bool aggnet_tree_marks(const struct aggnet_tree *tree, u32 ifindex,
		       __be32 neighbour);

bool aggnet_tree_table_has(const struct aggnet_tree_table *trees,
			   const struct aggnet_tree *tree);

/*
 * Put a table in force. Return: the old one; aggnet_tree_table_free() frees it.
 */
struct aggnet_tree_table *
aggnet_tree_table_publish(struct aggnet_net *an,
			  struct aggnet_tree_table *trees);
void aggnet_tree_table_free(struct aggnet_tree_table *trees);

void aggnet_tree_table_kill_all(struct aggnet_net *an);	/* namespace exit */

#endif /* _AGGNET_TREE_TABLE_H */
