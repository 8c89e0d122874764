// SPDX-License-Identifier: GPL-2.0
/* aggctl link: neighbours of ports, and the filters of links. */
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/ctl_open.h"
#include "cmd/geometry.h"
#include "info.h"
#include "output.h"

static const struct column link_cols[] = {
	{ "port", "port" }, { "neighbour", "neighbour" },
	{ "lladdr", "lladdr" }, { "bits", "bits" }, { "hashes", "hashes" },
	{ "capacity", "capacity" }, { "trees", "trees" },
	{ "bits_set", "bits set" },
	{ "name", "name" }, { "digit", "digit" },
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

/**
 * struct wish - the requested properties of a table, instead of its size
 * @rate: of false positives, GEOMETRY_RATE if not given
 * @trees: incast IDs in it
 * @given: either was given
 */
struct wish {
	double rate;
	uint32_t trees;
	bool given;
};

/* Return: 1 if it was one, 0: it is about something else, -1: it is wrong. */
static int set_wish(struct wish *wish, const char *name, const char *text)
{
	bool rate = !strcmp(name, "rate");

	if (!rate && strcmp(name, "trees"))
		return 0;
	wish->given = true;
	if (rate ? value_parse(OPT_REAL, text, &wish->rate) :
		   value_parse(OPT_U32, text, &wish->trees))
		return 1;
	err("link: %s: '%s' is not a valid value", name, text);
	return -1;
}

static int set_pairs(int argc, char **argv, struct aggnet_link_info *link,
		     struct wish *wish)
{
	int i, ret;

	for (i = 0; i < argc; i += 2) {
		ret = i + 1 < argc ? set_wish(wish, argv[i], argv[i + 1]) : 0;
		if (!ret)
			ret = info_set_pairs(&aggnet_noun_link,
					     argc - i < 2 ? 1 : 2, argv + i,
					     link);
		if (ret < 0)
			return -1;
	}
	return 0;
}

static int grant(const struct wish *wish, struct aggnet_link_info *link)
{
	const uint64_t size = AGGNET_HAS(AGGNET_A_LINK_BITS) |
			      AGGNET_HAS(AGGNET_A_LINK_HASHES) |
			      AGGNET_HAS(AGGNET_A_LINK_CAPACITY);
	struct geometry g;
	const char *fault;

	if (link->has & size) {
		err("link: rate and trees cannot be combined with bits, hashes and capacity");
		return -1;
	}
	fault = geometry_set(wish->rate, wish->trees, &g);
	if (fault) {
		err("link: rate %g, trees %u: %s", wish->rate, wish->trees,
		    fault);
		return -1;
	}
	link->bits = g.bits;
	link->hashes = g.hashes;
	link->capacity = wish->trees;
	link->has |= size;
	return 0;
}

static int ask(const char *port, struct aggnet_link_info *link,
	       int (*request)(struct aggnet_ctl *, void *))
{
	int st = ctl_port(port, &link->ifindex);

	link->has |= AGGNET_HAS(AGGNET_A_LINK_IFINDEX);
	return st ? st : ctl_ask(request, link, "link");
}

static int run_add(const struct aggctl *ctl, int argc, char **argv)
{
	struct wish wish = {
		.rate = GEOMETRY_RATE, .trees = AGGNET_LINK_CAPACITY_DEFAULT,
	};
	struct aggnet_link_info link = {};

	(void)ctl;
	if (set_pairs(argc - 1, argv + 1, &link, &wish) ||
	    (wish.given && grant(&wish, &link)))
		return ST_USAGE;
	return ask(argv[0], &link, add_link);
}

static int run_del(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_link_info link = {};

	(void)ctl;
	if (info_set_pairs(&aggnet_noun_link, argc - 1, argv + 1, &link))
		return ST_USAGE;
	return ask(argv[0], &link, del_link);
}

static const struct verb verbs[] = {
	{
		.name = "show",
		.args = "",
		.help = "show links and their filters",
		.run = run_show,
	}, {
		.name = "add",
		.args = "DEVICE [neighbour A] [lladdr M] [rate F] [trees N] [name N [digit D]]",
		.help = "add a link; without a neighbour, to the switch on the port; bits N, hashes N and capacity N instead of rate and trees",
		.min_args = 1,
		.max_args = 15,
		.run = run_add,
	}, {
		.name = "del",
		.args = "DEVICE [neighbour A]",
		.help = "delete a link that no tree uses",
		.min_args = 1,
		.max_args = 3,
		.run = run_del,
	},
};

const struct command cmd_link = {
	.name = "link",
	.help = "neighbours of ports, and the filters of links",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
