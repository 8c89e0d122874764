// SPDX-License-Identifier: GPL-2.0
/* aggctl port: attached devices. */
#include <stdlib.h>

#include "cmd.h"
#include "ctl_open.h"
#include "info.h"
#include "output.h"

static const struct column port_cols[] = {
	{ "ifname", "port" }, { "level", "level" }, { "rx", "taken" },
	{ "forwarded", "forwarded" }, { "transit", "transit" },
};

static int run_show(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_ctl *h = ctl_open();
	struct aggnet_port_info *list;
	json_t *rows;
	size_t i, n;
	int st;

	(void)argc;
	(void)argv;
	if (!h)
		return ST_FAILED;
	if (aggnet_port_list(h, &list, &n)) {
		st = ctl_refused(h, "ports");
	} else {
		rows = json_array();
		for (i = 0; i < n; i++)
			json_array_append_new(rows,
					      info_json(&aggnet_noun_port,
							&list[i]));
		free(list);
		st = out_table(ctl, port_cols, ARRAY_SIZE(port_cols), rows);
	}
	aggnet_ctl_close(h);
	return st;
}

static int run_add(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_port_info port = {
		.has = AGGNET_HAS(AGGNET_A_PORT_IFINDEX),
	};
	struct aggnet_ctl *h;
	int st;

	(void)ctl;
	if (info_set_pairs(&aggnet_noun_port, argc - 1, argv + 1, &port))
		return ST_USAGE;
	st = ctl_port(argv[0], &port.ifindex);
	if (st)
		return st;
	h = ctl_open();
	if (!h)
		return ST_FAILED;
	if (aggnet_port_add(h, &port))
		st = ctl_refused(h, argv[0]);
	aggnet_ctl_close(h);
	return st;
}

static int run_del(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_ctl *h;
	uint32_t ifindex;
	int st;

	(void)ctl;
	(void)argc;
	st = ctl_port(argv[0], &ifindex);
	if (st)
		return st;
	h = ctl_open();
	if (!h)
		return ST_FAILED;
	if (aggnet_port_del(h, ifindex))
		st = ctl_refused(h, argv[0]);
	aggnet_ctl_close(h);
	return st;
}

static const struct verb verbs[] = {
	{
		.name = "show",
		.args = "",
		.help = "show the attached devices",
		.run = run_show,
	}, {
		.name = "add",
		.args = "DEVICE [level N] [transit on|off]",
		.help = "attach a device",
		.min_args = 1,
		.max_args = 5,
		.run = run_add,
	}, {
		.name = "del",
		.args = "DEVICE",
		.help = "detach a device",
		.min_args = 1,
		.max_args = 1,
		.run = run_del,
	},
};

const struct command cmd_port = {
	.name = "port",
	.help = "attached devices",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
