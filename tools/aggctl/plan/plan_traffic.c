// SPDX-License-Identifier: GPL-2.0
/* The bytes that left by each port of a plan's network, as a testbed counts them. */
#include <stdio.h>

#include "aggctl.h"
#include "plan/plan.h"
#include "plan/plan_apply.h"

/* Ports of a testbed are named by levels and digits. */
static bool knows_ports(const struct plan *plan)
{
	return aggt_topo_digits(plan->topo) && !aggt_topo_agents(plan->topo);
}

static int add_rows(json_t *traffic, const json_t *rows)
{
	const char *node, *port;
	json_int_t bytes;
	json_t *row;
	char name[64];
	size_t i;

	if (!json_is_array(rows))
		return -1;
	json_array_foreach(rows, i, row) {
		if (json_unpack(row, "{s:s, s:s, s:I}", "node", &node, "port",
				&port, "tx_bytes", &bytes) || bytes < 0)
			return -1;
		snprintf(name, sizeof(name), "%s %s", node, port);
		json_object_set_new(traffic, name, json_integer(bytes));
	}
	return 0;
}

/**
 * plan_traffic() - read what ports have counted
 * @file: rows of "aggctl -j testbed traffic", or the differences of two
 * @plan: whose network they are of
 *
 * Return: bytes by "NODE PORT", or NULL with an error line printed.
 */
json_t *plan_traffic(const char *file, const struct plan *plan)
{
	json_t *rows, *traffic;

	if (!knows_ports(plan)) {
		err("plan: --traffic: links of %s are not measured: it needs bcube or ghc",
		    aggt_topo_name(plan->topo));
		return NULL;
	}
	rows = plan_file_read(file);
	if (!rows)
		return NULL;
	traffic = json_object();
	if (add_rows(traffic, rows)) {
		err("plan: --traffic: %s: not rows of 'aggctl -j testbed traffic'",
		    file);
		json_decref(traffic);
		traffic = NULL;
	}
	json_decref(rows);
	return traffic;
}
