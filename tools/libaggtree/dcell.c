// SPDX-License-Identifier: GPL-2.0
/*
 * DCell(N,K): N servers at a switch are a DCell of level 0; one of level k is
 * as many of level k - 1 as that has servers, and one more, each two of them
 * with a link between two of their servers.
 */
#include <stdio.h>

#include "graph.h"

/* Link the cells of level @k below the one whose servers begin at @first. */
static int link_cells(struct aggt_topo *topo, const uint32_t *servers,
		      unsigned int k, uint32_t first, struct aggt_err *err)
{
	uint32_t i, j, v, size;

	if (!k) {
		for (v = first; v < first + servers[0]; v++)
			if (aggt_graph_link(topo, v, topo->servers +
					    v / servers[0], 0, err))
				return -1;
		return 0;
	}
	size = servers[k - 1];
	for (i = 0; i <= size; i++)
		if (link_cells(topo, servers, k - 1, first + i * size, err))
			return -1;
	/* Server j - 1 of cell i and server i of cell j. */
	for (i = 0; i < size; i++)
		for (j = i + 1; j <= size; j++)
			if (aggt_graph_link(topo, first + i * size + j - 1,
					    first + j * size + i, 0, err))
				return -1;
	return 0;
}

static int parse(struct aggt_topo *topo, const char *args,
		 struct aggt_err *err)
{
	uint32_t number[2], servers[8];
	uint64_t total;
	unsigned int k;

	if (aggt_parse_numbers(args, number, 2, NULL) != 2 || number[0] < 2) {
		aggt_err_set(err, "dcell:%s: expected dcell:N,K, N at least 2",
			     args);
		return -1;
	}
	snprintf(topo->name, sizeof(topo->name), "dcell:%u,%u", number[0],
		 number[1]);
	/* The servers of a level are more than those of the last one squared. */
	total = number[0];
	for (k = 0; total <= AGGT_GRAPH_VERTICES; k++) {
		servers[k] = (uint32_t)total;
		if (k == number[1])
			break;
		total *= total + 1;
	}
	if (aggt_graph_start(topo, total, total / number[0], err) ||
	    link_cells(topo, servers, k, 0, err))
		return -1;
	return aggt_graph_finish(topo, err);
}

const struct aggt_topo_ops aggt_dcell_ops = {
	.kind = "dcell", .form = "dcell:N,K", .parse = parse, AGGT_GRAPH_OPS
};
