// SPDX-License-Identifier: GPL-2.0
/* Lines: the lines of a whole result, one after the other. */
#include "lines.h"
#include "result.h"

void lines_begin(struct lines *l, struct merge *merge)
{
	l->merge = merge;
	l->next = 0;
	l->end = merge ? merge->n : 0;
	l->element = 0;
}

bool lines_next(struct lines *l, struct aggnet_entry *entry)
{
	const struct merge_entry *e;

	if (l->next == l->end)
		return false;
	e = &l->merge->entry[l->next];
	result_get(l->merge, e, l->element, l->best, entry);
	if (++l->element == result_lines(l->merge, e)) {
		l->element = 0;
		l->next++;
	}
	return true;
}

/* Lines that lines_top() has left out stay out. */
void lines_sort(struct lines *l)
{
	size_t all, kept = l->end;

	if (!l->merge)
		return;
	all = l->merge->n;
	l->merge->n = kept;
	merge_sort(l->merge);
	l->merge->n = all;
	lines_begin(l, l->merge);
	l->end = kept;
}

void lines_top(struct lines *l, size_t n)
{
	if (!l->merge || merge_dense(l->merge))
		return;
	result_rank(l->merge);
	lines_begin(l, l->merge);
	l->end = n < l->merge->n ? n : l->merge->n;
}
