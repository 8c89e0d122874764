// SPDX-License-Identifier: GPL-2.0
/* aggctl apply and withdraw: a plan into its nodes, and out of them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/apply_hosts.h"
#include "cmd/cmd.h"
#include "cmd/hosts_options.h"
#include "cmd/plan_find.h"
#include "netns.h"
#include "output.h"
#include "plan/plan_apply.h"
#include "plan/plan_store.h"
#include "supervise/presence.h"
#include "testbed/testbed.h"

/* For so long a supervisor is waited for; it may be in the middle of a repair. */
#define END_TRIES	500
#define END_WAIT_NS	20000000
#define END_AGAIN	50

static const struct verb apply_verbs[], withdraw_verbs[];

static const char *one_node;
static bool replace, force, held, supervised, if_exists;
static struct hosts hosts = HOSTS_DEFAULT;

static size_t entries_of(const struct plan_part *part)
{
	return json_array_size(json_object_get(part->entry, "trees"));
}

/* "1 entry on 1 node" */
static void print_sum(size_t entries, size_t nodes)
{
	printf("%zu %s on %zu node%s", entries, entries == 1 ? "entry" : "entries",
	       nodes, nodes == 1 ? "" : "s");
}

static json_t *part_json(const struct plan_part *part)
{
	const json_t *links = json_object_get(part->entry, "links");

	return json_pack("{s:s, s:I, s:I}", "node", part->name,
			 "trees", (json_int_t)entries_of(part),
			 "links", (json_int_t)json_array_size(links));
}

static int show_parts(const struct aggctl *ctl, const struct plan_file *file,
		      const char *done)
{
	json_t *rows = json_array();
	size_t i, entries = 0;

	for (i = 0; i < file->n; i++) {
		entries += entries_of(&file->part[i]);
		json_array_append_new(rows, part_json(&file->part[i]));
	}
	if (ctl->json)
		return out_json(rows);
	json_decref(rows);
	printf("%s: ", done);
	print_sum(entries, file->n);
	putchar('\n');
	return ST_DONE;
}

/**
 * struct word - what hosts have done with a plan
 * @done: of a host that has changed
 * @not: of one that has not
 */
struct word {
	const char *done;
	const char *not;
};

static const struct word word_apply = { "applied", "already in force" };
static const struct word word_withdraw = { "withdrawn", "not in force" };

static size_t said_entries(const struct plan_file *file, size_t i,
			   const struct host_said *said,
			   const struct word *word)
{
	return word == &word_withdraw ? said[i].entries :
					entries_of(&file->part[i]);
}

static int show_hosts_json(const struct plan_file *file,
			   const struct host_said *said,
			   const struct word *word)
{
	json_t *rows = json_array(), *row;
	size_t i;

	for (i = 0; i < file->n; i++) {
		row = part_json(&file->part[i]);
		json_object_set_new(row, "said", json_string(said[i].changed ?
							     word->done :
							     word->not));
		json_object_set_new(row, "entries", json_integer((json_int_t)
				    said_entries(file, i, said, word)));
		json_array_append_new(rows, row);
	}
	return out_json(rows);
}

/* The last line has the sums of what the hosts have said. */
static void show_sums(const struct plan_file *file,
		      const struct host_said *said, const struct word *word)
{
	size_t i, entries[2] = {}, nodes[2] = {};

	for (i = 0; i < file->n; i++) {
		entries[said[i].changed] += said_entries(file, i, said, word);
		nodes[said[i].changed]++;
	}
	if (nodes[1]) {
		printf("%s: ", word->done);
		print_sum(entries[1], nodes[1]);
	}
	if (nodes[0])
		printf("%s%s: ", nodes[1] ? "; " : "", word->not);
	if (nodes[0] && word == &word_withdraw)
		printf("nothing of the plan was left on %zu node%s", nodes[0],
		       nodes[0] == 1 ? "" : "s");
	else if (nodes[0])
		print_sum(entries[0], nodes[0]);
	putchar('\n');
}

/* A line for each host, and one for all. */
static int show_hosts(const struct aggctl *ctl, const struct plan_file *file,
		      const struct host_said *said, const struct word *word)
{
	size_t i, n;

	if (ctl->json)
		return show_hosts_json(file, said, word);
	for (i = 0; i < file->n; i++) {
		n = said_entries(file, i, said, word);
		printf("%s: %s", file->part[i].name,
		       said[i].changed ? word->done : word->not);
		if (n)
			printf(", %zu %s", n, n == 1 ? "entry" : "entries");
		putchar('\n');
	}
	show_sums(file, said, word);
	return ST_DONE;
}

/* Return: an exit status. */
static int put_on_hosts(const struct aggctl *ctl, const struct plan_file *file)
{
	struct host_said *said = calloc(file->n + 1, sizeof(*said));
	int st = ST_FAILED;
	char options[32];

	snprintf(options, sizeof(options), "%s%s", replace ? " --replace" : "",
		 force ? " --force" : "");
	if (!said)
		st = fail("out of memory");
	else if (!plan_file_addressed(file) && !hosts_load(&hosts) &&
		 !apply_hosts(file, &hosts, options, said))
		st = show_hosts(ctl, file, said, &word_apply);
	free(said);
	return st;
}

/* Return: an exit status. */
static int put_in_force(const struct aggctl *ctl, struct plan_file *file)
{
	struct plan_install how = { .replace = replace, .unchecked = force };
	int st;

	st = plan_file_find(file, ctl->netns, one_node, &how.in_testbed);
	if (!st && plan_install(file, &how))
		st = ST_FAILED;
	return st ? st : show_parts(ctl, file, how.changes ? word_apply.done :
							     word_apply.not);
}

static int check_options(const struct aggctl *ctl, const struct verb *verb)
{
	int st = hosts_options(ctl, verb, &hosts);

	if (st)
		return st;
	if (supervised && !hosts.file && !held)
		return usage("--supervised needs --hosts");
	if (hosts.file && (one_node || ctl->netns || held))
		return usage("--hosts is for all hosts of the plan, not for one node");
	if (held && !one_node)
		return usage("--held needs --node");
	return ST_DONE;
}

static int run_apply(const struct aggctl *ctl, int argc, char **argv)
{
	struct plan_install how = { .replace = replace, .unchecked = force };
	int st = check_options(ctl, apply_verbs);
	struct plan_file file;

	(void)argc;
	if (st)
		return st;
	if (held)
		return apply_held(ctl->netns, one_node, &how) ? ST_FAILED :
								ST_DONE;
	st = ST_FAILED;
	if (!plan_file_load(&file, argv[0]))
		st = hosts.file ? put_on_hosts(ctl, &file) :
				  put_in_force(ctl, &file);
	plan_file_free(&file);
	hosts_free(&hosts);
	return st;
}

/* Any entry of the plan: all have its identity. */
static json_t *any_entry(const json_t *json)
{
	const char *name;
	json_t *node, *entry, *any;

	json_object_foreach(json_object_get(json, "nodes"), name, node) {
		entry = json_array_get(json_object_get(node, "trees"), 0);
		if (!entry)
			continue;
		/* The device that it names need not be there. */
		any = json_copy(entry);
		json_object_del(any, "link_port");
		return any;
	}
	return NULL;
}

/* Repairs of the plan may have used nodes that its file does not know. */
static int sweep(const struct plan_file *file, const json_t *state)
{
	json_t *entry = any_entry(file->json), *node;
	const char *name;
	struct node n;
	int ret = 0;
	size_t i;

	json_array_foreach(json_object_get(state, "nodes"), i, node) {
		name = json_string_value(json_object_get(node, "name"));
		if (!entry || !name || !netns_exists(name))
			continue;
		if (node_open(&n, name, name) || plan_part_sweep(&n, entry))
			ret = -1;
		node_close(&n);
	}
	json_decref(entry);
	return ret;
}

static int sweep_testbed(const struct plan_file *file)
{
	json_t *state = tb_state_load();
	int ret = state ? sweep(file, state) : -1;

	json_decref(state);
	return ret;
}

static int withdraw_part(const struct plan_part *part, bool in_testbed,
			 unsigned int *missing)
{
	struct node node;
	int ret = 0;

	if (node_open(&node, part->name, in_testbed ? part->name : NULL) ||
	    plan_part_withdraw(&node, part->entry, missing))
		ret = -1;
	node_close(&node);
	return ret;
}

/*
 * Continue after an error: entries that are left serve no transfer. @missing:
 * counts entries that are not in force.
 */
static int withdraw(const struct plan_file *file, bool in_testbed,
		    unsigned int *missing)
{
	int ret = 0;
	size_t i;

	for (i = file->n; i--; )
		if (withdraw_part(&file->part[i], in_testbed, missing))
			ret = -1;
	if (in_testbed && !one_node && sweep_testbed(file))
		ret = -1;
	return ret;
}

static int withdraw_receivers_of(const struct plan_file *file, bool in_testbed)
{
	unsigned int missing = 0, receivers = 0;
	int ret = -1;
	size_t i;

	for (i = 0; i < file->n; i++) {
		if (!plan_part_receives(file, i))
			continue;
		receivers++;
		if (!withdraw_part(&file->part[i], in_testbed, &missing))
			ret = 0;
	}
	if (!receivers)
		err("%s is not a receiver, and the plan's supervisor would put its entries back: withdraw the whole plan, or end the supervisor first",
		    file->part[0].name);
	return ret;
}

/*
 * A supervisor that gets one of these events ends. Return: -1 if none could be
 * withdrawn
 */
static int withdraw_receivers(const struct aggctl *ctl, const char *path)
{
	struct plan_file file;
	bool in_testbed;
	int ret = -1;

	if (!plan_file_load(&file, path) &&
	    !plan_file_find(&file, ctl->netns, one_node, &in_testbed))
		ret = withdraw_receivers_of(&file, in_testbed);
	plan_file_free(&file);
	return ret;
}

/*
 * A repair would restore what is withdrawn: end the supervisor that has locked
 * the file, and let no other one begin meanwhile. Return: 1 if there was one,
 * 0, or -1 with an error line printed
 */
static int end_supervisor(const struct aggctl *ctl, const char *path,
			  struct plan_store *store)
{
	const struct timespec wait = { .tv_nsec = END_WAIT_NS };
	unsigned int i;

	for (i = 0; plan_store_lock(store, path) == -EWOULDBLOCK; i++) {
		plan_store_close(store);
		if (i == END_TRIES) {
			err("%s: the receivers' entries are withdrawn, but its supervisor does not end: end it, then withdraw the plan again",
			    path);
			return -1;
		}
		/* A repair that was in progress has restored them. */
		if (i % END_AGAIN == 0 && withdraw_receivers(ctl, path))
			return -1;
		nanosleep(&wait, NULL);
	}
	return i > 0;
}

/*
 * A supervisor that begins later does not install a withdrawn repair. The file
 * of a testbed also has other nodes.
 */
static int withdraw_repair(const struct plan_file *file, bool in_testbed,
			   struct plan_store *store)
{
	if ((one_node && in_testbed) || store->file < 0 ||
	    !json_object_get(file->json, "installing"))
		return 0;
	json_object_del(file->json, "installing");
	return plan_store_save(store, file->json);
}

/* A supervisor of such a plan runs on its hosts. */
static int withdraw_everywhere(const struct aggctl *ctl, const char *path)
{
	struct host_said *said = NULL;
	struct plan_file file;
	int st = ST_FAILED;

	if (!plan_file_load(&file, path))
		said = calloc(file.n + 1, sizeof(*said));
	if (said && !hosts_load(&hosts) &&
	    !withdraw_hosts(&file, &hosts, supervised, said))
		st = show_hosts(ctl, &file, said, &word_withdraw);
	free(said);
	plan_file_free(&file);
	hosts_free(&hosts);
	return st;
}

/* Does a process on this host supervise the plan? */
static bool is_supervised(const struct plan_file *file)
{
	return presence_found((uint32_t)json_integer_value(
			      json_object_get(file->json, "job")));
}

static unsigned int entries_in(const struct plan_file *file)
{
	size_t i, n = 0;

	for (i = 0; i < file->n; i++)
		n += entries_of(&file->part[i]);
	return (unsigned int)n;
}

static int run_withdraw(const struct aggctl *ctl, int argc, char **argv)
{
	struct plan_store store = { .dir = -1, .file = -1 };
	int st = check_options(ctl, withdraw_verbs), ended = 0;
	struct plan_file file = {};
	unsigned int missing = 0;
	bool in_testbed;
	int lock = -1;

	(void)argc;
	if (st)
		return st;
	if (hosts.file)
		return withdraw_everywhere(ctl, argv[0]);
	st = ST_FAILED;
	if (plan_store_is_file(argv[0]))
		ended = end_supervisor(ctl, argv[0], &store);
	if (ended >= 0 && !plan_file_load(&file, argv[0]))
		st = plan_file_find(&file, ctl->netns, one_node, &in_testbed);
	if (!st && held && supervised && !is_supervised(&file)) {
		puts(HELD_NO_SUPERVISOR);
		goto out;
	}
	/* "apply --hosts" that goes on would keep what other hosts have not any more. */
	if (!st && held && held_lock(one_node, &file, &lock))
		st = ST_FAILED;
	if (!st && (withdraw(&file, in_testbed, &missing) ||
		    withdraw_repair(&file, in_testbed, &store)))
		st = ST_FAILED;
	/* What its supervisor had to miss lacks now; a host may be asked again. */
	if (missing && !ended && !held && !if_exists) {
		err("%u entries of the plan were not in force", missing);
		st = ST_FAILED;
	}
	if (st == ST_DONE && held)
		printf(HELD_WITHDRAWN "\n", entries_in(&file) - missing);
	else if (st == ST_DONE)
		st = show_parts(ctl, &file, word_withdraw.done);
out:
	if (lock >= 0)
		close(lock);
	plan_file_free(&file);
	plan_store_close(&store);
	return st;
}

#define REMOTE_OPTS \
	{ "node", OPT_STRING, &one_node, "NODE", \
	  "this node only: in the testbed, in --netns, or on this host" }, \
	HOSTS_OPTIONS(hosts), \
	{ "held", OPT_FLAG, &held, NULL, "what --hosts runs on a host" }

static const struct opt apply_opts[] = {
	REMOTE_OPTS,
	{ "replace", OPT_FLAG, &replace, NULL,
	  "replace entries of older epochs; a failure does not restore them" },
	{ "force", OPT_FLAG, &force, NULL,
	  "also if planned links cannot be used now" },
};

static const struct opt withdraw_opts[] = {
	REMOTE_OPTS,
	{ "supervised", OPT_FLAG, &supervised, NULL,
	  "do not ask the receivers whether they supervise the plan: they do" },
	{ "if-exists", OPT_FLAG, &if_exists, NULL,
	  "entries that are not in force are not an error" },
};

static const struct verb apply_verbs[] = {
	{
		.args = "PLAN.json",
		.help = "put a plan in force on all nodes, or on none",
		.min_args = 1,
		.max_args = 1,
		.opts = apply_opts,
		.nopts = ARRAY_SIZE(apply_opts),
		.run = run_apply,
	},
};

static const struct verb withdraw_verbs[] = {
	{
		.args = "PLAN.json",
		.help = "take a plan's entries out of all nodes",
		.min_args = 1,
		.max_args = 1,
		.opts = withdraw_opts,
		.nopts = ARRAY_SIZE(withdraw_opts),
		.run = run_withdraw,
	},
};

const struct command cmd_apply = {
	.name = "apply",
	.help = "put a plan in force",
	.verbs = apply_verbs,
	.nverbs = ARRAY_SIZE(apply_verbs),
};

const struct command cmd_withdraw = {
	.name = "withdraw",
	.help = "take a plan out of force",
	.verbs = withdraw_verbs,
	.nverbs = ARRAY_SIZE(withdraw_verbs),
};
