// SPDX-License-Identifier: GPL-2.0
/* aggctl host: this host in a described network. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "host/host.h"
#include "host/node_check.h"
#include "host/report.h"
#include "host/sockets.h"
#include "names.h"
#include "output.h"

static const char *network;
static const char *name;
static bool run_them, all;

static int show(const struct aggctl *ctl, const struct host *host)
{
	const char *self = plan_server_name(&host->plan, host->server);
	size_t i, n = json_array_size(host->missing);

	if (ctl->json)
		return out_json(json_pack("{s:s, s:I, s:O}", "host", self,
					  "settings",
					  (json_int_t)host->checked, "missing",
					  host->missing));
	printf("# %s: %zu of %zu settings are missing\n", self, n,
	       host->checked);
	for (i = 0; i < n; i++)
		puts(json_string_value(json_array_get(host->missing, i)));
	return ST_DONE;
}

/* Until one fails: the next ones need it. */
static int run_all(const struct host *host)
{
	const char *command;
	size_t i;
	int st;

	for (i = 0; i < json_array_size(host->missing); i++) {
		command = json_string_value(json_array_get(host->missing, i));
		fflush(stdout);
		st = system(command);
		if (st)
			return fail("host: '%s' failed", command);
	}
	return ST_DONE;
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

static int run_report(const struct aggctl *ctl, int argc, char **argv)
{
	json_t *report = host_report(name, all);

	(void)ctl;
	(void)argc;
	(void)argv;
	return report ? out_json(report) : ST_FAILED;
}

static const struct column check_cols[] = {
	{ "ok", "ok" }, { "what", "what" }, { "finding", "finding" },
	{ "fix", "next" },
};

/* The findings of text have the names of hosts. */
static void name_hosts(json_t *rows)
{
	json_t *row;
	char *text;
	size_t i;

	json_array_foreach(rows, i, row) {
		text = names_add(json_string_value(json_object_get(row,
								   "finding")));
		if (text)
			json_object_set_new(row, "finding", json_string(text));
		free(text);
	}
}

/**
 * cmd_host_check() - aggctl host check, and its older name, aggctl node check
 * @ctl: options of the command line
 * @argc: 0
 * @argv: nothing
 *
 * Return: an exit status
 */
int cmd_host_check(const struct aggctl *ctl, int argc, char **argv)
{
	bool good;
	json_t *rows = node_check(&good);
	int st;

	(void)argc;
	(void)argv;
	if (!ctl->json)
		name_hosts(rows);
	/* Without a fault there is nothing next. */
	st = out_table(ctl, check_cols, ARRAY_SIZE(check_cols) - good, rows);
	return st ? st : good ? ST_DONE : ST_FAILED;
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
		.args = "",
		.help = "find what on this host, or on its links, would stop forwarding or fallback",
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
