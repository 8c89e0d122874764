/* SPDX-License-Identifier: GPL-2.0 */
/* A testbed that only this process sees: there may be several at a time. Links
 * and switches of it go, and come back.
 */
#ifndef NET_BED_H
#define NET_BED_H

#include <stdbool.h>
#include <stdint.h>

#include <aggnet.h>
#include <aggtree.h>

#define BED_NODES	16	/* servers and switches, at most */

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

/* Make it, and take it away. Both exit on failure, as all here does. */
void bed_make(const char *topology);
void bed_unmake(void);

/* The link of @server at @level goes down, at the switch or at the server. */
void bed_cut(aggt_node server, unsigned int level, bool at_switch);
/* Switch @sw forwards no longer. */
void bed_stop(uint32_t sw);

/* What is down is up again, and carries packets by the usual routes. */
void bed_mend(void);

#endif
