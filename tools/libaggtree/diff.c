// SPDX-License-Identifier: GPL-2.0
/* Differences of two plans, entry by entry. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static int order(const struct aggt_entry *a, const struct aggt_entry *b)
{
	if (a->server != b->server)
		return a->server < b->server ? -1 : 1;
	return a->tree < b->tree ? -1 : a->tree > b->tree;
}

static bool equal(const struct aggt_entry *a, const struct aggt_entry *b)
{
	return a->receiver == b->receiver && a->flags == b->flags &&
	       a->contributors == b->contributors &&
	       a->sources == b->sources && a->tasks == b->tasks &&
	       a->parent == b->parent && a->parent_end == b->parent_end &&
	       a->links == b->links && a->n_children == b->n_children &&
	       (!a->n_children ||
		!memcmp(a->children, b->children,
			a->n_children * sizeof(*a->children)));
}

int aggt_plan_diff(const struct aggt_plan *from, const struct aggt_plan *to,
		   struct aggt_diff **diff, size_t *n)
{
	const struct aggt_entry *a = from->entry, *b = to->entry;
	const struct aggt_entry *a_end = a + from->n_entries;
	const struct aggt_entry *b_end = b + to->n_entries;

	*n = 0;
	*diff = malloc((from->n_entries + to->n_entries) * sizeof(**diff));
	if (!*diff)
		return -1;
	while (a < a_end || b < b_end) {
		int side = a == a_end ? 1 : b == b_end ? -1 : order(a, b);
		struct aggt_diff d = {
			.from = side <= 0 ? a++ : NULL,
			.to = side >= 0 ? b++ : NULL,
		};

		if (!d.from || !d.to || !equal(d.from, d.to))
			(*diff)[(*n)++] = d;
	}
	return 0;
}

static int switch_order(const struct aggt_switch_entry *a,
			const struct aggt_switch_entry *b)
{
	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	if (a->receiver != b->receiver)
		return a->receiver < b->receiver ? -1 : 1;
	return a->server < b->server ? -1 : a->server > b->server;
}

static int by_receiver(const void *a, const void *b)
{
	return switch_order(*(const struct aggt_switch_entry *const *)a,
			    *(const struct aggt_switch_entry *const *)b);
}

/* The entries in the order of a switch's data about them. */
static const struct aggt_switch_entry **sorted(const struct aggt_plan *plan)
{
	const struct aggt_switch_entry **e;
	size_t i;

	e = malloc((plan->n_sw_entries + 1) * sizeof(*e));
	if (!e)
		return NULL;
	for (i = 0; i < plan->n_sw_entries; i++)
		e[i] = &plan->sw_entry[i];
	qsort(e, plan->n_sw_entries, sizeof(*e), by_receiver);
	return e;
}

int aggt_plan_switch_diff(const struct aggt_plan *from,
			  const struct aggt_plan *to,
			  struct aggt_switch_diff **diff, size_t *n)
{
	const struct aggt_switch_entry **a = sorted(from), **b = sorted(to);
	size_t i = 0, j = 0;
	int ret = -1;

	*n = 0;
	*diff = malloc((from->n_sw_entries + to->n_sw_entries + 1) *
		       sizeof(**diff));
	if (!a || !b || !*diff)
		goto out;
	while (i < from->n_sw_entries || j < to->n_sw_entries) {
		int side = i == from->n_sw_entries ? 1 :
			   j == to->n_sw_entries ? -1 :
			   switch_order(a[i], b[j]);
		struct aggt_switch_diff d = {
			.from = side <= 0 ? a[i++] : NULL,
			.to = side >= 0 ? b[j++] : NULL,
		};

		if (!d.from || !d.to)
			(*diff)[(*n)++] = d;
	}
	ret = 0;
out:
	free(a);
	free(b);
	return ret;
}

double aggt_plan_reuse(const struct aggt_plan *from, const struct aggt_plan *to)
{
	size_t k, hops = 0, kept = 0;
	uint32_t v, i;

	for (k = 0; k < to->n_trees; k++) {
		const struct aggt_tree *a = from->tree[k], *b = to->tree[k];

		for (v = 1; v < b->n; v++) {
			i = aggt_tree_at(a, b->code[v]);
			hops++;
			kept += i && i != AGGT_NONE &&
				a->code[a->parent[i]] == b->code[b->parent[v]];
		}
	}
	return hops ? (double)kept / hops : 1;
}
