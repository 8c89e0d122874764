/* SPDX-License-Identifier: GPL-2.0 */
/* Cuts of a graph: what its links can carry from one server to another. */
#ifndef AGGT_CUT_H
#define AGGT_CUT_H

#include "internal.h"

/**
 * struct aggt_cut - the room on the links of a graph, and a search for flows
 * @topo: the topology
 * @room: of each link, in the direction from its vertex with the lower number,
 *	then in the other one; 0 if it has failed
 * @left: the same during a search
 * @by: by vertex: the direction of a link by which a search reached it
 * @round: by vertex: number of the search that reached it
 * @rounds: how many there were
 * @sink: by vertex: a flow ends there; the caller sets it
 * @queue: vertices in the order in which a search reached them
 * @work: links that searches have looked at
 */
struct aggt_cut {
	const struct aggt_topo *topo;
	uint64_t *room;
	uint64_t *left;
	uint32_t *by;
	uint32_t *round;
	uint32_t rounds;
	bool *sink;
	uint32_t *queue;
	uint64_t work;
};

int aggt_cut_init(struct aggt_cut *cut, const struct aggt_topo *topo);
void aggt_cut_free(struct aggt_cut *cut);

/** AGGT_CUT_RATE - rates above it count as this one, so that sums fit. */
#define AGGT_CUT_RATE (1ull << 56)

/** aggt_cut_unit - the rate that counts 1 in the times of a job, or 1. */
uint64_t aggt_cut_unit(const struct aggt_topo *topo, const struct aggt_job *job);

/** aggt_cut_rate - of a link; those without a rate have @unit. */
uint64_t aggt_cut_rate(const struct aggt_topo *topo, uint32_t link,
		       uint64_t unit);

/** aggt_cut_rates - have each link carry its rate. */
void aggt_cut_rates(struct aggt_cut *cut, uint64_t unit);

/** aggt_cut_way - index in @room of link @link from a vertex to another. */
static inline size_t aggt_cut_way(uint32_t link, uint32_t from, uint32_t to)
{
	return 2 * (size_t)link + (from > to);
}

/**
 * aggt_cut_flow - the max-flow between servers
 * @cut: knows the room on the links, and in @sink where the flow ends
 * @from: where it begins, not in a sink
 * @beside: where it begins, too, or AGGT_NONE
 * @enough: the search stops at this flow
 */
uint64_t aggt_cut_flow(struct aggt_cut *cut, aggt_node from, aggt_node beside,
		       uint64_t enough);

/** aggt_cut_least - the least flow of a job's senders to its first receiver. */
uint64_t aggt_cut_least(struct aggt_cut *cut, const struct aggt_job *job,
			uint64_t enough);

#endif /* AGGT_CUT_H */
