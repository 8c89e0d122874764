// SPDX-License-Identifier: GPL-2.0
/* aggctl why: whether this node merges its transfers as planned. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/ctl_open.h"
#include "cmd/diagnosis.h"
#include "host/node_check.h"
#include "info.h"
#include "names.h"
#include "neighbour.h"
#include "output.h"

static uint64_t job = UINT64_MAX;
static const char *receiver;

/**
 * struct answer - what "why" has found
 * @name: of the node
 * @node: findings about the node
 * @trees: one object for each entry
 * @fallbacks: of the node's counters
 * @host: what "host check" finds
 */
struct answer {
	const char *name;
	json_t *node;
	json_t *trees;
	json_t *fallbacks;
	json_t *host;
};

static bool is_wanted(const struct aggnet_tree_info *tree,
		      const struct in_addr *addr)
{
	return (job == UINT64_MAX || info_of_job(tree, job)) &&
	       (!receiver || aggnet_incast_receiver(tree->incast_id).s_addr ==
				     addr->s_addr);
}

static int read_node(struct aggnet_ctl *ctl, struct subject *s)
{
	if (aggnet_node_get(ctl, &s->node))
		return ctl_refused(ctl, "node");
	if (aggnet_port_list(ctl, &s->port, &s->nports))
		return ctl_refused(ctl, "ports");
	if (aggnet_stats_list(ctl, &s->counters.list, &s->counters.n))
		return ctl_refused(ctl, "stats");
	return ST_DONE;
}

static int read_trees(struct aggnet_ctl *ctl, const struct subject *s,
		      const struct in_addr *addr, json_t *trees)
{
	struct aggnet_tree_info *list;
	size_t i, n;

	if (aggnet_tree_list(ctl, &list, &n))
		return ctl_refused(ctl, "trees");
	for (i = 0; i < n; i++)
		if (is_wanted(&list[i], addr))
			json_array_append_new(trees, diagnose_tree(s, &list[i]));
	aggnet_tree_list_free(list, n);
	return ST_DONE;
}

/* A node without an entry leaves all packets to plain IP. */
static void find_none(struct answer *a)
{
	if (!json_array_size(a->trees))
		finding_add(a->node, false, a->name, job != UINT64_MAX || receiver ?
			    "it has no entry of this transfer, and merges nothing of it" :
			    "it has no entry, and merges nothing",
			    "aggctl apply PLAN.json");
}

/* Each entry depends on what its host would do with packets. */
static void check_host(struct answer *a)
{
	json_t *known = json_pack("[O]", a->node), *checks, *tree;
	bool good;
	size_t i;

	checks = node_check(&good);
	json_array_foreach(a->trees, i, tree)
		json_array_append(known, json_object_get(tree, "findings"));
	a->host = diagnose_host(checks, known);
	json_array_foreach(a->trees, i, tree)
		json_object_set(tree, "host", a->host);
	json_decref(known);
	json_decref(checks);
}

static int look(struct answer *a, const struct in_addr *addr)
{
	struct subject s = { .up = device_up };
	struct aggnet_ctl *ctl = ctl_open();
	int st;

	if (!ctl)
		return ST_FAILED;
	st = read_node(ctl, &s);
	s.name = a->name = names_self(s.node.label);
	a->trees = json_array();
	if (!st)
		st = read_trees(ctl, &s, addr, a->trees);
	if (!st) {
		a->node = diagnose_node(&s);
		a->fallbacks = fallback_json(&s.counters, NULL);
		find_none(a);
		check_host(a);
	}
	free(s.port);
	free(s.counters.list);
	aggnet_ctl_close(ctl);
	return st;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "?";
}

static long long number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void print_findings(const json_t *findings, const char *indent)
{
	const json_t *row;
	size_t i;

	json_array_foreach(findings, i, row) {
		printf("%s%s: ", indent,
		       json_is_true(json_object_get(row, "note")) ? "note" :
								    "WRONG");
		names_print(stdout, "%s: %s", text_of(row, "object"),
			    text_of(row, "cause"));
		/* A command is printed as it has to be typed. */
		fputs(". Next: ", stdout);
		put_safe(stdout, text_of(row, "fix"));
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
	size_t i;

	if (!n)
		return;
	printf("  %s", what);
	for (i = 0; i < n && i < LISTED; i++)
		names_print(stdout, "%s %s", i ? "," : ":",
			    json_string_value(json_array_get(list, i)));
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

	if (!strcmp(part, "forwards"))
		return "this node forwards it, and has nothing to merge";
	if (findings_wrong(json_object_get(tree, "findings")))
		return "not as planned";
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
	printf(" at %s (%s, %s): %s\n", text_of(tree, "node"),
	       text_of(tree, "part"), text_of(tree, "state"), verdict(tree));
	if (strcmp(text_of(tree, "part"), "forwards"))
		print_flows(tree);
	print_findings(json_object_get(tree, "findings"), "  ");
}

static void print_fallbacks(const json_t *fallbacks)
{
	const json_t *row;
	size_t i;

	json_array_foreach(fallbacks, i, row)
		printf("%s: %lld packets (%s): %s. Next: %s\n",
		       json_is_true(json_object_get(row, "note")) ? "note" :
								    "WRONG",
		       number_of(row, "count"), text_of(row, "counter"),
		       text_of(row, "cause"), text_of(row, "fix"));
}

static void print_answer(const struct answer *a)
{
	const json_t *tree;
	size_t i;

	print_findings(a->node, "");
	json_array_foreach(a->trees, i, tree)
		print_tree(tree);
	print_fallbacks(a->fallbacks);
	print_findings(a->host, "");
}

static bool is_wrong(const struct answer *a)
{
	const json_t *tree;
	size_t i;

	json_array_foreach(a->trees, i, tree)
		if (findings_wrong(json_object_get(tree, "findings")))
			return true;
	return findings_wrong(a->node) || findings_wrong(a->fallbacks);
}

static int answer(const struct aggctl *ctl, struct answer *a)
{
	int st = is_wrong(a) ? ST_WRONG : ST_DONE;

	if (!ctl->json)
		print_answer(a);
	else if (out_json(json_incref(a->trees)))
		st = ST_FAILED;
	if (ctl->json && findings_wrong(a->node))
		err("why: %s: %s", text_of(json_array_get(a->node, 0), "object"),
		    text_of(json_array_get(a->node, 0), "cause"));
	return st;
}

static int run_why(const struct aggctl *ctl, int argc, char **argv)
{
	struct in_addr addr = {};
	struct answer a = {};
	int st;

	if (argc && job != UINT64_MAX)
		return usage("why: give the job once");
	if (argc && !value_parse(OPT_JOB, argv[0], &job))
		return usage("why: '%s' is not %s", argv[0],
			     value_kind(OPT_JOB));
	if (receiver && !addr_parse(receiver, &addr))
		return usage("why: --receiver: '%s' is not an IPv4 address",
			     receiver);
	st = look(&a, &addr);
	if (!st)
		st = answer(ctl, &a);
	json_decref(a.node);
	json_decref(a.trees);
	json_decref(a.fallbacks);
	json_decref(a.host);
	return st;
}

static const struct opt opts[] = {
	{ "job", OPT_JOB, &job, "J", "only this job" },
	{ "receiver", OPT_STRING, &receiver, "A",
	  "only transfers to this identity, or vN" },
};

static const struct verb verbs[] = {
	{
		.args = "[JOB]",
		.help = "say whether this node merges its transfers as planned, and if not, why (exit status 3)",
		.max_args = 1,
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_why,
	},
};

const struct command cmd_why = {
	.name = "why",
	.help = "whether transfers are merged here, and if not, why",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
