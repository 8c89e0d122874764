/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A plan: the trees of a job and what every node has to know of them. As JSON
 * it goes from "plan" to "apply".
 */
#ifndef AGGCTL_PLAN_H
#define AGGCTL_PLAN_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "../libaggtree/aggtree.h"
#include "aggnet.h"

/**
 * struct plan_conf - what entries say beside the shape of the trees
 * @job: job ID
 * @scheme: enum aggnet_scheme; of a plan that aggregates
 * @aggnet_switches: Bloom links lead to a switch that picks the neighbour
 * @keyed: each tree gets a key
 * @function: enum aggnet_function
 * @writers: local processes of each sender
 * @uid: who may use the sockets
 * @gid: or whose group, if @has_gid
 * @has_gid: @gid is given
 * @memory: limit of a tree's buffer in bytes, 0: the kernel's default
 * @hold: ms, 0: the kernel's default
 * @give_up: ms, 0: the kernel's default
 * @instance: epoch
 */
struct plan_conf {
	uint32_t job;
	uint8_t scheme;
	bool aggnet_switches;
	bool keyed;
	uint8_t function;
	uint32_t writers;
	uint32_t uid;
	uint32_t gid;
	bool has_gid;
	uint64_t memory;
	uint32_t hold;
	uint32_t give_up;
	uint32_t instance;
};

/* plan_nodes.c */
json_t *plan_nodes(const struct aggt_topo *topo, const struct aggt_plan *plan,
		   const struct plan_conf *conf);

/* plan_json.c */
json_t *plan_metrics(const struct aggt_metrics *m);
json_t *plan_trees(const struct aggt_plan *plan);

/* plan_dot.c */
int plan_draw(const char *file, const struct aggt_topo *topo,
	      const struct aggt_plan *plan, uint32_t job);

#endif
