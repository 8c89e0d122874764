// SPDX-License-Identifier: GPL-2.0
/*
 * Changed plans (paper 004, IV-C to IV-E): members join and leave, parts fail;
 * paths that need not change stay.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static const struct {
	const char *prefix;
	enum aggt_change_kind kind;
} kinds[] = {
	{ "join:", AGGT_JOIN },
	{ "leave:", AGGT_LEAVE },
	{ "receiver:", AGGT_REPLACE },
	{ "failed:", AGGT_FAILED },
};

/* vN=vM, or vN alone: the library chooses. */
static int parse_replace(const struct aggt_topo *topo, const char *text,
			 struct aggt_change *change, struct aggt_err *err)
{
	size_t len = strcspn(text, "=");
	char old[AGGT_LABEL];

	if (len >= sizeof(old)) {
		aggt_err_set(err, "receiver:%.64s: expected vN=vM or vN", text);
		return -1;
	}
	memcpy(old, text, len);
	old[len] = 0;
	change->server = aggt_server_parse(topo, old, err);
	change->to = AGGT_NONE;
	if (change->server != AGGT_NONE && text[len]) {
		change->to = aggt_server_parse(topo, text + len + 1, err);
		return change->to == AGGT_NONE ? -1 : 0;
	}
	return change->server == AGGT_NONE ? -1 : 0;
}

int aggt_change_parse(const struct aggt_topo *topo, const char *text,
		      struct aggt_change *change, struct aggt_err *err)
{
	size_t i, len = 0;

	memset(change, 0, sizeof(*change));
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		len = strlen(kinds[i].prefix);
		if (!strncmp(text, kinds[i].prefix, len))
			break;
	}
	if (i == ARRAY_SIZE(kinds)) {
		aggt_err_set(err, "change %.64s: expected join:vN, leave:vN, receiver:vN=vM or failed:PART",
			     text);
		return -1;
	}
	change->kind = kinds[i].kind;
	text += len;
	if (change->kind == AGGT_REPLACE)
		return parse_replace(topo, text, change, err);
	if (change->kind == AGGT_FAILED)
		return aggt_part_name(topo, text, change->part, err);
	change->server = aggt_server_parse(topo, text, err);
	return change->server == AGGT_NONE ? -1 : 0;
}

/* Labels from @at to the receiver as the tree's symbols have it. */
static unsigned int path_down(const struct aggt_tree *tree, aggt_code at,
			      aggt_code *path)
{
	const struct aggt_topo *topo = tree->topo;
	unsigned int i, n = 0;

	for (i = topo->dims; i--; ) {
		unsigned int d = tree->symbol[i];
		aggt_code diff = (at ^ tree->code[0]) & topo->mask[d];

		if (diff)
			path[n++] = at ^= diff;
	}
	return n;
}

/* Where a tree without symbols is nearest: the shallowest of such servers. */
static aggt_code nearest(const struct aggt_tree *tree, uint32_t v)
{
	uint32_t u, links, least = UINT32_MAX;
	aggt_code to = tree->code[0];

	for (u = 0; u < tree->n; u++) {
		links = aggt_path_links(tree->topo, tree->code[u],
					tree->code[v]);
		if (u == v || links >= least)
			continue;
		least = links;
		to = tree->code[u];
	}
	return to;
}

/* Connect @v to a point by the path that packets take there. */
static int follow_path(struct aggt_tree *tree, uint32_t v, aggt_code to)
{
	unsigned int n;
	aggt_code *path = aggt_path(tree->topo, tree->code[v], to, &n);
	int ret = path ? aggt_tree_follow(tree, v, path, n) : -1;

	free(path);
	return ret;
}

/* Connect @v to the receiver by the tree's symbols or, without, as packets go. */
static int follow_down(struct aggt_tree *tree, uint32_t v)
{
	aggt_code path[AGGT_MAX_DIMS];

	if (!tree->n_symbols)
		return follow_path(tree, v, tree->code[0]);
	return aggt_tree_follow(tree, v, path,
				path_down(tree, tree->code[v], path));
}

/* IV-C: a sender joins; the paths of the others stay. */
static int join_tree(struct aggt_tree *tree, const struct aggt_job *job,
		     aggt_node server)
{
	uint32_t v = aggt_tree_add(tree, aggt_encode(tree->topo, server));

	if (v == AGGT_NONE || aggt_tree_seat(tree, job))
		return -1;
	if (!v || tree->parent[v] != AGGT_NONE)
		return 0;
	if (tree->n_symbols || !tree->aggregates ?
	    follow_down(tree, v) : follow_path(tree, v, nearest(tree, v)))
		return -1;
	return aggt_tree_finish(tree);
}

static int join(struct aggt_plan *plan, aggt_node server, struct aggt_err *err)
{
	size_t i;

	if (aggt_job_sender(&plan->job, server) < plan->job.n_senders) {
		aggt_err_set(err, "join: %s is a sender already",
			     aggt_label(plan->topo, server).text);
		return -1;
	}
	if (!aggt_topo_server_ok(plan->topo, server)) {
		aggt_err_set(err, "join: %s has failed",
			     aggt_label(plan->topo, server).text);
		return -1;
	}
	if (aggt_job_add_sender(&plan->job, server))
		goto nomem;
	for (i = 0; i < plan->n_trees; i++)
		if (join_tree(plan->tree[i], &plan->job, server))
			goto nomem;
	return 0;
nomem:
	aggt_err_nomem(err);
	return -1;
}

/* IV-C: a sender leaves; servers that only it needed go with it. */
static int leave(struct aggt_plan *plan, aggt_node server, struct aggt_err *err)
{
	size_t i, sender = aggt_job_sender(&plan->job, server);

	if (sender == plan->job.n_senders) {
		aggt_err_set(err, "leave: %s is not a sender",
			     aggt_label(plan->topo, server).text);
		return -1;
	}
	if (plan->job.n_senders == 1) {
		aggt_err_set(err, "leave: %s is the last sender",
			     aggt_label(plan->topo, server).text);
		return -1;
	}
	aggt_job_drop_sender(&plan->job, sender);
	for (i = 0; i < plan->n_trees; i++) {
		if (aggt_tree_seat(plan->tree[i], &plan->job) ||
		    aggt_tree_finish(plan->tree[i])) {
			aggt_err_nomem(err);
			return -1;
		}
	}
	return 0;
}

/* The highest stage with a symbol in whose dimension the labels differ. */
static unsigned int last_stage(const struct aggt_tree *tree, aggt_code diff)
{
	unsigned int j = tree->topo->dims;

	while (j && !(diff & tree->topo->mask[tree->symbol[j - 1]]))
		j--;
	return j;
}

/*
 * IV-D: stages above the one with the symbol that distinguishes the receivers
 * stay. The others lead to the new receiver by the same symbols.
 */
static int replace_staged(struct aggt_tree *tree, const struct aggt_tree *old)
{
	const struct aggt_topo *topo = tree->topo;
	unsigned int stage = last_stage(old, tree->code[0] ^ old->code[0]);
	uint32_t v;

	for (v = 1; v < old->n; v++) {
		aggt_code up = old->code[old->parent[v]];
		uint32_t i = aggt_tree_add(tree, old->code[v]), to;

		if (i == AGGT_NONE)
			return -1;
		if (!i || aggt_weight(topo, up ^ old->code[0]) < stage)
			continue;
		to = aggt_tree_add(tree, up);
		if (to == AGGT_NONE)
			return -1;
		tree->parent[i] = to;
	}
	for (v = old->n; v--; ) {
		uint32_t i = aggt_tree_at(tree, old->code[v]);

		if (i && i != AGGT_NONE && tree->parent[i] == AGGT_NONE &&
		    follow_down(tree, i))
			return -1;
	}
	return 0;
}

/* Without stages: turn the old receiver's path to the new one around. */
static int replace_root(struct aggt_tree *tree, const struct aggt_tree *old)
{
	uint32_t v, i, to;

	for (v = 1; v < old->n; v++) {
		i = aggt_tree_add(tree, old->code[v]);
		to = aggt_tree_add(tree, old->code[old->parent[v]]);
		if (i == AGGT_NONE || to == AGGT_NONE)
			return -1;
		tree->parent[i] = to;
	}
	i = aggt_tree_add(tree, old->code[0]);
	v = aggt_tree_at(old, tree->code[0]);
	if (i == AGGT_NONE)
		return -1;
	if (v == AGGT_NONE)
		return follow_down(tree, i);
	tree->parent[0] = AGGT_NONE;
	for (; v; v = old->parent[v]) {
		i = aggt_tree_at(tree, old->code[v]);
		to = aggt_tree_at(tree, old->code[old->parent[v]]);
		tree->parent[to] = i;
	}
	return 0;
}

static struct aggt_tree *replace_tree(const struct aggt_job *job,
				      const struct aggt_tree *old,
				      aggt_node receiver)
{
	struct aggt_tree *tree = aggt_tree_new(old->topo, job, receiver);
	int ret;

	if (!tree)
		return NULL;
	aggt_map_free(&tree->leans);
	tree->aggregates = old->aggregates;
	tree->n_symbols = old->n_symbols;
	memcpy(tree->symbol, old->symbol, sizeof(tree->symbol));
	if (old->topo->agents && aggt_map_copy(&tree->leans, &old->leans))
		ret = -1;
	else if (!old->aggregates)
		ret = aggt_build_unicast(tree, "", 0);
	else if (old->n_symbols)
		ret = replace_staged(tree, old);
	else
		ret = replace_root(tree, old);
	if (!ret && !aggt_tree_finish(tree))
		return tree;
	aggt_tree_free(tree);
	return NULL;
}

static bool is_receiver(const struct aggt_job *job, aggt_node server)
{
	size_t i;

	for (i = 0; i < job->n_receivers; i++)
		if (job->receivers[i] == server)
			return true;
	return false;
}

static bool is_idle(const struct aggt_plan *plan, aggt_node server)
{
	return aggt_topo_server_ok(plan->topo, server) &&
	       !is_receiver(&plan->job, server) &&
	       aggt_job_sender(&plan->job, server) == plan->job.n_senders;
}

/* An idle server at the same place as @server: itself, or of its switch. */
static aggt_node idle_at(const struct aggt_plan *plan, aggt_node server)
{
	aggt_node i, first = server - server % plan->topo->per_point;

	for (i = first; i < first + plan->topo->per_point; i++)
		if (is_idle(plan, i))
			return i;
	return AGGT_NONE;
}

/* IV-D's order: neighbours in the dimension of e_1, then of e_2, and so on. */
static aggt_node substitute_cube(const struct aggt_plan *plan,
				 const struct aggt_tree *tree)
{
	const struct aggt_topo *topo = plan->topo;
	aggt_node v = idle_at(plan, tree->receiver);
	unsigned int i;
	uint32_t digit;

	for (i = 0; i < topo->dims && v == AGGT_NONE; i++) {
		unsigned int d = tree->n_symbols ? tree->symbol[i] : i;

		for (digit = 0; digit < topo->radix[d] && v == AGGT_NONE;
		     digit++)
			v = idle_at(plan, aggt_topo_with_digit(topo,
							       tree->receiver,
							       d, digit));
	}
	return v;
}

/* The nearest idle server, of several the one with the lowest number. */
static aggt_node substitute_graph(const struct aggt_plan *plan,
				  const struct aggt_tree *tree)
{
	uint32_t links, least = AGGT_NONE;
	aggt_node v, best = AGGT_NONE;

	for (v = 0; v < plan->topo->servers; v++) {
		if (!is_idle(plan, v))
			continue;
		links = aggt_path_links(plan->topo, v, tree->receiver);
		if (links >= least)
			continue;
		least = links;
		best = v;
	}
	return best;
}

static aggt_node substitute(const struct aggt_plan *plan,
			    const struct aggt_tree *tree)
{
	return aggt_topo_digits(plan->topo) ? substitute_cube(plan, tree) :
					      substitute_graph(plan, tree);
}

aggt_node aggt_plan_substitute(const struct aggt_plan *plan, size_t i)
{
	return substitute(plan, plan->tree[i]);
}

/* Stripes have the same receiver. */
static int replace_trees(struct aggt_plan *plan, aggt_node from, aggt_node to,
			 struct aggt_err *err)
{
	aggt_node *receivers = (aggt_node *)plan->job.receivers;
	struct aggt_tree *tree;
	size_t i;

	for (i = 0; i < plan->n_trees; i++) {
		if (plan->tree[i]->receiver != from)
			continue;
		tree = replace_tree(&plan->job, plan->tree[i], to);
		if (!tree) {
			aggt_err_nomem(err);
			return -1;
		}
		aggt_tree_free(plan->tree[i]);
		plan->tree[i] = tree;
	}
	for (i = 0; i < plan->job.n_receivers; i++)
		if (receivers[i] == from)
			receivers[i] = to;
	return 0;
}

static int replace(struct aggt_plan *plan, aggt_node from, aggt_node to,
		   struct aggt_err *err)
{
	size_t i = 0;

	while (i < plan->n_trees && plan->tree[i]->receiver != from)
		i++;
	if (i == plan->n_trees) {
		aggt_err_set(err, "receiver: %s is not a receiver",
			     aggt_label(plan->topo, from).text);
		return -1;
	}
	if (to == AGGT_NONE)
		to = substitute(plan, plan->tree[i]);
	if (to == AGGT_NONE) {
		aggt_err_set(err, "receiver: no neighbour of %s is idle",
			     aggt_label(plan->topo, from).text);
		return -1;
	}
	if (is_receiver(&plan->job, to) || !aggt_topo_server_ok(plan->topo, to)) {
		aggt_err_set(err, "receiver: %s %s",
			     aggt_label(plan->topo, to).text,
			     is_receiver(&plan->job, to) ? "is a receiver already" :
							   "has failed");
		return -1;
	}
	return replace_trees(plan, from, to, err);
}

/* Failed senders leave first; the rest is repaired once all is known. */
static int failed(struct aggt_plan *plan, struct aggt_topo *topo,
		  const char *part, struct aggt_err *err)
{
	size_t i;

	if (aggt_topo_failed(topo, part))
		return 0;
	if (aggt_topo_fail(topo, part, err))
		return -1;
	for (i = plan->job.n_senders; i--; )
		if (!aggt_topo_server_ok(topo, plan->job.senders[i]) &&
		    leave(plan, plan->job.senders[i], err))
			return -1;
	return 0;
}

static int apply(struct aggt_plan *plan, struct aggt_topo *topo,
		 const struct aggt_change *change, struct aggt_err *err)
{
	switch (change->kind) {
	case AGGT_JOIN:
		return join(plan, change->server, err);
	case AGGT_LEAVE:
		return leave(plan, change->server, err);
	case AGGT_REPLACE:
		return replace(plan, change->server, change->to, err);
	case AGGT_FAILED:
		return failed(plan, topo, change->part, err);
	}
	return -1;
}

static struct aggt_plan *plan_copy(const struct aggt_plan *from,
				   struct aggt_err *err)
{
	struct aggt_plan *plan = aggt_plan_new(from->topo, &from->job, err);
	size_t i;

	if (!plan)
		return NULL;
	plan->aggregates = from->aggregates;
	for (i = 0; i < from->n_trees; i++) {
		plan->tree[i] = aggt_tree_copy(from->tree[i]);
		if (!plan->tree[i]) {
			aggt_err_nomem(err);
			aggt_plan_free(plan);
			return NULL;
		}
	}
	return plan;
}

struct aggt_plan *aggt_plan_update(struct aggt_topo *topo,
				   const struct aggt_plan *plan,
				   const struct aggt_change *change, size_t n,
				   struct aggt_err *err)
{
	struct aggt_plan *next;
	size_t i;

	next = plan_copy(plan, err);
	if (!next)
		return NULL;
	for (i = 0; i < n; i++)
		if (apply(next, topo, &change[i], err))
			goto fail;
	for (i = 0; i < next->n_trees; i++) {
		aggt_node receiver = next->tree[i]->receiver;

		if (aggt_topo_server_ok(topo, receiver))
			continue;
		aggt_err_set(err, "receiver %s: has failed and must be replaced",
			     aggt_label(topo, receiver).text);
		goto fail;
	}
	if (!aggt_plan_complete(next, err))
		return next;
fail:
	aggt_plan_free(next);
	return NULL;
}
