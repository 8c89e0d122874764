// SPDX-License-Identifier: GPL-2.0
/* aggctl port: attached devices. */
#include "cmd/cmd.h"
#include "cmd/ctl_open.h"
#include "info.h"
#include "output.h"

static const struct column port_cols[] = {
	{ "ifname", "port" }, { "level", "level" }, { "rx", "taken" },
	{ "forwarded", "forwarded" }, { "transit", "transit" },
};

static int list_ports(struct aggnet_ctl *h, void *list)
{
	struct ctl_list *found = list;
	struct aggnet_port_info *info = NULL;
	int error = aggnet_port_list(h, &info, &found->n);

	found->info = info;
	return error;
}

static int run_show(const struct aggctl *ctl, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return ctl_show(ctl, list_ports, &aggnet_noun_port, "ports", port_cols,
			ARRAY_SIZE(port_cols));
}

static int add_port(struct aggnet_ctl *h, void *port)
{
	return aggnet_port_add(h, port);
}

static int run_add(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_port_info port = {
		.has = AGGNET_HAS(AGGNET_A_PORT_IFINDEX),
	};
	int st;

	(void)ctl;
	if (info_set_pairs(&aggnet_noun_port, argc - 1, argv + 1, &port))
		return ST_USAGE;
	st = ctl_port(argv[0], &port.ifindex);
	return st ? st : ctl_ask(add_port, &port, argv[0]);
}

static int del_port(struct aggnet_ctl *h, void *ifindex)
{
	return aggnet_port_del(h, *(uint32_t *)ifindex);
}

static int run_del(const struct aggctl *ctl, int argc, char **argv)
{
	uint32_t ifindex;
	int st;

	(void)ctl;
	(void)argc;
	st = ctl_port(argv[0], &ifindex);
	return st ? st : ctl_ask(del_port, &ifindex, argv[0]);
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
