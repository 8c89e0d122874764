// SPDX-License-Identifier: GPL-2.0
/* What "aggctl why" prints about a node. */
#include <string.h>

#include "aggctl.h"
#include "cmd/diagnosis.h"
#include "cmd/why_text.h"
#include "names.h"

/* A host may answer anything. */
static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "?";
}

static long long number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* Names are written into what is a sentence, and not into a command. */
static void print_text(const char *before, const json_t *object,
		       const char *key)
{
	fputs(before, stdout);
	put_safe(stdout, text_of(object, key));
}

static bool is_note(const json_t *row)
{
	return json_is_true(json_object_get(row, "note"));
}

static void print_cause(const json_t *row)
{
	/* A row of counters, or a finding. */
	if (json_object_get(row, "counter")) {
		printf("%lld packets", number_of(row, "count"));
		print_text(" (", row, "counter");
		print_text("): ", row, "cause");
	} else {
		names_print(stdout, "%s: %s", text_of(row, "object"),
			    text_of(row, "cause"));
	}
}

static void print_rows(const json_t *rows, const char *indent)
{
	const json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row) {
		printf("%s%s: ", indent, is_note(row) ? "note" : "WRONG");
		print_cause(row);
		print_text(". Next: ", row, "fix");
		putchar('\n');
	}
}

static void print_arrived(long long bound, long long unplanned,
			  long long expected)
{
	if (unplanned)
		printf("  flows that arrived: %lld of %lld planned, %lld unplanned\n",
		       bound - unplanned, expected, unplanned);
	else if (bound || expected)
		printf("  flows that arrived: %lld of %lld planned\n", bound,
		       expected);
}

/* Hosts that are named in a line at most. */
#define LISTED		16

/* @total: how many there are, of which @list may have only the first */
static void print_hosts(const char *what, const json_t *list, size_t total)
{
	const size_t n = json_array_size(list);
	const char *host;
	size_t i;

	if (!n)
		return;
	printf("  %s", what);
	for (i = 0; i < n && i < LISTED; i++) {
		host = json_string_value(json_array_get(list, i));
		names_print(stdout, "%s %s", i ? "," : ":", host ? host : "?");
	}
	if (i < total)
		printf(" and %zu others", total - i);
	putchar('\n');
}

static void print_bytes(const json_t *tree)
{
	const json_t *saved = json_object_get(tree, "bytes_saved");
	const bool own = number_of(tree, "writers");
	long long in = number_of(tree, "bytes_in");
	long long out = number_of(tree, "bytes_out");

	if (!in && !out)
		return;
	printf("  bytes: %lld in%s", in, own ? " besides its own records" : "");
	if (out || json_is_integer(saved))
		printf(", %lld out", out);
	if (json_is_integer(saved))
		printf(", %s%lld saved", own ? "about " : "",
		       (long long)json_integer_value(saved));
	putchar('\n');
}

static void print_flows(const json_t *tree)
{
	long long in = number_of(tree, "records_in");
	const json_t *ratio = json_object_get(tree, "merged_ratio");
	const json_t *arrived = json_object_get(tree, "arrived");

	print_arrived(number_of(tree, "bound"), number_of(tree, "unplanned"),
		      number_of(tree, "expected"));
	print_hosts("here", arrived, json_array_size(arrived));
	print_hosts("not here", json_object_get(tree, "unbound"),
		    (size_t)number_of(tree, "absent"));
	if (in && json_is_real(ratio))
		printf("  records: %lld in, %lld out (%.2f to 1)\n", in,
		       number_of(tree, "records_out"), json_real_value(ratio));
	print_bytes(tree);
	if (number_of(tree, "lag"))
		printf("  lag: %lld keys have arrived and have not left yet\n",
		       number_of(tree, "lag"));
	if (strcmp(text_of(tree, "acceptor"), "0.0.0.0")) {
		names_print(stdout, "  merged next at: %s",
			    text_of(tree, "acceptor"));
		putchar('\n');
	}
}

/* The first sentence about an entry. */
static const char *verdict(const json_t *tree)
{
	const char *part = text_of(tree, "part");

	if (findings_wrong(json_object_get(tree, "findings")))
		return "not as planned";
	if (!strcmp(part, "forwards"))
		return "this node forwards it, and has nothing to merge";
	if (!strcmp(text_of(tree, "state"), "idle"))
		return "nothing has arrived yet";
	if (number_of(tree, "bound") < number_of(tree, "expected"))
		return "not all has arrived yet";
	if (!strcmp(part, "contributes"))
		return "this node is a source, and has no other flow to merge";
	return "the planned flows are merged here";
}

static void print_tree(const json_t *tree)
{
	names_print(stdout, "job %lld to %s", number_of(tree, "job"),
		    text_of(tree, "receiver"));
	if (json_object_get(tree, "stripes"))
		printf(", stripe %lld of %lld,", number_of(tree, "stripe") + 1,
		       number_of(tree, "stripes"));
	print_text(" at ", tree, "node");
	print_text(" (", tree, "part");
	print_text(", ", tree, "state");
	printf("): %s\n", verdict(tree));
	if (strcmp(text_of(tree, "part"), "forwards"))
		print_flows(tree);
	print_rows(json_object_get(tree, "findings"), "  ");
}

void why_print(const json_t *answer)
{
	const json_t *trees = json_object_get(answer, "trees"), *tree;
	size_t i;

	print_rows(json_object_get(answer, "findings"), "");
	json_array_foreach((json_t *)trees, i, tree)
		print_tree(tree);
	print_rows(json_object_get(answer, "fallbacks"), "");
	print_rows(json_object_get(answer, "notes"), "");
}

static const json_t *wrong_of(const json_t *rows)
{
	const json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row)
		if (!is_note(row))
			return row;
	return NULL;
}

/* Causes come first: those of the node, of its entries, and what they lead to. */
static const json_t *first_wrong(const json_t *answer)
{
	const json_t *trees = json_object_get(answer, "trees"), *tree;
	const json_t *row = wrong_of(json_object_get(answer, "findings"));
	size_t i;

	json_array_foreach((json_t *)trees, i, tree)
		if (!row)
			row = wrong_of(json_object_get(tree, "findings"));
	return row ? row : wrong_of(json_object_get(answer, "fallbacks"));
}

bool why_is_wrong(const json_t *answer)
{
	return first_wrong(answer);
}

bool why_waits(const json_t *answer)
{
	const json_t *trees = json_object_get(answer, "trees"), *tree;
	size_t i;

	json_array_foreach((json_t *)trees, i, tree)
		if (strcmp(text_of(tree, "part"), "forwards") &&
		    (!strcmp(text_of(tree, "state"), "idle") ||
		     number_of(tree, "bound") < number_of(tree, "expected")))
			return true;
	return false;
}

void why_print_first(const json_t *answer, const char *host)
{
	const json_t *row = first_wrong(answer);

	print_cause(row);
	printf(". Next on %s: ", host);
	print_text("", row, "fix");
	putchar('\n');
}
