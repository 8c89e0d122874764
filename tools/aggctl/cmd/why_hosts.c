// SPDX-License-Identifier: GPL-2.0
/* "aggctl why" on all hosts of a file. Their answers are not trusted. */
#include <string.h>

#include "aggctl.h"
#include "cmd/why_hosts.h"
#include "cmd/why_text.h"
#include "remote/ask.h"

static const char as_planned[] = "as planned";
static const char wrong[] = "wrong";
static const char not_known[] = "not known";

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

static json_t *known_json(const char *host, const json_t *answer)
{
	json_t *row = json_pack("{s:s, s:s, s:n, s:O}", "host", host, "said",
				why_is_wrong(answer) ? wrong : as_planned,
				"error", "node", json_object_get(answer, "node"));
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		json_object_set(row, lists[i], json_object_get(answer, lists[i]));
	return row;
}

static json_t *row_json(const json_t *asked)
{
	const char *host = json_string_value(json_object_get(asked, "host"));
	const json_t *answer = json_object_get(asked, "answer");
	const char *error = json_string_value(json_object_get(asked, "error"));

	if (is_answer(answer))
		return known_json(host, answer);
	return json_pack("{s:s, s:s, s:s}", "host", host, "said", not_known,
			 "error", error ? error :
			 "it has not printed what aggctl why prints");
}

/* Have packets of this entry the names of their links? */
static bool has_names(const json_t *tree)
{
	const char *scheme = json_string_value(json_object_get(tree, "scheme"));

	return scheme && !strcmp(scheme, "packet");
}

static void add_end(json_t *ends, const json_t *identity)
{
	if (json_is_string(identity))
		json_object_set_new(ends, json_string_value(identity), json_true());
}

/* The receiver of an entry, and its children in the plan. */
static void add_ends(json_t *ends, const json_t *tree)
{
	json_t *child;
	size_t i;

	add_end(ends, json_object_get(tree, "receiver"));
	json_array_foreach(json_object_get(tree, "children"), i, child)
		add_end(ends, child);
}

/*
 * Identities of the ends of all entries; NULL: there is no entry, or one of another scheme
 * than packet.
 */
static json_t *all_ends(const json_t *asked)
{
	json_t *ends = json_object(), *row, *tree;
	size_t i, k, n = 0;

	json_array_foreach((json_t *)asked, i, row)
		json_array_foreach(json_object_get(json_object_get(row, "answer"),
						   "trees"), k, tree) {
			if (!has_names(tree)) {
				json_decref(ends);
				return NULL;
			}
			add_ends(ends, tree);
			n++;
		}
	if (n)
		return ends;
	json_decref(ends);
	return NULL;
}

/*
 * A host without an entry does not know the scheme, and so not whether it should have one:
 * of a transfer of scheme packet, only the ends have an entry. The others do know: their
 * entries name the ends.
 */
static bool may_have_none(const json_t *ends, const json_t *answer)
{
	const json_t *identity = json_object_get(answer, "identity");

	return ends && !(json_is_string(identity) &&
			 json_object_get(ends, json_string_value(identity)));
}

/* What the host says of it holds if it is a note there, too, or a fault. */
static void judge_finding(json_t *finding, bool note)
{
	const char *cause = json_string_value(json_object_get(finding, "cause"));
	bool one;

	if (!cause || strncmp(cause, WHY_NO_ENTRY, strlen(WHY_NO_ENTRY)) ||
	    json_is_true(json_object_get(finding, "note")) == note)
		return;
	one = strstr(cause, WHY_OF_ONE);
	json_object_set_new(finding, "note", json_boolean(note));
	json_object_set_new(finding, "cause", json_sprintf(WHY_NO_ENTRY "%s, and %s",
			    one ? WHY_OF_ONE : "", note ?
			    "needs none if it only forwards" :
			    one ? "merges nothing of it" : "merges nothing"));
	json_object_set_new(finding, "fix", json_string(note ?
			    "aggctl stats show" : "aggctl apply PLAN.json"));
}

static void judge_none(json_t *asked)
{
	json_t *ends = all_ends(asked), *row, *answer, *finding;
	size_t i, k;
	bool note;

	json_array_foreach(asked, i, row) {
		answer = json_object_get(row, "answer");
		if (json_array_size(json_object_get(answer, "trees")))
			continue;
		note = may_have_none(ends, answer);
		json_array_foreach(json_object_get(answer, "findings"), k, finding)
			judge_finding(finding, note);
	}
	json_decref(ends);
}

json_t *why_hosts(const struct hosts *hosts, const char *arguments)
{
	json_t *asked = hosts_ask(hosts, arguments), *answers, *row;
	size_t i;

	if (!asked)
		return NULL;
	judge_none(asked);
	answers = json_array();
	json_array_foreach(asked, i, row)
		json_array_append_new(answers, row_json(row));
	json_decref(asked);
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

/* "aggctl why" would say the same again on a host whose module is not loaded. */
static void print_next(const struct hosts *hosts, const char *job,
		       const char *host, const char *error)
{
	static const char load[] = "modprobe aggnet";
	const bool loads = strstr(error, load);

	printf(". Next: %s %s %s%s%s\n", hosts->ssh,
	       json_string_value(json_object_get(hosts->to, host)),
	       hosts->sudo ? "sudo " : "", loads ? load : "aggctl why",
	       loads ? "" : job);
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
		print_next(hosts, job, host, text_of(answer, "error"));
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
