/* SPDX-License-Identifier: GPL-2.0 */
/* The types of the command table, and its commands, each in cmd_NAME.c. */
#ifndef AGGCTL_CMD_H
#define AGGCTL_CMD_H

#include "aggctl.h"
#include "aggnet.h"

/**
 * struct opt - one option of a verb
 * @name: long name, without the dashes
 * @type: how the value is parsed and what @dest points to
 * @dest: where the value goes
 * @arg: name of the value in help texts (NULL for a flag)
 * @help: one line
 */
struct opt {
	const char *name;
	enum opt_type type;
	void *dest;
	const char *arg;
	const char *help;
};

/**
 * struct verb - one thing that a noun can do
 * @name: word after the noun; NULL if the noun is the whole command
 * @args: positional arguments, as help texts show them
 * @help: one line
 * @min_args: least number of positional arguments
 * @max_args: most of them; -1 means that options end at the first one and
 *	any number may follow
 * @opts: options of its own
 * @nopts: how many
 * @letters: short names of the first ones, which are flags; NULL: they have none
 * @names: of the positional arguments NAME VALUE, NULL: there are none
 * @run: does it; returns an exit status
 */
struct verb {
	const char *name;
	const char *args;
	const char *help;
	int min_args;
	int max_args;
	const struct opt *opts;
	size_t nopts;
	const char *letters;
	const struct aggnet_noun *names;
	int (*run)(const struct aggctl *ctl, int argc, char **argv);
};

/**
 * struct command - one noun of the command line
 * @name: the noun
 * @help: one line
 * @verbs: what it can do
 * @nverbs: how many
 */
struct command {
	const char *name;
	const char *help;
	const struct verb *verbs;
	size_t nverbs;
};

extern const struct command cmd_apply;
extern const struct command cmd_describe;
extern const struct command cmd_eval;
extern const struct command cmd_export;
extern const struct command cmd_gen;
extern const struct command cmd_host;
extern const struct command cmd_job;
extern const struct command cmd_link;
extern const struct command cmd_monitor;
extern const struct command cmd_node;
extern const struct command cmd_plan;
extern const struct command cmd_port;
extern const struct command cmd_probe;
extern const struct command cmd_bcast;
extern const struct command cmd_recv;
extern const struct command cmd_send;
extern const struct command cmd_stats;
extern const struct command cmd_supervise;
extern const struct command cmd_testbed;
extern const struct command cmd_top;
extern const struct command cmd_tree;
extern const struct command cmd_why;
extern const struct command cmd_withdraw;

/* cmd_host.c */
int cmd_host_check(const struct aggctl *ctl, int argc, char **argv);

/* options.c */
int options_parse(struct aggctl *ctl, const struct command *cmd,
		  const struct verb *verb, int argc, char **argv, int *first);
void options_help(const struct command *cmd, const struct verb *verb);
int options_utf8(const char *verb, const char *option, const char *value);
bool options_has(const struct aggctl *ctl, const struct verb *verb,
		 const char *name);
const char *options_beside(const struct aggctl *ctl, const struct verb *verb,
			   const char * const *names);

#endif
