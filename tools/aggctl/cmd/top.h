/* SPDX-License-Identifier: GPL-2.0 */
/* What each entry of a node has merged and sent from one moment to another one. */
#ifndef AGGCTL_TOP_H
#define AGGCTL_TOP_H

#include <jansson.h>

#include "aggnet.h"

/**
 * struct top_sample - the entries of a node at a moment
 * @list: the entries, of aggnet_tree_list()
 * @n: how many
 * @ns: the moment, of a clock that never goes back
 */
struct top_sample {
	struct aggnet_tree_info *list;
	size_t n;
	int64_t ns;
};

/**
 * top_rows() - a row for each entry, the one with most traffic first
 * @now: the entries
 * @before: the same node's entries a while ago; those of another epoch, or new ones,
 *	have no rates
 *
 * Return: an array of objects.
 */
json_t *top_rows(const struct top_sample *now, const struct top_sample *before);

/* "BOUND/EXPECTED" contributors of an entry: a string */
json_t *top_bound(const struct aggnet_tree_info *tree);

/* Packets of an entry that left by plain IP for any reason. */
json_int_t top_fallbacks(const struct aggnet_tree_info *tree);

/**
 * top_name() - name the receiver in a row of a table
 * @row: its member "receiver" becomes the name, if there is one that is no longer than an
 *	address may be: tables have the width of a terminal
 */
void top_name(json_t *row);

/* Make a row of top_rows() one of text: top_name(), and the state as in "tree show". */
void top_text(json_t *row);

#endif
