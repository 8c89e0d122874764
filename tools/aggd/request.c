// SPDX-License-Identifier: GPL-2.0
/* The operations: their members, which users may ask for them, and their answers. */
#include <string.h>

#include "conf.h"
#include "job.h"
#include "queue.h"
#include "request.h"
#include "spec.h"
#include "store.h"

#define PAGE	100	/* jobs in an answer to "list" */

json_t *request_refusal(bool usage, const char *sentence)
{
	return json_pack("{s:b, s:s, s:s}", "ok", 0, "fault",
			 usage ? "usage" : "refused", "error", sentence);
}

json_t *request_waited(const struct job *job)
{
	return json_pack("{s:b, s:o}", "ok", 1, "job", job_summary(job));
}

static json_t *submit(struct conn *conn, json_t *spec)
{
	struct text why;
	struct job *job;
	bool attached;

	if (store_state(&why) != STORE_READY)
		return request_refusal(false, why.s);
	if (!conn->allowed) {
		text_set(&why, "user %u may not submit jobs: the administrator allows users and groups in %s",
			 conn->uid, conf.file);
		return request_refusal(false, why.s);
	}
	json_object_del(spec, "op");
	if (spec_check(spec, &why))
		return request_refusal(true, why.s);
	if (queue_check(conn->uid, spec_memory(spec), &why))
		return request_refusal(false, why.s);
	attached = json_is_true(json_object_get(spec, "attached"));
	job = job_submit(spec, conn->uid, attached ? conn : NULL, &why);
	return job ? request_waited(job) : request_refusal(false, why.s);
}

/* A job of another user is not told apart from one that does not exist. */
static struct job *find(const struct conn *conn, const json_t *request,
			struct text *why)
{
	json_int_t id = json_integer_value(json_object_get(request, "job"));
	struct job *job = id > 0 && id <= UINT32_MAX ? job_find((uint32_t)id) : NULL;

	if (job && (job->uid == conn->uid || conf_is_admin(conn->uid)))
		return job;
	text_set(why, "user %u has no job %lld", conn->uid, (long long)id);
	return NULL;
}

/* Jobs of other users are not listed: their members and times are their own. */
static json_t *list(const struct conn *conn, const json_t *request)
{
	json_int_t after = json_integer_value(json_object_get(request, "after"));
	json_t *rows = json_array(), *answer;
	bool more = false;
	struct text why;
	struct job *job;

	TAILQ_FOREACH(job, &jobs, list) {
		if ((json_int_t)job->id <= after ||
		    (job->uid != conn->uid && !conf_is_admin(conn->uid)))
			continue;
		more = json_array_size(rows) == PAGE;
		if (more)
			break;
		json_array_append_new(rows, job_summary(job));
	}
	answer = json_pack("{s:b, s:o, s:b}", "ok", 1, "jobs", rows, "more", more);
	if (store_state(&why) != STORE_READY)
		json_object_set_new(answer, "store", json_string(why.s));
	return answer;
}

static json_t *show(const struct conn *conn, const json_t *request)
{
	json_t *description = NULL;
	struct text why;
	struct job *job = find(conn, request, &why);

	if (job)
		description = job_description(job, &why);
	return description ? json_pack("{s:b, s:o}", "ok", 1, "job", description) :
			     request_refusal(false, why.s);
}

static json_t *cancel(const struct conn *conn, const json_t *request)
{
	char reason[64] = "cancelled";
	struct text why;
	struct job *job = find(conn, request, &why);
	json_t *answer;

	if (!job || store_state(&why) != STORE_READY)
		return request_refusal(false, why.s);
	if (job->state == JOB_ENDED) {
		text_set(&why, "job %u has ended", job->id);
		return request_refusal(false, why.s);
	}
	if (conn->uid != job->uid)
		snprintf(reason, sizeof(reason), "cancelled by user %u", conn->uid);
	job_end(job, false, reason);
	answer = request_waited(job);
	/* The record still says 'in force', and the next process would go on with the job. */
	if ((job->state == JOB_WITHDRAWING || job->state == JOB_VERIFYING) && !job->recorded)
		json_object_set_new(answer, "store", json_sprintf("job %u is cancelled, but the store does not have that yet: if this aggd ends before, the job stays in force: cancel it again",
								  job->id));
	return answer;
}

static json_t *wait_for(struct conn *conn, const json_t *request)
{
	const char *what = json_string_value(json_object_get(request, "for"));
	struct text why;
	struct job *job;

	if (what && strcmp(what, "in force") && strcmp(what, "ended"))
		return request_refusal(true, "wait: 'for' must be 'in force' or 'ended'");
	job = find(conn, request, &why);
	if (!job)
		return request_refusal(false, why.s);
	conn->wait_end = what && !strcmp(what, "ended");
	if (job->state == JOB_ENDED ||
	    (!conn->wait_end && job->state >= JOB_IN_FORCE))
		return request_waited(job);
	conn->wait = job->id;
	return NULL;
}

/**
 * struct op - an operation
 * @name: of the member "op"
 * @member: that it may have, besides; NULL: any
 * @type: of them
 * @must: the first one must be there
 */
struct op {
	const char *name;
	const char *member[2];
	json_type type[2];
	bool must;
};

enum { OP_SUBMIT, OP_LIST, OP_SHOW, OP_CANCEL, OP_WAIT };

static const struct op ops[] = {
	[OP_SUBMIT] = { .name = "submit" },
	[OP_LIST] = { "list", { "after" }, { JSON_INTEGER }, false },
	[OP_SHOW] = { "show", { "job" }, { JSON_INTEGER }, true },
	[OP_CANCEL] = { "cancel", { "job" }, { JSON_INTEGER }, true },
	[OP_WAIT] = { "wait", { "job", "for" }, { JSON_INTEGER, JSON_STRING }, true },
};

/* Return: 0, or -1 with @why */
static int check_members(const struct op *op, json_t *request, struct text *why)
{
	const char *name;
	json_t *value;
	size_t i;

	json_object_foreach(request, name, value) {
		for (i = 0; i < 2; i++)
			if (op->member[i] && !strcmp(op->member[i], name))
				break;
		if (i == 2 && strcmp(name, "op"))
			return text_set(why, "%s: unknown member '%s'", op->name, name);
		if (i < 2 && json_typeof(value) != op->type[i])
			return text_set(why, "%s: '%s' must be a %s", op->name, name,
					op->type[i] == JSON_STRING ? "string" :
								     "whole number");
	}
	if (op->must && !json_object_get(request, op->member[0]))
		return text_set(why, "%s: needs '%s'", op->name, op->member[0]);
	return 0;
}

static json_t *perform(struct conn *conn, json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "op"));
	struct text why;
	size_t i;

	if (!name)
		return request_refusal(true, "the request has no member 'op'");
	for (i = 0; i < ARRAY_SIZE(ops) && strcmp(ops[i].name, name); i++)
		;
	if (i == ARRAY_SIZE(ops)) {
		text_set(&why, "unknown operation '%.64s'", name);
		return request_refusal(true, why.s);
	}
	if (i != OP_SUBMIT && check_members(&ops[i], request, &why))
		return request_refusal(true, why.s);
	if (store_state(&why) == STORE_STANDBY)
		return request_refusal(false, why.s);
	switch (i) {
	case OP_SUBMIT:
		return submit(conn, request);
	case OP_LIST:
		return list(conn, request);
	case OP_SHOW:
		return show(conn, request);
	case OP_CANCEL:
		return cancel(conn, request);
	default:
		return wait_for(conn, request);
	}
}

json_t *request_answer(struct conn *conn, const char *line, size_t len)
{
	json_error_t fault;
	json_t *request = json_loadb(line, len, JSON_REJECT_DUPLICATES, &fault);
	json_t *answer;
	struct text why;

	if (!request) {
		text_set(&why, "the request is not JSON: column %d: %s", fault.column,
			 fault.text);
		return request_refusal(true, why.s);
	}
	if (json_is_object(request))
		answer = perform(conn, request);
	else
		answer = request_refusal(true, "the request is not an object");
	json_decref(request);
	return answer;
}
