// SPDX-License-Identifier: GPL-2.0
/* Stripes: the trees of one job. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "crc32c.h"
#include "stripes.h"

int stripes_fail(struct stripes *s, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->error, sizeof(s->error), fmt, ap);
	va_end(ap);
	return err;
}

int stripes_failed(struct stripes *s, unsigned int i, int err)
{
	if (s->n == 1)
		return err;
	/* Only the end of a long sentence can be cut. */
	return stripes_fail(s, err, "stripe %u of %u (job %u): %.*s", i + 1,
			    s->n, s->job + i, AGGNET_TEXT_MAX - 64,
			    s->conn[i]->error);
}

/* --- the split ------------------------------------------------------------ */

uint32_t stripes_hash(const void *key, size_t klen)
{
	return crc32c_add(0, key, klen);
}

unsigned int stripes_of_hash(const struct stripes *s, uint32_t hash)
{
	return (uint64_t)hash * s->n >> 32;
}

unsigned int stripes_of_element(const struct stripes *s, uint64_t element)
{
	return element / aggnet_vector_block(&s->shape) % s->n;
}

/* --- opening -------------------------------------------------------------- */

static bool same_plan(const struct aggnet_status *a,
		      const struct aggnet_status *b)
{
	return a->instance == b->instance && a->stripes == b->stripes &&
	       !memcmp(a->plan, b->plan, sizeof(a->plan));
}

/* Each tree has its own part of a vector. */
static bool same_values(const struct stripes *s, const struct aggnet_status *st)
{
	struct aggnet_shape shape = status_shape(st);

	shape.elements = s->shape.elements;
	return aggnet_shape_equal(&shape, &s->shape);
}

static int stripes_mixed(struct stripes *s, unsigned int i)
{
	return stripes_fail(s, -ECANCELED,
			    "job %u and job %u are not stripes of one plan: apply the whole plan again on this node",
			    s->job, s->job + i);
}

/* Entries that were added by hand may have no plan that makes them alike. */
static int stripes_unlike(struct stripes *s, unsigned int i)
{
	return stripes_fail(s, -ECANCELED,
			    "stripe %u of %u (job %u) has another function, type or number of values than the rest: apply the whole plan again on this node",
			    i + 1, s->n, s->job + i);
}

/*
 * Closing a handle aborts the trees that it has joined. A tree that has ended may be
 * repaired if the others go on, so look for one before joining any.
 */
static int find_ended(struct stripes *s, const struct aggnet_status *st)
{
	char text[AGGNET_TEXT_MAX - 64];
	unsigned int i;
	int err;

	for (i = 0; i < s->n; i++) {
		err = conn_refusal(&st[i], &s->opt);
		if (!err)
			continue;
		if (err == -EALREADY)
			strcpy(text, "it is over on this node");
		else
			aggnet_status_text(&st[i], text, sizeof(text));
		return stripes_fail(s, err, "stripe %u of %u (job %u): %s",
				    i + 1, s->n, s->job + i, text);
	}
	return 0;
}

/* Look at the entries after the first one. */
static int find_others(struct stripes *s, const struct aggnet_status *first)
{
	struct aggnet_status st[AGGNET_STRIPES_MAX] = { *first };
	unsigned int i;
	int err;

	for (i = 1; i < s->n; i++) {
		err = aggnet_lookup(s->receiver, s->job + i, &st[i]);
		if (err)
			return stripes_fail(s, err,
					    "stripe %u of %u: no entry for job %u can be used here: %s: apply the whole plan again on this node",
					    i + 1, s->n, s->job + i,
					    strerror(-err));
		if (!same_plan(first, &st[i]) || st[i].stripe != i)
			return stripes_mixed(s, i);
		if (!same_values(s, &st[i]))
			return stripes_unlike(s, i);
		s->shape.elements += st[i].elements;
	}
	for (i = 0; s->shape.elements && i < s->n; i++)
		if (st[i].elements != stripe_elements(&s->shape, i, s->n))
			return stripes_fail(s, -ECANCELED,
					    "stripe %u of %u: job %u has %llu elements of a vector of %llu: apply the whole plan again on this node",
					    i + 1, s->n, s->job + i,
					    (unsigned long long)st[i].elements,
					    (unsigned long long)s->shape.elements);
	return find_ended(s, st);
}

int stripes_find(struct stripes *s, struct in_addr receiver, uint32_t job,
		 const struct aggnet_options *opt)
{
	struct aggnet_status first;

	*s = (struct stripes){ .n = 1, .receiver = receiver, .job = job,
			       .epoll = -1 };
	if (opt)
		s->opt = *opt;
	if (aggnet_lookup(receiver, job, &first) || first.stripes < 2)
		return 0;
	if (first.stripe)
		return stripes_fail(s, -EINVAL,
				    "job %u is stripe %u of job %u: give that job",
				    job, first.stripe + 1, job - first.stripe);
	if (first.stripes > AGGNET_STRIPES_MAX)
		return stripes_fail(s, -EINVAL, "job %u has %u stripes, and %u are possible: plan it again",
				    job, first.stripes, AGGNET_STRIPES_MAX);
	if (first.layout == AGGNET_LAYOUT_SORTED)
		return stripes_fail(s, -EPROTOTYPE,
				    "records in order cannot be split over stripes: plan the job without --sorted");
	s->n = first.stripes;
	s->shape = status_shape(&first);
	return find_others(s, &first);
}

struct aggnet_options stripes_options(const struct stripes *s)
{
	struct aggnet_options opt = s->opt;

	if (s->n > 1)
		opt.flags |= AGGNET_OPT_NONBLOCK;
	return opt;
}

void stripes_close(struct stripes *s)
{
	if (s->epoll >= 0)
		close(s->epoll);
	s->epoll = -1;
}

/* The job has been planned anew since stripes_find(), or had no entry then. */
static int stripes_changed(struct stripes *s, unsigned int i)
{
	const struct aggnet_status *st = &s->conn[i]->status;

	return stripes_fail(s, -ECANCELED,
			    "job %u is stripe %u of %u now, and was %u of %u: open job %u again",
			    s->job + i, st->stripe + 1, status_stripes(st),
			    i + 1, s->n, s->job);
}

int stripes_agree(struct stripes *s)
{
	const struct aggnet_status *st;
	unsigned int i;

	for (i = 0; i < s->n; i++) {
		st = &s->conn[i]->status;
		if (!status_is_stripe(st, i, s->n))
			return stripes_changed(s, i);
		if (!same_plan(&s->conn[0]->status, st))
			return stripes_mixed(s, i);
		if (s->n > 1 && (!same_values(s, st) ||
				 st->elements != stripe_elements(&s->shape, i,
								 s->n)))
			return stripes_unlike(s, i);
	}
	return 0;
}

/* --- waiting -------------------------------------------------------------- */

/* A set of descriptors; one that was closed could stay in it after fork(). */
static int stripes_collect(struct stripes *s, const short *events)
{
	unsigned int i;

	stripes_close(s);
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return stripes_fail(s, -errno, "epoll: %s", strerror(errno));
	for (i = 0; i < s->n; i++) {
		struct epoll_event event = { .events = events[i] };

		if (events[i] != STRIPES_IDLE &&
		    epoll_ctl(s->epoll, EPOLL_CTL_ADD, conn_fd(s->conn[i]),
			      &event))
			return stripes_fail(s, -errno, "epoll: %s",
					    strerror(errno));
	}
	return stripes_fail(s, -EAGAIN, "would have to wait");
}

int stripes_wait(struct stripes *s, const short *events)
{
	struct pollfd pfd[AGGNET_STRIPES_MAX];
	unsigned int i;

	if (s->opt.flags & AGGNET_OPT_NONBLOCK)
		return stripes_collect(s, events);
	for (i = 0; i < s->n; i++)
		pfd[i] = (struct pollfd){
			.fd = events[i] == STRIPES_IDLE ? -1 :
			      conn_fd(s->conn[i]),
			.events = events[i],
		};
	if (poll(pfd, s->n, conn_left_ms(s->conn[0])) >= 0)
		return 0;
	if (errno == EINTR)
		return stripes_fail(s, -EINTR, "interrupted");
	return stripes_fail(s, -errno, "poll: %s", strerror(errno));
}

/* --- the rest ------------------------------------------------------------- */

int stripes_fd(const struct stripes *s)
{
	if (s->epoll >= 0 || !s->conn[0])
		return s->epoll;
	return conn_fd(s->conn[0]);
}

const char *stripes_error(const struct stripes *s)
{
	return s->error[0] || !s->conn[0] ? s->error : s->conn[0]->error;
}

int stripes_status(struct stripes *s, struct aggnet_status *st)
{
	unsigned int i;
	int err = -ENOTCONN;

	for (i = s->n; i--; )
		if (s->conn[i]) {
			err = conn_status(s->conn[i], st);
			if (!err && st->reason != AGGNET_R_NONE)
				return 0;
		}
	return err;
}

int stripes_abort(struct stripes *s, enum aggnet_reason why)
{
	unsigned int i;
	int err, first = 0;

	for (i = 0; i < s->n; i++) {
		if (!s->conn[i])
			continue;
		err = conn_abort(s->conn[i], why);
		if (err && !first)
			first = stripes_failed(s, i, err);
	}
	/* The first tree has the sentence of its abort. */
	if (!first)
		s->error[0] = '\0';
	return first;
}

unsigned int stripes_replays(const struct stripes *s)
{
	unsigned int i, replays = 0;

	for (i = 0; i < s->n; i++)
		if (s->conn[i])
			replays += s->conn[i]->replays;
	return replays;
}
