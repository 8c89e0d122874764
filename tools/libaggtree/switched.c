// SPDX-License-Identifier: GPL-2.0
/*
 * Fabrics of switches with one link for each server: leaf and spine, fat tree,
 * racks at one core switch.
 */
#include <stdio.h>

#include "graph.h"

/* Link @per servers to each of the first @switches switches. */
static int link_servers(struct aggt_topo *topo, uint32_t switches,
			uint32_t per, struct aggt_err *err)
{
	uint32_t v;

	for (v = 0; v < switches * per; v++)
		if (aggt_graph_link(topo, v, topo->servers + v / per, 0, err))
			return -1;
	return 0;
}

static int link_switches(struct aggt_topo *topo, uint32_t a, uint32_t b,
			 struct aggt_err *err)
{
	return aggt_graph_link(topo, topo->servers + a, topo->servers + b, 0,
			       err);
}

/* Every one of @leaves switches with @hosts servers at every one of @spines. */
static int lay_spines(struct aggt_topo *topo, uint32_t leaves, uint32_t spines,
		      uint32_t hosts, struct aggt_err *err)
{
	uint32_t l, s;

	if (aggt_graph_start(topo, (uint64_t)leaves * hosts,
			     (uint64_t)leaves + spines, err) ||
	    link_servers(topo, leaves, hosts, err))
		return -1;
	for (l = 0; l < leaves; l++)
		for (s = 0; s < spines; s++)
			if (link_switches(topo, l, leaves + s, err))
				return -1;
	return aggt_graph_finish(topo, err);
}

static int parse_leafspine(struct aggt_topo *topo, const char *args,
			   struct aggt_err *err)
{
	uint32_t n[3];

	if (aggt_parse_numbers(args, n, 3, NULL) != 3 || !n[0] || !n[1] ||
	    !n[2]) {
		aggt_err_set(err, "leafspine:%s: expected leafspine:L,S,H, L leaves with H servers each and S spines",
			     args);
		return -1;
	}
	snprintf(topo->name, sizeof(topo->name), "leafspine:%u,%u,%u", n[0],
		 n[1], n[2]);
	return lay_spines(topo, n[0], n[1], n[2], err);
}

static int parse_racks(struct aggt_topo *topo, const char *args,
		       struct aggt_err *err)
{
	uint32_t n[2];

	if (aggt_parse_numbers(args, n, 2, NULL) != 2 || !n[0] || !n[1]) {
		aggt_err_set(err, "racks:%s: expected racks:R,S, R racks with S servers each",
			     args);
		return -1;
	}
	snprintf(topo->name, sizeof(topo->name), "racks:%u,%u", n[0], n[1]);
	return lay_spines(topo, n[0], 1, n[1], err);
}

/*
 * K pods of K/2 edge and K/2 aggregation switches; aggregation switch number a
 * of each pod is linked to the core switches from a * K/2 on.
 */
static int lay_pods(struct aggt_topo *topo, uint32_t k, struct aggt_err *err)
{
	uint32_t half = k / 2, edges = k * half, pod, a, i;

	if (aggt_graph_start(topo, (uint64_t)edges * half,
			     2ull * edges + half * half, err) ||
	    link_servers(topo, edges, half, err))
		return -1;
	for (pod = 0; pod < k; pod++) {
		for (a = 0; a < half; a++) {
			uint32_t up = edges + pod * half + a;

			for (i = 0; i < half; i++)
				if (link_switches(topo, pod * half + i, up,
						  err) ||
				    link_switches(topo, up, 2 * edges +
						  a * half + i, err))
					return -1;
		}
	}
	return aggt_graph_finish(topo, err);
}

static int parse_fattree(struct aggt_topo *topo, const char *args,
			 struct aggt_err *err)
{
	uint32_t k;

	if (aggt_parse_numbers(args, &k, 1, NULL) != 1 || k < 2 || k % 2 ||
	    k > 1000) {
		aggt_err_set(err, "fattree:%s: expected fattree:K, K even and at most 1000, for K pods of K-port switches",
			     args);
		return -1;
	}
	snprintf(topo->name, sizeof(topo->name), "fattree:%u", k);
	return lay_pods(topo, k, err);
}

const struct aggt_topo_ops aggt_leafspine_ops = {
	.kind = "leafspine", .form = "leafspine:L,S,H",
	.parse = parse_leafspine, AGGT_GRAPH_OPS
};

const struct aggt_topo_ops aggt_fattree_ops = {
	.kind = "fattree", .form = "fattree:K", .parse = parse_fattree,
	AGGT_GRAPH_OPS
};

const struct aggt_topo_ops aggt_racks_ops = {
	.kind = "racks", .form = "racks:R,S", .parse = parse_racks,
	AGGT_GRAPH_OPS
};
