// SPDX-License-Identifier: GPL-2.0
/*
 * "aggctl why" on all hosts of a file. What a host prints is not trusted: it is an answer
 * of a limited size within a limited time, and the last of the other lines says why there
 * is none.
 */
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "cmd/why_hosts.h"
#include "cmd/why_text.h"
#include "monotonic.h"
#include "remote/remote.h"

#define ANSWER_MAX	(1 << 20)	/* bytes: hundreds of entries */

static const char as_planned[] = "as planned";
static const char wrong[] = "wrong";
static const char not_known[] = "not known";

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

static const char *const lists[] = { "findings", "trees", "fallbacks", "notes" };

/* Is it what why_text.h describes? Rows of any kind can be printed. */
static bool is_answer(const json_t *json)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		if (!json_is_array(json_object_get(json, lists[i])))
			return false;
	return json_is_string(json_object_get(json, "node"));
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
		return json_string("it has not printed what aggctl why prints");
	if (a->last[0])
		text = json_string(a->last);
	/* It may also have printed what is not UTF-8. */
	return text ? text :
	       json_sprintf("the command ended with status %d, and aggctl has said nothing there",
			    a->status);
}

static json_t *known_json(const struct asked *a, const json_t *answer)
{
	json_t *row = json_pack("{s:s, s:s, s:n, s:O}", "host", a->name, "said",
				why_is_wrong(answer) ? wrong : as_planned,
				"error", "node", json_object_get(answer, "node"));
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		json_object_set(row, lists[i], json_object_get(answer, lists[i]));
	return row;
}

static json_t *row_json(struct asked *a)
{
	json_t *answer, *row;

	fflush(a->f);
	answer = a->inside ? NULL : json_loadb(a->text, a->size, 0, NULL);
	if (is_answer(answer))
		row = known_json(a, answer);
	else
		row = json_pack("{s:s, s:s, s:o}", "host", a->name, "said",
				not_known, "error", error_json(a));
	json_decref(answer);
	return row;
}

json_t *why_hosts(const struct hosts *hosts, const char *arguments)
{
	json_t *answers = NULL;
	struct round round;
	size_t i;

	if (!round_new(&round, hosts) && !ask_all(&round, arguments)) {
		answers = json_array();
		for (i = 0; i < round.n; i++)
			json_array_append_new(answers, row_json(&round.asked[i]));
	}
	round_free(&round);
	return answers;
}

static const char *text_of(const json_t *answer, const char *key)
{
	return json_string_value(json_object_get(answer, key));
}

static bool has_said(const json_t *answer, const char *said)
{
	return !strcmp(text_of(answer, "said"), said);
}

static size_t count(const json_t *answers, const char *said)
{
	size_t i, n = 0;
	json_t *answer;

	json_array_foreach((json_t *)answers, i, answer)
		n += has_said(answer, said);
	return n;
}

/* Hosts that are named in the first line at most. */
#define LISTED		16

static void print_names(const char *before, const json_t *answers,
			const char *said)
{
	const size_t all = count(answers, said);
	json_t *answer;
	size_t i, n = 0;

	json_array_foreach((json_t *)answers, i, answer) {
		if (!has_said(answer, said) || n == LISTED)
			continue;
		printf("%s%s", n ? ", " : before, text_of(answer, "host"));
		n++;
	}
	if (n < all)
		printf(" and %zu others", all - n);
}

static void print_first_line(const char *job, const json_t *answers)
{
	const size_t all = json_array_size(answers);
	const size_t good = count(answers, as_planned);
	size_t i, waiting = 0;
	json_t *answer;

	json_array_foreach((json_t *)answers, i, answer)
		waiting += has_said(answer, as_planned) && why_waits(answer);
	printf("%s%s: as planned on ", *job ? "job" : "all transfers", job);
	if (good == all)
		printf("all %zu hosts", all);
	else
		printf("%zu of %zu hosts", good, all);
	print_names("; WRONG on ", answers, wrong);
	print_names("; not known of ", answers, not_known);
	if (waiting)
		printf("; not all has arrived yet on %zu", waiting);
	putchar('\n');
}

static void print_fault(const struct hosts *hosts, const char *job,
			const json_t *answer)
{
	const char *host = text_of(answer, "host");

	if (has_said(answer, wrong)) {
		printf("  %s: ", host);
		why_print_first(answer, host);
	} else if (has_said(answer, not_known)) {
		printf("  %s: not known: ", host);
		put_safe(stdout, text_of(answer, "error"));
		printf(". Next: %s %s aggctl why%s\n", hosts->ssh,
		       json_string_value(json_object_get(hosts->to, host)), job);
	}
}

void why_hosts_print(const struct hosts *hosts, const char *job,
		     const json_t *answers)
{
	json_t *answer;
	size_t i;

	print_first_line(job, answers);
	json_array_foreach((json_t *)answers, i, answer)
		print_fault(hosts, job, answer);
	json_array_foreach((json_t *)answers, i, answer) {
		if (has_said(answer, not_known))
			continue;
		printf("== %s\n", text_of(answer, "host"));
		why_print(answer);
	}
}

int why_hosts_status(const json_t *answers)
{
	if (count(answers, wrong))
		return ST_WRONG;
	return count(answers, not_known) ? ST_FAILED : ST_DONE;
}
