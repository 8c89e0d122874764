/* SPDX-License-Identifier: GPL-2.0 */
/* A line of three nodes, made, broken and mended by one process:
 * s (sends) --- a (merges) --- r (receives).
 */
#ifndef NET_CLINE_H
#define NET_CLINE_H

#include <stdbool.h>
#include <stdint.h>

#include <aggnet.h>

enum { S, A, R, NODES };

#define LEFT	10	/* index of the device towards s */
#define RIGHT	11	/* ... towards r */

/**
 * struct cnode - a node of the line
 * @name: of the namespace
 * @netns: its descriptor
 * @ctl: its control handle
 * @id: identity, network order
 */
struct cnode {
	char name[24];
	int netns;
	struct aggnet_ctl *ctl;
	uint32_t id;
};

extern struct cnode nodes[NODES];

/* Make namespaces, links, routes, identities and ports. Exits on failure. */
void line_make(void);
/* Open the control handles and set identities and ports; close the handles. */
void line_members(void);
void line_close(void);
/*
 * Remove the line. A thread that still runs on it has lost its control handle.
 */
void line_unmake(void);
void node_unmake(int i);

/* Mend what was removed: ports of a node, a node's link to the next, a node. */
void line_mend_ports(int i);
void line_mend_link(int left);
void line_mend_node(int i);

void enter(int netns);
/* Return to the namespace in which the process started. */
void line_leave(void);
int set_up(int i, const char *device, bool up);
int del_device(int i, const char *device);
int del_identity(int i);

#endif
