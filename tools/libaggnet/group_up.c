// SPDX-License-Identifier: GPL-2.0
/* The round up of a collective: what a rank gives, and what rank 0 makes of it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cast.h"
#include "conn.h"
#include "core/vector.h"
#include "group.h"
#include "merge.h"
#include "result.h"
#include "sink.h"
#include "source.h"
#include "word.h"

/* Messages that rank 0 reads before it looks after the round down. */
#define UP_TURN	16

/* --- giving ------------------------------------------------------------------- */

static int give_number(struct aggnet_group *g, int64_t number)
{
	if (aggnet_vtype_float(g->shape.vtype))
		return source_add_element_real(g->up, (double)number);
	return source_add_element(g->up, number);
}

static double real_value(uint64_t bits, uint32_t size)
{
	uint32_t bits32 = (uint32_t)bits;
	double wide;
	float single;

	memcpy(&wide, &bits, sizeof(wide));
	memcpy(&single, &bits32, sizeof(single));
	return size == sizeof(wide) ? wide : single;
}

/* Element @at of the vector up that this rank gives. */
static int give_at(struct aggnet_coll *c, uint64_t at)
{
	const struct layout *l = &c->layout;
	uint64_t bits = element_get(c->send + at / l->carriers * l->size,
				    l->size);
	uint32_t half = l->size * 8 / 2;

	if (l->carriers == 2)
		return give_number(c->g, at % 2 ? bits >> half :
				   bits & ((1ull << half) - 1));
	if (aggnet_vtype_float(c->g->shape.vtype))
		return source_add_element_real(c->g->up,
					       real_value(bits, l->size));
	return source_add_element(c->g->up, l->size == 8 ? (int64_t)bits :
				  (int32_t)bits);
}

static int give_agreement(struct aggnet_coll *c)
{
	const struct aggnet_shape *shape = &c->g->shape;
	int err = 0;

	for (; !err && c->at < AGREE_ELEMENTS; c->at += !err)
		err = give_number(c->g, agree_element(&c->call, shape->function,
						      shape->vtype, c->at));
	if (!err && c->layout.gives)
		err = source_skip(c->g->up, AGREE_ELEMENTS +
				  c->layout.part * c->layout.stride);
	return err;
}

static int give_data(struct aggnet_coll *c)
{
	uint64_t n = c->layout.length * c->layout.carriers;
	int err = 0;

	for (; !err && c->at < n; c->at += !err)
		err = give_at(c, c->at);
	return err;
}

int up_give(struct aggnet_coll *c)
{
	int err = 0;

	while (!err && c->stage != UP_DONE) {
		if (c->stage == UP_AGREE)
			err = give_agreement(c);
		else if (c->stage == UP_DATA)
			err = c->layout.gives ? give_data(c) : 0;
		else
			err = c->last ? source_finish(c->g->up) :
					source_round(c->g->up);
		if (err)
			break;
		c->stage++;
		c->at = 0;
	}
	return err;
}

/* --- the result ----------------------------------------------------------------- */

/* Bits of a merged element that was not carried by two. */
static uint64_t result_bits(const struct aggnet_coll *c,
			    const struct aggnet_entry *line)
{
	float single = (float)line->real;
	uint32_t bits32;
	uint64_t bits;

	if (!aggnet_vtype_float(c->g->shape.vtype))
		return (uint64_t)line->value;
	memcpy(&bits32, &single, sizeof(bits32));
	memcpy(&bits, &line->real, sizeof(bits));
	return c->layout.size == sizeof(bits) ? bits : bits32;
}

bool up_element(struct aggnet_coll *c, const struct aggnet_entry *line,
		double *agreement)
{
	const struct layout *l = &c->layout;
	uint32_t carrier, width = l->size / l->carriers;
	uint64_t at;

	if (line->offset < AGREE_ELEMENTS) {
		agreement[line->offset] =
			aggnet_vtype_float(c->g->shape.vtype) ?
			line->real : (double)line->value;
		return false;
	}
	at = layout_find(l, line->offset - AGREE_ELEMENTS, &carrier);
	if (at == UINT64_MAX || !c->result)
		return false;
	parts_put(c, at, carrier * width, l->carriers == 1 ?
		  result_bits(c, line) : (uint64_t)line->real, width);
	return true;
}

/* Return: elements of the result that have come */
static uint64_t result_elements(struct aggnet_coll *c, double *agreement)
{
	const struct merge *m = sink_merged(c->g->sum);
	bool wraps = c->g->conf.flags & AGGNET_GROUP_WRAP;
	const struct merge_entry *e;
	struct aggnet_entry line;
	uint64_t found = 0;
	uint32_t i, n;

	for (e = m->entry; e < m->entry + m->n; e++) {
		n = result_lines(m, e);
		for (i = 0; i < n; i++)
			if (result_get(m, e, i, NULL, &line) || wraps)
				found += up_element(c, &line, agreement);
	}
	return found;
}

/* --- the answer ------------------------------------------------------------------- */

/* The message down has the result, or the reason why there is none. */
static void answer_fail(struct aggnet_coll *c, int status, const char *text)
{
	snprintf(c->text, sizeof(c->text), "%.*s", (int)sizeof(c->text) - 1, text);
	c->status = status;
	c->last = true;
}

/* The last element of the agreement is 1 at each rank. */
static void answer_differs(struct aggnet_coll *c, const double *agreement)
{
	double n = agreement[AGREE_ELEMENTS - 1];
	char text[AGGNET_TEXT_MAX], call[96];

	if (c->g->shape.function == AGGNET_FN_SUM && n != c->call.ranks)
		snprintf(text, sizeof(text),
			 "%.0f ranks have come, and the group has %u: plan a writer for each",
			 n, c->call.ranks);
	else
		snprintf(text, sizeof(text),
			 "a rank does not agree with rank 0: %s",
			 agree_text(&c->call, call, sizeof(call)));
	answer_fail(c, -EPROTO, text);
}

static uint64_t blocks_of(uint64_t elements, uint32_t block)
{
	return (elements + block - 1) / block;
}

/* Records that all ranks give: each block is one. */
static uint64_t answer_records(const struct aggnet_coll *c)
{
	const struct layout *l = &c->layout;
	uint32_t block = aggnet_vector_block(&c->g->shape);

	return c->call.ranks * blocks_of(AGREE_ELEMENTS, block) +
	       l->givers * blocks_of(l->length * l->carriers, block);
}

/* An extreme tells nothing about how many ranks have given it. */
static void answer_check(struct aggnet_coll *c, uint64_t found)
{
	const struct layout *l = &c->layout;
	uint64_t want = answer_records(c);
	uint64_t came = sink_result(c->g->sum)->records;
	char text[AGGNET_TEXT_MAX];

	if (came != want) {
		snprintf(text, sizeof(text),
			 "the group gave %llu records, and %u ranks give %llu: plan a writer for each, and give it a number of its own",
			 (unsigned long long)came, c->call.ranks,
			 (unsigned long long)want);
		answer_fail(c, -EPROTO, text);
	} else if (l->up && found != layout_result(l) * l->carriers) {
		answer_fail(c, -EPROTO,
			    "parts are missing: each rank needs a number of its own");
	}
}

/* At the first round the plan is compared with what all ranks expect of it. */
static void answer_plan(struct aggnet_coll *c)
{
	const struct aggnet_group *g = c->g;

	if (c->call.kind == LAYOUT_OPEN &&
	    (g->shape.function != g->conf.function ||
	     g->shape.vtype != g->conf.vtype))
		answer_fail(c, -EOPNOTSUPP,
			    "the tree up has another function or type of elements than the group");
}

/* The data of rank 0 need not come up. */
static void answer_own(struct aggnet_coll *c)
{
	const struct layout *l = &c->layout;
	uint64_t i;

	for (i = 0; i < layout_result(l); i++)
		parts_put(c, i, 0, element_get(c->send + i * l->size, l->size),
			  l->size);
}

static void answer_result(struct aggnet_coll *c)
{
	const struct aggnet_shape *shape = &c->g->shape;
	double agreement[AGREE_ELEMENTS] = { 0 };
	uint64_t found;

	c->judged = true;
	if (!parts_begin(c)) {
		answer_fail(c, -ENOMEM, "rank 0 has no memory for the result");
		return;
	}
	found = result_elements(c, agreement);
	if (!agree_holds(&c->call, shape->function, shape->vtype, agreement)) {
		answer_differs(c, agreement);
		return;
	}
	answer_check(c, found);
	if (c->status)
		return;
	if (!c->layout.up)
		answer_own(c);
	answer_plan(c);
}

/* Rank 0 takes its part of the result. */
static void answer_take(struct aggnet_coll *c)
{
	const struct layout *l = &c->layout;

	if (c->status || !l->takes)
		return;
	memcpy(c->recv, c->result + l->first * l->size, l->takes * l->size);
	element_host(c->recv, l->takes, l->size);
}

/* Read the round, and go on to the next one. */
static int answer_read(struct aggnet_coll *c)
{
	struct sink *k = c->g->sum;
	int err = c->judged ? 0 : sink_turn(k, UP_TURN);

	if (!err && !c->judged)
		answer_result(c);
	if (!err)
		err = sink_commit(k);
	if (!err && !sink_result(k)->last)
		err = sink_round(k);
	return err;
}

/*
 * Sums of calls that differ are sums of other elements, and may be too large: the calls
 * are compared although there is no result.
 */
static void answer_overflow(struct aggnet_coll *c)
{
	const struct aggnet_shape *shape = &c->g->shape;
	double agreement[AGREE_ELEMENTS] = { 0 };

	result_elements(c, agreement);
	if (!agree_holds(&c->call, shape->function, shape->vtype, agreement))
		answer_differs(c, agreement);
	else
		answer_fail(c, -EOVERFLOW,
			    "the result of an element does not fit the type of the elements");
}

/* The round up has failed, which the message down tells. */
static void answer_lost(struct aggnet_coll *c, int err)
{
	if (err == -EOVERFLOW) {
		answer_overflow(c);
		return;
	}
	err = group_lost(c->g, err, sink_conn(c->g->sum));
	answer_fail(c, err, c->g->error);
}

void up_answer(struct aggnet_coll *c)
{
	int err = answer_read(c);

	if (err == -EAGAIN || err == -EINTR) {
		parts_look(c);
		return;
	}
	if (err)
		answer_lost(c, err);
	c->answered = true;
	answer_take(c);
}
