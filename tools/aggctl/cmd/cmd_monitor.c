// SPDX-License-Identifier: GPL-2.0
/* aggctl monitor: print events as they arrive. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cmd/cmd.h"
#include "cmd/ctl_open.h"
#include "info.h"
#include "names.h"
#include "output.h"

static uint32_t count;
static bool no_time;

static int print_json(json_t *event)
{
	if (json_dumpf(event, stdout, JSON_COMPACT))
		return fail("an event cannot be written as JSON");
	putchar('\n');
	return ST_DONE;
}

static void print_list(const char *head, const json_t *list)
{
	json_t *value;
	size_t i;

	printf(" %s ", head);
	json_array_foreach((json_t *)list, i, value)
		names_print(stdout, "%s%s", i ? "," : "",
			    json_string_value(value));
}

/* As clocks of logs are written: local time, and its distance from UTC. */
static void print_time(const struct timespec *at)
{
	char text[32], zone[8];
	struct tm tm;

	if (no_time || !localtime_r(&at->tv_sec, &tm))
		return;
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	printf("%s.%06ld%s ", text, at->tv_nsec / 1000, zone);
}

static int print_text(const json_t *event, const struct timespec *at)
{
	const struct column cols[] = {
		{ "reason", "reason" }, { "origin", "from" },
		{ "about", "about" }, { "missing", "missing" },
		{ "missing_names", "namely" },
		{ "instance", "instance" }, { "attempt", "attempt" },
		{ "port", "port" },
	};
	const json_t *job = json_object_get(event, "job");
	const char *kind, *receiver;
	size_t i;

	kind = json_string_value(json_object_get(event, "kind"));
	receiver = json_string_value(json_object_get(event, "receiver"));
	print_time(at);
	printf("%s", kind ? kind : "event");
	if (job && receiver)
		names_print(stdout, " job %" JSON_INTEGER_FORMAT " to %s",
			    json_integer_value(job), receiver);
	for (i = 0; i < ARRAY_SIZE(cols); i++) {
		const json_t *value = json_object_get(event, cols[i].key);

		if (json_is_string(value))
			names_print(stdout, " %s %s", cols[i].head,
				    json_string_value(value));
		else if (json_is_array(value))
			print_list(cols[i].head, value);
		else if (json_is_integer(value))
			printf(" %s %" JSON_INTEGER_FORMAT, cols[i].head,
			       json_integer_value(value));
	}
	putchar('\n');
	return ST_DONE;
}

static int print_event(const struct aggctl *ctl,
		       const struct aggnet_event_info *event)
{
	json_t *object = info_json(&aggnet_noun_event, event);
	struct timespec now;
	int st;

	clock_gettime(CLOCK_REALTIME, &now);
	json_object_set_new(object, "time",
			    json_real((double)now.tv_sec +
				      (double)now.tv_nsec / 1e9));
	st = ctl->json ? print_json(object) : print_text(object, &now);
	json_decref(object);
	/* A program that reads along gets each event at once. */
	if (!st && fflush(stdout))
		st = fail("standard output: %s", strerror(errno));
	return st;
}

static int watch(const struct aggctl *ctl, struct aggnet_ctl *h)
{
	struct aggnet_event_info event;
	uint32_t seen = 0;
	int error, st = ST_DONE;

	while (!st && (!count || seen < count)) {
		error = aggnet_events_next(h, &event);
		if (error == -EINTR)
			continue;
		if (error == -ENOBUFS) {
			err("%s", aggnet_ctl_error(h));
			continue;
		}
		if (error)
			return ctl_refused(h, "monitor");
		st = print_event(ctl, &event);
		aggnet_event_clear(&event);
		seen++;
	}
	return st;
}

static int run_monitor(const struct aggctl *ctl, int argc, char **argv)
{
	struct aggnet_ctl *h = ctl_open();
	int st;

	(void)argc;
	(void)argv;
	if (!h)
		return ST_FAILED;
	st = aggnet_events_join(h) ? ctl_refused(h, "monitor") :
	     watch(ctl, h);
	aggnet_ctl_close(h);
	return st;
}

static const struct opt opts[] = {
	{ "count", OPT_U32, &count, "N", "end after so many events" },
	{ "no-time", OPT_FLAG, &no_time, NULL, "text without the time" },
};

static const struct verb verbs[] = {
	{
		.args = "",
		.help = "print events as they come, with -j one object a line",
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_monitor,
	},
};

const struct command cmd_monitor = {
	.name = "monitor",
	.help = "print events as they come",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
