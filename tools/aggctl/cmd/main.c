// SPDX-License-Identifier: GPL-2.0
/* aggctl: the command table, and the path from argv to a verb. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "aggctl.h"
#include "aggnet.h"
#include "cmd/cmd.h"
#include "names.h"
#include "netns.h"

static const struct command * const commands[] = {
	&cmd_plan,
	&cmd_apply,
	&cmd_withdraw,
	&cmd_supervise,
	&cmd_testbed,
	&cmd_send,
	&cmd_recv,
	&cmd_bcast,
	&cmd_why,
	&cmd_job,
	&cmd_gen,
	&cmd_host,
	&cmd_node,
	&cmd_port,
	&cmd_probe,
	&cmd_link,
	&cmd_top,
	&cmd_tree,
	&cmd_stats,
	&cmd_monitor,
	&cmd_export,
	&cmd_describe,
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
	     "  -h, --help          print this, or the help of the command\n"
	     "\noption without a command:\n"
	     "  -V, --version       print the version\n"
	     "\nCommands and verbs may be shortened, as in 'aggctl tr sh'.");
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

/*
 * Names of commands and verbs may be shortened. Return: true: @name is meant, or
 * may be; @exact: it is not shortened
 */
static bool begins(const char *name, const char *text, bool *exact)
{
	*exact = !strcmp(name, text);
	return !strncmp(name, text, strlen(text));
}

/* NULL: there is none, or @several. */
static const struct command *find_command(const char *text, bool *several)
{
	const struct command *found = NULL;
	size_t i, n = 0;
	bool exact;

	*several = false;
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!begins(commands[i]->name, text, &exact))
			continue;
		if (exact)
			return commands[i];
		found = commands[i];
		n++;
	}
	*several = n > 1;
	return n == 1 ? found : NULL;
}

static const struct verb *find_verb(const struct command *cmd,
				    const char *text, bool *several)
{
	const struct verb *found = NULL;
	size_t i, n = 0;
	bool exact;

	*several = false;
	for (i = 0; i < cmd->nverbs; i++) {
		if (!begins(cmd->verbs[i].name, text, &exact))
			continue;
		if (exact)
			return &cmd->verbs[i];
		found = &cmd->verbs[i];
		n++;
	}
	*several = n > 1;
	/* As in ip(8). */
	if (!n && !strcmp(text, "list"))
		return find_verb(cmd, "show", several);
	return n == 1 ? found : NULL;
}

/* Options in front of a noun or a verb are the common ones only. */
static int common_options(struct aggctl *ctl, const char *name, int argc,
			  char **argv, int *next)
{
	static const struct verb none = { .max_args = -1 };
	const struct command cmd = { .name = name };

	return options_parse(ctl, &cmd, &none, argc, argv, next);
}

/* An unknown namespace is a wrong argument. Return: an exit status */
static int enter(const char *netns)
{
	if (!netns_enter(netns))
		return ST_DONE;
	return netns_exists(netns) ? ST_FAILED : ST_USAGE;
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
	st = ctl->netns ? enter(ctl->netns) : ST_DONE;
	if (st)
		return st;
	return verb->run(ctl, argc - first, argv + first);
}

static int run_command(struct aggctl *ctl, int argc, char **argv)
{
	const struct command *cmd;
	const struct verb *verb;
	bool several;
	int next, st;

	cmd = find_command(argv[0], &several);
	if (!cmd)
		return usage("%s command '%s'; 'aggctl -h' lists all",
			     several ? "ambiguous" : "unknown", argv[0]);
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
	verb = find_verb(cmd, argv[next], &several);
	if (!verb)
		return usage("%s: %s verb '%s'; see 'aggctl %s -h'", cmd->name,
			     several ? "ambiguous" : "unknown", argv[next],
			     cmd->name);
	return run_verb(ctl, cmd, verb, argc - next, argv + next);
}

/* "help COMMAND VERB" is "COMMAND VERB -h". */
static int run_help(struct aggctl *ctl, int argc, char **argv)
{
	const struct command *cmd;
	char option[] = "-h";
	char *words[4] = {};
	bool several;
	int n = 0;

	if (argc > 3)
		return usage("help: needs a command and a verb at most");
	while (n < argc - 1) {
		words[n] = argv[n + 1];
		n++;
	}
	if (!n) {
		help_all();
		return ST_DONE;
	}
	cmd = find_command(words[0], &several);
	if (n > 1 && cmd && !cmd->verbs[0].name)
		return usage("help: %s has no verb '%s'; see 'aggctl %s -h'",
			     cmd->name, words[1], cmd->name);
	words[n] = option;
	return run_command(ctl, n + 1, words);
}

static bool is_version(const char *word)
{
	return !strcmp(word, "-V") || !strcmp(word, "--version");
}

static int show_version(void)
{
	printf("aggctl %s, wire revision %d\n", AGGNET_LIBRARY_VERSION,
	       AGGNET_VERSION);
	return ST_DONE;
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

static int run_line(struct aggctl *ctl, int argc, char **argv)
{
	int st, next;

	if (argc == 2 && is_version(argv[1]))
		return show_version();
	st = common_options(ctl, "options", argc, argv, &next);
	if (st)
		return st;
	if (!next) {
		help_all();
		return ST_DONE;
	}
	if (next == argc)
		return usage("needs a command; 'aggctl -h' lists all");
	argc -= next;
	argv += next;
	return !strcmp(argv[0], "help") ? run_help(ctl, argc, argv) :
					  run_command(ctl, argc, argv);
}

int main(int argc, char **argv)
{
	struct aggctl ctl = {};
	int st;

	if (hold_streams())
		return ST_FAILED;
	err_names(names_add);
	st = run_line(&ctl, argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		err("standard output: %s", strerror(errno));
		return st ? st : ST_FAILED;
	}
	return st;
}
