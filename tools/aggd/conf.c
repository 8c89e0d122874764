// SPDX-License-Identifier: GPL-2.0
/* Settings: a table of words, which are lines of the file and options. */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggnet.h"
#include "conf.h"
#include "etcd.h"

#ifndef AGGCTL_PATH
#define AGGCTL_PATH	"/usr/bin/aggctl"
#endif
#define OWN_BASE	256	/* of getopt_long(): above each letter */

struct conf conf = {
	.file = "/etc/aggnet/aggd.conf",
	.socket = "/run/aggnet/aggd.sock",
	.state = "/var/lib/aggnet",
	.aggctl = AGGCTL_PATH,
	.topology = "@/etc/aggnet/network",
	.jobs = 256,
	.user_jobs = 16,
	.queue = 1000,
	.node_memory = 256 << 20,
	.user_memory = 128 << 20,
	.memory = 4 << 20,
	.time = 3600 * 1000,
	.time_max = 24 * 3600 * 1000,
	.children = 8,
	.child_time = 300 * 1000,
	.retry = 1000,
	.connections = 256,
	.user_connections = 16,
	.idle = 60 * 1000,
	.history = 100,
	.first = 1000,
	.store = "file",
	.lease = 10 * 1000,
};

/**
 * struct word - a setting
 * @name: of the line and the option
 * @type: of the value
 * @dest: where it goes; NULL: the word is "allow"
 * @arg: name of the value in the help text
 * @help: one line
 * @positive: 0 is refused
 */
struct word {
	const char *name;
	enum opt_type type;
	void *dest;
	const char *arg;
	const char *help;
	bool positive;
};

static const struct word words[] = {
	{ "config", OPT_STRING, &conf.file, "FILE",
	  "settings (/etc/aggnet/aggd.conf)", false },
	{ "socket", OPT_STRING, &conf.socket, "PATH",
	  "where programs connect (/run/aggnet/aggd.sock)", false },
	{ "state", OPT_STRING, &conf.state, "DIR",
	  "jobs and the counter of IDs (/var/lib/aggnet)", false },
	{ "aggctl", OPT_STRING, &conf.aggctl, "PATH",
	  "program that plans and applies (" AGGCTL_PATH ")", false },
	{ "topology", OPT_STRING, &conf.topology, "T",
	  "as for 'aggctl plan' (@/etc/aggnet/network)", false },
	{ "hosts", OPT_STRING, &conf.hosts, "FILE",
	  "as for 'aggctl apply'; without it this host or a testbed", false },
	{ "ssh", OPT_STRING, &conf.ssh, "COMMAND", "as for 'aggctl apply'", false },
	{ "sudo", OPT_FLAG, &conf.sudo, NULL, "as for 'aggctl apply'", false },
	{ "allow", OPT_STRING, NULL, "USERS",
	  "users that may submit: 'all', 'user NAME' or 'group NAME' (root only)", false },
	{ "jobs", OPT_U32, &conf.jobs, "N",
	  "jobs in force at the same time (256)", true },
	{ "user-jobs", OPT_U32, &conf.user_jobs, "N",
	  "jobs of a user that have not ended (16)", true },
	{ "queue", OPT_U32, &conf.queue, "N", "jobs that wait (1000)", true },
	{ "node-memory", OPT_SIZE, &conf.node_memory, "BYTES",
	  "that all jobs may reserve at a node (256M)", true },
	{ "user-memory", OPT_SIZE, &conf.user_memory, "BYTES",
	  "of it that the jobs of a user may reserve (128M)", true },
	{ "memory", OPT_SIZE, &conf.memory, "BYTES",
	  "of a tree at a node, by default (4M)", true },
	{ "time", OPT_WAIT, &conf.time, "TIME",
	  "that a job is in force, by default (3600)", true },
	{ "time-max", OPT_WAIT, &conf.time_max, "TIME",
	  "the most that a job can ask for (86400)", true },
	{ "children", OPT_U32, &conf.children, "N",
	  "processes of aggctl at the same time (8)", true },
	{ "child-time", OPT_WAIT, &conf.child_time, "TIME",
	  "after which one is killed (300)", true },
	{ "retry", OPT_WAIT, &conf.retry, "TIME",
	  "until a failed withdrawal is tried again, at first (1)", true },
	{ "connections", OPT_U32, &conf.connections, "N",
	  "at the same time (256)", true },
	{ "user-connections", OPT_U32, &conf.user_connections, "N",
	  "of a user (16)", true },
	{ "idle", OPT_WAIT, &conf.idle, "TIME",
	  "after which a connection without a job is closed (60)", true },
	{ "history", OPT_U32, &conf.history, "N",
	  "jobs that have ended and are still shown (100)", false },
	{ "first", OPT_U32, &conf.first, "N",
	  "job ID that the counter begins with (1000)", true },
	{ "store", OPT_STRING, &conf.store, "WHERE",
	  "'file', or 'etcd URL,...' for several aggd (file)", false },
	{ "etcd-ca", OPT_STRING, &conf.etcd_ca, "FILE",
	  "certificates that those of etcd come from", false },
	{ "etcd-cert", OPT_STRING, &conf.etcd_cert, "FILE",
	  "certificate of this aggd for etcd", false },
	{ "etcd-key", OPT_STRING, &conf.etcd_key, "FILE",
	  "key of this certificate", false },
	{ "lease", OPT_WAIT, &conf.lease, "TIME",
	  "after which another aggd of the etcd leads (10)", true },
};

static int add_allowed(bool group, uint32_t id)
{
	struct allowed *more = reallocarray(conf.allowed, conf.n_allowed + 1,
					    sizeof(*more));

	if (!more)
		return -1;
	more[conf.n_allowed++] = (struct allowed){ .group = group, .id = id };
	conf.allowed = more;
	return 0;
}

/* USERS is "all", "user NAME" or "group NAME"; a name may be a number. */
static int allow(const char *users, struct text *why)
{
	const struct passwd *pw;
	const struct group *gr;
	uint32_t id;

	if (!strcmp(users, "all")) {
		conf.all = true;
		return 0;
	}
	if (!strncmp(users, "user ", 5)) {
		users += 5 + strspn(users + 5, " \t");
		pw = getpwnam(users);
		if (pw || value_parse(OPT_U32, users, &id))
			return add_allowed(false, pw ? pw->pw_uid : id);
		return text_set(why, "allow: no user '%s'", users);
	}
	if (!strncmp(users, "group ", 6)) {
		users += 6 + strspn(users + 6, " \t");
		gr = getgrnam(users);
		if (gr || value_parse(OPT_U32, users, &id))
			return add_allowed(true, gr ? gr->gr_gid : id);
		return text_set(why, "allow: no group '%s'", users);
	}
	return text_set(why, "allow: '%s' is not 'all', 'user NAME' or 'group NAME'",
			users);
}

static bool is_zero(const struct word *w)
{
	return w->type == OPT_SIZE ? !*(uint64_t *)w->dest :
				     !*(uint32_t *)w->dest;
}

static int set_word(const struct word *w, const char *value, struct text *why)
{
	if (!w->dest)
		return allow(value, why);
	if (w->type == OPT_STRING && *value) {
		value = strdup(value);
		if (!value)
			return text_set(why, "out of memory");
	}
	if (!value_parse(w->type, value, w->dest))
		return text_set(why, "%s: '%s' is not %s", w->name, value,
				value_kind(w->type));
	if (w->positive && is_zero(w))
		return text_set(why, "%s: must be more than 0", w->name);
	return 0;
}

static const struct word *find_word(const char *name, size_t len)
{
	size_t i;

	for (i = 1; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].name) == len &&
		    !strncmp(words[i].name, name, len))
			return &words[i];
	return NULL;
}

/* @line: "WORD VALUE", where "#" begins a comment */
static int read_line(char *line, struct text *why)
{
	const struct word *w;
	size_t len;

	line[strcspn(line, "#\n")] = 0;
	line += strspn(line, " \t");
	for (len = strlen(line); len && strchr(" \t\r", line[len - 1]); )
		line[--len] = 0;
	if (!len)
		return 0;
	len = strcspn(line, " \t");
	w = find_word(line, len);
	if (!w)
		return text_set(why, "unknown word '%.*s'", (int)len, line);
	line += len + strspn(line + len, " \t");
	if (w->type == OPT_FLAG && *line)
		return text_set(why, "%s: takes no value", w->name);
	if (w->type != OPT_FLAG && !*line)
		return text_set(why, "%s: needs a value", w->name);
	return set_word(w, line, why);
}

static int read_file(bool must_exist)
{
	FILE *f = fopen(conf.file, "re");
	unsigned int n = 0;
	struct text why;
	char *line = NULL;
	size_t size = 0;
	int err = 0;

	if (!f) {
		if (errno == ENOENT && !must_exist)
			return 0;
		note("%s: %s", conf.file, strerror(errno));
		return -1;
	}
	while (!err && getline(&line, &size, f) >= 0) {
		n++;
		err = read_line(line, &why);
	}
	if (err)
		note("%s: line %u: %s", conf.file, n, why.s);
	else if (ferror(f))
		err = text_set(&why, "read"), note("%s: cannot be read", conf.file);
	free(line);
	fclose(f);
	return err;
}

static void help(void)
{
	char left[64];
	size_t i;

	puts("usage: aggd [OPTIONS]\n\n"
	     "manage aggregation jobs of users that may not configure nodes.\n\n"
	     "options, which are also words of the lines of the configuration:");
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		snprintf(left, sizeof(left), "--%s%s%s", words[i].name,
			 words[i].arg ? " " : "",
			 words[i].arg ? words[i].arg : "");
		printf("  %-24s %s\n", left, words[i].help);
	}
	puts("  -h, --help               print this\n"
	     "  -V, --version            print the version");
}

static void long_table(struct option *table)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		table[i] = (struct option){
			.name = words[i].name,
			.has_arg = words[i].type == OPT_FLAG ?
				   no_argument : required_argument,
			.val = OWN_BASE + (int)i,
		};
	table[i++] = (struct option){ .name = "help", .val = 'h' };
	table[i] = (struct option){ .name = "version", .val = 'V' };
}

static int bad_option(int c, char **argv)
{
	note("%s %s; see 'aggd -h'", argv[optind - 1],
	     c == ':' ? "needs a value" : "is an unknown option");
	return ST_USAGE;
}

/* Read options; @files: only the one that names the file. Return: as conf_read() */
static int read_options(int argc, char **argv, bool files, bool *given)
{
	struct option table[ARRAY_SIZE(words) + 3] = {};
	struct text why;
	int c;

	long_table(table);
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, ":hV", table, NULL)) != -1) {
		if (c == 'h') {
			help();
			return ST_DONE;
		}
		if (c == 'V') {
			printf("aggd %s\n", AGGNET_LIBRARY_VERSION);
			return ST_DONE;
		}
		if (c == '?' || c == ':')
			return bad_option(c, argv);
		if (files != (c == OWN_BASE))
			continue;
		*given = true;
		if (set_word(&words[c - OWN_BASE],
			     words[c - OWN_BASE].arg ? optarg : "", &why)) {
			note("--%s", why.s);
			return ST_USAGE;
		}
	}
	if (optind == argc)
		return -1;
	note("'%s' is one argument too many", argv[optind]);
	return ST_USAGE;
}

/* Return: what is wrong with the words about certificates, or NULL */
static const char *check_certificates(void)
{
	if (!conf.etcd_cert != !conf.etcd_key)
		return "etcd-cert and etcd-key need each other";
	if ((conf.etcd_ca || conf.etcd_cert) &&
	    (!conf.etcd || strstr(conf.etcd, "http://")))
		return "etcd-ca and etcd-cert need 'store etcd' with https:// URLs";
	return NULL;
}

/* Return: what is wrong with "store", or NULL */
static const char *check_store(struct text *why)
{
	if (!strcmp(conf.store, "file"))
		return check_certificates();
	if (strncmp(conf.store, "etcd", 4) || !conf.store[4] ||
	    !strchr(" \t", conf.store[4]))
		return "store: must be 'file' or 'etcd URL,...'";
	conf.etcd = conf.store + 4 + strspn(conf.store + 4, " \t");
	return etcd_check(conf.etcd, why) ? why->s : check_certificates();
}

static int check(void)
{
	struct text why;
	const char *fault = check_store(&why);

	if (fault)
		;
	else if (conf.lease < 2000 || conf.lease > 3600 * 1000)
		fault = "lease: must be from 2 to 3600 seconds";
	else if (conf.aggctl[0] != '/')
		fault = "aggctl: the path must be absolute";
	else if (conf.time > conf.time_max)
		fault = "time: is more than time-max";
	else if ((conf.ssh || conf.sudo) && !conf.hosts)
		fault = "ssh and sudo need hosts";
	if (!fault)
		return -1;
	note("%s", fault);
	return ST_USAGE;
}

int conf_read(int argc, char **argv)
{
	bool given = false, any = false;
	int st = read_options(argc, argv, true, &given);

	if (st < 0 && read_file(given))
		st = ST_FAILED;
	if (st < 0)
		st = read_options(argc, argv, false, &any);
	return st < 0 ? check() : st;
}

bool conf_is_admin(uint32_t uid)
{
	return !uid || uid == geteuid();
}

bool conf_allows(uint32_t uid, const gid_t *gids, size_t n)
{
	size_t i, k;

	if (conf_is_admin(uid) || conf.all)
		return true;
	for (i = 0; i < conf.n_allowed; i++) {
		if (!conf.allowed[i].group && conf.allowed[i].id == uid)
			return true;
		for (k = 0; conf.allowed[i].group && k < n; k++)
			if (gids[k] == conf.allowed[i].id)
				return true;
	}
	return false;
}
