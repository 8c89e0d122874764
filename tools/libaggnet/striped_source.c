// SPDX-License-Identifier: GPL-2.0
/* Striped source: a local writer of a job, which gives each record to one of the
 * job's trees. Most jobs have one tree.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"
#include "stripes.h"

/* What may wait for one tree while others take more. */
#define STRIPE_ROOM	(256u << 10)
/* Odd, with bits in all places. */
#define SUM_FACTOR	0x9e3779b97f4a7c15u

/**
 * struct part - what a tree gets
 * @tree: its source
 * @seen: records, or elements, of this tree that the caller has given, counted from
 *	the start of the input
 * @taken: of them, those that the tree has; with AGGNET_OPT_REPLAY @seen starts again
 *	for all trees when one is in a new epoch, and the others have theirs already
 * @seen_sum: with AGGNET_OPT_REPLAY the sum of the records that @seen counts
 * @taken_sum: of those that the tree has
 */
struct part {
	struct source *tree;
	uint64_t seen;
	uint64_t taken;
	uint64_t seen_sum;
	uint64_t taken_sum;
};

/**
 * struct aggnet_source - a local writer of a job
 * @stripes: the trees
 * @given: elements of the vector that the caller gave, of several trees
 * @again: a tree began anew, and the caller gives all records again
 * @part: of each tree
 */
struct aggnet_source {
	struct stripes stripes;
	uint64_t given;
	bool again;
	struct part part[];
};

static int open_parts(struct aggnet_source *s)
{
	struct stripes *st = &s->stripes;
	const struct aggnet_options opt = stripes_options(st);
	unsigned int i, n = st->n;
	int err = 0;

	for (i = 0; !err && i < n; i++) {
		err = source_open(&s->part[i].tree, st->receiver, st->job + i,
				  &opt, n > 1 ? STRIPE_ROOM : 0);
		if (!s->part[i].tree)
			stripes_fail(st, err, "out of memory");
		else
			st->conn[i] = source_conn(s->part[i].tree);
		if (err && st->conn[i])
			stripes_failed(st, i, err);
	}
	if (err)
		st->n = s->part[i - 1].tree ? i : i - 1;
	return err ? err : stripes_agree(st);
}

int aggnet_source_open(struct aggnet_source **source, struct in_addr receiver,
		       uint32_t job, const struct aggnet_options *opt)
{
	struct stripes stripes;
	struct aggnet_source *s;
	int err = stripes_find(&stripes, receiver, job, opt);

	s = calloc(1, sizeof(*s) + stripes.n * sizeof(s->part[0]));
	*source = s;
	if (!s)
		return -ENOMEM;
	s->stripes = stripes;
	if (err)
		s->stripes.n = 0;
	s->stripes.final = err ? err : open_parts(s);
	return s->stripes.final;
}

/* --- sending -------------------------------------------------------------- */

/* A tree begins anew: the caller gives all records again, for this tree only. */
static int source_anew(struct aggnet_source *s, unsigned int stripe)
{
	unsigned int i;

	s->part[stripe].taken = 0;
	for (i = 0; i < s->stripes.n; i++) {
		s->part[i].seen = 0;
		s->part[i].seen_sum = 0;
	}
	s->given = 0;
	s->again = true;
	return stripes_failed(&s->stripes, stripe, -ESTALE);
}

/*
 * The tree has records of an input that is not the one of the other trees. Nothing takes
 * them back, so the transfer ends.
 */
static int source_changed(struct aggnet_source *s, unsigned int i)
{
	struct stripes *st = &s->stripes;

	stripes_abort(st, AGGNET_R_SENDER);
	st->final = stripes_fail(st, -EINVAL,
				 "stripe %u of %u (job %u): the input has changed since it was first given: plan the job again",
				 i + 1, st->n, st->job + i);
	return st->final;
}

/* What ends one tree ends the transfer: later calls return it again, for any record. */
static int part_failed(struct aggnet_source *s, unsigned int i, int err)
{
	if (err == -ESTALE)
		return source_anew(s, i);
	if (s->stripes.conn[i]->final)
		s->stripes.final = err;
	return stripes_failed(&s->stripes, i, err);
}

/* Each tree takes what it can. */
static int push_all(struct aggnet_source *s)
{
	unsigned int i;
	int err;

	for (i = 0; i < s->stripes.n; i++) {
		if (!source_pending(s->part[i].tree))
			continue;
		err = source_push(s->part[i].tree);
		if (err)
			return part_failed(s, i, err);
	}
	return 0;
}

/*
 * Wait until one of the trees for which records wait takes more. Those that take them
 * now are not waited for: their sockets are ready.
 */
static int wait_to_push(struct aggnet_source *s)
{
	short events[AGGNET_STRIPES_MAX];
	int err = push_all(s);
	bool pending = false;
	unsigned int i;

	if (err)
		return err;
	for (i = 0; i < s->stripes.n; i++) {
		events[i] = source_pending(s->part[i].tree) ?
			    s->stripes.conn[i]->waits : STRIPES_IDLE;
		pending |= events[i] != STRIPES_IDLE;
	}
	return pending ? stripes_wait(&s->stripes, events) : 0;
}

/* --- records -------------------------------------------------------------- */

/**
 * struct item - a record, or an element of a vector
 * @add: the call of a tree's source that takes it
 * @key: its bytes; unused for an element
 * @klen: how many
 * @hash: of the key, if there are several trees
 * @value: the value, if it is an integer
 * @real: the value, if it is a real
 * @id: its ID, if it is a pair
 */
struct item {
	int (*add)(struct source *tree, const struct item *item);
	const void *key;
	size_t klen;
	uint32_t hash;
	int64_t value;
	double real;
	uint64_t id;
};

static int add_integer(struct source *tree, const struct item *item)
{
	return source_add(tree, item->key, item->klen, item->value);
}

static int add_real(struct source *tree, const struct item *item)
{
	return source_add_real(tree, item->key, item->klen, item->real);
}

static int add_pair(struct source *tree, const struct item *item)
{
	return source_add_pair(tree, item->key, item->klen, item->value,
			       item->id);
}

static int add_pair_real(struct source *tree, const struct item *item)
{
	return source_add_pair_real(tree, item->key, item->klen, item->real,
				    item->id);
}

static int add_element(struct source *tree, const struct item *item)
{
	return source_add_element(tree, item->value);
}

static int add_element_real(struct source *tree, const struct item *item)
{
	return source_add_element_real(tree, item->real);
}

static uint64_t sum_word(uint64_t sum, uint64_t word)
{
	sum = (sum ^ word) * SUM_FACTOR;
	return sum ^ sum >> 32;
}

/* Sum of the records up to @item; it depends on their order. */
static uint64_t sum_item(uint64_t sum, const struct item *item)
{
	uint64_t real;

	memcpy(&real, &item->real, sizeof(real));
	sum = sum_word(sum, (uint64_t)item->klen << 32 | item->hash);
	sum = sum_word(sum, (uint64_t)item->value);
	return sum_word(sum_word(sum, real), item->id);
}

/* A record that the tree has already, unless the input has changed. */
static int give_again(struct aggnet_source *s, unsigned int i,
		      const struct item *item)
{
	struct part *part = &s->part[i];

	part->seen++;
	part->seen_sum = sum_item(part->seen_sum, item);
	if (part->seen == part->taken && part->seen_sum != part->taken_sum)
		return source_changed(s, i);
	return 0;
}

static void part_took(struct aggnet_source *s, unsigned int i,
		      const struct item *item)
{
	struct part *part = &s->part[i];

	part->taken = ++part->seen;
	if (!(s->stripes.opt.flags & AGGNET_OPT_REPLAY))
		return;
	part->seen_sum = sum_item(part->seen_sum, item);
	part->taken_sum = part->seen_sum;
}

/* Sending comes first, because a record that was taken must not fail. */
static int give(struct aggnet_source *s, unsigned int i,
		const struct item *item)
{
	struct part *part = &s->part[i];
	int err = 0;

	if (part->seen < part->taken)
		return give_again(s, i, item);
	if (s->again && source_is_shut(part->tree))
		return source_changed(s, i);
	if (source_is_due(part->tree))
		err = push_all(s);
	while (!err) {
		err = item->add(part->tree, item);
		if (!err)
			break;
		err = err == -EAGAIN ? wait_to_push(s) :
				       part_failed(s, i, err);
	}
	if (!err)
		part_took(s, i, item);
	return err;
}

static int give_record(struct aggnet_source *s, struct item *item)
{
	if (s->stripes.final)
		return s->stripes.final;
	if (s->stripes.n == 1)
		return item->add(s->part[0].tree, item);
	if (!item->klen || item->klen > AGGNET_KEY_MAX)
		return stripes_fail(&s->stripes, -EINVAL,
				    "a key of %zu bytes: 1 to %d are allowed",
				    item->klen, AGGNET_KEY_MAX);
	item->hash = stripes_hash(item->key, item->klen);
	return give(s, stripes_of_hash(&s->stripes, item->hash), item);
}

static int give_element(struct aggnet_source *s, const struct item *item)
{
	const uint64_t elements = s->stripes.shape.elements;
	int err;

	if (s->stripes.final)
		return s->stripes.final;
	if (s->stripes.n == 1)
		return item->add(s->part[0].tree, item);
	if (elements && s->given == elements)
		return stripes_fail(&s->stripes, -ERANGE,
				    "the vector has no more than %llu elements",
				    (unsigned long long)elements);
	err = give(s, stripes_of_element(&s->stripes, s->given), item);
	s->given += !err;
	return err;
}

int aggnet_source_add(struct aggnet_source *s, const void *key, size_t klen,
		      int64_t value)
{
	return give_record(s, &(struct item){ .add = add_integer, .key = key,
					      .klen = klen, .value = value });
}

int aggnet_source_add_real(struct aggnet_source *s, const void *key,
			   size_t klen, double value)
{
	return give_record(s, &(struct item){ .add = add_real, .key = key,
					      .klen = klen, .real = value });
}

int aggnet_source_add_pair(struct aggnet_source *s, const void *key,
			   size_t klen, int64_t value, uint64_t id)
{
	return give_record(s, &(struct item){ .add = add_pair, .key = key,
					      .klen = klen, .value = value,
					      .id = id });
}

int aggnet_source_add_pair_real(struct aggnet_source *s, const void *key,
				size_t klen, double value, uint64_t id)
{
	return give_record(s, &(struct item){ .add = add_pair_real, .key = key,
					      .klen = klen, .real = value,
					      .id = id });
}

int aggnet_source_add_element(struct aggnet_source *s, int64_t value)
{
	return give_element(s, &(struct item){ .add = add_element,
					       .value = value });
}

int aggnet_source_add_element_real(struct aggnet_source *s, double value)
{
	return give_element(s, &(struct item){ .add = add_element_real,
					       .real = value });
}

/* --- the end -------------------------------------------------------------- */

/*
 * The input is whole: no element of a vector is missing, and after a replay each tree
 * has had all records that it has got before.
 */
static int check_whole(struct aggnet_source *s)
{
	const uint64_t elements = s->stripes.shape.elements;
	unsigned int i;

	for (i = 0; i < s->stripes.n; i++)
		if (s->part[i].seen != s->part[i].taken)
			return source_changed(s, i);
	if (elements && s->given != elements)
		return stripes_fail(&s->stripes, -EINVAL,
				    "only %llu of the vector's %llu elements were given",
				    (unsigned long long)s->given,
				    (unsigned long long)elements);
	return 0;
}

/* Return: 0: all trees are done; 1: wait for @events; or a negative errno */
static int finish_all(struct aggnet_source *s, short *events)
{
	unsigned int i;
	int err, left = 0;

	for (i = 0; i < s->stripes.n; i++) {
		events[i] = STRIPES_IDLE;
		err = source_finish(s->part[i].tree);
		if (err == -EAGAIN) {
			events[i] = s->stripes.conn[i]->waits;
			left = 1;
		} else if (err) {
			return part_failed(s, i, err);
		}
	}
	return left;
}

int aggnet_source_round(struct aggnet_source *s)
{
	struct stripes *st = &s->stripes;

	if (st->final)
		return st->final;
	if (st->n > 1)
		return stripes_fail(st, -EOPNOTSUPP,
				    "a job of several trees has no rounds");
	return source_round(s->part[0].tree);
}

int aggnet_source_finish(struct aggnet_source *s)
{
	struct stripes *st = &s->stripes;
	short events[AGGNET_STRIPES_MAX];
	int err;

	if (st->final)
		return st->final;
	if (st->n == 1)
		return source_finish(s->part[0].tree);
	do {
		err = stripes_agree(st) ?: check_whole(s) ?:
		      finish_all(s, events);
		if (err > 0)
			err = stripes_wait(st, events) ?: 1;
	} while (err > 0);
	return err;
}

/* --- the rest ------------------------------------------------------------- */

int aggnet_source_abort(struct aggnet_source *s, enum aggnet_reason why)
{
	return stripes_abort(&s->stripes, why);
}

void aggnet_source_close(struct aggnet_source *s)
{
	unsigned int i;

	if (!s)
		return;
	for (i = 0; i < s->stripes.n; i++)
		source_close(s->part[i].tree);
	stripes_close(&s->stripes);
	free(s);
}

int aggnet_source_fd(const struct aggnet_source *s)
{
	return stripes_fd(&s->stripes);
}

short aggnet_source_events(const struct aggnet_source *s)
{
	if (s->stripes.epoll >= 0 || !s->stripes.conn[0])
		return POLLIN;
	return s->stripes.conn[0]->waits;
}

const char *aggnet_source_error(const struct aggnet_source *s)
{
	return s ? stripes_error(&s->stripes) : "out of memory";
}

int aggnet_source_status(struct aggnet_source *s, struct aggnet_status *st)
{
	return stripes_status(&s->stripes, st);
}

uint64_t aggnet_source_records(const struct aggnet_source *s)
{
	uint64_t records = 0;
	unsigned int i;

	for (i = 0; i < s->stripes.n; i++)
		records += source_records(s->part[i].tree);
	return records;
}

uint64_t aggnet_source_resent(const struct aggnet_source *s)
{
	uint64_t resent = 0;
	unsigned int i;

	for (i = 0; i < s->stripes.n; i++)
		resent += source_resent(s->part[i].tree);
	return resent;
}

unsigned int aggnet_source_replays(const struct aggnet_source *s)
{
	return stripes_replays(&s->stripes);
}
