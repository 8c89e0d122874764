// SPDX-License-Identifier: GPL-2.0
/* aggctl describe: a description of a network from the reports of its hosts. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/hosts_options.h"
#include "host/describe.h"
#include "remote/ask.h"

static const struct verb verbs[];

static const char *identities, *without;
static bool all;
static struct hosts hosts = HOSTS_DEFAULT;

/**
 * struct reader - a file of reports
 * @f: the file
 * @lines: that were read
 */
struct reader {
	FILE *f;
	int lines;
};

static int read_byte(struct reader *r)
{
	int c = getc(r->f);

	r->lines += c == '\n';
	return c;
}

/* A report ends with its last byte: the parser gets no byte of the next one. */
static size_t give_byte(void *buffer, size_t len, void *data)
{
	int c = read_byte(data);

	(void)len;
	if (c == EOF)
		return 0;
	*(char *)buffer = (char)c;
	return 1;
}

/* A file may have one report after the other, or an array. */
static int add_reports(json_t *reports, FILE *f, const char *path)
{
	struct reader r = { .f = f };
	json_error_t error;
	json_t *json;
	int c, before;

	for (;;) {
		while ((c = read_byte(&r)) != EOF && strchr(" \t\r\n", c))
			;
		if (c == EOF)
			return ST_DONE;
		ungetc(c, f);
		before = r.lines;
		json = json_load_callback(give_byte, &r, JSON_DISABLE_EOF_CHECK,
					  &error);
		if (!json)
			return fail("%s: line %d: %s", path,
				    before + error.line, error.text);
		if (json_is_array(json))
			json_array_extend(reports, json);
		else
			json_array_append(reports, json);
		json_decref(json);
	}
}

static int read_reports(json_t *reports, const char *path)
{
	bool standard = !strcmp(path, "-");
	FILE *f = standard ? stdin : fopen(path, "re");
	int st;

	if (!f)
		return fail("%s: %s", path, strerror(errno));
	st = add_reports(reports, f, path);
	if (!st && ferror(f))
		st = fail("%s: cannot be read: %s", path, strerror(errno));
	if (!standard)
		fclose(f);
	return st;
}

/*
 * A host has the name of its line, whatever it is called: it reports a name that is never
 * refused. Without a report of each the network is another one.
 */
static int ask_reports(json_t *reports)
{
	json_t *asked = NULL, *row, *report;
	int st = ST_DONE;
	size_t i;

	if (!hosts_load(&hosts))
		asked = hosts_ask(&hosts, all ? "host report --name host --all" :
				  "host report --name host");
	json_array_foreach(asked, i, row) {
		report = json_object_get(row, "answer");
		if (!report)
			st = fail("describe: %s: %s",
				  json_string_value(json_object_get(row, "host")),
				  json_string_value(json_object_get(row, "error")));
		json_object_set(report, "name", json_object_get(row, "host"));
		json_array_append(reports, report);
	}
	if (!asked)
		st = ST_FAILED;
	json_decref(asked);
	hosts_free(&hosts);
	return st;
}

static int run_describe(const struct aggctl *ctl, int argc, char **argv)
{
	struct describe_range range = {};
	int i, st = hosts_options(ctl, verbs, &hosts);
	json_t *reports;

	if (st)
		return st;
	if (!argc == !hosts.file)
		return usage("describe: needs %s", verbs[0].args);
	if (all && !hosts.file)
		return usage("describe: --all: is for --hosts: 'aggctl host report --all' makes such a report");
	if (identities && describe_range(identities, &range))
		return ST_USAGE;
	reports = json_array();
	if (hosts.file)
		st = ask_reports(reports);
	for (i = 0; !st && i < argc; i++)
		st = read_reports(reports, argv[i]);
	if (!st)
		st = describe(stdout, reports, range, without);
	json_decref(reports);
	return st;
}

static const struct opt opts[] = {
	{ "identities", OPT_STRING, &identities, "SUBNET",
	  "gives identities to hosts with several ports" },
	{ "not", OPT_STRING, &without, "DEVICE,...",
	  "leave these devices of all hosts out" },
	{ "all", OPT_FLAG, &all, NULL,
	  "with --hosts: also devices that are not hardware, such as bridges" },
	HOSTS_OPTIONS(hosts),
};

static const struct verb verbs[] = {
	{
		.args = "REPORT... or --hosts",
		.help = "make a description of a network from reports of 'aggctl host report'",
		.max_args = 100000,
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_describe,
	},
};

const struct command cmd_describe = {
	.name = "describe",
	.help = "describe a network from what its hosts report",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
