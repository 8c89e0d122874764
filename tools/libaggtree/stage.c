// SPDX-License-Identifier: GPL-2.0
/*
 * Stage-wise trees (RS, ARS, IRS): a server's stage is its distance to the
 * receiver; stage j forwards to stage j - 1 by the routing symbol e_j.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/**
 * struct stages - a stage-wise tree under construction
 * @tree: the tree
 * @root: the receiver's label
 * @list: vertices of each stage
 * @n: how many
 * @room: for how many @list has memory
 * @used: symbols taken by stages above
 * @symbol: e_j by stage
 * @top: the highest stage
 * @seen: scratch
 * @intra: whether lone servers are sent to a neighbour of their stage
 */
struct stages {
	struct aggt_tree *tree;
	aggt_code root;
	uint32_t *list[AGGT_MAX_DIMS + 1];
	uint32_t n[AGGT_MAX_DIMS + 1];
	uint32_t room[AGGT_MAX_DIMS + 1];
	unsigned int used;
	unsigned int symbol[AGGT_MAX_DIMS + 1];
	unsigned int top;
	struct aggt_map seen;
	bool intra;
};

static int stage_append(struct stages *s, unsigned int stage, uint32_t v)
{
	if (s->n[stage] == s->room[stage]) {
		uint32_t room = s->room[stage] ? s->room[stage] * 2 : 16;
		uint32_t *list = realloc(s->list[stage], room * sizeof(*list));

		if (!list)
			return -1;
		s->list[stage] = list;
		s->room[stage] = room;
	}
	s->list[stage][s->n[stage]++] = v;
	return 0;
}

static void stages_free(struct stages *s)
{
	unsigned int j;

	for (j = 0; j <= AGGT_MAX_DIMS; j++)
		free(s->list[j]);
	aggt_map_free(&s->seen);
}

static int stages_init(struct stages *s, struct aggt_tree *tree, bool intra)
{
	uint32_t v;

	memset(s, 0, sizeof(*s));
	s->tree = tree;
	s->root = tree->code[0];
	s->intra = intra;
	if (aggt_map_init(&s->seen, tree->n))
		return -1;
	for (v = 1; v < tree->n; v++) {
		unsigned int stage = aggt_weight(tree->topo,
						 tree->code[v] ^ s->root);

		if (stage_append(s, stage, v)) {
			stages_free(s);
			return -1;
		}
		if (stage > s->top)
			s->top = stage;
	}
	return 0;
}

/*
 * e_j, or, where a server agrees with the receiver already, what the stage
 * nearest above used (the e_{j+1} side of the paper's "rightmost such
 * dimension"), or any.
 */
unsigned int aggt_stage_dim(const struct aggt_topo *topo,
			    const unsigned int *symbol, unsigned int top,
			    unsigned int j, aggt_code rel)
{
	unsigned int i;

	for (i = j; i <= top; i++)
		if (rel & topo->mask[symbol[i]])
			return symbol[i];
	i = topo->dims;
	while (!(rel & topo->mask[--i]))
		;
	return i;
}

/* The next server of a server of stage @j. */
static aggt_code hop(const struct stages *s, unsigned int j, aggt_code code)
{
	const struct aggt_topo *topo = s->tree->topo;
	aggt_code mask;

	mask = topo->mask[aggt_stage_dim(topo, s->symbol, s->top, j,
					 code ^ s->root)];
	return (code & ~mask) | (s->root & mask);
}

/* How many servers the symbol of stage @j adds to the stage below. */
static int count_added(struct stages *s, unsigned int j, uint32_t *added)
{
	const struct aggt_tree *tree = s->tree;
	uint32_t i;

	aggt_map_clear(&s->seen);
	for (i = 0; i < s->n[j]; i++) {
		aggt_code next = hop(s, j, tree->code[s->list[j][i]]);
		uint32_t *slot;

		if (aggt_tree_at(tree, next) != AGGT_NONE)
			continue;
		slot = aggt_map_slot(&s->seen, next);
		if (!slot)
			return -1;
		*slot = 0;
	}
	*added = s->seen.n;
	return 0;
}

/* The symbol that leaves the fewest servers at the next stage; ties: lowest. */
static int choose_symbol(struct stages *s, unsigned int j)
{
	uint32_t added, least = UINT32_MAX;
	unsigned int d, best = 0;

	for (d = 0; d < s->tree->topo->dims; d++) {
		if (s->used & 1u << d)
			continue;
		s->symbol[j] = d;
		if (count_added(s, j, &added))
			return -1;
		if (added < least) {
			least = added;
			best = d;
		}
		if (j == 1)
			break;
	}
	s->symbol[j] = best;
	return 0;
}

/* Count the servers of stage @j by next server: a group each. */
static int count_groups(struct stages *s, unsigned int j)
{
	uint32_t i;

	aggt_map_clear(&s->seen);
	for (i = 0; i < s->n[j]; i++) {
		aggt_code code = s->tree->code[s->list[j][i]];
		uint32_t *slot = aggt_map_slot(&s->seen, hop(s, j, code));

		if (!slot)
			return -1;
		*slot = *slot == AGGT_NONE ? 1 : *slot + 1;
	}
	return 0;
}

/* Alone in its group, with no sender (and no receiver) to meet below. */
static bool is_lone(const struct stages *s, unsigned int j, uint32_t v)
{
	aggt_code next = hop(s, j, s->tree->code[v]);

	return aggt_map_get(&s->seen, next) == 1 &&
	       aggt_tree_at(s->tree, next) == AGGT_NONE;
}

/**
 * struct peers - servers of one stage by the dimension in which they differ
 * @head: label with a digit wiped, tagged with the dimension -> first slot
 * @next: slot -> next slot, a slot being dimension * n + position in the stage
 */
struct peers {
	struct aggt_map head;
	uint32_t *next;
};

static int peers_init(struct peers *p, const struct stages *s, unsigned int j)
{
	const struct aggt_topo *topo = s->tree->topo;
	uint32_t i, n = s->n[j];
	unsigned int d;

	p->next = malloc((size_t)n * topo->dims * sizeof(*p->next));
	if (!p->next)
		return -1;
	if (aggt_map_init(&p->head, (size_t)n * j))
		goto free_next;
	for (i = n; i--; ) {
		aggt_code rel = s->tree->code[s->list[j][i]] ^ s->root;

		for (d = 0; d < topo->dims; d++) {
			uint32_t *slot;

			if (!(rel & topo->mask[d]) || d == s->symbol[j])
				continue;
			slot = aggt_map_slot(&p->head,
					     aggt_tag(rel & ~topo->mask[d], d));
			if (!slot)
				goto free_head;
			p->next[d * n + i] = *slot;
			*slot = d * n + i;
		}
	}
	return 0;
free_head:
	aggt_map_free(&p->head);
free_next:
	free(p->next);
	return -1;
}

static void peers_free(struct peers *p)
{
	aggt_map_free(&p->head);
	free(p->next);
}

/*
 * The neighbour at the same stage that takes over the flow of lone server @v:
 * one that is not lone itself if there is any, the first of the stage's list.
 */
static uint32_t find_peer(const struct stages *s, const struct peers *p,
			  unsigned int j, uint32_t v)
{
	const struct aggt_topo *topo = s->tree->topo;
	aggt_code rel = s->tree->code[v] ^ s->root;
	uint32_t best = AGGT_NONE, best_rank = UINT32_MAX;
	uint32_t n = s->n[j];
	unsigned int d;

	for (d = 0; d < topo->dims; d++) {
		uint32_t slot;

		if (!(rel & topo->mask[d]) || d == s->symbol[j])
			continue;
		slot = aggt_map_get(&p->head, aggt_tag(rel & ~topo->mask[d], d));
		for (; slot != AGGT_NONE; slot = p->next[slot]) {
			uint32_t peer = s->list[j][slot % n];
			uint32_t rank = slot % n;

			if (peer == v || s->tree->parent[peer] != AGGT_NONE)
				continue;
			if (is_lone(s, j, peer))
				rank += n;
			if (rank < best_rank) {
				best_rank = rank;
				best = peer;
			}
		}
	}
	return best;
}

/*
 * Intra-stage aggregation. A redirected server gets a parent here; a server
 * that others were redirected to keeps its own path down, so there is no cycle.
 */
static int redirect_lone(struct stages *s, unsigned int j)
{
	uint8_t *taken;
	struct peers p;
	uint32_t i;

	if (count_groups(s, j))
		return -1;
	taken = calloc(s->tree->n, 1);
	if (!taken)
		return -1;
	if (peers_init(&p, s, j)) {
		free(taken);
		return -1;
	}
	for (i = 0; i < s->n[j]; i++) {
		uint32_t peer, v = s->list[j][i];

		if (taken[v] || !is_lone(s, j, v))
			continue;
		peer = find_peer(s, &p, j, v);
		if (peer == AGGT_NONE)
			continue;
		s->tree->parent[v] = peer;
		taken[peer] = 1;
	}
	peers_free(&p);
	free(taken);
	return 0;
}

static int descend(struct stages *s, unsigned int j)
{
	struct aggt_tree *tree = s->tree;
	uint32_t i;

	for (i = 0; i < s->n[j]; i++) {
		uint32_t next, v = s->list[j][i], before = tree->n;

		if (tree->parent[v] != AGGT_NONE)
			continue;
		next = aggt_tree_add(tree, hop(s, j, tree->code[v]));
		if (next == AGGT_NONE ||
		    (tree->n > before && stage_append(s, j - 1, next)))
			return -1;
		tree->parent[v] = next;
	}
	return 0;
}

/* Record e_1, e_2, ...; dimensions without a stage come last. */
static void keep_sequence(struct stages *s)
{
	struct aggt_tree *tree = s->tree;
	unsigned int d, j, n = 0;

	for (j = 1; j <= s->top; j++)
		tree->symbol[n++] = s->symbol[j];
	for (d = tree->topo->dims; d--; )
		if (!(s->used & 1u << d))
			tree->symbol[n++] = d;
	tree->n_symbols = n;
}

/* Build all stages; @fixed is e_1, e_2, ... or NULL to choose them here. */
static int run(struct aggt_tree *tree, const unsigned int *fixed, bool intra)
{
	struct stages s;
	unsigned int j;
	int ret = -1;

	if (stages_init(&s, tree, intra))
		return -1;
	for (j = 1; fixed && j <= tree->topo->dims; j++)
		s.symbol[j] = fixed[j - 1];
	if (fixed)
		s.top = tree->topo->dims;
	for (j = s.top; j; j--) {
		if (!fixed && choose_symbol(&s, j))
			goto out;
		s.used |= 1u << s.symbol[j];
		if (intra && j > 1 && redirect_lone(&s, j))
			goto out;
		if (descend(&s, j))
			goto out;
	}
	keep_sequence(&s);
	ret = 0;
out:
	stages_free(&s);
	return ret;
}

int aggt_build_rs(struct aggt_tree *tree, const unsigned int *symbols)
{
	return run(tree, symbols, false);
}

int aggt_build_irs(struct aggt_tree *tree)
{
	return run(tree, NULL, true);
}

/* The sequence is chosen on a tree without intra-stage hops, then kept. */
int aggt_build_ars(struct aggt_tree *tree)
{
	struct aggt_tree *draft = aggt_tree_copy(tree);
	unsigned int symbol[AGGT_MAX_DIMS];
	int ret = -1;

	if (!draft)
		return -1;
	if (!run(draft, NULL, false)) {
		memcpy(symbol, draft->symbol, sizeof(symbol));
		ret = run(tree, symbol, true);
	}
	aggt_tree_free(draft);
	return ret;
}
