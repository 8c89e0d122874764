// SPDX-License-Identifier: GPL-2.0
/* Fuzz target: texts of topologies, descriptions, server lists and sizes; no
 * text breaks the parser.
 */
#include <stdlib.h>
#include <string.h>

#include "../../tools/libaggtree/aggtree.h"

#define CHECK(cond) do { if (!(cond)) __builtin_trap(); } while (0)

/* In a graph the path from one server to another consists of hops. */
static void check_way(const struct aggt_topo *topo)
{
	aggt_node at = 0, last = aggt_topo_servers(topo) - 1, next;
	unsigned int hops = aggt_topo_distance(topo, 0, last);

	if (hops == AGGT_NONE)
		return;
	for (; at != last; at = next, hops--) {
		next = aggt_topo_next_hop(topo, at, last);
		CHECK(hops && aggt_topo_hop_links(topo, at, next));
		CHECK(aggt_topo_link_dim(topo, at, next) <
		      aggt_topo_ports(topo, at));
	}
	CHECK(!hops);
}

static void check_digits(const struct aggt_topo *topo)
{
	aggt_node last = aggt_topo_servers(topo) - 1;
	unsigned int d;

	for (d = 0; d < aggt_topo_dims(topo); d++) {
		uint32_t sw = aggt_topo_switch(topo, last, d);

		CHECK(sw < aggt_topo_switches(topo));
		CHECK(aggt_topo_digit(topo, last, d) ==
		      aggt_topo_radix(topo, d) - 1);
		if (!aggt_topo_agents(topo))
			CHECK(aggt_topo_switch_level(topo, sw) == d);
	}
	CHECK(aggt_topo_distance(topo, 0, last) == aggt_topo_dims(topo));
}

/*
 * A parsed topology gives the same when its own name is parsed, and sizes
 * agree.
 */
static void check_topology(const struct aggt_topo *topo)
{
	struct aggt_topo *again = aggt_topo_parse(aggt_topo_name(topo), NULL);

	/*
	 * A described graph has names for its servers, and no name that
	 * describes it.
	 */
	if (aggt_topo_server_name(topo, 0)) {
		CHECK(!again);
		check_way(topo);
		return;
	}
	CHECK(again && aggt_topo_servers(again) == aggt_topo_servers(topo));
	CHECK(aggt_topo_dims(again) == aggt_topo_dims(topo));
	if (aggt_topo_digits(topo))
		check_digits(topo);
	else
		check_way(topo);
	aggt_topo_free(again);
}

static void check_list(const struct aggt_topo *topo, const char *text)
{
	struct aggt_list list;
	double *sizes;
	size_t i;

	if (aggt_list_parse(topo, text, 1, &list, NULL)) {
		CHECK(!list.node && !list.n);
		return;
	}
	CHECK(list.n);
	for (i = 0; i < list.n; i++)
		CHECK(list.node[i] < aggt_topo_servers(topo));
	sizes = malloc(list.n * sizeof(*sizes));
	if (!aggt_sizes_parse(topo, text, &list, sizes, NULL))
		for (i = 0; i < list.n; i++)
			CHECK(sizes[i] >= 0);
	free(sizes);
	aggt_list_clear(&list);
}

static void check_change(const struct aggt_topo *topo, const char *text)
{
	struct aggt_change change;

	if (aggt_change_parse(topo, text, &change, NULL))
		return;
	if (change.kind == AGGT_FAILED)
		CHECK(strlen(change.part) < sizeof(change.part));
	else
		CHECK(change.server < aggt_topo_servers(topo));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct aggt_topo *topo, *fixed = aggt_topo_parse("bcube:4,3", NULL);
	struct aggt_err err = { "" };
	char *text = malloc(len + 1);

	memcpy(text, data, len);
	text[len] = 0;
	topo = aggt_topo_parse(text, &err);
	CHECK(topo || err.text[0]);
	if (topo)
		check_topology(topo);
	aggt_topo_free(topo);
	memset(&err, 0, sizeof(err));
	topo = aggt_topo_describe(text, &err);
	CHECK(topo || err.text[0]);
	if (topo)
		check_topology(topo);
	aggt_topo_free(topo);
	check_list(fixed, text);
	check_change(fixed, text);
	aggt_topo_fail(fixed, text, NULL);
	aggt_topo_free(fixed);
	free(text);
	return 0;
}
