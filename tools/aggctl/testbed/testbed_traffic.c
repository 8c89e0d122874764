// SPDX-License-Identifier: GPL-2.0
/* What the ports of a testbed have counted: bytes and packets of each link. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "aggctl.h"
#include "netns.h"
#include "testbed/testbed.h"

/* The header of /proc/net/dev. */
#define DEV_HEAD_LINES	2

struct counters {
	unsigned long long rx_bytes;
	unsigned long long rx_packets;
	unsigned long long tx_bytes;
	unsigned long long tx_packets;
};

/* One line: "  eth0: bytes packets 6 more, bytes packets 6 more". */
static bool parse_dev(char *line, const char **name, struct counters *c)
{
	char *colon = strchr(line, ':');

	if (!colon)
		return false;
	*colon = '\0';
	*name = line + strspn(line, " ");
	return sscanf(colon + 1, "%llu %llu %*u %*u %*u %*u %*u %*u %llu %llu",
		      &c->rx_bytes, &c->rx_packets, &c->tx_bytes,
		      &c->tx_packets) == 4;
}

static const json_t *port_of(const json_t *node, const char *name)
{
	const json_t *port;
	size_t i;

	json_array_foreach(json_object_get(node, "ports"), i, port)
		if (!strcmp(json_string_value(json_object_get(port, "name")),
			    name))
			return port;
	return NULL;
}

static int node_rows(const json_t *node, json_t *rows)
{
	const char *name = json_string_value(json_object_get(node, "name"));
	struct counters c;
	const char *dev;
	char line[512];
	int lines = 0;
	FILE *f;

	if (netns_enter(name))
		return -1;
	f = fopen("/proc/thread-self/net/dev", "r");
	if (!f)
		return err("%s: its counters: %s", name, strerror(errno)), -1;
	while (fgets(line, sizeof(line), f)) {
		if (lines++ < DEV_HEAD_LINES || !parse_dev(line, &dev, &c) ||
		    !port_of(node, dev))
			continue;
		json_array_append_new(rows,
			json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}",
				  "node", name, "port", dev,
				  "tx_bytes", (json_int_t)c.tx_bytes,
				  "tx_packets", (json_int_t)c.tx_packets,
				  "rx_bytes", (json_int_t)c.rx_bytes,
				  "rx_packets", (json_int_t)c.rx_packets));
	}
	fclose(f);
	return 0;
}

/**
 * tb_traffic() - read the counters of all ports
 * @state: a testbed's state
 *
 * Leaves the process in the last node's namespace.
 *
 * Return: an array of rows, one a port of every server and switch; NULL after
 * an error was told
 */
json_t *tb_traffic(const json_t *state)
{
	json_t *rows = json_array();
	const json_t *node;
	size_t i;

	json_array_foreach(json_object_get(state, "nodes"), i, node) {
		if (node_rows(node, rows)) {
			json_decref(rows);
			return NULL;
		}
	}
	return rows;
}
