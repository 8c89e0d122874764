// SPDX-License-Identifier: GPL-2.0
/* aggctl: the command table, and the path from argv to a verb. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aggctl.h"
#include "cmd.h"
#include "netns.h"

static const struct command * const commands[] = {
	&cmd_plan,
	&cmd_apply,
	&cmd_withdraw,
	&cmd_supervise,
	&cmd_testbed,
	&cmd_send,
	&cmd_recv,
	&cmd_host,
	&cmd_node,
	&cmd_port,
	&cmd_link,
	&cmd_tree,
	&cmd_stats,
	&cmd_monitor,
	&cmd_eval,
};

static void help_all(void)
{
	size_t i;

	puts("usage: aggctl [-j] [-n NETNS] COMMAND ...\n\ncommands:");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->help);
	puts("\noptions, before or after the command:\n"
	     "  -j, --json          print JSON\n"
	     "  -n, --netns NETNS   work in this network namespace\n"
	     "  -h, --help          print this, or the help of the command");
}

static void help_command(const struct command *cmd)
{
	size_t i;

	if (cmd->nverbs == 1 && !cmd->verbs[0].name) {
		options_help(cmd, &cmd->verbs[0]);
		return;
	}
	printf("usage: aggctl %s VERB ...\n\n%s.\n\nverbs:\n", cmd->name,
	       cmd->help);
	for (i = 0; i < cmd->nverbs; i++)
		printf("  %-8s %-28s %s\n", cmd->verbs[i].name,
		       cmd->verbs[i].args, cmd->verbs[i].help);
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static const struct verb *find_verb(const struct command *cmd,
				    const char *name)
{
	size_t i;

	for (i = 0; i < cmd->nverbs; i++)
		if (!strcmp(cmd->verbs[i].name, name))
			return &cmd->verbs[i];
	return NULL;
}

/* Options in front of a noun or a verb are the common ones only. */
static int common_options(struct aggctl *ctl, const char *name, int argc,
			  char **argv, int *next)
{
	static const struct verb none = { .max_args = -1 };
	const struct command cmd = { .name = name };

	return options_parse(ctl, &cmd, &none, argc, argv, next);
}

static int run_verb(struct aggctl *ctl, const struct command *cmd,
		    const struct verb *verb, int argc, char **argv)
{
	int first, st;

	st = options_parse(ctl, cmd, verb, argc, argv, &first);
	if (st)
		return st;
	if (!first) {
		options_help(cmd, verb);
		return ST_DONE;
	}
	if (ctl->netns && netns_enter(ctl->netns))
		return ST_FAILED;
	return verb->run(ctl, argc - first, argv + first);
}

static int run_command(struct aggctl *ctl, int argc, char **argv)
{
	const struct command *cmd = find_command(argv[0]);
	const struct verb *verb;
	int next, st;

	if (!cmd)
		return usage("unknown command '%s'; 'aggctl -h' lists all",
			     argv[0]);
	if (!cmd->verbs[0].name)
		return run_verb(ctl, cmd, &cmd->verbs[0], argc, argv);
	st = common_options(ctl, cmd->name, argc, argv, &next);
	if (st)
		return st;
	if (!next) {
		help_command(cmd);
		return ST_DONE;
	}
	if (next == argc)
		return usage("%s: needs a verb; see 'aggctl %s -h'", cmd->name,
			     cmd->name);
	verb = find_verb(cmd, argv[next]);
	if (!verb)
		return usage("%s: unknown verb '%s'; see 'aggctl %s -h'",
			     cmd->name, argv[next], cmd->name);
	return run_verb(ctl, cmd, verb, argc - next, argv + next);
}

/* Files that are opened later must not become standard output. */
static int hold_streams(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			return ST_FAILED;
	return ST_DONE;
}

int main(int argc, char **argv)
{
	struct aggctl ctl = {};
	int st, next;

	if (hold_streams())
		return ST_FAILED;
	st = common_options(&ctl, "options", argc, argv, &next);
	if (!st && !next)
		help_all();
	else if (!st && next == argc)
		st = usage("needs a command; 'aggctl -h' lists all");
	else if (!st)
		st = run_command(&ctl, argc - next, argv + next);
	if (fflush(stdout) || ferror(stdout)) {
		err("standard output: %s", strerror(errno));
		return st ? st : ST_FAILED;
	}
	return st;
}
