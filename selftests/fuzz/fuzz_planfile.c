// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzz target: plan files as "apply" and "plan --update" read them. An accepted
 * plan is unchanged after it is written and read again.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "aggctl.h"
#include "fuzzer.h"
#include "plan/plan.h"
#include "plan/plan_apply.h"

#define CHECK(cond) do { if (!(cond)) __builtin_trap(); } while (0)

/*
 * The linker puts these in front of aggctl's functions: a refusal must have a message,
 * which is not printed.
 */
static bool said;

void __wrap_err(const char *fmt, ...)
{
	said = true;
}

int __wrap_fail(const char *fmt, ...)
{
	said = true;
	return ST_FAILED;
}

int __wrap_usage(const char *fmt, ...)
{
	said = true;
	return ST_USAGE;
}

/* Nodes install their parts in an order with parents first. */
static void check_file(struct plan_file *file)
{
	size_t i;

	for (i = 0; i < file->n; i++) {
		CHECK(json_is_array(json_object_get(file->part[i].entry,
						    "trees")));
		CHECK(!i || file->part[i - 1].depth <= file->part[i].depth);
	}
	if (file->n)
		CHECK(!plan_file_select(file, file->part[file->n - 1].name) &&
		      file->n == 1);
}

static bool restore(struct plan *plan, const json_t *json)
{
	said = false;
	if (!plan_restore(plan, json, "plan"))
		return true;
	CHECK(said);
	return false;
}

static void check_again(const struct plan *plan)
{
	json_t *json = plan_json(plan);
	struct plan again = {};

	if (json) {
		CHECK(restore(&again, json));
		CHECK(aggt_plan_metrics(plan->trees)->links ==
		      aggt_plan_metrics(again.trees)->links);
		CHECK(aggt_plan_reuse(plan->trees, again.trees) == 1);
		plan_clear(&again);
	} else {
		CHECK(said);
	}
	json_decref(json);
}

/* The first sender leaves: differences refer to nodes that exist. */
static void update(struct plan *plan, const json_t *old)
{
	const struct aggt_job *job = aggt_plan_job(plan->trees);
	char text[32], *change = text;

	/* Compare it with a newly built plan; other methods take too long. */
	if (strcmp(job->method, "irs") && strcmp(job->method, "ars"))
		return;
	snprintf(text, sizeof(text), "leave:v%u", job->senders[0]);
	said = false;
	change = text;
	json_decref(plan_update(plan, old, &change, 1));
}

static json_t *any_value(unsigned int draw)
{
	static const char *const text[] = { "", "v1", "10.0.0.1", "irs" };
	static const json_int_t number[] = { 0, -1, 1, 3, 1ll << 32 };

	switch (draw % 6) {
	case 0:
		return json_string(text[draw / 6 % 4]);
	case 1:
	case 2:
		return json_integer(number[draw / 6 % 5]);
	case 3:
		return json_array();
	case 4:
		return json_object();
	default:
		return draw & 8 ? json_null() : json_true();
	}
}

/* Replace, repeat or delete a value somewhere below @json. */
static void alter(json_t *json, unsigned int draw)
{
	size_t n = json_is_object(json) ? json_object_size(json) :
					  json_array_size(json);
	size_t at = n ? draw % n : 0;
	void *iter = json_object_iter(json);
	json_t *child = json_array_get(json, at);
	const char *name;

	for (; iter && at; at--)
		iter = json_object_iter_next(json, iter);
	if (iter)
		child = json_object_iter_value(iter);
	draw = draw * 1103515245 + 12345;
	if ((json_object_size(child) || json_array_size(child)) &&
	    draw >> 16 & 7) {
		alter(child, draw >> 4);
	} else if (iter) {
		name = json_object_iter_key(iter);
		if (draw >> 16 & 3)
			json_object_set_new(json, name, any_value(draw >> 20));
		else
			json_object_del(json, name);
	} else if (draw >> 16 & 1) {
		json_array_append(json, child);
	} else if (n) {
		json_array_set_new(json, draw % n, any_value(draw >> 20));
	}
}

/* Most changes of single bytes would make invalid JSON. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t len, size_t room,
			       unsigned int seed)
{
	json_t *json = json_loadb((char *)data, len, 0, NULL);
	char *text = NULL;

	if (json && seed % 4) {
		alter(json, seed);
		text = json_dumps(json, JSON_COMPACT);
	}
	json_decref(json);
	if (text && strlen(text) <= room) {
		len = strlen(text);
		memcpy(data, text, len);
	} else {
		len = LLVMFuzzerMutate(data, len, room);
	}
	free(text);
	return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	int fd = memfd_create("plan", 0);
	struct plan_file file;
	struct plan plan = {};
	char path[32];

	CHECK(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	said = false;
	if (!plan_file_load(&file, path))
		check_file(&file);
	else
		CHECK(said);
	if (file.json && restore(&plan, file.json)) {
		check_again(&plan);
		update(&plan, file.json);
	}
	plan_clear(&plan);
	plan_file_free(&file);
	close(fd);
	return 0;
}
