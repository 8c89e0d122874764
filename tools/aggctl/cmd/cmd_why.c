// SPDX-License-Identifier: GPL-2.0
/* aggctl why: whether this node merges its transfers as planned. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/ctl_open.h"
#include "cmd/diagnosis.h"
#include "cmd/hosts_options.h"
#include "cmd/why_hosts.h"
#include "cmd/why_text.h"
#include "host/node_check.h"
#include "info.h"
#include "names.h"
#include "neighbour.h"
#include "output.h"

static const struct verb verbs[];

static uint64_t job = UINT64_MAX;
static const char *receiver;
static bool held;
static struct hosts hosts = HOSTS_DEFAULT;

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

/*
 * A node without an entry leaves all packets to plain IP, but those of scheme packet,
 * which only ends have entries of.
 */
static void find_none(const struct subject *s, const json_t *trees,
		      json_t *findings)
{
	const bool one = job != UINT64_MAX || receiver;

	if (json_array_size(trees))
		return;
	if (counters_value(&s->counters, "forwarded_filter"))
		finding_add(findings, true, s->name, one ?
			    WHY_NO_ENTRY WHY_OF_ONE ", and has forwarded packets by the names of its links" :
			    WHY_NO_ENTRY ", and has forwarded packets by the names of its links",
			    "aggctl stats show");
	else
		finding_add(findings, false, s->name, one ?
			    WHY_NO_ENTRY WHY_OF_ONE ", and merges nothing of it" :
			    WHY_NO_ENTRY ", and merges nothing",
			    "aggctl apply PLAN.json");
}

/* Each entry depends on what its host would do with packets. */
static json_t *notes_json(const json_t *trees, json_t *findings)
{
	json_t *known = json_pack("[O]", findings), *checks, *notes, *tree;
	bool good;
	size_t i;

	checks = node_check(&good);
	json_array_foreach((json_t *)trees, i, tree)
		json_array_append(known, json_object_get(tree, "findings"));
	notes = diagnose_host(checks, known);
	json_decref(known);
	json_decref(checks);
	return notes;
}

/* See why_text.h. */
static json_t *answer_json(const struct subject *s, json_t *trees)
{
	json_t *findings = diagnose_node(s);

	find_none(s, trees, findings);
	return json_pack("{s:o, s:o, s:o, s:O, s:o, s:o}", "node",
			 info_text(s->name),
			 "identity", addr_json(s->node.address),
			 "findings", findings, "trees", trees, "fallbacks",
			 fallback_json(&s->counters, NULL), "notes",
			 notes_json(trees, findings));
}

static int look(const struct in_addr *addr, json_t **answer)
{
	struct subject s = { .up = device_up };
	struct aggnet_ctl *ctl = ctl_open();
	json_t *trees = json_array();
	int st = ctl ? read_node(ctl, &s) : ST_FAILED;

	if (!st) {
		s.name = names_self(s.node.label);
		st = read_trees(ctl, &s, addr, trees);
	}
	if (!st)
		*answer = answer_json(&s, trees);
	json_decref(trees);
	free(s.port);
	free(s.counters.list);
	aggnet_ctl_close(ctl);
	return st;
}

/* An entry for a program, which need not know the rest of the answer. */
static int show_trees(const json_t *answer)
{
	json_t *trees = json_object_get(answer, "trees"), *tree, *finding;
	size_t i;

	json_array_foreach(trees, i, tree) {
		json_object_set(tree, "fallbacks",
				json_object_get(answer, "fallbacks"));
		json_object_set(tree, "host", json_object_get(answer, "notes"));
	}
	if (out_json(json_incref(trees)))
		return ST_FAILED;
	finding = json_array_get(json_object_get(answer, "findings"), 0);
	if (finding)
		err("why: %s: %s",
		    json_string_value(json_object_get(finding, "object")),
		    json_string_value(json_object_get(finding, "cause")));
	return ST_DONE;
}

static int ask_here(const struct aggctl *ctl, const struct in_addr *addr)
{
	json_t *answer = NULL;
	int st = look(addr, &answer);

	if (st)
		return st;
	if (held)
		st = out_json(json_incref(answer));
	else if (ctl->json)
		st = show_trees(answer);
	else
		why_print(answer);
	if (!st && why_is_wrong(answer))
		st = ST_WRONG;
	json_decref(answer);
	return st;
}

static int ask_hosts(const struct aggctl *ctl, const struct in_addr *addr)
{
	char one[16] = "", arguments[96];
	json_t *answers = NULL;
	int st = ST_FAILED;

	if (job != UINT64_MAX)
		snprintf(one, sizeof(one), " %u", (unsigned int)job);
	snprintf(arguments, sizeof(arguments), "why%s --held%s%s", one,
		 receiver ? " --receiver " : "", receiver ? addr_text(*addr) : "");
	if (!hosts_load(&hosts))
		answers = why_hosts(&hosts, arguments);
	if (answers) {
		st = why_hosts_status(answers);
		if (!ctl->json)
			why_hosts_print(&hosts, one, answers);
		else if (out_json(json_incref(answers)))
			st = ST_FAILED;
	}
	json_decref(answers);
	hosts_free(&hosts);
	return st;
}

static int check_options(const struct aggctl *ctl)
{
	int st = hosts_options(ctl, verbs, &hosts);

	if (!st && hosts.file && (ctl->netns || held))
		return usage("why: --hosts is for the hosts of the file, not for this one");
	return st;
}

static int run_why(const struct aggctl *ctl, int argc, char **argv)
{
	struct in_addr addr = {};
	int st = check_options(ctl);

	if (st)
		return st;
	if (argc && job != UINT64_MAX)
		return usage("why: give the job once");
	if (argc && !value_parse(OPT_JOB, argv[0], &job))
		return usage("why: '%s' is not %s", argv[0],
			     value_kind(OPT_JOB));
	if (receiver && !names_parse(receiver, &addr))
		return usage("why: --receiver: '%s' is %s",
			     receiver, names_no_host());
	return hosts.file ? ask_hosts(ctl, &addr) : ask_here(ctl, &addr);
}

static const struct opt opts[] = {
	{ "job", OPT_JOB, &job, "J", "only this job" },
	{ "receiver", OPT_STRING, &receiver, "A",
	  "only transfers to this node, by name or identity" },
	HOSTS_OPTIONS(hosts),
	{ "held", OPT_FLAG, &held, NULL, "what --hosts runs on a host" },
};

static const struct verb verbs[] = {
	{
		.args = "[JOB]",
		.help = "say whether this node, or each host of a file, merges its transfers as planned, and if not, why (exit status 3)",
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
