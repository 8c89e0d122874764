/* SPDX-License-Identifier: GPL-2.0 */
/* What this node did for a transfer of "aggctl send" or "recv". */
#ifndef AGGCTL_TRANSFER_STATS_H
#define AGGCTL_TRANSFER_STATS_H

#include <time.h>

#include "aggnet_data.h"
#include "cmd/fallback.h"

/**
 * struct transfer_stats - the node of a transfer, when it begins and ends
 * @incast_id: the transfer; a receiver of 0 stands for the node's identity
 * @began: when, by CLOCK_MONOTONIC
 * @seconds: how long it took
 * @before: counters when it began
 * @after: counters when it ended
 * @tree: the entry when it ended; of a job of stripes the first one, with the sums of
 *	all, and the acceptor if they have one
 * @unbound: planned nodes that have not bound in @tree, or in another stripe
 * @found: @tree is valid; read without privilege it has no list of children
 * @counted: @before and @after are valid
 * @why: why the node's counters, or all of it, were not read, or ""
 */
struct transfer_stats {
	uint64_t incast_id;
	struct timespec began;
	double seconds;
	struct counters before;
	struct counters after;
	struct aggnet_tree_info tree;
	struct aggnet_addrs unbound;
	bool found;
	bool counted;
	char why[128];
};

void transfer_stats_begin(struct transfer_stats *s, struct in_addr receiver,
			  uint32_t job, bool count);
void transfer_stats_end(struct transfer_stats *s);
json_t *transfer_stats_json(const struct transfer_stats *s,
			    const struct aggnet_result *result);
void transfer_stats_print(const json_t *stats);
bool transfer_stats_forwards(const struct aggnet_tree_info *tree);
uint32_t transfer_stats_planned(const struct aggnet_tree_info *tree);
size_t transfer_stats_absent(const struct aggnet_tree_info *tree);
json_t *transfer_stats_arrived(const struct aggnet_tree_info *tree);
json_t *transfer_stats_by_plain_ip(const struct aggnet_tree_info *tree);
uint64_t transfer_stats_saved(const struct aggnet_tree_info *tree);
bool transfer_stats_missed(const struct transfer_stats *s);
void transfer_stats_tell(const struct transfer_stats *s, const char *command);
int transfer_failed(const char *command, const char *error, bool timed_out,
		    uint32_t job);
void transfer_stats_clear(struct transfer_stats *s);

#endif
