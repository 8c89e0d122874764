// SPDX-License-Identifier: GPL-2.0
/* aggctl eval: the papers' figures and tables, compared with this project's
 * results.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "eval/eval.h"
#include "output.h"

static struct {
	uint64_t rounds;
	uint64_t seed;
	const char *plot;
	const char *rst;
} opt = {
	.seed = 1,
};

static int run_one(const struct aggctl *ctl, const struct eval *eval,
		   json_t *results)
{
	struct eval_result result = { .eval = eval, .seed = opt.seed,
				      .rounds = opt.rounds };
	int st = eval_run(&result);
	json_t *json;

	if (!st) {
		json = eval_json(&result);
		if (!ctl->json)
			eval_print(&result, json);
		json_array_append_new(results, json);
		if (opt.plot)
			st = eval_plot(&result, opt.plot);
	}
	eval_free(&result);
	return st;
}

static int no_such(const char *name)
{
	size_t i;

	err("eval: unknown name '%s'; the names are:", name);
	for (i = 0; i < n_evals; i++)
		fprintf(stderr, "  %-11s %s\n", evals[i].name, evals[i].title);
	fputs("  000-table2  000 Table 2: bits of the filter in each packet\n"
	      "  update      what updates of a plan keep and cost\n", stderr);
	return ST_USAGE;
}

/* Updates are no figure of a paper, so they are an object of their own. */
static json_t *run_updates(const struct aggctl *ctl)
{
	json_t *rows = eval_update(opt.seed, opt.rounds ? opt.rounds : 20);

	if (rows && !ctl->json)
		eval_update_print(rows);
	return rows;
}

/* The same for filters: they are of trees, but no trees themselves. */
static json_t *run_filters(const struct aggctl *ctl)
{
	json_t *rows = eval_filter(opt.seed, opt.rounds ? opt.rounds : 5);

	if (rows && !ctl->json)
		eval_filter_print(rows);
	return rows;
}

/* These two have no figure. */
static bool is_table(const char *name)
{
	return !strcmp(name, "update") || !strcmp(name, "000-table2");
}

static int check_options(int argc, char **argv)
{
	if (opt.rounds > 1000000)
		return usage("eval: --rounds: at most 1000000");
	if (opt.plot && !argc)
		return usage("eval: --plot: needs the name of an experiment");
	if (opt.plot && is_table(argv[0]))
		return usage("eval: --plot: %s is a table", argv[0]);
	if (opt.rst && argc)
		return usage("eval: --rst: is for all experiments, not one");
	return opt.rst ? eval_rst_check(opt.rst) : ST_DONE;
}

/* It was checked before the runs that the numbers can be written. */
static int run_named(const struct aggctl *ctl, const char *name,
		     json_t *results)
{
	size_t i = 0;
	int st;

	while (i < n_evals && strcmp(name, evals[i].name))
		i++;
	if (i == n_evals)
		return no_such(name);
	st = opt.plot ? eval_plot_check(opt.plot) : ST_DONE;
	return st ? st : run_one(ctl, &evals[i], results);
}

static int run_all(const struct aggctl *ctl, json_t *results)
{
	json_t *filters, *updates;
	int st = ST_DONE;
	size_t i;

	for (i = 0; i < n_evals && !st; i++)
		st = run_one(ctl, &evals[i], results);
	filters = st ? NULL : run_filters(ctl);
	updates = filters ? run_updates(ctl) : NULL;
	if (!updates) {
		json_decref(filters);
		return ST_FAILED;
	}
	if (opt.rst)
		st = eval_rst(opt.rst, results, filters, updates);
	if (ctl->json) {
		json_array_append(results, filters);
		json_array_append(results, updates);
	}
	json_decref(filters);
	json_decref(updates);
	return st;
}

static int run_eval(const struct aggctl *ctl, int argc, char **argv)
{
	int st = check_options(argc, argv);
	json_t *results;

	if (st)
		return st;
	if (argc && is_table(argv[0])) {
		results = argv[0][0] == 'u' ? run_updates(ctl) :
					      run_filters(ctl);
		st = results ? ST_DONE : ST_FAILED;
	} else {
		results = json_array();
		st = argc ? run_named(ctl, argv[0], results) :
			    run_all(ctl, results);
	}
	if (!st && ctl->json)
		return out_json(results);
	json_decref(results);
	return st;
}

static const struct opt eval_opts[] = {
	{ "rounds", OPT_U64, &opt.rounds, "N", "repetitions of each setting" },
	{ "seed", OPT_U64, &opt.seed, "N", "seed of the random generator (1)" },
	{ "plot", OPT_STRING, &opt.plot, "FILE",
	  "draw the figure: .svg or .png" },
	{ "rst", OPT_STRING, &opt.rst, "FILE",
	  "put the tables between the marks of FILE" },
};

static const struct verb eval_verbs[] = {
	{
		.args = "[NAME]",
		.help = "reproduce a figure or table of the papers, or all",
		.max_args = 1,
		.opts = eval_opts,
		.nopts = ARRAY_SIZE(eval_opts),
		.run = run_eval,
	},
};

const struct command cmd_eval = {
	"eval", "reproduce the papers' figures and tables",
	eval_verbs, ARRAY_SIZE(eval_verbs),
};
