/* SPDX-License-Identifier: GPL-2.0 */
/* A testbed that only this process sees; several may exist at the same time. A
 * test can break its links and switches and mend them.
 */
#ifndef NET_BED_H
#define NET_BED_H

#include <stdbool.h>
#include <stdint.h>

#include <aggnet.h>
#include <aggtree.h>

#define BED_NODES	16	/* at most this many servers and switches */

/**
 * struct bed - the testbed
 * @topo: its topology
 * @netns: descriptors of its nodes' namespaces, servers first
 * @ctl: control handles of its servers
 */
struct bed {
	struct aggt_topo *topo;
	int netns[BED_NODES];
	struct aggnet_ctl *ctl[BED_NODES];
};

extern struct bed bed;

/* Make it; remove it. Like all functions here they exit on failure. */
void bed_make(const char *topology);
void bed_unmake(void);

/* Set the link of @server at @level down, at the switch or at the server. */
void bed_cut(aggt_node server, unsigned int level, bool at_switch);
/* Switch @sw stops forwarding. */
void bed_stop(uint32_t sw);

/* Set everything up again, and wait until packets use the usual routes. */
void bed_mend(void);

#endif
