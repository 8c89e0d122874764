// SPDX-License-Identifier: GPL-2.0
/* Command lines against a verb's table of options, and its help text. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "info.h"

/* getopt_long() values of a verb's own options start above every letter. */
#define OWN_BASE	256
#define LETTERS_MAX	32

static const struct option common_opts[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "netns", required_argument, NULL, 'n' },
	{ "help", no_argument, NULL, 'h' },
};

static const char *full_name(const struct command *cmd,
			     const struct verb *verb)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s%s%s", cmd->name,
		 verb->name ? " " : "", verb->name ? verb->name : "");
	return name;
}

/* The values that a field of the ABI takes. */
static void help_values(const struct aggnet_field *f)
{
	static const char * const kinds[] = {
		[AGGNET_FIELD_U8] = "NUMBER", [AGGNET_FIELD_U16] = "NUMBER",
		[AGGNET_FIELD_U32] = "NUMBER", [AGGNET_FIELD_U64] = "NUMBER",
		[AGGNET_FIELD_ADDR] = "ADDRESS",
		[AGGNET_FIELD_ADDRS] = "ADDRESS,...",
		[AGGNET_FIELD_STRING] = "TEXT", [AGGNET_FIELD_BYTES] = "HEX",
		[AGGNET_FIELD_BLOB] = "HEX",
	};
	size_t i;

	if (f->kind != AGGNET_FIELD_ENUM) {
		puts(kinds[f->kind]);
		return;
	}
	for (i = 0; f->names[i]; i++)
		printf("%s%s", i ? "|" : "", f->names[i]);
	putchar('\n');
}

static void help_names(const struct aggnet_noun *noun)
{
	const struct aggnet_field *f;

	puts("\nnames:");
	for (f = noun->field; f < noun->field + noun->n; f++) {
		/* The halves of an incast ID are options. */
		if (f->answer || f->kind == AGGNET_FIELD_FLAG ||
		    !strcmp(f->name, "incast_id"))
			continue;
		printf("  %-22s ", f->name);
		help_values(f);
	}
}

/* The letter of an option, or 0. */
static char letter_of(const struct verb *verb, size_t i)
{
	return verb->letters && i < strlen(verb->letters) ? verb->letters[i] : 0;
}

/**
 * options_help() - print the usage and options of a verb
 * @cmd: its noun
 * @verb: the verb
 */
void options_help(const struct command *cmd, const struct verb *verb)
{
	char left[64], letter[] = "-x, ";
	size_t i;

	printf("usage: aggctl %s [OPTIONS]%s%s\n\n%s.\n\noptions:\n",
	       full_name(cmd, verb), *verb->args ? " " : "", verb->args,
	       verb->help);
	for (i = 0; i < verb->nopts; i++) {
		const struct opt *o = &verb->opts[i];

		letter[1] = letter_of(verb, i);
		snprintf(left, sizeof(left), "%s--%s%s%s",
			 letter[1] ? letter : "", o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		printf("  %-22s %s\n", left, o->help);
	}
	printf("  %-22s %s\n", "-j, --json", "print JSON");
	printf("  %-22s %s\n", "-n, --netns NETNS",
	       "work in this network namespace");
	printf("  %-22s %s\n", "-h, --help", "print this");
	if (verb->names)
		help_names(verb->names);
}

static struct option *long_table(const struct verb *verb)
{
	const size_t ncommon = ARRAY_SIZE(common_opts);
	struct option *table;
	size_t i;

	table = calloc(ncommon + verb->nopts + 1, sizeof(*table));
	if (!table)
		return NULL;
	memcpy(table, common_opts, sizeof(common_opts));
	for (i = 0; i < verb->nopts; i++) {
		struct option *t = &table[ncommon + i];

		t->name = verb->opts[i].name;
		t->has_arg = verb->opts[i].type == OPT_FLAG ?
			     no_argument : required_argument;
		t->val = OWN_BASE + (int)i;
	}
	return table;
}

/* The index of an option by what getopt_long() returns for it. */
static size_t own_index(const struct verb *verb, int c)
{
	return c < OWN_BASE ? (size_t)(strchr(verb->letters, c) - verb->letters) :
			      (size_t)(c - OWN_BASE);
}

static int bad_option(const struct command *cmd, const struct verb *verb,
		      int c, char **argv)
{
	const char *what = c == ':' ? "needs a value" : "is an unknown option";

	/* optopt is 0 for an unknown long option, else the value or letter. */
	if (optopt > 0 && optopt < OWN_BASE && argv[optind - 1][1] != '-')
		return usage("%s: -%c %s", full_name(cmd, verb), optopt, what);
	return usage("%s: %s %s", full_name(cmd, verb), argv[optind - 1], what);
}

static int take(struct aggctl *ctl, const struct command *cmd,
		const struct verb *verb, int c)
{
	const struct opt *o;
	size_t i;

	switch (c) {
	case 'j':
		ctl->json = true;
		return ST_DONE;
	case 'n':
		if (value_parse(OPT_STRING, optarg, &ctl->netns))
			return ST_DONE;
		return usage("%s: --netns: '' is not %s", full_name(cmd, verb),
			     value_kind(OPT_STRING));
	}
	i = own_index(verb, c);
	ctl->given |= 1ULL << i;
	o = &verb->opts[i];
	if (value_parse(o->type, optarg, o->dest))
		return ST_DONE;
	return usage("%s: --%s: '%s' is not %s", full_name(cmd, verb), o->name,
		     optarg, value_kind(o->type));
}

/**
 * options_parse() - parse the command line of a verb
 * @ctl: gets the options that all commands share
 * @cmd: the noun
 * @verb: the verb
 * @argc: length of @argv
 * @argv: the command line, its first element is not looked at
 * @first: index of the first positional argument, 0 if help is asked for
 *
 * Return: ST_DONE or ST_USAGE, then an error line is out.
 */
int options_parse(struct aggctl *ctl, const struct command *cmd,
		  const struct verb *verb, int argc, char **argv, int *first)
{
	char letters[LETTERS_MAX];
	struct option *table = long_table(verb);
	int c, st = ST_DONE;

	if (!table)
		return fail("out of memory");
	*first = 0;
	opterr = 0;
	optind = 0;
	/* Where any number of arguments follows, they are a command with its options. */
	snprintf(letters, sizeof(letters), "%s:jn:h%s",
		 verb->max_args < 0 ? "+" : "", verb->letters ? verb->letters : "");
	while (!st && (c = getopt_long(argc, argv, letters, table,
				       NULL)) != -1) {
		if (c == 'h')
			goto out;
		if (c == '?' || c == ':')
			st = bad_option(cmd, verb, c, argv);
		else
			st = take(ctl, cmd, verb, c);
	}
	if (st)
		goto out;
	if (argc - optind < verb->min_args)
		st = usage("%s: needs %s", full_name(cmd, verb), verb->args);
	else if (verb->max_args >= 0 && argc - optind > verb->max_args)
		st = usage("%s: '%s' is one argument too many",
			   full_name(cmd, verb),
			   argv[optind + verb->max_args]);
	*first = optind;
out:
	free(table);
	return st;
}

static bool is_one_of(const char *name, const char * const *names)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

/**
 * options_utf8() - check a value that goes into JSON, which has no other text
 * @verb: its full name
 * @option: without the dashes
 * @value: NULL: the option was not given
 *
 * Return: ST_DONE or ST_USAGE, then an error line is out.
 */
int options_utf8(const char *verb, const char *option, const char *value)
{
	if (value && !info_is_utf8(value))
		return usage("%s: the value of --%s is not UTF-8", verb, option);
	return ST_DONE;
}

/**
 * options_has() - whether an option is on the command line
 * @ctl: knows what is on it
 * @verb: the verb
 * @name: of the option
 */
bool options_has(const struct aggctl *ctl, const struct verb *verb,
		 const char *name)
{
	size_t i;

	for (i = 0; i < verb->nopts; i++)
		if ((ctl->given >> i & 1) && !strcmp(verb->opts[i].name, name))
			return true;
	return false;
}

/**
 * options_beside() - find an option on the command line that is not in a list
 * @ctl: the command line
 * @verb: the verb, which has at most 64 options
 * @names: of the options that may be there, the last one is NULL
 *
 * Return: the first one's name, or NULL.
 */
const char *options_beside(const struct aggctl *ctl, const struct verb *verb,
			   const char * const *names)
{
	size_t i;

	for (i = 0; i < verb->nopts; i++)
		if ((ctl->given >> i & 1) &&
		    !is_one_of(verb->opts[i].name, names))
			return verb->opts[i].name;
	return NULL;
}
