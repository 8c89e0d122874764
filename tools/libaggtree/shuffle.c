// SPDX-License-Identifier: GPL-2.0
/*
 * SRS shuffle subgraphs: receivers are grouped by Algorithm 1 of paper 000,
 * and formula (1) picks the entry point through which a group is served.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/** struct candidate - a receiver ranked by a degree that may be stale. */
struct candidate {
	uint64_t rank;
	uint32_t receiver;
};

/**
 * struct groups - receivers and their one-hop neighbours among receivers
 * @topo: the topology
 * @job: its receivers
 * @code: their labels
 * @line: receivers on the same line of a dimension: chain heads
 * @next: dimension * n + receiver -> next on the line
 * @head: the head of a receiver's group, AGGT_NONE while it has none
 * @heap: heads to be, the largest rank first
 */
struct groups {
	const struct aggt_topo *topo;
	const struct aggt_job *job;
	aggt_code *code;
	struct aggt_map line;
	uint32_t *next;
	uint32_t *head;
	struct candidate *heap;
};

static void groups_free(struct groups *g)
{
	aggt_map_free(&g->line);
	free(g->code);
	free(g->next);
	free(g->head);
	free(g->heap);
}

static aggt_code line_key(const struct groups *g, uint32_t r, unsigned int d)
{
	return aggt_tag(g->code[r] & ~g->topo->mask[d], d);
}

static int groups_init(struct groups *g, const struct aggt_topo *topo,
		       const struct aggt_job *job)
{
	size_t r, n = job->n_receivers;
	unsigned int d;

	memset(g, 0, sizeof(*g));
	g->topo = topo;
	g->job = job;
	g->code = malloc(n * sizeof(*g->code));
	g->next = malloc(n * topo->dims * sizeof(*g->next));
	g->head = malloc(n * sizeof(*g->head));
	g->heap = malloc(n * sizeof(*g->heap));
	if (!g->code || !g->next || !g->head || !g->heap ||
	    aggt_map_init(&g->line, n))
		goto fail;
	for (r = n; r--; ) {
		g->code[r] = aggt_encode(topo, job->receivers[r]);
		g->head[r] = AGGT_NONE;
		for (d = 0; d < topo->dims; d++) {
			uint32_t *slot = aggt_map_slot(&g->line,
						       line_key(g, r, d));

			if (!slot)
				goto fail;
			g->next[d * n + r] = *slot;
			*slot = r;
		}
	}
	return 0;
fail:
	groups_free(g);
	return -1;
}

/*
 * Walk r's neighbours that have no group yet; @take puts them into r's. With
 * agents, receivers of one switch are neighbours, and share all its lines.
 */
static uint32_t degree(struct groups *g, uint32_t r, bool take)
{
	size_t n = g->job->n_receivers;
	uint32_t peer, count = 0;
	unsigned int d;

	for (d = 0; d < g->topo->dims; d++) {
		peer = aggt_map_get(&g->line, line_key(g, r, d));
		for (; peer != AGGT_NONE; peer = g->next[d * n + peer]) {
			if (peer == r || g->head[peer] != AGGT_NONE ||
			    (d && g->code[peer] == g->code[r]))
				continue;
			count++;
			if (take)
				g->head[peer] = r;
		}
	}
	return count;
}

/* Larger degree first, then the receiver with the lower number. */
static uint64_t rank(const struct groups *g, uint32_t r, uint32_t deg)
{
	return (uint64_t)deg << 32 | (UINT32_MAX - g->job->receivers[r]);
}

static void sift_down(struct candidate *heap, size_t n, size_t i)
{
	struct candidate moved = heap[i];
	size_t child;

	for (; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && heap[child + 1].rank > heap[child].rank)
			child++;
		if (heap[child].rank <= moved.rank)
			break;
		heap[i] = heap[child];
	}
	heap[i] = moved;
}

/*
 * Algorithm 1. Degrees only decrease, so a candidate whose rank is still right
 * when it is at the top of the heap is the largest of all.
 */
static void cluster(struct groups *g)
{
	size_t i, n = g->job->n_receivers;

	for (i = 0; i < n; i++) {
		g->heap[i].rank = rank(g, i, degree(g, i, false));
		g->heap[i].receiver = i;
	}
	for (i = n / 2; i--; )
		sift_down(g->heap, n, i);
	while (n) {
		uint32_t r = g->heap[0].receiver;
		uint64_t now = rank(g, r, degree(g, r, false));

		if (g->head[r] == AGGT_NONE && now < g->heap[0].rank) {
			g->heap[0].rank = now;
			sift_down(g->heap, n, 0);
			continue;
		}
		if (g->head[r] == AGGT_NONE) {
			g->head[r] = r;
			degree(g, r, true);
		}
		g->heap[0] = g->heap[--n];
		sift_down(g->heap, n, 0);
	}
}

static struct aggt_tree *irs_tree(const struct aggt_topo *topo,
				  const struct aggt_job *job, uint32_t r)
{
	struct aggt_tree *tree = aggt_tree_new(topo, job, job->receivers[r]);

	if (tree && (aggt_build_irs(tree) || aggt_tree_finish(tree))) {
		aggt_tree_free(tree);
		return NULL;
	}
	return tree;
}

static unsigned int hops(const struct groups *g, uint32_t a, uint32_t b)
{
	return aggt_weight(g->topo, g->code[a] ^ g->code[b]);
}

/**
 * struct group - one group on its way into the plan
 * @member: receivers, the head first
 * @n: how many
 * @entry: the best entry point so far
 * @tree: its tree
 * @cost: of the group by formula (1)
 * @separate: of a tree for each member
 */
struct group {
	uint32_t *member;
	size_t n;
	uint32_t entry;
	struct aggt_tree *tree;
	double cost;
	double separate;
};

/* Behind an agent, the entry's own flow leaves it for the other receivers. */
static int measure_entry(const struct groups *g, struct aggt_tree *tree,
			 struct aggt_metrics *m, double *flow)
{
	aggt_node receiver = tree->receiver;
	int ret;

	if (g->topo->agents)
		tree->receiver = AGGT_NONE;
	ret = aggt_measure(tree, g->job, NULL, m) ||
	      aggt_root_flow(tree, g->job, flow) ? -1 : 0;
	tree->receiver = receiver;
	return ret;
}

/* Formula (1): the entry's tree for each member, and the hops from there. */
static int entry_cost(const struct groups *g, const struct group *group,
		      uint32_t entry, struct aggt_tree *tree,
		      double *alone, double *cost)
{
	struct aggt_metrics m;
	double flow;
	size_t i;

	if (measure_entry(g, tree, &m, &flow))
		return -1;
	*cost = m.cost * group->n;
	for (i = 0; i < group->n; i++)
		*cost += flow * aggt_path_links(g->topo,
					       g->code[group->member[i]],
					       g->code[entry]);
	if (g->topo->agents && aggt_measure(tree, g->job, NULL, &m))
		return -1;
	*alone = m.cost;
	return 0;
}

static int choose_entry(const struct groups *g, struct group *group)
{
	size_t i;

	group->tree = NULL;
	group->separate = 0;
	for (i = 0; i < group->n; i++) {
		struct aggt_tree *tree = irs_tree(g->topo, g->job,
						  group->member[i]);
		double alone, cost;

		if (!tree || entry_cost(g, group, group->member[i], tree,
					&alone, &cost)) {
			aggt_tree_free(tree);
			return -1;
		}
		group->separate += alone;
		if (group->tree && cost >= group->cost) {
			aggt_tree_free(tree);
			continue;
		}
		aggt_tree_free(group->tree);
		group->tree = tree;
		group->entry = group->member[i];
		group->cost = cost;
	}
	return 0;
}

/*
 * The entry's tree, with the receiver behind the entry or behind the head. If
 * one of them is on the tree already, flows that reach it continue.
 */
static struct aggt_tree *serve(const struct groups *g,
			       const struct group *group, uint32_t r)
{
	const struct aggt_tree *from = group->tree;
	struct aggt_tree *tree = aggt_tree_new(g->topo, g->job,
					       g->job->receivers[r]);
	uint32_t entry, v;

	if (!tree)
		return NULL;
	for (v = 1; v < from->n; v++) {
		uint32_t i = aggt_tree_add(tree, from->code[v]);
		uint32_t up = aggt_tree_add(tree, from->code[from->parent[v]]);

		if (i == AGGT_NONE || up == AGGT_NONE)
			goto fail;
		tree->parent[i] = up;
	}
	entry = aggt_tree_add(tree, g->code[group->entry]);
	if (entry == AGGT_NONE)
		goto fail;
	if (entry && hops(g, group->entry, r) > 1) {
		uint32_t head = aggt_tree_add(tree, g->code[group->member[0]]);

		if (head == AGGT_NONE)
			goto fail;
		tree->parent[entry] = head;
		entry = head;
	}
	if (entry)
		tree->parent[entry] = 0;
	tree->parent[0] = AGGT_NONE;
	tree->entry = g->job->receivers[group->entry];
	if (!aggt_tree_finish(tree))
		return tree;
fail:
	aggt_tree_free(tree);
	return NULL;
}

static int plan_group(struct aggt_plan *plan, struct groups *g,
		      struct group *group, bool safe)
{
	bool separate;
	size_t i;
	int ret = -1;

	if (choose_entry(g, group))
		goto out;
	separate = safe && group->separate <= group->cost;
	plan->predicted += separate ? group->separate : group->cost;
	for (i = 0; i < group->n; i++) {
		uint32_t r = group->member[i];

		plan->tree[r] = separate ? irs_tree(g->topo, g->job, r) :
					   serve(g, group, r);
		if (!plan->tree[r])
			goto out;
	}
	ret = 0;
out:
	aggt_tree_free(group->tree);
	return ret;
}

int aggt_build_srs(struct aggt_plan *plan, const struct aggt_job *job,
		   bool safe, struct aggt_err *err)
{
	size_t r, i, n = job->n_receivers;
	struct group group = { 0 };
	struct groups g;
	int ret = -1;

	if (groups_init(&g, plan->topo, job)) {
		aggt_err_nomem(err);
		return -1;
	}
	group.member = malloc(n * sizeof(*group.member));
	if (!group.member)
		goto out;
	cluster(&g);
	for (r = 0; r < n; r++) {
		if (g.head[r] != r)
			continue;
		group.n = 0;
		group.member[group.n++] = r;
		for (i = 0; i < n; i++)
			if (g.head[i] == r && i != r)
				group.member[group.n++] = i;
		if (plan_group(plan, &g, &group, safe))
			goto out;
	}
	ret = 0;
out:
	if (ret)
		aggt_err_nomem(err);
	free(group.member);
	groups_free(&g);
	return ret;
}

int aggt_shuffle_heads(const struct aggt_topo *topo, const struct aggt_job *job,
		       aggt_node *head)
{
	struct groups g;
	size_t i;

	if (groups_init(&g, topo, job))
		return -1;
	cluster(&g);
	for (i = 0; i < job->n_receivers; i++)
		head[i] = job->receivers[g.head[i]];
	groups_free(&g);
	return 0;
}

double aggt_shuffle_cost(const struct aggt_topo *topo,
			 const struct aggt_job *job, size_t entry)
{
	struct group group = { .n = job->n_receivers };
	struct aggt_tree *tree = NULL;
	double alone, cost = -1;
	struct groups g;
	uint32_t i;

	if (groups_init(&g, topo, job))
		return -1;
	group.member = malloc(group.n * sizeof(*group.member));
	for (i = 0; group.member && i < group.n; i++)
		group.member[i] = i;
	if (group.member)
		tree = irs_tree(topo, job, entry);
	if (tree && entry_cost(&g, &group, entry, tree, &alone, &cost))
		cost = -1;
	aggt_tree_free(tree);
	free(group.member);
	groups_free(&g);
	return cost;
}
