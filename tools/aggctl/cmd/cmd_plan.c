// SPDX-License-Identifier: GPL-2.0
/* aggctl plan: trees of a job, their cost, and every node's entries. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/geometry.h"
#include "output.h"
#include "plan/plan.h"
#include "plan/plan_apply.h"

/*
 * A later plan has a later epoch: an instance counts units of 2^27 ns. Its low
 * bits are random, so plans that are made at once differ in most cases; where
 * they do not, their identities do.
 */
#define INSTANCE_SHIFT	27
#define INSTANCE_RANDOM	4
#define CHANGES_MAX	4096
#define GIVE_UP_MAX	2147483	/* ms; entries of more are refused */

static struct {
	const char *topology;
	const char *method;
	const char *senders;
	const char *receivers;
	const char *collective;
	const char *root;
	const char *function;
	const char *type;
	uint32_t scale;
	const char *scheme;
	const char *rule;
	const char *objective;
	enum aggt_objective objective_number;
	const char *max_depth;
	const char *sizes;
	const char *update;
	const char *dot;
	const char *traffic;
	const char *gid;
	uint64_t seed;
	double delta;
	double bloom_rate;
	uint32_t bloom_trees;
	uint32_t stripes;
	bool no_key;
	bool sorted;
	bool allow_missing;
	bool persist;
	struct plan_conf conf;
} opt = {
	.method = "auto",
	.function = "sum",
	.type = "int64",
	.scheme = "exact",
	.rule = "general",
	.objective = "traffic",
	.seed = 1,
	.bloom_rate = -1,
	.conf = {
		.job = 1, .writers = 1, .uid = UINT32_MAX,
		.aggnet_switches = true, .filter.rate = 1,
	},
};

/**
 * struct work - the lists and sizes that options name
 * @senders: list
 * @receivers: list
 * @sizes: of the senders' flows, NULL if all are 1
 * @max_depth: bound, in the library's format
 */
struct work {
	struct aggt_list senders;
	struct aggt_list receivers;
	double *sizes;
	uint32_t max_depth;
};

static int parse_list(const struct aggt_topo *topo, const char *option,
		      const char *text, uint64_t seed, struct aggt_list *list)
{
	struct aggt_err why;
	char *content;
	int ret;

	content = text[0] == '@' ? plan_read_file("plan", text + 1) :
				strdup(text);
	if (!content)
		return ST_FAILED;
	ret = aggt_list_parse(topo, content, seed, list, &why);
	free(content);
	if (ret && text[0] == '@')
		return fail("plan: --%s: %s", option, why.text);
	return ret ? usage("plan: --%s: %s", option, why.text) : ST_DONE;
}

static int parse_sizes(const struct aggt_topo *topo, struct work *w)
{
	struct aggt_err why;
	char *content;
	int ret;

	if (!opt.sizes)
		return ST_DONE;
	content = plan_read_file("plan", opt.sizes);
	w->sizes = calloc(w->senders.n, sizeof(*w->sizes));
	if (!content || !w->sizes) {
		free(content);
		return ST_FAILED;
	}
	ret = aggt_sizes_parse(topo, content, &w->senders, w->sizes, &why);
	free(content);
	return ret ? fail("plan: %s: %s", opt.sizes, why.text) : ST_DONE;
}

static int draw_instance(uint32_t *instance)
{
	struct timespec now;
	uint64_t units;
	uint32_t low;

	if (getrandom(&low, sizeof(low), 0) != sizeof(low))
		return fail("plan: no random number for its epoch: %s",
			    strerror(errno));
	clock_gettime(CLOCK_REALTIME, &now);
	units = ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) >>
		INSTANCE_SHIFT;
	*instance = (uint32_t)(units << INSTANCE_RANDOM) |
		    low >> (32 - INSTANCE_RANDOM);
	return ST_DONE;
}

static int check_enum(const char *option, const char * const *names,
		      const char *text, uint8_t *value)
{
	int i, found = aggnet_enum_find(names, text);
	char list[512] = "";
	size_t len = 0;

	*value = (uint8_t)found;
	if (found >= 0)
		return ST_DONE;
	for (i = 0; names[i] && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len,
					"%s%s", i ? ", " : "", names[i]);
	return usage("plan: --%s: '%s' is not one of %s", option, text, list);
}

/* Is there such a function of such values? */
static int check_shape(struct plan_conf *conf)
{
	struct aggnet_tree_info tree = {};
	const char *fault;

	if (check_enum("type", aggnet_vtype_names, opt.type, &conf->vtype))
		return ST_USAGE;
	if (opt.scale > UINT8_MAX)
		return usage("plan: --scale: %u is more than 62 bits",
			     opt.scale);
	conf->scale = (uint8_t)opt.scale;
	if (conf->elements && opt.sorted)
		return usage("plan: --sorted: a vector's elements have no keys");
	if (opt.persist && opt.sorted)
		return usage("plan: --persist: a tree of sorted records serves one transfer");
	if (conf->down)
		conf->layout = AGGNET_LAYOUT_BYTES;
	else if (conf->elements)
		conf->layout = AGGNET_LAYOUT_DENSE;
	else if (opt.sorted)
		conf->layout = AGGNET_LAYOUT_SORTED;
	tree.function = conf->function;
	tree.vtype = conf->vtype;
	tree.layout = conf->layout;
	tree.scale = conf->scale;
	tree.k = conf->k;
	tree.elements = conf->elements;
	fault = aggnet_tree_fault(&tree);
	return fault ? usage("plan: %s of %s: %s", opt.function, opt.type,
			     fault) : ST_DONE;
}

/* Options of Bloom tables; the others have the kernel's defaults. */
static int check_geometry(struct plan_conf *conf)
{
	double rate = opt.bloom_rate < 0 ? GEOMETRY_RATE : opt.bloom_rate;
	struct geometry g;
	const char *fault;

	conf->capacity = opt.bloom_trees ? opt.bloom_trees :
					   AGGNET_LINK_CAPACITY_DEFAULT;
	if (opt.bloom_rate < 0 && !opt.bloom_trees)
		return ST_DONE;
	if (conf->scheme != AGGNET_SCHEME_BLOOM)
		return usage("plan: --bloom-rate and --bloom-trees are for --scheme bloom");
	fault = geometry_set(rate, conf->capacity, &g);
	if (fault)
		return usage("plan: --bloom-rate %g, --bloom-trees %u: %s",
			     rate, conf->capacity, fault);
	conf->bits = g.bits;
	conf->hashes = g.hashes;
	return ST_DONE;
}

/* Options of filters in packets. */
static int check_filter(struct plan_conf *conf)
{
	struct aggt_filter_conf *filter = &conf->filter;
	uint8_t rule;

	if (check_enum("filter-rule", plan_rule_names, opt.rule, &rule))
		return ST_USAGE;
	filter->rule = (enum aggt_filter_rule)rule;
	if (filter->rate <= 0)
		return usage("plan: --filter-rate: must be more than 0");
	if (conf->scheme != AGGNET_SCHEME_PACKET &&
	    (filter->rule || filter->bits || filter->rate != 1))
		return usage("plan: --filter-bits, --filter-rate and --filter-rule are for --scheme packet");
	return ST_DONE;
}

/* Only methods that compare trees have one. */
static int check_objective(void)
{
	uint8_t number;

	if (check_enum("objective", plan_objective_names, opt.objective,
		       &number))
		return ST_USAGE;
	opt.objective_number = (enum aggt_objective)number;
	if (number && strcmp(opt.method, "auto") &&
	    strcmp(opt.method, "exact"))
		return usage("plan: --objective: method %s has none; auto and exact have one",
			     opt.method);
	return ST_DONE;
}

/* Stripes are a method; its name can be given, too. */
static int check_stripes(void)
{
	const struct aggt_job job = { .method = opt.method, .n_receivers = 1 };
	uint32_t trees = aggt_job_trees(&job);

	if (trees > UINT32_MAX - opt.conf.job + 1ull)
		return usage("plan: --job: %u and the %u after it are needed, which exceed the largest ID",
			     opt.conf.job, trees - 1);
	if (opt.sorted && !strncmp(opt.method, "stripes", 7))
		return usage("plan: --sorted: records in order cannot be split over stripes");
	if (opt.persist && !strncmp(opt.method, "stripes", 7))
		return usage("plan: --persist: a job of several trees has no rounds");
	return ST_DONE;
}

/* The last stripe of a vector must not be empty. */
static int check_stripe_elements(const struct plan_conf *conf)
{
	const struct aggt_job job = { .method = opt.method, .n_receivers = 1 };
	const struct aggnet_tree_info whole = {
		.function = conf->function, .vtype = conf->vtype,
		.layout = conf->layout, .elements = conf->elements,
	};
	uint32_t trees = aggt_job_trees(&job);

	/* The planner reports a wrong number of trees. */
	if (!conf->elements || !trees ||
	    aggnet_stripe_elements(&whole, trees - 1, trees))
		return ST_DONE;
	return usage("plan: --elements: %llu elements are fewer blocks than %u stripes",
		     (unsigned long long)conf->elements, trees);
}

/*
 * A broadcast is planned like a reduce in the other direction: its receivers are the
 * senders, and its root is the receiver.
 */
static int check_bcast(void)
{
	if (!opt.topology || !opt.root || !opt.receivers || opt.senders)
		return usage("plan: --collective bcast: needs --topology, --root and --receivers, and no --senders");
	if (opt.sorted || opt.conf.elements || opt.allow_missing || opt.conf.hold)
		return usage("plan: --collective bcast: takes no --sorted, --elements, --allow-missing and --hold");
	if (strcmp(opt.scheme, "exact"))
		return usage("plan: --collective bcast: has scheme exact only");
	if (!strncmp(opt.method, "stripes", 7))
		return usage("plan: --collective bcast: has one tree");
	opt.senders = opt.receivers;
	opt.receivers = opt.root;
	opt.conf.down = true;
	return ST_DONE;
}

static int check_collective(void)
{
	if (!opt.collective && opt.root)
		return usage("plan: --root: is for --collective bcast");
	if (!opt.collective || !strcmp(opt.collective, "reduce"))
		return ST_DONE;
	if (!strcmp(opt.collective, "bcast"))
		return check_bcast();
	return usage("plan: --collective: '%s' is not one of reduce, bcast",
		     opt.collective);
}

static int check_names(void)
{
	struct plan_conf *conf = &opt.conf;
	int found;

	if (check_collective())
		return ST_USAGE;
	if (!opt.topology || !opt.senders || !opt.receivers)
		return usage("plan: needs --topology, --senders and --receivers");
	if (check_enum("function", aggnet_function_names, opt.function,
		       &conf->function))
		return ST_USAGE;
	if (check_shape(conf) || check_objective() || check_stripes() ||
	    check_stripe_elements(conf))
		return ST_USAGE;
	found = aggnet_enum_find(aggnet_scheme_names, opt.scheme);
	if (found < AGGNET_SCHEME_EXACT)
		return usage("plan: --scheme: '%s' is not one of exact, bloom, packet",
			     opt.scheme);
	conf->scheme = (uint8_t)found;
	return check_filter(conf) ? ST_USAGE : check_geometry(conf);
}

static int check_numbers(struct work *w)
{
	struct plan_conf *conf = &opt.conf;

	if (opt.max_depth && !strcmp(opt.max_depth, "none"))
		w->max_depth = AGGT_DEPTH_NONE;
	else if (opt.max_depth && (!value_parse(OPT_U32, opt.max_depth,
						&w->max_depth) ||
				   !w->max_depth))
		return usage("plan: --max-depth: '%s' is neither a number of at least 1 nor 'none'",
			     opt.max_depth);
	if (opt.delta > 1)
		return usage("plan: --delta: %g is not in 0..1", opt.delta);
	if (!conf->writers || conf->writers > AGGNET_WRITERS_MAX)
		return usage("plan: --writers: must be from 1 to %d",
			     AGGNET_WRITERS_MAX);
	if (conf->memory && conf->memory < AGGNET_MEMORY_MIN)
		return usage("plan: --memory: a tree needs at least %llu bytes",
			     AGGNET_MEMORY_MIN);
	conf->has_gid = opt.gid;
	if (opt.gid && (!value_parse(OPT_U32, opt.gid, &conf->gid) ||
			conf->gid == UINT32_MAX))
		return usage("plan: --gid: '%s' is not a group ID", opt.gid);
	if (conf->uid == UINT32_MAX)
		conf->uid = getuid();
	conf->keyed = !opt.no_key;
	conf->allow_missing = opt.allow_missing;
	conf->persist = opt.persist;
	return draw_instance(&conf->instance);
}

static int build_trees(struct plan *plan, const struct work *w)
{
	const struct aggt_job job = {
		.senders = w->senders.node,
		.n_senders = w->senders.n,
		.sizes = w->sizes,
		.tasks = w->senders.tasks,
		.receivers = w->receivers.node,
		.n_receivers = w->receivers.n,
		.method = opt.method,
		.delta = opt.delta,
		.max_depth = w->max_depth,
		.seed = opt.seed,
		.objective = opt.objective_number,
		.pipelined = opt.conf.layout != AGGNET_LAYOUT_KEYED,
		.packet = plan_packet(&opt.conf),
		.rate = opt.conf.rate,
		.copies = plan_copies(&opt.conf),
	};
	struct aggt_err why;

	plan->trees = aggt_plan_build(plan->topo, &job, &why);
	if (plan->trees)
		return ST_DONE;
	/* Only arguments decide, unless the network is in a file. */
	return opt.topology[0] == '@' ? fail("plan: %s", why.text) :
					usage("plan: %s", why.text);
}

/* Each task of a sender has as many writers. */
static int check_writers(const struct plan *plan,
			 const struct aggt_list *senders)
{
	const uint64_t writers = plan->conf.writers;
	size_t i;

	for (i = 0; senders->tasks && i < senders->n; i++)
		if (senders->tasks[i] * writers > AGGNET_WRITERS_MAX)
			return usage("plan: %s: %u tasks of %u writers exceed the %d of an entry",
				     plan_server_name(plan, senders->node[i]),
				     senders->tasks[i], plan->conf.writers,
				     AGGNET_WRITERS_MAX);
	return ST_DONE;
}

/* Only switches of bcube and ghc have entries. */
static int check_switches(const struct plan *plan)
{
	if ((aggt_topo_digits(plan->topo) && !aggt_topo_agents(plan->topo)) ||
	    !plan->conf.aggnet_switches ||
	    plan->conf.scheme != AGGNET_SCHEME_BLOOM)
		return ST_DONE;
	return usage("plan: --scheme bloom: switches of %s have no entries: use --switches dumb",
		     aggt_topo_name(plan->topo));
}

/* Some have a parameter behind a colon. */
static int check_method(void)
{
	const char *const *name;
	size_t len;

	for (name = aggt_methods(); *name; name++) {
		len = strlen(*name);
		if (!strcmp(*name, opt.method) ||
		    ((*name)[len - 1] == ':' && !strncmp(*name, opt.method, len)))
			return ST_DONE;
	}
	return usage("plan: --method: '%s' is not one of those that 'aggctl plan --method list' prints",
		     opt.method);
}

/* The lists are those of the reduce: the members are its senders. */
static int check_root(const struct plan *plan, const struct work *w)
{
	size_t i;

	if (w->receivers.n != 1)
		return usage("plan: --root: a broadcast has one root");
	for (i = 0; i < w->senders.n; i++)
		if (w->senders.node[i] == w->receivers.node[0])
			return usage("plan: --receivers: %s is the root, which has the stream",
				     plan_server_name(plan, w->senders.node[i]));
	return ST_DONE;
}

/* What is in a file is not an argument. */
static int new_plan(struct plan *plan, struct work *w, json_t **json)
{
	int st;

	if (plan_topology(plan, "plan", opt.topology))
		return opt.topology[0] == '@' ? ST_FAILED : ST_USAGE;
	plan->conf = opt.conf;
	st = check_switches(plan);
	if (!st)
		st = parse_list(plan->topo, "senders", opt.senders, opt.seed,
				&w->senders);
	if (!st)
		st = check_writers(plan, &w->senders);
	/* Receivers that are drawn have a sequence of their own. */
	if (!st)
		st = parse_list(plan->topo, "receivers", opt.receivers,
				opt.seed + 1, &w->receivers);
	if (!st && opt.conf.down)
		st = check_root(plan, w);
	if (!st)
		st = parse_sizes(plan->topo, w);
	if (!st)
		st = build_trees(plan, w);
	if (!st && !plan_prepare(plan) && !plan_draw_id(plan))
		*json = plan_json(plan);
	if (*json)
		plan_note_routed(plan);
	return st || *json ? st : ST_FAILED;
}

/*
 * Changes are arguments, and what they name is in the file. What a member of a broadcast has
 * would not fit the new tree.
 */
static int check_changes(const struct plan *plan, int argc, char **argv)
{
	struct aggt_change change;
	struct aggt_err why;
	int i;

	if (plan->conf.down)
		return fail("plan: %s: a broadcast cannot be changed: plan it anew",
			    opt.update);
	for (i = 0; i < argc; i++)
		if (aggt_change_parse(plan->topo, argv[i], &change, &why))
			return usage("plan: %s", why.text);
	return ST_DONE;
}

static int updated_plan(struct plan *plan, int argc, char **argv, json_t **json)
{
	json_t *old = plan_file_read(opt.update);
	int st = ST_FAILED;

	if (old && !plan_restore(plan, old, opt.update))
		st = check_changes(plan, argc, argv);
	if (!st)
		*json = plan_update(plan, old, argv, (size_t)argc);
	json_decref(old);
	return st || *json ? st : ST_FAILED;
}

/* A file that gets keys is for its owner only. */
static int guard_output(const struct plan *plan)
{
	struct stat st;

	if (!plan->key || fstat(STDOUT_FILENO, &st) || !S_ISREG(st.st_mode))
		return ST_DONE;
	if (!fchmod(STDOUT_FILENO, 0600))
		return ST_DONE;
	return fail("plan: keys are not written to a file that other users can read: %s",
		    strerror(errno));
}

static int draw_plan(const struct plan *plan)
{
	json_t *traffic = NULL;
	int ret = 0;

	if (!opt.dot)
		return ST_DONE;
	if (opt.traffic) {
		traffic = plan_traffic(opt.traffic, plan);
		ret = traffic ? 0 : -1;
	}
	if (!ret)
		ret = plan_draw(opt.dot, plan, traffic);
	json_decref(traffic);
	return ret ? ST_FAILED : ST_DONE;
}

/* A drawing of a plan that is not changed. */
static int draw_file(void)
{
	json_t *json = plan_file_read(opt.update);
	struct plan plan = {};
	int st = ST_FAILED;

	if (json && !plan_restore(&plan, json, opt.update))
		st = draw_plan(&plan);
	json_decref(json);
	plan_clear(&plan);
	return st;
}

static int show_plan(const struct aggctl *ctl, const struct plan *plan,
		     json_t *json)
{
	int st, drawn = draw_plan(plan);

	/* The plan does not depend on its drawing. */
	if (!ctl->json) {
		plan_text(json);
		json_decref(json);
		return drawn;
	}
	st = guard_output(plan);
	if (!st) {
		st = out_json(json);
		return st ? st : drawn;
	}
	json_decref(json);
	return st;
}

/* As text, the plan can be an estimate. */
static int check_addresses(const struct aggctl *ctl, const struct plan *plan)
{
	const char *file = opt.update ? opt.update : opt.topology + 1;
	char name[AGGT_PART];

	if (!plan_forgets_address(plan, name))
		return ST_DONE;
	err("plan: %s%s: no line 'address %s A.B.C.D': without it the plan has no entries",
	    ctl->json ? "" : "note: ", file, name);
	return ctl->json ? ST_FAILED : ST_DONE;
}

/* "existing" and the kinds of "unicast" merge nothing, and were asked for by their names. */
static bool merges_nothing(const char *method)
{
	return !strcmp(method, "existing") ||
	       !strncmp(method, "unicast", strlen("unicast"));
}

static void note_unmerged(const struct plan *plan)
{
	const struct aggt_job *job = aggt_plan_job(plan->trees);
	const struct aggt_metrics *m = aggt_plan_metrics(plan->trees);

	if (plan->conf.down || job->n_senders < 2 || m->aggregating ||
	    m->saving > 0 || merges_nothing(job->method))
		return;
	err("plan: note: no server merges flows of others, so nothing is saved");
}

static int list_methods(const struct aggctl *ctl)
{
	json_t *names = json_array();
	const char *const *name;

	for (name = aggt_methods(); *name; name++)
		if (ctl->json)
			json_array_append_new(names, json_string(*name));
		else
			puts(*name);
	if (ctl->json)
		return out_json(names);
	json_decref(names);
	return ST_DONE;
}

/* A changed plan keeps the options that it was made with. */
static int check_update(const struct aggctl *ctl, int argc)
{
	static const char * const honoured[] = { "update", "dot", "traffic",
						NULL };
	const char *name = options_beside(ctl, cmd_plan.verbs, honoured);

	if (name)
		return usage("plan: --%s cannot be combined with --update: the plan keeps its own",
			     name);
	if (!argc && !opt.dot)
		return usage("plan: --update: needs changes, like join:v7 or failed:w6");
	return ST_DONE;
}

/* Refuse values that equal a missing option, or that contradict others. */
static int check_given(const struct aggctl *ctl)
{
	const struct verb *verb = cmd_plan.verbs;

	if (options_has(ctl, verb, "stripes") &&
	    (!opt.stripes || opt.stripes > AGGT_STRIPES))
		return usage("plan: --stripes: must be from 1 to %d",
			     AGGT_STRIPES);
	if (opt.stripes && options_has(ctl, verb, "method"))
		return usage("plan: --stripes: cannot be combined with --method: stripes are a method of their own");
	if (options_has(ctl, verb, "elements") && !opt.conf.elements)
		return usage("plan: --elements: a vector has at least one");
	if (options_has(ctl, verb, "bloom-trees") && !opt.bloom_trees)
		return usage("plan: --bloom-trees: a table is for at least one tree");
	if (options_has(ctl, verb, "rate") && !opt.conf.rate)
		return usage("plan: --rate: must be more than 0");
	if (options_has(ctl, verb, "flow-size") && !opt.conf.flow_size)
		return usage("plan: --flow-size: must be more than 0");
	if (options_has(ctl, verb, "filter-rate") && opt.conf.filter.bits)
		return usage("plan: --filter-rate: cannot be combined with --filter-bits");
	if (options_has(ctl, verb, "give-up") &&
	    (!opt.conf.give_up || opt.conf.give_up > GIVE_UP_MAX))
		return usage("plan: --give-up: must be from 0.001 to %.3f seconds",
			     GIVE_UP_MAX / 1000.0);
	if (options_has(ctl, verb, "uid") && opt.conf.uid == UINT32_MAX)
		return usage("plan: --uid: %u is not a user ID", UINT32_MAX);
	return ST_DONE;
}

static int check_new(const struct aggctl *ctl, struct work *w)
{
	static char stripes[sizeof("stripes:") + 10];

	if (check_given(ctl))
		return ST_USAGE;
	if (opt.stripes) {
		snprintf(stripes, sizeof(stripes), "stripes:%u", opt.stripes);
		opt.method = stripes;
	}
	return check_names() || check_method() ? ST_USAGE : check_numbers(w);
}

static int run_plan(const struct aggctl *ctl, int argc, char **argv)
{
	struct plan plan = {};
	struct work w = {};
	json_t *json = NULL;
	int st;

	if (argc && !opt.update)
		return usage("plan: '%s' is for --update only", argv[0]);
	if (!opt.update && !strcmp(opt.method, "list"))
		return list_methods(ctl);
	if (opt.traffic && !opt.dot)
		return usage("plan: --traffic: is for --dot only");
	st = opt.update ? check_update(ctl, argc) : check_new(ctl, &w);
	if (st)
		return st;
	if (opt.update && !argc)
		return draw_file();
	st = opt.update ? updated_plan(&plan, argc, argv, &json) :
			  new_plan(&plan, &w, &json);
	if (!st)
		st = check_addresses(ctl, &plan);
	if (!st)
		note_unmerged(&plan);
	if (!st)
		st = show_plan(ctl, &plan, json);
	else
		json_decref(json);
	plan_clear(&plan);
	aggt_list_clear(&w.senders);
	aggt_list_clear(&w.receivers);
	free(w.sizes);
	return st;
}

static const struct opt opts[] = {
	{ "topology", OPT_STRING, &opt.topology, "T",
	  "bcube:N,K ghc:N0,N1,... fbfly:K,N,C hyperx:S0,S1,...:T camcube:X,Y,Z dcell:N,K leafspine:L,S,H fattree:K racks:R,S or @FILE" },
	{ "method", OPT_STRING, &opt.method, "M",
	  "how trees are built (auto); 'list' names all methods" },
	{ "stripes", OPT_U32, &opt.stripes, "N",
	  "N trees with 1/N of every flow each, by different links; jobs J to J+N-1" },
	{ "senders", OPT_STRING, &opt.senders, "LIST",
	  "v2,v5,v9 or random:M or @FILE" },
	{ "receivers", OPT_STRING, &opt.receivers, "LIST", "the same" },
	{ "collective", OPT_STRING, &opt.collective, "C",
	  "reduce, or bcast: from --root down to --receivers (reduce)" },
	{ "root", OPT_STRING, &opt.root, "V", "where a broadcast begins" },
	{ "job", OPT_U32, &opt.conf.job, "J", "job ID (1)" },
	{ "function", OPT_STRING, &opt.function, "F",
	  "sum, min, max, count, average, product, band, bor, bxor, land, lor, lxor, topk or nearest (sum)" },
	{ "type", OPT_STRING, &opt.type, "TYPE",
	  "of the values: int64, int32, fixed, float32 or float64 (int64)" },
	{ "scale", OPT_U32, &opt.scale, "BITS",
	  "fraction bits of fixed-point values" },
	{ "k", OPT_U32, &opt.conf.k, "K",
	  "pairs that topk and nearest keep for each key, 1 to 64" },
	{ "elements", OPT_U64, &opt.conf.elements, "N",
	  "dense vector with N elements instead of keyed values" },
	{ "sorted", OPT_FLAG, &opt.sorted, NULL,
	  "senders send keys in order; the receiver gets them in order" },
	{ "scheme", OPT_STRING, &opt.scheme, "S",
	  "exact: entries name links; bloom: filters do; packet: filters that packets carry (exact)" },
	{ "switches", OPT_SWITCHES, &opt.conf.aggnet_switches, "KIND",
	  "switches for bloom and packet: 'aggnet' (default) or 'dumb'" },
	{ "bloom-rate", OPT_REAL, &opt.bloom_rate, "F",
	  "false positives of a link's Bloom table, 0..1 (0.01)" },
	{ "bloom-trees", OPT_U32, &opt.bloom_trees, "N",
	  "trees on a link that the table is made for; it grows with more (400)" },
	{ "filter-bits", OPT_U32, &opt.conf.filter.bits, "N",
	  "size of packet's filters (as few as the rate needs)" },
	{ "filter-rate", OPT_REAL, &opt.conf.filter.rate, "F",
	  "expected false positives per packet (1)" },
	{ "filter-rule", OPT_STRING, &opt.rule, "RULE",
	  "general: nodes test all links; paper: links that lead nearer (general)" },
	{ "delta", OPT_REAL, &opt.delta, "D", "aggregation ratio 0..1 (0)" },
	{ "sizes", OPT_STRING, &opt.sizes, "FILE",
	  "sizes of the senders' flows, lines 'vN SIZE' (all 1)" },
	{ "objective", OPT_STRING, &opt.objective, "O",
	  "what auto and exact minimise: traffic or time (traffic)" },
	{ "rate", OPT_RATE, &opt.conf.rate, "RATE",
	  "rate of links without one in the topology, like 10mbit: predict seconds" },
	{ "flow-size", OPT_SIZE, &opt.conf.flow_size, "BYTES",
	  "bytes of a flow of size 1, like 4M (1000000)" },
	{ "max-depth", OPT_STRING, &opt.max_depth, "H",
	  "most hops of a flow, or 'none'" },
	{ "uid", OPT_U32, &opt.conf.uid, "U",
	  "user that may send and receive (the caller)" },
	{ "gid", OPT_STRING, &opt.gid, "G", "group that may send and receive, too" },
	{ "writers", OPT_U32, &opt.conf.writers, "N",
	  "processes that send at each sender (1)" },
	{ "memory", OPT_SIZE, &opt.conf.memory, "B",
	  "limit of each tree's buffer at a node, like 64K (4M)" },
	{ "hold", OPT_WAIT, &opt.conf.hold, "S",
	  "seconds to wait for contributors (half of give-up)" },
	{ "give-up", OPT_WAIT, &opt.conf.give_up, "S",
	  "seconds of silence until the transfer is aborted (30)" },
	{ "allow-missing", OPT_FLAG, &opt.allow_missing, NULL,
	  "leave out sources that fail; the end mark names them" },
	{ "persist", OPT_FLAG, &opt.persist, NULL,
	  "trees that serve one round after another" },
	{ "update", OPT_STRING, &opt.update, "PLAN.json",
	  "change this plan: join:vN leave:vN receiver:vN[=vM] failed:PART" },
	{ "no-key", OPT_FLAG, &opt.no_key, NULL,
	  "CRC32C instead of keyed tags" },
	{ "seed", OPT_U64, &opt.seed, "N", "seed of the random generator (1)" },
	{ "dot", OPT_STRING, &opt.dot, "FILE",
	  "draw the trees: Graphviz, or .svg .png .pdf made by dot" },
	{ "traffic", OPT_STRING, &opt.traffic, "FILE",
	  "draw measured bytes, of 'aggctl -j testbed traffic'" },
};

static const struct verb verbs[] = {
	{
		.args = "[CHANGE...]",
		.help = "compute the trees of a job and every node's entries",
		.max_args = CHANGES_MAX,
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
