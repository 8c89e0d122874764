// SPDX-License-Identifier: GPL-2.0
/* aggctl top: what the entries of a node do, again and again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/ctl_open.h"
#include "cmd/top.h"
#include "output.h"

static uint64_t interval = 1000000000;
static uint32_t count;

static const struct column cols[] = {
	{ "job", "job" }, { "receiver", "receiver" }, { "state", "state" },
	{ "bound", "bound" }, { "records_in_s", "records/s in" },
	{ "records_out_s", "records/s out" }, { "mbit_in_s", "Mbit/s in" },
	{ "mbit_out_s", "Mbit/s out" }, { "merged_percent", "merged %" },
	{ "fallbacks", "fallbacks" },
};

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static int print_table(json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		top_text(row);
	out_clear();
	return out_rows(cols, ARRAY_SIZE(cols), rows);
}

static int print(const struct aggctl *ctl, json_t *rows)
{
	int st = ST_DONE;

	if (ctl->json) {
		if (json_dumpf(rows, stdout, JSON_COMPACT))
			st = fail("a row cannot be written as JSON");
		putchar('\n');
	} else {
		st = print_table(rows);
	}
	json_decref(rows);
	if (!st && fflush(stdout))
		st = fail("standard output: %s", strerror(errno));
	return st;
}

/* From one moment to the next one: a node that restarts has no entry before. */
static int watch(const struct aggctl *ctl, struct aggnet_ctl *h)
{
	const struct timespec wait = {
		.tv_sec = (time_t)(interval / 1000000000),
		.tv_nsec = (long)(interval % 1000000000),
	};
	struct top_sample before = {}, now;
	uint32_t shown = 0;
	int st = ST_DONE;

	while (!st) {
		now.ns = now_ns();
		if (aggnet_tree_list(h, &now.list, &now.n)) {
			st = ctl_refused(h, "trees");
			break;
		}
		if (before.list || before.ns) {
			st = print(ctl, top_rows(&now, &before));
			shown++;
		}
		aggnet_tree_list_free(before.list, before.n);
		before = now;
		if (count && shown == count)
			break;
		if (!st)
			nanosleep(&wait, NULL);
	}
	aggnet_tree_list_free(before.list, before.n);
	return st;
}

static int run_top(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_ctl *h;
	int st;

	(void)argc;
	(void)argv;
	if (!interval)
		return usage("top: --interval: it needs to be more than 0");
	h = ctl_open();
	if (!h)
		return ST_FAILED;
	st = watch(ctl, h);
	aggnet_ctl_close(h);
	return st;
}

static const struct opt opts[] = {
	{ "interval", OPT_TIME, &interval, "TIME", "between two tables [1s]" },
	{ "count", OPT_U32, &count, "N", "end after so many tables" },
};

static const struct verb verbs[] = {
	{
		.args = "",
		.help = "show what each entry merges and sends, with -j one array a line",
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_top,
	},
};

const struct command cmd_top = {
	.name = "top",
	.help = "show what each entry merges and sends, again and again",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
