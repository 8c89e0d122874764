/* SPDX-License-Identifier: GPL-2.0 */
/* Nodes in a line, which a test makes, breaks and mends. Of N nodes, node 0 has
 * the identity 10.0.0.N and node N - 1 has 10.0.0.1:
 *
 *	0 r---l 1 r---l 2 ...
 */
#ifndef LIB_LINE_H
#define LIB_LINE_H

#include <netinet/in.h>
#include <stdbool.h>

#include <aggnet.h>

#define LINE_MAX_NODES	4
#define LINE_LEFT	10	/* index of device l */
#define LINE_RIGHT	11	/* of r */
#define LINE_MTU	1500

/**
 * struct line - the nodes
 * @n: how many; set before line_up()
 * @transit: their ports forward by entries; set before line_up()
 * @ns: descriptors of their namespaces, -1: the node does not exist
 * @ctl: their control handles, NULL: closed
 * @home: descriptor of the namespace in which the test began
 */
struct line {
	int n;
	bool transit;
	int ns[LINE_MAX_NODES];
	struct aggnet_ctl *ctl[LINE_MAX_NODES];
	int home;
};

struct in_addr line_identity(const struct line *line, int node);
/* The address of a node's device */
void line_mac(int node, bool right, uint8_t mac[6]);

/*
 * All functions with a result return 0, or -1 and have printed why.
 */

/* Make namespaces, links, routes, identities and ports; remove them. */
int line_up(struct line *line);
void line_down(struct line *line);

/* Enter a node's namespace; return to the test's own. */
void line_enter(const struct line *line, int node);
void line_leave(const struct line *line);

/*
 * Open the control handles and set identities and ports; close the handles. The
 * module may be loaded again in between.
 */
int line_members(struct line *line);
void line_close(struct line *line);

/* Close what keeps a node; its namespace is then deleted. */
void line_release(struct line *line, int node);
/*
 * Cut the node off. Its namespace stays as long as a socket or process uses it.
 */
void line_cut(struct line *line, int node);
/* Cut the node off and release it. */
void line_destroy(struct line *line, int node);

/*
 * Mend what was removed: the ports of a node, the link from a node to its right
 * neighbour, or a node with its links, without entries.
 */
int line_mend_ports(struct line *line, int node);
int line_mend_link(struct line *line, int left);
int line_mend_node(struct line *line, int node);

/* Delete the identity of a node from its loopback device. */
int line_del_identity(struct line *line, int node);

#endif
