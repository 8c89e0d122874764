// SPDX-License-Identifier: GPL-2.0
/* The message down, at rank 0, part by part: elements that all ranks seem to have given go
 * down while others still come up. The nodes do not tell how many ranks have given an
 * element, so the parts that have changed by the end of the round up are sent again.
 */
#include <stdlib.h>
#include <string.h>

#include "core/vector.h"
#include "group.h"
#include "merge.h"
#include "result.h"
#include "sink.h"
#include "word.h"

/* Elements of a part, unless it is the last one. */
static uint64_t part_elements(const struct layout *l)
{
	return (GROUP_PART - AGREE_BYTES) / l->size;
}

bool parts_begin(struct aggnet_coll *c)
{
	const struct layout *l = &c->layout;
	uint32_t block = aggnet_vector_block(&c->g->shape);
	uint64_t n = layout_result(l);

	if (c->result)
		return true;
	if (layout_is_vector(l)) {
		c->early.come = calloc(n / block + 1, sizeof(bool));
		c->early.stale = calloc(n / part_elements(l) + 1, sizeof(bool));
		if (!c->early.come || !c->early.stale)
			return false;
	}
	c->result = malloc(n * l->size + 1);
	return c->result;
}

void parts_end(struct aggnet_coll *c)
{
	free(c->early.come);
	free(c->early.stale);
	free(c->result);
	c->early = (struct early){ 0 };
	c->result = NULL;
}

void parts_put(struct aggnet_coll *c, uint64_t element, uint32_t at, uint64_t bits,
	       uint32_t width)
{
	const struct layout *l = &c->layout;
	uint8_t *to = c->result + element * l->size + at;
	uint8_t bytes[sizeof(bits)];

	word_put(bytes, bits, width);
	if (element < c->early.begun && memcmp(to, bytes, width))
		c->early.stale[element / part_elements(l)] = true;
	memcpy(to, bytes, width);
}

/* --- before the round up is over --------------------------------------------------- */

static void look_block(struct aggnet_coll *c, const struct merge *m,
		       const struct merge_entry *e)
{
	uint64_t at = result_offset(m, e);
	uint32_t i, n = result_lines(m, e);
	struct aggnet_entry line;

	if (at < AGREE_ELEMENTS || at - AGREE_ELEMENTS >= c->layout.length)
		return;
	/* One that does not fit its type may still change, or fails the round. */
	for (i = 0; i < n; i++) {
		result_get(m, e, i, NULL, &line);
		up_element(c, &line, NULL);
	}
	at -= AGREE_ELEMENTS;
	c->early.come[at / aggnet_vector_block(&m->shape)] = true;
}

void parts_look(struct aggnet_coll *c)
{
	const struct merge *m = sink_merged(c->g->sum);
	uint32_t block = aggnet_vector_block(&c->g->shape);
	struct early *e = &c->early;

	if (c->judged || !layout_is_vector(&c->layout) || !parts_begin(c))
		return;
	for (; e->seen < m->n; e->seen++)
		look_block(c, m, &m->entry[e->seen]);
	while (e->ready < c->layout.length && e->come[e->ready / block])
		e->ready += block;
	if (e->ready > c->layout.length)
		e->ready = c->layout.length;
}

/* --- parts ------------------------------------------------------------------------- */

/* Go on to the next range that must be sent again. Return: false: there is none */
static bool part_is_stale(struct aggnet_coll *c)
{
	uint64_t last = layout_result(&c->layout) / part_elements(&c->layout);
	struct early *e = &c->early;

	while (e->stale && e->next <= last && !e->stale[e->next])
		e->next++;
	return e->stale && e->next <= last;
}

/* Of a result that does not change any more; what was sent are whole parts. */
static struct agree_part part_final(struct aggnet_coll *c)
{
	uint64_t n = c->layout.down ? layout_result(&c->layout) : 0;
	struct agree_part part = { .n = part_elements(&c->layout) };
	struct early *e = &c->early;

	if (part_is_stale(c)) {
		part.first = e->next++ * part.n;
	} else {
		part.first = e->begun;
		if (part.n > n - e->begun)
			part.n = n - e->begun;
		e->begun += part.n;
	}
	part.more = part_is_stale(c) || e->begun < n;
	return part;
}

static struct agree_part part_early(struct aggnet_coll *c)
{
	struct agree_part part = {
		.first = c->early.begun, .n = part_elements(&c->layout), .more = true,
	};

	c->early.begun += part.n;
	return part;
}

/* Is there a part that may be sent now? */
static bool part_is_due(const struct aggnet_coll *c)
{
	if (c->closed || c->answered)
		return !c->closed;
	return !c->judged && c->early.ready - c->early.begun >=
			     part_elements(&c->layout);
}

bool parts_next(struct aggnet_coll *c)
{
	uint8_t *data = c->g->buf + AGREE_BYTES;
	struct agree_part part = { 0 };
	uint64_t len;

	if (!part_is_due(c))
		return false;
	if (!c->status)
		part = c->answered ? part_final(c) : part_early(c);
	len = c->status ? strlen(c->text) : part.n * c->layout.size;
	agree_put(&c->call, c->status, &part, c->g->buf);
	if (c->status)
		memcpy(data, c->text, len);
	else if (len)
		memcpy(data, c->result + part.first * c->layout.size, len);
	c->length = AGREE_BYTES + len;
	c->done = 0;
	c->closed = !part.more;
	return true;
}
