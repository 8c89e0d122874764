// SPDX-License-Identifier: GPL-2.0
/* Striped sink: the receiver of a job, which puts the results of the job's trees
 * together. Most jobs have one tree.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"
#include "sink.h"
#include "stripes.h"

/**
 * struct aggnet_sink - the receiver of a job
 * @stripes: the trees
 * @whole: of several trees: the entries of all of them
 * @lines: reader of the result; without a result it has no lines
 * @ready: all trees have been received and checked
 * @result: of all trees, if @ready
 * @tree: the sink of each tree
 */
struct aggnet_sink {
	struct stripes stripes;
	struct merge whole;
	struct lines lines;
	bool ready;
	struct aggnet_result result;
	struct sink *tree[];
};

static int open_trees(struct aggnet_sink *k)
{
	struct stripes *st = &k->stripes;
	const struct aggnet_options opt = stripes_options(st);
	unsigned int i, n = st->n;
	int err = 0;

	for (i = 0; !err && i < n; i++) {
		err = sink_open(&k->tree[i], st->receiver, st->job + i, &opt);
		if (!k->tree[i])
			stripes_fail(st, err, "out of memory");
		else
			st->conn[i] = sink_conn(k->tree[i]);
		if (err && st->conn[i])
			stripes_failed(st, i, err);
	}
	if (err)
		st->n = k->tree[i - 1] ? i : i - 1;
	return err ? err : stripes_agree(st);
}

int aggnet_sink_open(struct aggnet_sink **sink, struct in_addr receiver,
		     uint32_t job, const struct aggnet_options *opt)
{
	struct stripes stripes;
	struct aggnet_sink *k;
	int err = stripes_find(&stripes, receiver, job, opt);

	k = calloc(1, sizeof(*k) + stripes.n * sizeof(k->tree[0]));
	*sink = k;
	if (!k)
		return -ENOMEM;
	k->stripes = stripes;
	if (err)
		k->stripes.n = 0;
	k->stripes.final = err ? err : open_trees(k);
	return k->stripes.final;
}

/* --- putting together ------------------------------------------------------ */

static void forget_result(struct aggnet_sink *k)
{
	k->ready = false;
	lines_begin(&k->lines, NULL);
	merge_free(&k->whole);
}

static bool same_sources(const struct sink *a, const struct sink *b)
{
	const struct aggnet_result *x = sink_result(a), *y = sink_result(b);
	const struct in_addr *without, *without2;
	size_t n, n2;

	without = sink_absent(a, &n);
	without2 = sink_absent(b, &n2);
	return x->sources == y->sources && x->of == y->of && n == n2 &&
	       !memcmp(without, without2, n * sizeof(*without));
}

/* A source has given all of its records, or none: never those of some trees. */
static int check_sources(struct aggnet_sink *k)
{
	unsigned int i;

	for (i = 1; i < k->stripes.n; i++)
		if (!same_sources(k->tree[0], k->tree[i]))
			return stripes_fail(&k->stripes, -EBADMSG,
					    "stripe %u of %u (job %u) has other sources than stripe 1",
					    i + 1, k->stripes.n,
					    k->stripes.job + i);
	return 0;
}

static void add_result(struct aggnet_result *sum,
		       const struct aggnet_result *part)
{
	sum->partials += part->partials;
	sum->records += part->records;
	sum->keys += part->keys;
	if ((int32_t)(part->attempt - sum->attempt) > 0)
		sum->attempt = part->attempt;
}

static int put_together(struct aggnet_sink *k)
{
	unsigned int i;
	int err = stripes_agree(&k->stripes) ?: check_sources(k);

	k->whole.shape = k->stripes.shape;
	k->result = *sink_result(k->tree[0]);
	for (i = 0; !err && i < k->stripes.n; i++) {
		err = merge_gather(&k->whole, sink_merged(k->tree[i]), i,
				   k->stripes.n);
		if (err)
			stripes_fail(&k->stripes, err, "no memory for %zu keys",
				     k->whole.n);
		else if (i)
			add_result(&k->result, sink_result(k->tree[i]));
	}
	return err;
}

/* --- running -------------------------------------------------------------- */

/* Return: 0: all trees are whole; 1: wait for @events; or a negative errno */
static int run_all(struct aggnet_sink *k, short *events)
{
	unsigned int i;
	int err, left = 0;

	for (i = 0; i < k->stripes.n; i++) {
		err = sink_look(k->tree[i]) ?: sink_run(k->tree[i]);
		/* The end of a result that waits for others may be lost, too. */
		events[i] = sink_is_whole(k->tree[i]) ? 0 :
			    k->stripes.conn[i]->waits;
		if (err == -EAGAIN)
			left = 1;
		else if (err)
			return stripes_failed(&k->stripes, i, err);
	}
	return left;
}

static int run_stripes(struct aggnet_sink *k)
{
	short events[AGGNET_STRIPES_MAX];
	int err;

	do {
		err = run_all(k, events);
		if (err > 0)
			err = stripes_wait(&k->stripes, events) ?: 1;
	} while (err > 0);
	return err ? err : put_together(k);
}

int aggnet_sink_run(struct aggnet_sink *k)
{
	int err;

	if (k->stripes.final || k->ready)
		return k->stripes.final;
	forget_result(k);
	err = k->stripes.n > 1 ? run_stripes(k) : sink_run(k->tree[0]);
	if (err)
		return err;
	if (k->stripes.n == 1)
		k->result = *sink_result(k->tree[0]);
	lines_begin(&k->lines, k->stripes.n > 1 ? &k->whole :
						  sink_merged(k->tree[0]));
	k->ready = true;
	return 0;
}

int aggnet_sink_stream(struct aggnet_sink *k, struct aggnet_entry *entry)
{
	int got;

	if (k->stripes.final)
		return k->stripes.final;
	if (k->stripes.n > 1)
		return stripes_fail(&k->stripes, -EPROTOTYPE,
				    "the keys of this transfer come in no order");
	got = sink_stream(k->tree[0], entry);
	if (!got)
		k->result = *sink_result(k->tree[0]);
	return got;
}

bool aggnet_sink_next(struct aggnet_sink *k, struct aggnet_entry *entry)
{
	return lines_next(&k->lines, entry);
}

void aggnet_sink_sort(struct aggnet_sink *k)
{
	lines_sort(&k->lines);
}

void aggnet_sink_top(struct aggnet_sink *k, size_t n)
{
	lines_top(&k->lines, n);
}

const struct aggnet_result *aggnet_sink_result(const struct aggnet_sink *k)
{
	return &k->result;
}

const struct in_addr *aggnet_sink_absent(const struct aggnet_sink *k,
					 size_t *n)
{
	*n = 0;
	return k->stripes.n ? sink_absent(k->tree[0], n) : NULL;
}

/* --- the end -------------------------------------------------------------- */

static int stale(struct aggnet_sink *k)
{
	return stripes_fail(&k->stripes, -ESTALE, "a newer epoch has begun");
}

/*
 * Until the first end mark is taken, the loss of a tree costs its sources only the
 * time to send again: so look at all trees before.
 */
static int look_at_all(struct aggnet_sink *k)
{
	unsigned int i;
	int err;

	for (i = 0; i < k->stripes.n; i++) {
		err = sink_look(k->tree[i]);
		if (err)
			return stripes_failed(&k->stripes, i, err);
		if (!sink_is_whole(k->tree[i]))
			return stale(k);
	}
	return 0;
}

static int commit_tree(struct aggnet_sink *k, unsigned int i)
{
	short events[AGGNET_STRIPES_MAX];
	unsigned int other;
	int err;

	for (other = 0; other < k->stripes.n; other++)
		events[other] = other == i ? POLLIN : STRIPES_IDLE;
	while ((err = sink_commit(k->tree[i])) == -EAGAIN) {
		err = stripes_wait(&k->stripes, events);
		if (err)
			return err;
	}
	return err ? stripes_failed(&k->stripes, i, err) : 0;
}

static int commit_stripes(struct aggnet_sink *k)
{
	unsigned int i;
	int err;

	if (!k->ready)
		return stripes_fail(&k->stripes, -EINVAL,
				    "there is no result yet");
	err = look_at_all(k);
	for (i = 0; !err && i < k->stripes.n; i++)
		err = commit_tree(k, i);
	return err;
}

int aggnet_sink_commit(struct aggnet_sink *k)
{
	int err;

	if (k->stripes.final)
		return k->stripes.final;
	err = k->stripes.n > 1 ? commit_stripes(k) : sink_commit(k->tree[0]);
	if (err && !conn_may_retry(err))
		forget_result(k);
	return err;
}

int aggnet_sink_round(struct aggnet_sink *k)
{
	int err = k->stripes.final;

	if (err)
		return err;
	if (k->stripes.n > 1)
		return stripes_fail(&k->stripes, -EOPNOTSUPP,
				    "a job of several trees has no rounds");
	err = sink_round(k->tree[0]);
	if (!err)
		forget_result(k);
	return err;
}

/* --- the rest ------------------------------------------------------------- */

int aggnet_sink_abort(struct aggnet_sink *k, enum aggnet_reason why)
{
	return stripes_abort(&k->stripes, why);
}

void aggnet_sink_close(struct aggnet_sink *k)
{
	unsigned int i;

	if (!k)
		return;
	for (i = 0; i < k->stripes.n; i++)
		sink_close(k->tree[i]);
	stripes_close(&k->stripes);
	merge_free(&k->whole);
	free(k);
}

int aggnet_sink_fd(const struct aggnet_sink *k)
{
	return stripes_fd(&k->stripes);
}

const char *aggnet_sink_error(const struct aggnet_sink *k)
{
	return k ? stripes_error(&k->stripes) : "out of memory";
}

int aggnet_sink_status(struct aggnet_sink *k, struct aggnet_status *st)
{
	return stripes_status(&k->stripes, st);
}

unsigned int aggnet_sink_replays(const struct aggnet_sink *k)
{
	return stripes_replays(&k->stripes);
}
