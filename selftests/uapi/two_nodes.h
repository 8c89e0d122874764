/* SPDX-License-Identifier: GPL-2.0 */
/* Two nodes with a link between them, where A can receive what B sends:
 *
 *	A 10.0.0.1 --- va 10.16.0.1/24 ==== vb 10.16.0.2/24 --- 10.0.0.2 B
 */
#ifndef TWO_NODES_H
#define TWO_NODES_H

#include "member.h"

struct two_nodes {
	struct aggnet_ctl *a;
	struct aggnet_ctl *b;
	int ns_a;
	int ns_b;
};

/* Make them. The caller is in B afterwards. Return: 0, or -1. */
int two_nodes_up(struct two_nodes *n);

void two_nodes_down(struct two_nodes *n);

#endif /* TWO_NODES_H */
