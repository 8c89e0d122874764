/* SPDX-License-Identifier: GPL-2.0 */
/* Lines: the lines of a whole result, one after the other. */
#ifndef AGGNET_LINES_H
#define AGGNET_LINES_H

#include "core/pairs.h"
#include "aggnet_data.h"
#include "merge.h"

/**
 * struct lines - a reader of a result
 * @merge: the result; NULL: there is none
 * @next: entry that comes next
 * @end: behind the last entry
 * @element: of the entry's block, of a dense vector
 * @best: what the last line has kept
 */
struct lines {
	struct merge *merge;
	size_t next;
	size_t end;
	uint32_t element;
	struct aggnet_best best[AGGNET_K_MAX];
};

/* Begin with the first line of @merge; NULL: there are no lines. */
void lines_begin(struct lines *l, struct merge *merge);

/* As the functions of sinks in aggnet_data.h. */
bool lines_next(struct lines *l, struct aggnet_entry *entry);
void lines_sort(struct lines *l);
void lines_top(struct lines *l, size_t n);

#endif /* AGGNET_LINES_H */
