// SPDX-License-Identifier: GPL-2.0
/* The commands of a plan's hosts, in step. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "cmd/apply_hosts.h"
#include "files.h"
#include "remote/remote.h"

#define STARTING	32	/* hosts that are connected to at a time */
#define PATIENCE_MS	30000	/* without a word of any host */
#define UNDO_MS		10000

enum stage {
	STAGE_NONE,
	STAGE_STARTED,
	STAGE_STAGED,
	STAGE_COMMITTING,
	STAGE_IN_FORCE,
	STAGE_DOUBT,	/* it may have the plan, or not */
	STAGE_UNDONE,
	STAGE_ENDED,
};

/**
 * struct run - a command on all hosts of a plan
 * @file: the plan; host i is that of its part i
 * @hosts: where they are
 * @remote: the commands
 * @stage: of each of them
 * @said: each of them has printed a line of its own
 * @failed: a host has refused, or was not heard
 * @changed: a host did not have the whole plan
 * @withdraw: the command is to withdraw
 */
struct run {
	const struct plan_file *file;
	const struct hosts *hosts;
	struct remote *remote;
	enum stage *stage;
	bool *said;
	bool failed;
	bool changed;
	bool withdraw;
};

static int run_new(struct run *run, const struct plan_file *file,
		   const struct hosts *hosts)
{
	*run = (struct run){ .file = file, .hosts = hosts };
	run->remote = calloc(file->n + 1, sizeof(*run->remote));
	run->stage = calloc(file->n + 1, sizeof(*run->stage));
	run->said = calloc(file->n + 1, sizeof(*run->said));
	raise_files();
	if (run->remote && run->stage && run->said)
		return 0;
	err("out of memory");
	return -1;
}

static void run_free(struct run *run)
{
	size_t i;

	for (i = 0; run->remote && i < run->file->n; i++)
		remote_end(&run->remote[i]);
	free(run->remote);
	free(run->stage);
	free(run->said);
}

/* What a host needs of the plan: its keys are those of its own entries. */
static char *part_text(const struct plan_file *file, size_t i)
{
	json_t *json = json_copy(file->json), *nodes = json_object();
	char *text;

	json_object_set(nodes, file->part[i].name, (json_t *)file->part[i].entry);
	json_object_set_new(json, "nodes", nodes);
	text = json_dumps(json, JSON_COMPACT);
	json_decref(json);
	return text;
}

static int start(struct run *run, size_t i, const char *arguments)
{
	const char *name = run->file->part[i].name;
	char **argv = hosts_command(run->hosts, name, arguments);
	char *text = part_text(run->file, i);
	int ret = -1;

	if (argv && text && !remote_start(&run->remote[i], name, argv))
		ret = remote_say(&run->remote[i], text);
	free(argv);
	free(text);
	run->stage[i] = STAGE_STARTED;
	return ret;
}

static void heard_end(struct run *run, const struct remote *r, size_t i)
{
	const enum stage stage = run->stage[i];
	bool has = stage == STAGE_COMMITTING || stage == STAGE_IN_FORCE;

	if (stage != STAGE_DOUBT && stage != STAGE_UNDONE)
		run->stage[i] = STAGE_ENDED;
	/* It withdraws, or it was told to keep the plan. */
	if (!r->status && (run->withdraw || stage == STAGE_IN_FORCE))
		return;
	/* If it says what is wrong, it has taken the plan back. */
	if (has && !run->said[i])
		run->stage[i] = STAGE_DOUBT;
	if (!run->said[i] && (has || !run->failed))
		err("%s: the command ended without a word, with status %d",
		    r->name, r->status);
	run->failed = true;
}

static void heard(struct remote *r, const char *line, void *arg)
{
	struct run *run = arg;
	size_t i = (size_t)(r - run->remote);

	if (!line) {
		heard_end(run, r, i);
	} else if (!strcmp(line, HELD_STAGED)) {
		run->stage[i] = STAGE_STAGED;
	} else if (!strcmp(line, HELD_IN_FORCE) ||
		   !strcmp(line, HELD_UNCHANGED)) {
		run->stage[i] = STAGE_IN_FORCE;
		run->changed |= !strcmp(line, HELD_IN_FORCE);
	} else if (!strcmp(line, HELD_UNDONE)) {
		run->stage[i] = STAGE_UNDONE;
	} else if (strncmp(line, "withdrawn: ", 11)) {
		run->said[i] = true;
		err("%s: %s", r->name, line +
		    (strncmp(line, "aggctl: ", 8) ? 0 : 8));
	}
}

/* Hosts from @from on, before @to, that are not as far. */
static size_t behind(const struct run *run, size_t from, size_t to,
		     enum stage stage)
{
	size_t n = 0;

	for (; from < to; from++)
		n += run->stage[from] < stage;
	return n;
}

static void tell_silent(const struct run *run, size_t from, size_t to,
			enum stage stage)
{
	for (; from < to; from++)
		if (run->stage[from] < stage)
			err("%s: no word for %d s", run->file->part[from].name,
			    PATIENCE_MS / 1000);
}

/* Wait until these hosts are so far. Return: 0, or -1 with an error line printed */
static int wait_for(struct run *run, size_t from, size_t to, enum stage stage)
{
	int ret;

	while (!run->failed && behind(run, from, to, stage)) {
		ret = remote_wait(run->remote, run->file->n, PATIENCE_MS, heard,
				  run);
		if (ret == -ETIMEDOUT)
			tell_silent(run, from, to, stage);
		run->failed |= ret != 0;
	}
	return run->failed ? -1 : 0;
}

/* sshd of one host, and this one, take so many new connections at a time. */
static int start_all(struct run *run, const char *arguments)
{
	size_t i, n = run->file->n;

	for (i = 0; i < n; i++) {
		if (start(run, i, arguments))
			return -1;
		if (behind(run, 0, i + 1, STAGE_STAGED) >= STARTING &&
		    wait_for(run, i + 1 - STARTING, i + 2 - STARTING,
			     STAGE_STAGED))
			return -1;
	}
	return wait_for(run, 0, n, STAGE_STAGED);
}

/* The first host after @i that is not as near to a receiver. */
static size_t next_depth(const struct plan_file *file, size_t i)
{
	const unsigned int depth = file->part[i].depth;

	while (i < file->n && file->part[i].depth == depth)
		i++;
	return i;
}

/* No child sends to a host that has no entry. */
static int commit(struct run *run)
{
	size_t i, to, next;

	for (i = 0; i < run->file->n; i = next) {
		next = next_depth(run->file, i);
		for (to = i; to < next; to++) {
			run->stage[to] = STAGE_COMMITTING;
			if (remote_say(&run->remote[to], HELD_COMMIT))
				return -1;
		}
		if (wait_for(run, i, next, STAGE_IN_FORCE))
			return -1;
	}
	return 0;
}

/*
 * All have the plan: from here on, no signal ends the command before it has told each
 * of them.
 */
static int keep(struct run *run)
{
	sigset_t all, before;
	int ret = 0;
	size_t i;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	for (i = 0; i < run->file->n; i++) {
		ret |= remote_say(&run->remote[i], HELD_KEEP);
		remote_hang_up(&run->remote[i]);
	}
	if (!ret)
		ret = wait_for(run, 0, run->file->n, STAGE_ENDED);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}

static size_t running(const struct run *run, size_t from, size_t to)
{
	size_t n = 0;

	for (; from < to; from++)
		n += run->remote[from].pid != 0;
	return n;
}

/* Hosts that have the end of their input take the plan back. */
static void take_back(struct run *run)
{
	size_t i;

	run->failed = true;
	for (i = 0; i < run->file->n; i++) {
		if (run->stage[i] == STAGE_COMMITTING ||
		    run->stage[i] == STAGE_IN_FORCE)
			run->stage[i] = STAGE_DOUBT;
		if (run->remote[i].pid)
			remote_hang_up(&run->remote[i]);
	}
	while (running(run, 0, run->file->n) &&
	       !remote_wait(run->remote, run->file->n, UNDO_MS, heard, run))
		;
}

/* Return: how many hosts have not said whether the plan is in force there */
static size_t tell_doubts(const struct run *run)
{
	size_t i, n = 0;

	for (i = 0; i < run->file->n; i++) {
		if (run->stage[i] != STAGE_DOUBT)
			continue;
		n++;
		err("%s: it may have the plan in force, or not: it has not said so",
		    run->file->part[i].name);
	}
	if (n)
		err("when these hosts can be reached, apply the plan again, or withdraw it");
	return n;
}

int apply_hosts(const struct plan_file *file, const struct hosts *hosts,
		const char *options, bool *changed)
{
	const sighandler_t on_pipe = signal(SIGPIPE, SIG_IGN);
	char arguments[64];
	struct run run;
	int ret;

	snprintf(arguments, sizeof(arguments), "apply - --held%s", options);
	ret = run_new(&run, file, hosts);
	if (!ret && (start_all(&run, arguments) || commit(&run))) {
		ret = -1;
		take_back(&run);
		if (!tell_doubts(&run))
			err("the plan is in force on no host");
	} else if (!ret && keep(&run)) {
		ret = -1;
		tell_doubts(&run);
	}
	*changed = run.changed;
	run_free(&run);
	signal(SIGPIPE, on_pipe);
	return ret;
}

static int withdraw_group(struct run *run, size_t from, size_t to)
{
	int ret = 0;
	size_t i;

	for (i = from; i < to; i++) {
		if (start(run, i, "withdraw -"))
			ret = -1;
		else
			remote_hang_up(&run->remote[i]);
	}
	while (running(run, from, to)) {
		if (!remote_wait(run->remote, run->file->n, PATIENCE_MS, heard,
				 run))
			continue;
		tell_silent(run, from, to, STAGE_ENDED);
		ret = -1;
		break;
	}
	for (i = from; i < to; i++)
		remote_end(&run->remote[i]);
	return ret;
}

int withdraw_hosts(const struct plan_file *file, const struct hosts *hosts)
{
	const sighandler_t on_pipe = signal(SIGPIPE, SIG_IGN);
	size_t from, to = file->n;
	struct run run;
	int ret;

	ret = run_new(&run, file, hosts);
	run.withdraw = true;
	while (!ret && to) {
		from = to - 1;
		while (from && to - from < STARTING &&
		       file->part[from - 1].depth == file->part[from].depth)
			from--;
		if (withdraw_group(&run, from, to))
			run.failed = true;
		to = from;
	}
	if (run.failed)
		ret = -1;
	run_free(&run);
	signal(SIGPIPE, on_pipe);
	return ret;
}
