// SPDX-License-Identifier: GPL-2.0
/* aggctl stats: counters of this namespace, among them every drop's reason. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/ctl_open.h"
#include "output.h"

static bool show_zero;

static const struct column stat_cols[] = {
	{ "name", "counter" }, { "value", "value" },
};

/* JSON has one object of all counters, because programs read them by name. */
static int show(const struct aggctl *ctl, const struct aggnet_stat *list,
		size_t n)
{
	json_t *object = json_object(), *rows = json_array();
	json_int_t value;
	size_t i;

	for (i = 0; i < n; i++) {
		value = (json_int_t)list[i].value;
		json_object_set_new(object, list[i].name, json_integer(value));
		if (value || show_zero)
			json_array_append_new(rows,
					      json_pack("{s:s, s:I}", "name",
							list[i].name, "value",
							value));
	}
	if (ctl->json) {
		json_decref(rows);
		return out_json(object);
	}
	json_decref(object);
	return out_table(ctl, stat_cols, ARRAY_SIZE(stat_cols), rows);
}

static int list_stats(struct aggnet_ctl *h, void *list)
{
	struct ctl_list *found = list;
	struct aggnet_stat *info = NULL;
	int error = aggnet_stats_list(h, &info, &found->n);

	found->info = info;
	return error;
}

static int run_show(const struct aggctl *ctl, int argc, char **argv)
{
	struct ctl_list found;
	int st = ctl_ask(list_stats, &found, "stats");

	(void)argc;
	(void)argv;
	if (st)
		return st;
	st = show(ctl, found.info, found.n);
	free(found.info);
	return st;
}

static const struct opt opts[] = {
	{ "all", OPT_FLAG, &show_zero, NULL, "also counters that are zero" },
};

static const struct verb verbs[] = {
	{
		.name = "show",
		.args = "",
		.help = "show the counters",
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_show,
	},
};

const struct command cmd_stats = {
	.name = "stats",
	.help = "counters, among them the reason of every drop",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
