// SPDX-License-Identifier: GPL-2.0
/* Quotas of users, and the memory that jobs reserve at nodes. */
#include "conf.h"
#include "queue.h"

/* Bytes by the name of a node. */
static json_t *used;

static bool waits(const struct job *job)
{
	return job->state == JOB_QUEUED || job->state == JOB_PLANNED;
}

int queue_check(uint32_t uid, uint64_t memory, struct text *why)
{
	uint32_t mine = 0, waiting = 0;
	uint64_t bytes = memory;
	const struct job *job;

	TAILQ_FOREACH(job, &jobs, list) {
		if (job->uid == uid && job->state != JOB_ENDED) {
			bytes += job->memory;
			mine++;
		}
		waiting += waits(job);
	}
	if (mine >= conf.user_jobs && !conf_is_admin(uid))
		return text_set(why, "user %u has %u jobs, which is the limit of a user: cancel one, or wait until one ends",
				uid, mine);
	/* A job that waits for memory holds up those behind it. */
	if (bytes > conf.user_memory && !conf_is_admin(uid))
		return text_set(why, "with this job user %u would reserve %llu bytes at a node, and may reserve %llu: lower 'memory', or cancel a job",
				uid, (unsigned long long)bytes,
				(unsigned long long)conf.user_memory);
	if (waiting >= conf.queue)
		return text_set(why, "%u jobs wait, which is the limit: try again later",
				waiting);
	return 0;
}

uint32_t queue_ahead(const struct job *job)
{
	const struct job *other;
	uint32_t n = 0;

	TAILQ_FOREACH(other, &jobs, list) {
		if (other == job)
			break;
		n += waits(other);
	}
	return n;
}

uint32_t queue_active(void)
{
	const struct job *job;
	uint32_t n = 0;

	TAILQ_FOREACH(job, &jobs, list)
		n += !waits(job) && job->state != JOB_ENDED;
	return n;
}

static json_int_t used_at(const char *node)
{
	return json_integer_value(json_object_get(used, node));
}

bool queue_fits(const json_t *nodes)
{
	const char *name;
	json_t *bytes;

	json_object_foreach((json_t *)nodes, name, bytes)
		if ((uint64_t)(used_at(name) + json_integer_value(bytes)) >
		    conf.node_memory)
			return false;
	return true;
}

void queue_add(const json_t *nodes)
{
	const char *name;
	json_t *bytes;

	if (!used)
		used = json_object();
	json_object_foreach((json_t *)nodes, name, bytes)
		json_object_set_new(used, name, json_integer(used_at(name) +
				    json_integer_value(bytes)));
}

void queue_remove(const json_t *nodes)
{
	json_int_t left;
	const char *name;
	json_t *bytes;

	json_object_foreach((json_t *)nodes, name, bytes) {
		left = used_at(name) - json_integer_value(bytes);
		if (left > 0)
			json_object_set_new(used, name, json_integer(left));
		else
			json_object_del(used, name);
	}
}
