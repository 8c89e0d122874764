// SPDX-License-Identifier: GPL-2.0
/*
 * Asks all hosts of a file. What a host prints is not trusted: it is an answer of a limited
 * size within a limited time, and the last of the other lines says why there is none.
 */
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "files.h"
#include "monotonic.h"
#include "remote/ask.h"
#include "remote/remote.h"

#define ANSWER_MAX	(4 << 20)	/* bytes: thousands of entries, or of routes */

/**
 * struct asked - a host that is asked
 * @name: its name
 * @end: when it is late
 * @f: collects the answer's lines in @text
 * @text: owned
 * @size: of @text
 * @inside: between the answer's first line and its last one
 * @last: the last line that is not of an answer
 * @status: of the command
 */
struct asked {
	const char *name;
	int64_t end;
	FILE *f;
	char *text;
	size_t size;
	bool inside;
	char last[REMOTE_LINE];
	int status;
};

/**
 * struct round - all hosts
 * @hosts: where they are
 * @n: how many
 * @asked: they
 * @remote: their commands
 */
struct round {
	const struct hosts *hosts;
	size_t n;
	struct asked *asked;
	struct remote *remote;
};

/* Return: 0, or -1 with an error line printed; round_free() is due in any case */
static int round_new(struct round *round, const struct hosts *hosts)
{
	const char *name;
	size_t i = 0;
	json_t *to;

	*round = (struct round){ .hosts = hosts,
				 .n = json_object_size(hosts->to) };
	if (!round->n) {
		err("%s: it has no line for a host", hosts->file);
		return -1;
	}
	round->asked = calloc(round->n, sizeof(*round->asked));
	round->remote = calloc(round->n, sizeof(*round->remote));
	if (!round->asked || !round->remote) {
		err("out of memory");
		return -1;
	}
	json_object_foreach(hosts->to, name, to)
		round->asked[i++].name = name;
	return 0;
}

static void round_free(struct round *round)
{
	size_t i;

	for (i = 0; round->asked && round->remote && i < round->n; i++) {
		remote_end(&round->remote[i]);
		if (round->asked[i].f)
			fclose(round->asked[i].f);
		free(round->asked[i].text);
	}
	free(round->asked);
	free(round->remote);
}

static int ask(struct round *round, size_t i, const char *arguments)
{
	struct asked *a = &round->asked[i];
	char **argv = hosts_command(round->hosts, a->name, arguments);
	int ret = -1;

	a->end = monotonic_ms() + round->hosts->timeout_ms;
	a->f = open_memstream(&a->text, &a->size);
	if (argv && a->f && !remote_start(&round->remote[i], a->name, argv)) {
		remote_hang_up(&round->remote[i]);
		ret = 0;
	}
	free(argv);
	return ret;
}

/* A command prints an answer as JSON with indents: only its ends are not indented. */
static void heard(struct remote *r, const char *line, void *arg)
{
	struct round *round = arg;
	struct asked *a = &round->asked[r - round->remote];
	const bool own = line && !strncmp(line, "aggctl: ", 8);

	if (!line) {
		a->status = r->status;
		return;
	}
	a->inside |= !strcmp(line, "{");
	if (!a->inside) {
		snprintf(a->last, sizeof(a->last), "%s", line + (own ? 8 : 0));
		return;
	}
	if (ftell(a->f) < ANSWER_MAX)
		fprintf(a->f, "%s\n", line);
	a->inside = strcmp(line, "}");
}

/* A host that has answered need not end. */
static void end_late(struct round *round)
{
	struct asked *a;
	size_t i;

	for (i = 0; i < round->n; i++) {
		a = &round->asked[i];
		if (!round->remote[i].pid || monotonic_left(a->end))
			continue;
		remote_end(&round->remote[i]);
		if (!a->inside && ftell(a->f))
			continue;
		rewind(a->f);
		snprintf(a->last, sizeof(a->last),
			 "it has not answered within %g s",
			 round->hosts->timeout_ms / 1e3);
	}
}

/* Hosts that have not answered; @next: when the first of them is late. */
static size_t running(const struct round *round, int64_t *next)
{
	size_t i, n = 0;

	for (i = 0; i < round->n; i++) {
		if (!round->remote[i].pid)
			continue;
		if (!n++ || round->asked[i].end < *next)
			*next = round->asked[i].end;
	}
	return n;
}

static int ask_all(struct round *round, const char *arguments)
{
	int64_t next = 0;
	size_t i = 0, n;

	while ((n = running(round, &next)) || i < round->n) {
		if (n < HOSTS_AT_A_TIME && i < round->n) {
			if (ask(round, i++, arguments))
				return -1;
			continue;
		}
		if (remote_wait(round->remote, round->n, monotonic_left(next),
				heard, round) == -1)
			return -1;
		end_late(round);
	}
	return 0;
}

static json_t *error_json(const struct asked *a)
{
	const long size = ftell(a->f);
	json_t *text = NULL;

	if (size >= ANSWER_MAX)
		return json_sprintf("its answer is longer than %d bytes",
				    ANSWER_MAX);
	if (size && a->inside)
		return json_sprintf("its answer is not complete: the command ended with status %d",
				    a->status);
	if (size)
		return json_string("its answer is not JSON");
	if (a->last[0])
		text = json_string(a->last);
	/* It may also have printed what is not UTF-8. */
	return text ? text :
	       json_sprintf("the command ended with status %d, and aggctl printed nothing there",
			    a->status);
}

static json_t *row_json(struct asked *a)
{
	json_t *answer = NULL, *error = NULL;

	fflush(a->f);
	if (!a->inside)
		answer = json_loadb(a->text, a->size, 0, NULL);
	if (!answer)
		error = error_json(a);
	return json_pack("{s:s, s:o*, s:o*}", "host", a->name, "answer", answer,
			 "error", error);
}

json_t *hosts_ask(const struct hosts *hosts, const char *arguments)
{
	json_t *rows = NULL;
	struct round round;
	size_t i;

	raise_files();
	if (!round_new(&round, hosts) && !ask_all(&round, arguments)) {
		rows = json_array();
		for (i = 0; i < round.n; i++)
			json_array_append_new(rows, row_json(&round.asked[i]));
	}
	round_free(&round);
	return rows;
}
