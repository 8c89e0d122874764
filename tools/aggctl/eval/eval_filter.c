// SPDX-License-Identifier: GPL-2.0
/* Filters in packets: their sizes (paper 000, Table 2), and how many links
 * beside a path they match, which the paper does not measure.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggctl.h"
#include "aggtree.h"
#include "eval/eval.h"

#define SENDERS		60
#define K_FIRST		3
#define K_LAST		7
#define SALTS		256

/**
 * struct rule - a rule, and the method of its trees
 * @rule: which links nodes test
 * @method: paths of the paper's rule correct a digit with each hop
 */
static const struct rule {
	enum aggt_filter_rule rule;
	const char *method;
} rules[] = {
	{ AGGT_FILTER_PAPER, "unicast" },
	{ AGGT_FILTER_GENERAL, "irs" },
};

/**
 * struct sums - over the filters of one k and rule
 * @filters: how many
 * @first: links that they name by mistake, with the first salt
 * @best: with the best one
 * @bits: of the largest plan
 */
struct sums {
	size_t filters;
	double first;
	double best;
	uint32_t bits;
};

static int add_filter(const struct aggt_plan *plan,
		      struct aggt_filter_conf *conf,
		      const struct aggt_filter_size *size,
		      const struct aggt_entry *e, struct sums *s)
{
	uint64_t incast_id = (uint64_t)1 << 32 | e->receiver;
	struct aggt_filter filter;

	if (!(e->flags & AGGT_END) || e->parent == AGGT_NONE)
		return 0;
	conf->salts = 1;
	/*
	 * A filter that loses packets counts, too: salts are meant to avoid
	 * that.
	 */
	if (aggt_filter_make(plan, conf, size, e, incast_id, &filter, NULL) &&
	    !filter.lost)
		return -1;
	s->first += filter.false_links;
	conf->salts = SALTS;
	if (aggt_filter_make(plan, conf, size, e, incast_id, &filter, NULL) &&
	    !filter.lost)
		return -1;
	s->best += filter.false_links;
	s->filters++;
	return 0;
}

static int add_plan(const struct aggt_plan *plan, enum aggt_filter_rule rule,
		    struct sums *s)
{
	struct aggt_filter_conf conf = {
		.rule = rule, .switches = true, .rate = 1,
	};
	struct aggt_filter_size size;
	const struct aggt_entry *entry;
	size_t i, n;

	if (aggt_filter_measure(plan, &conf, &size, NULL))
		return -1;
	if (size.bits > s->bits)
		s->bits = size.bits;
	entry = aggt_plan_entries(plan, &n);
	for (i = 0; i < n; i++)
		if (add_filter(plan, &conf, &size, &entry[i], s))
			return -1;
	return 0;
}

static int run_round(unsigned int k, const struct rule *rule, uint64_t seed,
		     struct sums *s)
{
	struct aggt_job job = { .method = rule->method, .n_receivers = 1 };
	struct aggt_list senders = {}, receivers = {};
	struct aggt_plan *plan = NULL;
	struct aggt_topo *topo;
	char text[32];
	int ret = -1;

	snprintf(text, sizeof(text), "bcube:6,%u", k);
	topo = aggt_topo_parse(text, NULL);
	snprintf(text, sizeof(text), "random:%u", SENDERS);
	if (!topo || aggt_list_parse(topo, text, seed, &senders, NULL) ||
	    aggt_list_parse(topo, "random:1", ~seed, &receivers, NULL))
		goto out;
	job.senders = senders.node;
	job.n_senders = senders.n;
	job.receivers = receivers.node;
	plan = aggt_plan_build(topo, &job, NULL);
	if (plan)
		ret = add_plan(plan, rule->rule, s);
out:
	aggt_plan_free(plan);
	aggt_list_clear(&senders);
	aggt_list_clear(&receivers);
	aggt_topo_free(topo);
	return ret;
}

static json_t *row_json(unsigned int k, const struct sums *s)
{
	return json_pack("{s:i s:I s:f s:f s:i s:f s:f}", "k", (int)k,
			 "bits", (json_int_t)aggt_filter_paper_bits(k, 1),
			 "false_links", s[0].first / s[0].filters,
			 "false_links_salted", s[0].best / s[0].filters,
			 "general_bits", (int)s[1].bits,
			 "general_false_links", s[1].first / s[1].filters,
			 "general_false_links_salted",
			 s[1].best / s[1].filters);
}

json_t *eval_filter(uint64_t seed, unsigned int rounds)
{
	json_t *rows = json_array();
	unsigned int k, i, r;

	for (k = K_FIRST; k <= K_LAST; k++) {
		struct sums s[ARRAY_SIZE(rules)] = {};

		for (i = 0; i < rounds * ARRAY_SIZE(rules); i++) {
			r = i % ARRAY_SIZE(rules);
			if (!run_round(k, &rules[r], seed + i, &s[r]))
				continue;
			err("eval: filters of BCube(6,%u): out of memory", k);
			json_decref(rows);
			return NULL;
		}
		json_array_append_new(rows, row_json(k, s));
	}
	return rows;
}

static const struct eval_column columns[] = {
	{ "k", "k", 14, 0 }, { "bits", "bits", 14, 0 },
	{ "false_links", "false links", 14, 3 },
	{ "false_links_salted", "salted", 14, 3 },
	{ "general_bits", "general: bits", 14, 0 },
	{ "general_false_links", "false links", 14, 3 },
	{ "general_false_links_salted", "salted", 14, 3 },
};

static const struct eval_table table = { columns, ARRAY_SIZE(columns) };

static const char what[] =
	"BCube(6,k), 60 senders, 1 receiver. Bits by formula (3), the paper has 19, 38\n"
	"and, for k = 7, 102; then of the general rule by the same bound. False links\n"
	"are those beside its way that a filter names, on average: with the first salt\n"
	"and with the best of 256.\n";

void eval_filter_print(const json_t *rows)
{
	printf("000-table2: bits of the filter in each packet\n%s\n", what);
	eval_table_print(&table, rows);
}

void eval_filter_rst(FILE *f, const json_t *rows)
{
	fprintf(f, "\n000 Table 2: bits of the filter in each packet\n"
		"----------------------------------------------\n\n"
		"%s(``000-table2``)\n\n"
		".. list-table:: Bits and false links\n   :header-rows: 1\n\n",
		what);
	eval_table_rst(&table, f, rows);
}
