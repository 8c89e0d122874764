// SPDX-License-Identifier: GPL-2.0
/* aggctl testbed: a network of namespaces on this machine. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "info.h"
#include "netns.h"
#include "output.h"
#include "plan/plan.h"
#include "testbed/testbed.h"

#define MTU_MIN		584
#define MTU_MAX		65535
#define MAX_PLANS	64

static struct testbed up = { .mtu = 1500, .aggnet_switches = true };
static struct rtnl_shape shape;
static uint64_t core;
static bool of_plans;

static const struct column testbed_cols[] = {
	{ "topology", "topology" }, { "complete", "complete" },
	{ "servers", "servers" }, { "switches", "switches" },
	{ "switching", "switching" }, { "mtu", "mtu" },
	{ "rate", "rate, bit/s" }, { "core", "core, bit/s" },
	{ "delay", "delay, ns" },
	{ "loss", "loss, %" }, { "duplicate", "duplicate, %" },
	{ "reorder", "reorder, %" }, { "corrupt", "corrupt, %" },
};

static const struct column server_cols[] = {
	{ "node", "server" }, { "identity", "identity" },
	{ "port", "port" }, { "address", "address" }, { "mac", "mac" },
	{ "to", "switch" }, { "at", "at" },
};

/* The switch at the other end or, of a direct link, the server. */
static json_t *link_row(const json_t *node, const json_t *port)
{
	json_t *to = json_object_get(port, "switch");

	return json_pack("{s:O, s:O, s:O, s:O, s:O, s:O, s:O}",
			 "node", json_object_get(node, "name"),
			 "identity", json_object_get(node, "identity"),
			 "port", json_object_get(port, "name"),
			 "address", json_object_get(port, "address"),
			 "mac", json_object_get(port, "mac"),
			 "to", to ? to : json_object_get(port, "server"),
			 "at", json_object_get(port, "port"));
}

/* A link between switches has no addresses. */
static json_t *core_row(const json_t *node, const json_t *port)
{
	return json_pack("{s:O, s:O, s:O, s:O, s:O}",
			 "node", json_object_get(node, "name"),
			 "port", json_object_get(port, "name"),
			 "mac", json_object_get(port, "mac"),
			 "to", json_object_get(port, "switch"),
			 "at", json_object_get(port, "port"));
}

/*
 * One row a port of every server, and of every switch that leads to a switch: the
 * links of the network.
 */
static json_t *link_rows(const json_t *state)
{
	json_t *rows = json_array();
	json_t *node, *port;
	size_t i, k;

	json_array_foreach(json_object_get(state, "nodes"), i, node) {
		json_array_foreach(json_object_get(node, "ports"), k, port) {
			if (json_object_get(node, "identity"))
				json_array_append_new(rows, link_row(node, port));
			else if (json_object_get(port, "switch"))
				json_array_append_new(rows, core_row(node, port));
		}
	}
	return rows;
}

/* Links without rate, delay, loss, ... have no line for it. */
static void show_shape(const json_t *state)
{
	struct column cols[ARRAY_SIZE(testbed_cols)];
	const json_t *value;
	size_t i;

	memcpy(cols, testbed_cols, sizeof(cols));
	for (i = 0; i < ARRAY_SIZE(cols); i++) {
		value = json_object_get(state, cols[i].key);
		if (json_is_number(value) && json_number_value(value) == 0)
			cols[i].head = NULL;
	}
	out_fields(cols, ARRAY_SIZE(cols), state);
}

static int show_state(const struct aggctl *ctl, json_t *state)
{
	json_t *rows;
	int st;

	if (ctl->json)
		return out_json(state);
	show_shape(state);
	putchar('\n');
	rows = link_rows(state);
	st = out_rows(server_cols, ARRAY_SIZE(server_cols), rows);
	json_decref(rows);
	json_decref(state);
	return st;
}

static int run_show(const struct aggctl *ctl, int argc, char **argv)
{
	json_t *state = tb_state_load();

	(void)argc;
	(void)argv;
	return state ? show_state(ctl, state) : ST_FAILED;
}

static const struct column traffic_cols[] = {
	{ "node", "node" }, { "port", "port" },
	{ "tx_bytes", "tx bytes" }, { "tx_packets", "tx packets" },
	{ "rx_bytes", "rx bytes" }, { "rx_packets", "rx packets" },
};

static int run_traffic(const struct aggctl *ctl, int argc, char **argv)
{
	json_t *state = tb_state_load();
	json_t *rows;

	(void)argc;
	(void)argv;
	if (!state)
		return ST_FAILED;
	rows = tb_traffic(state);
	json_decref(state);
	return rows ? out_table(ctl, traffic_cols, ARRAY_SIZE(traffic_cols),
				rows) : ST_FAILED;
}

static const struct column entry_cols[] = {
	{ "node", "node" }, { "job", "job" }, { "receiver", "receiver" },
	{ "instance", "instance" }, { "attempt", "attempt" },
	{ "state", "state" }, { "scheme", "scheme" }, { "port", "port" },
	{ "link_neighbour", "next" }, { "contributors", "contributors" },
	{ "channels", "channels" }, { "sources", "sources" },
	{ "weight", "weight" },
};

static int run_entries(const struct aggctl *ctl, int argc, char **argv)
{
	json_t *state = tb_state_load();
	json_t *entries;
	int st;

	(void)argc;
	(void)argv;
	if (!state)
		return ST_FAILED;
	entries = tb_entries(state);
	json_decref(state);
	if (!entries)
		return ST_FAILED;
	if (ctl->json)
		return out_json(entries);
	st = out_rows(entry_cols, ARRAY_SIZE(entry_cols),
		      json_object_get(entries, "trees"));
	json_decref(entries);
	return st;
}

/* The first two of opts[]. */
#define GIVEN_RATE	(1ull << 0)
#define GIVEN_CORE	(1ull << 1)

static int check_shape(const struct aggctl *ctl)
{
	if ((ctl->given & GIVEN_RATE) && !shape.rate)
		return usage("testbed: --rate: must be more than 0");
	if ((ctl->given & GIVEN_CORE) && !core)
		return usage("testbed: --core: must be more than 0");
	if (shape.reorder > 0 && !shape.delay)
		return usage("testbed: --reorder needs --delay: only delayed packets can be overtaken");
	return ST_DONE;
}

static int check_up(const struct aggctl *ctl)
{
	if (up.mtu < MTU_MIN || up.mtu > MTU_MAX)
		return usage("testbed up: --mtu: %u is not in %u..%u", up.mtu,
			     MTU_MIN, MTU_MAX);
	return check_shape(ctl);
}

static int show_up(const struct aggctl *ctl, bool loaded)
{
	if (ctl->json)
		return out_json(tb_state_json(&up, true));
	printf("%s is up: %u servers, %u switches%s\n",
	       aggt_topo_name(up.topo), tb_servers(&up), tb_switches(&up), loaded ? "" :
	       "; the module is not loaded, nothing is attached");
	return ST_DONE;
}

static int fail_exists(void)
{
	json_t *state = tb_state_load();
	bool complete = json_is_true(json_object_get(state, "complete"));

	json_decref(state);
	return fail("a testbed is %s already; 'aggctl testbed down' removes it",
		    complete ? "up" : "half-made");
}

/* Return: an exit status */
static int check_core(const char *verb, const struct testbed *tb)
{
	if (core && !aggt_topo_core(tb->topo))
		return usage("testbed %s: --core: %s has no links between switches",
			     verb, aggt_topo_name(tb->topo));
	return ST_DONE;
}

/* Return: an exit status */
static int read_topology(const char *text)
{
	struct aggt_err why;

	if (text[0] != '@') {
		up.topo = aggt_topo_parse(text, &why);
		return up.topo ? ST_DONE : usage("testbed up: %s", why.text);
	}
	up.description = plan_read_file("testbed up", text + 1);
	if (!up.description)
		return ST_FAILED;
	/* The state of the testbed, which is JSON, has it. */
	if (!info_is_utf8(up.description))
		return fail("testbed up: %s: not a text file: it is not UTF-8",
			    text + 1);
	up.topo = aggt_topo_describe(up.description, &why);
	return up.topo ? ST_DONE :
	       usage("testbed up: %s: %s", text + 1, why.text);
}

/* From a topology, or the nodes of some plans. */
static int read_nodes(int argc, char **argv)
{
	int st;

	if (of_plans)
		return tb_part_read(&up, argv, argc) ? ST_FAILED : ST_DONE;
	if (argc > 1)
		return usage("testbed up: one TOPOLOGY, or --of and plans");
	st = read_topology(argv[0]);
	if (st)
		return st;
	return addressing_check(up.topo, false) ? ST_USAGE : ST_DONE;
}

static int run_up(const struct aggctl *ctl, int argc, char **argv)
{
	int st = check_up(ctl);
	bool loaded;

	st = st ? st : read_nodes(argc, argv);
	st = st ? st : check_core("up", &up);
	if (st)
		return st;
	up.shape = shape;
	up.core = core;
	/* No plan has entries for switches that have links to each other. */
	if (tb_is_mesh(up.topo))
		up.aggnet_switches = false;
	if (tb_lock()) {
		st = ST_FAILED;
	} else if (tb_state_exists()) {
		st = fail_exists();
	} else if (tb_up(&up)) {
		st = ST_FAILED;
	} else if (tb_attach(&up, &loaded)) {
		tb_down(&up);
		st = ST_FAILED;
	} else {
		st = show_up(ctl, loaded);
	}
	tb_free(&up);
	return st;
}

static int run_down(const struct aggctl *ctl, int argc, char **argv)
{
	struct testbed tb;
	int st = ST_DONE;

	(void)argc;
	(void)argv;
	if (tb_lock() || tb_state_open(&tb))
		return ST_FAILED;
	if (tb_down(&tb))
		st = ST_FAILED;
	else if (ctl->json)
		st = out_json(json_pack("{s:s}", "down",
					aggt_topo_name(tb.topo)));
	else
		printf("%s is down\n", aggt_topo_name(tb.topo));
	tb_free(&tb);
	return st;
}

static int run_shape(const struct aggctl *ctl, int argc, char **argv)
{
	struct testbed tb;
	int st = check_shape(ctl);

	(void)argc;
	(void)argv;
	if (st)
		return st;
	if (tb_lock() || tb_state_open(&tb))
		return ST_FAILED;
	st = check_core("shape", &tb);
	if (!st && tb_reshape(&tb, &shape, core))
		st = ST_FAILED;
	else if (!st && ctl->json)
		st = out_json(tb_state_json(&tb, true));
	tb_free(&tb);
	return st;
}

/* Return: an exit status */
static int find_node(const char *name)
{
	json_t *state = tb_state_load();
	bool found = false;
	json_t *node, *other;
	size_t i;

	if (!state)
		return ST_FAILED;
	json_array_foreach(json_object_get(state, "nodes"), i, node) {
		other = json_object_get(node, "name");
		found |= json_is_string(other) &&
			 !strcmp(name, json_string_value(other));
	}
	json_decref(state);
	return found ? ST_DONE : usage("testbed exec: unknown node '%s'", name);
}

static int run_exec(const struct aggctl *ctl, int argc, char **argv)
{
	char **cmd = argv + 1;
	int st;

	(void)ctl;
	if (argc > 1 && !strcmp(*cmd, "--"))
		cmd++;
	if (!*cmd)
		return usage("testbed exec: needs a command to run in %s",
			     argv[0]);
	st = find_node(argv[0]);
	if (st || netns_enter(argv[0]))
		return st ? st : ST_FAILED;
	execvp(*cmd, cmd);
	return fail("%s: %s", *cmd, strerror(errno));
}

/* The first NSHAPE_OPTS are those of a shape, the rest are of "up" alone. */
#define NSHAPE_OPTS	7
static const struct opt opts[] = {
	{ "rate", OPT_RATE, &shape.rate, "RATE",
	  "rate of each link and direction, like 10mbit" },
	{ "core", OPT_RATE, &core, "RATE",
	  "rate of each link between switches (that of --rate)" },
	{ "delay", OPT_TIME, &shape.delay, "TIME",
	  "delay of each link and direction, like 1ms" },
	{ "loss", OPT_PERCENT, &shape.loss, "PERCENT",
	  "packets lost on each link and direction" },
	{ "duplicate", OPT_PERCENT, &shape.duplicate, "PERCENT",
	  "packets duplicated on each link and direction" },
	{ "reorder", OPT_PERCENT, &shape.reorder, "PERCENT",
	  "packets that overtake delayed ones on each link" },
	{ "corrupt", OPT_PERCENT, &shape.corrupt, "PERCENT",
	  "packets with a flipped bit on each link and direction" },
	{ "mtu", OPT_U32, &up.mtu, "BYTES", "MTU of the links (1500)" },
	{ "switches", OPT_SWITCHES, &up.aggnet_switches, "KIND",
	  "'aggnet' (default): the module forwards; 'dumb': bridges only" },
	{ "of", OPT_FLAG, &of_plans, NULL,
	  "arguments are plans: only the nodes that their flows pass" },
};

static const struct verb verbs[] = {
	{
		.name = "up",
		.args = "TOPOLOGY | @FILE | --of PLAN...",
		.help = "build a network of namespaces, servers v*, switches w*",
		.min_args = 1,
		.max_args = MAX_PLANS,
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_up,
	}, {
		.name = "down",
		.args = "",
		.help = "remove the testbed, even if it is incomplete",
		.run = run_down,
	}, {
		.name = "exec",
		.args = "NODE -- COMMAND...",
		.help = "run a command on a node and exit with its status",
		.min_args = 1,
		.max_args = -1,
		.run = run_exec,
	}, {
		.name = "shape",
		.args = "",
		.help = "shape its links; without options: only by rates of the description",
		.opts = opts,
		.nopts = NSHAPE_OPTS,
		.run = run_shape,
	}, {
		.name = "entries",
		.args = "",
		.help = "show the entries and links in force on all its nodes",
		.run = run_entries,
	}, {
		.name = "traffic",
		.args = "",
		.help = "show the counters of its ports",
		.run = run_traffic,
	}, {
		.name = "show",
		.args = "",
		.help = "show its nodes and ports",
		.run = run_show,
	},
};

const struct command cmd_testbed = {
	.name = "testbed",
	.help = "a network of namespaces on this machine",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
