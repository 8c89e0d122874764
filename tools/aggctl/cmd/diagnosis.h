/* SPDX-License-Identifier: GPL-2.0 */
/* Whether a node merges its transfers as planned, and if not, why. */
#ifndef AGGCTL_DIAGNOSIS_H
#define AGGCTL_DIAGNOSIS_H

#include "cmd/fallback.h"

/**
 * struct subject - what the kernel says about a node
 * @name: its name
 * @node: identity and role
 * @port: attached ports
 * @nports: how many
 * @counters: of the node
 * @up: is the device up, with a carrier?
 */
struct subject {
	const char *name;
	struct aggnet_node_info node;
	struct aggnet_port_info *port;
	size_t nports;
	struct counters counters;
	bool (*up)(const char *device);
};

json_t *diagnose_node(const struct subject *s);
json_t *diagnose_host(const json_t *checks, const json_t *known);
json_t *diagnose_tree(const struct subject *s,
		      const struct aggnet_tree_info *tree);
void finding_add(json_t *findings, bool note, const char *object,
		 const char *cause, const char *fix);
bool findings_wrong(const json_t *findings);

#endif
