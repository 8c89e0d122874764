// SPDX-License-Identifier: GPL-2.0
/* aggctl job: jobs of users that may not configure nodes; aggd plans and applies them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/job_client.h"
#include "output.h"

#define SOCKET	"/run/aggnet/aggd.sock"

static struct {
	const char *socket;
	const char *kind;
	const char *root;
	const char *members;
	const char *receivers;
	const char *function;
	const char *type;
	const char *objective;
	uint32_t scale;
	uint32_t k;
	uint64_t elements;
	uint64_t memory;
	uint32_t time_ms;
	bool sorted;
	bool attached;
	bool no_wait;
} opt = { .socket = SOCKET };

static const struct verb verbs[];

/* --- submit --------------------------------------------------------------------------- */

/* Return: the names of a list v2,v5*2 */
static json_t *names_of(const char *list)
{
	json_t *names = json_array();
	size_t len;

	for (;; list += len + 1) {
		len = strcspn(list, ",");
		json_array_append_new(names, json_stringn(list, len));
		if (!list[len])
			return names;
	}
}

static void set_text(json_t *request, const char *name, const char *value)
{
	if (value)
		json_object_set_new(request, name, json_string(value));
}

static void set_number(json_t *request, const char *name, uint64_t value)
{
	json_object_set_new(request, name, json_integer((json_int_t)value));
}

/* aggd knows the defaults of what is not given, and checks what is. */
static json_t *submission(const struct aggctl *ctl)
{
	json_t *r = json_pack("{s:s}", "op", "submit");

	set_text(r, "kind", opt.kind);
	set_text(r, "root", opt.root);
	set_text(r, "function", opt.function);
	set_text(r, "type", opt.type);
	set_text(r, "objective", opt.objective);
	json_object_set_new(r, "members", names_of(opt.members));
	if (opt.receivers)
		json_object_set_new(r, "receivers", names_of(opt.receivers));
	if (options_has(ctl, verbs, "scale"))
		set_number(r, "scale", opt.scale);
	if (options_has(ctl, verbs, "k"))
		set_number(r, "k", opt.k);
	if (options_has(ctl, verbs, "elements"))
		set_number(r, "elements", opt.elements);
	if (options_has(ctl, verbs, "memory"))
		set_number(r, "memory", opt.memory);
	if (options_has(ctl, verbs, "time"))
		set_number(r, "time", (opt.time_ms + 999ull) / 1000);
	if (opt.sorted)
		json_object_set_new(r, "sorted", json_true());
	if (opt.attached)
		json_object_set_new(r, "attached", json_true());
	return r;
}

static json_int_t id_of(const json_t *answer)
{
	return json_integer_value(json_object_get(json_object_get(answer, "job"),
						  "job"));
}

static const char *text_of(const json_t *job, const char *name)
{
	const char *text = json_string_value(json_object_get(job, name));

	return text ? text : "";
}

/* A job that has ended by an error, or before it was in force, is a failure. */
static int check_in_force(const json_t *job)
{
	if (!strcmp(text_of(job, "state"), "in force"))
		return ST_DONE;
	return fail("job %lld: %s", (long long)json_integer_value(
		    json_object_get(job, "job")), text_of(job, "reason"));
}

/* What a program needs: the ID, and the environment of a group. */
static int print_submitted(const struct aggctl *ctl, const json_t *job)
{
	if (ctl->json)
		return out_json(json_deep_copy(job));
	printf("job %lld: %s\n", (long long)json_integer_value(
	       json_object_get(job, "job")), text_of(job, "state"));
	if (*text_of(job, "group"))
		printf("AGGNET_GROUP=%s\n", text_of(job, "group"));
	return fflush(stdout) ? fail("job submit: standard output: %s", strerror(errno)) : ST_DONE;
}

static json_t *ask_wait(FILE *aggd, json_int_t id, const char *what, int *st)
{
	return job_ask(aggd, json_pack("{s:s, s:I, s:s}", "op", "wait", "job", id,
				       "for", what), st);
}

/* The job lasts as long as this process is connected. */
static int wait_attached(FILE *aggd, json_int_t id)
{
	json_t *answer;
	int st;

	answer = ask_wait(aggd, id, "ended", &st);
	if (answer && json_is_true(json_object_get(json_object_get(answer, "job"),
						   "failed")))
		st = fail("job %lld: %s", (long long)id,
			  text_of(json_object_get(answer, "job"), "reason"));
	json_decref(answer);
	return st;
}

static int submit_on(const struct aggctl *ctl, FILE *aggd)
{
	json_t *answer, *waited;
	json_int_t id;
	int st;

	answer = job_ask(aggd, submission(ctl), &st);
	if (!answer)
		return st;
	id = id_of(answer);
	/* The job stays if this command is interrupted. */
	if (!opt.no_wait && !opt.attached && isatty(STDERR_FILENO))
		fprintf(stderr, "job %lld: waiting until it is in force\n",
			(long long)id);
	if (!opt.no_wait) {
		waited = ask_wait(aggd, id, "in force", &st);
		json_decref(answer);
		answer = waited;
		if (!st)
			st = check_in_force(json_object_get(answer, "job"));
	}
	if (!st)
		st = print_submitted(ctl, json_object_get(answer, "job"));
	json_decref(answer);
	return !st && opt.attached ? wait_attached(aggd, id) : st;
}

static int check_texts(void)
{
	const char *const text[][2] = {
		{ "kind", opt.kind }, { "root", opt.root },
		{ "members", opt.members }, { "receivers", opt.receivers },
		{ "function", opt.function }, { "type", opt.type },
		{ "objective", opt.objective },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(text); i++)
		if (options_utf8("job submit", text[i][0], text[i][1]))
			return ST_USAGE;
	return ST_DONE;
}

static int run_submit(const struct aggctl *ctl, int argc, char **argv)
{
	FILE *aggd;
	int st;

	(void)argc;
	(void)argv;
	if (!opt.members)
		return usage("job submit: needs --members");
	if (opt.attached && opt.no_wait)
		return usage("job submit: --attached cannot be combined with --no-wait: the job would end at once");
	if (check_texts())
		return ST_USAGE;
	if (opt.kind && strcmp(opt.kind, "group") && strcmp(opt.kind, "reduce"))
		return usage("job submit: --kind: '%s' is neither group nor reduce",
			     opt.kind);
	aggd = job_connect(opt.socket);
	if (!aggd)
		return ST_FAILED;
	st = submit_on(ctl, aggd);
	fclose(aggd);
	return st;
}

/* --- list, show and cancel ------------------------------------------------------------ */

static const struct column columns[] = {
	{ "job", "job" },
	{ "user", "user" },
	{ "kind", "kind" },
	{ "state", "state" },
	{ "ahead", "ahead" },
	{ "ends in", "ends in" },
	{ "group", NULL },
	{ "fault", "fault" },
	{ "reason", "reason" },
	{ "waits", "waits" },	/* last, as scripts read the others */
};

/* How long a job goes on, as a person reads it. */
static void set_left(json_t *job)
{
	json_int_t left = json_integer_value(json_object_get(job, "ends")) -
			  (json_int_t)time(NULL);
	char text[32];

	if (strcmp(text_of(job, "state"), "in force"))
		return;
	snprintf(text, sizeof(text), "%lld s", (long long)(left > 0 ? left : 0));
	json_object_set_new(job, "ends in", json_string(text));
}

/* An answer has some jobs; the next one those after the last of them. */
static int list_all(FILE *aggd, json_t *rows)
{
	json_int_t after = 0;
	json_t *answer, *jobs;
	bool more = true;
	int st = ST_DONE;

	while (more) {
		answer = job_ask(aggd, json_pack("{s:s, s:I}", "op", "list", "after",
						 after), &st);
		jobs = json_object_get(answer, "jobs");
		more = json_array_size(jobs) &&
		       json_is_true(json_object_get(answer, "more"));
		after = json_integer_value(json_object_get(json_array_get(
			jobs, json_array_size(jobs) - 1), "job"));
		/* The jobs are those that are known, but nothing can be changed now. */
		if (!more && json_object_get(answer, "store"))
			err("%s", text_of(answer, "store"));
		json_array_extend(rows, jobs);
		json_decref(answer);
	}
	return st;
}

static int run_list(const struct aggctl *ctl, int argc, char **argv)
{
	FILE *aggd = job_connect(opt.socket);
	json_t *rows, *row;
	size_t i;
	int st;

	(void)argc;
	(void)argv;
	if (!aggd)
		return ST_FAILED;
	rows = json_array();
	st = list_all(aggd, rows);
	fclose(aggd);
	if (st) {
		json_decref(rows);
		return st;
	}
	json_array_foreach(rows, i, row)
		if (!ctl->json)
			set_left(row);
	return out_table(ctl, columns, ARRAY_SIZE(columns), rows);
}

/* Return: an exit status */
static int parse_id(const char *op, const char *text, uint32_t *id)
{
	if (value_parse(OPT_U32, text, id) && *id)
		return ST_DONE;
	return usage("job %s: '%s' is not a job ID", op, text);
}

/* Ask for a job. Return: the answer, or NULL with @st */
static json_t *ask_job(FILE *aggd, const char *op, uint32_t id, int *st)
{
	return job_ask(aggd, json_pack("{s:s, s:I}", "op", op, "job", (json_int_t)id),
		       st);
}

static const struct column fields[] = {
	{ "job", "job" },
	{ "user", "user" },
	{ "kind", "kind" },
	{ "state", "state" },
	{ "ahead", "jobs ahead" },
	{ "waits", "waits for" },
	{ "ends in", "ends in" },
	{ "reason", "reason" },
	{ "fault", "fault" },
	{ "root", "root" },
	{ "members", "members" },
	{ "receivers", "receivers" },
	{ "function", "function" },
	{ "type", "type" },
	{ "elements", "elements" },
	{ "memory", "memory" },
	{ "group", "AGGNET_GROUP" },
};

static int print_job(const struct aggctl *ctl, const json_t *answer)
{
	json_t *job = json_deep_copy(json_object_get(answer, "job"));

	if (ctl->json)
		return out_json(job);
	json_object_update_missing(job, json_object_get(job, "spec"));
	set_left(job);
	out_fields(fields, ARRAY_SIZE(fields), job);
	json_decref(job);
	return ST_DONE;
}

static int run_show(const struct aggctl *ctl, int argc, char **argv)
{
	json_t *answer;
	uint32_t id;
	FILE *aggd;
	int st;

	(void)argc;
	st = parse_id("show", argv[0], &id);
	if (st)
		return st;
	aggd = job_connect(opt.socket);
	if (!aggd)
		return ST_FAILED;
	answer = ask_job(aggd, "show", id, &st);
	if (answer)
		st = print_job(ctl, answer);
	json_decref(answer);
	fclose(aggd);
	return st;
}

/* Wait until nodes have no entry of the job, unless the caller does not want to. */
static int run_cancel(const struct aggctl *ctl, int argc, char **argv)
{
	json_t *answer, *waited;
	uint32_t id;
	FILE *aggd;
	int st;

	(void)argc;
	st = parse_id("cancel", argv[0], &id);
	if (st)
		return st;
	aggd = job_connect(opt.socket);
	if (!aggd)
		return ST_FAILED;
	answer = ask_job(aggd, "cancel", id, &st);
	if (json_object_get(answer, "store"))
		err("%s", text_of(answer, "store"));
	/* A job that has ended may be forgotten by then. */
	if (answer && !opt.no_wait &&
	    strcmp(text_of(json_object_get(answer, "job"), "state"), "ended")) {
		waited = ask_wait(aggd, id_of(answer), "ended", &st);
		json_decref(answer);
		answer = waited;
	}
	if (answer)
		st = print_submitted(ctl, json_object_get(answer, "job"));
	json_decref(answer);
	fclose(aggd);
	return st;
}

/* --- the command --------------------------------------------------------------------------- */

#define SOCKET_OPT \
	{ "socket", OPT_STRING, &opt.socket, "PATH", \
	  "where aggd listens (" SOCKET ")" }

static const struct opt submit_opts[] = {
	{ "kind", OPT_STRING, &opt.kind, "KIND",
	  "group: collectives of ranks; reduce: send and recv (group)" },
	{ "root", OPT_STRING, &opt.root, "V",
	  "server of rank 0, or of the only receiver" },
	{ "members", OPT_STRING, &opt.members, "LIST",
	  "servers of the other ranks, or of the senders: v2,v5*2,v9" },
	{ "receivers", OPT_STRING, &opt.receivers, "LIST",
	  "receivers of a reduce, if there are several" },
	{ "function", OPT_STRING, &opt.function, "F",
	  "as of 'aggctl plan'; of a group sum, min or max (sum)" },
	{ "type", OPT_STRING, &opt.type, "TYPE",
	  "int64, int32, fixed, float32 or float64 (int64)" },
	{ "scale", OPT_U32, &opt.scale, "BITS",
	  "fraction bits of fixed-point values" },
	{ "k", OPT_U32, &opt.k, "K", "pairs that topk and nearest keep" },
	{ "elements", OPT_U64, &opt.elements, "N",
	  "of a vector; of a group in one round (65536)" },
	{ "sorted", OPT_FLAG, &opt.sorted, NULL, "senders send keys in order" },
	{ "memory", OPT_SIZE, &opt.memory, "B",
	  "of each tree at a node, like 64K (as aggd is configured)" },
	{ "objective", OPT_STRING, &opt.objective, "O", "traffic or time (traffic)" },
	{ "time", OPT_WAIT, &opt.time_ms, "TIME",
	  "how long the job is in force (as aggd is configured)" },
	{ "attached", OPT_FLAG, &opt.attached, NULL,
	  "go on running; the job ends with this process" },
	{ "no-wait", OPT_FLAG, &opt.no_wait, NULL,
	  "do not wait until the job is in force" },
	SOCKET_OPT,
};

static const struct opt socket_opts[] = { SOCKET_OPT };

static const struct opt cancel_opts[] = {
	{ "no-wait", OPT_FLAG, &opt.no_wait, NULL,
	  "do not wait until its entries are withdrawn" },
	SOCKET_OPT,
};

static const struct verb verbs[] = {
	{
		.name = "submit",
		.args = "",
		.help = "have aggd plan a job and put it in force",
		.opts = submit_opts,
		.nopts = ARRAY_SIZE(submit_opts),
		.run = run_submit,
	},
	{
		.name = "list",
		.args = "",
		.help = "list the jobs of the caller; root lists all",
		.opts = socket_opts,
		.nopts = ARRAY_SIZE(socket_opts),
		.run = run_list,
	},
	{
		.name = "show",
		.args = "JOB",
		.help = "show a job",
		.min_args = 1,
		.max_args = 1,
		.opts = socket_opts,
		.nopts = ARRAY_SIZE(socket_opts),
		.run = run_show,
	},
	{
		.name = "cancel",
		.args = "JOB",
		.help = "end a job, and withdraw its entries",
		.min_args = 1,
		.max_args = 1,
		.opts = cancel_opts,
		.nopts = ARRAY_SIZE(cancel_opts),
		.run = run_cancel,
	},
};

const struct command cmd_job = {
	.name = "job",
	.help = "jobs of users, which aggd manages",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
