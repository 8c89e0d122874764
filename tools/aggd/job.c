// SPDX-License-Identifier: GPL-2.0
/* Jobs: what each state does, and how it ends. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf.h"
#include "conn.h"
#include "engine.h"
#include "job.h"
#include "queue.h"
#include "spec.h"
#include "store.h"

#define RETRY_DOUBLES	6	/* times, at most */
#define BYTES_MAX	(1ll << 48)	/* of a job at a node: sums do not overflow */

struct jobs jobs = TAILQ_HEAD_INITIALIZER(jobs);

/* Something has changed that a job in the queue may wait for. */
static bool turn;

static const char *const names[] = {
	[JOB_QUEUED] = "queued", [JOB_PLANNED] = "queued",
	[JOB_APPLYING] = "applying", [JOB_VERIFYING] = "in force",
	[JOB_IN_FORCE] = "in force", [JOB_WITHDRAWING] = "withdrawing",
	[JOB_ENDED] = "ended",
};

const char *job_state_name(const struct job *job)
{
	return names[job->state];
}

struct job *job_find(uint32_t id)
{
	struct job *job;

	TAILQ_FOREACH(job, &jobs, list)
		if (job->id == id)
			return job;
	return NULL;
}

static void set_string(char **to, const char *from)
{
	free(*to);
	*to = from ? strdup(from) : NULL;
	if (*to)
		text_clean(*to);
}

static bool holds_entries(const struct job *job)
{
	return job->state >= JOB_APPLYING && job->state < JOB_ENDED;
}

/* --- records ------------------------------------------------------------------------ */

static void set_or_del(json_t *object, const char *name, json_t *value)
{
	if (value)
		json_object_set_new(object, name, value);
	else
		json_object_del(object, name);
}

/* Is it a record of this job? What others may have written becomes arguments, too. */
static int check_record(uint32_t id, const json_t *record, struct text *why)
{
	json_t *spec = json_object_get(record, "spec"), *value;
	json_int_t same = 0, uid = -1;
	struct text fault;
	const char *name;

	if (json_unpack((json_t *)record, "{s:I, s:I}", "job", &same, "user", &uid) ||
	    same != id || uid < 0 || uid > UINT32_MAX || !spec)
		return text_set(why, "the record of job %u is not complete", id);
	if (spec_check_form(spec, &fault))
		return text_set(why, "the record of job %u: %.400s", id, fault.s);
	if (spec_memory(spec) > BYTES_MAX)
		return text_set(why, "the record of job %u: 'memory' is too large", id);
	json_object_foreach(json_object_get(record, "nodes"), name, value)
		if (json_integer_value(value) < 0 ||
		    json_integer_value(value) > BYTES_MAX)
			return text_set(why, "the record of job %u: the bytes of %.64s are not from 0 to %lld",
					id, name, BYTES_MAX);
	return 0;
}

/* Return: the record of a job, to be freed; NULL with @why */
static json_t *load_record(uint32_t id, struct text *why)
{
	json_t *record = store_get(id, why);

	if (!record || !check_record(id, record, why))
		return record;
	json_decref(record);
	return NULL;
}

/* Write state @state and what belongs to it. Return: 0, or -1 with @why */
static int save(const struct job *job, enum job_state state, json_t *nodes,
		struct text *why)
{
	json_t *record = load_record(job->id, why);
	int err;

	if (!record)
		return -1;
	set_or_del(record, "state", json_string(names[state]));
	set_or_del(record, "reason", job->reason ? json_string(job->reason) : NULL);
	set_or_del(record, "failed", job->failed ? json_true() : NULL);
	set_or_del(record, "ends", job->ends ? json_integer(job->ends) : NULL);
	if (job->group)
		set_or_del(record, "group", json_string(job->group));
	if (nodes)
		json_object_set(record, "nodes", nodes);
	err = store_put(job->id, record, why);
	json_decref(record);
	return err;
}

/* Return: the nodes of a job with their bytes, to be freed; NULL with @why */
static json_t *load_nodes(const struct job *job, struct text *why)
{
	json_t *record = load_record(job->id, why);
	json_t *nodes = json_incref(json_object_get(record, "nodes"));

	json_decref(record);
	if (record && !nodes)
		nodes = json_object();
	return nodes;
}

/* --- the end -------------------------------------------------------------------------- */

/* Try again later, and longer after each failure. */
static void set_retry(struct job *job, const char *fault)
{
	uint32_t doubles = job->tries < RETRY_DOUBLES ? job->tries : RETRY_DOUBLES;

	if (!job->fault || strcmp(job->fault, fault))
		note("job %u, %s: %s", job->id, job_state_name(job), fault);
	set_string(&job->fault, fault);
	job->tries++;
	job->retry = now_ms() + ((int64_t)conf.retry << doubles);
}

static void set_state(struct job *job, enum job_state state)
{
	job->state = state;
	job->step = 0;
	job->tries = 0;
	job->retry = 0;
	set_string(&job->fault, NULL);
	turn = true;
}

/* Return: 0, or -1 with @why: its memory is not known now */
static int uncount(struct job *job, struct text *why)
{
	json_t *nodes;

	if (!job->counted)
		return 0;
	nodes = load_nodes(job, why);
	if (!nodes)
		return -1;
	queue_remove(nodes);
	json_decref(nodes);
	job->counted = false;
	return 0;
}

/* No node has an entry of the job any more. Until its record says so it is withdrawn. */
static void finish(struct job *job)
{
	struct text why;

	/* They are not in force, and may be half written. */
	if (!holds_entries(job))
		store_del_plans(job->id, job->trees);
	if (uncount(job, &why) || save(job, JOB_ENDED, NULL, &why)) {
		job->state = JOB_WITHDRAWING;
		job->step = 0;
		set_retry(job, why.s);
		return;
	}
	set_state(job, JOB_ENDED);
	store_del_plans(job->id, job->trees);
	if (job->conn)
		job->conn->jobs--;
	job->conn = NULL;
	conn_job_changed(job);
}

static void save_withdrawal(struct job *job)
{
	struct text why;

	job->recorded = !save(job, JOB_WITHDRAWING, NULL, &why);
	if (!job->recorded)
		note("job %u: %s", job->id, why.s);
}

static void withdraw(struct job *job)
{
	set_state(job, JOB_WITHDRAWING);
	save_withdrawal(job);
}

/*
 * A job whose record says that it is in force is in force again after a restart: a store
 * that was silent has to know first. A record that is damaged stays so.
 * Return: 0, or -1 with @why
 */
static int record_withdrawal(struct job *job, struct text *why)
{
	if (!job->recorded)
		job->recorded = !save(job, JOB_WITHDRAWING, NULL, why);
	return job->recorded || store_is_ready() ? 0 : -1;
}

void job_end(struct job *job, bool failed, const char *reason)
{
	if (job->state >= JOB_WITHDRAWING || job->stop)
		return;
	job->failed = failed;
	set_string(&job->reason, reason);
	if (job->child) {
		job->stop = true;
		/* By its record it is in force, and would be again after a restart. */
		if (job->state == JOB_VERIFYING)
			save_withdrawal(job);
		/* A plan that is being applied is applied completely or not at all. */
		if (!holds_entries(job))
			engine_kill(job->child);
		return;
	}
	if (holds_entries(job))
		withdraw(job);
	else
		finish(job);
}

void job_detach(const struct conn *conn)
{
	struct job *job;

	TAILQ_FOREACH(job, &jobs, list) {
		if (job->conn != conn)
			continue;
		job->conn = NULL;
		job_end(job, false, "its connection was closed");
	}
}

/* Forget the jobs that ended first. */
static void prune(void)
{
	struct job *job, *next;
	uint32_t ended = 0;

	TAILQ_FOREACH(job, &jobs, list)
		ended += job->state == JOB_ENDED;
	for (job = TAILQ_FIRST(&jobs); job && ended > conf.history; job = next) {
		next = TAILQ_NEXT(job, list);
		if (job->state != JOB_ENDED)
			continue;
		ended--;
		store_del(job->id, job->trees);
		TAILQ_REMOVE(&jobs, job, list);
		free(job->reason);
		free(job->fault);
		free(job->group);
		free(job);
	}
}

/* --- steps ------------------------------------------------------------------------------ */

static void child_ended(void *arg, int status, const char *text);

/* Run aggctl for a job. A failure is tried again. */
static void start(struct job *job, char *const argv[], const char *out)
{
	struct text why;

	job->child = engine_start(argv, out, child_ended, job);
	if (job->child)
		return;
	text_set(&why, "%s: %s", argv[0], strerror(errno));
	set_retry(job, why.s);
}

static void start_plan(struct job *job)
{
	char path[PATH_MAX], **argv = NULL;
	struct text why;
	json_t *record = load_record(job->id, &why);

	if (record)
		argv = spec_plan(json_object_get(record, "spec"), job->step, job->id,
				 job->uid);
	store_plan(job->id, job->step, path);
	if (argv)
		start(job, argv, path);
	else
		set_retry(job, record ? "out of memory" : why.s);
	spec_free(argv);
	json_decref(record);
}

/* Run "aggctl VERB" for the plan of this step. */
static void start_verb(struct job *job, const char *verb, const char *option)
{
	char path[PATH_MAX], program[PATH_MAX], word[16], hosts[PATH_MAX + 8],
	     ssh[PATH_MAX + 8], sudo[] = "--sudo", opt[16];
	char *argv[8] = { program, word, path };
	size_t n = 3;

	snprintf(program, sizeof(program), "%s", conf.aggctl);
	snprintf(word, sizeof(word), "%s", verb);
	store_plan(job->id, job->step, path);
	if (option) {
		snprintf(opt, sizeof(opt), "%s", option);
		argv[n++] = opt;
	}
	if (conf.hosts) {
		snprintf(hosts, sizeof(hosts), "--hosts=%s", conf.hosts);
		argv[n++] = hosts;
	}
	if (conf.ssh) {
		snprintf(ssh, sizeof(ssh), "--ssh=%s", conf.ssh);
		argv[n++] = ssh;
	}
	if (conf.sudo)
		argv[n++] = sudo;
	start(job, argv, NULL);
}

/* The next plan that exists; without a plan no node has an entry. */
static void start_withdraw(struct job *job)
{
	struct text why;
	int there;

	if (record_withdrawal(job, &why)) {
		set_retry(job, why.s);
		return;
	}
	for (; job->step < job->trees; job->step++) {
		there = store_fetch_plan(job->id, job->step, &why);
		if (there < 0)
			set_retry(job, why.s);
		else if (there)
			start_verb(job, "withdraw", "--if-exists");
		if (there)
			return;
	}
	finish(job);
}

static void start_apply(struct job *job)
{
	struct text why;

	/* Without its plan aggctl names the file that is missing. */
	if (store_fetch_plan(job->id, job->step, &why) < 0)
		set_retry(job, why.s);
	else
		start_verb(job, "apply", NULL);
}

/* Add what a plan reserves at its nodes. Return: 0, or -1 with @why */
static int count_plan(const struct job *job, uint32_t tree, json_t *nodes,
		      char group[TEXT_MAX], struct text *why)
{
	char path[PATH_MAX];
	json_error_t fault;
	json_t *plan, *node;
	const char *name, *root = NULL;
	json_int_t bytes;

	store_plan(job->id, tree, path);
	if (store_sync_plan(job->id, tree, why))
		return -1;
	plan = json_load_file(path, 0, &fault);
	json_unpack(plan, "{s:[{s:s}]}", "trees", "identity", &root);
	if (!root) {
		json_decref(plan);
		return text_set(why, "%s: not a plan", path);
	}
	snprintf(group, TEXT_MAX, "root=%s", root);
	json_object_foreach(json_object_get(plan, "nodes"), name, node) {
		bytes = json_integer_value(json_object_get(nodes, name));
		bytes += (json_int_t)(job->memory / job->trees) *
			 (json_int_t)json_array_size(json_object_get(node, "trees"));
		json_object_set_new(nodes, name, json_integer(bytes));
	}
	json_decref(plan);
	return 0;
}

/* Is there a node at which the job exceeds the limit by itself? */
static int check_alone(const json_t *nodes, struct text *why)
{
	const char *name;
	json_t *bytes;

	json_object_foreach((json_t *)nodes, name, bytes)
		if ((uint64_t)json_integer_value(bytes) > conf.node_memory)
			return text_set(why, "the job needs %lld bytes at %s, where all jobs together may have %llu: lower 'memory'",
					(long long)json_integer_value(bytes), name,
					(unsigned long long)conf.node_memory);
	return 0;
}

/* Return: 0, or -1 with @why */
static int set_group(struct job *job, const char *root, struct text *why)
{
	char text[2 * TEXT_MAX];
	json_t *record;

	if (job->trees != 2)
		return 0;
	record = load_record(job->id, why);
	if (!record)
		return -1;
	snprintf(text, sizeof(text), "%s,up=%u,down=%u,ranks=%u", root, job->id,
		 job->id + 1, spec_ranks(json_object_get(record, "spec")));
	json_decref(record);
	set_string(&job->group, text);
	return 0;
}

/* Begin the state anew. */
static void do_again(struct job *job, const char *fault)
{
	job->step = 0;
	set_retry(job, fault);
}

/* A store that does not answer is not the job's fault: it goes on when the store does. */
static void fail_job(struct job *job, const char *fault)
{
	if (store_is_ready())
		job_end(job, true, fault);
	else
		do_again(job, fault);
}

/* All plans are there: they tell which nodes have how much of the memory. */
static void planned(struct job *job)
{
	json_t *nodes = json_object();
	char root[TEXT_MAX];
	struct text why;
	uint32_t i;
	int err = 0;

	for (i = 0; !err && i < job->trees; i++)
		err = count_plan(job, i, nodes, root, &why);
	if (!err)
		err = check_alone(nodes, &why);
	if (!err)
		err = set_group(job, root, &why);
	if (!err)
		err = save(job, JOB_QUEUED, nodes, &why);
	json_decref(nodes);
	if (err)
		fail_job(job, why.s);
	else
		set_state(job, JOB_PLANNED);
}

static void in_force(struct job *job)
{
	bool verified = job->state == JOB_VERIFYING;
	struct text why;

	if (!verified) {
		job->until = now_ms() + job->time;
		job->ends = now_date() + job->time / 1000;
		if (save(job, JOB_IN_FORCE, NULL, &why)) {
			fail_job(job, why.s);
			return;
		}
	}
	set_state(job, JOB_IN_FORCE);
	conn_job_changed(job);
}

static void step_failed(struct job *job, const char *text)
{
	/* A host may be down for a while: the job goes on until its time is over. */
	if (job->state == JOB_WITHDRAWING || job->state == JOB_VERIFYING)
		do_again(job, text);
	else
		fail_job(job, text);
}

static void step_done(struct job *job)
{
	if (++job->step < job->trees || job->state == JOB_WITHDRAWING)
		return;
	if (job->state == JOB_QUEUED)
		planned(job);
	else
		in_force(job);
}

static void child_ended(void *arg, int status, const char *text)
{
	struct job *job = arg;

	job->child = NULL;
	if (job->stop) {
		job->stop = false;
		if (holds_entries(job))
			withdraw(job);
		else
			finish(job);
	} else if (status == ENGINE_SILENT) {
		do_again(job, text);
	} else if (status) {
		step_failed(job, text);
	} else {
		step_done(job);
	}
}

/* Does the job that has waited longest fit? Then its entries may be made. */
static bool admit(struct job *job)
{
	struct text why;
	json_t *nodes;
	bool fits;

	if (queue_active() >= conf.jobs)
		return false;
	nodes = load_nodes(job, &why);
	fits = nodes && queue_fits(nodes);
	if (!nodes || (fits && save(job, JOB_APPLYING, NULL, &why))) {
		set_retry(job, why.s);
		fits = false;
	}
	if (fits) {
		queue_add(nodes);
		job->counted = true;
		set_state(job, JOB_APPLYING);
	}
	json_decref(nodes);
	return fits;
}

/* Start the process that the job needs now. */
static void act(struct job *job)
{
	if (!engine_has_room())
		return;
	switch (job->state) {
	case JOB_QUEUED:
		start_plan(job);
		break;
	case JOB_APPLYING:
	case JOB_VERIFYING:
		start_apply(job);
		break;
	case JOB_WITHDRAWING:
		start_withdraw(job);
		break;
	default:
		break;
	}
}

static void least(int64_t *left, int64_t ms)
{
	if (ms < 0)
		ms = 0;
	if (*left < 0 || ms < *left)
		*left = ms;
}

int64_t job_tick(int64_t now)
{
	int64_t left = -1;
	uint32_t plans = 0;
	bool first = turn;
	struct job *job;

	/* What is due now is due when states can be written again. */
	if (!store_is_ready())
		return -1;
	turn = false;
	prune();
	TAILQ_FOREACH(job, &jobs, list) {
		if ((job->state == JOB_IN_FORCE || job->state == JOB_VERIFYING) &&
		    now >= job->until)
			job_end(job, false, "its time is over");
		if (job->state == JOB_PLANNED && job->retry <= now &&
		    (first || job->fault))
			first = admit(job);
		if (job->state <= JOB_PLANNED) {
			/* No job overtakes another one. */
			first = false;
			plans++;
		}
		if (!job->child && job->retry <= now && store_is_ready() &&
		    (job->state != JOB_QUEUED || plans <= conf.children))
			act(job);
		if ((job->state == JOB_IN_FORCE || job->state == JOB_VERIFYING) &&
		    !job->stop)
			least(&left, job->until - now);
		if (!job->child && job->retry > now)
			least(&left, job->retry - now);
	}
	return turn ? 0 : left;
}

/* --- beginning ---------------------------------------------------------------------------- */

static struct job *new_job(uint32_t id, const json_t *spec, uint32_t uid)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->id = id;
	job->trees = spec_trees(spec);
	job->uid = uid;
	job->memory = spec_memory(spec);
	job->time = spec_time(spec);
	job->kind = job->trees == 2 ? "group" : "reduce";
	TAILQ_INSERT_TAIL(&jobs, job, list);
	return job;
}

struct job *job_submit(json_t *spec, uint32_t uid, struct conn *conn,
		       struct text *why)
{
	struct job *job = NULL;
	json_t *record;
	uint32_t id;
	int err;

	if (store_take_ids(spec_trees(spec), &id, why))
		return NULL;
	record = json_pack("{s:I, s:I, s:s, s:I, s:O}", "job", (json_int_t)id,
			   "user", (json_int_t)uid, "state", names[JOB_QUEUED],
			   "submitted", (json_int_t)now_date(), "spec", spec);
	err = record ? store_put(id, record, why) : text_set(why, "out of memory");
	json_decref(record);
	if (!err)
		job = new_job(id, spec, uid);
	if (job && conn) {
		job->conn = conn;
		conn->jobs++;
	}
	if (!err && !job)
		text_set(why, "out of memory");
	turn = true;
	return job;
}

static enum job_state find_state(const char *name)
{
	enum job_state state = JOB_QUEUED;

	while (state < JOB_ENDED && strcmp(names[state], name))
		state++;
	return state;
}

/* What an earlier process has left is verified, or withdrawn. */
static void resume(struct job *job, enum job_state state, const json_t *nodes,
		   bool attached)
{
	job->state = state;
	job->recorded = state == JOB_WITHDRAWING;
	if (holds_entries(job)) {
		queue_add(nodes);
		job->counted = true;
	}
	if (state == JOB_APPLYING)
		job_end(job, true, "aggd was restarted while the job was applied");
	else if (attached && state < JOB_WITHDRAWING)
		job_end(job, false, "aggd was restarted, which closed its connection");
	else if (state == JOB_ENDED)
		store_del_plans(job->id, job->trees);
}

static int load_one(uint32_t id, json_t *record, struct text *why)
{
	const char *state = NULL, *reason = NULL, *group = NULL;
	json_int_t uid = 0, ends = 0;
	json_t *spec = NULL;
	enum job_state found;
	int failed = 0, attached = 0;
	struct job *job;

	if (check_record(id, record, why))
		return -1;
	if (json_unpack(record, "{s:s, s:I, s:o, s?s, s?s, s?I, s?b}", "state", &state,
			"user", &uid, "spec", &spec, "reason", &reason, "group", &group,
			"ends", &ends, "failed", &failed))
		return text_set(why, "the record of job %u is not complete", id);
	found = find_state(state);
	if (strcmp(names[found], state) || ends < 0)
		return text_set(why, "the record of job %u is not complete", id);
	job = new_job(id, spec, (uint32_t)uid);
	if (!job)
		return text_set(why, "out of memory");
	json_unpack(spec, "{s?b}", "attached", &attached);
	set_string(&job->reason, reason);
	set_string(&job->group, group);
	job->failed = failed;
	/* The clock may have been set back. */
	job->ends = ends;
	if (ends > now_date() + job->time / 1000)
		job->ends = now_date() + job->time / 1000;
	job->until = now_ms() + (job->ends - now_date()) * 1000;
	resume(job, found, json_object_get(record, "nodes"), attached);
	return 0;
}

int job_load(struct text *why)
{
	return store_each(load_one, why);
}

/* --- descriptions ---------------------------------------------------------------------------- */

json_t *job_summary(const struct job *job)
{
	json_t *o = json_pack("{s:I, s:I, s:s, s:s}", "job", (json_int_t)job->id,
			      "user", (json_int_t)job->uid, "kind", job->kind,
			      "state", job_state_name(job));

	if (job->state <= JOB_PLANNED) {
		json_object_set_new(o, "ahead", json_integer(queue_ahead(job)));
		/* Both are "queued": only the second one may depend on jobs that do not end. */
		json_object_set_new(o, "waits", json_string(job->state == JOB_QUEUED ?
							    "plan" : "room"));
	}
	if (job->ends)
		json_object_set_new(o, "ends", json_integer(job->ends));
	if (job->reason) {
		json_object_set_new(o, "reason", json_string(job->reason));
		json_object_set_new(o, "failed", json_boolean(job->failed));
	}
	if (job->fault)
		json_object_set_new(o, "fault", json_string(job->fault));
	if (job->group && (job->state == JOB_VERIFYING || job->state == JOB_IN_FORCE))
		json_object_set_new(o, "group", json_string(job->group));
	return o;
}

json_t *job_description(const struct job *job, struct text *why)
{
	json_t *record = load_record(job->id, why), *o;

	if (!record)
		return NULL;
	o = job_summary(job);
	json_object_set(o, "submitted", json_object_get(record, "submitted"));
	json_object_set(o, "spec", json_object_get(record, "spec"));
	json_object_set(o, "nodes", json_object_get(record, "nodes"));
	json_decref(record);
	return o;
}
