// SPDX-License-Identifier: GPL-2.0
/* aggctl link: neighbours behind ports, and the filters of what leaves there. */
#include "cmd.h"
#include "ctl_open.h"
#include "info.h"
#include "output.h"

static const struct column link_cols[] = {
	{ "port", "port" }, { "neighbour", "neighbour" },
	{ "lladdr", "lladdr" }, { "bits", "bits" }, { "hashes", "hashes" },
	{ "trees", "trees" }, { "bits_set", "bits set" },
};

static int list_links(struct aggnet_ctl *h, void *list)
{
	struct ctl_list *found = list;
	struct aggnet_link_info *info = NULL;
	int error = aggnet_link_list(h, &info, &found->n);

	found->info = info;
	return error;
}

static int run_show(const struct aggctl *ctl, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return ctl_show(ctl, list_links, &aggnet_noun_link, "links", link_cols,
			ARRAY_SIZE(link_cols));
}

static int add_link(struct aggnet_ctl *h, void *link)
{
	return aggnet_link_add(h, link);
}

static int del_link(struct aggnet_ctl *h, void *link)
{
	return aggnet_link_del(h, link);
}

static int change(int argc, char **argv,
		  int (*request)(struct aggnet_ctl *, void *))
{
	struct aggnet_link_info link = {
		.has = AGGNET_HAS(AGGNET_A_LINK_IFINDEX),
	};
	int st;

	if (info_set_pairs(&aggnet_noun_link, argc - 1, argv + 1, &link))
		return ST_USAGE;
	st = ctl_port(argv[0], &link.ifindex);
	return st ? st : ctl_ask(request, &link, "link");
}

static int run_add(const struct aggctl *ctl, int argc, char **argv)
{
	(void)ctl;
	return change(argc, argv, add_link);
}

static int run_del(const struct aggctl *ctl, int argc, char **argv)
{
	(void)ctl;
	return change(argc, argv, del_link);
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
