/* SPDX-License-Identifier: GPL-2.0 */
/* The counters of a node that show why packets miss their planned way. */
#ifndef AGGCTL_FALLBACK_H
#define AGGCTL_FALLBACK_H

#include <jansson.h>

#include "aggnet.h"

#define FALLBACK_FIX	64	/* bytes of a command */

/**
 * struct fallback - a counter, its meaning, and what to do about it
 * @counter: its name in "aggctl stats show"
 * @cause: why packets missed their planned way
 * @fix: the next command, or setting
 * @note: some packets of this kind are normal
 */
struct fallback {
	const char *counter;
	const char *cause;
	const char *fix;
	bool note;
};

/**
 * struct counters - the counters of a node at one moment
 * @list: the counters, to be freed
 * @n: how many
 */
struct counters {
	struct aggnet_stat *list;
	size_t n;
};

uint64_t counters_value(const struct counters *counters, const char *name);
json_t *fallback_json(const struct counters *now, const struct counters *before);
void fallback_of(const struct aggnet_tree_info *tree,
		 uint32_t packets[__AGGNET_FALLBACK_MAX]);
json_t *fallback_tree_json(const struct aggnet_tree_info *tree);
void fallback_ask_hosts(const struct aggnet_tree_info *tree, char fix[FALLBACK_FIX]);
json_t *fallback_below_json(const struct aggnet_tree_info *tree);
json_t *fallback_counts(const uint32_t packets[__AGGNET_FALLBACK_MAX]);
bool fallback_any_below(const struct aggnet_tree_info *tree);

#endif
