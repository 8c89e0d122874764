// SPDX-License-Identifier: GPL-2.0
/* The commands of a plan's hosts, in step. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggctl.h"
#include "cmd/apply_hosts.h"
#include "files.h"
#include "monotonic.h"
#include "remote/remote.h"

#define UNDO_MS		10000	/* a host may take so long to take the plan back */
#define WAIT_MS		10000	/* a host hears so often that it is to wait */
#define PROGRESS_MS	3000	/* a terminal shows so often which hosts are waited for */
#define LISTED		4	/* so many of them */

/* They follow each other. */
enum stage {
	STAGE_NONE,
	STAGE_STARTED,
	STAGE_STAGED,
	STAGE_COMMITTING,	/* from now on it may have the plan */
	STAGE_IN_FORCE,
	STAGE_KEEPING,
	STAGE_DONE,
};

/**
 * struct host - how far a host is
 * @stage: what it was told, or has said
 * @said: aggctl has printed an error line there, in this stage
 * @undone: it has nothing of the plan but what it had before
 * @later: it has no supervisor, and withdraws the plan after its children
 * @withdrawn: it has said how much of the plan it has withdrawn
 */
struct host {
	enum stage stage;
	bool said;
	bool undone;
	bool later;
	bool withdrawn;
};

/**
 * struct run - a command on all hosts of a plan
 * @file: the plan; host i is that of its part i
 * @hosts: where they are
 * @remote: the commands
 * @host: how far they are
 * @said: what they have said of the plan
 * @told: when hosts were told to wait
 * @shown: when it was shown which hosts are waited for; @shows: it is
 * @failed: a host has refused, or was not heard
 * @withdraw: the command is to withdraw
 */
struct run {
	const struct plan_file *file;
	const struct hosts *hosts;
	struct remote *remote;
	struct host *host;
	struct host_said *said;
	int64_t told;
	int64_t shown;
	bool shows;
	bool failed;
	bool withdraw;
};

/* Return: 0, or -1 with an error line printed; run_free() is due in any case */
static int run_new(struct run *run, const struct plan_file *file,
		   const struct hosts *hosts, struct host_said *said)
{
	const int64_t now = monotonic_ms();
	size_t i;

	*run = (struct run){ .file = file, .hosts = hosts, .said = said,
			     .told = now, .shown = now,
			     .shows = isatty(STDERR_FILENO) };
	run->remote = calloc(file->n + 1, sizeof(*run->remote));
	run->host = calloc(file->n + 1, sizeof(*run->host));
	raise_files();
	if (!run->remote || !run->host) {
		err("out of memory");
		return -1;
	}
	for (i = 0; i < file->n; i++)
		if (hosts_find(hosts, file->part[i].name))
			return -1;
	return 0;
}

static void run_free(struct run *run)
{
	size_t i;

	for (i = 0; run->remote && i < run->file->n; i++)
		remote_end(&run->remote[i]);
	free(run->remote);
	free(run->host);
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
	char *text = part_text(run->file, i), *own = NULL, **argv = NULL;
	int ret = -1;

	if (asprintf(&own, "%s --node %s", arguments, name) < 0) {
		own = NULL;
		err("out of memory");
	} else {
		argv = hosts_command(run->hosts, name, own);
	}
	if (argv && text && !remote_start(&run->remote[i], name, argv))
		ret = remote_say(&run->remote[i], text);
	free(argv);
	free(own);
	free(text);
	run->host[i].stage = STAGE_STARTED;
	return ret;
}

static void heard_end(struct run *run, const struct remote *r,
		      struct host *host)
{
	bool ends = run->withdraw ? host->withdrawn || host->later :
				    host->stage == STAGE_KEEPING;
	bool may_have = host->stage >= STAGE_COMMITTING && !host->undone;

	if (!r->status && ends) {
		host->stage = host->later ? STAGE_NONE : STAGE_DONE;
		return;
	}
	/* After a failure all hosts end, and need not say why. */
	if (!host->said && (run->withdraw || !run->failed || may_have))
		err("%s: the command ended with status %d, and aggctl printed nothing there",
		    r->name, r->status);
	run->failed = true;
}

static bool is_next(struct host *host, enum stage stage)
{
	if (host->stage != stage - 1)
		return false;
	host->stage = stage;
	host->said = false;
	return true;
}

/* Has the host said what is awaited? */
static bool takes_stage(struct host *host, struct host_said *said,
			const char *line)
{
	if (!strcmp(line, HELD_STAGED))
		return is_next(host, STAGE_STAGED);
	if (!strcmp(line, HELD_UNCHANGED))
		return is_next(host, STAGE_IN_FORCE);
	if (strcmp(line, HELD_IN_FORCE) || !is_next(host, STAGE_IN_FORCE))
		return false;
	said->changed = true;
	return true;
}

/* A host that has withdrawn its part says how much there was of it. */
static bool takes_withdrawn(struct host *host, struct host_said *said,
			    const char *line)
{
	if (sscanf(line, HELD_WITHDRAWN, &said->entries) != 1)
		return false;
	said->changed = said->entries;
	host->withdrawn = true;
	return true;
}

/* A line of aggctl there begins with the plan's name of the host, as it does here. */
static void print_heard(const struct remote *r, const char *line)
{
	const size_t len = strlen(r->name);

	if (!strncmp(line, r->name, len) && !strncmp(line + len, ": ", 2))
		line += len + 2;
	err("%s: %s", r->name, line);
}

static void heard(struct remote *r, const char *line, void *arg)
{
	struct run *run = arg;
	struct host *host = &run->host[r - run->remote];
	struct host_said *said = &run->said[r - run->remote];
	bool own = line && !strncmp(line, "aggctl: ", 8);

	if (!line) {
		heard_end(run, r, host);
	} else if (!strcmp(line, HELD_UNDONE)) {
		host->undone = true;
	} else if (run->withdraw && !strcmp(line, HELD_NO_SUPERVISOR)) {
		host->later = true;
	} else if (run->withdraw ? !takes_withdrawn(host, said, line) :
				   !takes_stage(host, said, line)) {
		host->said |= own;
		print_heard(r, line + (own ? 8 : 0));
	}
}

/* Hosts from @from on, before @to, that are not as far. */
static size_t behind(const struct run *run, size_t from, size_t to,
		     enum stage stage)
{
	size_t n = 0;

	for (; from < to; from++)
		n += run->host[from].stage < stage;
	return n;
}

/* What a host has done that is so far. */
static const char *done_at(const struct run *run, enum stage stage)
{
	return run->withdraw ? "withdrawn the plan" :
	       stage == STAGE_STAGED ? "staged the plan" :
	       stage == STAGE_IN_FORCE ? "committed the plan" : "kept the plan";
}

static void tell_late(struct run *run, size_t from, size_t to,
		      enum stage stage)
{
	for (; from < to; from++)
		if (run->host[from].stage < stage)
			err("%s: it has not %s within %g s",
			    run->file->part[from].name, done_at(run, stage),
			    run->hosts->timeout_ms / 1e3);
	run->failed = true;
}

/* A host gives up if it hears nothing. */
static int tell_to_wait(struct run *run)
{
	int ret = 0;
	size_t i;

	if (monotonic_left(run->told + WAIT_MS))
		return 0;
	run->told = monotonic_ms();
	for (i = 0; i < run->file->n; i++)
		if (run->remote[i].pid &&
		    (run->host[i].stage == STAGE_STAGED ||
		     run->host[i].stage == STAGE_IN_FORCE))
			ret |= remote_say(&run->remote[i], HELD_WAIT);
	return ret;
}

/* Is it a host whose command runs, and is not so far? */
static bool is_awaited(const struct run *run, size_t i, enum stage stage)
{
	return run->remote[i].pid && run->host[i].stage < stage;
}

/* A person sees that the command goes on, and with which hosts. */
static void show_progress(struct run *run, enum stage stage)
{
	size_t i, n = 0;

	if (!run->shows || monotonic_left(run->shown + PROGRESS_MS))
		return;
	run->shown = monotonic_ms();
	for (i = 0; i < run->file->n; i++) {
		if (!is_awaited(run, i, stage))
			continue;
		if (n < LISTED)
			fprintf(stderr, "%s%s", n ? ", " : "waiting for ",
				run->file->part[i].name);
		n++;
	}
	if (n > LISTED)
		fprintf(stderr, " and %zu others", n - LISTED);
	if (n)
		fprintf(stderr, ": %zu of %zu hosts have %s\n",
			run->file->n - behind(run, 0, run->file->n, stage),
			run->file->n, done_at(run, stage));
}

/*
 * Until hosts are to be so far. Return: 0 also if nothing happens until @end, or until
 * hosts are told to wait
 */
static int serve(struct run *run, int64_t end, enum stage stage)
{
	const int most = run->shows ? PROGRESS_MS : WAIT_MS;
	int left = monotonic_left(end), ret;

	ret = remote_wait(run->remote, run->file->n, left < most ? left : most,
			  heard, run);
	show_progress(run, stage);
	return ret == -ETIMEDOUT ? 0 : ret;
}

/* Wait until these hosts are so far. Return: 0, or -1 with an error line printed */
static int wait_for(struct run *run, size_t from, size_t to, enum stage stage)
{
	const int64_t end = monotonic_ms() + run->hosts->timeout_ms;

	while (!run->failed && behind(run, from, to, stage)) {
		if (!monotonic_left(end))
			tell_late(run, from, to, stage);
		else if (serve(run, end, stage) || tell_to_wait(run))
			run->failed = true;
	}
	return run->failed ? -1 : 0;
}

static bool runs(const struct run *run, size_t from, size_t to)
{
	while (from < to && !run->remote[from].pid)
		from++;
	return from < to;
}

/* Wait until the commands of these hosts end. */
static void wait_ends(struct run *run, size_t from, size_t to, int64_t ms)
{
	const int64_t end = monotonic_ms() + ms;

	while (runs(run, from, to) && monotonic_left(end) &&
	       !serve(run, end, STAGE_DONE))
		;
}

static int start_all(struct run *run, const char *arguments)
{
	size_t i, n = run->file->n;

	for (i = 0; i < n; i++) {
		if (start(run, i, arguments))
			return -1;
		if (behind(run, 0, i + 1, STAGE_STAGED) >= HOSTS_AT_A_TIME &&
		    wait_for(run, i + 1 - HOSTS_AT_A_TIME, i + 2 - HOSTS_AT_A_TIME,
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
			is_next(&run->host[to], STAGE_COMMITTING);
			if (remote_say(&run->remote[to], HELD_COMMIT))
				return -1;
		}
		if (wait_for(run, i, next, STAGE_IN_FORCE))
			return -1;
	}
	return 0;
}

/* The caller has blocked signals. Return: 0, or -1 with an error line printed */
static int keep(struct run *run)
{
	const size_t n = run->file->n;
	size_t i;

	for (i = 0; i < n; i++) {
		run->host[i].stage = STAGE_KEEPING;
		if (remote_say(&run->remote[i], HELD_KEEP))
			run->failed = true;
		remote_hang_up(&run->remote[i]);
	}
	wait_ends(run, 0, n, run->hosts->timeout_ms);
	if (runs(run, 0, n))
		tell_late(run, 0, n, STAGE_DONE);
	return run->failed ? -1 : 0;
}

/* Hosts that have the end of their input take the plan back. */
static void take_back(struct run *run)
{
	const size_t n = run->file->n;
	size_t i;

	run->failed = true;
	for (i = 0; i < n; i++)
		if (run->remote[i].pid)
			remote_hang_up(&run->remote[i]);
	wait_ends(run, 0, n, run->hosts->timeout_ms < UNDO_MS ?
			     run->hosts->timeout_ms : UNDO_MS);
}

/* Return: how many hosts have not said whether the plan is in force there */
static size_t tell_doubts(const struct run *run)
{
	const struct host *host = run->host;
	size_t n = 0;

	for (; host < run->host + run->file->n; host++) {
		if (host->stage < STAGE_COMMITTING ||
		    host->stage == STAGE_DONE || host->undone)
			continue;
		n++;
		err("%s: it may have the plan in force, or not: it has not said so",
		    run->file->part[host - run->host].name);
	}
	return n;
}

static void tell_not_applied(const struct run *run)
{
	const size_t n = run->file->n;

	if (tell_doubts(run))
		err("when these hosts can be reached, apply the plan again, or withdraw it");
	else if (behind(run, 0, n, STAGE_COMMITTING) == n)
		err("no host has changed");
	else
		err("each host that has changed has taken the plan back");
}

static void tell_not_kept(const struct run *run)
{
	const size_t n = run->file->n;
	size_t i;

	tell_doubts(run);
	for (i = 0; i < n; i++)
		if (run->host[i].undone)
			err("%s: it has taken the plan back",
			    run->file->part[i].name);
	err("the plan is in force on %zu of %zu hosts: apply it again, or withdraw it",
	    n - behind(run, 0, n, STAGE_DONE), n);
}

/* A signal that will end the command before it says anything else. */
static bool is_signalled(const sigset_t *before)
{
	sigset_t waits;
	int sig;

	sigpending(&waits);
	for (sig = 1; sig < NSIG; sig++)
		if (sigismember(&waits, sig) == 1 && sig != SIGCHLD &&
		    !sigismember(before, sig))
			return true;
	return false;
}

/*
 * All have the plan: from here on, no signal ends the command before it has told each
 * of them, and has said which ones keep it.
 */
static int keep_all(struct run *run)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	ret = keep(run);
	if (ret)
		tell_not_kept(run);
	else if (is_signalled(&before))
		err("the plan is in force on all hosts");
	sigprocmask(SIG_SETMASK, &before, NULL);
	return ret;
}

int apply_hosts(const struct plan_file *file, const struct hosts *hosts,
		const char *options, struct host_said *said)
{
	const sighandler_t on_pipe = signal(SIGPIPE, SIG_IGN);
	char arguments[64];
	struct run run;
	int ret;

	snprintf(arguments, sizeof(arguments), "apply - --held%s", options);
	ret = run_new(&run, file, hosts, said);
	if (!ret && (start_all(&run, arguments) || commit(&run))) {
		ret = -1;
		take_back(&run);
		tell_not_applied(&run);
	} else if (!ret) {
		ret = keep_all(&run);
	}
	run_free(&run);
	signal(SIGPIPE, on_pipe);
	return ret;
}

enum which {
	WHICH_SUPERVISED,	/* receivers that supervise the plan */
	WHICH_RECEIVERS,
	WHICH_OTHERS,
};

static bool is_one(const struct run *run, size_t i, enum which which)
{
	if (which == WHICH_OTHERS && run->host[i].later)
		return true;
	return plan_part_receives(run->file, i) == (which != WHICH_OTHERS);
}

static void withdraw_group(struct run *run, size_t from, size_t to,
			   enum which which)
{
	size_t i;

	for (i = from; i < to; i++) {
		if (!is_one(run, i, which))
			continue;
		run->host[i].later = false;
		if (!start(run, i, which == WHICH_SUPERVISED ?
			   "withdraw - --held --supervised" :
			   "withdraw - --held"))
			remote_hang_up(&run->remote[i]);
	}
	wait_ends(run, from, to, run->hosts->timeout_ms);
	for (i = from; i < to; i++) {
		if (run->remote[i].pid)
			tell_late(run, i, i + 1, STAGE_DONE);
		remote_end(&run->remote[i]);
	}
}

/* Children first. Return: how many hosts have withdrawn it, of all */
static size_t withdraw_from(struct run *run, enum which which)
{
	const struct plan_part *part = run->file->part;
	size_t from, to;

	for (to = run->file->n; to; to = from) {
		from = to - 1;
		while (from && to - from < HOSTS_AT_A_TIME &&
		       part[from - 1].depth == part[from].depth)
			from--;
		withdraw_group(run, from, to, which);
	}
	return run->file->n - behind(run, 0, run->file->n, STAGE_DONE);
}

int withdraw_hosts(const struct plan_file *file, const struct hosts *hosts,
		   bool supervised, struct host_said *said)
{
	const sighandler_t on_pipe = signal(SIGPIPE, SIG_IGN);
	struct run run;
	size_t n = 0;
	int ret;

	ret = run_new(&run, file, hosts, said);
	run.withdraw = true;
	if (!ret)
		n = withdraw_from(&run, supervised ? WHICH_RECEIVERS :
						     WHICH_SUPERVISED);
	/* One receiver ends all supervisors. */
	if (!ret && (n || !supervised))
		n = withdraw_from(&run, WHICH_OTHERS);
	if (!ret && n < file->n) {
		err("withdrawn from %zu of %zu hosts: repeat the command for the others",
		    n, file->n);
		ret = -1;
	}
	run_free(&run);
	signal(SIGPIPE, on_pipe);
	return ret;
}
