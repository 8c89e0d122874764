// SPDX-License-Identifier: GPL-2.0
/* aggctl export: counters and state of this node as text for Prometheus. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/ctl_open.h"
#include "info.h"
#include "names.h"

#define DROP	"drop_"

static const char *out_path;

/* --- the text format --------------------------------------------------------- */

static void family(FILE *f, const char *name, const char *type,
		   const char *help)
{
	fprintf(f, "# HELP aggnet_%s %s\n# TYPE aggnet_%s %s\n", name, help,
		name, type);
}

/*
 * The value of a label: a backslash, a quote and a new line are escaped. Prometheus refuses
 * a whole file with a label that is not UTF-8.
 */
static void label(FILE *f, const char *name, const char *text, bool first)
{
	json_t *string = info_text(text);
	const char *value = string ? json_string_value(string) : "";

	fprintf(f, "%s%s=\"", first ? "{" : ",", name);
	for (; *value; value++) {
		if (*value == '\n')
			fputs("\\n", f);
		else if (*value == '\\' || *value == '"')
			fprintf(f, "\\%c", *value);
		else
			putc(*value, f);
	}
	putc('"', f);
	json_decref(string);
}

static void value(FILE *f, uint64_t number)
{
	fprintf(f, " %" PRIu64 "\n", number);
}

/* In the description of the network; a label without a value is none. */
static const char *host_name(struct in_addr addr)
{
	return names_is_host(addr) ? names_host(addr) : "";
}

/* --- the node ----------------------------------------------------------------- */

static void put_node(FILE *f, const struct aggnet_node_info *node)
{
	family(f, "node_info", "gauge", "Identity, role, label and name of the node.");
	fputs("aggnet_node_info", f);
	label(f, "address", addr_text(node->address), true);
	label(f, "role", info_name(aggnet_role_names, node->role), false);
	label(f, "label", node->label, false);
	label(f, "host", host_name(node->address), false);
	fputs("} 1\n", f);
	family(f, "node_memory_bytes", "gauge", "Memory that all trees hold.");
	fputs("aggnet_node_memory_bytes", f);
	value(f, node->memory_used);
	family(f, "node_memory_limit_bytes", "gauge",
	       "Memory that all trees may hold.");
	fputs("aggnet_node_memory_limit_bytes", f);
	value(f, node->memory);
	family(f, "node_trees", "gauge", "Entries of trees.");
	fputs("aggnet_node_trees", f);
	value(f, node->trees);
}

/* Drops are one family, by reason; each other counter is one. */
static void put_stats(FILE *f, const struct aggnet_stat *list, size_t n)
{
	const size_t len = strlen(DROP);
	char name[AGGNET_STAT_LEN + 8];
	size_t i;

	family(f, "drops_total", "counter",
	       "Packets that were not served, by reason.");
	for (i = 0; i < n; i++) {
		if (strncmp(list[i].name, DROP, len))
			continue;
		fputs("aggnet_drops_total", f);
		label(f, "reason", list[i].name + len, true);
		putc('}', f);
		value(f, list[i].value);
	}
	for (i = 0; i < n; i++) {
		if (!strncmp(list[i].name, DROP, len))
			continue;
		snprintf(name, sizeof(name), "%s_total", list[i].name);
		family(f, name, "counter", "See Documentation/operations.rst.");
		fprintf(f, "aggnet_%s", name);
		value(f, list[i].value);
	}
}

/* --- ports and entries ---------------------------------------------------------- */

/**
 * struct metric - a number that each port or entry has
 * @name: of its family
 * @type: counter or gauge
 * @help: one line
 * @offset: of the member of the info
 * @size: of the member: 4 or 8 bytes
 */
struct metric {
	const char *name;
	const char *type;
	const char *help;
	size_t offset;
	size_t size;
};

#define METRIC(s, m, n, t, h)						\
	{ n, t, h, offsetof(struct s, m), sizeof(((struct s *)0)->m) }

static const struct metric port_metrics[] = {
	METRIC(aggnet_port_info, rx, "port_taken_total", "counter",
	       "Packets of the protocol that arrived by the port."),
	METRIC(aggnet_port_info, forwarded, "port_forwarded_total", "counter",
	       "Packets that left by the port."),
};

static const struct metric tree_metrics[] = {
	METRIC(aggnet_tree_info, contributors, "tree_contributors", "gauge",
	       "Planned children, and the node's own processes as one."),
	METRIC(aggnet_tree_info, channels, "tree_children", "gauge",
	       "Children that are bound and have not ended."),
	METRIC(aggnet_tree_info, sources, "tree_sources", "gauge",
	       "Sources that the plan has below the node."),
	METRIC(aggnet_tree_info, weight, "tree_sources_ended", "gauge",
	       "Sources whose records are complete here."),
	METRIC(aggnet_tree_info, keys, "tree_keys", "gauge",
	       "Keys in the buffer."),
	METRIC(aggnet_tree_info, memory_used, "tree_memory_bytes", "gauge",
	       "Memory that the entry holds."),
	METRIC(aggnet_tree_info, records_in, "tree_records_in_total", "counter",
	       "Records that were merged."),
	METRIC(aggnet_tree_info, records_out, "tree_records_out_total",
	       "counter", "Records that left."),
	METRIC(aggnet_tree_info, packets_in, "tree_packets_in_total", "counter",
	       "DATA packets that were merged."),
	METRIC(aggnet_tree_info, packets_out, "tree_packets_out_total",
	       "counter", "DATA packets that left."),
	METRIC(aggnet_tree_info, unplanned, "tree_children_unplanned", "gauge",
	       "Of the children, those that another node should merge."),
	METRIC(aggnet_tree_info, fallback_link, "tree_fallback_link_total",
	       "counter",
	       "Packets by plain IP: the planned link could not be used."),
	METRIC(aggnet_tree_info, fallback_bloom, "tree_fallback_bloom_total",
	       "counter", "Packets by plain IP: no Bloom table has the tree."),
	METRIC(aggnet_tree_info, fallback_policy, "tree_fallback_policy_total",
	       "counter", "Packets by plain IP: an IPsec policy applied."),
	METRIC(aggnet_tree_info, fallback_round, "tree_fallback_round_total",
	       "counter",
	       "Packets by plain IP: the acceptor is not on the planned way."),
	METRIC(aggnet_tree_info, bytes_in, "tree_bytes_in_total", "counter",
	       "Bytes of records that were merged."),
	METRIC(aggnet_tree_info, bytes_out, "tree_bytes_out_total", "counter",
	       "Bytes of records that left."),
	METRIC(aggnet_tree_info, rexmits, "tree_retransmits_total", "counter",
	       "DATA packets that were sent again."),
};

static uint64_t number_of(const void *info, const struct metric *m)
{
	const void *at = (const char *)info + m->offset;
	uint64_t wide;
	uint32_t narrow;

	if (m->size == sizeof(wide)) {
		memcpy(&wide, at, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, at, sizeof(narrow));
	return narrow;
}

static void port_labels(FILE *f, const struct aggnet_port_info *port)
{
	char level[8];

	snprintf(level, sizeof(level), "%u", port->level);
	label(f, "port", port->ifname, true);
	label(f, "level", level, false);
}

static void put_ports(FILE *f, const struct aggnet_port_info *list, size_t n)
{
	const struct metric *m;
	size_t i, k;

	for (k = 0; k < ARRAY_SIZE(port_metrics); k++) {
		m = &port_metrics[k];
		family(f, m->name, m->type, m->help);
		for (i = 0; i < n; i++) {
			fprintf(f, "aggnet_%s", m->name);
			port_labels(f, &list[i]);
			putc('}', f);
			value(f, number_of(&list[i], m));
		}
	}
}

static void tree_labels(FILE *f, const struct aggnet_tree_info *tree)
{
	char number[16];

	snprintf(number, sizeof(number), "%u",
		 aggnet_incast_job(tree->incast_id));
	label(f, "job", number, true);
	label(f, "receiver", addr_text(aggnet_incast_receiver(tree->incast_id)),
	      false);
	/* A switch may have an entry for each link of a tree. */
	snprintf(number, sizeof(number), "%u", tree->link_ifindex);
	label(f, "ifindex", number, false);
	label(f, "neighbour", addr_text(tree->link_neighbour), false);
}

static void put_trees(FILE *f, const struct aggnet_tree_info *list, size_t n)
{
	const struct metric *m;
	size_t i, k;

	family(f, "tree_info", "gauge", "Epoch and state of an entry.");
	for (i = 0; i < n; i++) {
		fputs("aggnet_tree_info", f);
		tree_labels(f, &list[i]);
		label(f, "receiver_host",
		      host_name(aggnet_incast_receiver(list[i].incast_id)),
		      false);
		fprintf(f, ",instance=\"%u\",attempt=\"%u\"", list[i].instance,
			list[i].attempt);
		label(f, "state", info_name(aggnet_state_names, list[i].state),
		      false);
		label(f, "reason", info_name(aggnet_reason_names, list[i].reason),
		      false);
		fputs("} 1\n", f);
	}
	for (k = 0; k < ARRAY_SIZE(tree_metrics); k++) {
		m = &tree_metrics[k];
		family(f, m->name, m->type, m->help);
		for (i = 0; i < n; i++) {
			fprintf(f, "aggnet_%s", m->name);
			tree_labels(f, &list[i]);
			putc('}', f);
			value(f, number_of(&list[i], m));
		}
	}
}

/* --- the command ------------------------------------------------------------------ */

static int put_all(FILE *f, struct aggnet_ctl *ctl)
{
	struct aggnet_node_info node;
	struct aggnet_port_info *port;
	struct aggnet_tree_info *tree;
	struct aggnet_stat *stat;
	size_t n;

	if (aggnet_node_get(ctl, &node))
		return ctl_refused(ctl, "node");
	put_node(f, &node);
	if (aggnet_stats_list(ctl, &stat, &n))
		return ctl_refused(ctl, "stats");
	put_stats(f, stat, n);
	free(stat);
	if (aggnet_port_list(ctl, &port, &n))
		return ctl_refused(ctl, "ports");
	put_ports(f, port, n);
	free(port);
	if (aggnet_tree_list(ctl, &tree, &n))
		return ctl_refused(ctl, "trees");
	put_trees(f, tree, n);
	aggnet_tree_list_free(tree, n);
	return ST_DONE;
}

/* A collector that reads the file never sees half of it. */
static int put_file(struct aggnet_ctl *ctl)
{
	char *path;
	FILE *f;
	int st;

	if (asprintf(&path, "%s.%d", out_path, getpid()) < 0)
		return fail("export: out of memory");
	f = fopen(path, "wxe");
	st = f ? put_all(f, ctl) : fail("export: %s: %s", path, strerror(errno));
	if (f && fclose(f) && !st)
		st = fail("export: %s: %s", path, strerror(errno));
	if (!st && rename(path, out_path))
		st = fail("export: %s: %s", out_path, strerror(errno));
	if (st && f)
		unlink(path);
	free(path);
	return st;
}

static int run_export(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_ctl *handle;
	int st;

	(void)argc;
	(void)argv;
	if (ctl->json)
		return usage("export: its format is that of Prometheus; it cannot be combined with --json");
	handle = ctl_open();
	if (!handle)
		return ST_FAILED;
	st = out_path ? put_file(handle) : put_all(stdout, handle);
	aggnet_ctl_close(handle);
	return st;
}

static const struct opt opts[] = {
	{ "out", OPT_STRING, &out_path, "FILE",
	  "replace this file (standard output)" },
};

static const struct verb verbs[] = {
	{
		.args = "",
		.help = "print counters and state as text for Prometheus",
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_export,
	},
};

const struct command cmd_export = {
	.name = "export",
	.help = "counters and state as text for Prometheus",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
