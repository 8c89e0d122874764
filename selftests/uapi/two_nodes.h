/* SPDX-License-Identifier: GPL-2.0 */
/* Two nodes with a link between them, where A can receive what B sends:
 *
 *	A 10.0.0.1 --- va 10.16.0.1/24 ==== vb 10.16.0.2/24 --- 10.0.0.2 B
 *
 * or with a third that forwards:
 *
 *	A --- va 10.16.0.1/24 ==== ta 10.16.0.3/24 --- 10.0.0.3 T
 *	B --- vb 10.17.0.2/24 ==== tb 10.17.0.3/24 ---/
 */
#ifndef TWO_NODES_H
#define TWO_NODES_H

#include "member.h"

#define NODE_T		"10.0.0.3"

struct two_nodes {
	struct aggnet_ctl *a;
	struct aggnet_ctl *b;
	struct aggnet_ctl *t;
	int ns_a;
	int ns_b;
	int ns_t;
};

/* Make them; the caller is in B afterwards. Return: 0, or -1 */
int two_nodes_up(struct two_nodes *n);

/* The same with T between them; the caller is in T afterwards. */
int two_nodes_apart(struct two_nodes *n);

/*
 * Besides, a link between A and B whose end at B is down:
 *
 *	A --- da 10.18.0.1/24 ==== db 10.18.0.2/24 --- B
 *
 * The caller is in B afterwards.
 */
int two_nodes_direct(struct two_nodes *n);

void two_nodes_down(struct two_nodes *n);

#endif /* TWO_NODES_H */
