// SPDX-License-Identifier: GPL-2.0
/* Group: a rank's handles of the two trees, and how a collective goes on. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aggnet.h"
#include "cast.h"
#include "conn.h"
#include "group.h"
#include "sink.h"
#include "source.h"

int group_fail(struct aggnet_group *g, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(g->error, sizeof(g->error), fmt, ap);
	va_end(ap);
	return err;
}

int group_lost(struct aggnet_group *g, int err, const struct conn *tree)
{
	const char *text = tree->error;

	if (err == -EPIPE || err == -ECONNABORTED)
		return group_fail(g, -ECONNABORTED, "a rank has left: %s", text);
	/* The text of a tree offers to try again. */
	if (err == -ENOMEM)
		return group_fail(g, err,
				  "no memory here or in the kernel for a call of the group");
	/* Calls that differ have the same errno, but do not end a tree. */
	if (tree->final && tree->status.reason == AGGNET_R_PROTOCOL)
		return group_fail(g, err,
				  "a tree of the group has ended: %s, or a link has had all of its 2^32 - 256 packets: plan another group",
				  text);
	return group_fail(g, err, "%s", text);
}

const char *aggnet_group_error(const struct aggnet_group *g)
{
	return g ? g->error : strerror(ENOMEM);
}

void group_leave(struct aggnet_group *g)
{
	source_close(g->up);
	sink_close(g->sum);
	aggnet_cast_close(g->down);
	g->up = NULL;
	g->sum = NULL;
	g->down = NULL;
	g->ended = true;
}

/* --- joining -------------------------------------------------------------------- */

/* What a later version may use is 0 now. */
static int conf_check_rest(struct aggnet_group *g)
{
	const struct aggnet_group_conf *c = &g->conf;
	uint32_t rest = c->flags & ~(uint32_t)AGGNET_GROUP_WRAP;
	size_t i;

	for (i = 0; i < sizeof(c->reserved) / sizeof(c->reserved[0]); i++)
		rest |= c->reserved[i];
	return rest ? group_fail(g, -EINVAL,
				 "unknown flags of a group, or reserved is not 0") : 0;
}

static int conf_check_ranks(struct aggnet_group *g)
{
	const struct aggnet_group_conf *c = &g->conf;
	uint32_t max = agree_ranks_max(c->function, c->vtype);

	if (!c->ranks || c->rank >= c->ranks)
		return group_fail(g, -EINVAL, "rank %u is not one of %u ranks",
				  c->rank, c->ranks);
	if (c->ranks > max)
		return group_fail(g, -EINVAL,
				  "a group that adds %s has at most %u ranks",
				  aggnet_vtype_names[c->vtype], max);
	return conf_check_rest(g);
}

static int conf_check(struct aggnet_group *g)
{
	const struct aggnet_group_conf *c = &g->conf;

	if (c->function != AGGNET_FN_SUM && c->function != AGGNET_FN_MIN &&
	    c->function != AGGNET_FN_MAX)
		return group_fail(g, -EINVAL,
				  "the function of a group is sum, min or max");
	if (c->vtype >= __AGGNET_VTYPE_MAX)
		return group_fail(g, -EINVAL, "unknown type of elements");
	return conf_check_ranks(g);
}

/* A tree without a group's properties must not be joined: leaving would abort it. */
static int tree_check(struct aggnet_group *g, uint32_t job, bool down)
{
	struct aggnet_status st;

	/* Joining has the sentence for an entry that is not there. */
	if (aggnet_lookup(g->conf.root, job, &st))
		return 0;
	if (down ? st.direction != AGGNET_DIR_DOWN :
		   st.layout != AGGNET_LAYOUT_DENSE)
		return group_fail(g, -EOPNOTSUPP, down ?
				  "job %u does not lead down: plan it with --collective bcast --persist" :
				  "job %u is not of a dense vector: plan it with --elements and --persist",
				  job);
	if (!st.persist || st.stripes > 1)
		return group_fail(g, -EOPNOTSUPP, st.persist ?
				  "job %u has several trees" :
				  "job %u has no rounds: plan it with --persist",
				  job);
	if (!down && st.elements < AGREE_ELEMENTS)
		return group_fail(g, -EOPNOTSUPP,
				  "job %u has a vector of less than %d elements",
				  job, AGREE_ELEMENTS);
	return 0;
}

/* No newer epoch is joined, as its rounds begin with 0. */
static int tree_joined(struct aggnet_group *g, struct conn *c, int err)
{
	if (!err && c->fd < 0)
		err = c->broken;
	/* It would make callers start again, but there is no replay. */
	if (err == -ESTALE)
		err = -ECANCELED;
	c->rounds = 1;
	return err ? group_lost(g, err, c) : 0;
}

static int group_join_up(struct aggnet_group *g,
			 const struct aggnet_options *opt)
{
	int err;

	if (!g->conf.rank) {
		err = sink_open(&g->sum, g->conf.root, g->conf.up, opt);
		if (!g->sum)
			return group_fail(g, err, "no memory for a group");
		err = tree_joined(g, sink_conn(g->sum), err);
		if (err)
			return err;
		sink_may_skip(g->sum);
		if (g->conf.flags & AGGNET_GROUP_WRAP)
			sink_may_wrap(g->sum);
	}
	err = source_open(&g->up, g->conf.root, g->conf.up, opt, 0);
	if (!g->up)
		return group_fail(g, err, "no memory for a group");
	err = tree_joined(g, source_conn(g->up), err);
	source_may_skip(g->up);
	g->shape = conn_shape(source_conn(g->up));
	return err;
}

static int group_join(struct aggnet_group *g)
{
	const struct aggnet_options opt = {
		.flags = AGGNET_OPT_NONBLOCK | AGGNET_OPT_NO_REPLAY,
		.timeout_ms = g->conf.timeout_ms,
	};
	int err = tree_check(g, g->conf.up, false);

	if (!err)
		err = tree_check(g, g->conf.down, true);
	if (!err)
		err = group_join_up(g, &opt);
	if (err)
		return err;
	err = g->conf.rank ? aggnet_cast_join(&g->down, g->conf.root,
					      g->conf.down, &opt) :
			     aggnet_cast_root(&g->down, g->conf.down, &opt);
	if (!g->down)
		return group_fail(g, err, "no memory for a group");
	return tree_joined(g, cast_conn(g->down), err);
}

/* --- going on --------------------------------------------------------------------- */

static bool coll_waits(int err)
{
	return err == -EAGAIN || err == -EINTR;
}

/*
 * Go on with the round up. What went wrong with it is known to rank 0, too, which tells
 * all others the same reason by the tree down.
 */
static void coll_give(struct aggnet_coll *c)
{
	struct aggnet_group *g = c->g;
	int err = g->up && c->stage != UP_DONE ? up_give(c) : 0;

	if (!err || coll_waits(err))
		return;
	c->up_error = group_lost(g, err, source_conn(g->up));
	snprintf(c->up_text, sizeof(c->up_text), "%s", g->error);
	source_close(g->up);
	g->up = NULL;
}

/*
 * Go on with the round down, which does not wait for the end of the round up. Return: 0: it
 * is over, -EAGAIN, or an errno
 */
static int coll_tell(struct aggnet_coll *c)
{
	struct aggnet_group *g = c->g;
	int err;

	if (c->told)
		return 0;
	if (!g->conf.rank && !c->answered)
		up_answer(c);
	err = g->conf.rank ? down_receive(c) : down_send(c);
	if (coll_waits(err))
		return -EAGAIN;
	c->told = !err;
	return err;
}

/*
 * Which of the outcomes of both rounds tells most: the message of rank 0, the end of the
 * tree up if only that made rank 0 stop, the end of the tree down. @down: of the latter
 */
static int coll_outcome(struct aggnet_coll *c, int down)
{
	if (c->status && !(c->status == -ECONNABORTED && c->up_error))
		return group_fail(c->g, c->status, "%s", c->text);
	/* That a rank has left tells less than why it did. */
	if (down && down != -ECONNABORTED && c->up_error == -ECONNABORTED)
		return down;
	if (c->up_error)
		return group_fail(c->g, c->up_error, "%s", c->up_text);
	if (down)
		return down;
	return c->stage == UP_DONE ? 0 : -EAGAIN;
}

static void coll_end(struct aggnet_coll *c, int err)
{
	struct aggnet_group *g = c->g;

	parts_end(c);
	g->busy = false;
	g->ended |= c->last;
	if (err)
		group_leave(g);
}

int aggnet_coll_test(struct aggnet_coll *c)
{
	int err;

	if (c->g->conf.ranks == 1) {
		coll_end(c, 0);
		return 0;
	}
	coll_give(c);
	err = coll_tell(c);
	if (err != -EAGAIN)
		err = coll_outcome(c, err);
	if (err != -EAGAIN)
		coll_end(c, err);
	return err;
}

/* --- waiting ------------------------------------------------------------------------ */

/* Does the collective wait for the tree down? */
static bool coll_waits_down(const struct aggnet_coll *c)
{
	if (!c->g->down || c->told)
		return false;
	return c->g->conf.rank ? !c->held : c->done < c->length || c->closed;
}

static unsigned int coll_conns(const struct aggnet_coll *c,
			       struct conn *conn[AGGNET_COLL_FDS])
{
	const struct aggnet_group *g = c->g;
	unsigned int n = 0;

	if (g->up && c->stage != UP_DONE)
		conn[n++] = source_conn(g->up);
	if (g->sum && !c->answered)
		conn[n++] = sink_conn(g->sum);
	if (coll_waits_down(c))
		conn[n++] = cast_conn(g->down);
	return n;
}

unsigned int aggnet_coll_poll(const struct aggnet_coll *c, struct pollfd *fd,
			      unsigned int n)
{
	struct conn *conn[AGGNET_COLL_FDS];
	unsigned int i, all = coll_conns(c, conn);

	for (i = 0; i < all && i < n; i++)
		fd[i] = (struct pollfd){ .fd = conn_fd(conn[i]),
					 .events = conn[i]->waits };
	return all;
}

int aggnet_coll_timeout(const struct aggnet_coll *c)
{
	struct conn *conn[AGGNET_COLL_FDS];
	unsigned int i, n = coll_conns(c, conn);
	int left = -1, ms;

	for (i = 0; i < n; i++) {
		ms = conn_left_ms(conn[i]);
		if (left < 0 || (ms >= 0 && ms < left))
			left = ms;
	}
	return left;
}

int aggnet_coll_wait(struct aggnet_coll *c)
{
	struct pollfd fd[AGGNET_COLL_FDS];
	int err;

	while ((err = aggnet_coll_test(c)) == -EAGAIN) {
		unsigned int n = aggnet_coll_poll(c, fd, AGGNET_COLL_FDS);

		if (poll(fd, n, aggnet_coll_timeout(c)) < 0 && errno != EINTR) {
			err = group_fail(c->g, -errno, "poll: %s",
					 strerror(errno));
			coll_end(c, err);
			return err;
		}
	}
	return err;
}

/* --- from the first round to the last ------------------------------------------------- */

static struct aggnet_coll *group_call(struct aggnet_group *g, uint32_t kind,
				      uint64_t count, uint32_t root)
{
	struct aggnet_coll *c = &g->coll;

	*c = (struct aggnet_coll){
		.g = g,
		.last = kind == LAYOUT_FINISH,
		.call = {
			.kind = kind, .root = root, .ranks = g->conf.ranks,
			.function = g->conf.function, .vtype = g->conf.vtype,
			.call = g->calls++, .count = count,
			.elements = g->shape.elements,
		},
	};
	layout_set(&c->layout, &g->shape, kind, count, root, g->conf.rank,
		   g->conf.ranks);
	/* What the ranks give as they open does not matter. */
	c->send = g->buf;
	g->busy = true;
	if (g->up)
		conn_restart(source_conn(g->up));
	if (g->sum)
		conn_restart(sink_conn(g->sum));
	if (g->down)
		conn_restart(cast_conn(g->down));
	return c;
}

struct aggnet_coll *group_start(struct aggnet_group *g, uint32_t kind,
				const void *send, void *recv, uint64_t count,
				uint32_t root)
{
	struct aggnet_coll *c = group_call(g, kind, count, root);

	c->send = send;
	c->recv = recv;
	return c;
}

int group_free(struct aggnet_group *g)
{
	if (g->ended)
		return group_fail(g, -ENOTCONN, "the group has ended");
	if (g->busy)
		return group_fail(g, -EBUSY, "a collective is outstanding");
	return 0;
}

int aggnet_group_open_start(struct aggnet_group **group,
			    const struct aggnet_group_conf *conf,
			    struct aggnet_coll **c)
{
	struct aggnet_group *g = calloc(1, sizeof(*g));
	int err;

	*group = g;
	*c = NULL;
	if (!g)
		return -ENOMEM;
	g->conf = *conf;
	g->shape.vtype = (uint8_t)conf->vtype;
	err = conf_check(g);
	if (!err && conf->ranks > 1)
		err = group_join(g);
	if (err)
		group_leave(g);
	else
		*c = group_call(g, LAYOUT_OPEN, 0, 0);
	return err;
}

int aggnet_group_open(struct aggnet_group **g,
		      const struct aggnet_group_conf *conf)
{
	struct aggnet_coll *c;
	int err = aggnet_group_open_start(g, conf, &c);

	return err ? err : aggnet_coll_wait(c);
}

int aggnet_group_finish_start(struct aggnet_group *g, struct aggnet_coll **c)
{
	int err = group_free(g);

	*c = err ? NULL : group_call(g, LAYOUT_FINISH, 0, 0);
	return err;
}

int aggnet_group_finish(struct aggnet_group *g)
{
	struct aggnet_coll *c;
	int err = aggnet_group_finish_start(g, &c);

	return err ? err : aggnet_coll_wait(c);
}

void aggnet_group_close(struct aggnet_group *g)
{
	if (!g)
		return;
	parts_end(&g->coll);
	group_leave(g);
	free(g);
}
