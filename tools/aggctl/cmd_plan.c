// SPDX-License-Identifier: GPL-2.0
/* aggctl plan: trees of a job, what they cost, and every node's entries. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "output.h"
#include "plan.h"
#include "testbed.h"

#define NS_PER_MS	1000000
/* Epochs count units of 2^27 ns: a later plan has a later epoch. */
#define INSTANCE_SHIFT	27

static struct {
	const char *topology;
	const char *method;
	const char *senders;
	const char *receivers;
	const char *function;
	const char *scheme;
	const char *switching;
	const char *max_depth;
	const char *sizes;
	const char *dot;
	const char *gid;
	uint64_t hold;
	uint64_t give_up;
	uint64_t seed;
	double delta;
	bool no_key;
	struct plan_conf conf;
} opt = {
	.method = "auto",
	.function = "sum",
	.scheme = "exact",
	.switching = "aggnet",
	.seed = 1,
	.conf = { .job = 1, .writers = 1, .uid = UINT32_MAX },
};

/**
 * struct work - what is made of the options
 * @topo: topology
 * @senders: list
 * @receivers: list
 * @sizes: of the senders' flows, NULL if all are 1
 * @max_depth: bound, as the library wants it
 * @plan: result
 */
struct work {
	struct aggt_topo *topo;
	struct aggt_list senders;
	struct aggt_list receivers;
	double *sizes;
	uint32_t max_depth;
	struct aggt_plan *plan;
};

static const struct column metric_cols[] = {
	{ "cost", "cost" }, { "existing", "existing" }, { "saving", "saving" },
	{ "links", "links" }, { "aggregating_servers", "aggregating servers" },
	{ "added_servers", "added servers" }, { "depth", "depth" },
};

static const struct column tree_cols[] = {
	{ "receiver", "receiver" }, { "entry", "entry" }, { "cost", "cost" },
	{ "links", "links" }, { "depth", "depth" }, { "senders", "senders" },
};

static const struct column entry_cols[] = {
	{ "node", "node" }, { "receiver", "receiver" }, { "role", "role" },
	{ "contributors", "contributors" }, { "sources", "sources" },
	{ "scheme", "scheme" }, { "link_port", "port" },
	{ "link_neighbour", "next" }, { "hops", "hops" },
};

/* The content of a file; the caller frees it. */
static char *file_text(const char *path)
{
	char *content = NULL;
	size_t len = 0;
	FILE *f;

	f = fopen(path, "r");
	if (!f || (getdelim(&content, &len, '\0', f) < 0 && ferror(f)))
		err("plan: %s: %s", path, strerror(errno));
	else if (!content || !*content)
		err("plan: %s: it is empty", path);
	if (f)
		fclose(f);
	if (content && *content)
		return content;
	free(content);
	return NULL;
}

static int parse_list(const struct aggt_topo *topo, const char *option,
		      const char *text, uint64_t seed, struct aggt_list *list)
{
	char *content = text[0] == '@' ? file_text(text + 1) : strdup(text);
	struct aggt_err why;
	int ret;

	if (!content)
		return ST_FAILED;
	ret = aggt_list_parse(topo, content, seed, list, &why);
	free(content);
	return ret ? fail("plan: --%s: %s", option, why.text) : ST_DONE;
}

static int parse_sizes(struct work *w)
{
	struct aggt_err why;
	char *content;
	int ret;

	if (!opt.sizes)
		return ST_DONE;
	content = file_text(opt.sizes);
	w->sizes = calloc(w->senders.n, sizeof(*w->sizes));
	if (!content || !w->sizes) {
		free(content);
		return ST_FAILED;
	}
	ret = aggt_sizes_parse(w->topo, content, &w->senders, w->sizes, &why);
	free(content);
	return ret ? fail("plan: %s: %s", opt.sizes, why.text) : ST_DONE;
}

static uint32_t to_ms(uint64_t ns)
{
	uint64_t ms = (ns + NS_PER_MS - 1) / NS_PER_MS;

	return ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
}

static uint32_t draw_instance(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint32_t)(((uint64_t)now.tv_sec * 1000000000 +
			   (uint64_t)now.tv_nsec) >> INSTANCE_SHIFT);
}

static int check_names(void)
{
	struct plan_conf *conf = &opt.conf;
	int found;

	if (!opt.topology || !opt.senders || !opt.receivers)
		return usage("plan: needs --topology, --senders and --receivers");
	found = aggnet_enum_find(aggnet_function_names, opt.function);
	if (found < 0)
		return usage("plan: --function: '%s' is none of sum, min, max, count",
			     opt.function);
	conf->function = (uint8_t)found;
	found = aggnet_enum_find(aggnet_scheme_names, opt.scheme);
	if (found != AGGNET_SCHEME_EXACT && found != AGGNET_SCHEME_BLOOM)
		return usage("plan: --scheme: '%s' is none of exact, bloom",
			     opt.scheme);
	conf->scheme = (uint8_t)found;
	conf->aggnet_switches = !strcmp(opt.switching, "aggnet");
	if (!conf->aggnet_switches && strcmp(opt.switching, "dumb"))
		return usage("plan: --switches: '%s' is neither 'aggnet' nor 'dumb'",
			     opt.switching);
	return ST_DONE;
}

static int check_numbers(struct work *w)
{
	struct plan_conf *conf = &opt.conf;

	if (opt.max_depth && !strcmp(opt.max_depth, "none"))
		w->max_depth = AGGT_DEPTH_NONE;
	else if (opt.max_depth && (!value_parse(OPT_U32, opt.max_depth,
						&w->max_depth) ||
				   !w->max_depth))
		return usage("plan: --max-depth: '%s' is neither a number from 1 on nor 'none'",
			     opt.max_depth);
	if (opt.delta > 1)
		return usage("plan: --delta: %g is not in 0..1", opt.delta);
	if (!conf->writers)
		return usage("plan: --writers: a sender has at least one");
	if (conf->memory && conf->memory < AGGNET_MEMORY_MIN)
		return usage("plan: --memory: a tree needs %llu bytes at least",
			     AGGNET_MEMORY_MIN);
	conf->has_gid = opt.gid;
	if (opt.gid && !value_parse(OPT_U32, opt.gid, &conf->gid))
		return usage("plan: --gid: '%s' is no group number", opt.gid);
	if (conf->uid == UINT32_MAX)
		conf->uid = getuid();
	conf->keyed = !opt.no_key;
	conf->hold = to_ms(opt.hold);
	conf->give_up = to_ms(opt.give_up);
	conf->instance = draw_instance();
	return ST_DONE;
}

static int make_plan(struct work *w)
{
	struct aggt_job job = {};
	struct aggt_err why;
	int st;

	w->topo = aggt_topo_parse(opt.topology, &why);
	if (!w->topo)
		return fail("plan: --topology: %s", why.text);
	st = parse_list(w->topo, "senders", opt.senders, opt.seed,
			&w->senders);
	/* Receivers that are drawn have a sequence of their own. */
	if (!st)
		st = parse_list(w->topo, "receivers", opt.receivers,
				opt.seed + 1, &w->receivers);
	if (!st)
		st = parse_sizes(w);
	if (st)
		return st;
	job.senders = w->senders.node;
	job.n_senders = w->senders.n;
	job.sizes = w->sizes;
	job.receivers = w->receivers.node;
	job.n_receivers = w->receivers.n;
	job.method = opt.method;
	job.delta = opt.delta;
	job.max_depth = w->max_depth;
	job.seed = opt.seed;
	w->plan = aggt_plan_build(w->topo, &job, &why);
	return w->plan ? ST_DONE : fail("plan: %s", why.text);
}

/* Entries name addresses; there are none for networks of any size. */
static json_t *nodes_json(const struct work *w)
{
	const struct testbed tb = { .topo = w->topo };

	return tb_fits(&tb) ? plan_nodes(w->topo, w->plan, &opt.conf) :
	       json_object();
}

static json_t *plan_object(const struct work *w)
{
	json_t *nodes = nodes_json(w);

	if (!nodes)
		return NULL;
	return json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:f, s:I, s:I, s:i, s:o, s:o, s:o}",
			 "topology", aggt_topo_name(w->topo),
			 "method", opt.method, "job",
			 (json_int_t)opt.conf.job, "function", opt.function,
			 "scheme", opt.scheme, "switching", opt.switching,
			 "delta", opt.delta, "seed", (json_int_t)opt.seed,
			 "instance", (json_int_t)opt.conf.instance,
			 "attempt", 0,
			 "metrics", plan_metrics(aggt_plan_metrics(w->plan)),
			 "trees", plan_trees(w->plan), "nodes", nodes);
}

static void show_trees(const json_t *trees)
{
	json_t *rows = json_array();
	json_t *tree, *row;
	size_t i, n;

	json_array_foreach((json_t *)trees, i, tree) {
		n = json_array_size(json_object_get(tree, "senders"));
		row = json_copy(tree);
		json_object_set_new(row, "senders",
				    json_integer((json_int_t)n));
		json_array_append_new(rows, row);
	}
	out_rows(tree_cols, ARRAY_SIZE(tree_cols), rows);
	json_decref(rows);
}

static void show_entries(const json_t *nodes)
{
	json_t *rows = json_array();
	json_t *node, *tree, *row;
	const char *name;
	size_t i;

	json_object_foreach((json_t *)nodes, name, node) {
		json_array_foreach(json_object_get(node, "trees"), i, tree) {
			row = json_copy(tree);
			json_object_set_new(row, "node", json_string(name));
			json_array_append_new(rows, row);
		}
	}
	out_rows(entry_cols, ARRAY_SIZE(entry_cols), rows);
	json_decref(rows);
}

static void show_text(const json_t *plan)
{
	const json_t *nodes = json_object_get(plan, "nodes");

	out_fields(metric_cols, ARRAY_SIZE(metric_cols),
		   json_object_get(plan, "metrics"));
	putchar('\n');
	show_trees(json_object_get(plan, "trees"));
	if (!json_object_size(nodes))
		return;
	putchar('\n');
	show_entries(nodes);
}

/* A file that gets keys is for its owner only. */
static int guard_output(void)
{
	struct stat st;

	if (opt.no_key || fstat(STDOUT_FILENO, &st) || !S_ISREG(st.st_mode))
		return ST_DONE;
	if (!fchmod(STDOUT_FILENO, 0600))
		return ST_DONE;
	return fail("plan: keys are not written to a file that others may read: %s",
		    strerror(errno));
}

static int show_plan(const struct aggctl *ctl, const struct work *w)
{
	json_t *plan = plan_object(w);
	int st;

	if (!plan)
		return ST_FAILED;
	if (!ctl->json) {
		show_text(plan);
		json_decref(plan);
		return ST_DONE;
	}
	st = guard_output();
	if (!st)
		return out_json(plan);
	json_decref(plan);
	return st;
}

static int list_methods(void)
{
	const char *const *name;

	for (name = aggt_methods(); *name; name++)
		puts(*name);
	return ST_DONE;
}

static int run_plan(const struct aggctl *ctl, int argc, char **argv)
{
	struct work w = {};
	int st;

	(void)argc;
	(void)argv;
	if (!strcmp(opt.method, "list"))
		return list_methods();
	st = check_names();
	if (!st)
		st = check_numbers(&w);
	if (!st)
		st = make_plan(&w);
	if (!st && opt.dot &&
	    plan_draw(opt.dot, w.topo, w.plan, opt.conf.job))
		st = ST_FAILED;
	if (!st)
		st = show_plan(ctl, &w);
	aggt_plan_free(w.plan);
	aggt_list_clear(&w.senders);
	aggt_list_clear(&w.receivers);
	free(w.sizes);
	aggt_topo_free(w.topo);
	return st;
}

static const struct opt opts[] = {
	{ "topology", OPT_STRING, &opt.topology, "T",
	  "bcube:N,K or ghc:N0,N1,..." },
	{ "method", OPT_STRING, &opt.method, "M",
	  "how trees are built (auto); 'list' names all methods" },
	{ "senders", OPT_STRING, &opt.senders, "LIST",
	  "v2,v5,v9 or random:M or @FILE" },
	{ "receivers", OPT_STRING, &opt.receivers, "LIST", "likewise" },
	{ "job", OPT_U32, &opt.conf.job, "J", "job ID (1)" },
	{ "function", OPT_STRING, &opt.function, "F",
	  "sum, min, max or count (sum)" },
	{ "scheme", OPT_STRING, &opt.scheme, "S",
	  "exact: entries name links; bloom: filters do (exact)" },
	{ "switches", OPT_STRING, &opt.switching, "KIND",
	  "what bloom meets: 'aggnet' (default) or 'dumb' switches" },
	{ "delta", OPT_REAL, &opt.delta, "D", "aggregation ratio 0..1 (0)" },
	{ "sizes", OPT_STRING, &opt.sizes, "FILE",
	  "sizes of the senders' flows, lines 'vN SIZE' (all 1)" },
	{ "max-depth", OPT_STRING, &opt.max_depth, "H",
	  "most hops of a flow, or 'none'" },
	{ "uid", OPT_U32, &opt.conf.uid, "U",
	  "who may send and receive (who plans)" },
	{ "gid", OPT_STRING, &opt.gid, "G", "whose group may, too" },
	{ "writers", OPT_U32, &opt.conf.writers, "N",
	  "processes that send at each sender (1)" },
	{ "memory", OPT_SIZE, &opt.conf.memory, "B",
	  "limit of each tree's buffer at a node, like 64K (4M)" },
	{ "hold", OPT_TIME, &opt.hold, "S",
	  "seconds to wait for contributors (no limit)" },
	{ "give-up", OPT_TIME, &opt.give_up, "S",
	  "seconds of silence until the transfer is aborted (30)" },
	{ "no-key", OPT_FLAG, &opt.no_key, NULL,
	  "CRC32C instead of keyed tags" },
	{ "seed", OPT_U64, &opt.seed, "N", "of all that is drawn (1)" },
	{ "dot", OPT_STRING, &opt.dot, "FILE",
	  "draw the trees: Graphviz, or .svg .png .pdf by way of dot" },
};

static const struct verb verbs[] = {
	{
		.args = "",
		.help = "compute the trees of a job and every node's entries",
		.opts = opts,
		.nopts = ARRAY_SIZE(opts),
		.run = run_plan,
	},
};

const struct command cmd_plan = {
	.name = "plan",
	.help = "compute the trees of a job and every node's entries",
	.verbs = verbs,
	.nverbs = ARRAY_SIZE(verbs),
};
