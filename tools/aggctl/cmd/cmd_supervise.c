// SPDX-License-Identifier: GPL-2.0
/* aggctl supervise: watch a running plan and repair it around failures. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/plan_find.h"
#include "output.h"
#include "plan/plan_apply.h"
#include "supervise/supervise.h"
#include "testbed/testbed.h"

static const char *one_node;

static double seconds(int64_t from, int64_t to)
{
	return (double)(to - from) / 1000;
}

/* Wall clock of a time of supervision, to be compared with other logs. */
static double wall(int64_t ms)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9 -
	       seconds(ms, supervise_now());
}

static bool is_read(void)
{
	return line_is_read(STDOUT_FILENO);
}

/* A line that cannot be written is not an error of supervision. */
static void end_line(void)
{
	if (!fflush(stdout))
		return;
	__fpurge(stdout);
	clearerr(stdout);
}

static void print_line(json_t *object)
{
	json_dumpf(object, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(object);
}

static void show_ready(void *arg, size_t nodes)
{
	const struct aggctl *ctl = arg;

	if (!is_read())
		return;
	if (ctl->json)
		print_line(json_pack("{s:s, s:I}", "event", "listening",
				     "nodes", (json_int_t)nodes));
	else
		printf("listening at %zu nodes\n", nodes);
	end_line();
}

static void show_repair(void *arg, const struct repair *r)
{
	const struct aggctl *ctl = arg;

	if (!is_read())
		return;
	if (ctl->json)
		print_line(json_pack("{s:s, s:f, s:s, s:I, s:f, s:f, s:f, s:f, s:I, s:b}",
				     "event", "repaired",
				     "time", wall(r->heard_ms), "what", r->text,
				     "trees", (json_int_t)r->trees,
				     "detection",
				     seconds(r->heard_ms, r->judged_ms),
				     "planning",
				     seconds(r->judged_ms, r->planned_ms),
				     "installation",
				     seconds(r->planned_ms, r->installed_ms),
				     "total",
				     seconds(r->heard_ms, r->installed_ms),
				     "bytes", (json_int_t)r->bytes,
				     "unsaved", r->unsaved));
	else if (!r->trees)
		printf("%s: on no path of the plan\n", r->text);
	else
		printf("%s: %zu trees begin anew after %.3f s (detection %.3f, planning %.3f, installation %.3f); %llu bytes are sent again\n",
		       r->text, r->trees,
		       seconds(r->heard_ms, r->installed_ms),
		       seconds(r->heard_ms, r->judged_ms),
		       seconds(r->judged_ms, r->planned_ms),
		       seconds(r->planned_ms, r->installed_ms),
		       (unsigned long long)r->bytes);
	end_line();
}

static void show_stalled(void *arg, const char *node, uint32_t missing)
{
	const struct aggctl *ctl = arg;

	if (!is_read())
		return;
	if (ctl->json)
		print_line(json_pack("{s:s, s:s, s:I}", "event", "stalled",
				     "node", node, "missing",
				     (json_int_t)missing));
	else
		printf("%s waits no longer, %u sources are missing there\n",
		       node, missing);
	end_line();
}

static void show_end(const struct aggctl *ctl, const struct supervise *s)
{
	double total = s->heard_ms ? seconds(s->heard_ms, supervise_now()) : 0;

	if (!is_read())
		return;
	if (ctl->json)
		print_line(json_pack("{s:s, s:i, s:f, s:b}", "event", "done",
				     "repairs", (int)s->repairs,
				     "total", total, "unsaved", s->unsaved));
	else if (s->heard_ms)
		printf("done: %u repairs, %.3f s from the first failure to the last result\n",
		       s->repairs, total);
	else
		printf("done: nothing failed\n");
	end_line();
}

static int check_rounds(const struct plan_file *file)
{
	const json_t *entries = json_object_get(file->json, "entries");

	if (json_is_true(json_object_get(entries, "down"))) {
		err("supervise: broadcasts are not supervised: a new attempt would begin anew");
		return -1;
	}
	if (!json_is_true(json_object_get(entries, "persist")))
		return 0;
	err("supervise: plans of persistent trees are not supervised: a new attempt does not know which rounds are done");
	return -1;
}

/* Is the plan not for bcube or ghc? A graph has no name that says what it is. */
static bool is_mesh(const struct plan_file *file)
{
	const char *name = json_string_value(json_object_get(file->json,
							     "topology"));
	struct aggt_topo *topo = name ? aggt_topo_parse(name, NULL) : NULL;
	bool mesh = !topo || tb_is_mesh(topo);

	aggt_topo_free(topo);
	return mesh;
}

static int supervise(const struct aggctl *ctl, struct plan_file *file,
		     const char *path, struct plan_store *store)
{
	struct supervise s = {
		.path = path, .store = store, .json = json_incref(file->json),
		.only = one_node, .ready = show_ready, .told = show_repair,
		.stalled = show_stalled, .arg = (void *)ctl,
	};
	char why[AGGNET_WATCH_TEXT];
	char *only;
	int ret, st = ST_FAILED;

	if (!check_rounds(file))
		st = plan_file_find(file, ctl->netns, one_node, &s.in_testbed);
	if (st) {
		json_decref(s.json);
		return st;
	}
	if (s.in_testbed && tb_is_partial()) {
		json_decref(s.json);
		return fail("supervise: the testbed has the nodes of its plans only, and a repair may need others: 'aggctl testbed up TOPOLOGY' makes all");
	}
	if (s.in_testbed && is_mesh(file)) {
		json_decref(s.json);
		return fail("supervise: only in a testbed of bcube or ghc it can send plain IP around what has failed");
	}
	/* The plan, which has the name, changes with each repair. */
	only = s.in_testbed ? NULL : strdup(file->part[0].name);
	if (only)
		s.only = only;
	ret = supervise_run(&s, why, sizeof(why));
	free(only);
	if (ret > 0)
		return fail("supervise: %s. Next: plan the transfer again, with another job",
			    why);
	if (ret)
		return ST_FAILED;
	show_end(ctl, &s);
	return s.unsaved ? ST_FAILED : ST_DONE;
}

static int run_supervise(const struct aggctl *ctl, int argc, char **argv)
{
	struct plan_store store = { .dir = -1, .file = -1 };
	bool keeps = plan_store_is_file(argv[0]);
	struct plan_file file = {};
	int ret, st = ST_FAILED;

	(void)argc;
	/* A network goes on to be supervised if its output is not read. */
	signal(SIGPIPE, SIG_IGN);
	err_never_wait();
	ret = keeps ? plan_store_open(&store, argv[0]) : 0;
	if (!ret)
		ret = keeps ? plan_file_load_fd(&file, store.file, argv[0]) :
			      plan_file_load(&file, argv[0]);
	if (!ret)
		st = supervise(ctl, &file, argv[0], keeps ? &store : NULL);
	plan_file_free(&file);
	plan_store_close(&store);
	return st;
}

static const struct opt opts[] = {
	{ "node", OPT_STRING, &one_node, "NODE",
	  "this node only: in the testbed, in --netns, or on this host" },
};

static const struct verb verbs[] = {
	{
		.args = "PLAN.json",
		.help = "repair a plan in force around failures until its receivers have their results",
		.min_args = 1,
		.max_args = 1,
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_supervise,
	},
};

const struct command cmd_supervise = {
	.name = "supervise",
	.help = "repair a running plan around failures",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
