// SPDX-License-Identifier: GPL-2.0
/* Fuzz target: jobs, stored trees and changes; every plan is verified. */
#include "../unit/tree_verify.h"

#define CHECK(cond) do { if (!(cond)) __builtin_trap(); } while (0)
#define MEMBERS 24

static const char *const topologies[] = {
	"bcube:4,1", "bcube:3,2", "ghc:2,5,3", "bcube:2,4", "fbfly:3,3,2",
	"hyperx:2,4:3",
};

static const char *const methods[] = {
	"existing", "unicast", "unicast:random", "rs:01", "ars", "irs",
	"steiner", "mib", "mc", "m2", "srs", "srs:safe", "exact", "rs:best",
	"stripes:2", "stripes:3",
};

/* Topologies without digits. */
static const char *const graphs[] = {
	"camcube:3,2,3", "dcell:3,1", "leafspine:3,2,4", "fattree:4",
	"racks:3,4",
};

static const char *const graph_methods[] = {
	"existing", "unicast", "steiner", "getparent", "getparent:1", "auto",
	"irs", "stripes:2", "stripes:5",
};

#define PICK(array, n) ((array)[(n) % (sizeof(array) / sizeof(*(array)))])

/** struct input - the remaining bytes. */
struct input {
	const uint8_t *at;
	const uint8_t *end;
};

static unsigned int take(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static size_t take_nodes(struct input *in, aggt_node *node)
{
	size_t i, n = take(in) % MEMBERS;

	for (i = 0; i < n; i++)
		node[i] = take(in);
	return n;
}

static void check(const struct aggt_topo *topo, const struct aggt_plan *plan)
{
	if (plan)
		CHECK(!verify_plan(topo, aggt_plan_job(plan), plan, true));
}

/* Any edges either form a tree or are refused. */
static struct aggt_plan *restore(struct input *in,
				 const struct aggt_topo *topo,
				 const struct aggt_job *job)
{
	struct aggt_edge edge[64];
	struct aggt_shape shape = { .edge = edge, .entry = AGGT_NONE };
	struct aggt_shape shapes[AGGT_STRIPES];
	struct aggt_job one = *job;
	struct aggt_err err = { "" };
	struct aggt_plan *plan;
	size_t i;

	for (; shape.n_edges < 64 && in->at < in->end; shape.n_edges++) {
		edge[shape.n_edges].child = take(in);
		edge[shape.n_edges].parent = take(in);
	}
	if (one.n_receivers > 1)
		one.n_receivers = 1;
	for (i = 0; i < AGGT_STRIPES; i++)
		shapes[i] = shape;
	plan = aggt_plan_restore(topo, &one, shapes, &err);
	CHECK(plan || err.text[0]);
	return plan;
}

/* The remaining bytes are changes, one per line. */
static struct aggt_plan *update(struct input *in, struct aggt_topo *topo,
				struct aggt_plan *plan)
{
	while (plan && in->at < in->end) {
		struct aggt_change change;
		struct aggt_plan *next;
		char line[64];
		size_t n = 0;

		while (in->at < in->end && n < sizeof(line) - 1 &&
		       *in->at != '\n')
			line[n++] = take(in);
		take(in);
		line[n] = 0;
		if (aggt_change_parse(topo, line, &change, NULL))
			continue;
		next = aggt_plan_update(topo, plan, &change, 1, NULL);
		check(topo, next);
		if (!next && change.kind == AGGT_FAILED)
			break;
		if (next) {
			aggt_plan_free(plan);
			plan = next;
		}
	}
	return plan;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, data + len };
	aggt_node senders[MEMBERS], receivers[MEMBERS];
	unsigned int what = take(&in);
	bool graph = what & 0x40;
	struct aggt_topo *topo = aggt_topo_parse(graph ?
						 PICK(graphs, what & 0x3f) :
						 PICK(topologies, what & 0x3f),
						 NULL);
	struct aggt_job job = { .senders = senders, .receivers = receivers };
	struct aggt_err err = { "" };
	struct aggt_plan *plan;

	job.method = graph ? PICK(graph_methods, take(&in)) :
			     PICK(methods, take(&in));
	job.delta = take(&in) % 5 * 0.25;
	job.n_senders = take_nodes(&in, senders);
	job.n_receivers = take_nodes(&in, receivers);
	/* The exact method is quick only for a few senders. */
	if (!strcmp(job.method, "exact") && job.n_senders > 6)
		job.n_senders = 6;
	if (what & 0x80) {
		plan = restore(&in, topo, &job);
		check(topo, plan);
	} else {
		plan = aggt_plan_build(topo, &job, &err);
		CHECK(plan || err.text[0]);
		check(topo, plan);
		plan = update(&in, topo, plan);
	}
	aggt_plan_free(plan);
	aggt_topo_free(topo);
	return 0;
}
