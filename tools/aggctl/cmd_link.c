// SPDX-License-Identifier: GPL-2.0
/* aggctl link: neighbours behind ports, and the filters of what leaves there. */
#include <stdlib.h>

#include "cmd.h"
#include "ctl_open.h"
#include "info.h"
#include "output.h"

static const struct column link_cols[] = {
	{ "port", "port" }, { "neighbour", "neighbour" },
	{ "lladdr", "lladdr" }, { "bits", "bits" }, { "hashes", "hashes" },
	{ "trees", "trees" }, { "bits_set", "bits set" },
};

static int run_show(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_ctl *h = ctl_open();
	struct aggnet_link_info *list;
	json_t *rows;
	size_t i, n;
	int st;

	(void)argc;
	(void)argv;
	if (!h)
		return ST_FAILED;
	if (aggnet_link_list(h, &list, &n)) {
		st = ctl_refused(h, "links");
	} else {
		rows = json_array();
		for (i = 0; i < n; i++)
			json_array_append_new(rows,
					      info_json(&aggnet_noun_link,
							&list[i]));
		free(list);
		st = out_table(ctl, link_cols, ARRAY_SIZE(link_cols), rows);
	}
	aggnet_ctl_close(h);
	return st;
}

static int change(int argc, char **argv,
		  int (*request)(struct aggnet_ctl *,
				 const struct aggnet_link_info *))
{
	struct aggnet_link_info link = {
		.has = AGGNET_HAS(AGGNET_A_LINK_IFINDEX),
	};
	struct aggnet_ctl *h;
	int st;

	if (info_set_pairs(&aggnet_noun_link, argc - 1, argv + 1, &link))
		return ST_USAGE;
	st = ctl_port(argv[0], &link.ifindex);
	if (st)
		return st;
	h = ctl_open();
	if (!h)
		return ST_FAILED;
	if (request(h, &link))
		st = ctl_refused(h, "link");
	aggnet_ctl_close(h);
	return st;
}

static int run_add(const struct aggctl *ctl, int argc, char **argv)
{
	(void)ctl;
	return change(argc, argv, aggnet_link_add);
}

static int run_del(const struct aggctl *ctl, int argc, char **argv)
{
	(void)ctl;
	return change(argc, argv, aggnet_link_del);
}

static const struct verb verbs[] = {
	{
		.name = "show",
		.args = "",
		.help = "show links and their filters",
		.run = run_show,
	}, {
		.name = "add",
		.args = "DEVICE [neighbour A] [lladdr M] [bits N] [hashes N]",
		.help = "add a link; without a neighbour, to the switch there",
		.min_args = 1,
		.max_args = 9,
		.run = run_add,
	}, {
		.name = "del",
		.args = "DEVICE [neighbour A]",
		.help = "delete a link that no tree leaves by",
		.min_args = 1,
		.max_args = 3,
		.run = run_del,
	},
};

const struct command cmd_link = {
	.name = "link",
	.help = "neighbours behind ports, and the filters of what leaves there",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
