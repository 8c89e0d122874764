// SPDX-License-Identifier: GPL-2.0
/* aggctl host: this host in a described network. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/plan_find.h"
#include "host/describe.h"
#include "host/host.h"
#include "host/node_check.h"
#include "host/report.h"
#include "host/sockets.h"
#include "info.h"
#include "names.h"
#include "output.h"

static const char *network;
static const char *name;
static bool run_them, all;

/* As comments: a shell that executes the output must not execute these. */
static void show_advice(const json_t *list)
{
	const json_t *advice;
	const char *command;
	size_t i;

	json_array_foreach(list, i, advice) {
		command = json_string_value(json_object_get(advice, "command"));
		printf("# for you to decide: %s\n",
		       json_string_value(json_object_get(advice, "finding")));
		if (*command)
			printf("#     %s\n", command);
	}
}

static int show(const struct aggctl *ctl, const struct host *host)
{
	const char *self = plan_server_name(&host->plan, host->server);
	size_t i, n = json_array_size(host->missing);

	if (ctl->json)
		return out_json(json_pack("{s:s, s:I, s:O, s:O}", "host", self,
					  "settings",
					  (json_int_t)host->checked, "missing",
					  host->missing, "advice",
					  host->advice));
	printf("# %s: %zu of %zu settings are missing\n", self, n,
	       host->checked);
	for (i = 0; i < n; i++)
		puts(json_string_value(json_array_get(host->missing, i)));
	show_advice(host->advice);
	return ST_DONE;
}

/* All of them, so that one device without a cable does not cost the other ones. */
static int run_all(const struct host *host)
{
	const char *command;
	int st = ST_DONE;
	size_t i;

	for (i = 0; i < json_array_size(host->missing); i++) {
		command = json_string_value(json_array_get(host->missing, i));
		fflush(stdout);
		if (system(command))
			st = fail("host: '%s' failed", command);
	}
	return st;
}

static int run_init(const struct aggctl *ctl, int argc, char **argv)
{
	struct host host;
	int st;

	(void)argc;
	(void)argv;
	if (!network)
		return usage("host init: needs --topology");
	st = host_open(&host, network, name);
	if (!st)
		st = host_look(&host) ? ST_FAILED : show(ctl, &host);
	if (st == ST_DONE && run_them)
		st = run_all(&host);
	host_close(&host);
	return st;
}

/* A name that describe refuses is of no use. Return: an exit status */
static int check_name(const char *self)
{
	if (name)
		return options_utf8("host report", "name", name) ?
		       ST_USAGE : describe_name(name, true);
	if (!info_is_utf8(self))
		return usage("host: the name of this host is not UTF-8: --name gives another one");
	return describe_name(self, false);
}

static int run_report(const struct aggctl *ctl, int argc, char **argv)
{
	const char *self = name ? name : host_own_name();
	json_t *report;

	(void)ctl;
	(void)argc;
	(void)argv;
	if (check_name(self))
		return ST_USAGE;
	report = host_report(self, all);
	return report ? out_json(report) : ST_FAILED;
}

static const struct column check_cols[] = {
	{ "ok", "ok" }, { "what", "what" }, { "finding", "finding" },
	{ "fix", "next" }, { "host", "host" },
};

/* What only failures need; the last columns. */
#define FAILURE_COLS	2

/* The findings of text have the names of hosts. */
static void name_hosts(json_t *rows)
{
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		names_put(row, "finding");
		if (json_is_true(json_object_get(row, "note")))
			json_object_set_new(row, "ok", json_string("note"));
	}
}

/* The file's name as a shell takes it. */
static const char *plain_path(const char *path)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/-";

	return *path == '-' || path[strspn(path, plain)] ? "PLAN.json" : path;
}

/* What is wrong with an entry or a link of a plan. */
static const char *part_fault(bool link, bool there)
{
	if (link)
		return there ? "it has not the name that the plan gives it, so packets of the plan leave by plain IP" :
			       "there is none, so packets of the plan leave by plain IP";
	return there ? "the one in force is not of this plan" :
		       "there is none: this host merges nothing of it";
}

/* host init replaces wrong names of links; else the user has to know which link it is. */
static json_t *part_fix(bool link, bool there, const char *path)
{
	if (link && there)
		return json_string(names_init("aggctl link show"));
	return json_sprintf("aggctl apply %s%s", there ? "--replace " : "",
			    plain_path(path));
}

static json_t *part_row(const json_t *part, const char *path, const char *self)
{
	const char *text = json_string_value(json_object_get(part, "entry"));
	bool there = json_is_true(json_object_get(part, "there"));
	bool same = json_is_true(json_object_get(part, "same"));
	bool link = json_is_true(json_object_get(part, "link"));

	return json_pack("{s:b, s:s, s:o, s:o, s:s}", "ok", same,
			 "what", link ? "link" : "entry",
			 "finding", json_sprintf("%s: %s", text, same ?
			 "it is in force" : part_fault(link, there)),
			 "fix", same ? json_null() : part_fix(link, there, path),
			 "host", self);
}

/* A row for each entry and link that a plan has for this host. Return: 0 or -1 */
static int check_entries(struct plan_file *file, const char *path, json_t *rows,
			 bool *good)
{
	const char *self = plan_file_own(file, "");
	json_t *entries = NULL, *entry;
	struct node node = {};
	size_t i;

	if (self && !plan_file_select(file, self) &&
	    !node_open(&node, self, NULL) &&
	    !node_ports(&node, json_object_get(file->part[0].entry, "ports"),
			NODE_ATTACH_NONE))
		entries = plan_part_compare(&node, file->part[0].entry);
	json_array_foreach(entries, i, entry) {
		json_array_append_new(rows, part_row(entry, path, self));
		*good &= json_is_true(json_object_get(entry, "same"));
	}
	node_close(&node);
	if (!entries)
		return -1;
	json_decref(entries);
	return 0;
}

/**
 * cmd_host_check() - aggctl host check, and its older name, aggctl node check
 * @ctl: options of the command line
 * @argc: number of arguments: 0, or 1 for a plan that has to be in force
 * @argv: its file
 *
 * Return: an exit status
 */
int cmd_host_check(const struct aggctl *ctl, int argc, char **argv)
{
	struct plan_file file = {};
	int st, missing = 0;
	json_t *rows;
	bool good;

	if (argc && plan_file_load(&file, argv[0]))
		return ST_FAILED;
	rows = node_check(&good);
	if (argc)
		missing = check_entries(&file, argv[0], rows, &good);
	if (!ctl->json)
		name_hosts(rows);
	/* Without a fault there is nothing next. */
	st = out_table(ctl, check_cols, ARRAY_SIZE(check_cols) -
		       (good ? FAILURE_COLS : 0), rows);
	plan_file_free(&file);
	return st ? st : good && !missing ? ST_DONE : ST_FAILED;
}

static const struct column socket_cols[] = {
	{ "pid", "PID" }, { "command", "command" }, { "user", "user" },
	{ "fd", "fd" },
};

static int run_sockets(const struct aggctl *ctl, int argc, char **argv)
{
	size_t unseen;
	json_t *rows = host_sockets(&unseen);

	(void)argc;
	(void)argv;
	if (!rows)
		return ST_FAILED;
	if (unseen)
		err("host sockets: %zu processes of other users are not seen without CAP_SYS_PTRACE",
		    unseen);
	return out_table(ctl, socket_cols, ARRAY_SIZE(socket_cols), rows);
}

static const struct opt report_opts[] = {
	{ "name", OPT_STRING, &name, "NAME", "of this host [its host name]" },
	{ "all", OPT_FLAG, &all, NULL,
	  "also devices that are not hardware: bridges, veth, ..." },
};

static const struct opt opts[] = {
	{ "topology", OPT_STRING, &network, "T",
	  "the network: @FILE describes it" },
	{ "host", OPT_STRING, &name, "NAME",
	  "this host's name there (found by its addresses)" },
	{ "run", OPT_FLAG, &run_them, NULL, "execute the commands, too" },
};

static const struct verb verbs[] = {
	{
		.name = "init",
		.args = "",
		.help = "print the commands that this host lacks to be a server of a network",
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_init,
	}, {
		.name = "check",
		.args = "[PLAN.json]",
		.help = "find what on this host, or on its links, would stop forwarding or fallback",
		.max_args = 1,
		.run = cmd_host_check,
	}, {
		.name = "report",
		.args = "",
		.help = "print name, devices and addresses of this host as JSON, for 'aggctl describe'",
		.opts = report_opts,
		.nopts = ARRAY_SIZE(report_opts),
		.run = run_report,
	}, {
		.name = "sockets",
		.args = "",
		.help = "list the processes whose sockets keep the module in use",
		.run = run_sockets,
	},
};

const struct command cmd_host = {
	.name = "host",
	.help = "this host in a described network",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
